//! `Idempotency-Key`: a write that is sent again, because its answer was lost, is not done again.
//!
//! The beginning of a write with a key is durable before it acts, and its answer before it is
//! given. So a key that a dead process began is never begun again: its outcome is unknown, which
//! the caller gets as the answer. Answers are kept for a day; those that hold a secret are not
//! kept.

use std::collections::HashMap;
use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::rest::problem::{Problem, RestResult};
use copydesk_api::{Application, Caller, IdempotencyRecord};
use copydesk_ids::{UserId, hex};

/// Header with the key.
pub const KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// Header that marks an answer as a repeated one.
const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");
/// Maximum length of a key, in characters.
const LONGEST_KEY: usize = 255;
/// Maximum answer that is kept, in bytes.
const LARGEST_ANSWER: usize = 1024 * 1024;

/// Keys of writes that are running in this process, each with the fingerprint of its request.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeysInFlight(Arc<Mutex<HashMap<(UserId, String), String>>>);

#[derive(Serialize, Deserialize)]
struct StoredResponse {
    status: u16,
    content_type: Option<String>,
    location: Option<String>,
    /// `None` if the answer held a secret or was too long.
    body: Option<String>,
}

/// Passes a write on, unless it was done before. `limit` is the maximum body, in bytes, that is
/// read.
pub(crate) async fn once(
    application: &Application,
    under_way: &KeysInFlight,
    caller: &Caller,
    request: Request,
    next: Next,
    limit: usize,
) -> RestResult<Response> {
    if !writes(request.method()) {
        return Ok(next.run(request).await);
    }
    let Some(key) = key(&request)? else { return Ok(next.run(request).await) };
    let (parts, body) = request.into_parts();
    let said = parts.headers.get(header::CONTENT_LENGTH).and_then(|it| it.to_str().ok());
    if said.and_then(|it| it.parse().ok()).is_some_and(|length: usize| length > limit) {
        return Err(Problem::too_large());
    }
    let body = to_bytes(body, limit).await.map_err(|_| Problem::too_large())?;
    let address = parts.uri.to_string();
    let asked = fingerprint(parts.method.as_str(), &address, &body);
    let user = caller.principal.user.clone();
    let held = under_way.hold(&user, &key, &asked)?;
    let begun = IdempotencyRecord {
        user,
        key,
        fingerprint: asked,
        at_ms: application.clock.now_ms(),
        answer: None,
    };
    let (application, request) =
        (application.clone(), Request::from_parts(parts, Body::from(body)));
    // The task continues if the caller disconnects, so that the answer is there when it asks again.
    let done = tokio::spawn(async move {
        let _held = held;
        if let Some(known) = application.begin_keyed_write(&begun).await? {
            return again(known, &begun.fingerprint);
        }
        let response = next.run(request).await;
        keep(&application, begun, response).await
    });
    done.await.unwrap_or_else(|_| Err(Problem::internal()))
}

fn writes(method: &Method) -> bool {
    ![Method::GET, Method::HEAD, Method::OPTIONS].contains(method)
}

fn key(request: &Request) -> RestResult<Option<String>> {
    let mut values = request.headers().get_all(KEY).iter();
    let Some(first) = values.next() else { return Ok(None) };
    let text = first.to_str().ok().map(str::trim).filter(|_| values.next().is_none());
    match text {
        Some(text) if (1..=LONGEST_KEY).contains(&text.len()) => Ok(Some(text.to_owned())),
        _ => {
            let detail = format!("`Idempotency-Key` is one of 1 to {LONGEST_KEY} ASCII characters");
            Err(Problem::invalid(detail))
        }
    }
}

fn fingerprint(method: &str, address: &str, body: &[u8]) -> String {
    let mut hasher = Sha256::new();
    // Neither a method nor an address contains a line end.
    hasher.update(format!("{method}\n{address}\n"));
    hasher.update(body);
    hex(&hasher.finalize())
}

/// Returns the first answer again, or the reason that there is none.
fn again(known: IdempotencyRecord, asked: &str) -> RestResult<Response> {
    if known.fingerprint != asked {
        return Err(other());
    }
    let conflict = |code, detail: &str| Problem::new(StatusCode::CONFLICT, code, detail);
    let Some(answer) = known.answer else {
        return Err(conflict(
            "outcome_unknown",
            "this was begun before, and the server stopped meanwhile: check if it was done, and use a new key",
        ));
    };
    let Ok(StoredResponse { status, content_type, location, body }) =
        serde_json::from_value(answer)
    else {
        return Err(Problem::internal());
    };
    let Some(body) = body else {
        let detail = "this was done before; its answer was sent once and is not stored";
        return Err(conflict("already_done", detail));
    };
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = StatusCode::from_u16(status).map_err(|_| Problem::internal())?;
    let headers = response.headers_mut();
    headers.insert(REPLAYED, HeaderValue::from_static("true"));
    for (name, value) in [(header::CONTENT_TYPE, content_type), (header::LOCATION, location)] {
        if let Some(value) = value.and_then(|value| HeaderValue::try_from(value).ok()) {
            headers.insert(name, value);
        }
    }
    Ok(response)
}

