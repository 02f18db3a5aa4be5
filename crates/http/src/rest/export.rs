//! Export of a document as a file: `GET /api/v1/documents/{id}/export?format=…`.

use std::fmt::Write as _;

use axum::extract::Query;
use axum::extract::rejection::QueryRejection;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};

use super::problem::{Problem, RestResult};
use crate::rest::middleware::pagination::PathId;
use copydesk_api::{Caller, ExportedFile};
use copydesk_export::ExportFormat;
use copydesk_ids::DocumentId;
use copydesk_protocol::queries::ExportQuery;

/// Returns the file, to anyone who may read the document.
///
/// # Errors
/// 400 `invalid_request` for a missing or unknown format, 500 `internal` if the file cannot be
/// made; those of [`Caller::export_document`].
pub async fn download(
    caller: Caller,
    PathId(document): PathId<DocumentId>,
    wanted: Result<Query<ExportQuery>, QueryRejection>,
) -> RestResult<Response> {
    let format = format(wanted)?;
    let ExportedFile { name, content } = caller.export_document(&document, format).await?;
    let fixed = |text| HeaderValue::from_static(text);
    let headers = [
        (header::CONTENT_TYPE, fixed(format.content_type())),
        (header::CONTENT_DISPOSITION, attachment(&name)),
        (header::X_CONTENT_TYPE_OPTIONS, fixed("nosniff")),
        // A file that is opened in the browser all the same gets no rights of this origin.
        (
            header::CONTENT_SECURITY_POLICY,
            fixed("sandbox; default-src 'none'; style-src 'unsafe-inline'"),
        ),
        (header::CACHE_CONTROL, fixed("private, no-store")),
    ];
    Ok((headers, content).into_response())
}

fn format(wanted: Result<Query<ExportQuery>, QueryRejection>) -> RestResult<ExportFormat> {
    let known = ExportFormat::ALL.map(ExportFormat::as_str).join(", ");
    let Ok(Query(ExportQuery { format })) = wanted else {
        return Err(Problem::invalid(format!("a format is needed: ?format= one of {known}")));
    };
    ExportFormat::parse(&format)
        .ok_or_else(|| Problem::invalid(format!("there is no such format; there are {known}")))
}

/// Returns the header of a download with this name (RFC 6266), in UTF-8 (RFC 8187) and in ASCII.
fn attachment(name: &str) -> HeaderValue {
    let is_plain = |c: char| c == ' ' || (c.is_ascii_graphic() && !"\"\\%".contains(c));
    let plain: String = name.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
    let mut full = String::new();
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            full.push(char::from(byte));
        } else {
            write!(full, "%{byte:02X}").ok();
        }
    }
    let text = format!("attachment; filename=\"{plain}\"; filename*=UTF-8''{full}");
    HeaderValue::try_from(text).unwrap_or(HeaderValue::from_static("attachment"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attached(name: &str) -> String {
        attachment(name).to_str().unwrap().to_owned()
    }

    #[test]
    fn a_name_travels_in_both_spellings() {
        assert_eq!(
            attached("The Keeper’s Ledger.md"),
            "attachment; filename=\"The Keeper_s Ledger.md\"; filename*=UTF-8''The%20Keeper%E2%80%99s%20Ledger.md"
        );
    }

    #[test]
    fn a_name_cannot_end_its_quotation_or_the_line() {
        let said = attached("a\"; evil=\"b\r\nSet-Cookie: x\\.md");
        assert_eq!(said.matches('"').count(), 2, "{said}");
        assert!(!said.contains(['\r', '\n', '\\']), "{said}");
    }
}
