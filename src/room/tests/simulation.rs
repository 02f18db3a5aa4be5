//! Seeded histories of one room: people type on old versions, agents propose, reviewers decide, time passes, turns are
//! lost and the server crashes; after every turn everything that must hold is checked.
//!
//! `COPYDESK_SIM_HISTORIES=20000 cargo test --release --lib room::tests::simulation` runs longer; `COPYDESK_SIM_SEED=7`
//! runs one history.

mod disk;
mod mirror;
mod world;

use std::panic::{AssertUnwindSafe, catch_unwind};

use world::{Tally, World};

/// Turns of one history.
const TURNS: usize = 60;
/// Histories if nothing else is asked for: about two seconds without optimisation.
const HISTORIES: u64 = 60;

fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[test]
fn no_history_of_a_room_breaks_a_rule() {
    let seeds = match setting("COPYDESK_SIM_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..setting("COPYDESK_SIM_HISTORIES").unwrap_or(HISTORIES),
    };
    let mut total = Tally::default();
    for seed in seeds.clone() {
        let mut world = World::new(seed);
        let run = catch_unwind(AssertUnwindSafe(|| {
            for _ in 0..TURNS {
                world.turn();
            }
        }));
        assert!(run.is_ok(), "history {seed} broke a rule (COPYDESK_SIM_SEED={seed})");
        total.add(&world.tally);
    }
    println!("{total:?}");
    if seeds.end - seeds.start >= HISTORIES {
        // A simulation in which something never happens proves nothing about it.
        assert_eq!(total.never(), Vec::<&str>::new());
    }
}
