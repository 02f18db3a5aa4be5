//! Errors of operations. No other module turns an error of a module below into a code and a message
//! for clients.

use std::sync::Arc;

use copydesk_agent::AskError;
use copydesk_approvals::{ApprovalRequest, DecisionError, RuleEnd};
use copydesk_auth::{AccessEnd, AuthError};
use copydesk_file_sync::FileSyncError;
use copydesk_ids::Version;
use copydesk_macros::names;
use copydesk_placement::{NotHere, OtherServer};
use copydesk_rooms::RoomError;
use copydesk_store::StoreError;
use copydesk_workspace::WorkspaceError;

use super::webhooks::{AddressError, SecretError};

/// Code of an [`ApiError`], for programs.
#[names(snake_case)]
pub enum ErrorCode {
    /// The thing exists already.
    AlreadyExists,
    /// The request was decided or revoked before.
    AlreadyResolved,
    /// Something of the same kind is under way.
    Busy,
    /// The text or the file changed meanwhile.
    Conflicted,
    /// Another server has the document.
    #[name = "elsewhere"]
    OtherServer,
    /// The time for it is over.
    Expired,
    /// The server failed.
    Internal,
    /// The input cannot be read.
    #[name = "invalid_payload"]
    Invalid,
    /// The decision does not fit the request.
    InvalidDecision,
    /// The document may not be shown to the model.
    ModelNotAllowed,
    /// The caller may not do that.
    NotAllowed,
    /// There is no such thing, or it is hidden from the caller.
    NotFound,
    /// The caller does this too often.
    RateLimited,
    /// The caller has to load the document again.
    Resync,
    /// The text that the caller would change is frozen.
    Frozen,
    /// The caller's suggestion was changed or decided meanwhile.
    StaleSuggestion,
    /// The call would now do something else than people were shown.
    StalePreview,
    /// The input is longer than is accepted.
    TooLarge,
    /// Too many requests are open.
    TooManyRequests,
    /// Too many tokens are in force.
    TooManyTokens,
    /// There are too many webhooks.
    TooManyWebhooks,
    /// The caller has no valid token.
    Unauthorized,
    /// The server cannot do that at the moment.
    Unavailable,
    /// The input can be read, but asks for something impossible.
    #[name = "invalid_payload"]
    Unprocessable,
    /// The server has no such feature.
    Unsupported,
    /// The input is of another type than the server reads.
    UnsupportedMediaType,
}

/// Longest message for people, in characters. It may repeat what a client has sent, however long.
const LONGEST_MESSAGE: usize = 1_000;

/// Reason why an operation was refused; nothing was changed.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub struct ApiError {
    /// Code for programs.
    pub code: ErrorCode,
    /// Message for people.
    pub message: String,
    /// Facts for programs.
    pub details: Option<Box<ErrorDetails>>,
}

/// Facts about an [`ApiError`], for programs.
#[derive(Clone, Debug)]
pub enum ErrorDetails {
    /// Refusal of a decision, with the request as it is now if people were shown a stale one.
    Decision(DecisionError, Option<Box<ApprovalRequest>>),
    /// End of the rule.
    RuleEnded(RuleEnd),
    /// End of the caller's own token.
    AccessEnded(AccessEnd),
    /// Kind of the missing thing, where the message names the thing itself.
    Missing(&'static str),
    /// Version that is ahead of the document.
    Ahead {
        /// Version that was named.
        asked: Version,
        /// Newest version of the document.
        newest: Version,
    },
    /// Newest suggestion of the caller.
    Suggestion(Arc<ApprovalRequest>),
    /// Frozen ranges that the change touches.
    Frozen {
        /// Version that the ranges are of.
        version: Version,
        /// First unit and end of each.
        ranges: Vec<(usize, usize)>,
    },
    /// Version that does not exist yet.
    NoVersion,
    /// Index of the update that is no valid change.
    Update(usize),
    /// Limit that was reached.
    Limit(usize),
    /// The server that has the document.
    OtherServer(OtherServer),
}

/// Result of an operation of a [`Caller`](super::Caller).
pub type ApiResult<T> = Result<T, ApiError>;

impl ApiError {
    /// Returns an error without details.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        let mut message = message.into();
        if let Some((end, _)) = message.char_indices().nth(LONGEST_MESSAGE) {
            message.truncate(end);
        }
        Self { code, message, details: None }
    }

