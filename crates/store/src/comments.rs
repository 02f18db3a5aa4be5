//! Threads of comments, and how much of them each person has read.

use std::collections::HashMap;

use crate::database::statement_batch::StatementBatch;
use crate::records::{ThreadAnchor, ThreadRecord};
use crate::{Store, StoreResult};
use copydesk_ids::{DocumentId, ThreadId, UserId};
use copydesk_macros::record;

#[record]
pub(crate) struct ReadRow {
    pub thread: ThreadId,
    pub comments: u64,
}

pub(super) fn put(script: &mut StatementBatch<'_>, record: &ThreadRecord) {
    let ThreadRecord { id, document, resolved, version, anchor, body, mentions } = record;
    let sql = "INSERT INTO comment_threads (id, document, resolved, version, anchor, body)
         VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT (id) DO UPDATE SET resolved = excluded.resolved,
             version = excluded.version, anchor = excluded.anchor, body = excluded.body";
    script.run(sql, &[id, document, resolved, version, anchor, body]);
    script.run("DELETE FROM comment_mentions WHERE thread = $1", &[id]);
    let sql = "INSERT INTO comment_mentions (user_id, thread, comments)
         SELECT $1, $2, $3
         WHERE NOT EXISTS (SELECT 1 FROM deleted_people WHERE user_id = $1)";
    for (user, comments) in mentions {
        script.run(sql, &[user, id, comments]);
    }
}

pub(super) fn move_to(script: &mut StatementBatch<'_>, anchors: &[ThreadAnchor]) {
    let sql = "UPDATE comment_threads SET version = $2, anchor = $3 WHERE id = $1";
    for ThreadAnchor { thread, version, anchor } in anchors {
        script.run(sql, &[thread, version, anchor]);
    }
}

pub(super) fn remove(script: &mut StatementBatch<'_>, thread: &ThreadId) {
    script.run("DELETE FROM comment_mentions WHERE thread = $1", &[thread]);
    script.run("DELETE FROM comment_reads WHERE thread = $1", &[thread]);
    script.run("DELETE FROM comment_threads WHERE id = $1", &[thread]);
}

pub(super) fn put_reads(
    script: &mut StatementBatch<'_>,
    user: &UserId,
    threads: &[(ThreadId, u64)],
) {
    // Whatever a person does whose data is being deleted leaves nothing.
    let sql = "INSERT INTO comment_reads (user_id, thread, comments)
         SELECT $1, $2, $3
         WHERE NOT EXISTS (SELECT 1 FROM deleted_people WHERE user_id = $1)
             AND EXISTS (SELECT 1 FROM comment_threads WHERE id = $2)
         ON CONFLICT (user_id, thread) DO UPDATE SET comments = excluded.comments
         WHERE excluded.comments > comment_reads.comments";
    for (thread, comments) in threads {
        script.run(sql, &[user, thread, comments]);
    }
}

#[record]
struct MentionsRow {
    document: DocumentId,
    threads: u64,
}

impl Store {
    /// Returns in how many threads of each document, resolved ones apart, a person is mentioned in
    /// a comment that they have not read. With `only`, of this document alone.
    pub async fn unread_mentions(
        &self,
        user: &UserId,
        only: Option<&DocumentId>,
    ) -> StoreResult<HashMap<DocumentId, u64>> {
        let sql = "SELECT t.document AS document, COUNT(*) AS threads
             FROM comment_mentions m
             JOIN comment_threads t ON t.id = m.thread
             LEFT JOIN comment_reads r ON r.thread = m.thread AND r.user_id = m.user_id
             WHERE m.user_id = $1 AND t.resolved = FALSE AND m.comments > COALESCE(r.comments, 0)
                 AND ($2 = '' OR t.document = $2)
             GROUP BY t.document";
        let only = only.map_or("", DocumentId::as_str);
        let rows: Vec<MentionsRow> = self.all(sql, &[user, &only]).await?;
        Ok(rows.into_iter().map(|row| (row.document, row.threads)).collect())
    }

    /// Returns the threads of a document, oldest first. Only the room of the document writes them,
    /// so what it reads itself is complete.
    pub async fn threads(&self, document: &DocumentId) -> StoreResult<Vec<ThreadRecord>> {
        let sql = "SELECT * FROM comment_threads WHERE document = $1 ORDER BY id";
        self.all(sql, &[document]).await
    }

    /// Returns the document that a thread is in.
    pub async fn document_of_thread(&self, thread: &ThreadId) -> StoreResult<Option<DocumentId>> {
        let sql = "SELECT document FROM comment_threads WHERE id = $1";
        Ok(self.first_columns(sql, &[thread]).await?.pop())
    }

    /// Returns how many comments of each thread of a document a person has read.
    pub async fn comment_reads(
        &self,
        document: &DocumentId,
        user: &UserId,
    ) -> StoreResult<HashMap<ThreadId, u64>> {
        let sql = "SELECT thread, comments FROM comment_reads
             WHERE user_id = $2
                 AND thread IN (SELECT id FROM comment_threads WHERE document = $1)";
        let rows: Vec<ReadRow> = self.all(sql, &[document, user]).await?;
        Ok(rows.into_iter().map(|row| (row.thread, row.comments)).collect())
    }
}
