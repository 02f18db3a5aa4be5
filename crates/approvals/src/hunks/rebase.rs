//! Rebase of hunks over one committed update at a time, in order.
//!
//! A part moves with its words, and is in conflict only while the words to replace are not what
//! they were. `web/src/review/state` follows the same rules, so server and client need not send
//! each other the result.

use std::cell::OnceCell;
use std::ops::Range;

use crate::HunkReason;
use crate::hunk::{Hunk, HunkPart, HunkStatus};
use copydesk_document::{ChangeSet, InsertSide, PositionIndex, Text};

/// One committed [`ChangeSet`], prepared for rebasing [`Hunk`]s.
#[derive(Clone, Debug)]
pub struct CommittedUpdate<'a> {
    change: PositionIndex<'a>,
    after: TextAfter<'a>,
    /// First changed unit of the text before; greater than `last` if nothing changed.
    first: usize,
    last: usize,
    growth: isize,
}

#[derive(Clone, Debug)]
enum TextAfter<'a> {
    Known(&'a Text),
    /// Computed from the text before on demand: most updates touch no words of a hunk.
    From(&'a Text, OnceCell<Option<Text>>),
}

/// Effect of a [`CommittedUpdate`] on a [`Hunk`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RebaseOutcome {
    /// The hunk is unchanged or only moved.
    Moved,
    /// The hunk has another status now.
    Changed,
}

impl<'a> CommittedUpdate<'a> {
    /// Prepares an update; `after` is the text after `change`.
    pub fn new(change: &'a ChangeSet, after: &'a Text) -> Self {
        Self::leading_to(change, TextAfter::Known(after))
    }

    /// Prepares an update from the text before it, where the text after is not available.
    pub(crate) fn from(change: &'a ChangeSet, before: &'a Text) -> Self {
        Self::leading_to(change, TextAfter::From(before, OnceCell::new()))
    }

    fn leading_to(change: &'a ChangeSet, after: TextAfter<'a>) -> Self {
        let mut sections = change.changed_sections();
        let (first, mut last) = sections.next().map_or((usize::MAX, 0), |s| (s.start, s.end));
        for section in sections {
            last = section.end;
        }
        let growth = change.new_len().cast_signed() - change.len().cast_signed();
        Self { change: change.index(), after, first, last, growth }
    }

    fn reads(&self, range: Range<usize>, words: &str) -> Option<bool> {
        let after = match &self.after {
            TextAfter::Known(after) => after,
            TextAfter::From(before, made) => made
                .get_or_init(|| {
                    let mut after = Text::clone(before);
                    self.change.change().apply(&mut after).ok().map(|()| after)
                })
                .as_ref()?,
        };
        after.slice(range).ok().map(|now| now == words)
    }
}

impl Hunk {
    /// Rebases the hunk over one committed update; `after` is the text after it.
    pub fn rebase(&mut self, change: &ChangeSet, after: &Text) -> RebaseOutcome {
        self.rebase_over(&CommittedUpdate::new(change, after))
    }

    /// Rebases the hunk over an update that is prepared once for many hunks.
    pub fn rebase_over(&mut self, update: &CommittedUpdate) -> RebaseOutcome {
        let mut touched = false;
        for part in self.parts_to_map() {
            touched |= part.rebase(update);
        }
        if touched { self.update_conflict_status() } else { RebaseOutcome::Moved }
    }

    pub(crate) fn parts_to_map(&mut self) -> &mut [HunkPart] {
        match self.status {
            HunkStatus::Accepted => &mut self.inverse,
            HunkStatus::Streaming
            | HunkStatus::Pending
            | HunkStatus::Conflict
            | HunkStatus::Obsolete
            | HunkStatus::Rejected
            | HunkStatus::Expired => &mut self.parts,
        }
    }

    pub(crate) fn update_conflict_status(&mut self) -> RebaseOutcome {
        let (status, reason) = match self.status {
            HunkStatus::Streaming
            | HunkStatus::Obsolete
            | HunkStatus::Accepted
            | HunkStatus::Rejected
            | HunkStatus::Expired => return RebaseOutcome::Moved,
            HunkStatus::Pending | HunkStatus::Conflict => self.state_of_parts(),
        };
        let changed = self.status != status;
        self.status = status;
        // A reason that did not come from the words is kept while the hunk stays pending.
        if changed || reason.is_some() {
            self.reason = reason;
        }
        if changed { RebaseOutcome::Changed } else { RebaseOutcome::Moved }
    }

    pub(crate) fn state_of_parts(&self) -> (HunkStatus, Option<HunkReason>) {
        let lost = |p: &HunkPart| p.is_gone() || p.is_insertion() && p.conflict;
        if self.parts.iter().all(lost) && self.parts.iter().any(HunkPart::is_gone) {
            (HunkStatus::Obsolete, Some(HunkReason::WordsDeleted))
        } else if self.parts.iter().any(|p| p.conflict && !p.is_insertion()) {
            (HunkStatus::Conflict, Some(HunkReason::WordsChanged))
        } else if self.parts.iter().any(|p| p.conflict) {
            (HunkStatus::Conflict, Some(HunkReason::PlaceRemoved))
        } else {
            (HunkStatus::Pending, None)
        }
    }
}

impl HunkPart {
    /// Moves the part. Returns `true` if the conflict may have changed.
    fn rebase(&mut self, update: &CommittedUpdate) -> bool {
        if self.to < update.first {
            return false;
        }
        if self.from > update.last {
            self.from = self.from.wrapping_add_signed(update.growth);
            self.to = self.to.wrapping_add_signed(update.growth);
            return false;
        }
        let map = |at, side| update.change.map_pos(at, side);
        if self.is_insertion() {
            // A removed place does not come back.
            self.conflict |= update.change.removes_place(self.from);
            self.from = map(self.from, InsertSide::After);
            self.to = self.from;
        } else if self.conflict || update.change.changes_inside(self.from, self.to) {
            // Outward, so that the words are inside again once they are back.
            self.from = map(self.from, InsertSide::Before);
            self.to = map(self.to, InsertSide::After);
            self.conflict = update.reads(self.from..self.to, &self.base) == Some(false);
        } else {
            // Inward, so that words typed at an edge stay outside.
            self.from = map(self.from, InsertSide::After);
            self.to = map(self.to, InsertSide::Before).max(self.from);
        }
        true
    }
}