    /// Returns the error of an input that cannot be read.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::Invalid, message)
    }

    /// Returns the error of an input that can be read, but asks for something impossible.
    pub fn unprocessable(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::Unprocessable, message)
    }

    /// Returns the error of a missing thing, or of one that is hidden from the caller.
    pub fn not_found(what: &str) -> Self {
        Self::new(ErrorCode::NotFound, format!("there is no such {what}"))
    }

    /// Returns the error of a caller who may not do that.
    pub fn not_allowed() -> Self {
        Self::new(ErrorCode::NotAllowed, "you may not do that")
    }

    /// Returns the error of a failure of the server; the log has the rest.
    pub fn internal() -> Self {
        Self::new(ErrorCode::Internal, "the server could not answer; nothing was changed")
    }

    /// Returns the server that has the document, if that is why this one could do nothing.
    pub fn other_server(&self) -> Option<&OtherServer> {
        match self.details.as_deref() {
            Some(ErrorDetails::OtherServer(server)) => Some(server),
            _ => None,
        }
    }

    /// Adds facts for programs.
    pub(super) fn with(self, details: ErrorDetails) -> Self {
        Self { details: Some(Box::new(details)), ..self }
    }

    /// Returns `true` if a version was named that does not exist yet.
    pub fn is_no_version(&self) -> bool {
        matches!(self.details.as_deref(), Some(ErrorDetails::NoVersion))
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        tracing::error!(%error, "the store failed");
        let message = match error {
            StoreError::OutcomeUnknown { .. } => error.in_plain_words(),
            _ => "the store does not answer; nothing was changed",
        };
        Self::new(ErrorCode::Unavailable, message)
    }
}

impl From<RoomError> for ApiError {
    fn from(error: RoomError) -> Self {
        let message = error.to_string();
        match error {
            RoomError::NoDocument => Self::not_found("document"),
            RoomError::NoRequest => Self::not_found("request"),
            RoomError::NoRule => Self::not_found("rule"),
            RoomError::RuleEnded(ended) => {
                Self::new(ErrorCode::AlreadyResolved, message).with(ErrorDetails::RuleEnded(ended))
            }
            RoomError::NotAllowed | RoomError::ForeignClient => {
                Self::new(ErrorCode::NotAllowed, message)
            }
            RoomError::Resync | RoomError::TooCostly => Self::new(ErrorCode::Resync, message),
            RoomError::Lost(_) => Self::internal(),
            RoomError::Ahead { asked, newest } => {
                Self::new(ErrorCode::Resync, message).with(ErrorDetails::Ahead { asked, newest })
            }
            RoomError::BadUpdate { index, .. } => {
                Self::new(ErrorCode::Invalid, message).with(ErrorDetails::Update(index))
            }
            RoomError::Decision(error) => error.into(),
            RoomError::Comment(error) => error.into(),
            RoomError::StaleSuggestion(newest) => {
                let error = Self::new(ErrorCode::StaleSuggestion, message);
                match newest {
                    Some(newest) => error.with(ErrorDetails::Suggestion(newest)),
                    None => error,
                }
            }
            RoomError::Frozen { version, ranges } => {
                Self::new(ErrorCode::Frozen, message).with(ErrorDetails::Frozen { version, ranges })
            }
            RoomError::TooManyRequests { limit } => {
                Self::new(ErrorCode::TooManyRequests, message).with(ErrorDetails::Limit(limit))
            }
            RoomError::Invalid(message) => Self::invalid(message),
            RoomError::Input(message) => Self::new(ErrorCode::InvalidDecision, message),
            RoomError::Store(error) => {
                tracing::error!(%error, "the store failed");
                Self::new(ErrorCode::Unavailable, message)
            }
            RoomError::NotHere(NotHere::OtherServer(server)) => {
                let details = ErrorDetails::OtherServer(server);
                Self::new(ErrorCode::OtherServer, message).with(details)
            }
            RoomError::NotHere(NotHere::NoWorkspaceServer) | RoomError::Closed => {
                Self::new(ErrorCode::Unavailable, message)
            }
        }
    }
}

impl From<DecisionError> for ApiError {
    fn from(error: DecisionError) -> Self {
        let code = match &error {
            DecisionError::NotFound { .. } => ErrorCode::NotFound,
            DecisionError::NotAllowed { .. } => ErrorCode::NotAllowed,
            DecisionError::InvalidDecision { .. } => ErrorCode::InvalidDecision,
            DecisionError::Expired { .. } => ErrorCode::Expired,
            DecisionError::AlreadyResolved { .. } => ErrorCode::AlreadyResolved,
            DecisionError::StalePreview { .. } => ErrorCode::StalePreview,
            DecisionError::Conflicted { .. }
            | DecisionError::Touched { .. }
            | DecisionError::FileChanged { .. } => ErrorCode::Conflicted,
        };
        Self::new(code, error.to_string()).with(ErrorDetails::Decision(error, None))
    }
}

