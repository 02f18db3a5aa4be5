//! Undo of accepted hunks, at any later time.

use std::collections::BTreeMap;

use super::{
    ApprovalRequest, ClosedBy, DecisionError, DecisionOutcome, DecisionRequirements, Hunk,
    HunkPart, HunkStatus, InvalidDecisionReason, PeopleAsked, Person, RequestStatus, TouchedSince,
};
use crate::hunks::apply::{AppliedHunks, HunkEdit, change_of, in_order};
use copydesk_document::provenance::PlacementOrigin;
use copydesk_document::{ChangeSet, Text, TextEdit};
use copydesk_ids::HunkId;
use copydesk_ids::permissions::Principal;

/// Hunks to undo, and the [`TouchedPolicy`] for changed words.
#[derive(Clone, Copy, Debug)]
pub struct UndoScope<'a> {
    /// Hunks to undo; `None`: everything that was accepted.
    pub hunks: Option<&'a [HunkId]>,
    /// Policy for words that were changed since.
    pub touched: TouchedPolicy<'a>,
}

/// Policy for an undo where words were changed since.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TouchedPolicy<'a> {
    /// The undo is refused.
    Refuse,
    /// The words are overwritten.
    Overwrite,
    /// The words of each hunk are overwritten if they still read as the person saw them.
    OverwriteSeen(&'a BTreeMap<HunkId, String>),
}

/// Undo that may be carried out: [`ApprovalRequest::carry_out_undo`] cannot fail.
pub struct JudgedUndo {
    indices: Vec<usize>,
    edits: Vec<HunkEdit>,
    changes: Option<ChangeSet>,
    after: Text,
}

impl JudgedUndo {
    /// Returns the change of the text that the undo makes, if it makes one.
    pub fn changes(&self) -> Option<&ChangeSet> {
        self.changes.as_ref()
    }
}

impl ApprovalRequest {
    /// Undoes accepted hunks; only those are pending again. No call waits for them any more.
    ///
    /// The request must have been mapped to `text`, and [`DecisionOutcome::changes`] must be
    /// committed to it. [`DecisionOutcome::put`] lists the hunks that are open again. Everything
    /// that the undo deletes and inserts counts, no matter who wrote it.
    ///
    /// # Errors
    /// [`DecisionError`] if a named hunk is unknown, `who` may not decide, nothing was accepted, or
    /// words changed since and may not be overwritten; the first of these.
    pub fn undo(
        &mut self,
        scope: UndoScope,
        who: &Principal,
        text: &Text,
        now_ms: u64,
        requirements: &DecisionRequirements,
    ) -> Result<DecisionOutcome, DecisionError> {
        let judged = self.judge_undo(scope, who, text, requirements)?;
        Ok(self.carry_out_undo(judged, who, text, now_ms, requirements))
    }

    /// Judges an undo as [`ApprovalRequest::undo`] does, and changes nothing.
    pub fn judge_undo(
        &self,
        scope: UndoScope,
        who: &Principal,
        text: &Text,
        requirements: &DecisionRequirements,
    ) -> Result<JudgedUndo, DecisionError> {
        self.wanted(scope.hunks)?;
        self.check_allowed(who)?;
        let indices = self.accepted(scope.hunks)?;
        let edits = self.inverse(&indices, scope.touched, text)?;
        let extent = self.reversed_extent(&edits);
        if self.inverse(&indices, TouchedPolicy::Refuse, text).is_err() {
            self.check_not_denied(&extent, requirements)?;
        }
        let least = self.requirement_for(&extent, who, requirements)?;
        if requirements.has_marks() {
            let extents = [&self.proposed_extent(), &extent];
            for hunk in indices.iter().map(|&index| &self.hunks[index]) {
                let own = hunk.decided.as_ref().and_then(|decided| decided.text.as_deref());
                let kinds = self.applied_kinds(hunk, own, None);
                self.requirement_for_marks(&kinds, extents, least, who, requirements)?;
            }
        }
        let changes = change_of(&edits, text)?;
        let mut after = text.clone();
        if let Some(change) = &changes {
            change.apply(&mut after).map_err(|_| no_place())?;
        }
        Ok(JudgedUndo { indices, edits, changes, after })
    }

