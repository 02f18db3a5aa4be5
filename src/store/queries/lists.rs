//! Lists, page by page, of what a person may see.

use std::collections::HashMap;

use serde_json::json;

use crate::ids::{ClientId, DocumentId, RequestId, RunId, SessionId, UserId};

use crate::store::records::DocumentRecord;
use crate::store::sqlite::rows::int;
use crate::store::{Store, StoreError};

/// Place in the list of documents: time of the last change in milliseconds since 1970, and
/// identifier.
pub type ListPlace = (u64, String);

impl Store {
    /// Returns the documents people can open from the list, last changed first: no private ones, no
    /// deleted ones. Returns at most `limit`, after the entry `after`; with `only`, at most that
    /// one document.
    pub async fn documents(
        &self,
        only: Option<&DocumentId>,
        after: Option<&ListPlace>,
        limit: u32,
    ) -> Result<Vec<DocumentRecord>, StoreError> {
        let (at_ms, id) = after.map_or((i64::MAX, "~"), |(at_ms, id)| (int(*at_ms), id.as_str()));
        let sql = match only {
            Some(_) => {
                "SELECT * FROM documents WHERE id = $4
                 AND unlisted_owner IS NULL AND deleted = FALSE AND (updated_ms, id) < ($1, $2)
                 LIMIT $3"
            }
            None => {
                "SELECT * FROM documents WHERE $4 IS NULL
                 AND unlisted_owner IS NULL AND deleted = FALSE AND (updated_ms, id) < ($1, $2)
                 ORDER BY updated_ms DESC, id DESC LIMIT $3"
            }
        };
        let query = sqlx::query(sql).bind(at_ms).bind(id.to_owned()).bind(i64::from(limit));
        let query = query.bind(only.map(ToString::to_string));
        self.all(query).await
    }

    /// Returns the documents with open requests, in order of their identifiers.
    pub async fn documents_with_open_requests(&self) -> Result<Vec<DocumentId>, StoreError> {
        let query = sqlx::query_scalar(
            "SELECT DISTINCT document FROM requests
             WHERE is_open AND document IS NOT NULL ORDER BY document",
        );
        Ok(query.fetch_all(self.readers()).await?)
    }

    /// Returns the open requests of a run, oldest first.
    pub async fn open_requests_of(
        &self,
        session: &SessionId,
        run: &RunId,
    ) -> Result<Vec<RequestId>, StoreError> {
        let query = sqlx::query_scalar(
            "SELECT id FROM requests WHERE is_open AND session = $1 AND run = $2 ORDER BY id",
        )
        .bind(session.to_string())
        .bind(run.to_string());
        Ok(query.fetch_all(self.readers()).await?)
    }

    /// Returns the owners of these editor instances; those with which nobody has pushed are left
    /// out.
    pub async fn client_owners(
        &self,
        document: &DocumentId,
        clients: &[ClientId],
    ) -> Result<HashMap<ClientId, UserId>, StoreError> {
        let query = sqlx::query_as(
            "SELECT client, user_id FROM clients WHERE document = $1
             AND client IN (SELECT value FROM json_each($2))",
        )
        .bind(document.as_str())
        .bind(json!(clients).to_string());
        let owners: Vec<(ClientId, UserId)> = query.fetch_all(self.readers()).await?;
        Ok(owners.into_iter().collect())
    }
}
