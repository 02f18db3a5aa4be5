//! Errors over socket.io.

use serde_json::{Value, json};

use copydesk_api::{ApiError, ErrorCode, ErrorDetails, OtherServer};
use copydesk_connections::MemoryExhausted;
use copydesk_placement::NotHere;
use copydesk_protocol::server::WireError;
use copydesk_protocol_conversion as wire;
use copydesk_rooms::RoomError;

/// Maximum characters of an error message about a payload.
const LONGEST_COMPLAINT: usize = 400;

/// Reason that an event was refused.
#[derive(Clone, Debug)]
pub(crate) struct SocketError(WireError, Option<Box<OtherServer>>);

/// Result of an event.
pub(crate) type SocketResult<T> = Result<T, SocketError>;

impl SocketError {
    pub(crate) fn new(code: &str, message: impl Into<String>) -> Self {
        let (code, message) = (code.to_owned(), message.into());
        Self(WireError { code, message, reason_code: None, details: None }, None)
    }

    /// Returns the error of an event about a document of another server.
    pub(crate) fn of_other_server(server: OtherServer) -> Self {
        RoomError::from(NotHere::OtherServer(server)).into()
    }

    /// Returns the server that has the document, if that is why the event was refused.
    pub(crate) fn other_server(&self) -> Option<&OtherServer> {
        self.1.as_deref()
    }

    pub(crate) fn with(mut self, details: Value) -> Self {
        self.0.details = Some(details);
        self
    }

    /// Returns the error of a payload that is not of the event's shape.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        let message: String = message.into();
        // serde quotes what it refuses, however long.
        Self::new("invalid_payload", message.chars().take(LONGEST_COMPLAINT).collect::<String>())
    }

    pub(crate) fn rate_limited() -> Self {
        Self::new("rate_limited", "too many events at once; wait for answers before sending more")
    }

    /// Returns the error of a client with so much waiting to be sent that a large answer would not
    /// fit.
    pub(crate) fn unread() -> Self {
        Self::new("rate_limited", "too much waits to be read; read it before asking for more")
    }

    /// Returns the error of an event for whose payload there is no memory left.
    pub(crate) fn no_memory(full: MemoryExhausted) -> Self {
        Self::new("rate_limited", format!("{full}; wait for answers before sending more"))
    }

    /// Returns the error of a payload that is longer than `limit` bytes.
    pub(crate) fn too_large(limit: usize) -> Self {
        let message = format!("the payload of this event has at most {limit} bytes");
        Self::invalid(message).with(json!({ "limit": limit }))
    }

    pub(crate) fn internal() -> Self {
        Self::new("internal", "the server could not answer; nothing was changed")
    }

    pub(crate) fn error(&self) -> &WireError {
        &self.0
    }
}

/// Conversion of the errors of operations, and of everything that becomes one.
impl<E: Into<ApiError>> From<E> for SocketError {
    fn from(error: E) -> Self {
        let ApiError { code, message, details } = error.into();
        let node = match details.as_deref() {
            Some(ErrorDetails::OtherServer(node)) => Some(Box::new(node.clone())),
            _ => None,
        };
        let mut error = match code {
            ErrorCode::Invalid | ErrorCode::Unprocessable => Self::invalid(message),
            code => Self::new(code.as_str(), message),
        };
        if let Some(details) = details {
            error.0.reason_code = wire::reason_code(&details);
            error.0.details = wire::error_details(&details);
        }
        error.1 = node;
        error
    }
}
