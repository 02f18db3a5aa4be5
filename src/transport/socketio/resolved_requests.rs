//! Event about requests that have ended: rejected, expired, or accepted.

use serde::Serialize;
use serde_json::value::RawValue;

use crate::approvals::RequestStatus;
use crate::ids::RequestId;
use crate::permissions::Action;
use crate::rooms::DESK;
use crate::rooms::persistence::resolved_requests::{ResolvedFilter, ResolvedPage};
use crate::store::QueryScope;
use crate::transport::protocol::client::ListRequests;
use crate::transport::protocol::convert;

use super::SocketConnection;
use super::socket_error::SocketError;

/// Maximum number of requests in one answer.
const MOST: u32 = 100;
/// Default number of requests.
const DEFAULT: u32 = 20;
/// Size of a page, in bytes, after which it ends early: a request holds the texts it is about.
const PAGE_BYTES: usize = 2 * 1024 * 1024;
/// Upper bound for the length of an identifier.
const LONGEST_ID: usize = 200;

#[derive(Serialize)]
pub(crate) struct ResolvedRequestsAck {
    requests: Vec<Box<RawValue>>,
    more: bool,
}

pub(crate) async fn list(
    connection: &mut SocketConnection,
    payload: ListRequests,
) -> Result<ResolvedRequestsAck, SocketError> {
    let ListRequests { document_id, status, before, limit } = payload;
    let limit = limit.unwrap_or(DEFAULT);
    if !(1..=MOST).contains(&limit) {
        return Err(SocketError::invalid(format!("`limit` is 1 to {MOST}")));
    }
    if before.as_ref().is_some_and(|before| before.is_empty() || before.len() > LONGEST_ID) {
        return Err(SocketError::invalid("`before` is the `request_id` of a request"));
    }
    let statuses = status.iter().flatten().map(|name| ended(name)).collect::<Result<_, _>>()?;
    let wanted = ResolvedFilter { statuses, before: before.map(RequestId::from), limit };
    match document_id.as_deref() {
        None | Some(DESK) => {
            connection.desk(Action::Read).await?;
            desks(connection, wanted).await
        }
        Some(document) => {
            let room = connection.room(document, Action::Read).await?;
            let scope = QueryScope::Document(room.document());
            fitting(&ResolvedPage::read(&connection.door.store, scope, &wanted).await?)
        }
    }
}

/// Lists the ended requests without a document that concern the person. A page of which nothing
/// concerns the person is skipped, so that every answer with more to read has a request to continue
/// from.
async fn desks(
    connection: &SocketConnection,
    mut wanted: ResolvedFilter,
) -> Result<ResolvedRequestsAck, SocketError> {
    loop {
        let mut page =
            ResolvedPage::read(&connection.door.store, QueryScope::Desk, &wanted).await?;
        wanted.before = page.requests.last().map(|last| last.id().clone());
        page.requests.retain(|request| request.concerns(&connection.principal));
        if !page.requests.is_empty() || !page.more {
            return fitting(&page);
        }
    }
}

/// Returns the [`RequestStatus`] of an ended request with this name.
fn ended(name: &str) -> Result<RequestStatus, SocketError> {
    let open = "; open requests are in `list_pending_approvals`";
    convert::ended_status(name).map_err(|why| SocketError::invalid(why + open))
}

/// Returns as much of a [`ResolvedPage`] as one message should hold, at least one request.
fn fitting(page: &ResolvedPage) -> Result<ResolvedRequestsAck, SocketError> {
    let mut requests = Vec::with_capacity(page.requests.len());
    let mut bytes = 0;
    for request in &page.requests {
        let request =
            serde_json::value::to_raw_value(&convert::request(request)).map_err(|error| {
                tracing::error!(%error, "a request could not be encoded");
                SocketError::internal()
            })?;
        bytes += request.get().len();
        if bytes > PAGE_BYTES && !requests.is_empty() {
            return Ok(ResolvedRequestsAck { requests, more: true });
        }
        requests.push(request);
    }
    Ok(ResolvedRequestsAck { requests, more: page.more })
}
