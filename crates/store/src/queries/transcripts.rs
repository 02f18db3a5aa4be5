//! Queries for transcripts, piece by piece.

use copydesk_ids::{DocumentId, SessionId};

use crate::database::columns::{ColumnValue, list};
use crate::records::{CLEAR, MessageRecord, PAST};
use crate::{EntrySize, Store, StoreResult, TranscriptCursor};

/// Largest number of entries whose sizes one query reads.
pub const MEASURED: u64 = 1_000;

/// Part of a session's transcript that a query covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TranscriptSince {
    /// Current conversation only: the entries after the last [`CLEAR`].
    NewBeginning,
    /// All conversations, one after the other, with the entries that begin each.
    Ever,
}

/// Returns the first of `sizes` that fit into `bytes`, and at least one.
pub fn fitting<T>(sizes: &[T], bytes: u64, of: impl Fn(&T) -> u64) -> &[T] {
    let mut sum = 0_u64;
    let fits = |size: &&T| {
        sum = sum.saturating_add(of(size));
        sum <= bytes
    };
    let count = sizes.iter().take_while(fits).count();
    &sizes[..count.max(1).min(sizes.len())]
}

impl Store {
    /// Returns the sizes of a transcript's entries before a place, newest first.
    pub async fn sizes(
        &self,
        session: &SessionId,
        document: Option<&DocumentId>,
        since: TranscriptSince,
        before: Option<u64>,
        most: u64,
    ) -> StoreResult<Vec<EntrySize>> {
        let sql = "SELECT seq, role, CAST(octet_length(body) AS BIGINT) AS bytes FROM messages
             WHERE session = $1 AND document = $2 AND seq < $4
             AND seq > (SELECT COALESCE(MAX(seq), 0) FROM messages
                        WHERE session = $1 AND document = $2 AND role = $3)
             ORDER BY seq DESC LIMIT $5";
        let document = document.map_or("", DocumentId::as_str);
        let last = match since {
            TranscriptSince::NewBeginning => CLEAR,
            // No entry has this role.
            TranscriptSince::Ever => "",
        };
        let (before, most) = (before.unwrap_or(u64::MAX), most.min(MEASURED));
        self.all(sql, &[session, &document, &last, &before, &most]).await
    }

    /// Returns the entries of a session's transcript at these places, in order.
    pub async fn messages_at(
        &self,
        session: &SessionId,
        document: Option<&DocumentId>,
        places: &[u64],
    ) -> StoreResult<Vec<(TranscriptCursor, MessageRecord)>> {
        let sql = "SELECT session, seq, role, body, at_ms FROM messages
             WHERE session = $1 AND document = $2
             AND seq IN (SELECT CAST(value ->> 0 AS BIGINT) FROM json_each($3)) ORDER BY seq";
        let document = document.map_or("", DocumentId::as_str);
        self.pairs(sql, &[session, &document, &list(places)]).await
    }

    /// Returns the newest entries of all sessions about a document, or those before a place, in
    /// order: as many as fit into `bytes`, and at least one.
    pub async fn conversations_before(
        &self,
        document: &DocumentId,
        before: Option<&TranscriptCursor>,
        bytes: u64,
    ) -> StoreResult<Vec<(TranscriptCursor, MessageRecord)>> {
        let sql = "SELECT session, seq, role, at_ms, CAST(octet_length(body) AS BIGINT) AS bytes FROM messages
             WHERE document = $1 AND role <> $2 AND (at_ms, session, seq) < ($3, $4, $5)
             ORDER BY at_ms DESC, session DESC, seq DESC LIMIT $6";
        let end = TranscriptCursor { at_ms: u64::MAX, ..TranscriptCursor::default() };
        let TranscriptCursor { at_ms, session, seq } = before.unwrap_or(&end);
        let values: &[&dyn ColumnValue] = &[document, &PAST, at_ms, session, seq, &MEASURED];
        let sizes: Vec<(TranscriptCursor, EntrySize)> = self.pairs(sql, values).await?;
        let fitting = fitting(&sizes, bytes, |(_, size)| size.bytes);
        let Some((from, _)) = fitting.last() else { return Ok(Vec::new()) };
        self.conversations_from(document, from, u32::try_from(fitting.len()).unwrap_or(u32::MAX))
            .await
    }

    /// Returns a session's current conversation, in order: at most `limit` entries from a place on.
    pub async fn messages_from(
        &self,
        session: &SessionId,
        document: Option<&DocumentId>,
        from: &TranscriptCursor,
        limit: u32,
    ) -> StoreResult<Vec<(TranscriptCursor, MessageRecord)>> {
        let sql = "SELECT session, seq, role, body, at_ms FROM messages
             WHERE session = $1 AND document = $2 AND seq >= $4
             AND seq > (SELECT COALESCE(MAX(seq), 0) FROM messages
                        WHERE session = $1 AND document = $2 AND role = $3)
             ORDER BY seq LIMIT $5";
        let document = document.map_or("", DocumentId::as_str);
        self.pairs(sql, &[session, &document, &CLEAR, &from.seq, &limit]).await
    }

    /// Returns up to `limit` entries of all sessions about a document from a place on, by time.
    pub async fn conversations_from(
        &self,
        document: &DocumentId,
        from: &TranscriptCursor,
        limit: u32,
    ) -> StoreResult<Vec<(TranscriptCursor, MessageRecord)>> {
        let sql = "SELECT session, seq, role, body, at_ms FROM messages
             WHERE document = $1 AND role <> $2 AND (at_ms, session, seq) >= ($3, $4, $5)
             ORDER BY at_ms, session, seq LIMIT $6";
        let TranscriptCursor { at_ms, session, seq } = from;
        self.pairs(sql, &[document, &PAST, at_ms, session, seq, &limit]).await
    }
}
