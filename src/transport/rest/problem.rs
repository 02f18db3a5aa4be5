//! Errors over HTTP: RFC 9457 problem documents. No other module turns an error into a response.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::Value;

use crate::agent::AskError;
use crate::approvals::DecisionError;
use crate::auth::{AccessEnd, AuthError};
use crate::rooms::RoomError;
use crate::store::StoreError;
use crate::transport::body_guard::BodyEnd;
use crate::transport::protocol::convert;
use crate::transport::protocol::rest::ProblemDocument;
use crate::transport::protocol::server::WireError;

/// Challenge to a program without a token (RFC 6750 §3).
const CHALLENGE: HeaderValue = HeaderValue::from_static("Bearer realm=\"copydesk\"");
/// Challenge to a program with an invalid token.
const CHALLENGE_AGAIN: HeaderValue =
    HeaderValue::from_static("Bearer realm=\"copydesk\", error=\"invalid_token\"");

/// Error as a client sees it.
#[derive(Clone, Debug)]
pub struct Problem {
    status: StatusCode,
    code: &'static str,
    detail: String,
    details: Option<Box<Value>>,
    challenge: Option<HeaderValue>,
    /// Seconds after which the request may be tried again.
    retry_after: Option<u64>,
}

impl Problem {
    /// Returns a problem. `code` is stable, for programs; `detail` is for people.
    pub fn new(status: StatusCode, code: &'static str, detail: impl Into<String>) -> Self {
        let (details, challenge, retry_after) = (None, None, None);
        Self { status, code, detail: detail.into(), details, challenge, retry_after }
    }

    /// Returns the HTTP status.
    pub(crate) fn status(&self) -> StatusCode {
        self.status
    }

    /// Returns the message for people.
    pub(crate) fn detail(&self) -> &str {
        &self.detail
    }

    /// Returns the problem of a request without a token.
    pub(crate) fn token_needed() -> Self {
        let detail = "a token is needed, as `Authorization: Bearer …` or `x-api-key: …`";
        Self {
            challenge: Some(CHALLENGE),
            ..Self::new(StatusCode::UNAUTHORIZED, "unauthorized", detail)
        }
    }

    /// Returns the problem of a request that makes no sense.
    pub(crate) fn invalid(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "invalid_request", detail)
    }

    /// Returns the problem of a request that can be read, but asks for something impossible.
    pub(crate) fn unprocessable(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid_request", detail)
    }

    /// Returns the problem of a body that is longer than the route takes.
    pub(crate) fn too_large() -> Self {
        let detail = "the body is longer than this route takes";
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", detail)
    }

    /// The body was not read to its end, because the sender's token ended or nothing more came.
    pub(crate) fn unread(end: BodyEnd) -> Self {
        match end {
            BodyEnd::Access(end) => AuthError::from(end).into(),
            BodyEnd::Stalled => Self::new(
                StatusCode::REQUEST_TIMEOUT,
                "request_timeout",
                "nothing came of the body for too long",
            ),
        }
    }

    /// Returns the problem of a missing thing, or of one that is hidden from the caller.
    pub(crate) fn not_found(what: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", format!("there is no such {what}"))
    }

    /// Returns the problem of a caller who may not do that.
    pub(crate) fn not_allowed() -> Self {
        Self::new(StatusCode::FORBIDDEN, "not_allowed", "you may not do that")
    }

    /// Returns the problem of too many requests at once; `seconds` later the caller may try again.
    pub(crate) fn too_many(seconds: u64) -> Self {
        let detail = "too many requests at once; wait before sending more";
        Self {
            retry_after: Some(seconds),
            ..Self::new(StatusCode::TOO_MANY_REQUESTS, "rate_limited", detail)
        }
    }

    /// Returns the problem of a server without room for the request.
    pub(crate) fn overloaded(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "overloaded", detail)
    }

    /// Adds details for programs.
    pub(crate) fn with(mut self, details: Option<Value>) -> Self {
        self.details = details.map(Box::new);
        self
    }

    /// Converts the problem into the [`WireError`] of one decision in a batch, as the socket has
    /// it.
    pub(crate) fn as_error(&self) -> WireError {
        let (code, message) = (self.code.to_owned(), self.detail.clone());
        WireError { code, message, details: self.details.as_deref().cloned() }
    }

    /// Returns the problem of a failure of the server; the log has the rest.
    pub(crate) fn internal() -> Self {
        let detail = "the server could not answer; nothing was changed";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", detail)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let body = ProblemDocument {
            kind: "about:blank".to_owned(),
            title: self.status.canonical_reason().unwrap_or("Error").to_owned(),
            status: self.status.as_u16(),
            code: self.code.to_owned(),
            detail: self.detail,
            details: self.details.map(|details| *details),
        };
        // The value has only text and numbers, so it can always be written.
        let body = serde_json::to_string(&body).unwrap_or_default();
        let mut response = Response::new(Body::from(body));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if let Some(challenge) = self.challenge {
            headers.insert(header::WWW_AUTHENTICATE, challenge);
        }
        if let Some(seconds) = self.retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
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
            RoomError::RuleEnded(ended) => {
                Self::new(StatusCode::CONFLICT, "already_resolved", detail)
                    .with(Some(convert::ended(&ended)))
            }
            RoomError::NotAllowed | RoomError::ForeignClient => {
                Self::new(StatusCode::FORBIDDEN, "not_allowed", detail)
            }
            RoomError::Lost(_) => Self::internal(),
            RoomError::Resync | RoomError::TooCostly | RoomError::Ahead { .. } => {
                Self::new(StatusCode::CONFLICT, "resync", detail)
            }
            RoomError::BadUpdate { .. } | RoomError::Invalid(_) => Self::invalid(detail),
            RoomError::Input(_) => {
                Self::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid_decision", detail)
            }
            RoomError::Decision(error) => error.into(),
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

