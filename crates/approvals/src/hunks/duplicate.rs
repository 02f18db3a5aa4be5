//! Changes that are in the text already because another request with an equal change was accepted.
//! Every editor is sent the result: only the server knows which request it came from.

use crate::{ApprovalRequest, ClosedBy, Hunk, HunkReason, HunkStatus};
use copydesk_document::{ChangeSet, Text};
use copydesk_ids::HunkId;

impl Hunk {
    /// Returns `true` if the hunk is obsolete because the text already reads as proposed.
    pub fn is_already_there(&self) -> bool {
        self.status == HunkStatus::Obsolete && self.reason == Some(HunkReason::AlreadyInText)
    }

    /// Returns `true` if `change` has put into the text what this hunk, mapped over it, would put.
    fn was_done_by(&self, change: &ChangeSet, after: &Text) -> bool {
        if let [part] = self.parts.as_slice()
            && part.is_insertion()
        {
            // The insertion is behind the added words now, and they were added at its place.
            let added = |from, to| from == to;
            return self.status == HunkStatus::Pending
                && change.changed_ranges().any(|it| {
                    added(it.from_a, it.to_a) && it.to_b == part.from && it.insert == part.insert
                });
        }
        self.status == HunkStatus::Conflict
            && self.standing(after).is_ok_and(|words| words == self.proposed())
    }
}

impl ApprovalRequest {
    /// Closes the hunks whose change was just made by the accepted `change` of another request, and
    /// returns them. The request must have been mapped over `change`; `after` is the text after it.
    pub fn close_duplicates(
        &mut self,
        change: &ChangeSet,
        after: &Text,
        now_ms: u64,
    ) -> Vec<HunkId> {
        let mut done = Vec::new();
        for hunk in self.hunks.iter_mut().filter(|hunk| hunk.was_done_by(change, after)) {
            hunk.status = HunkStatus::Obsolete;
            hunk.reason = Some(HunkReason::AlreadyInText);
            done.push(hunk.id.clone());
        }
        if !done.is_empty() {
            self.settle(ClosedBy::by(None, now_ms));
        }
        done
    }
}
