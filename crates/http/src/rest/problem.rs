//! Errors over HTTP: RFC 9457 problem documents. No other module turns an error into a response.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::Value;

use copydesk_api::{ApiError, ErrorCode, ErrorDetails, OtherServer};
use copydesk_connections::body_guard::BodyEnd;
use copydesk_protocol::rest::ProblemDocument;
use copydesk_protocol::server::WireError;
use copydesk_protocol_conversion as wire;

/// Challenge to a program without a token (RFC 6750 §3).
const CHALLENGE: HeaderValue = HeaderValue::from_static("Bearer realm=\"copydesk\"");
/// Challenge to a program with an invalid token.
const CHALLENGE_AGAIN: HeaderValue =
    HeaderValue::from_static("Bearer realm=\"copydesk\", error=\"invalid_token\"");

/// Seconds after which a person with too much in memory may try again.
const BUSY_S: u64 = 1;

/// Message about a body that is longer than the route takes.
pub(crate) const TOO_LARGE: &str = "the body is longer than this route takes";

/// Error as a client sees it.
#[derive(Clone, Debug)]
pub struct Problem {
    status: StatusCode,
    code: &'static str,
    detail: Box<str>,
    reason_code: Option<Box<str>>,
    details: Option<Box<Value>>,
    challenge: Option<Box<HeaderValue>>,
    /// Seconds after which the request may be tried again.
    retry_after: Option<u64>,
    /// Server that has the document.
    other_server: Option<Box<OtherServer>>,
}

/// Result of a route.
pub type RestResult<T> = Result<T, Problem>;

impl Problem {
    /// Returns a problem. `code` is stable, for programs; `detail` is for people.
    pub fn new(status: StatusCode, code: &'static str, detail: impl Into<String>) -> Self {
        let (reason_code, details, challenge, retry_after) = (None, None, None, None);
        let (detail, other_server) = (detail.into().into(), None);
        Self { status, code, detail, reason_code, details, challenge, retry_after, other_server }
    }

    /// Returns the HTTP status.
    pub(crate) fn status(&self) -> StatusCode {
        self.status
    }

    /// Returns the message for people.
    pub(crate) fn detail(&self) -> &str {
        &self.detail
    }

    /// Returns the server that has the document, if that is the problem.
    pub(crate) fn other_server(&self) -> Option<&OtherServer> {
        self.other_server.as_deref()
    }

    /// Returns the problem of a request without a token.
    pub(crate) fn token_needed() -> Self {
        let detail = "a token is needed, as `Authorization: Bearer …` or `x-api-key: …`";
        Self {
            challenge: Some(Box::new(CHALLENGE)),
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
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", TOO_LARGE)
    }

    /// Returns the problem of a body that was not read to its end, because the sender's token ended
    /// or nothing more came.
    pub(crate) fn unread(end: BodyEnd) -> Self {
        match end {
            BodyEnd::Access(end) => end.into(),
            BodyEnd::Stalled => {
                let detail = "timed out while receiving the body";
                Self::new(StatusCode::REQUEST_TIMEOUT, "request_timeout", detail)
            }
        }
    }

    /// Returns the problem of a missing thing, or of one that is hidden from the caller.
    pub(crate) fn not_found(what: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", format!("there is no such {what}"))
    }

    /// Returns the problem of too many requests at once; `seconds` later the caller may try again.
    pub(crate) fn too_many(seconds: u64) -> Self {
        let detail = "too many requests at once; wait before sending more";
        Self {
            retry_after: Some(seconds),
            ..Self::new(StatusCode::TOO_MANY_REQUESTS, "rate_limited", detail)
        }
    }

    /// Returns the problem of a person with too many connections, or bytes in memory.
    pub(crate) fn busy() -> Self {
        Self::too_many(BUSY_S)
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
    pub fn as_error(&self) -> WireError {
        let (code, message) = (self.code.to_owned(), self.detail.to_string());
        let reason_code = self.reason_code.as_deref().map(str::to_owned);
        WireError { code, message, reason_code, details: self.details.as_deref().cloned() }
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
            detail: self.detail.into(),
            reason_code: self.reason_code.map(Into::into),
            details: self.details.map(|details| *details),
        };
        let kind = HeaderValue::from_static("application/problem+json");
        // The value has only text and numbers, so it can always be written.
        let body = serde_json::to_string(&body).unwrap_or_default();
        let mut response = (self.status, [(header::CONTENT_TYPE, kind)], body).into_response();
        if let Some(server) = self.other_server {
            response.extensions_mut().insert(*server);
        }
        let headers = response.headers_mut();
        if let Some(challenge) = self.challenge {
            headers.insert(header::WWW_AUTHENTICATE, *challenge);
        }
        if let Some(seconds) = self.retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

/// Conversion of the errors of operations, and of everything that becomes one.
impl<E: Into<ApiError>> From<E> for Problem {
    fn from(error: E) -> Self {
        let ApiError { code, message, details } = error.into();
        let name = match code {
            ErrorCode::Invalid | ErrorCode::Unprocessable => "invalid_request",
            code => code.as_str(),
        };
        let reason_code = details.as_deref().and_then(wire::reason_code).map(Into::into);
        let problem = Self { reason_code, ..Self::new(status(code), name, message) };
        match details.as_deref() {
            Some(details @ (ErrorDetails::Decision(..) | ErrorDetails::RuleEnded(_))) => {
                problem.with(wire::error_details(details))
            }
            Some(ErrorDetails::Missing(what)) => Self::not_found(what),
            Some(ErrorDetails::OtherServer(server)) => {
                Self { other_server: Some(Box::new(server.clone())), ..problem }
            }
            _ if code == ErrorCode::Unauthorized => {
                Self { challenge: Some(Box::new(CHALLENGE_AGAIN)), ..problem }
            }
            _ => problem,
        }
    }
}

fn status(code: ErrorCode) -> StatusCode {
    match code {
        ErrorCode::Invalid => StatusCode::BAD_REQUEST,
        ErrorCode::Unauthorized => StatusCode::UNAUTHORIZED,
        ErrorCode::ModelNotAllowed | ErrorCode::NotAllowed => StatusCode::FORBIDDEN,
        ErrorCode::NotFound => StatusCode::NOT_FOUND,
        ErrorCode::AlreadyExists
        | ErrorCode::AlreadyResolved
        | ErrorCode::Busy
        | ErrorCode::Conflicted
        | ErrorCode::Expired
        | ErrorCode::Resync
        | ErrorCode::StalePreview
        | ErrorCode::StaleSuggestion
        | ErrorCode::Frozen
        | ErrorCode::TooManyTokens
        | ErrorCode::TooManyWebhooks => StatusCode::CONFLICT,
        ErrorCode::InvalidDecision | ErrorCode::Unprocessable | ErrorCode::Unsupported => {
            StatusCode::UNPROCESSABLE_ENTITY
        }
        ErrorCode::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        ErrorCode::UnsupportedMediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        ErrorCode::RateLimited | ErrorCode::TooManyRequests => StatusCode::TOO_MANY_REQUESTS,
        ErrorCode::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        ErrorCode::OtherServer | ErrorCode::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
    }
}
