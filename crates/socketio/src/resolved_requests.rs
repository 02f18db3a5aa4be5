//! Event about requests that have ended: rejected, expired, or accepted.

use serde::Serialize;
use serde_json::value::RawValue;

use copydesk_engine::api::{Caller, RequestScope};
use copydesk_engine::approvals::RequestStatus;
use copydesk_engine::ids::RequestId;
use copydesk_engine::rooms::WORKSPACE_INBOX;
use copydesk_engine::rooms::persistence::resolved_requests::ResolvedFilter;
use copydesk_protocol::client::ListRequests;
use copydesk_protocol::{convert, names};

use super::socket_error::{SocketError, SocketResult};

/// Maximum number of requests in one answer.
const MOST: u32 = 100;
/// Default number of requests.
const DEFAULT: u32 = 20;
/// Upper bound for the length of an identifier.
const LONGEST_ID: usize = 200;

#[derive(Serialize)]
pub(crate) struct ResolvedRequestsAck {
    requests: Vec<Box<RawValue>>,
    more: bool,
}

/// Answers `approval:list`: returns a page of the requests that have ended.
///
/// # Errors
/// `invalid_payload` for a wrong `limit`, `before` or status, `not_found` or `not_allowed` if the
/// person may not read the document; see [`Caller::resolved_requests`].
pub async fn list(caller: &Caller, payload: ListRequests) -> SocketResult<ResolvedRequestsAck> {
    let ListRequests { document_id, status, before, limit } = payload;
    let limit = limit.unwrap_or(DEFAULT);
    if !(1..=MOST).contains(&limit) {
        return Err(SocketError::invalid(format!("`limit` is 1 to {MOST}")));
    }
    if before.as_ref().is_some_and(|before| before.is_empty() || before.len() > LONGEST_ID) {
        return Err(SocketError::invalid("`before` is the `request_id` of a request"));
    }
    let statuses =
        status.iter().flatten().map(|status| ended(*status)).collect::<Result<_, _>>()?;
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
                convert::request_page(page.requests.iter()).map_err(|_| SocketError::internal())?;
            return Ok(ResolvedRequestsAck { requests, more: last.or(page.end).is_some() });
        }
        wanted.before = page.end;
    }
}

/// Checks that requests with this status have ended.
fn ended(status: names::RequestStatus) -> SocketResult<RequestStatus> {
    let open = "; open requests are in `list_pending_approvals`";
    convert::ended_status(RequestStatus::from(status).as_str())
        .map_err(|why| SocketError::invalid(why + open))
}
