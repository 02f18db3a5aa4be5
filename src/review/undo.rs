//! Taking back what was accepted, at any later time.

use super::apply::{Applied, HunkEdit, in_order};
use super::{
    Asked, Closed, DecisionError, Hunk, HunkStatus, Outcome, Person, Request, RequestStatus,
};
use crate::document::provenance::Origin;
use crate::document::{Edit, Text};
use crate::ids::HunkId;
use crate::who::Principal;

/// What to take back.
#[derive(Clone, Copy, Debug)]
pub struct UndoScope<'a> {
    /// Only these hunks; `None`: everything that was accepted.
    pub hunks: Option<&'a [HunkId]>,
    /// Whether to do it although the words were touched since.
    pub touched: Touched,
}

/// What to do where words were touched since.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Touched {
    /// Refuse.
    Refuse,
    /// Overwrite them.
    Overwrite,
}

impl Request {
    /// Takes accepted hunks back; only those are pending again. No call waits for them any more.
    ///
    /// The request must have been mapped to `text` ([`Request::rebase`], over every update since its version), and
    /// [`Outcome::changes`] must be committed to it. [`Outcome::put`] are the hunks that are open again.
    pub fn undo(
        &mut self,
        scope: UndoScope,
        who: &Principal,
        text: &Text,
        now_ms: u64,
    ) -> Result<Outcome, DecisionError> {
        let indices = self.accepted(scope.hunks)?;
        self.check_allowed(who)?;
        let mut edits = Vec::new();
        let mut conflicts = Vec::new();
        for &index in &indices {
            match inverse_edits(index, &self.hunks[index], scope.touched, text) {
                Some(found) => edits.extend(found),
                None => conflicts.push(self.hunks[index].id.clone()),
            }
        }
        conflicts.extend(in_order(&mut edits).into_iter().map(|i| self.hunks[i].id.clone()));
        if !conflicts.is_empty() {
            return Err(DecisionError::Conflicted { hunks: conflicts });
        }
        let mut open_again: Vec<HunkId> = Vec::new();
        for &index in &indices {
            self.hunks[index].inverse.clear();
        }
        let Applied { changes, put, placed } = self.apply(&edits, text)?;
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
        // What was forced over deleted words has nothing to change once it is taken back.
        let resolved = self.settle(Closed::by(Some(Person::from(who)), now_ms));
        let votes = self.votes();
        let (put, decided, asked) = (open_again, Vec::new(), Asked::People);
        Ok(Outcome { changes, placed, asked, decided, put, resolved, votes, rule: None })
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

fn inverse_edits(
    index: usize,
    hunk: &Hunk,
    touched: Touched,
    text: &Text,
) -> Option<Vec<HunkEdit>> {
    let mut edits = Vec::with_capacity(hunk.inverse.len());
    let mut done = 0;
    for part in &hunk.inverse {
        let (from, to) = (part.from.max(done), part.to.max(done));
        let base = text.slice(from..to).ok()?;
        let is_touched = part.conflict || base != part.base;
        if is_touched && touched == Touched::Refuse {
            return None;
        }
        let edit = Edit { from, to, insert: part.insert.clone() };
        let origin = part.stood.map(Origin::Stood);
        edits.push(HunkEdit { index, edit, base, origin });
        done = to;
    }
    Some(edits)
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
                // It was accepted with another text, in one piece: its parts keep their places within the piece.
                let start = self.parts.first().map_or(0, |p| p.from);
                for part in &mut self.parts {
                    part.from = part.from - start + whole.from;
                    part.to = part.to - start + whole.from;
                }
            }
            _ => {}
        }
        for part in &mut self.parts {
            let stands = after.slice(part.from..part.to);
            part.conflict = stands.is_ok_and(|words| words != part.base);
        }
        self.status = HunkStatus::Pending;
        self.decided = None;
        self.votes.clear();
        self.restate();
    }
}
