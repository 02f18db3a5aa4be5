//! Results of operations that every transport gives in the same form.

use serde_json::value::{RawValue, to_raw_value};

use copydesk_api::{AuditLines, DocumentContent, VersionList};
use copydesk_approvals::ApprovalRequest;
use copydesk_ids::RequestId;
use copydesk_protocol::{history, server};
use copydesk_rooms::command::DocumentSnapshot;

use super::history::{audit_line, history_line};
use super::request;

/// Size of a page of requests, in bytes, after which it ends early: a request holds the texts it is
/// about.
const PAGE_BYTES: usize = 2 * 1024 * 1024;

/// Converts a new document.
pub fn created(content: DocumentContent) -> server::CreatedDocument {
    let DocumentContent { id, snapshot: DocumentSnapshot { title, version, .. } } = content;
    server::CreatedDocument { id: id.to_string(), title, version: version.0 }
}

/// Converts a page of the history.
pub fn versions(found: VersionList) -> Vec<history::HistoryLine> {
    let VersionList { page, placements, names } = found;
    let lines = page.items.into_iter();
    lines
        .map(|line| {
            let placements = placements.get(&line.version);
            history_line(line, placements, &names)
        })
        .collect()
}

/// Converts a page of the audit log.
pub fn audit_lines(found: AuditLines) -> Vec<history::AuditLine> {
    let AuditLines { page, names } = found;
    page.items.into_iter().map(|line| audit_line(line, &names)).collect()
}

/// Encodes as many requests as one message should hold, at least one. Returns the last of them too
/// if there are more.
///
/// # Errors
/// The error of a request that cannot be encoded.
pub fn request_page<'a>(
    requests: impl Iterator<Item = &'a ApprovalRequest>,
) -> Result<(Vec<Box<RawValue>>, Option<RequestId>), serde_json::Error> {
    let (mut page, mut bytes, mut last) = (Vec::new(), 0, None);
    for one in requests {
        let encoded = to_raw_value(&request(one)).inspect_err(|error| {
            tracing::error!(%error, "cannot encode a request");
        })?;
        bytes += encoded.get().len();
        if bytes > PAGE_BYTES && !page.is_empty() {
            return Ok((page, last));
        }
        page.push(encoded);
        last = Some(one.id().clone());
    }
    Ok((page, None))
}
