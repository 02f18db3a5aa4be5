//! Requests that have ended, read page by page from the store: newest first.

use copydesk_approvals::{ApprovalRequest, RequestStatus};
use copydesk_ids::RequestId;
use copydesk_store::{QueryScope, Store};

use super::restore;
use crate::RoomResult;

/// Filter of resolved requests; see [`ResolvedPage::read`].
#[derive(Clone, Debug)]
pub struct ResolvedFilter {
    /// Statuses with which they ended; empty: any.
    pub statuses: Vec<RequestStatus>,
    /// Request before which the others were made; `None`: from the newest.
    pub before: Option<RequestId>,
    /// Largest number of requests, at least 1.
    pub limit: u32,
}

/// Page of resolved requests.
#[derive(Clone, Debug)]
pub struct ResolvedPage {
    /// Requests, newest first, each at the version it ended at.
    pub requests: Vec<ApprovalRequest>,
    /// `true` if there are older ones.
    pub more: bool,
}

impl ResolvedPage {
    /// Reads a page of the requests of a document, of the workspace inbox, or of every listed
    /// document and the workspace inbox. A request that has ended and was announced is durable, so
    /// it is included.
    pub async fn read(
        store: &Store,
        scope: QueryScope<'_>,
        wanted: &ResolvedFilter,
    ) -> RoomResult<Self> {
        let statuses: Vec<_> = wanted.statuses.iter().map(|status| status.as_str()).collect();
        // One more is read, to know whether there are more.
        let limit = wanted.limit.saturating_add(1);
        let mut found =
            store.ended_requests(scope, &statuses, wanted.before.as_ref(), limit).await?;
        let more = found.len() > wanted.limit as usize;
        found.truncate(wanted.limit as usize);
        let requests = found.iter().map(restore::request).collect::<Result<_, _>>()?;
        Ok(Self { requests, more })
    }
}