/// Conversion into a problem with the socket's code.
impl From<DecisionError> for Problem {
    fn from(error: DecisionError) -> Self {
        let status = match &error {
            DecisionError::NotFound { .. } => StatusCode::NOT_FOUND,
            DecisionError::NotAllowed { .. } => StatusCode::FORBIDDEN,
            DecisionError::InvalidDecision { .. } => StatusCode::UNPROCESSABLE_ENTITY,
            DecisionError::Expired { .. }
            | DecisionError::AlreadyResolved { .. }
            | DecisionError::StalePreview { .. }
            | DecisionError::Conflicted { .. }
            | DecisionError::Touched { .. }
            | DecisionError::FileChanged { .. } => StatusCode::CONFLICT,
        };
        let WireError { code: _, message, details } = convert::decision_error(&error);
        Self::new(status, error.code(), message).with(details)
    }
}

/// Conversion for a token that ended while its holder waited for an answer.
impl From<AccessEnd> for Problem {
    fn from(ended: AccessEnd) -> Self {
        AuthError::from(ended).into()
    }
}

impl From<AskError> for Problem {
    fn from(error: AskError) -> Self {
        let detail = error.to_string();
        let (status, code) = match error {
            AskError::NotAllowed | AskError::BypassNotAllowed => {
                (StatusCode::FORBIDDEN, "not_allowed")
            }
            AskError::NoCli => (StatusCode::UNPROCESSABLE_ENTITY, "unsupported"),
            AskError::UnknownModel { .. }
            | AskError::EmptyPrompt
            | AskError::TooLong { .. }
            | AskError::Selection => (StatusCode::UNPROCESSABLE_ENTITY, "invalid_request"),
            AskError::Duplicate { .. } => (StatusCode::CONFLICT, "already_exists"),
            AskError::Busy => (StatusCode::CONFLICT, "busy"),
            AskError::QueueFull { .. } | AskError::TooManyRuns { .. } => {
                (StatusCode::TOO_MANY_REQUESTS, "too_many_requests")
            }
            AskError::NoRun => return Self::not_found("run"),
            AskError::Room(error) => return error.into(),
            AskError::Store(error) => return error.into(),
            AskError::Unwritable(error) => {
                tracing::error!(%error, "a request could not be written down");
                return Self::internal();
            }
            AskError::Closed => (StatusCode::SERVICE_UNAVAILABLE, "unavailable"),
        };
        Self::new(status, code, detail)
    }
}
