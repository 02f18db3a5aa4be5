//! Places where a test lets the server die, to see what it finds when it starts again. Without the feature `failpoints`,
//! which only tests switch on, nothing of this is compiled.
//!
//! `COPYDESK_FAILPOINTS="room.decided>room.kept"` is a walk: the process is aborted, as by a power cut, at the first
//! `room.kept` it comes to after a `room.decided`.

#[cfg(feature = "failpoints")]
mod armed {
    use std::process::abort;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Every place, in the order in which a change walks past them.
    pub const PLACES: [&str; 31] = [
        // The data is open; no run is taken up and nobody is let in yet.
        "app.opened",
        // One of the runs that were left behind is taken up, the others not yet.
        "agent.resuming",
        // A document and its requests are read and brought up to date.
        "room.loading",
        // What was asked is kept, and the model not called.
        "agent.asked",
        // The model's calls are complete and not kept.
        "agent.answering",
        // They are kept, with the request that the first of them may have become, and the run does not know.
        "agent.answered",
        // What a call would change is worked out and not proposed.
        "tools.proposing",
        // The room's state has a proposal, an edit, a decision, an undo, a snapshot; nothing of it is kept.
        "room.proposed",
        "room.pushed",
        "room.decided",
        "room.undone",
        "room.snapshot",
        // What a turn changed is about to be handed to the store.
        "room.keeping",
        // A group commit has written what one room wants and not yet what the next one does.
        "store.grouped",
        // Everything is written, and the transaction open.
        "store.written",
        // The transaction is committed, and whoever waits for it does not know.
        "store.committed",
        // The room knows, and has told and answered nobody.
        "room.kept",
        // Everybody is told and answered.
        "room.told",
        // An approved call that acts outside of documents is begun, and then done; nobody has kept what came of it.
        "tools.begun",
        "tools.acted",
        // What a call did to a file is about to be taken back, and that is kept; then it is, and that is not.
        "tools.undoing",
        "tools.undone",
        // A file is about to be written, and that is kept; then it is written, and that is not.
        "files.writing",
        "files.written",
        // A file's new content is written beside it; then both have changed places, and what was replaced has not been
        // looked at; then it has been, and still stands beside the new one; or it was another, and is in its place again.
        "workspace.staged",
        "workspace.exchanged",
        "workspace.settling",
        "workspace.put_back",
        // A run has learnt what was decided, and has nothing of it in its transcript.
        "tools.settled",
        // The results of its calls are kept; nobody has heard of the last of them.
        "agent.reported",
        // The end of a run is kept and not told.
        "agent.ended",
    ];

    struct CrashPlan {
        places: Vec<String>,
        passed: AtomicUsize,
    }

    static WALK: OnceLock<CrashPlan> = OnceLock::new();

    /// From now on the process dies at the end of this walk; `false` if it names a place there is not.
    pub fn arm(walk: &str) -> bool {
        let places: Vec<String> = walk.split('>').map(str::to_owned).collect();
        let known = places.iter().all(|place| PLACES.contains(&place.as_str()));
        known && WALK.set(CrashPlan { places, passed: AtomicUsize::new(0) }).is_ok()
    }

    /// Whether there is a walk at all.
    pub fn is_armed() -> bool {
        WALK.get().is_some()
    }

    /// The process passes a place, or dies there.
    pub fn pass(place: &'static str) {
        debug_assert!(PLACES.contains(&place), "{place} is not in the list");
        let Some(walk) = WALK.get() else { return };
        let passed = walk.passed.load(Ordering::SeqCst);
        if walk.places.get(passed).is_none_or(|next| next != place) {
            return;
        }
        let next = passed + 1;
        let was_first =
            walk.passed.compare_exchange(passed, next, Ordering::SeqCst, Ordering::SeqCst);
        if was_first.is_ok() && next == walk.places.len() {
            // No destructor runs and nothing is flushed: what is not on the disk now never will be.
            abort();
        }
    }
}

#[cfg(feature = "failpoints")]
pub use armed::{PLACES, arm, is_armed, pass};

/// Never.
#[cfg(not(feature = "failpoints"))]
#[inline]
pub fn is_armed() -> bool {
    false
}

/// Nothing happens here.
#[cfg(not(feature = "failpoints"))]
#[inline]
pub fn pass(_place: &'static str) {}
