//! Stories about editors and reviewers on servers that are machines of their own, with PostgreSQL
//! and Redis on further ones, while a machine is cut off from another: both ways, one way, for long
//! or so that everything takes long. People go on meanwhile. What is acknowledged is there
//! afterwards, once, and everybody comes to the same text; and the log says what happened.
//!
//! A machine is a network namespace that the story makes ([`Namespaces`]).

use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::converge::{FragileDesk, Play, holds, people_on, play_on, setting};
use crate::support::{
    Host, Namespaces, PrivatePostgres, PrivateRedis, StoryDatabase, TestServer, in_namespaces,
};

/// Longest wait for something that is written to a log.
const PATIENCE: Duration = Duration::from_mins(1);
/// Time for which a cut lasts that no log shows the end of.
const WHILE: Duration = Duration::from_secs(4);

/// What is written to the log.
const LOST: &str = "a node was lost";
const REMOVED: &str = "the other nodes have removed this one";
const NO_REDIS: &str = "Redis is lost";
const REDIS_IS_BACK: &str = "Redis is back";

/// What happens to the network, or to a server.
#[derive(Clone, Copy, Debug)]
enum Fault {
    /// A server cannot reach the database, nor be reached by it, until the others have removed it.
    NoDatabase(usize),
    /// What a server sends does not reach the database.
    NothingToDatabase(usize),
    /// What the database answers does not reach a server.
    NothingFromDatabase(usize),
    /// No server can reach the database.
    DatabaseAway,
    /// A server and the next one cannot reach each other.
    Apart(usize),
    /// A server cannot reach Redis.
    NoRedis(usize),
    /// Everything to a server takes long.
    Slow(usize),
    /// SIGKILL of a server.
    Killed(usize),
    /// SIGTERM of a server.
    Stopped(usize),
}

/// Servers, PostgreSQL and Redis, each on a machine of its own.
struct Machines {
    nodes: TestServer,
    #[expect(dead_code, reason = "ended after the servers")]
    needs: (PrivatePostgres, PrivateRedis),
    network: Namespaces,
    hosts: Vec<Host>,
    servers: usize,
    faults: std::vec::IntoIter<Fault>,
}

impl Machines {
    fn start(servers: usize, script: &str, faults: &[Fault]) -> Option<Self> {
        let (network, hosts) = Namespaces::start(servers + 2);
        let postgres = PrivatePostgres::start_on(&hosts[servers], None)?;
        let redis = PrivateRedis::start_on(&hosts[servers + 1])?;
        let plan = TestServer::plan().playing(script).hosts(hosts[..servers].to_vec());
        let plan = plan.flags(&["--redis-url", &redis.url()]);
        let nodes = plan.start_nodes(servers, StoryDatabase::on(&postgres.url()));
        let (needs, faults) = ((postgres, redis), Vec::from(faults).into_iter());
        Some(Self { nodes, needs, network, hosts, servers, faults })
    }

    fn place(&self) -> Value {
        let mut place = people_on(&self.nodes);
        place["urls"] = json!(self.nodes.urls());
        place
    }

    fn database(&self) -> Host {
        self.hosts[self.servers].clone()
    }

    /// How often the servers have written this.
    fn written(&self, words: &str) -> usize {
        self.nodes.complaints().matches(words).count()
    }

    /// Waits until the servers have written this so many times.
    fn writes(&self, words: &str, times: usize) {
        let until = Instant::now() + PATIENCE;
        while self.written(words) < times {
            assert!(Instant::now() < until, "{words:?} was not written {times} times");
            sleep(Duration::from_millis(20));
        }
    }

    /// A server is alone until the others have removed it; then all is well again, and it ends and
    /// starts again.
    fn is_alone(&mut self, number: usize, cut: impl FnOnce(&mut Namespaces, &Host, &Host)) {
        let lost = self.written(LOST);
        let (host, database) = (self.hosts[number].clone(), self.database());
        cut(&mut self.network, &host, &database);
        self.writes(LOST, lost + 1);
        self.network.heal();
        self.nodes.node(number).complains(REMOVED, 1);
        self.nodes.one_ends_and_restarts(number);
    }
}

