//! Sizes of what is stored, for owners.

use copydesk_macros::record;

use crate::database::reading::ReadDatabase;
use crate::{Store, StoreResult};

/// Sizes of what is stored.
#[record(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StorageSizes {
    /// Number of documents in lists.
    pub documents: u64,
    /// Number of documents in the trash, from which they can be recovered for a while.
    pub deleted_documents: u64,
    /// Bytes of all stored texts: the snapshots of documents.
    pub text_bytes: u64,
    /// Number of updates of all documents.
    pub updates: u64,
    /// Bytes of their change sets.
    pub update_bytes: u64,
    /// Bytes of the whole database, its free space included.
    pub database_bytes: u64,
}

impl Store {
    /// Measures what is stored, reading all snapshots and updates: slow, but no other query waits.
    pub async fn storage_sizes(&self) -> StoreResult<StorageSizes> {
        let sql = match self.readers().database() {
            ReadDatabase::Sqlite(_) => SQLITE,
            ReadDatabase::Postgres(_) => POSTGRES,
        };
        Ok(self.one(sql, &[]).await?.unwrap_or_default())
    }
}

/// Measures a SQLite database. The log is read without the names of the view above it.
const SQLITE: &str = "SELECT
     (SELECT COUNT(*) FROM documents WHERE unlisted_owner IS NULL AND NOT deleted) AS documents,
     (SELECT COUNT(*) FROM documents
      WHERE unlisted_owner IS NULL AND deleted AND NOT purged) AS deleted_documents,
     (SELECT COALESCE(SUM(octet_length(content)), 0) FROM snapshots) AS text_bytes,
     (SELECT COUNT(*) FROM update_log) AS updates,
     (SELECT COALESCE(SUM(octet_length(changes)), 0) FROM update_log) AS update_bytes,
     (SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size())
         AS database_bytes";

const POSTGRES: &str = "SELECT
     (SELECT COUNT(*) FROM documents WHERE unlisted_owner IS NULL AND NOT deleted) AS documents,
     (SELECT COUNT(*) FROM documents
      WHERE unlisted_owner IS NULL AND deleted AND NOT purged) AS deleted_documents,
     (SELECT CAST(COALESCE(SUM(octet_length(content)), 0) AS BIGINT) FROM snapshots)
         AS text_bytes,
     (SELECT COUNT(*) FROM updates) AS updates,
     (SELECT CAST(COALESCE(SUM(octet_length(changes)), 0) AS BIGINT) FROM updates)
         AS update_bytes,
     pg_database_size(current_database()) AS database_bytes";