fn other() -> Problem {
    let detail = "this key was used before for something else";
    Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "key_reused", detail)
}

async fn keep(
    application: &Application,
    begun: IdempotencyRecord,
    response: Response,
) -> RestResult<Response> {
    let (parts, body) = response.into_parts();
    let bytes = to_bytes(body, usize::MAX).await.map_err(|_| Problem::internal())?;
    let text = |name: HeaderName| {
        let value = parts.headers.get(name).and_then(|value| value.to_str().ok());
        value.map(str::to_owned)
    };
    let answer = if came_to_nothing(parts.status) {
        None
    } else {
        let secret = text(header::CACHE_CONTROL).is_some_and(|it| it.contains("no-store"));
        let body = String::from_utf8(bytes.to_vec()).ok();
        let kept = StoredResponse {
            status: parts.status.as_u16(),
            content_type: text(header::CONTENT_TYPE),
            location: text(header::LOCATION),
            body: body.filter(|body| !secret && body.len() <= LARGEST_ANSWER),
        };
        Some(serde_json::to_value(kept).map_err(|_| Problem::internal())?)
    };
    if let Err(error) = application.end_keyed_write(IdempotencyRecord { answer, ..begun }).await {
        // The answer is true whether or not it was stored. A later request with the key gets an
        // unknown outcome.
        tracing::warn!(%error, "cannot store the answer to a write with a key");
    }
    Ok(Response::from_parts(parts, Body::from(bytes)).into_response())
}

/// Returns `true` for a status after which the key may be used again: the request was refused
/// before anything was looked at, or could not be done just now.
fn came_to_nothing(status: StatusCode) -> bool {
    status.is_server_error()
        || matches!(
            status,
            StatusCode::UNAUTHORIZED
                | StatusCode::PAYLOAD_TOO_LARGE
                | StatusCode::UNSUPPORTED_MEDIA_TYPE
                | StatusCode::TOO_MANY_REQUESTS
        )
}

impl KeysInFlight {
    fn hold(&self, user: &UserId, key: &str, asked: &str) -> RestResult<InFlightGuard> {
        let name = (user.clone(), key.to_owned());
        let mut held = self.0.lock();
        match held.get(&name) {
            None => {
                held.insert(name.clone(), asked.to_owned());
                Ok(InFlightGuard(self.clone(), name))
            }
            Some(same) if same == asked => {
                let detail = "the same request is in progress; retry once it is answered";
                Err(Problem::new(StatusCode::CONFLICT, "under_way", detail))
            }
            Some(_) => Err(other()),
        }
    }
}

/// Guard of a key that is in use, from [`KeysInFlight::hold`].
struct InFlightGuard(KeysInFlight, (UserId, String));

impl Drop for InFlightGuard {
    fn drop(&mut self) {
        self.0.0.lock().remove(&self.1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_held_by_one_at_a_time_and_by_each_person_for_themselves() {
        let (keys, ana, ben) = (KeysInFlight::default(), UserId::from("ana"), UserId::from("ben"));
        let held = keys.hold(&ana, "k", "x");
        assert!(held.is_ok() && keys.hold(&ben, "k", "x").is_ok());
        assert_eq!(keys.hold(&ana, "k", "x").err().unwrap().as_error().code, "under_way");
        assert_eq!(keys.hold(&ana, "k", "y").err().unwrap().as_error().code, "key_reused");
        drop(held);
        assert!(keys.hold(&ana, "k", "y").is_ok());
    }

    #[test]
    fn what_was_begun_and_not_answered_is_not_begun_again() {
        let begun = |answer| IdempotencyRecord {
            user: "ana".into(),
            key: "k".to_owned(),
            fingerprint: "x".to_owned(),
            at_ms: 0,
            answer,
        };
        let code = |known, asked| again(known, asked).err().unwrap().as_error().code;
        assert_eq!(code(begun(None), "x"), "outcome_unknown");
        assert_eq!(code(begun(None), "y"), "key_reused");
        let secret = StoredResponse { status: 201, content_type: None, location: None, body: None };
        assert_eq!(code(begun(serde_json::to_value(secret).ok()), "x"), "already_done");
    }
}
