//! Stories about editors and reviewers on two servers, while a server, PostgreSQL or Redis is
//! killed, or the servers are restarted one after the other. What is acknowledged is there
//! afterwards, once, and everybody comes to the same text; `support/converge/ledger.mjs` says how
//! that is known.

use std::iter::{Cycle, from_fn};

use serde_json::{Value, json};

use crate::converge::{FragileDesk, Play, holds, people_on, play_on, setting};
use crate::support::{PrivatePostgres, PrivateRedis, StoryDatabase, TestServer};

/// Sessions by default, each with up to three faults.
const SESSIONS: u64 = 6;
/// Restarts of each server in the story about rolling restarts.
const ROUNDS: u64 = 10;

/// What happens to the servers in the middle of a session.
#[derive(Clone, Copy, Debug)]
enum Fault {
    /// SIGKILL of a server.
    NodeKilled(usize),
    /// SIGTERM of a server.
    NodeStopped(usize),
    /// SIGKILL of all processes of PostgreSQL.
    PostgresKilled,
    /// SIGKILL of Redis.
    RedisKilled,
}

/// One after the other.
const ALL_FAULTS: &[Fault] = &[
    Fault::NodeKilled(0),
    Fault::RedisKilled,
    Fault::NodeStopped(1),
    Fault::PostgresKilled,
    Fault::NodeKilled(1),
    Fault::NodeStopped(0),
];
const ROLLING: &[Fault] = &[Fault::NodeStopped(0), Fault::NodeStopped(1)];

/// Two servers with a PostgreSQL and a Redis of their own.
struct ClusterDesk {
    nodes: TestServer,
    redis: PrivateRedis,
    postgres: PrivatePostgres,
    faults: Cycle<std::iter::Copied<std::slice::Iter<'static, Fault>>>,
}

impl ClusterDesk {
    fn start(script: &str, faults: &'static [Fault]) -> Option<Self> {
        let (postgres, redis) = (PrivatePostgres::start()?, PrivateRedis::start()?);
        let plan = TestServer::plan().playing(script).flags(&["--redis-url", &redis.url()]);
        let nodes = plan.start_nodes(2, StoryDatabase::on(&postgres.url()));
        Some(Self { nodes, redis, postgres, faults: faults.iter().copied().cycle() })
    }

    fn place(&self) -> Value {
        let mut place = people_on(&self.nodes);
        place["urls"] = json!(self.nodes.urls());
        place
    }
}

impl FragileDesk for ClusterDesk {
    fn cut(&mut self) -> Value {
        let fault = self.faults.next().expect("it goes round");
        match fault {
            Fault::NodeKilled(number) => self.nodes.one_is_killed_and_restarted(number),
            Fault::NodeStopped(number) => self.nodes.one_stops_and_restarts(number),
            Fault::PostgresKilled => {
                self.postgres.is_killed();
                self.postgres.starts();
            }
            Fault::RedisKilled => {
                self.redis.is_killed();
                self.redis.starts();
            }
        }
        eprintln!("{fault:?}");
        json!({"urls": self.nodes.urls()})
    }
}

/// Plays sessions on `desks` pairs of servers; returns what happened how often.
fn play(wanted: Play, desks: usize, faults: &'static [Fault]) -> Option<Value> {
    let script = wanted.script();
    let started = from_fn(|| Some(ClusterDesk::start(script, faults))).take(desks);
    let mut desks: Vec<_> = started.collect::<Option<_>>()?;
    let places: Vec<_> = desks.iter().map(ClusterDesk::place).collect();
    let (count, failures) = play_on(wanted, places[0].clone(), (&mut desks, places));
    eprintln!("{count}");
    if !failures.is_empty() {
        // Before the reasons, which then stand where a long report is read first: at its end.
        for desk in &desks {
            eprintln!("servers wrote:\n{}", desk.nodes.complaints());
        }
    }
    drop(desks);
    holds(&count, &failures);
    Some(count)
}

#[test]
fn no_rule_of_review_is_broken_while_a_server_the_database_or_redis_is_killed() {
    let first = setting("COPYDESK_SEED").unwrap_or(20_000);
    let sessions = setting("COPYDESK_SESSIONS").unwrap_or(SESSIONS);
    let (seeds, kind) = (first..first + sessions, json!({"cut": true}));
    let governed = Play { seeds, kind, governed: true, ..Play::default() };
    let Some(count) = play(governed, 2, ALL_FAULTS) else { return };
    assert!(count["cuts"].as_u64() >= Some(sessions), "{count}");
}

#[test]
fn two_servers_are_restarted_in_turn_ten_times_and_nothing_is_lost() {
    let first = setting("COPYDESK_SEED").unwrap_or(30_000);
    let kind = json!({"cut": true, "reviewed": true, "racing": true, "undoes": true});
    // A session has one to three faults.
    let play_all = Play { seeds: first..first + 2 * ROUNDS, kind, ..Play::default() };
    let Some(count) = play(play_all, 1, ROLLING) else { return };
    assert!(count["cuts"].as_u64() >= Some(2 * ROUNDS), "{count}");
}
