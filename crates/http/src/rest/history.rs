//! Audit log, of a document and of the whole server.

use axum::Json;
use axum::extract::OriginalUri;
use axum::http::Uri;

use super::problem::{Problem, RestResult};
use crate::rest::middleware::pagination::{PageQuery, PathId, QueryParams, next};
use copydesk_api::{AuditLines, Caller};
use copydesk_ids::DocumentId;
use copydesk_protocol::queries::{AuditQuery, ListPart};
use copydesk_protocol::rest::AuditPage;
use copydesk_protocol_conversion as convert;

/// Maximum lines of an audit log in one answer.
const MOST_LINES: u32 = 500;
/// Default number of lines of an audit log.
const DEFAULT_LINES: u32 = 100;

/// Returns the audit log of a document.
pub async fn of_document(
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
    Ok(page(&here, caller.audit_lines(Some(&document), before, limit as usize).await?))
}

/// Returns the audit log of the whole server.
pub async fn of_server(
    caller: Caller,
    QueryParams(part): QueryParams<ListPart>,
    OriginalUri(here): OriginalUri,
) -> RestResult<Json<AuditPage>> {
    let wanted = PageQuery::<u64>::of(&part)?;
    Ok(page(&here, caller.audit_lines(None, wanted.after, wanted.limit).await?))
}

fn page(here: &Uri, found: AuditLines) -> Json<AuditPage> {
    let before = found.page.end().map(|line| line.seq);
    let lines = convert::audit_lines(found);
    Json(AuditPage { lines, before, next: before.map(|last| next(here, &last)) })
}
