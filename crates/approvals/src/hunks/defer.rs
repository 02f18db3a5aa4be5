//! Hunks that a person put at the end of their own list. It ends with the hunk: one that is open
//! again begins without; the parts of a hunk that is split keep it.

use crate::{ApprovalRequest, DecisionError, Hunk, HunkChoice, HunkVerdict};
use copydesk_ids::HunkId;
use copydesk_ids::permissions::Principal;

impl Hunk {
    fn is_deferred_by(&self, who: &Principal) -> bool {
        self.deferred_by.iter().any(|user| who.is(user))
    }
}

impl ApprovalRequest {
    /// Returns `true` if [`Self::defer`] would change anything; a hunk that is not open is refused.
    pub fn would_defer(
        &self,
        id: &HunkId,
        on: bool,
        who: &Principal,
        now_ms: u64,
    ) -> Result<bool, DecisionError> {
        let Some(index) = self.hunks.iter().position(|hunk| hunk.id == *id) else {
            return Err(if self.was_replaced(id) {
                DecisionError::StalePreview { current: self.preview_hash() }
            } else {
                DecisionError::NotFound { hunk: id.clone() }
            });
        };
        let verdict = HunkVerdict::plain(id.clone(), HunkChoice::Accept);
        self.check_open(&[(index, &verdict)], now_ms)?;
        Ok(self.hunks[index].is_deferred_by(who) != on)
    }

    /// Puts a hunk at the end of a person's own list, or back.
    pub fn defer(&mut self, id: &HunkId, on: bool, who: &Principal) {
        for hunk in self.hunks.iter_mut().filter(|hunk| hunk.id == *id) {
            hunk.deferred_by.retain(|user| !who.is(user));
            if on {
                hunk.deferred_by.push(who.user.clone());
            }
        }
    }

    /// Returns the open hunks that a person put at the end of their own list.
    pub fn deferred_by(&self, who: &Principal) -> impl Iterator<Item = &Hunk> {
        self.hunks.iter().filter(|hunk| hunk.status.is_open() && hunk.is_deferred_by(who))
    }
}
