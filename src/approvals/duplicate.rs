//! A change whose words are in the text already, because the same was accepted from another request.
//!
//! Told to every editor as it happens: only the server knows what was accepted, and where it came from.

use super::{ApprovalRequest, ClosedBy, Hunk, HunkStatus};
use crate::document::{ChangeSet, Text};
use crate::ids::HunkId;

/// Why such a change is obsolete, for people.
const ALREADY: &str = "This is already in the text.";

impl Hunk {
    /// Whether it is obsolete because the text reads like that already.
    pub fn is_already_there(&self) -> bool {
        self.status == HunkStatus::Obsolete && self.reason.as_deref() == Some(ALREADY)
    }

    /// Whether `change`, which led to `after` and over which this was mapped, has put there what this would.
    fn was_done_by(&self, change: &ChangeSet, after: &Text) -> bool {
        if let [part] = self.parts.as_slice()
            && part.is_insertion()
        {
            // It stands behind the same words now, and they were added where it would have added them.
            let added = |from, to| from == to;
            return self.status == HunkStatus::Pending
                && change.changed_ranges().any(|it| {
                    added(it.from_a, it.to_a) && it.to_b == part.from && it.insert == part.insert
                });
        }
        self.status == HunkStatus::Conflict
            && after.slice(self.range()).is_ok_and(|words| words == self.proposed())
    }
}

impl ApprovalRequest {
    /// Settles what another request's accepted `change` has just done in its place; returns those hunks. If none is open any
    /// more, the request has ended. The request must have been mapped over `change`, which led to `after`.
    pub fn settle_what_is_done(
        &mut self,
        change: &ChangeSet,
        after: &Text,
        now_ms: u64,
    ) -> Vec<HunkId> {
        let mut done = Vec::new();
        for hunk in self.hunks.iter_mut().filter(|hunk| hunk.was_done_by(change, after)) {
            hunk.status = HunkStatus::Obsolete;
            hunk.reason = Some(ALREADY.to_owned());
            done.push(hunk.id.clone());
        }
        if !done.is_empty() {
            self.settle(ClosedBy::by(None, now_ms));
        }
        done
    }
}
