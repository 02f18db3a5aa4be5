//! Several servers on one database: lines between them are cut, messages are lost, late and
//! doubled, processes are killed and stand still, the database goes away, clocks differ.
//!
//! The product decides: its node (signs of life, leases, messages), its session logic (what became
//! of a transaction), its rooms. The database is a model; `store/tests/nodes.rs` holds the real one
//! to the same rules. Time is played, so that a seed always tells the same history.
//!
//! `COPYDESK_SIMULATION_OPERATIONS` and `COPYDESK_SIMULATION_SEED` are as for the other simulation.

mod database;
mod link;
mod mutations;
mod network;
mod server;
mod world;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use mutations::Wrong;
use world::World;

use crate::rules::Broken;
use crate::world::Tally;
use crate::{Voice, setting};

/// Operations if nothing else is asked for: commands of people, and statements and messages that
/// arrive. `.ci/run` asks for more.
const OPERATIONS: u64 = 60_000;
/// Operations of this simulation for those of both that are asked for.
const SHARE: (u64, u64) = (1, 2);
/// Histories in which each wrong rule must show.
const HISTORIES: u64 = 400;

/// What happens if enough is played.
const EVERYTHING: [&str; 20] = [
    "a line was cut",
    "a line was cut one way",
    "a server is slow",
    "a server joined",
    "a server went on",
    "a server stood still",
    "a server was killed",
    "a server was removed",
    "a server was stopped",
    "acknowledged",
    "cut off",
    "decided",
    "healed",
    "nobody knows",
    "not stored",
    "proposed",
    "refused",
    "rivals",
    "the database came back",
    "the database went down",
];

/// Plays a history; what happened how often, or what went wrong.
fn play(seed: u64, wrong: Option<Wrong>, voice: Voice) -> Result<(u64, Tally), String> {
    let played = catch_unwind(AssertUnwindSafe(|| {
        let runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = { runtime }.enable_time().start_paused(true).build().unwrap();
        let stage = tokio::task::LocalSet::new();
        stage.block_on(&runtime, async {
            let mut world = World::new(seed, wrong, voice == Voice::Loud);
            let held = world.plays().await;
            world.ends();
            held.map(|()| (world.operations(), world.tally()))
        })
    }));
    match played {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(Broken(rule, how))) => Err(format!("{rule:?}: {how}")),
        Err(_) => Err("a server panicked".to_owned()),
    }
}

#[test]
fn several_servers_break_no_rule_whatever_is_cut_or_killed() {
    let (wanted, first) =
        (setting("COPYDESK_SIMULATION_OPERATIONS"), setting("COPYDESK_SIMULATION_SEED"));
    if let (None, Some(seed)) = (wanted, first) {
        return play(seed, None, Voice::Loud).map(drop).unwrap();
    }
    let wanted = wanted.map_or(OPERATIONS, |all| all * SHARE.0 / SHARE.1);
    let first = first.unwrap_or_default();
    let (next, done, failed) = (AtomicU64::new(first), AtomicU64::new(0), AtomicBool::new(false));
    let (total, failures) = (Mutex::new(Tally::new()), Mutex::new(Vec::new()));
    let began = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while done.load(Ordering::Relaxed) < wanted && !failed.load(Ordering::Relaxed) {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    match play(seed, None, Voice::Quiet) {
                        Ok((operations, tally)) => {
                            done.fetch_add(operations, Ordering::Relaxed);
                            let mut total = total.lock().unwrap();
                            for (what, times) in tally {
                                *total.entry(what).or_default() += times;
                            }
                        }
                        Err(how) => {
                            failed.store(true, Ordering::Relaxed);
                            let how = format!("COPYDESK_SIMULATION_SEED={seed}: {how}");
                            failures.lock().unwrap().push(how);
                        }
                    }
                }
            });
        }
    });
    let (operations, histories) = (done.into_inner(), next.into_inner() - first);
    let total = total.into_inner().unwrap();
    println!(
        "{operations} operations of several servers, {histories} histories in {:.1?}: {total:?}",
        began.elapsed()
    );
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    let missing: Vec<_> = EVERYTHING.iter().filter(|what| !total.contains_key(*what)).collect();
    assert!(missing.is_empty() || operations < OPERATIONS, "{missing:?} never happened");
}

#[test]
fn a_seed_always_tells_the_same_history() {
    let told = |seed| play(seed, None, Voice::Quiet).unwrap();
    for seed in 0..3 {
        assert_eq!(told(seed), told(seed), "seed {seed}");
    }
}

#[test]
fn every_wrong_rule_of_several_servers_is_noticed() {
    let mut unnoticed = Vec::new();
    for wrong in mutations::ALL {
        let found = (0..HISTORIES)
            .find_map(|seed| Some((seed, play(seed, Some(wrong), Voice::Quiet).err()?)));
        match found {
            Some((seed, how)) => {
                println!("{wrong:?}: seed {seed}: {}", how.chars().take(110).collect::<String>());
            }
            None => unnoticed.push(wrong),
        }
    }
    assert!(unnoticed.is_empty(), "nobody noticed {unnoticed:?} in {HISTORIES} histories each");
}
