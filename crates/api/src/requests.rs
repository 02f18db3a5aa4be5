//! Requests for approval: lists, decisions, and what else people do with them.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use copydesk_approvals::{ApprovalRequest, Decision, DecisionError};
use copydesk_auth::AccessGuard;
use copydesk_ids::permissions::Action;
use copydesk_ids::{DocumentId, RequestId};
use copydesk_macros::boxed;
use copydesk_rooms::persistence::resolved_requests::{ResolvedFilter, ResolvedPage};
use copydesk_rooms::{RoomError, RoomHandle, RoomResult, WORKSPACE_INBOX};
use copydesk_store::QueryScope;

use super::{ApiError, ApiResult, Caller, ErrorDetails, ListPage};

/// Place of the requests that are listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestScope {
    /// Everything that the caller may see.
    Everything,
    /// The workspace inbox: requests without a document.
    Inbox,
    /// One document.
    Document(DocumentId),
}

/// Page of requests that have ended, newest first.
#[derive(Debug)]
pub struct ResolvedRequests {
    /// Requests of the page that concern the caller.
    pub requests: Vec<ApprovalRequest>,
    /// Last request of the page if the list goes on after it, whether or not it concerns the
    /// caller.
    pub end: Option<RequestId>,
}

/// Number of changes that wait in a document.
#[derive(Clone, Copy, Debug, Default)]
pub struct WaitingChanges {
    /// All that wait.
    pub all: u64,
    /// Those that the caller may decide and has not voted on.
    pub for_caller: u64,
}

#[boxed]
impl Caller {
    /// Returns the requests that can still be decided.
    ///
    /// # Errors
    /// Those of [`Self::room`], or of [`Self::inbox`]. With [`RequestScope::Everything`],
    /// [`Unavailable`](super::ErrorCode::Unavailable) if a list cannot be read.
    pub async fn open_requests(
        &self,
        scope: &RequestScope,
    ) -> ApiResult<Vec<Arc<ApprovalRequest>>> {
        match scope {
            RequestScope::Document(document) => {
                Ok(self.room(document, Action::Read).await?.requests().await?)
            }
            RequestScope::Inbox => self.open_inbox_requests().await,
            RequestScope::Everything => {
                let documents = match self.principal.readable_documents() {
                    Some(only) => only,
                    None => self.application.store.documents_with_open_requests().await?,
                };
                let mut requests = Vec::new();
                for document in documents {
                    requests.extend(self.open_requests_at(Some(&document)).await?);
                }
                requests.extend(self.open_requests_at(None).await?);
                Ok(requests)
            }
        }
    }

    /// Returns the open requests of a document that another server may have; none if the caller may
    /// not read it. A list is no reason to take the document.
    async fn requests_of(&self, document: &DocumentId) -> ApiResult<Vec<Arc<ApprovalRequest>>> {
        if self.application.rooms.opened(document).is_some() {
            let Ok(room) = self.room(document, Action::Read).await else { return Ok(Vec::new()) };
            return Ok(room.requests().await?);
        }
        let record =
            self.application.store.document(document).await?.filter(|record| !record.deleted);
        let Some(record) = record else { return Ok(Vec::new()) };
        let is_visible = self.require_in(Action::Read, Some(document)).is_ok()
            && match &record.unlisted_owner {
                Some(owner) => self.is_own_session(owner).await?,
                None => true,
            };
        let requests = self.application.rooms.stored_requests(document);
        if is_visible { Ok(requests.await?) } else { Ok(Vec::new()) }
    }

