//! Errors over HTTP: RFC 9457 problem documents; the only place an error becomes a response.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;

use crate::auth::AuthError;
use crate::room::RoomError;
use crate::store::StoreError;

/// What a program without a token is told to bring (RFC 6750 §3).
const CHALLENGE: HeaderValue = HeaderValue::from_static("Bearer realm=\"copydesk\"");
/// What a program with a token that is not good is told.
const CHALLENGE_AGAIN: HeaderValue =
    HeaderValue::from_static("Bearer realm=\"copydesk\", error=\"invalid_token\"");

/// An error as a client sees it.
#[derive(Clone, Debug)]
pub struct Problem {
    status: StatusCode,
    code: &'static str,
    detail: String,
    challenge: Option<HeaderValue>,
}

impl Problem {
    /// `code` is stable, for programs; `detail` is for people.
    pub fn new(status: StatusCode, code: &'static str, detail: impl Into<String>) -> Self {
        Self { status, code, detail: detail.into(), challenge: None }
    }

    /// The HTTP status.
    pub(super) fn status(&self) -> StatusCode {
        self.status
    }

    /// The words for people.
    pub(super) fn detail(&self) -> &str {
        &self.detail
    }

    /// Nobody said who they are.
    pub(super) fn token_needed() -> Self {
        let detail = "a token is needed, as `Authorization: Bearer …` or `x-api-key: …`";
        Self {
            challenge: Some(CHALLENGE),
            ..Self::new(StatusCode::UNAUTHORIZED, "unauthorized", detail)
        }
    }

    /// Something in the request makes no sense.
    pub(super) fn invalid(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "invalid_request", detail)
    }

    /// The request can be read, and what it says is not possible.
    pub(super) fn unprocessable(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid_request", detail)
    }

    /// There is no such thing, or not for this person.
    pub(super) fn not_found(what: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", format!("there is no such {what}"))
    }

    /// The person may not do that.
    pub(super) fn not_allowed() -> Self {
        Self::new(StatusCode::FORBIDDEN, "not_allowed", "you may not do that")
    }

    /// Our own fault; the log has the rest.
    pub(super) fn internal() -> Self {
        let detail = "the server could not answer; nothing was changed";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", detail)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let body = json!({
            "type": "about:blank",
            "title": self.status.canonical_reason().unwrap_or("Error"),
            "status": self.status.as_u16(),
            "code": self.code,
            "detail": self.detail,
        });
        let mut response = Response::new(Body::from(body.to_string()));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if let Some(challenge) = self.challenge {
            headers.insert(header::WWW_AUTHENTICATE, challenge);
        }
        response
    }
}

impl From<AuthError> for Problem {
    fn from(error: AuthError) -> Self {
        let detail = error.to_string();
        match error {
            AuthError::Store(error) => error.into(),
            AuthError::Unknown | AuthError::Expired { .. } | AuthError::Revoked { .. } => Self {
                challenge: Some(CHALLENGE_AGAIN),
                ..Self::new(StatusCode::UNAUTHORIZED, "unauthorized", detail)
            },
            AuthError::NoDocument(_) => Self::not_found("document"),
            AuthError::NoToken(_) => Self::not_found("token"),
            AuthError::BoundOwner
            | AuthError::Nameless
            | AuthError::UnknownRole(_)
            | AuthError::Expiry(_) => Self::unprocessable(detail),
            AuthError::OwnerStays => Self::new(StatusCode::FORBIDDEN, "not_allowed", detail),
            AuthError::TooMany { .. } => Self::new(StatusCode::CONFLICT, "too_many_tokens", detail),
            AuthError::Taken(_)
            | AuthError::Unusable
            | AuthError::Randomness(_)
            | AuthError::File { .. } => {
                tracing::error!(error = %detail, "a token could not be made");
                Self::internal()
            }
        }
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        tracing::error!(%error, "the store failed");
        let detail = "the store does not answer; nothing was changed";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", detail)
    }
}

impl From<RoomError> for Problem {
    fn from(error: RoomError) -> Self {
        let detail = error.to_string();
        match error {
            RoomError::NoDocument => Self::not_found("document"),
            RoomError::NoRequest => Self::not_found("request"),
            RoomError::NoRule => Self::not_found("rule"),
            RoomError::RuleEnded(_) => Self::new(StatusCode::CONFLICT, "already_resolved", detail),
            RoomError::NotAllowed | RoomError::ForeignClient => {
                Self::new(StatusCode::FORBIDDEN, "not_allowed", detail)
            }
            RoomError::Resync | RoomError::Ahead { .. } => {
                Self::new(StatusCode::CONFLICT, "resync", detail)
            }
            RoomError::BadUpdate { .. } | RoomError::Invalid(_) | RoomError::Input(_) => {
                Self::invalid(detail)
            }
            RoomError::Decision(_) => Self::new(StatusCode::CONFLICT, "refused", detail),
            RoomError::TooManyRequests { .. } => {
                Self::new(StatusCode::TOO_MANY_REQUESTS, "too_many_requests", detail)
            }
            RoomError::Store(error) => {
                tracing::error!(%error, "the store failed");
                Self::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", detail)
            }
            RoomError::Closed => Self::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", detail),
        }
    }
}
