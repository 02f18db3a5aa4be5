//! Proposing again what was refused, ran out of time, or lost the words it was about: on today's text.
//!
//! A hunk whose words are still there follows them like any other. One whose words were deleted and have come back, by undo
//! or by pasting, is looked for by its own words and by those that stood around it.

use super::{ApprovalRequest, DecisionError, Hunk, HunkStatus};
use crate::document::{Text, utf16_len};
use crate::ids::HunkId;
use crate::permissions::Principal;

/// How much of the words around a hunk is remembered on each side, in UTF-16 units.
const AROUND: usize = 64;
/// As many characters around must be the same for a place to count, or as many as there were.
const ENOUGH_AROUND: usize = 12;
/// Words of this length speak for themselves if they stand in one place only; in characters.
const ENOUGH_ALONE: usize = 24;

impl ApprovalRequest {
    /// Makes hunks that were refused, ran out of time or lost their words pending again; returns them. `only` those, or
    /// all there are; the others stay as they are. The request must have been mapped to `text`. What finds no place in
    /// it stays as it is, too.
    pub fn reopen(
        &mut self,
        only: Option<&[HunkId]>,
        who: &Principal,
        text: &Text,
    ) -> Result<Vec<HunkId>, DecisionError> {
        let wanted = self.wanted(only)?;
        self.check_allowed(who)?;
        let invalid = |reason| Err(DecisionError::InvalidDecision { reason });
        if only.is_some() && !wanted.iter().all(|&index| is_refused(&self.hunks[index])) {
            return invalid("this change is open, or was accepted");
        }
        if !wanted.iter().any(|&index| is_refused(&self.hunks[index])) {
            return invalid("there is nothing to propose again");
        }
        let words = text.to_string();
        let mut again = Vec::new();
        for index in wanted {
            if let Some(hunk) = self.placed_again(index, &words) {
                again.push(hunk.id.clone());
                self.hunks[index] = hunk;
            }
        }
        if again.is_empty() {
            return invalid("the words it would change are no longer in the text");
        }
        self.open_again();
        Ok(again)
    }

    /// The hunks that are meant, in their order.
    fn wanted(&self, only: Option<&[HunkId]>) -> Result<Vec<usize>, DecisionError> {
        let Some(only) = only else { return Ok((0..self.hunks.len()).collect()) };
        if let Some(unknown) = only.iter().find(|id| self.hunk(id).is_none()) {
            return Err(DecisionError::NotFound { hunk: unknown.clone() });
        }
        let named = |index: &usize| only.contains(&self.hunks[*index].id);
        Ok((0..self.hunks.len()).filter(named).collect())
    }

    /// A refused hunk, pending on today's `text`; nothing if it has no place there.
    fn placed_again(&self, index: usize, text: &str) -> Option<Hunk> {
        let mut hunk = self.hunks.get(index).filter(|hunk| is_refused(hunk))?.clone();
        if hunk.parts.iter().any(|part| part.conflict) {
            let is_found = hunk.find_again(text);
            // Words that another change of this request already replaces are not those.
            let taken = |other: &Hunk| other.status.is_open() && overlap(other, &hunk);
            if is_found && self.hunks.iter().any(taken) || !is_found && hunk.is_lost() {
                return None;
            }
        }
        hunk.status = HunkStatus::Pending;
        hunk.decided = None;
        hunk.votes.clear();
        hunk.restate();
        Some(hunk)
    }

    /// What [`Self::reopen`] was asked for and could not place: the hunks it was for that are still neither open nor
    /// accepted.
    pub fn unplaced(&self, only: Option<&[HunkId]>) -> Vec<HunkId> {
        let meant = |hunk: &&Hunk| only.is_none_or(|only| only.contains(&hunk.id));
        let refused = self.hunks.iter().filter(|hunk| is_refused(hunk)).filter(meant);
        refused.map(|hunk| hunk.id.clone()).collect()
    }
}

fn is_refused(hunk: &Hunk) -> bool {
    match hunk.status {
        HunkStatus::Rejected | HunkStatus::Expired | HunkStatus::Obsolete => true,
        HunkStatus::Streaming
        | HunkStatus::Pending
        | HunkStatus::Conflict
        | HunkStatus::Accepted => false,
    }
}

fn overlap(a: &Hunk, b: &Hunk) -> bool {
    a.range().start < b.range().end && b.range().start < a.range().end
}

impl Hunk {
    /// What stands before and after a range, for [`Self::find_again`].
    pub(super) fn around(text: &Text, range: &std::ops::Range<usize>) -> (String, String) {
        let on_boundary = |at: usize| if text.is_boundary(at) { at } else { at + 1 };
        let from = on_boundary(range.start.saturating_sub(AROUND));
        let to = on_boundary((range.end + AROUND).min(text.len()));
        let words = |range| text.slice(range).unwrap_or_default();
        (words(from..range.start), words(range.end..to))
    }

    /// Whether its parts say nothing any more about where its words were: those were deleted once.
    fn is_lost(&self) -> bool {
        self.status == HunkStatus::Obsolete || self.state_of_parts().0 == HunkStatus::Obsolete
    }

    /// Moves the parts to where the words they would replace stand in `text` again; `false` if that is nowhere, or in
    /// several places alike.
    fn find_again(&mut self, text: &str) -> bool {
        let base = self.base();
        if base.is_empty() {
            return false;
        }
        let Some(at) = self.place_of(&base, text) else { return false };
        let mut from = utf16_len(&text[..at]);
        let gaps = self.gaps.iter().map(|gap| utf16_len(gap)).chain(std::iter::once(0));
        for (part, gap) in self.parts.iter_mut().zip(gaps) {
            part.from = from;
            part.to = from + utf16_len(&part.base);
            part.conflict = false;
            from = part.to + gap;
        }
        true
    }

    /// The one place, in bytes, where the words stand and most of what was around them does.
    fn place_of(&self, base: &str, text: &str) -> Option<usize> {
        let (before, after) = &self.around;
        let around = |at: usize| {
            alike(text[..at].chars().rev(), before.chars().rev())
                + alike(text[at + base.len()..].chars(), after.chars())
        };
        let mut places: Vec<_> = text.match_indices(base).map(|(at, _)| (around(at), at)).collect();
        places.sort_unstable_by(|a, b| b.cmp(a));
        let (best, at) = *places.first()?;
        if places.get(1).is_some_and(|(next, _)| *next == best) {
            return None;
        }
        let there_was = before.chars().count() + after.chars().count();
        let speaks_for_itself = places.len() == 1 && base.chars().count() >= ENOUGH_ALONE;
        (best >= ENOUGH_AROUND.min(there_was) && there_was > 0 || speaks_for_itself).then_some(at)
    }
}

/// How many characters two texts have in common at their beginning.
fn alike(a: impl Iterator<Item = char>, b: impl Iterator<Item = char>) -> usize {
    a.zip(b).take_while(|(a, b)| a == b).count()
}
