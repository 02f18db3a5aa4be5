//! Error of a room.

use std::sync::Arc;

use copydesk_approvals::{ApprovalRequest, DecisionError, RuleEnd};
use copydesk_comments::CommentError;
use copydesk_cpu_pool::JobLost;
use copydesk_document::ChangeError;
use copydesk_ids::Version;
use copydesk_placement::{ClaimError, NotHere};
use copydesk_store::StoreError;

/// Error of a room that refuses a command.
#[derive(Debug, thiserror::Error)]
pub enum RoomError {
    /// Unknown or deleted document.
    #[error("there is no such document")]
    NoDocument,
    /// Unknown request in this document.
    #[error("there is no such request")]
    NoRequest,
    /// Unknown rule in this document.
    #[error("there is no such rule")]
    NoRule,
    /// Rule that is no longer in force.
    #[error("this rule {}", ended(.0))]
    RuleEnded(RuleEnd),
    /// Refusal of a command about comments.
    #[error(transparent)]
    Comment(#[from] CommentError),
    /// Missing permission of the person.
    #[error("you may not do that")]
    NotAllowed,
    /// Editor instance (`clientID`) that belongs to another person.
    #[error("this clientID belongs to somebody else")]
    ForeignClient,
    /// Version of the client that cannot be brought up to date; the client must load the document
    /// again.
    #[error("load the document again")]
    Resync,
    /// Updates so far behind that moving them to the newest version would cost the server too much.
    /// Nothing was changed. The client catches up and moves its updates itself.
    #[error(
        "too much was written since the version of these updates; load the document again, rebase them, and resend"
    )]
    TooCostly,
    /// Panic of a job on the CPU pool; nothing was changed.
    #[error(transparent)]
    Lost(#[from] JobLost),
    /// Version that is ahead of the document.
    #[error("version {asked} is ahead of the document, which is at {newest}")]
    Ahead {
        /// Version that the client named.
        asked: Version,
        /// Newest version of the document.
        newest: Version,
    },
    /// Update that is not a valid change of the document.
    #[error("update {index} is not a valid change: {source}")]
    BadUpdate {
        /// Index of the update in its push, from 0.
        index: usize,
        /// Reason why the update is invalid.
        source: ChangeError,
    },
    /// Refusal of a decision.
    #[error(transparent)]
    Decision(#[from] DecisionError),
    /// Suggestion over an older one than the newest; the newest one, if it is known.
    #[error("your suggestion was changed or decided meanwhile; look at it again")]
    StaleSuggestion(Option<Arc<ApprovalRequest>>),
    /// Suggestion that changes frozen words.
    #[error("these words are frozen; leave them as they are")]
    Frozen {
        /// Version that the ranges are of.
        version: Version,
        /// Frozen ranges that it touches.
        ranges: Vec<(usize, usize)>,
    },
    /// Request beyond the number of requests that may be open.
    #[error("{limit} requests are open here already; decide some first")]
    TooManyRequests {
        /// Limit of open requests that was reached.
        limit: usize,
    },
    /// Command that makes no sense in the present state; the text says why.
    #[error("{0}")]
    Invalid(String),
    /// Input of a person that the tool does not accept; the text says why.
    #[error("{0}")]
    Input(String),
    /// Failure of the store; nothing was changed.
    #[error("{}", .0.in_plain_words())]
    Store(#[source] Arc<StoreError>),
    /// Document on which this server may not work now; nothing was changed.
    #[error(transparent)]
    NotHere(#[from] NotHere),
    /// Command to a room that is closing.
    #[error("the server is stopping")]
    Closed,
}

/// Result of an operation in a room: a value or a [`RoomError`].
pub type RoomResult<T> = Result<T, RoomError>;

/// Result of a command about a request: the request as it is then, or a [`RoomError`].
pub type RequestResult = RoomResult<Arc<ApprovalRequest>>;

impl From<StoreError> for RoomError {
    fn from(error: StoreError) -> Self {
        Self::Store(Arc::new(error))
    }
}

impl From<ClaimError> for RoomError {
    fn from(error: ClaimError) -> Self {
        match error {
            ClaimError::NotHere(reason) => Self::NotHere(reason),
            ClaimError::NoDocument => Self::NoDocument,
            ClaimError::Store(error) => error.into(),
        }
    }
}

impl RoomError {
    /// Maps the error of a batch that was not stored to the error of its commands.
    pub(super) fn not_kept(error: Arc<StoreError>) -> Self {
        match *error {
            // Someone else wrote to the document; once the client has that update, it can try
            // again.
            StoreError::Conflict { .. } => Self::Resync,
            _ => Self::Store(error),
        }
    }
}

fn ended(how: &RuleEnd) -> String {
    match &how.by {
        Some(by) => format!("was already revoked, by {}", by.name),
        None => "ended with its session".to_owned(),
    }
}
