//! A seeded world of people who type, agents who propose and reviewers who decide, on the pure core.
//!
//! `COPYDESK_SIM_HISTORIES=100000 cargo test --release --test simulation` runs longer; `COPYDESK_SIM_SEED=7` runs one history.
#![expect(clippy::unwrap_used, reason = "a simulation stops at the first surprise")]

mod chance;
mod oracle;
mod world;

use std::panic::{AssertUnwindSafe, catch_unwind};

use world::World;

/// Steps of one history.
const STEPS: usize = 60;

fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[test]
fn no_history_loses_a_human_word_or_breaks_a_rule_of_review() {
    let seeds = match setting("COPYDESK_SIM_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..setting("COPYDESK_SIM_HISTORIES").unwrap_or(400),
    };
    let mut total = world::Tally::default();
    for seed in seeds {
        let mut world = World::new(seed);
        let run = catch_unwind(AssertUnwindSafe(|| {
            for _ in 0..STEPS {
                world.step();
            }
        }));
        assert!(run.is_ok(), "history with seed {seed} broke a rule (COPYDESK_SIM_SEED={seed})");
        total.add(&world.tally);
    }
    println!("{total:?}");
    total.assert_everything_happened();
}
