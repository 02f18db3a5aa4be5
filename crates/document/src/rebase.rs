//! Rebase of updates made on an old version to the newest one.
//!
//! The missed updates are taken one at a time, not composed: mapping over a composition is not the
//! same as mapping over its parts, and clients that get updates singly would end with another text
//! (`rebaseUpdates` in codemirror/collab composes; its `receiveUpdates`, called once for each
//! update, does what is done here).

use super::change_set::{ChangeError, ChangeLimits, ChangeSet};
use super::log::LoggedUpdate;
use super::map_options::MapOrder;
use super::{IncomingUpdate, PushError};

/// Budget for the work that one push may cause by being behind.
///
/// Counted in *steps*: one section of a change that is read, mapped or mapped over, 5 to 10 ns each
/// in a release build. A section costs at least two bytes of JSON, so parsing is counted as a step
/// for each two bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RebaseBudget {
    /// Maximum number of steps of one push.
    pub steps: u64,
}

impl RebaseBudget {
    /// No limit, for updates that were accepted before.
    pub const UNLIMITED: Self = Self { steps: u64::MAX };
}

struct StepsLeft {
    budget: RebaseBudget,
    left: u64,
}

impl StepsLeft {
    fn spend(&mut self, steps: usize) -> Result<(), PushError> {
        let left = self.left.checked_sub(steps as u64);
        self.left = left.ok_or(PushError::TooCostly { budget: self.budget.steps })?;
        Ok(())
    }
}

/// Rebases `updates` over all `missed` ones and returns their changes, without the leading ones
/// that are themselves among the missed. `len` is the length of the newest text.
pub(super) fn rebase<'a>(
    updates: &[IncomingUpdate<'_>],
    missed: impl Iterator<Item = LoggedUpdate<'a>>,
    len: usize,
    limits: &ChangeLimits,
    budget: RebaseBudget,
) -> Result<Vec<ChangeSet>, PushError> {
    let mut left = StepsLeft { budget, left: budget.steps };
    left.spend(updates.iter().map(|update| update.changes.len() / 2).sum())?;
    let mut pending = parse(updates, limits)?;
    let mut missed = missed.peekable();
    let mut step = RebaseStep::default();
    let base_len = match missed.peek() {
        Some(first) => step.read(first, &mut left)?,
        None => len,
    };
    check_lengths(&pending, base_len)?;
    let mut known = 0;
    for missed in missed {
        step.read(&missed, &mut left)?;
        if updates.get(known).is_some_and(|update| update.client == missed.client) {
            if pending[known] != step.over {
                return Err(PushError::NotTheSame { index: known });
            }
            known += 1;
        } else {
            step.move_all(&mut pending[known..], known, &mut left)?;
        }
    }
    pending.drain(..known);
    Ok(pending)
}

#[derive(Default)]
struct RebaseStep {
    over: ChangeSet,
    moved: ChangeSet,
    moved_over: ChangeSet,
}

impl RebaseStep {
    /// Reads the next missed update and returns the length of the text it was made on.
    fn read(
        &mut self,
        missed: &LoggedUpdate<'_>,
        left: &mut StepsLeft,
    ) -> Result<usize, PushError> {
        left.spend(missed.changes.len() / 2)?;
        // The log holds only updates that were parsed before, so this does not fail.
        self.over
            .parse_into(missed.changes, &ChangeLimits::NONE)
            .map_err(|source| invalid(0, source))?;
        Ok(self.over.len())
    }

    /// Maps consecutive changes over the update (the loop over `unconfirmed` in `receiveUpdates`).
    /// `first` is the number of the first of them in the push.
    fn move_all(
        &mut self,
        changes: &mut [ChangeSet],
        first: usize,
        left: &mut StepsLeft,
    ) -> Result<(), PushError> {
        let failed = |source| invalid(first, source);
        let Some((last, earlier)) = changes.split_last_mut() else { return Ok(()) };
        for change in earlier {
            // Each is mapped over the other.
            left.spend(2 * (change.sections.len() + self.over.sections.len()))?;
            change.map_into(&self.over, MapOrder::After, &mut self.moved).map_err(failed)?;
            self.over.map_into(change, MapOrder::Before, &mut self.moved_over).map_err(failed)?;
            std::mem::swap(change, &mut self.moved);
            std::mem::swap(&mut self.over, &mut self.moved_over);
        }
        left.spend(last.sections.len() + self.over.sections.len())?;
        last.map_into(&self.over, MapOrder::After, &mut self.moved).map_err(failed)?;
        std::mem::swap(last, &mut self.moved);
        Ok(())
    }
}

fn parse(
    updates: &[IncomingUpdate<'_>],
    limits: &ChangeLimits,
) -> Result<Vec<ChangeSet>, PushError> {
    let mut left = *limits;
    let mut changes = Vec::with_capacity(updates.len());
    for (index, update) in updates.iter().enumerate() {
        let set = ChangeSet::parse(update.changes, &left);
        let set = set.map_err(|source| invalid(index, in_all(source, limits)))?;
        left.max_sections -= set.sections.len();
        left.max_inserted -= set.inserted_units();
        changes.push(set);
    }
    Ok(changes)
}

/// Returns the error with the limit of the push instead of the remainder.
fn in_all(error: ChangeError, limits: &ChangeLimits) -> ChangeError {
    match error {
        ChangeError::TooManySections { .. } => {
            ChangeError::TooManySections { max: limits.max_sections }
        }
        ChangeError::TooMuchInserted { .. } => {
            ChangeError::TooMuchInserted { max: limits.max_inserted }
        }
        other => other,
    }
}

/// Checks that each change starts where the one before ended, the first from a text of `len` units.
fn check_lengths(changes: &[ChangeSet], mut len: usize) -> Result<(), PushError> {
    for (index, change) in changes.iter().enumerate() {
        change.starts_from(len).map_err(|source| invalid(index, source))?;
        len = change.new_len();
    }
    Ok(())
}

fn invalid(index: usize, source: ChangeError) -> PushError {
    PushError::Invalid { index, source }
}
