//! Errors over HTTP: RFC 9457 problem documents; the only place an error becomes a response.

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
    details: Option<Box<Value>>,
    challenge: Option<HeaderValue>,
    /// Seconds after which it may be tried again.
    retry_after: Option<u64>,
}

impl Problem {
    /// `code` is stable, for programs; `detail` is for people.
    pub fn new(status: StatusCode, code: &'static str, detail: impl Into<String>) -> Self {
        let (details, challenge, retry_after) = (None, None, None);
        Self { status, code, detail: detail.into(), details, challenge, retry_after }
    }

    /// The HTTP status.
    pub(crate) fn status(&self) -> StatusCode {
        self.status
    }

    /// The words for people.
    pub(crate) fn detail(&self) -> &str {
        &self.detail
    }

    /// Nobody said who they are.
    pub(crate) fn token_needed() -> Self {
        let detail = "a token is needed, as `Authorization: Bearer …` or `x-api-key: …`";
        Self {
            challenge: Some(CHALLENGE),
            ..Self::new(StatusCode::UNAUTHORIZED, "unauthorized", detail)
        }
    }

    /// Something in the request makes no sense.
    pub(crate) fn invalid(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "invalid_request", detail)
    }

    /// The request can be read, and what it says is not possible.
    pub(crate) fn unprocessable(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid_request", detail)
    }

    /// The body is longer than the route takes.
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

    /// There is no such thing, or not for this person.
    pub(crate) fn not_found(what: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", format!("there is no such {what}"))
    }

    /// The person may not do that.
    pub(crate) fn not_allowed() -> Self {
        Self::new(StatusCode::FORBIDDEN, "not_allowed", "you may not do that")
    }

    /// Too much at once; may be tried again after so many seconds.
    pub(crate) fn too_many(seconds: u64) -> Self {
        let detail = "too many requests at once; wait before sending more";
        Self {
            retry_after: Some(seconds),
            ..Self::new(StatusCode::TOO_MANY_REQUESTS, "rate_limited", detail)
        }
    }

    /// The server has no room for this now.
    pub(crate) fn overloaded(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "overloaded", detail)
    }

    /// What is said of it beside the detail, for programs.
    pub(crate) fn with(mut self, details: Option<Value>) -> Self {
        self.details = details.map(Box::new);
        self
    }

    /// As the socket says it: one of several decisions.
    pub(crate) fn as_error(&self) -> WireError {
        let (code, message) = (self.code.to_owned(), self.detail.clone());
        WireError { code, message, details: self.details.as_deref().cloned() }
    }

    /// Our own fault; the log has the rest.
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
        // Text and numbers: nothing that cannot be written.
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

/// The codes are those of the socket.
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

/// The token ended while its holder was waiting for an answer.
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