    /// Carries out an undo that was judged on this request and `text`, with nothing changed since.
    pub fn carry_out_undo(
        &mut self,
        judged: JudgedUndo,
        who: &Principal,
        text: &Text,
        now_ms: u64,
        requirements: &DecisionRequirements,
    ) -> DecisionOutcome {
        let JudgedUndo { indices, edits, changes, after } = judged;
        let mut open_again: Vec<HunkId> = Vec::new();
        for &index in &indices {
            self.hunks[index].inverse.clear();
        }
        let applied = self.apply(&edits, changes.as_ref(), text);
        let AppliedHunks { put, displaced, placed } = applied;
        for &index in &indices {
            let hunk = &mut self.hunks[index];
            hunk.reopen(&after);
            open_again.push(hunk.id.clone());
        }
        open_again.extend(put);
        self.open_again();
        self.raise_revision();
        self.update_required(requirements);
        // A hunk that was forced over deleted words has nothing to change once it is undone.
        let resolved = self.settle(ClosedBy::by(Some(Person::from(who)), now_ms));
        let votes = self.votes();
        DecisionOutcome {
            changes,
            placed,
            asked: PeopleAsked::People,
            decided: Vec::new(),
            voted: Vec::new(),
            put: open_again,
            displaced,
            resolved,
            votes,
            rule: None,
        }
    }

    fn inverse(
        &self,
        indices: &[usize],
        touched: TouchedPolicy,
        text: &Text,
    ) -> Result<Vec<HunkEdit>, DecisionError> {
        let mut edits = Vec::new();
        let mut changed = Vec::new();
        for &index in indices {
            let hunk = &self.hunks[index];
            let found = inverse_edits(index, hunk, text).ok_or_else(no_place)?;
            if is_touched(hunk, &found) {
                let since = touched_since(hunk, &found, text).ok_or_else(no_place)?;
                if !touched.allows(&since) {
                    changed.push(since);
                }
            }
            edits.extend(found);
        }
        if !changed.is_empty() {
            return Err(DecisionError::Touched { hunks: changed });
        }
        let overlapping = in_order(&mut edits);
        if overlapping.is_empty() {
            return Ok(edits);
        }
        let hunks = overlapping.into_iter().map(|index| self.hunks[index].id.clone()).collect();
        Err(DecisionError::Conflicted { hunks })
    }

    pub(super) fn open_again(&mut self) {
        if self.status.is_open() {
            // A caller still waits for the request.
            return;
        }
        self.status = RequestStatus::Pending;
        self.reopen_suggestion();
        self.decisions.closed = None;
        self.decisions.answer = None;
        // No caller waits for it, so it does not expire.
        self.clock.expires_ms = None;
        self.clock.deadline_ms = None;
    }

    fn accepted(&self, ids: Option<&[HunkId]>) -> Result<Vec<usize>, DecisionError> {
        let is_accepted = |hunk: &Hunk| hunk.status == HunkStatus::Accepted;
        let Some(ids) = ids else {
            let all: Vec<usize> =
                (0..self.hunks.len()).filter(|&i| is_accepted(&self.hunks[i])).collect();
            return if all.is_empty() {
                Err(DecisionError::InvalidDecision {
                    reason: InvalidDecisionReason::NothingAccepted,
                })
            } else {
                Ok(all)
            };
        };
        let mut indices = Vec::with_capacity(ids.len());
        for id in ids {
            let index = self.hunks.iter().position(|h| h.id == *id);
            let index = index.ok_or_else(|| DecisionError::NotFound { hunk: id.clone() })?;
            if !is_accepted(&self.hunks[index]) || indices.contains(&index) {
                return Err(DecisionError::InvalidDecision {
                    reason: InvalidDecisionReason::NotAccepted,
                });
            }
            indices.push(index);
        }
        Ok(indices)
    }
}

