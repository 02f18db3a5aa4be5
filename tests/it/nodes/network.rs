//! Stories about editors and reviewers on servers that are machines of their own, with PostgreSQL
//! and Redis on further ones, while the network is partitioned: both ways, one way, for long,
//! or so slow that everything takes long. People go on meanwhile. What is acknowledged is there
//! afterwards, once, all replicas have the same text, and the log says what happened.
//!
//! A machine is a network namespace that the story makes ([`Namespaces`]).

use std::time::Instant;

use serde_json::{Value, json};

use crate::documents::converge::{
    EditorProcess, FaultInjector, SessionPlan, assert_no_failures, describe_server,
    number_from_environment, run_sessions_on,
};
use crate::support::{
    Host, Namespaces, PrivatePostgres, PrivateRedis, StoryDatabase, TestServer, eventually,
    in_namespaces,
};

/// Turns that people take during a fault whose end no log shows: about four seconds.
const TURNS: usize = 20;

/// Messages of the log.
const LOST: &str = "a node was lost";
const REMOVED: &str = "the other nodes have removed this one";
const NO_REDIS: &str = "Redis is lost";
const REDIS_IS_BACK: &str = "Redis is back";

/// A fault of the network, or of a server.
#[derive(Clone, Copy, Debug)]
enum Fault {
    /// A server cannot reach the database, nor be reached by it, until the others have removed it.
    NoDatabase(usize),
    /// Nothing that a server sends reaches the database.
    NothingToDatabase(usize),
    /// Nothing that the database answers reaches a server.
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
struct FaultyNetwork {
    nodes: TestServer,
    #[expect(dead_code, reason = "ended after the servers")]
    needs: (PrivatePostgres, PrivateRedis),
    network: Namespaces,
    hosts: Vec<Host>,
    servers: usize,
    faults: std::vec::IntoIter<Fault>,
}

impl FaultyNetwork {
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

    fn description(&self) -> Value {
        let mut description = describe_server(&self.nodes);
        description["urls"] = json!(self.nodes.urls());
        description
    }

    fn database(&self) -> Host {
        self.hosts[self.servers].clone()
    }

    /// Returns how often the servers have written this.
    fn written(&self, words: &str) -> usize {
        self.nodes.complaints().matches(words).count()
    }

    /// Waits until the servers have written this so many times.
    fn writes(&self, words: &str, times: usize) {
        eventually(&format!("{words:?}, {times} times"), || self.written(words) >= times);
    }

    /// Isolates a server until the others have removed it, then heals the network and restarts the
    /// server.
    fn isolate(&mut self, number: usize, cut: impl FnOnce(&mut Namespaces, &Host, &Host)) {
        let lost = self.written(LOST);
        let (host, database) = (self.hosts[number].clone(), self.database());
        cut(&mut self.network, &host, &database);
        self.writes(LOST, lost + 1);
        self.network.heal();
        self.nodes.node(number).complains(REMOVED, 1);
        self.nodes.one_ends_and_restarts(number);
    }
}

impl FaultInjector for FaultyNetwork {
    fn inject_fault(&mut self, people: &mut EditorProcess) -> Value {
        let fault = self.faults.next().expect("there are as many as sessions have");
        let began = Instant::now();
        match fault {
            Fault::NoDatabase(number) => {
                self.isolate(number, Namespaces::cut);
            }
            Fault::NothingToDatabase(number) => self.isolate(number, |network, host, database| {
                network.cut_one_way(host, database);
            }),
            Fault::NothingFromDatabase(number) => {
                self.isolate(number, |network, host, database| {
                    network.cut_one_way(database, host);
                });
            }
            Fault::DatabaseAway => {
                let (lost, database) = (self.written(LOST), self.database());
                for host in &self.hosts[..self.servers] {
                    self.network.cut(host, &database);
                }
                people.take_turns(TURNS);
                self.network.heal();
                // As long again, in which a node could be removed.
                people.take_turns(TURNS);
                assert_eq!(self.written(LOST), lost, "{}", self.nodes.complaints());
            }
            Fault::Apart(number) => {
                let next = (number + 1) % self.servers;
                self.network.cut(&self.hosts[number], &self.hosts[next]);
                people.take_turns(TURNS);
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
                people.take_turns(TURNS);
                self.network.heal();
            }
            Fault::Killed(number) => self.nodes.one_is_killed_and_restarted(number),
            Fault::Stopped(number) => self.nodes.one_stops_and_restarts(number),
        }
        eprintln!("{fault:?}: {:.1?}", began.elapsed());
        json!({"urls": self.nodes.urls()})
    }
}

/// Runs a session with all of these faults. Returns the logs of the servers that exist in the end.
fn run_session(servers: usize, faults: &[Fault]) -> Option<String> {
    let seed = number_from_environment("COPYDESK_SEED").unwrap_or(40_000);
    let profile =
        json!({"hasFaults": true, "faults": faults.len(), "faultsLast": true, "concurrent": true});
    let plan = SessionPlan {
        seeds: seed..seed + 1,
        profile,
        review_rules: true,
        ..SessionPlan::default()
    };
    let mut networks = vec![FaultyNetwork::start(servers, plan.script(), faults)?];
    let descriptions = vec![networks[0].description()];
    let (count, failures) =
        run_sessions_on(plan, descriptions[0].clone(), (&mut networks, descriptions));
    eprintln!("{count}");
    let logs = networks[0].nodes.complaints();
    if !failures.is_empty() {
        eprintln!("{logs}");
    }
    assert_no_failures(&count, &failures);
    assert_eq!(count["faults"].as_u64(), Some(faults.len() as u64), "{count}");
    Some(logs)
}

#[test]
fn a_server_that_is_cut_off_from_the_database_is_replaced() {
    in_namespaces("nodes::network::cut_off_from_the_database");
}

#[test]
#[ignore = "runs in namespaces of its own"]
fn cut_off_from_the_database() {
    let faults = [Fault::NoDatabase(0), Fault::NothingFromDatabase(1)];
    let Some(logs) = run_session(2, &faults) else { return };
    // The first one has removed the second, and both are others by now.
    assert!(logs.contains(LOST), "{logs}");
}

#[test]
fn servers_that_cannot_reach_each_other_redis_or_for_a_while_the_database_go_on() {
    in_namespaces("nodes::network::apart");
}

#[test]
#[ignore = "runs in namespaces of its own"]
fn apart() {
    let faults = [Fault::Apart(0), Fault::NoRedis(1), Fault::Slow(0), Fault::DatabaseAway];
    let Some(logs) = run_session(2, &faults) else { return };
    assert!(logs.contains(NO_REDIS) && logs.contains(REDIS_IS_BACK), "{logs}");
    assert!(!logs.contains(REMOVED), "{logs}");
}

#[test]
fn three_servers_outlive_one_that_is_cut_off_killed_or_stopped() {
    in_namespaces("nodes::network::three");
}

#[test]
#[ignore = "runs in namespaces of its own"]
fn three() {
    let faults =
        [Fault::Killed(0), Fault::Apart(1), Fault::NothingToDatabase(2), Fault::Stopped(1)];
    // That one is removed is awaited where it is cut off: the server that removed it may be another
    // by now.
    run_session(3, &faults);
}
