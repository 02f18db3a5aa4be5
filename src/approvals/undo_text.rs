//! Taking back what was accepted, at any later time.

use std::collections::BTreeMap;

use super::apply::{AppliedHunks, HunkEdit, in_order};
use super::{
    ApprovalRequest, ClosedBy, DecisionError, DecisionOutcome, DecisionRequirements, Hunk,
    HunkPart, HunkStatus, PeopleAsked, Person, RequestStatus, TouchedSince,
};
use crate::document::provenance::PlacementOrigin;
use crate::document::{Text, TextEdit};
use crate::ids::HunkId;
use crate::permissions::Principal;

/// What to take back.
#[derive(Clone, Copy, Debug)]
pub struct UndoScope<'a> {
    /// Only these hunks; `None`: everything that was accepted.
    pub hunks: Option<&'a [HunkId]>,
    /// Whether to do it although the words were touched since.
    pub touched: TouchedPolicy<'a>,
}

/// What to do where words were touched since.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TouchedPolicy<'a> {
    /// Refuse.
    Refuse,
    /// Overwrite them.
    Overwrite,
    /// Overwrite them if they still read as the person saw them, hunk by hunk.
    OverwriteSeen(&'a BTreeMap<HunkId, String>),
}

impl ApprovalRequest {
    /// Takes accepted hunks back; only those are pending again. No call waits for them any more.
    ///
    /// The request must have been mapped to `text` ([`ApprovalRequest::rebase`], over every update since its version), and
    /// [`DecisionOutcome::changes`] must be committed to it. [`DecisionOutcome::put`] are the hunks that are open again. It is judged as it will
    /// be applied: what it takes away and puts back counts, whoever wrote it.
    pub fn undo(
        &mut self,
        scope: UndoScope,
        who: &Principal,
        text: &Text,
        now_ms: u64,
        requirements: &DecisionRequirements,
    ) -> Result<DecisionOutcome, DecisionError> {
        let indices = self.accepted(scope.hunks)?;
        self.check_allowed(who)?;
        let edits = self.inverse(&indices, scope.touched, text)?;
        let extent = self.reversed_extent(&edits);
        if self.inverse(&indices, TouchedPolicy::Refuse, text).is_err() {
            self.check_not_denied(&extent, requirements)?;
        }
        self.consent_for(&extent, who, requirements)?;
        let mut open_again: Vec<HunkId> = Vec::new();
        for &index in &indices {
            self.hunks[index].inverse.clear();
        }
        let AppliedHunks { changes, put, placed } = self.apply(&edits, text)?;
        let mut after = text.clone();
        if let Some(change) = &changes {
            let misfit = DecisionError::InvalidDecision { reason: "it does not fit the text" };
            change.apply(&mut after).map_err(|_| misfit)?;
        }
        for &index in &indices {
            let hunk = &mut self.hunks[index];
            hunk.reopen(&after);
            open_again.push(hunk.id.clone());
        }
        open_again.extend(put);
        self.open_again();
        self.restate(requirements);
        // What was forced over deleted words has nothing to change once it is taken back.
        let resolved = self.settle(ClosedBy::by(Some(Person::from(who)), now_ms));
        let votes = self.votes();
        let (put, decided, asked) = (open_again, Vec::new(), PeopleAsked::People);
        Ok(DecisionOutcome { changes, placed, asked, decided, put, resolved, votes, rule: None })
    }

    /// The edits that take hunks back, in order; or what has changed there since.
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
            // Somebody still waits for it.
            return;
        }
        self.status = RequestStatus::Pending;
        self.closed = None;
        self.answer = None;
        // Nothing waits for it, so it does not expire.
        self.clock.expires_ms = None;
        self.clock.deadline_ms = None;
    }

    /// The hunks to take back.
    fn accepted(&self, ids: Option<&[HunkId]>) -> Result<Vec<usize>, DecisionError> {
        let is_accepted = |hunk: &Hunk| hunk.status == HunkStatus::Accepted;
        let Some(ids) = ids else {
            let all: Vec<usize> =
                (0..self.hunks.len()).filter(|&i| is_accepted(&self.hunks[i])).collect();
            return if all.is_empty() {
                Err(DecisionError::InvalidDecision { reason: "nothing was accepted" })
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
                    reason: "this change is not accepted",
                });
            }
            indices.push(index);
        }
        Ok(indices)
    }
}

impl TouchedPolicy<'_> {
    /// Whether the words of this hunk may be overwritten.
    fn allows(self, since: &TouchedSince) -> bool {
        match self {
            Self::Refuse => false,
            Self::Overwrite => true,
            Self::OverwriteSeen(seen) => seen.get(&since.id) == Some(&since.stands),
        }
    }
}

fn no_place() -> DecisionError {
    DecisionError::InvalidDecision { reason: "it does not fit the text" }
}

/// The edits that take a hunk back; `None`: it has no place in the text.
fn inverse_edits(index: usize, hunk: &Hunk, text: &Text) -> Option<Vec<HunkEdit>> {
    let mut edits = Vec::with_capacity(hunk.inverse.len());
    let mut done = 0;
    for part in &hunk.inverse {
        let (from, to) = (part.from.max(done), part.to.max(done));
        let base = text.slice(from..to).ok()?;
        let edit = TextEdit { from, to, insert: part.insert.clone() };
        let origin = part.stood.map(PlacementOrigin::Stood);
        edits.push(HunkEdit { index, edit, base, origin });
        done = to;
    }
    Some(edits)
}

/// Whether anything else stands where the hunk's words were put.
fn is_touched(hunk: &Hunk, edits: &[HunkEdit]) -> bool {
    let differs = |(part, edit): (&HunkPart, &HunkEdit)| part.conflict || edit.base != part.base;
    hunk.inverse.iter().zip(edits).any(differs)
}

/// What stands from the first of a hunk's edits to the last, and what they make of it.
fn touched_since(hunk: &Hunk, edits: &[HunkEdit], text: &Text) -> Option<TouchedSince> {
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
    /// Pending again after its inverse was applied; `apply` has left in `inverse` where the old words stand now.
    fn reopen(&mut self, after: &Text) {
        let restored = std::mem::take(&mut self.inverse);
        match (restored.as_slice(), self.parts.len()) {
            (restored, count) if restored.len() == count => {
                for (part, place) in self.parts.iter_mut().zip(restored) {
                    (part.from, part.to) = (place.from, place.to);
                }
            }
            ([whole], _) => {
                // It was accepted with another text, in one piece: its parts keep their places within the piece. Parts
                // that were in conflict may have passed each other.
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
        self.restate();
    }
}
