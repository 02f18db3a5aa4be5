//! Tracks the selection through changes of the document.

use copydesk_ids::Version;
use copydesk_rooms::command::OriginRequests;

use super::super::selection::{follow, locate};
use super::{RunExecutor, RunFailure, RunResult};

impl RunExecutor<'_> {
    /// Finds the selection in the present document. After a restart it starts from the stored
    /// position, because an accepted change may have replaced the words.
    pub(crate) async fn find_selection(&mut self) -> RunResult<()> {
        let (Some(selected), Some(model_document)) =
            (&self.run.ask.selection, &self.known.snapshot)
        else {
            return Ok(());
        };
        if let Some(base) = self.run.read_version {
            self.known_at_calls.selection = self.run.selection;
            self.known.selection =
                self.moved(self.run.selection, base, model_document.version).await;
            return Ok(());
        }
        self.known.selection = locate(model_document, selected);
        if self.known.selection.is_none() && !selected.is_caret() {
            return Err(RunFailure::Selection);
        }
        Ok(())
    }

    /// Maps a range of version `from` to version `to`; `None` if its position is not known any
    /// more.
    pub(crate) async fn moved(
        &self,
        range: Option<(usize, usize)>,
        from: Version,
        to: Version,
    ) -> Option<(usize, usize)> {
        let range = range?;
        if from == to {
            return Some(range);
        }
        let updates =
            self.run_events.room.catch_up(from, OriginRequests::LeftOut).await.ok()?.missed;
        let count = usize::try_from(to.0.checked_sub(from.0)?).ok()?;
        follow(range, updates.get(..count)?)
    }
}
