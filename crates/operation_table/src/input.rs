//! Input of an operation, read in the manner of each transport: socket.io ignores unknown fields,
//! REST refuses those of a body.

use std::collections::HashMap;

use futures_util::future::BoxFuture;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use copydesk_api::{ApiError, ApiResult, Caller};

use crate::right::Right;

/// Maximum characters of an error message: serde quotes what it refuses, however long.
const LONGEST_COMPLAINT: usize = 400;

/// Fields of the input that the path of a request holds, with their values.
pub type PathFields = Vec<(&'static str, String)>;

/// Input as a transport has it.
pub enum RawInput {
    /// Payload of an event.
    Event(Box<RawValue>),
    /// Fields of the path of a request, and its query.
    PathAndQuery(PathFields, String),
    /// Fields of the path, and the object in the body, which is read once the right is checked.
    Body(PathFields, BoxFuture<'static, ApiResult<Map<String, Value>>>),
}

impl RawInput {
    /// Checks the right and reads the input.
    pub(crate) async fn admit<R: Right, I: DeserializeOwned>(
        self,
        right: R,
        caller: &Caller,
    ) -> ApiResult<(R::Subject, I)> {
        match self {
            Self::Event(payload) => {
                let input = event(&payload)?;
                let name = R::FIELD.and_then(|field| named(&payload, field));
                Ok((right.check(caller, name).await?, input))
            }
            Self::PathAndQuery(path, query) => {
                let subject = right.check(caller, value(&path, R::FIELD)).await?;
                Ok((subject, path_and_query(&path, &query)?))
            }
            Self::Body(path, body) => {
                let subject = right.check(caller, value(&path, R::FIELD)).await?;
                let mut fields = body.await?;
                fields.extend(path.into_iter().map(|(name, value)| (name.into(), value.into())));
                let input = serde_json::from_value(Value::Object(fields));
                Ok((subject, input.map_err(|error| ApiError::unprocessable(complaint(&error)))?))
            }
        }
    }
}

/// Reads the payload of an event.
///
/// # Errors
/// [`Invalid`](copydesk_api::ErrorCode::Invalid) for a payload of another shape.
pub fn event<I: DeserializeOwned>(payload: &RawValue) -> ApiResult<I> {
    // Derived types would also read an array, field by field.
    if !payload.get().starts_with('{') {
        return Err(ApiError::invalid("a payload is an object"));
    }
    serde_json::from_str(payload.get()).map_err(|error| ApiError::invalid(complaint(&error)))
}

/// Returns the value of a field of a payload, if it is a text.
fn named(payload: &RawValue, field: &str) -> Option<String> {
    let mut fields: HashMap<String, &RawValue> = serde_json::from_str(payload.get()).ok()?;
    serde_json::from_str(fields.remove(field)?.get()).ok()
}

fn value(path: &[(&str, String)], field: Option<&str>) -> Option<String> {
    path.iter().find(|(name, _)| Some(*name) == field).map(|(_, value)| value.clone())
}

/// Reads path and query. A field of the path is left out of the query.
fn path_and_query<I: DeserializeOwned>(path: &[(&str, String)], query: &str) -> ApiResult<I> {
    let is_new = |pair: &&str| {
        let name = pair.split('=').next();
        !pair.is_empty() && path.iter().all(|(known, _)| Some(*known) != name)
    };
    // Texts can always be written.
    let mut pairs = serde_urlencoded::to_string(path).unwrap_or_default();
    for pair in query.split('&').filter(is_new) {
        pairs.push('&');
        pairs.push_str(pair);
    }
    let fields = form_urlencoded::parse(pairs.as_bytes());
    serde_path_to_error::deserialize(serde_urlencoded::Deserializer::new(fields))
        .map_err(|error| ApiError::invalid(format!("Failed to deserialize query string: {error}")))
}

/// Returns a message about what serde refuses, which quotes little of it.
pub fn complaint(error: &serde_json::Error) -> String {
    error.to_string().chars().take(LONGEST_COMPLAINT).collect()
}