    /// Returns a page of the requests that can still be decided, oldest first: up to `limit` of
    /// those after `after`. Only the rooms of these requests are opened.
    ///
    /// # Errors
    /// Those of [`Self::open_requests`].
    pub async fn open_requests_page(
        &self,
        scope: &RequestScope,
        after: Option<&RequestId>,
        limit: usize,
    ) -> ApiResult<ListPage<Arc<ApprovalRequest>>> {
        let is_limited = self.principal.readable_documents().is_some();
        if *scope != RequestScope::Everything || is_limited {
            let mut open = self.open_requests(scope).await?;
            open.retain(|request| after.is_none_or(|after| request.id() > after));
            open.sort_by(|a, b| a.id().cmp(b.id()));
            return Ok(ListPage::cut(open, limit));
        }
        let (mut found, mut reached) = (Vec::new(), after.cloned());
        let mut read: HashMap<Option<DocumentId>, Vec<Arc<ApprovalRequest>>> = HashMap::new();
        loop {
            let piece =
                self.application.store.open_request_places(reached.as_ref(), limit + 1).await?;
            let is_end = piece.len() <= limit;
            for (id, document) in piece {
                if !read.contains_key(&document) {
                    let open = self.open_requests_at(document.as_ref()).await?;
                    read.insert(document.clone(), open);
                }
                let open = read.get(&document).into_iter().flatten();
                found.extend(open.filter(|request| *request.id() == id).map(Arc::clone));
                reached = Some(id);
            }
            if is_end || found.len() > limit {
                return Ok(ListPage::cut(found, limit));
            }
        }
    }

    /// Returns the open requests of a document, or of the workspace inbox, that the caller may see;
    /// none if they may not read it.
    async fn open_requests_at(
        &self,
        document: Option<&DocumentId>,
    ) -> ApiResult<Vec<Arc<ApprovalRequest>>> {
        match document {
            Some(document) if self.application.placement().is_shared() => {
                self.requests_of(document).await
            }
            Some(document) => match self.room(document, Action::Read).await {
                Ok(room) => Ok(room.requests().await?),
                Err(_) => Ok(Vec::new()),
            },
            None if self.principal.may(Action::Read, None) => self.open_inbox_requests().await,
            None => Ok(Vec::new()),
        }
    }

    /// Returns the number of changes that wait for a decision in each of these documents that the
    /// caller may read, and of those that wait for the caller; documents without any are left out.
    /// A request without changes of a text counts as one.
    ///
    /// # Errors
    /// [`Unavailable`](super::ErrorCode::Unavailable) if the requests cannot be read.
    pub async fn waiting_changes(
        &self,
        documents: &[DocumentId],
    ) -> ApiResult<HashMap<DocumentId, WaitingChanges>> {
        let mut waiting: HashMap<DocumentId, WaitingChanges> = HashMap::new();
        for document in self.application.store.with_open_requests(documents).await? {
            for request in self.open_requests_at(Some(&document)).await? {
                let count = waiting.entry(document.clone()).or_default();
                let open = request.hunks.iter().filter(|hunk| hunk.status.is_open()).count();
                count.all += open.max(1) as u64;
                count.for_caller += request.waits_for(&self.principal) as u64;
            }
        }
        Ok(waiting)
    }

    /// Returns the open requests without a document that concern the caller.
    async fn open_inbox_requests(&self) -> ApiResult<Vec<Arc<ApprovalRequest>>> {
        let mut open = self.inbox(Action::Read).await?.requests().await?;
        open.retain(|request| request.concerns(&self.principal));
        Ok(open)
    }

    /// Returns a page of the requests that have ended. [`RequestScope::Everything`] leaves out
    /// those of private documents.
    ///
    /// # Errors
    /// [`NotAllowed`](super::ErrorCode::NotAllowed) or [`NotFound`](super::ErrorCode::NotFound) if
    /// the caller may not read the document or the inbox,
    /// [`Unavailable`](super::ErrorCode::Unavailable) if the page cannot be read.
    pub async fn resolved_requests(
        &self,
        scope: &RequestScope,
        filter: &ResolvedFilter,
    ) -> ApiResult<ResolvedRequests> {
        let readable = self.principal.readable_documents();
        // A token for one document limits the list to that document.
        let document = match (scope, &self.principal.document) {
            (RequestScope::Document(document), _) | (RequestScope::Everything, Some(document)) => {
                Some(document)
            }
            (RequestScope::Everything | RequestScope::Inbox, _) => None,
        };
        let scope = match (document, scope) {
            (Some(document), _) => {
                self.room(document, Action::Read).await?;
                QueryScope::Document(document)
            }
            (None, RequestScope::Inbox) => {
                self.require(Action::Read)?;
                QueryScope::WorkspaceInbox
            }
            (None, _) => match &readable {
                Some(documents) => QueryScope::Documents(documents),
                None => QueryScope::Everything,
            },
        };
        let ResolvedPage { mut requests, more } =
            ResolvedPage::read(&self.application.store, scope, filter).await?;
        let end = requests.last().filter(|_| more).map(|last| last.id().clone());
        requests.retain(|request| {
            request.proposal.document.is_some() || request.concerns(&self.principal)
        });
        Ok(ResolvedRequests { requests, end })
    }

