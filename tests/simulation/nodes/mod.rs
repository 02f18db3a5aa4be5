//! Property-based simulation of several nodes on one database: connections are cut, messages are
//! lost, late and duplicated, processes are killed and paused, the database crashes, clocks differ.
//!
//! The tested code is the product's: its nodes (heartbeats, leases, messages), its session logic
//! (the outcome of a transaction), its rooms. The database is a model; `store/tests/nodes.rs`
//! checks the real one against the same invariants. Time is simulated, so that a seed always gives
//! the same history.
//!
//! `COPYDESK_SIMULATION_OPERATIONS` and `COPYDESK_SIMULATION_SEED` are as for the other simulation.

mod cluster_simulation;
mod committed_suggestions;
mod committed_threads;
mod database_client;
mod database_document;
mod model_database;
mod node_mutations;
mod sent_writes;
mod simulated_network;
mod simulated_node;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use cluster_simulation::ClusterSimulation;
use node_mutations::NodeMutation;
use parking_lot::Mutex;

use crate::invariants::InvariantViolation;
use crate::room_simulation::EventCounts;
use crate::{Verbosity, number_from_environment};

/// Default number of operations: commands of people, and statements and messages that arrive.
/// `.ci/run` asks for more.
const OPERATIONS: u64 = 60_000;
/// Fraction of the requested operations that are of this simulation.
const OPERATIONS_SHARE: (u64, u64) = (1, 2);
/// Number of histories within which each mutation must be detected.
const MUTATION_HISTORIES: u64 = 400;

/// Events that happen if enough operations are run.
const EXPECTED_EVENTS: [&str; 33] = [
    "a connection was blocked",
    "a connection was blocked one way",
    "a node joined",
    "a node was killed",
    "a node was paused",
    "a node was removed",
    "a node was resumed",
    "a node was shut down",
    "a node was shut down, unsettled",
    "a node was slowed",
    "acknowledged",
    "answered in a thread",
    "comment deleted",
    "comment refused",
    "commented",
    "commented late",
    "commented on a change",
    "concurrent decisions",
    "connection lost",
    "decided",
    "healed",
    "not stored",
    "outcome unknown",
    "proposed",
    "refused",
    "suggested",
    "suggested over an old revision",
    "suggestion decided",
    "suggestion withdrawn",
    "suggestion written on",
    "the database crashed",
    "the database restarted",
    "thread resolved or reopened",
];

/// Runs a history. Returns the number of operations and of each event, or the failure.
fn run_history(
    seed: u64,
    mutation: Option<NodeMutation>,
    verbosity: Verbosity,
) -> Result<(u64, EventCounts), String> {
    let finished = catch_unwind(AssertUnwindSafe(|| {
        let runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = { runtime }.enable_time().start_paused(true).build().unwrap();
        let local_set = tokio::task::LocalSet::new();
        local_set.block_on(&runtime, async {
            let mut simulation =
                ClusterSimulation::new(seed, mutation, verbosity == Verbosity::Verbose);
            let result = simulation.run().await;
            simulation.kill_all();
            result.map(|()| (simulation.operations(), simulation.counts()))
        })
    }));
    match finished {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(InvariantViolation(invariant, detail))) => Err(format!("{invariant:?}: {detail}")),
        Err(_) => Err("a node panicked".to_owned()),
    }
}

#[test]
fn several_servers_keep_every_invariant_under_faults() {
    let (target, first) = (
        number_from_environment("COPYDESK_SIMULATION_OPERATIONS"),
        number_from_environment("COPYDESK_SIMULATION_SEED"),
    );
    if let (None, Some(seed)) = (target, first) {
        return run_history(seed, None, Verbosity::Verbose).map(drop).unwrap();
    }
    let target = target.map_or(OPERATIONS, |all| all * OPERATIONS_SHARE.0 / OPERATIONS_SHARE.1);
    let first = first.unwrap_or_default();
    let (next, done, failed) = (AtomicU64::new(first), AtomicU64::new(0), AtomicBool::new(false));
    let (total, failures) = (Mutex::new(EventCounts::new()), Mutex::new(Vec::new()));
    let began = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while done.load(Ordering::Relaxed) < target && !failed.load(Ordering::Relaxed) {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    match run_history(seed, None, Verbosity::Quiet) {
                        Ok((operations, counts)) => {
                            done.fetch_add(operations, Ordering::Relaxed);
                            let mut total = total.lock();
                            for (what, times) in counts {
                                *total.entry(what).or_default() += times;
                            }
                        }
                        Err(failure) => {
                            failed.store(true, Ordering::Relaxed);
                            let failure = format!("COPYDESK_SIMULATION_SEED={seed}: {failure}");
                            failures.lock().push(failure);
                        }
                    }
                }
            });
        }
    });
    let (operations, histories) = (done.into_inner(), next.into_inner() - first);
    let total = total.into_inner();
    println!(
        "{operations} operations of several servers, {histories} histories in {:.1?}: {total:?}",
        began.elapsed()
    );
    let failures = failures.into_inner();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    let missing: Vec<_> =
        EXPECTED_EVENTS.iter().filter(|what| !total.contains_key(*what)).collect();
    assert!(missing.is_empty() || operations < OPERATIONS, "{missing:?} never happened");
}

/// Runs histories that failed once, and says why they did.
#[test]
fn regression_seeds_of_several_servers_pass() {
    // The first update of a suggestion came again after the suggestion had been written on and had
    // ended, and began another one.
    for seed in [90, 276] {
        run_history(seed, None, Verbosity::Quiet).unwrap();
    }
}

#[test]
fn a_seed_always_gives_the_same_history() {
    let outcome = |seed| run_history(seed, None, Verbosity::Quiet).unwrap();
    for seed in 0..3 {
        assert_eq!(outcome(seed), outcome(seed), "seed {seed}");
    }
}

#[test]
fn every_mutation_of_several_servers_is_detected() {
    let mut undetected = Vec::new();
    for mutation in node_mutations::ALL {
        let found = (0..MUTATION_HISTORIES).find_map(|seed| {
            Some((seed, run_history(seed, Some(mutation), Verbosity::Quiet).err()?))
        });
        match found {
            Some((seed, failure)) => {
                println!(
                    "{mutation:?}: seed {seed}: {}",
                    failure.chars().take(110).collect::<String>()
                );
            }
            None => undetected.push(mutation),
        }
    }
    assert!(
        undetected.is_empty(),
        "{MUTATION_HISTORIES} histories each did not detect {undetected:?}"
    );
}
