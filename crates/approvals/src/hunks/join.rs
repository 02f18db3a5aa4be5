//! Join of the parts of a hunk that was split: the split is taken back.

use crate::{
    ApprovalRequest, ClosedBy, DecisionError, Hunk, HunkStatus, InvalidDecisionReason, Person,
};
use copydesk_ids::HunkId;
use copydesk_ids::permissions::Principal;

/// Act that an undo takes back, of those that leave hunks open.
#[derive(Debug, PartialEq, Eq)]
pub enum OpenUndo {
    /// Votes of the person, on these hunks; none if the request has none.
    Votes(Vec<HunkId>),
    /// Split of the first hunk into the other ones.
    Split(HunkId, Vec<HunkId>),
}

impl ApprovalRequest {
    /// Undoes what leaves hunks open: a split, named by the hunk that was split, or votes of `who`.
    /// Without `hunks` it is votes if nothing was accepted. Returns `None` if the undo is about
    /// neither.
    pub fn undo_open(
        &mut self,
        hunks: Option<&[HunkId]>,
        who: &Principal,
        now_ms: u64,
    ) -> Result<Option<OpenUndo>, DecisionError> {
        if let Some([id]) = hunks
            && self.was_split(id)
        {
            let parts = self.join(id, who, now_ms)?;
            return Ok(Some(OpenUndo::Split(id.clone(), parts)));
        }
        let is_accepted = |hunk: &Hunk| hunk.status == HunkStatus::Accepted;
        let voted = match hunks {
            Some(ids) => {
                !ids.is_empty() && ids.iter().all(|id| self.has_vote_of(&who.user, Some(id)))
            }
            None => {
                !self.hunks.iter().any(is_accepted)
                    && self.status.is_open()
                    && self.has_vote_of(&who.user, None)
            }
        };
        if !voted {
            return Ok(None);
        }
        Ok(Some(OpenUndo::Votes(self.withdraw_votes(hunks, who, now_ms)?)))
    }

    /// Replaces the parts of a hunk that was split by the hunk, and returns their ids. `whole` is
    /// the id that the hunk had.
    ///
    /// # Errors
    /// [`DecisionError`] if `who` may not decide, if the request has ended, or if one of the parts
    /// was decided or voted on since.
    pub(super) fn join(
        &mut self,
        whole: &HunkId,
        who: &Principal,
        now_ms: u64,
    ) -> Result<Vec<HunkId>, DecisionError> {
        self.check_allowed(who)?;
        self.check_open(&[], now_ms)?;
        let is_part = |hunk: &Hunk| hunk.split_of.as_ref() == Some(whole);
        let parts: Vec<&Hunk> = self.hunks.iter().filter(|hunk| is_part(hunk)).collect();
        let ids = parts.iter().map(|hunk| hunk.id.clone()).collect();
        let Some(hunk) = Hunk::joined(whole, &parts) else {
            let reason = InvalidDecisionReason::PartDecided;
            return Err(DecisionError::InvalidDecision { reason });
        };
        let first = self.hunks.iter().position(is_part).unwrap_or_default();
        self.forget_hash();
        self.raise_revision();
        self.hunks.retain(|hunk| !is_part(hunk));
        self.hunks.insert(first, hunk);
        self.mark_hunks();
        self.settle(ClosedBy::by(Some(Person::from(who)), now_ms));
        Ok(ids)
    }

    pub(crate) fn was_joined(&self, id: &HunkId) -> bool {
        let Some((whole, number)) = id.as_str().rsplit_once('.') else { return false };
        let number = number.parse().unwrap_or(0);
        let whole = self.hunks.iter().find(|hunk| hunk.id.as_str() == whole);
        whole.is_some_and(|it| it.parts.len() > 1 && (1..=it.parts.len()).contains(&number))
    }
}

impl Hunk {
    /// Returns the hunk that was split into these parts; `None` if one of them was decided or voted
    /// on, or if it is not known what was between them.
    fn joined(id: &HunkId, parts: &[&Self]) -> Option<Self> {
        let (first, last) = (parts.first()?, parts.last()?);
        let is_whole = parts.len() > 1
            && parts.iter().all(|part| part.status.is_open() && part.votes == first.votes);
        if !is_whole {
            return None;
        }
        let mut gaps = Vec::new();
        for (number, part) in (1..).zip(parts) {
            gaps.extend_from_slice(&part.gaps);
            if number < parts.len() {
                gaps.push(part.split_gap.clone()?);
            }
        }
        let mut hunk = Self {
            id: id.clone(),
            parts: parts.iter().flat_map(|part| part.parts.clone()).collect(),
            gaps,
            around: (first.around.0.clone(), last.around.1.clone()),
            split_of: None,
            split_gap: None,
            marks: None,
            status: HunkStatus::Pending,
            ..(*first).clone()
        };
        hunk.update_conflict_status();
        Some(hunk)
    }
}
