//! Requests: lists, decisions, and what else people do with them.

use std::sync::Arc;

use copydesk_api::{ApiError, ApiResult, Caller, RequestScope, with_fresh_preview};
use copydesk_approvals::{ApprovalRequest, RequestStatus};
use copydesk_ids::permissions::Action::{Decide, Read, Suggest};
use copydesk_ids::{HunkId, RequestId};
use copydesk_operation_table::{
    Anyone, OnDocument, OnRequest, Operation, operation, socket_handled, transport_handled,
};
use copydesk_protocol::answers::{EndedRequests, PendingRequests};
use copydesk_protocol::client::{
    FocusRequest, ListPendingApprovals, ListRequests, NameDocument, NameRequest, ReopenRequest,
    SplitRequest, ToolApprovalBatch, ToolApprovalResponse, UndoRequest,
};
use copydesk_protocol::deferring::{DeferHunk, DeferredHunk, DeferredHunks};
use copydesk_protocol::queries::{RequestListQuery, WaitQuery};
use copydesk_protocol::rest::{DecisionResults, RequestPage, RequestState};
use copydesk_protocol::server::{Decided, Told, ToolApprovalRequest};
use copydesk_protocol_conversion as wire;
use copydesk_rooms::command::ProposeAgain;
use copydesk_rooms::persistence::resolved_requests::ResolvedFilter;
use copydesk_rooms::{RoomHandle, WORKSPACE_INBOX};

use crate::encode;

/// Number of hunks up to which an answer is serialized at once, some 2 µs each.
const SHORT_ANSWER: usize = 200;
/// Maximum number of ended requests in one answer.
const MOST_ENDED: u32 = 100;
/// Default number of ended requests.
const DEFAULT_ENDED: u32 = 20;
/// Upper bound for the length of an identifier.
const LONGEST_ID: usize = 200;

/// Operations of this file.
#[rustfmt::skip]
pub(crate) fn operations() -> Vec<Operation> {
    vec![
        operation("Requests that can still be decided", Anyone, pending).event("list_pending_approvals").only_reads(),
        operation("Requests that have ended, newest first", Anyone, ended).event("approval:list").only_reads(),
        transport_handled::<_, RequestListQuery, RequestPage>("Requests: open ones oldest first, ended ones newest first", Anyone).get("/requests", "listRequests"),
        transport_handled::<_, ToolApprovalBatch, DecisionResults>("Decide several requests, each on its own", Anyone).event("tool_approval_batch").post("/requests/decisions", "decideRequests"),
        transport_handled::<_, WaitQuery, ToolApprovalRequest>("A request; with `wait`, once it is resolved", OnRequest(Read)).get("/requests/{id=request_id}", "getRequest"),
        operation("Decide a request, or some of its changes", OnRequest(Read), decide).socket_handled_event("tool_approval_response").post("/requests/{id=request_id}/decision", "decideRequest"),
        operation("Text that the model would receive after this decision; nothing changes", OnRequest(Read), told).event("approval:told").post("/requests/{id=request_id}/told", "previewTold").only_reads(),
        socket_handled::<_, FocusRequest, RequestState>("Show others that you look at a request", OnRequest(Decide)).event("approval:focus"),
        operation("Split a change of several parts into one change for each part", OnRequest(Decide), split).event("approval:split").post("/requests/{id=request_id}/split", "splitChange"),
        operation("Put a change at the end of your own list, or back; for you only", OnRequest(Read), defer).event("approval:defer").post("/requests/{id=request_id}/defer", "deferChange"),
        operation("Open changes of a document at the end of your own list", OnDocument(Read), deferred).event("approval:deferred").get("/documents/{id=documentId}/deferred", "listDeferred").only_reads(),
        operation("Give people more time", OnRequest(Decide), extend).event("approval:extend").post("/requests/{id=request_id}/extend", "extendRequest"),
        operation("Undo what was accepted, or put back the file that a call has written", OnRequest(Decide), undo).event("approval:undo").post("/requests/{id=request_id}/undo", "undoRequest"),
        operation("Propose again what was rejected, expired or undone", OnRequest(Decide), reopen).event("approval:reopen").post("/requests/{id=request_id}/reopen", "reopenRequest"),
        operation("Withdraw your request", OnRequest(Suggest), withdraw).event("approval:withdraw").post("/requests/{id=request_id}/withdraw", "withdrawRequest"),
    ]
}

async fn pending(
    caller: Caller,
    (): (),
    input: ListPendingApprovals,
) -> ApiResult<PendingRequests> {
    let scope = match input.document_id {
        None => RequestScope::Everything,
        Some(inbox) if inbox == WORKSPACE_INBOX => RequestScope::Inbox,
        Some(document) => RequestScope::Document(document.into()),
    };
    let requests = caller.open_requests(&scope).await?;
    let hunks: usize = requests.iter().map(|request| 1 + request.hunks.len()).sum();
    let lines = move || -> Vec<ToolApprovalRequest> {
        requests.iter().map(|request| wire::request(request)).collect()
    };
    Ok(PendingRequests { requests: encode(&caller, hunks > SHORT_ANSWER, lines).await? })
}

