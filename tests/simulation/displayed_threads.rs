//! The threads of comments that an editor displays: what it is told of them, and its own mapping of
//! their places over updates, as `docs/api/socketio.md` has it.

use std::collections::BTreeMap;

use copydesk_comments::{CommentThread, ThreadStatus};
use copydesk_ids::{ThreadId, Version};

use crate::invariants::Invariant::{DisplayMatchesRoom, UpdatesHaveNoGap};
use crate::invariants::{CheckResult, ensure};
use crate::rebase_oracle::{MapSide, map_position};
use crate::reference_document::ReferenceUpdate;

/// The threads that an editor displays.
#[derive(Default)]
pub struct DisplayedThreads {
    threads: BTreeMap<ThreadId, CommentThread>,
}

fn is_unresolved(thread: &CommentThread) -> bool {
    thread.status() != ThreadStatus::Resolved
}

impl DisplayedThreads {
    /// Takes the threads of the reply of `document:open`: all that are not resolved.
    pub fn replace(&mut self, threads: &[CommentThread]) {
        self.threads.retain(|_, thread| !is_unresolved(thread));
        self.threads.extend(threads.iter().map(|thread| (thread.id.clone(), thread.clone())));
    }

    /// Maps the places of threads over an update.
    pub fn apply_update(&mut self, update: &ReferenceUpdate) {
        for anchor in self.threads.values_mut().filter_map(|thread| thread.anchor.as_mut()) {
            anchor.from = map_position(anchor.from, MapSide::After, &update.sections);
            let to = map_position(anchor.to, MapSide::Before, &update.sections);
            anchor.to = to.max(anchor.from);
        }
    }

    /// Takes a thread that was begun or changed, or is gone.
    pub fn change(
        &mut self,
        version: Version,
        thread: &CommentThread,
        known: usize,
    ) -> CheckResult {
        let is_next = version.0 as usize == known && thread.version == version;
        ensure(UpdatesHaveNoGap, is_next, || {
            format!("known is {known}, {version} has {thread:?}")
        })?;
        if thread.is_deleted() {
            self.threads.remove(&thread.id);
        } else {
            self.threads.insert(thread.id.clone(), thread.clone());
        }
        Ok(())
    }

    /// Checks that the threads that are not resolved are those of the room, in their places. Where
    /// the words of a thread were, only the room knows.
    pub fn check_matches(&self, threads: &[CommentThread]) -> CheckResult {
        let place = |thread: &CommentThread| {
            let anchor = thread.anchor.as_ref().filter(|anchor| !anchor.is_orphaned);
            anchor.map(|anchor| (anchor.from, anchor.to))
        };
        let is_same = |shown: &CommentThread, thread: &CommentThread| {
            shown.id == thread.id
                && shown.content == thread.content
                && shown.status() == thread.status()
                && place(shown) == place(thread)
        };
        let shown: Vec<_> = self.threads.values().filter(|it| is_unresolved(it)).collect();
        let in_room: Vec<_> = threads.iter().filter(|it| is_unresolved(it)).collect();
        let matches = shown.len() == in_room.len()
            && shown.iter().zip(&in_room).all(|(shown, thread)| is_same(shown, thread));
        ensure(DisplayMatchesRoom, matches, || {
            format!("displayed are {shown:?}\nthe room has {in_room:?}")
        })
    }
}
