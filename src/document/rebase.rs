//! Updates made on an old version, moved to the newest one.
//!
//! The missed updates are taken one at a time, not composed: mapping over a composition is not the same as mapping over its parts, and
//! clients that get updates singly would end with another text (`rebaseUpdates` in codemirror/collab composes; its `receiveUpdates`,
//! called once for each update, does what is done here).

use super::change::{ChangeError, ChangeSet, Limits};
use super::log::Logged;
use super::transform::Order;
use super::{Incoming, PushError};

/// The changes of `updates` as they apply after all `missed` ones, without the leading ones that are themselves among the missed.
/// `len` is the length of the newest text.
pub(super) fn rebase<'a>(
    updates: &[Incoming<'_>],
    missed: impl Iterator<Item = Logged<'a>>,
    len: usize,
    limits: &Limits,
) -> Result<Vec<ChangeSet>, PushError> {
    let mut pending = parse(updates, limits)?;
    let mut missed = missed.peekable();
    let mut step = Step::default();
    let base_len = match missed.peek() {
        Some(first) => step.read(first)?,
        None => len,
    };
    check_lengths(&pending, base_len)?;
    let mut known = 0;
    for missed in missed {
        step.read(&missed)?;
        if updates.get(known).is_some_and(|update| update.client == missed.client) {
            if pending[known] != step.over {
                return Err(PushError::NotTheSame { index: known });
            }
            known += 1;
        } else {
            step.move_all(&mut pending[known..]).map_err(|source| invalid(known, source))?;
        }
    }
    pending.drain(..known);
    Ok(pending)
}

/// One missed update, and buffers that are used again for the next.
#[derive(Default)]
struct Step {
    over: ChangeSet,
    moved: ChangeSet,
    moved_over: ChangeSet,
}

impl Step {
    /// Takes the next missed update; gives the length of the text it was made on.
    fn read(&mut self, missed: &Logged<'_>) -> Result<usize, PushError> {
        // The log holds only what was read before, so this does not fail.
        self.over.parse_into(missed.changes, &Limits::NONE).map_err(|source| invalid(0, source))?;
        Ok(self.over.len())
    }

    /// Moves changes that follow each other over the update (the loop over `unconfirmed` in `receiveUpdates`).
    fn move_all(&mut self, changes: &mut [ChangeSet]) -> Result<(), ChangeError> {
        let Some((last, earlier)) = changes.split_last_mut() else { return Ok(()) };
        for change in earlier {
            change.map_into(&self.over, Order::After, &mut self.moved)?;
            self.over.map_into(change, Order::Before, &mut self.moved_over)?;
            std::mem::swap(change, &mut self.moved);
            std::mem::swap(&mut self.over, &mut self.moved_over);
        }
        last.map_into(&self.over, Order::After, &mut self.moved)?;
        std::mem::swap(last, &mut self.moved);
        Ok(())
    }
}

fn parse(updates: &[Incoming<'_>], limits: &Limits) -> Result<Vec<ChangeSet>, PushError> {
    let parsed = updates.iter().map(|update| ChangeSet::parse(update.changes, limits));
    parsed.enumerate().map(|(index, set)| set.map_err(|source| invalid(index, source))).collect()
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