async fn ended(caller: Caller, (): (), input: ListRequests) -> ApiResult<EndedRequests> {
    let ListRequests { document_id, status, before, limit } = input;
    let limit = limit.unwrap_or(DEFAULT_ENDED);
    if !(1..=MOST_ENDED).contains(&limit) {
        return Err(ApiError::invalid(format!("`limit` is 1 to {MOST_ENDED}")));
    }
    if before.as_ref().is_some_and(|before| before.is_empty() || before.len() > LONGEST_ID) {
        return Err(ApiError::invalid("`before` is the `request_id` of a request"));
    }
    let statuses = status.iter().flatten().map(|status| ended_status(*status));
    let statuses = statuses.collect::<Result<_, _>>()?;
    let mut wanted = ResolvedFilter { statuses, before: before.map(RequestId::from), limit };
    let scope = match document_id.as_deref() {
        None | Some(WORKSPACE_INBOX) => RequestScope::Inbox,
        Some(document) => RequestScope::Document(document.into()),
    };
    loop {
        let page = caller.resolved_requests(&scope, &wanted).await?;
        // A page of which nothing concerns the person is skipped, so that every answer with more to
        // read has a request to continue from.
        if !page.requests.is_empty() || page.end.is_none() {
            let (requests, last) =
                wire::request_page(page.requests.iter()).map_err(|_| ApiError::internal())?;
            return Ok(EndedRequests { requests, more: last.or(page.end).is_some() });
        }
        wanted.before = page.end;
    }
}

/// Checks that requests with this status have ended.
fn ended_status(status: RequestStatus) -> ApiResult<RequestStatus> {
    let open = "; open requests are in `list_pending_approvals`";
    wire::ended_status(status.as_str()).map_err(|why| ApiError::invalid(why + open))
}

async fn decide(
    caller: Caller,
    (id, room): (RequestId, RoomHandle),
    input: ToolApprovalResponse,
) -> ApiResult<Decided> {
    let decision = wire::read_decision(&input).map_err(ApiError::unprocessable)?;
    Ok(wire::decision(&*caller.decide_request(&room, id, decision).await?))
}

async fn told(
    caller: Caller,
    (id, room): (RequestId, RoomHandle),
    input: ToolApprovalResponse,
) -> ApiResult<Told> {
    let decision = wire::read_decision(&input).map_err(ApiError::unprocessable)?;
    let report = caller.application.agents.report_in(&room, id, decision, caller.principal).await?;
    Ok(wire::told(report))
}

async fn split(
    caller: Caller,
    (id, room): (RequestId, RoomHandle),
    input: SplitRequest,
) -> ApiResult<Decided> {
    let split = room.split(id.clone(), HunkId::from(input.hunk_id), caller.principal).await;
    Ok(wire::decision(&*with_fresh_preview(&room, &id, split).await?))
}

async fn defer(
    caller: Caller,
    (id, room): (RequestId, RoomHandle),
    input: DeferHunk,
) -> ApiResult<RequestState> {
    let hunk = HunkId::from(input.hunk_id);
    let deferred = room.defer(id.clone(), hunk, input.on, caller.principal).await;
    Ok(wire::request_state(&*with_fresh_preview(&room, &id, deferred).await?))
}

async fn deferred(caller: Caller, room: RoomHandle, _: NameDocument) -> ApiResult<DeferredHunks> {
    let requests = room.requests().await?;
    let hunks = requests.iter().flat_map(|request| {
        request.deferred_by(&caller.principal).map(|hunk| DeferredHunk {
            request_id: request.id().to_string(),
            hunk_id: hunk.id.to_string(),
        })
    });
    Ok(DeferredHunks { hunks: hunks.collect() })
}

async fn extend(
    caller: Caller,
    (id, room): (RequestId, RoomHandle),
    _: NameRequest,
) -> ApiResult<RequestState> {
    let extended: Arc<ApprovalRequest> = room.extend(id, caller.principal).await?;
    Ok(wire::request_state(&extended))
}

async fn undo(
    caller: Caller,
    (_, room): (RequestId, RoomHandle),
    input: UndoRequest,
) -> ApiResult<RequestState> {
    let undone =
        caller.application.agents.undo_in(&room, wire::undo(input), caller.principal).await?;
    Ok(wire::request_state(&undone))
}

async fn reopen(
    caller: Caller,
    (request, room): (RequestId, RoomHandle),
    input: ReopenRequest,
) -> ApiResult<RequestState> {
    let hunks = input.hunks.map(wire::hunk_ids);
    let wanted = ProposeAgain { request, hunks: hunks.clone() };
    let Caller { application, principal, session, .. } = caller;
    let reopened = application.agents.reopen_in(&room, wanted, principal, session).await?;
    let unplaced = reopened.unplaced(hunks.as_deref());
    Ok(wire::reopened((reopened, unplaced)))
}

async fn withdraw(
    caller: Caller,
    (id, room): (RequestId, RoomHandle),
    _: NameRequest,
) -> ApiResult<RequestState> {
    let withdrawn = room.withdraw(id, Some(caller.principal)).await?;
    Ok(wire::request_state(&withdrawn))
}