impl TouchedPolicy<'_> {
    fn allows(self, since: &TouchedSince) -> bool {
        match self {
            Self::Refuse => false,
            Self::Overwrite => true,
            Self::OverwriteSeen(seen) => seen.get(&since.id) == Some(&since.stands),
        }
    }
}

fn no_place() -> DecisionError {
    DecisionError::InvalidDecision { reason: InvalidDecisionReason::DoesNotFit }
}

fn inverse_edits(index: usize, hunk: &Hunk, text: &Text) -> Option<Vec<HunkEdit>> {
    let mut edits = Vec::with_capacity(hunk.inverse.len());
    let mut done = 0;
    for part in &hunk.inverse {
        let (from, to) = (part.from.max(done), part.to.max(done));
        let base = text.slice(from..to).ok()?;
        let edit = TextEdit { from, to, insert: part.insert.clone() };
        let origin = part.stood.map(PlacementOrigin::Stood);
        edits.push(HunkEdit { index, rank: part.rank, edit, base, origin });
        done = to;
    }
    Some(edits)
}

fn is_touched(hunk: &Hunk, edits: &[HunkEdit]) -> bool {
    let differs = |(part, edit): (&HunkPart, &HunkEdit)| part.conflict || edit.base != part.base;
    hunk.inverse.iter().zip(edits).any(differs)
}

/// Returns the text that the edits of a hunk replace, and the text that they would restore; of a
/// moved hunk without the words between its places.
fn touched_since(hunk: &Hunk, edits: &[HunkEdit], text: &Text) -> Option<TouchedSince> {
    if hunk.is_moved() {
        let stands = edits.iter().map(|it| it.base.as_str()).collect();
        let restores = edits.iter().map(|it| it.edit.insert.as_str()).collect();
        return Some(TouchedSince { id: hunk.id.clone(), stands, restores });
    }
    let (first, last) = (edits.first()?, edits.last()?);
    let stands = text.slice(first.edit.from..last.edit.to).ok()?;
    let mut restores = String::new();
    let mut done = first.edit.from;
    for HunkEdit { edit, .. } in edits {
        restores.push_str(&text.slice(done..edit.from).ok()?);
        restores.push_str(&edit.insert);
        done = edit.to;
    }
    Some(TouchedSince { id: hunk.id.clone(), stands, restores })
}

impl Hunk {
    /// Makes the hunk pending again; `apply` has left in `inverse` the places of the old words.
    fn reopen(&mut self, after: &Text) {
        let restored = std::mem::take(&mut self.inverse);
        match (restored.as_slice(), self.parts.len()) {
            (restored, count) if restored.len() == count => {
                for (part, place) in self.parts.iter_mut().zip(restored) {
                    (part.from, part.to) = (place.from, place.to);
                }
            }
            ([whole], _) => {
                // The hunk was accepted with another text, in one piece: its parts keep their
                // places within the piece. Parts in conflict may have passed each other.
                let start = self.parts.iter().map(|part| part.from).min().unwrap_or(0);
                let place = |at: usize| (whole.from + at.saturating_sub(start)).min(whole.to);
                for part in &mut self.parts {
                    (part.from, part.to) = (place(part.from), place(part.to));
                }
            }
            _ => {}
        }
        for part in &mut self.parts {
            let stands = after.slice(part.from..part.to);
            part.conflict = !stands.is_ok_and(|words| words == part.base);
        }
        self.status = HunkStatus::Pending;
        self.decided = None;
        self.votes.clear();
        self.deferred_by.clear();
        self.note_decided();
        self.update_conflict_status();
    }
}
