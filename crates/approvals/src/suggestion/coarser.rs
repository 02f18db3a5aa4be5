//! Suggestions with very many changes: neighbours become one, so that they can be decided.

use std::collections::BTreeSet;

use crate::{ApprovalRequest, Hunk, HunkStatus};
use copydesk_document::{PositionError, Text};
use copydesk_ids::HunkId;

/// Largest number of open hunks of a suggestion.
pub const MOST_SUGGESTED: usize = 1_000;

impl ApprovalRequest {
    /// Joins neighbouring hunks until at most [`MOST_SUGGESTED`] are open, where that is possible,
    /// and notes them as `written`. `known` are the names of hunks that there were before.
    pub(super) fn join_neighbours(
        &mut self,
        text: &Text,
        known: &BTreeSet<HunkId>,
        written: &mut BTreeSet<HunkId>,
    ) -> Result<(), PositionError> {
        let open = self.hunks.iter().filter(|hunk| hunk.status.is_open()).count();
        let mut excess = open.saturating_sub(MOST_SUGGESTED);
        let moved: Vec<usize> = self
            .hunks
            .iter()
            .filter(|hunk| hunk.is_moved())
            .flat_map(|hunk| hunk.parts.iter().map(|part| part.from))
            .collect();
        let may_join = |left: &Hunk, right: &Hunk| {
            let (from, to) = (left.range().start, right.range().end);
            [left, right].iter().all(|hunk| hunk.is_untouched())
                && left.range().end <= right.range().start
                && !moved.iter().any(|at| (from..=to).contains(at))
        };
        while excess > 0 {
            let (hunks, before) = (std::mem::take(&mut self.hunks), excess);
            let mut is_joined = true;
            for hunk in hunks {
                match self.hunks.last_mut() {
                    Some(last) if excess > 0 && !is_joined && may_join(last, &hunk) => {
                        last.take_in(hunk, text, known)?;
                        written.insert(last.id.clone());
                        (excess, is_joined) = (excess - 1, true);
                    }
                    _ => {
                        self.hunks.push(hunk);
                        is_joined = false;
                    }
                }
            }
            if excess == before {
                break;
            }
        }
        Ok(())
    }
}

impl Hunk {
    /// Returns `true` for a hunk that only its writer has had to do with.
    fn is_untouched(&self) -> bool {
        self.status == HunkStatus::Pending
            && self.votes.is_empty()
            && !self.was_decided()
            && self.split_of.is_none()
            && !self.is_moved()
    }

    /// Takes in the next hunk. A name that people know stays.
    fn take_in(
        &mut self,
        next: Self,
        text: &Text,
        known: &BTreeSet<HunkId>,
    ) -> Result<(), PositionError> {
        self.gaps.push(text.slice(self.range().end..next.range().start)?);
        self.gaps.extend(next.gaps);
        self.parts.extend(next.parts);
        self.around.1 = next.around.1;
        (self.kind, self.marks, self.explanation) = (None, None, None);
        if !known.contains(&self.id) && known.contains(&next.id) {
            self.id = next.id;
        }
        Ok(())
    }
}
