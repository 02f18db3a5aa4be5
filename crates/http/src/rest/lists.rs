//! Lists, page by page: documents, their versions, files of the workspace, sessions, and the audit
//! log.

use axum::Json;
use axum::extract::OriginalUri;
use axum::http::Uri;

use super::problem::{Problem, RestResult};
use crate::rest::middleware::pagination::{PageQuery, PathId, QueryParams, next};
use copydesk_api::{AuditLines, Caller, DocumentRecord, SessionRecord};
use copydesk_ids::{DocumentId, SessionId, Version};
use copydesk_protocol::queries::{AuditQuery, FileListQuery, ListPart};
use copydesk_protocol::rest::{
    AuditPage, DocumentPage, FilePage, SessionLine, SessionPage, VersionPage,
};
use copydesk_protocol_conversion as wire;

/// Maximum lines of an audit log in one answer.
const MOST_LINES: u32 = 500;
/// Default number of lines of an audit log.
const DEFAULT_LINES: u32 = 100;

/// Lists the documents that the caller may read, last changed first. A document that changes
/// between two pages may be on both.
pub async fn documents(
    caller: Caller,
    QueryParams(part): QueryParams<ListPart>,
    OriginalUri(here): OriginalUri,
) -> RestResult<Json<DocumentPage>> {
    let wanted = PageQuery::<(u64, String)>::of(&part)?;
    let page = caller.document_page(wanted.after.as_ref(), wanted.limit).await?;
    let ids: Vec<_> = page.items.iter().map(|record| record.id.clone()).collect();
    let waiting = caller.waiting_changes(&ids).await?;
    let mentions = caller.unread_mentions().await?;
    let next = page.end().map(|last| next(&here, &(last.updated_ms, &last.id)));
    let paths = caller.application.document_paths().await?;
    let line = |record: DocumentRecord| {
        let path = paths.of(&record.id);
        let waiting = waiting.get(&record.id).copied().unwrap_or_default();
        let mentions = mentions.get(&record.id).copied().unwrap_or_default();
        wire::document_line(record, path, (waiting, mentions), &caller.principal)
    };
    Ok(Json(DocumentPage { documents: page.items.into_iter().map(line).collect(), next }))
}

/// Lists the versions with their authors, newest first.
pub async fn versions(
    caller: Caller,
    PathId(document): PathId<DocumentId>,
    QueryParams(part): QueryParams<ListPart>,
    OriginalUri(here): OriginalUri,
) -> RestResult<Json<VersionPage>> {
    let wanted = PageQuery::<u64>::of(&part)?;
    let before = wanted.after.map(Version);
    let found = caller.versions(&document, before, wanted.limit).await?;
    let next = found.page.end().map(|oldest| next(&here, &oldest.version.0));
    Ok(Json(VersionPage { versions: wire::versions(found), next }))
}

/// Lists the text files that can be opened, folder by folder, without ignored files.
///
/// # Errors
/// 400 `invalid_request` for a wrong `limit`, `cursor` or pattern, 422 `unsupported` without a
/// workspace, 403 `not_allowed` for people who may not create documents; see
/// [`Caller::list_files`].
pub async fn files(
    caller: Caller,
    QueryParams(FileListQuery { pattern, limit, cursor }): QueryParams<FileListQuery>,
    OriginalUri(here): OriginalUri,
) -> RestResult<Json<FilePage>> {
    let wanted = PageQuery::<String>::read(limit, cursor.as_deref())?;
    let pattern = pattern.unwrap_or_default();
    let listed = caller.list_files(pattern, wanted.after, wanted.limit).await?;
    let next = listed.page.end().map(|(last, _)| next(&here, last));
    let is_cut = listed.is_cut && !listed.page.more;
    let line = |(path, document)| wire::file_line(path, document);
    Ok(Json(FilePage { files: listed.page.items.into_iter().map(line).collect(), is_cut, next }))
}

/// Lists the caller's own sessions, newest first.
pub async fn sessions(
    caller: Caller,
    QueryParams(part): QueryParams<ListPart>,
    OriginalUri(here): OriginalUri,
) -> RestResult<Json<SessionPage>> {
    let wanted = PageQuery::<SessionId>::of(&part)?;
    let page = caller.sessions(wanted.after.as_ref(), wanted.limit).await?;
    let next = page.end().map(|last| next(&here, &last.id));
    let line = |session: SessionRecord| SessionLine {
        id: session.id.to_string(),
        created_at: wire::time(session.created_ms),
        seen_at: wire::time(session.seen_ms),
    };
    Ok(Json(SessionPage { sessions: page.items.into_iter().map(line).collect(), next }))
}

/// Returns the audit log of a document.
pub async fn document_audit(
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
    Ok(audit_page(&here, caller.audit_lines(Some(&document), before, limit as usize).await?))
}

/// Returns the audit log of the whole server.
pub async fn server_audit(
    caller: Caller,
    QueryParams(part): QueryParams<ListPart>,
    OriginalUri(here): OriginalUri,
) -> RestResult<Json<AuditPage>> {
    let wanted = PageQuery::<u64>::of(&part)?;
    Ok(audit_page(&here, caller.audit_lines(None, wanted.after, wanted.limit).await?))
}

fn audit_page(here: &Uri, found: AuditLines) -> Json<AuditPage> {
    let before = found.page.end().map(|line| line.seq);
    let lines = wire::audit_lines(found);
    Json(AuditPage { lines, before, next: before.map(|last| next(here, &last)) })
}
