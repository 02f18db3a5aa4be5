//! The event about requests that have ended: what was refused, ran out of time, or was accepted.

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

/// Requests that are given at most.
const MOST: u32 = 100;
/// Requests if nothing else is asked for.
const DEFAULT: u32 = 20;
/// A page ends early after this many bytes: a request holds the texts it was about.
const PAGE_BYTES: usize = 2 * 1024 * 1024;
/// No identifier is longer.
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

/// Those without a document that are the person's business. A page of which nothing is theirs is passed over, so that whoever
/// reads on has a request to read on from.
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

/// How a request can have ended.
fn ended(name: &str) -> Result<RequestStatus, SocketError> {
    let open = "; open requests are in `list_pending_approvals`";
    convert::ended_status(name).map_err(|why| SocketError::invalid(why + open))
}

/// As much of a page as one message should hold, at least one request.
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
