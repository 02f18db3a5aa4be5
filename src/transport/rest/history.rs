//! History of a document: `GET /api/v1/documents/{id}/provenance` and `GET
//! /api/v1/documents/{id}/audit`.

use axum::Json;
use axum::extract::{OriginalUri, State};
use schemars::JsonSchema;
use serde::Deserialize;

use super::HttpState;
use super::problem::Problem;
use crate::ids::UserId;
use crate::permissions::Action;
use crate::rooms::credits;
use crate::transport::protocol::convert;
use crate::transport::protocol::rest::{AuditPage, Provenance};
use crate::transport::rest::middleware::auth_session::Authenticated;
use crate::transport::rest::middleware::pagination::{PageQuery, PathId, QueryParams, next};

/// Maximum lines of an audit log in one answer.
const MOST_LINES: u32 = 500;
/// Default number of lines of an audit log.
const DEFAULT_LINES: u32 = 100;

/// A range of the newest text, in UTF-16 code units.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct TextRangeQuery {
    /// First unit; missing: the beginning.
    from: Option<usize>,
    /// One past the last; missing: the end.
    to: Option<usize>,
}

/// Returns the author of every span, to anyone who may read the document.
pub(crate) async fn provenance(
    State(door): State<HttpState>,
    caller: Authenticated,
    PathId(document): PathId<String>,
    QueryParams(TextRangeQuery { from, to }): QueryParams<TextRangeQuery>,
) -> Result<Json<Provenance>, Problem> {
    let room = caller.room(&door, &document, Action::Read).await?;
    let now = room.read().await?;
    let len = now.text.len();
    let (from, to) = (from.unwrap_or(0), to.unwrap_or(len));
    if from > to || to > len {
        return Err(Problem::invalid(format!("`from` and `to` are 0 to {len}, in order")));
    }
    let credits = credits(&door.store, room.document(), now.version, from..to).await?;
    Ok(Json(Provenance { version: now.version.0, spans: convert::provenance(credits) }))
}

/// Which lines of an audit log.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct AuditQuery {
    /// Only those before this line.
    before: Option<u64>,
    /// At most this many, 1 to 500; 100 if missing.
    #[schemars(range(min = 1, max = 500))]
    limit: Option<u32>,
    /// What stands in the `next` of the page before; wins over `before`.
    cursor: Option<String>,
}

/// Returns the audit log of a document, to those who may write in it.
pub(crate) async fn audit(
    State(door): State<HttpState>,
    caller: Authenticated,
    PathId(document): PathId<String>,
    QueryParams(AuditQuery { before, limit, cursor }): QueryParams<AuditQuery>,
    OriginalUri(here): OriginalUri,
) -> Result<Json<AuditPage>, Problem> {
    let limit = limit.unwrap_or(DEFAULT_LINES);
    if !(1..=MOST_LINES).contains(&limit) {
        return Err(Problem::invalid(format!("`limit` is 1 to {MOST_LINES}")));
    }
    let before = PageQuery::<u64>::read(None, cursor.as_deref())?.after.or(before);
    let room = caller.room(&door, &document, Action::Audit).await?;
    // One more, to see whether there is more.
    let mut lines = door.store.audit(Some(room.document()), before, limit + 1).await?;
    let is_more = lines.len() > limit as usize;
    lines.truncate(limit as usize);
    let before = lines.last().filter(|_| is_more).map(|line| line.seq);
    let actors: Vec<UserId> = lines.iter().map(|line| line.entry.actor.as_str().into()).collect();
    let names = door.auth.names(&actors).await?;
    let lines = lines.into_iter().map(|line| convert::audit_line(line, &names)).collect();
    Ok(Json(AuditPage { lines, before, next: before.map(|last| next(&here, &last)) }))
}
