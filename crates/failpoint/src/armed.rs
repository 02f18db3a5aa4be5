//! Failpoints that a test has armed.
//!
//! It is compiled for tests only.

use std::process::abort;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Names of all failpoints, in the order in which a change passes them.
pub const PLACES: [&str; 43] = [
    // The data is open; no run is resumed and no one is let in yet.
    "app.opened",
    // One of the runs that were left behind is resumed, the others not yet.
    "agent.resuming",
    // A document and its requests are read and brought up to date.
    "room.loading",
    // The question is stored, and the model not called.
    "agent.asked",
    // The model's calls are complete and not stored.
    "agent.answering",
    // The calls are stored, and none of them is made.
    "agent.answered",
    // A call that another server is to make is stored, and no one is notified; then its result
    // is stored, and the run does not know.
    "agent.forwarded",
    "agent.returned",
    // The change of a call is computed and not proposed.
    "tools.proposing",
    // The room's state has a proposal, a push, a decision, an undo, a snapshot; nothing of it
    // is stored.
    "room.proposed",
    "room.pushed",
    "room.decided",
    "room.undone",
    "room.snapshot",
    // The changes of a batch are about to be handed to the store.
    "room.keeping",
    // A group commit has written the operations of one room and not yet those of the next.
    "store.grouped",
    // Everything is written, and the transaction open.
    "store.written",
    // The transaction is committed; those who wait for it do not know.
    "store.committed",
    // The log has the updates that were pending; the writer does not know.
    "pending.logged",
    // The room knows, and has notified and answered no one.
    "room.kept",
    // Everyone is notified and answered.
    "room.told",
    // An approved call that acts outside of documents is begun, and then done; its result is
    // not stored.
    "tools.begun",
    "tools.acted",
    // A call's change to a file is about to be undone, and that is stored; then it is undone,
    // and that is not stored.
    "tools.undoing",
    "tools.undone",
    // A file is about to be written, and that is stored; then it is written, and that is not
    // stored.
    "files.writing",
    "files.written",
    // A file's new content is written beside it; then both have changed places, and the
    // replaced file has not been looked at; then it has been, and still stands beside the new
    // one; or it was another file, and is in its place again.
    "workspace.staged",
    "workspace.exchanged",
    "workspace.settling",
    "workspace.put_back",
    // A run has learnt the decision, and has nothing of it in its transcript.
    "tools.settled",
    // The results of the run's calls are stored; no one has heard of the last of them.
    "agent.reported",
    // The answer to a comment is in its thread, and the end of the run is not stored.
    "agent.commented",
    // The end of a run is stored and not announced.
    "agent.ended",
    // A database is about to be filled by a copy: its tables are made and it has no mark; then
    // it has, and that is stored. Or what it had is set aside, and that is not stored.
    "transfer.tables",
    "transfer.marked",
    "transfer.set_aside",
    // All rows of the copy are written; then they are committed.
    "transfer.copied",
    "transfer.committed",
    // The deletion of a person's data is begun, and that is stored; then the person's name is
    // replaced and what is theirs removed for the first time; then nothing is left, and the end
    // is not stored.
    "people.begun",
    "people.renamed",
    "people.ending",
];

struct CrashPlan {
    places: Vec<String>,
    passed: AtomicUsize,
}

static WALK: OnceLock<CrashPlan> = OnceLock::new();

/// Makes the process abort at the end of this crash plan. Returns `false` if the plan names an
/// unknown place, or if one is set already.
pub fn arm(walk: &str) -> bool {
    let places: Vec<String> = walk.split('>').map(str::to_owned).collect();
    let known = places.iter().all(|place| PLACES.contains(&place.as_str()));
    known && WALK.set(CrashPlan { places, passed: AtomicUsize::new(0) }).is_ok()
}

/// Returns `true` if a crash plan is set.
pub fn is_armed() -> bool {
    WALK.get().is_some()
}

/// Notes that the process passes a place; aborts if the crash plan ends there.
pub fn pass(place: &'static str) {
    debug_assert!(PLACES.contains(&place), "{place} is not in the list");
    let Some(walk) = WALK.get() else { return };
    let passed = walk.passed.load(Ordering::SeqCst);
    if walk.places.get(passed).is_none_or(|next| next != place) {
        return;
    }
    let next = passed + 1;
    let was_first = walk.passed.compare_exchange(passed, next, Ordering::SeqCst, Ordering::SeqCst);
    if was_first.is_ok() && next == walk.places.len() {
        // No destructor runs and nothing is flushed: what is not on the disk now never will be.
        abort();
    }
}