impl FragileDesk for Machines {
    fn cut(&mut self) -> Value {
        let fault = self.faults.next().expect("there are as many as sessions have");
        let began = Instant::now();
        match fault {
            Fault::NoDatabase(number) => {
                self.is_alone(number, Namespaces::cut);
            }
            Fault::NothingToDatabase(number) => self.is_alone(number, |network, host, database| {
                network.cut_one_way(host, database);
            }),
            Fault::NothingFromDatabase(number) => {
                self.is_alone(number, |network, host, database| {
                    network.cut_one_way(database, host);
                });
            }
            Fault::DatabaseAway => {
                let (lost, database) = (self.written(LOST), self.database());
                for host in &self.hosts[..self.servers] {
                    self.network.cut(host, &database);
                }
                sleep(WHILE);
                self.network.heal();
                // As long again, in which somebody could be judged.
                sleep(WHILE);
                assert_eq!(self.written(LOST), lost, "{}", self.nodes.complaints());
            }
            Fault::Apart(number) => {
                let next = (number + 1) % self.servers;
                self.network.cut(&self.hosts[number], &self.hosts[next]);
                sleep(WHILE);
                self.network.heal();
            }
            Fault::NoRedis(number) => {
                let (lost, back) = (self.written(NO_REDIS), self.written(REDIS_IS_BACK));
                self.network.cut(&self.hosts[number], &self.hosts[self.servers + 1]);
                self.writes(NO_REDIS, lost + 1);
                self.network.heal();
                self.writes(REDIS_IS_BACK, back + 1);
            }
            Fault::Slow(number) => {
                eprintln!("{}", self.network.slow(number));
                sleep(WHILE);
                self.network.heal();
            }
            Fault::Killed(number) => self.nodes.one_is_killed_and_restarted(number),
            Fault::Stopped(number) => self.nodes.one_stops_and_restarts(number),
        }
        eprintln!("{fault:?}: {:.1?}", began.elapsed());
        json!({"urls": self.nodes.urls()})
    }
}

/// Plays a session in which all of these happen; what was written to the logs of servers that are
/// there in the end.
fn play(servers: usize, faults: &[Fault]) -> Option<String> {
    let seed = setting("COPYDESK_SEED").unwrap_or(40_000);
    let kind = json!({"cut": true, "cuts": faults.len(), "lasting": true, "racing": true});
    let session = Play { seeds: seed..seed + 1, kind, governed: true, ..Play::default() };
    let mut desks = vec![Machines::start(servers, session.script(), faults)?];
    let places = vec![desks[0].place()];
    let (count, failures) = play_on(session, places[0].clone(), (&mut desks, places));
    eprintln!("{count}");
    let said = desks[0].nodes.complaints();
    if !failures.is_empty() {
        eprintln!("{said}");
    }
    holds(&count, &failures);
    assert_eq!(count["cuts"].as_u64(), Some(faults.len() as u64), "{count}");
    Some(said)
}

#[test]
fn a_server_that_is_cut_off_from_the_database_is_replaced() {
    in_namespaces("nodes_network::cut_off_from_the_database");
}

#[test]
#[ignore = "told in namespaces of its own"]
fn cut_off_from_the_database() {
    let faults = [Fault::NoDatabase(0), Fault::NothingFromDatabase(1)];
    let Some(said) = play(2, &faults) else { return };
    // The first one has removed the second, and both are others by now.
    assert!(said.contains(LOST), "{said}");
}

#[test]
fn servers_that_cannot_reach_each_other_redis_or_for_a_while_the_database_go_on() {
    in_namespaces("nodes_network::apart");
}

#[test]
#[ignore = "told in namespaces of its own"]
fn apart() {
    let faults = [Fault::Apart(0), Fault::NoRedis(1), Fault::Slow(0), Fault::DatabaseAway];
    let Some(said) = play(2, &faults) else { return };
    assert!(said.contains(NO_REDIS) && said.contains(REDIS_IS_BACK), "{said}");
    assert!(!said.contains(REMOVED), "{said}");
}

#[test]
fn three_servers_outlive_one_that_is_cut_off_killed_or_stopped() {
    in_namespaces("nodes_network::three");
}

#[test]
#[ignore = "told in namespaces of its own"]
fn three() {
    let faults =
        [Fault::Killed(0), Fault::Apart(1), Fault::NothingToDatabase(2), Fault::Stopped(1)];
    // That one is removed is awaited where it is cut off: whoever removed it may be another by now.
    play(3, &faults);
}
