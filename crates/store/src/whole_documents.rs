//! Whole documents as tests read them; the server reads them piece by piece.
//!
//! It is compiled for tests only.

use copydesk_ids::{DocumentId, Version};

use super::queries::log::between;
use super::{LoadedDocument, StartingText, Store, StoreResult, UpdateRecord};

impl Store {
    /// Returns a document with its text: the newest snapshot and the updates after it.
    pub async fn load(&self, id: &DocumentId) -> StoreResult<Option<LoadedDocument>> {
        self.load_at(id, Version(u64::MAX)).await
    }

    /// Returns a document with its text, up to `version` at most.
    pub async fn load_at(
        &self,
        id: &DocumentId,
        version: Version,
    ) -> StoreResult<Option<LoadedDocument>> {
        let Some(start) = self.starting_text(id, version).await? else { return Ok(None) };
        let StartingText { record, snapshot, text } = start;
        let updates = self.updates(id, snapshot, record.version).await?;
        Ok(Some(LoadedDocument { record, snapshot, text, updates }))
    }

    /// Returns the updates that lead from version `from` to version `to`, one per version.
    pub async fn updates(
        &self,
        document: &DocumentId,
        from: Version,
        to: Version,
    ) -> StoreResult<Vec<UpdateRecord>> {
        between(self.readers(), document, from, to).await
    }

    /// Returns the versions of a document of which there is a snapshot, oldest first.
    pub async fn snapshots(&self, document: &DocumentId) -> StoreResult<Vec<Version>> {
        let sql = "SELECT version FROM snapshots WHERE document = $1 ORDER BY version";
        self.first_columns(sql, &[document]).await
    }
}
