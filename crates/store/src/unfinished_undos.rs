//! Requests whose effect on a file is being taken back, so that a restart finds unfinished ones.

use copydesk_ids::RequestId;

use super::{Store, StoreResult};
use crate::database::statement_batch::StatementBatch;

impl Store {
    /// Returns the requests whose undo was begun and not ended, oldest first.
    pub async fn unfinished_undos(&self) -> StoreResult<Vec<RequestId>> {
        self.first_columns("SELECT request FROM undos ORDER BY request", &[]).await
    }
}

pub(super) fn begin(script: &mut StatementBatch<'_>, request: &RequestId) {
    let sql = "INSERT INTO undos (request) VALUES ($1) ON CONFLICT (request) DO NOTHING";
    script.run(sql, &[request]);
}

pub(super) fn end(script: &mut StatementBatch<'_>, request: &RequestId) {
    script.run("DELETE FROM undos WHERE request = $1", &[request]);
}
