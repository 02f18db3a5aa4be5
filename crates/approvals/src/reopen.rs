//! Reopening of hunks that were rejected, expired, or lost the words to replace, on the current
//! text.
//!
//! A hunk whose words are still there has moved with them like any other. A hunk whose words were
//! deleted and have come back, by undo or by pasting, is searched by its own words and by the words
//! around it.

use super::{ApprovalRequest, DecisionError, Hunk, HunkStatus, InvalidDecisionReason};
use copydesk_document::{Text, utf16_len};
use copydesk_ids::HunkId;
use copydesk_ids::permissions::Principal;

/// Length of the text stored around a hunk on each side, in UTF-16 units.
pub(super) const AROUND: usize = 64;
/// Number of surrounding characters that must match for a place to count, or as many as there were.
const ENOUGH_AROUND: usize = 12;
/// Length in characters from which words that occur only once need no matching surroundings.
const ENOUGH_ALONE: usize = 24;

impl ApprovalRequest {
    /// Makes rejected, expired or obsolete hunks pending again and returns them; with `only`,
    /// those. The request must have been mapped to `text`. A hunk that has no place in `text` stays
    /// as it is.
    ///
    /// # Errors
    /// [`DecisionError`] if a named hunk is unknown, open or accepted, if `who` may not decide, or
    /// if nothing can be reopened.
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
            return invalid(InvalidDecisionReason::OpenOrAccepted);
        }
        if !wanted.iter().any(|&index| is_refused(&self.hunks[index])) {
            return invalid(InvalidDecisionReason::NothingToReopen);
        }
        // The parts of a moved hunk may come in another order.
        self.forget_hash();
        let words = text.to_string();
        let mut again = Vec::new();
        for index in wanted {
            if let Some(hunk) = self.placed_again(index, &words) {
                again.push(hunk.id.clone());
                self.hunks[index] = hunk;
            }
        }
        if again.is_empty() {
            return invalid(InvalidDecisionReason::WordsGone);
        }
        self.open_again();
        self.raise_revision();
        Ok(again)
    }

    pub(super) fn wanted(&self, only: Option<&[HunkId]>) -> Result<Vec<usize>, DecisionError> {
        let Some(only) = only else { return Ok((0..self.hunks.len()).collect()) };
        if let Some(unknown) = only.iter().find(|id| self.hunk(id).is_none()) {
            return Err(DecisionError::NotFound { hunk: unknown.clone() });
        }
        let named = |index: &usize| only.contains(&self.hunks[*index].id);
        Ok((0..self.hunks.len()).filter(named).collect())
    }

    fn placed_again(&self, index: usize, text: &str) -> Option<Hunk> {
        let mut hunk = self.hunks.get(index).filter(|hunk| is_refused(hunk))?.clone();
        if hunk.parts.iter().any(|part| part.conflict) {
            let is_found = hunk.find_again(text);
            // Words that another hunk of this request already replaces do not count.
            let taken = |other: &Hunk| other.status.is_open() && overlap(other, &hunk);
            if is_found && self.hunks.iter().any(taken) || !is_found && hunk.is_lost() {
                return None;
            }
        }
        hunk.status = HunkStatus::Pending;
        hunk.decided = None;
        hunk.votes.clear();
        hunk.deferred_by.clear();
        hunk.note_decided();
        hunk.update_conflict_status();
        Some(hunk)
    }

    /// Returns the hunks that [`Self::reopen`] was asked for and could not place.
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
    let ranges = |hunk: &Hunk| {
        if hunk.is_moved() {
            hunk.parts.iter().map(|part| part.from..part.to).collect()
        } else {
            vec![hunk.range()]
        }
    };
    let others = ranges(b);
    ranges(a).iter().any(|a| others.iter().any(|b| a.start < b.end && b.start < a.end))
}

impl Hunk {
    pub(super) fn around(text: &Text, range: &std::ops::Range<usize>) -> (String, String) {
        let on_boundary = |at: usize| if text.is_boundary(at) { at } else { at + 1 };
        let from = on_boundary(range.start.saturating_sub(AROUND));
        let to = on_boundary((range.end + AROUND).min(text.len()));
        let words = |range| text.slice(range).unwrap_or_default();
        (words(from..range.start), words(range.end..to))
    }

    /// Returns `true` if the words were once deleted, so that the parts do not say where they are.
    fn is_lost(&self) -> bool {
        self.status == HunkStatus::Obsolete || self.state_of_parts().0 == HunkStatus::Obsolete
    }

    /// Moves the parts to where the words to replace are again; `false` if no place is the best.
    fn find_again(&mut self, text: &str) -> bool {
        let base = self.base();
        if base.is_empty() {
            return false;
        }
        // The other place of a moved hunk has moved with its text; once removed it is not found.
        if self.is_moved() && self.parts.iter().any(|part| part.is_insertion() && part.conflict) {
            return false;
        }
        let Some(at) = self.place_of(&base, text) else { return false };
        let mut from = utf16_len(&text[..at]);
        if self.is_moved() {
            for part in self.parts.iter_mut().filter(|part| !part.is_insertion()) {
                (part.from, part.to) = (from, from + utf16_len(&part.base));
                part.conflict = false;
            }
            self.parts.sort_by_key(|part| (part.from, part.to));
            return true;
        }
        let gaps = self.gaps.iter().map(|gap| utf16_len(gap)).chain(std::iter::once(0));
        for (part, gap) in self.parts.iter_mut().zip(gaps) {
            part.from = from;
            part.to = from + utf16_len(&part.base);
            part.conflict = false;
            from = part.to + gap;
        }
        true
    }

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

fn alike(a: impl Iterator<Item = char>, b: impl Iterator<Item = char>) -> usize {
    a.zip(b).take_while(|(a, b)| a == b).count()
}
