//! Workspace files that are also documents (open files): which they are, and how far both agree.

use copydesk_ids::{DocumentId, Version};

use super::records::FileRecord;
use super::{Store, StoreResult};
use crate::database::statement_batch::StatementBatch;

/// Stores the version at which a document and its file agree, unless the path has another document
/// by now that is not deleted.
pub(super) fn put(script: &mut StatementBatch<'_>, record: &FileRecord) {
    let FileRecord { document, path, version, stamp, disk, form, writing } = record;
    let (next_version, next_stamp) = writing.as_ref().map(|(at, stamp)| (at, stamp)).unzip();
    let sql = "INSERT INTO live_files
             (path, document, version, stamp, disk, form, next_version, next_stamp)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
         ON CONFLICT (path) DO UPDATE SET document = excluded.document, version = excluded.version,
             stamp = excluded.stamp, disk = excluded.disk, form = excluded.form,
             next_version = excluded.next_version, next_stamp = excluded.next_stamp
         WHERE live_files.document = excluded.document OR EXISTS
             (SELECT 1 FROM documents WHERE id = live_files.document AND documents.deleted)";
    script.run(sql, &[path, document, version, stamp, disk, form, &next_version, &next_stamp]);
}

impl Store {
    /// Returns the files whose documents still exist, by path, with the newest versions of those.
    pub async fn files(&self) -> StoreResult<Vec<(FileRecord, Version)>> {
        let sql = "SELECT live_files.*, documents.version AS newest FROM live_files
             JOIN documents ON documents.id = live_files.document AND documents.deleted = FALSE
             ORDER BY path";
        let rows = self.readers().rows(sql, &[]).await?;
        rows.iter().map(|row| Ok((row.record()?, row.column("newest")?))).collect()
    }

    /// Returns the file of a document, if it has one.
    pub async fn file(&self, document: &DocumentId) -> StoreResult<Option<FileRecord>> {
        self.one("SELECT * FROM live_files WHERE document = $1", &[document]).await
    }
}
