//! JSON body of a request that writes, read strictly, with a problem document for each error.

use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, StatusCode, header};
use serde_json::{Map, Value};

use super::unknown_fields;
use crate::rest::problem;
use copydesk_api::{ApiError, ApiResult, ErrorCode};
use copydesk_operation_table::{PathFields, complaint};

/// Reads the fields of a body besides those of the path, which it may only repeat, after the caller
/// was found to be allowed.
///
/// # Errors
/// 415 without a JSON content type, which keeps forms of other pages out; 413 above the route's
/// limit; 400 if it is not JSON; 422 if it is not an object, or has a field that is not in the
/// schema.
pub(crate) async fn fields(
    request: Request,
    schema: &Value,
    path: PathFields,
) -> ApiResult<Map<String, Value>> {
    let mut body = object(request).await?;
    for (name, value) in path {
        if body.remove(name).is_some_and(|said| said != value) {
            return Err(ApiError::unprocessable(format!("`{name}` does not match the URL")));
        }
    }
    match unknown_fields::complaint(schema, &body) {
        Some(complaint) => Err(ApiError::unprocessable(complaint)),
        None => Ok(body),
    }
}

async fn object(request: Request) -> ApiResult<Map<String, Value>> {
    if !is_json(request.headers()) {
        let detail = "the body must be JSON, with `Content-Type: application/json`";
        return Err(ApiError::new(ErrorCode::UnsupportedMediaType, detail));
    }
    let bytes = bytes(request).await?;
    let value =
        serde_json::from_slice(&bytes).map_err(|error| ApiError::invalid(complaint(&error)));
    match value? {
        Value::Object(body) => Ok(body),
        // Derived types would also read an array, field by field.
        _ => Err(ApiError::unprocessable("the body must be an object")),
    }
}

/// Reads a body to its end.
///
/// # Errors
/// 413 above the route's limit, 400 if it breaks off.
pub(crate) async fn bytes(request: Request) -> ApiResult<Bytes> {
    Bytes::from_request(request, &()).await.map_err(|error| match error.status() {
        StatusCode::PAYLOAD_TOO_LARGE => ApiError::new(ErrorCode::TooLarge, problem::TOO_LARGE),
        _ => ApiError::invalid("the body could not be read to its end"),
    })
}

pub(crate) fn is_json(headers: &HeaderMap) -> bool {
    let named = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = named.and_then(|text| text.split(';').next()).unwrap_or_default();
    essence.trim().eq_ignore_ascii_case("application/json")
}
