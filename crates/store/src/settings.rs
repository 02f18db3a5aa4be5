//! Settings that the server stores: a text under a key.

use super::database::statement_batch::StatementBatch;
use super::{Store, StoreResult};

impl Store {
    /// Returns one of the server's own values.
    pub async fn setting(&self, key: &str) -> StoreResult<Option<String>> {
        let found = self.one("SELECT value FROM settings WHERE key = $1", &[&key]).await?;
        Ok(found.map(|(value,)| value))
    }
}

pub(super) fn put(script: &mut StatementBatch<'_>, key: &str, value: &str) {
    let sql = "INSERT INTO settings (key, value) VALUES ($1, $2)
         ON CONFLICT (key) DO UPDATE SET value = excluded.value";
    script.run(sql, &[&key, &value]);
}

pub(super) fn remove(script: &mut StatementBatch<'_>, key: &str) {
    script.run("DELETE FROM settings WHERE key = $1", &[&key]);
}
