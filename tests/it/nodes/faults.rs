//! Stories about editors and reviewers on two servers, while a server, PostgreSQL or Redis is
//! killed, or the servers are restarted one after the other. What is acknowledged is there
//! afterwards, once, and all replicas have the same text; `support/converge/reference_document.mjs`
//! checks that.

use std::iter::{Cycle, from_fn};

use serde_json::{Value, json};

use crate::documents::converge::{
    EditorProcess, FaultInjector, SessionPlan, assert_no_failures, describe_server,
    number_from_environment, run_sessions_on,
};
use crate::support::{PrivatePostgres, PrivateRedis, StoryDatabase, TestServer};

/// Sessions by default, each with up to three faults.
const SESSIONS: u64 = 6;
/// Restarts of each server in the story about rolling restarts.
const ROUNDS: u64 = 10;

/// A fault in the middle of a session.
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
struct FaultyCluster {
    nodes: TestServer,
    redis: PrivateRedis,
    postgres: PrivatePostgres,
    faults: Cycle<std::iter::Copied<std::slice::Iter<'static, Fault>>>,
}

impl FaultyCluster {
    fn start(script: &str, faults: &'static [Fault]) -> Option<Self> {
        let (postgres, redis) = (PrivatePostgres::start()?, PrivateRedis::start()?);
        let plan = TestServer::plan().playing(script).flags(&["--redis-url", &redis.url()]);
        let nodes = plan.start_nodes(2, StoryDatabase::on(&postgres.url()));
        Some(Self { nodes, redis, postgres, faults: faults.iter().copied().cycle() })
    }

    fn description(&self) -> Value {
        let mut description = describe_server(&self.nodes);
        description["urls"] = json!(self.nodes.urls());
        description
    }
}

impl FaultInjector for FaultyCluster {
    fn inject_fault(&mut self, _: &mut EditorProcess) -> Value {
        let fault = self.faults.next().expect("the faults are repeated");
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

/// Runs sessions on `clusters` pairs of servers. Returns the number of each event.
fn run_sessions(plan: SessionPlan, clusters: usize, faults: &'static [Fault]) -> Option<Value> {
    let script = plan.script();
    let started = from_fn(|| Some(FaultyCluster::start(script, faults))).take(clusters);
    let mut clusters: Vec<_> = started.collect::<Option<_>>()?;
    let descriptions: Vec<_> = clusters.iter().map(FaultyCluster::description).collect();
    let (count, failures) =
        run_sessions_on(plan, descriptions[0].clone(), (&mut clusters, descriptions));
    eprintln!("{count}");
    if !failures.is_empty() {
        // Before the reasons, which then stand where a long report is read first: at its end.
        for cluster in &clusters {
            eprintln!("servers wrote:\n{}", cluster.nodes.complaints());
        }
    }
    drop(clusters);
    assert_no_failures(&count, &failures);
    Some(count)
}

#[test]
fn no_rule_of_review_is_broken_while_a_server_the_database_or_redis_is_killed() {
    let first = number_from_environment("COPYDESK_SEED").unwrap_or(20_000);
    let sessions = number_from_environment("COPYDESK_SESSIONS").unwrap_or(SESSIONS);
    let (seeds, profile) = (first..first + sessions, json!({"hasFaults": true}));
    let plan = SessionPlan { seeds, profile, review_rules: true, ..SessionPlan::default() };
    let Some(count) = run_sessions(plan, 2, ALL_FAULTS) else { return };
    assert!(count["faults"].as_u64() >= Some(sessions), "{count}");
}

#[test]
fn two_servers_are_restarted_in_turn_ten_times_and_nothing_is_lost() {
    let first = number_from_environment("COPYDESK_SEED").unwrap_or(30_000);
    let profile =
        json!({"hasFaults": true, "hasProposals": true, "concurrent": true, "hasUndo": true});
    // A session has one to three faults.
    let plan = SessionPlan { seeds: first..first + 2 * ROUNDS, profile, ..SessionPlan::default() };
    let Some(count) = run_sessions(plan, 1, ROLLING) else { return };
    assert!(count["faults"].as_u64() >= Some(2 * ROUNDS), "{count}");
}
