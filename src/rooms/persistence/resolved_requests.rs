//! Requests that have ended, read page by page from what is kept: newest first.

use crate::approvals::{ApprovalRequest, RequestStatus};
use crate::ids::RequestId;
use crate::store::{QueryScope, Store};

use super::restore;
use crate::rooms::RoomError;

/// Which of them are wanted.
#[derive(Clone, Debug)]
pub struct ResolvedFilter {
    /// How they ended; empty: however.
    pub statuses: Vec<RequestStatus>,
    /// Only those made before this one; `None`: from the newest.
    pub before: Option<RequestId>,
    /// At most this many, at least 1.
    pub limit: u32,
}

/// Some of them.
#[derive(Clone, Debug)]
pub struct ResolvedPage {
    /// Newest first, each at the version it ended at.
    pub requests: Vec<ApprovalRequest>,
    /// Whether there are older ones.
    pub more: bool,
}

impl ResolvedPage {
    /// Reads a page of a document's requests, of the desk's, or of those of every listed document and the desk. What has ended
    /// and was told is kept, so it is there.
    pub async fn read(
        store: &Store,
        scope: QueryScope<'_>,
        wanted: &ResolvedFilter,
    ) -> Result<Self, RoomError> {
        let statuses: Vec<_> = wanted.statuses.iter().map(|status| status.as_str()).collect();
        // One more, to know whether there are more.
        let limit = wanted.limit.saturating_add(1);
        let found = store.ended_requests(scope, &statuses, wanted.before.as_ref(), limit).await;
        let mut found = found.map_err(RoomError::store)?;
        let more = found.len() > wanted.limit as usize;
        found.truncate(wanted.limit as usize);
        let requests = found.iter().map(restore::request).collect::<Result<_, _>>()?;
        Ok(Self { requests, more })
    }
}
