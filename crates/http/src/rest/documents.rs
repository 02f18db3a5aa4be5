//! Documents over HTTP whose bodies are no JSON, or long: files as documents, HTML as Markdown, and
//! the text of a version.

use axum::Json;
use axum::extract::Request;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};

use super::problem::{Problem, RestResult};
use crate::rest::middleware::body::bytes;
use crate::rest::middleware::pagination::{PathId, QueryParams};
use copydesk_api::{ApiError, ApiResult, Caller, ErrorCode, ImportedFile};
use copydesk_convert::FileKind;
use copydesk_cpu_pool as cpu_pool;
use copydesk_ids::permissions::Action;
use copydesk_ids::{DocumentId, Version};
use copydesk_protocol::queries::{ConvertQuery, ImportQuery};
use copydesk_protocol::rest::{ConvertedHtml, VersionText};
use copydesk_protocol_conversion as wire;

/// Length of a text, in UTF-16 units, above which it is serialized on the CPU pool.
const SHORT_TEXT: usize = 128 * 1024;
/// Maximum file, in bytes.
pub(super) const FILE_LIMIT_BYTES: usize = 32 * 1024 * 1024;
/// Maximum HTML of a paste, in bytes.
pub(super) const HTML_LIMIT_BYTES: usize = 4 * 1024 * 1024;

/// Creates a document of a file.
///
/// # Errors
/// 403 `not_allowed` without permission to create, 413 `too_large` above 32 MB, 415
/// `unsupported_media_type` for forms and for files of other kinds, 422 `invalid_request` for files
/// that cannot be read; see [`Caller::import_document`].
pub async fn import(
    caller: Caller,
    QueryParams(ImportQuery { title, name }): QueryParams<ImportQuery>,
    request: Request,
) -> RestResult<Response> {
    let content_type = content_type(request.headers())?;
    let name = name.unwrap_or_default();
    let file = ImportedFile { bytes: bytes(request).await?, name, content_type };
    let imported = caller.import_document(title, file).await?;
    let there = [(header::LOCATION, format!("/api/v1/documents/{}", imported.document.id))];
    let person = caller.principal.user.as_str();
    // Many changes take long to encode.
    let answer = move || Json(wire::imported(imported)).into_response();
    let answer = cpu_pool::run(person, answer).await.map_err(|_| Problem::internal())?;
    Ok((StatusCode::CREATED, there, answer).into_response())
}

/// Returns HTML, or a file, as Markdown. Changes nothing.
///
/// # Errors
/// 404 `not_found` for an unknown document, 403 `not_allowed` for readers, 413 `too_large` above 4
/// MB, 415 `unsupported_media_type` for a body that is neither HTML nor a file of a kind that can
/// be imported; see [`Caller::convert_file`].
pub async fn convert(
    caller: Caller,
    QueryParams(ConvertQuery { name }): QueryParams<ConvertQuery>,
    request: Request,
) -> RestResult<Json<ConvertedHtml>> {
    let content_type = content_type(request.headers())?;
    if name.is_none() && FileKind::of_content_type(&content_type).is_none() {
        let detail = "the body must be HTML, with `Content-Type: text/html`";
        return Err(ApiError::new(ErrorCode::UnsupportedMediaType, detail).into());
    }
    let name = name.unwrap_or_default();
    let file = ImportedFile { bytes: bytes(request).await?, name, content_type };
    Ok(Json(wire::converted(caller.convert_file(file).await?)))
}

/// Returns the content type of a body that is a file. A form with files is none. Programs that set
/// no type may send that of a plain form, which is not believed.
fn content_type(headers: &HeaderMap) -> ApiResult<String> {
    let named = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let named = named.unwrap_or_default();
    if named.trim_start().to_ascii_lowercase().starts_with("multipart/") {
        let detail = "send the file itself as the body, not a form";
        return Err(ApiError::new(ErrorCode::UnsupportedMediaType, detail));
    }
    Ok(named.to_owned())
}

/// Returns the text of a version.
///
/// # Errors
/// 404 `not_found` for an unknown document or version, 403 `not_allowed` without permission to
/// read; see [`Caller::text_of_version`].
pub async fn text(
    caller: Caller,
    PathId((document, version)): PathId<(DocumentId, u64)>,
) -> RestResult<Response> {
    let room = caller.room(&document, Action::Read).await?;
    let text = caller.text_of_version(&room, Version(version)).await;
    let text = text.map_err(|error| match error {
        error if error.is_no_version() => ApiError::not_found("version"),
        error => error,
    })?;
    let (is_long, person) = (text.len() > SHORT_TEXT, caller.principal.user.as_str());
    let write = move || Json(VersionText { version, text: text.to_string() }).into_response();
    cpu_pool::run_if(is_long, person, write).await.map_err(|_| Problem::internal())
}
