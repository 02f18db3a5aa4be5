//! What was: `GET /api/v1/documents/{id}/provenance` and `GET /api/v1/documents/{id}/audit`.

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use serde::{Deserialize, Serialize};

use super::Door;
use super::principal::Caller;
use super::problem::Problem;
use crate::room::credits;
use crate::who::Action;
use crate::wire::convert;
use crate::wire::past::{AuditLine, ProvenanceSpan};

/// Lines of an audit log that are given at most.
const MOST_LINES: u32 = 500;
/// Lines of an audit log if nothing else is asked for.
const DEFAULT_LINES: u32 = 100;

/// A range of the newest text, in UTF-16 code units.
#[derive(Deserialize)]
pub(super) struct Part {
    from: Option<usize>,
    to: Option<usize>,
}

#[derive(Serialize)]
pub(super) struct Provenance {
    version: u64,
    spans: Vec<ProvenanceSpan>,
}

/// Who wrote every span. Whoever may read the document may know.
pub(super) async fn provenance(
    State(door): State<Door>,
    caller: Caller,
    Path(document): Path<String>,
    part: Result<Query<Part>, QueryRejection>,
) -> Result<Json<Provenance>, Problem> {
    let Query(Part { from, to }) =
        part.map_err(|_| Problem::invalid("`from` and `to` are numbers"))?;
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
#[derive(Deserialize)]
pub(super) struct Page {
    before: Option<u64>,
    limit: Option<u32>,
}

#[derive(Serialize)]
pub(super) struct Audit {
    /// Newest first.
    lines: Vec<AuditLine>,
    /// What to ask for as `before` to go on; missing: there are no more.
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<u64>,
}

/// What happened in a document, for those who write in it.
pub(super) async fn audit(
    State(door): State<Door>,
    caller: Caller,
    Path(document): Path<String>,
    page: Result<Query<Page>, QueryRejection>,
) -> Result<Json<Audit>, Problem> {
    let Query(Page { before, limit }) =
        page.map_err(|_| Problem::invalid("`before` and `limit` are numbers"))?;
    let limit = limit.unwrap_or(DEFAULT_LINES);
    if !(1..=MOST_LINES).contains(&limit) {
        return Err(Problem::invalid(format!("`limit` is 1 to {MOST_LINES}")));
    }
    let room = caller.room(&door, &document, Action::Audit).await?;
    // One more, to see whether there is more.
    let mut lines = door.store.audit(Some(room.document()), before, limit + 1).await?;
    let is_more = lines.len() > limit as usize;
    lines.truncate(limit as usize);
    let before = lines.last().filter(|_| is_more).map(|line| line.seq);
    let names = door.auth.names().await?;
    let lines = lines.into_iter().map(|line| convert::audit_line(line, &names)).collect();
    Ok(Json(Audit { lines, before }))
}
