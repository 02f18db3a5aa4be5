//! Errors over socket.io. No other module turns a room's error into a code and message for a
//! client.

use serde_json::{Value, json};

use crate::agent::AskError;
use crate::approvals::DecisionError;
use crate::auth::{AccessEnd, AuthError};
use crate::connections::NoRoom;
use crate::rooms::RoomError;
use crate::store::StoreError;
use crate::transport::protocol::convert;
use crate::transport::protocol::server::{SessionEnded, WireError};

/// Maximum characters of an error message about a payload.
const LONGEST_COMPLAINT: usize = 400;

/// Reason that an event was refused.
#[derive(Clone, Debug)]
pub(crate) struct SocketError(WireError);

impl SocketError {
    pub(crate) fn new(code: &str, message: impl Into<String>) -> Self {
        Self(WireError { code: code.to_owned(), message: message.into(), details: None })
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

    pub(crate) fn not_found(what: &str) -> Self {
        Self::new("not_found", format!("there is no such {what}"))
    }

    pub(crate) fn not_allowed() -> Self {
        Self::new("not_allowed", "you may not do that")
    }

    pub(crate) fn rate_limited() -> Self {
        Self::new("rate_limited", "too many events at once; wait for answers before sending more")
    }

    /// Returns the error of a client with so much waiting to be sent that a large answer would not
    /// fit.
    pub(crate) fn unread() -> Self {
        Self::new("rate_limited", "too much waits to be read; read it before asking for more")
    }

    /// Returns the error of a payload that is longer than `limit` bytes.
    pub(crate) fn too_large(limit: usize) -> Self {
        let message = format!("the payload of an event that only reads has at most {limit} bytes");
        Self::invalid(message).with(json!({ "limit": limit }))
    }

    pub(crate) fn internal() -> Self {
        Self::new("internal", "the server could not answer; nothing was changed")
    }

    pub(crate) fn error(&self) -> &WireError {
        &self.0
    }
}

impl From<RoomError> for SocketError {
    fn from(error: RoomError) -> Self {
        let message = error.to_string();
        match error {
            RoomError::NoDocument => Self::not_found("document"),
            RoomError::NoRequest => Self::not_found("request"),
            RoomError::NoRule => Self::not_found("rule"),
            RoomError::RuleEnded(ended) => {
                Self::new("already_resolved", message).with(convert::ended(&ended))
            }
            RoomError::NotAllowed | RoomError::ForeignClient => Self::new("not_allowed", message),
            RoomError::Resync | RoomError::TooCostly => Self::new("resync", message),
            RoomError::Lost(_) => Self::internal(),
            RoomError::Ahead { asked, newest } => {
                Self::new("resync", message).with(json!({"asked": asked.0, "newest": newest.0}))
            }
            RoomError::BadUpdate { index, .. } => {
                Self::new("invalid_payload", message).with(json!({ "update": index }))
            }
            RoomError::Decision(error) => error.into(),
            RoomError::TooManyRequests { limit } => {
                Self::new("too_many_requests", message).with(json!({ "limit": limit }))
            }
            RoomError::Invalid(message) => Self::invalid(message),
            RoomError::Input(message) => Self::new("invalid_decision", message),
            RoomError::Store(error) => {
                tracing::error!(%error, "the store failed");
                Self::new("unavailable", message)
            }
            RoomError::Closed => Self::new("unavailable", message),
        }
    }
}

impl From<DecisionError> for SocketError {
    fn from(error: DecisionError) -> Self {
        convert::decision_error(&error).into()
    }
}

impl From<WireError> for SocketError {
    fn from(error: WireError) -> Self {
        Self(error)
    }
}

impl From<AuthError> for SocketError {
    fn from(error: AuthError) -> Self {
        let message = error.to_string();
        match error {
            AuthError::Store(error) => error.into(),
            AuthError::Unknown => Self::new("unauthorized", message),
            AuthError::Expired { at_ms } => AccessEnd::Expired { at_ms }.into(),
            AuthError::Revoked { at_ms } => AccessEnd::Revoked { at_ms }.into(),
            AuthError::NoDocument(_) | AuthError::NoToken(_) => Self::new("not_found", message),
            AuthError::BoundOwner
            | AuthError::Nameless
            | AuthError::UnknownRole(_)
            | AuthError::Expiry(_) => Self::invalid(message),
            AuthError::OwnerStays => Self::new("not_allowed", message),
            AuthError::TooMany { limit } => {
                Self::new("too_many_tokens", message).with(json!({ "limit": limit }))
            }
            AuthError::Taken(_)
            | AuthError::Unusable
            | AuthError::Randomness(_)
            | AuthError::File { .. } => {
                tracing::error!(error = %message, "a token could not be made");
                Self::internal()
            }
        }
    }
}

/// Conversion that tells as much as `sessionEnded` does: the token was the client's own.
impl From<AccessEnd> for SocketError {
    fn from(ended: AccessEnd) -> Self {
        let SessionEnded { code, message, at } = convert::session_ended(ended);
        Self::new("unauthorized", message).with(json!({ "reason": code, "at": at }))
    }
}

impl From<NoRoom> for SocketError {
    fn from(full: NoRoom) -> Self {
        Self::new("rate_limited", format!("{full}; wait for answers before sending more"))
    }
}

impl From<StoreError> for SocketError {
    fn from(error: StoreError) -> Self {
        tracing::error!(%error, "the store failed");
        Self::new("unavailable", "the store does not answer; nothing was changed")
    }
}

impl From<AskError> for SocketError {
    fn from(error: AskError) -> Self {
        let message = error.to_string();
        let code = match error {
            AskError::NotAllowed | AskError::BypassNotAllowed => "not_allowed",
            AskError::NoCli => "unsupported",
            AskError::Busy => "busy",
            AskError::UnknownModel { .. }
            | AskError::EmptyPrompt
            | AskError::TooLong { .. }
            | AskError::Selection => "invalid_payload",
            AskError::Duplicate { .. } => "already_exists",
            AskError::QueueFull { .. } | AskError::TooManyRuns { .. } => "too_many_requests",
            AskError::NoRun => "not_found",
            AskError::Room(error) => return error.into(),
            AskError::Store(error) => return error.into(),
            AskError::Unwritable(error) => {
                tracing::error!(%error, "a request could not be written down");
                return Self::internal();
            }
            AskError::Closed => "unavailable",
        };
        Self::new(code, message)
    }
}
