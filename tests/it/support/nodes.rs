//! The servers of a story: one, or with `COPYDESK_STORIES_NODES=2` two on one database.
//!
//! A seed, which is printed, decides who connects to which; `COPYDESK_STORIES_SEED` repeats it.

use std::cell::RefCell;
use std::env;

use fastrand::Rng;

/// Stories that run on one server, by their names or how these begin, and why.
pub const ON_ONE_NODE: &[(&str, &str)] = &[
    ("bad_input::", "limits of one process"),
    ("claude::however_many_runs_wait", "limits of one process"),
    ("connections::", "limits of one process"),
    ("crash::", "a process ends at a chosen place"),
    ("deleted_people::a_deletion_that_a_crash_interrupts", "a process ends at a chosen place"),
    ("grammar_worker::", "the memory and the children of one process"),
    ("mcp::sessions::a_person_who_uses_all", "limits of one process"),
    ("messages::limits::what_is_read_of_one_person_at_once", "limits of one process"),
    ("metrics::", "numbers of one process"),
    ("old_data::", "a data directory of an older version"),
    ("plans::a_power_cut_between", "a process ends at a chosen place"),
    ("presence::a_client_that_takes_short", "through another server the long form is sent"),
    (
        "rest::idempotency::the_same_key_twice_at_once",
        "which keys are in use is known to one process",
    ),
    ("rest::idempotency::what_a_dying_server_had_begun", "a process ends at a chosen place"),
    (
        "rest::idempotency::who_hangs_up_before_the_answer",
        "which keys are in use is known to one process",
    ),
    ("transports::a_websocket_is_opened_only_from", "the address of one server"),
    ("transports::the_printed_link_opens", "the address of one server"),
];

thread_local! {
    /// Chance of the story that runs on this thread.
    static CHANCE: RefCell<Option<Rng>> = const { RefCell::new(None) };
}

/// The number of servers of the story that runs on this thread.
pub fn count() -> usize {
    let story = std::thread::current().name().unwrap_or_default().to_owned();
    if ON_ONE_NODE.iter().any(|(name, _)| story.starts_with(name)) {
        return 1;
    }
    asked()
}

/// The number of servers that stories run on.
pub fn asked() -> usize {
    env::var("COPYDESK_STORIES_NODES").ok().and_then(|count| count.parse().ok()).unwrap_or(1)
}

/// A number below `end`.
pub fn chance(end: usize) -> usize {
    if end == 1 {
        return 0;
    }
    CHANCE.with_borrow_mut(|chance| {
        let chance = chance.get_or_insert_with(|| {
            let given = env::var("COPYDESK_STORIES_SEED").ok().and_then(|seed| seed.parse().ok());
            let seed = given.unwrap_or_else(|| fastrand::u64(..));
            eprintln!("COPYDESK_STORIES_SEED={seed}");
            Rng::with_seed(seed)
        });
        chance.usize(..end)
    })
}
