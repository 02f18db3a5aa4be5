//! History of a document: `GET /api/v1/documents/{id}/provenance` and `GET
//! /api/v1/documents/{id}/audit`.

use axum::Json;
use axum::extract::OriginalUri;
use schemars::JsonSchema;
use serde::Deserialize;

use super::problem::{Problem, RestResult};
use crate::rest::middleware::pagination::{PageQuery, PathId, QueryParams, next};
use copydesk_engine::api::Caller;
use copydesk_engine::ids::DocumentId;
use copydesk_protocol::convert;
use copydesk_protocol::rest::{AuditPage, Provenance};

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
///
/// # Errors
/// 400 `invalid_request` for a range outside of the text, 403 `not_allowed` or 404 `not_found` if
/// the caller may not read the document; see [`Caller::provenance`].
pub async fn provenance(
    caller: Caller,
    PathId(document): PathId<DocumentId>,
    QueryParams(TextRangeQuery { from, to }): QueryParams<TextRangeQuery>,
) -> RestResult<Json<Provenance>> {
    Ok(Json(convert::provenance(caller.provenance(&document, from, to).await?)))
}

/// Query for lines of an audit log.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct AuditQuery {
    /// Only those before this line.
    before: Option<u64>,
    /// At most this many, 1 to 500; 100 if missing.
    #[schemars(range(min = 1, max = 500))]
    limit: Option<u32>,
    /// Value of `next` of the page before; wins over `before`.
    cursor: Option<String>,
}

/// Returns the audit log of a document, to those who may write in it.
///
/// # Errors
/// 400 `invalid_request` for a wrong `limit` or `cursor`, 403 `not_allowed` for readers, 404
/// `not_found` for an unknown document; see [`Caller::audit_lines`].
pub async fn audit(
    caller: Caller,
    PathId(document): PathId<DocumentId>,
    QueryParams(AuditQuery { before, limit, cursor }): QueryParams<AuditQuery>,
    OriginalUri(here): OriginalUri,
) -> RestResult<Json<AuditPage>> {
    let limit = limit.unwrap_or(DEFAULT_LINES);
    if !(1..=MOST_LINES).contains(&limit) {
        return Err(Problem::invalid(format!("`limit` is 1 to {MOST_LINES}")));
    }
    let before = PageQuery::<u64>::read(None, cursor.as_deref())?.after.or(before);
    let found = caller.audit_lines(Some(&document), before, limit as usize).await?;
    let before = found.page.end().map(|line| line.seq);
    let lines = convert::audit_lines(found);
    Ok(Json(AuditPage { lines, before, next: before.map(|last| next(&here, &last)) }))
}
