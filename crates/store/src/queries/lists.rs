//! Lists, page by page, of what a person may see.

use std::collections::HashMap;

use copydesk_ids::{ClientId, DocumentId, RequestId, RunId, SessionId, UserId};

use crate::database::columns::list;
use crate::records::DocumentRecord;
use crate::{Store, StoreResult};

/// Place in the list of documents: last change in milliseconds since 1970, and identifier.
pub type ListPlace = (u64, String);

impl Store {
    /// Returns the documents in people's lists, last changed first, neither private nor deleted: at
    /// most `limit` after the entry `after`; with `only`, at most those documents.
    pub async fn documents(
        &self,
        only: Option<&[DocumentId]>,
        after: Option<&ListPlace>,
        limit: u32,
    ) -> StoreResult<Vec<DocumentRecord>> {
        let (at_ms, id) = after.map_or((u64::MAX, "~"), |(at_ms, id)| (*at_ms, id.as_str()));
        let sql = match only {
            Some(_) => {
                "SELECT * FROM documents WHERE id IN (SELECT value ->> 0 FROM json_each($4))
                 AND unlisted_owner IS NULL AND deleted = FALSE AND (updated_ms, id) < ($1, $2)
                 ORDER BY updated_ms DESC, id DESC LIMIT $3"
            }
            None => {
                "SELECT * FROM documents WHERE $4 IS NULL
                 AND unlisted_owner IS NULL AND deleted = FALSE AND (updated_ms, id) < ($1, $2)
                 ORDER BY updated_ms DESC, id DESC LIMIT $3"
            }
        };
        self.all(sql, &[&at_ms, &id, &limit, &only.map(list)]).await
    }

    /// Returns up to `limit` documents in the trash, last deleted first: deleted since `since_ms`,
    /// not private, and not open again under their path.
    pub async fn trash(&self, since_ms: u64, limit: u32) -> StoreResult<Vec<DocumentRecord>> {
        let sql = "SELECT * FROM documents
             WHERE deleted AND NOT purged AND unlisted_owner IS NULL AND updated_ms >= $1
             AND NOT EXISTS (SELECT 1 FROM live_files WHERE live_files.document = documents.id)
             ORDER BY updated_ms DESC, id DESC LIMIT $2";
        self.all(sql, &[&since_ms, &limit]).await
    }

    /// Returns the documents with open requests, in order of their identifiers.
    pub async fn documents_with_open_requests(&self) -> StoreResult<Vec<DocumentId>> {
        let sql = "SELECT DISTINCT document FROM requests
             WHERE is_open AND document IS NOT NULL ORDER BY document";
        self.first_columns(sql, &[]).await
    }

    /// Returns the numbers of open requests and of deliveries of webhooks that wait.
    pub async fn waiting_counts(&self) -> StoreResult<(usize, usize)> {
        let sql = "SELECT (SELECT COUNT(*) FROM requests WHERE is_open),
             (SELECT COUNT(*) FROM outbox)";
        let counts: Vec<(i64, i64)> = self.all(sql, &[]).await?;
        let (requests, deliveries) = counts.first().copied().unwrap_or_default();
        let size = |count| usize::try_from(count).unwrap_or_default();
        Ok((size(requests), size(deliveries)))
    }

    /// Returns those of these documents that have open requests, in order of their identifiers.
    pub async fn with_open_requests(
        &self,
        documents: &[DocumentId],
    ) -> StoreResult<Vec<DocumentId>> {
        let sql = "SELECT DISTINCT document FROM requests
             WHERE is_open AND document IN (SELECT value ->> 0 FROM json_each($1))
             ORDER BY document";
        self.first_columns(sql, &[&list(documents)]).await
    }

    /// Returns up to `limit` open requests and their documents, oldest first, after the request
    /// `after`. `None` is the workspace inbox.
    pub async fn open_request_places(
        &self,
        after: Option<&RequestId>,
        limit: usize,
    ) -> StoreResult<Vec<(RequestId, Option<DocumentId>)>> {
        let sql =
            "SELECT id, document FROM requests WHERE is_open AND id > $1 ORDER BY id LIMIT $2";
        self.all(sql, &[&after.map_or("", RequestId::as_str), &(limit as u64)]).await
    }

    /// Returns the open requests of a run, oldest first.
    pub async fn open_requests_of(
        &self,
        session: &SessionId,
        run: &RunId,
    ) -> StoreResult<Vec<RequestId>> {
        let sql = "SELECT id FROM requests WHERE is_open AND session = $1 AND run = $2 ORDER BY id";
        self.first_columns(sql, &[session, run]).await
    }

    /// Returns the owners of these editor instances; those that never pushed are left out.
    pub async fn client_owners(
        &self,
        document: &DocumentId,
        clients: &[ClientId],
    ) -> StoreResult<HashMap<ClientId, UserId>> {
        let sql = "SELECT client, user_id FROM clients WHERE document = $1
             AND client IN (SELECT value ->> 0 FROM json_each($2))";
        let owners: Vec<(ClientId, UserId)> = self.all(sql, &[document, &list(clients)]).await?;
        Ok(owners.into_iter().collect())
    }
}
