//! Conversations, part by part.

use serde::{Deserialize, Serialize};

use crate::ids::{DocumentId, SessionId};

use super::records::{CLEAR, MessageRecord, PAST};
use super::rows::{self, int};
use super::{Store, StoreError};

/// Where an entry of a conversation stands.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SaidAt {
    /// When it was said.
    pub at_ms: u64,
    /// Whose session said it.
    pub session: String,
    /// Its place there.
    pub seq: u64,
}

impl Store {
    /// A session's conversation since it began anew last, in order: at most so many entries from a place on.
    pub async fn messages_from(
        &self,
        session: &SessionId,
        document: Option<&DocumentId>,
        from: &SaidAt,
        limit: u32,
    ) -> Result<Vec<(SaidAt, MessageRecord)>, StoreError> {
        let query = sqlx::query(
            "SELECT session, seq, role, body, at_ms FROM messages
             WHERE session = $1 AND document = $2 AND seq >= $4
             AND seq > (SELECT COALESCE(MAX(seq), 0) FROM messages
                        WHERE session = $1 AND document = $2 AND role = $3)
             ORDER BY seq LIMIT $5",
        )
        .bind(session.to_string())
        .bind(document.map(ToString::to_string).unwrap_or_default())
        .bind(CLEAR)
        .bind(int(from.seq))
        .bind(limit);
        query.fetch_all(self.readers()).await?.iter().map(rows::placed).collect()
    }

    /// What all sessions said about a document, in the order in which it was said, each once: at most so many entries from a
    /// place on.
    pub async fn conversations_from(
        &self,
        document: &DocumentId,
        from: &SaidAt,
        limit: u32,
    ) -> Result<Vec<(SaidAt, MessageRecord)>, StoreError> {
        let query = sqlx::query(
            "SELECT session, seq, role, body, at_ms FROM messages
             WHERE document = $1 AND role <> $2 AND (at_ms, session, seq) >= ($3, $4, $5)
             ORDER BY at_ms, session, seq LIMIT $6",
        )
        .bind(document.to_string())
        .bind(PAST)
        .bind(int(from.at_ms))
        .bind(from.session.clone())
        .bind(int(from.seq))
        .bind(limit);
        query.fetch_all(self.readers()).await?.iter().map(rows::placed).collect()
    }
}