    /// Returns a request, open or ended. If it is open, waits up to `wait` for its end; the wait
    /// ends with the caller's access.
    ///
    /// # Errors
    /// [`NotFound`](super::ErrorCode::NotFound) for an unknown request or one that does not concern
    /// the caller, [`NotAllowed`](super::ErrorCode::NotAllowed) without permission to read it,
    /// [`Unauthorized`](super::ErrorCode::Unauthorized) if the caller's token ends meanwhile.
    pub async fn request(
        &self,
        access: &AccessGuard,
        id: &RequestId,
        wait: Duration,
    ) -> ApiResult<ApprovalRequest> {
        let room = self.room_of_request(id, Action::Read).await?;
        let request = self.request_in(&room, id).await?;
        if !request.status.is_open() || wait == Duration::ZERO {
            return Ok(request);
        }
        tokio::select! {
            // The request is read again below, resolved or not.
            _ = tokio::time::timeout(wait, room.resolution(id.clone())) => {}
            ended = access.ended() => return Err(ended.into()),
        }
        access.check(self.application.clock.now_ms())?;
        let room = self.room_of_request(id, Action::Read).await?;
        self.request_in(&room, id).await
    }

    async fn request_in(&self, room: &RoomHandle, id: &RequestId) -> ApiResult<ApprovalRequest> {
        let request = if let Some(request) = open_request(room, id).await? {
            ApprovalRequest::clone(&request)
        } else {
            let record = self.application.store.request(id).await?;
            let record = record.ok_or_else(|| ApiError::not_found("request"))?;
            serde_json::from_str(&record.body).map_err(|error| {
                tracing::error!(%error, request = %id, "cannot read a stored request");
                ApiError::internal()
            })?
        };
        if room.document().as_str() == WORKSPACE_INBOX && !request.concerns(&self.principal) {
            return Err(ApiError::not_found("request"));
        }
        Ok(request)
    }

    /// Decides a request.
    ///
    /// # Errors
    /// A refusal because of a stale preview has the fresh request in its details.
    pub async fn decide_request(
        &self,
        room: &RoomHandle,
        id: RequestId,
        decision: Decision,
    ) -> ApiResult<Arc<ApprovalRequest>> {
        // `approvals/decide.rs` checks if this person may decide it (`check_allowed`).
        let by = self.principal.clone();
        let decided = self.application.agents.decide_in(room, id.clone(), decision, by).await;
        with_fresh_preview(room, &id, decided).await
    }
}

/// Adds the request as it is now to a refusal because of a stale preview.
///
/// # Errors
/// That of `result`.
#[boxed]
pub async fn with_fresh_preview(
    room: &RoomHandle,
    id: &RequestId,
    result: RoomResult<Arc<ApprovalRequest>>,
) -> ApiResult<Arc<ApprovalRequest>> {
    match result {
        Err(RoomError::Decision(error @ DecisionError::StalePreview { .. })) => {
            let fresh = open_request(room, id).await.ok().flatten();
            let fresh = fresh.map(|fresh| Box::new(ApprovalRequest::clone(&fresh)));
            Err(ApiError::from(error.clone()).with(ErrorDetails::Decision(error, fresh)))
        }
        result => Ok(result?),
    }
}

/// Returns a request of a room, if it can still be decided.
async fn open_request(
    room: &RoomHandle,
    id: &RequestId,
) -> ApiResult<Option<Arc<ApprovalRequest>>> {
    Ok(room.requests().await?.into_iter().find(|request| request.id() == id))
}