impl From<AuthError> for ApiError {
    fn from(error: AuthError) -> Self {
        let message = error.to_string();
        match error {
            AuthError::Store(error) => error.into(),
            AuthError::Unknown => Self::new(ErrorCode::Unauthorized, message),
            AuthError::Expired { at_ms } => AccessEnd::Expired { at_ms }.into(),
            AuthError::Revoked { at_ms } => AccessEnd::Revoked { at_ms }.into(),
            AuthError::Changed { at_ms } => AccessEnd::Changed { at_ms }.into(),
            AuthError::NoDocument(_) => {
                Self::new(ErrorCode::NotFound, message).with(ErrorDetails::Missing("document"))
            }
            AuthError::NoToken(_) => {
                Self::new(ErrorCode::NotFound, message).with(ErrorDetails::Missing("token"))
            }
            AuthError::NoLogin(_) => {
                Self::new(ErrorCode::NotFound, message).with(ErrorDetails::Missing("login"))
            }
            AuthError::NoRole => {
                Self::new(ErrorCode::NotFound, message).with(ErrorDetails::Missing("role"))
            }
            AuthError::TiedElsewhere(_) => Self::new(ErrorCode::AlreadyExists, message),
            AuthError::BoundOwner
            | AuthError::Nameless
            | AuthError::Expiry(_)
            | AuthError::NotForOneDocument
            | AuthError::GuestToken
            | AuthError::NoGrantee(_) => Self::unprocessable(message),
            AuthError::TooManyGrantees { limit } => {
                Self::unprocessable(message).with(ErrorDetails::Limit(limit))
            }
            AuthError::OwnerStays | AuthError::NotAdmitted | AuthError::NotSignedIn => {
                Self::new(ErrorCode::NotAllowed, message)
            }
            AuthError::TooMany { limit } => {
                Self::new(ErrorCode::TooManyTokens, message).with(ErrorDetails::Limit(limit))
            }
            AuthError::Taken(_)
            | AuthError::Unusable
            | AuthError::Randomness(_)
            | AuthError::File { .. } => {
                tracing::error!(error = %message, "cannot generate a token");
                Self::internal()
            }
        }
    }
}

/// Conversion for a caller whose own token ended.
impl From<AccessEnd> for ApiError {
    fn from(ended: AccessEnd) -> Self {
        let message = AuthError::from(ended).to_string();
        Self::new(ErrorCode::Unauthorized, message).with(ErrorDetails::AccessEnded(ended))
    }
}

impl From<AskError> for ApiError {
    fn from(error: AskError) -> Self {
        let message = error.to_string();
        let code = match error {
            AskError::NotAllowed | AskError::BypassNotAllowed | AskError::ReadingDenied(_) => {
                ErrorCode::NotAllowed
            }
            AskError::ModelNotAllowed { .. } => ErrorCode::ModelNotAllowed,
            AskError::NoCli => ErrorCode::Unsupported,
            AskError::Busy => ErrorCode::Busy,
            AskError::UnknownModel { .. }
            | AskError::EmptyPrompt
            | AskError::TooLong { .. }
            | AskError::Selection => ErrorCode::Unprocessable,
            AskError::Duplicate { .. } => ErrorCode::AlreadyExists,
            AskError::QueueFull { .. } | AskError::TooManyRuns { .. } => ErrorCode::TooManyRequests,
            AskError::NoRun => ErrorCode::NotFound,
            AskError::Room(error) => return error.into(),
            AskError::Store(error) => return error.into(),
            AskError::Unwritable(error) => {
                tracing::error!(%error, "cannot serialise a request");
                return Self::internal();
            }
            AskError::Closed => ErrorCode::Unavailable,
        };
        Self::new(code, message)
    }
}

impl From<FileSyncError> for ApiError {
    fn from(error: FileSyncError) -> Self {
        let message = error.to_string();
        let code = match error {
            FileSyncError::LongPattern => ErrorCode::Invalid,
            FileSyncError::Workspace(error) => match error {
                error if error.is_about_the_name() => ErrorCode::Unprocessable,
                WorkspaceError::NotFound { .. } => ErrorCode::NotFound,
                WorkspaceError::Guarded { .. } => ErrorCode::NotAllowed,
                WorkspaceError::Outside { .. } | WorkspaceError::Pattern { .. } => {
                    ErrorCode::Unprocessable
                }
                WorkspaceError::Link { .. }
                | WorkspaceError::NotAFile { .. }
                | WorkspaceError::NotAFolder { .. }
                | WorkspaceError::Linked { .. }
                | WorkspaceError::TooLarge { .. }
                | WorkspaceError::NotText { .. } => ErrorCode::Unsupported,
                WorkspaceError::Changed { .. }
                | WorkspaceError::Busy { .. }
                | WorkspaceError::Kept { .. }
                | WorkspaceError::Unreadable { .. } => ErrorCode::Unavailable,
            },
            FileSyncError::Room(error) => return error.into(),
            FileSyncError::Store(error) => return error.into(),
            FileSyncError::Compared => return Self::internal(),
        };
        Self::new(code, message)
    }
}

impl From<AddressError> for ApiError {
    fn from(error: AddressError) -> Self {
        Self::unprocessable(error.to_string())
    }
}

impl From<SecretError> for ApiError {
    fn from(error: SecretError) -> Self {
        tracing::error!(%error, "cannot generate a secret");
        Self::internal()
    }
}
