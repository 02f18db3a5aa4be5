//! Reasons why a run cannot continue.

use copydesk_rooms::RoomError;

use super::super::end_reason::RunEndReason;
use super::super::state_machine::RunEnd;
use crate::AskError;

#[derive(Debug, thiserror::Error)]
pub(crate) enum RunFailure {
    #[error(transparent)]
    Ask(#[from] AskError),
    #[error("The selected text is no longer in the document")]
    Selection,
    #[error("The model {0} is no longer available")]
    Model(String),
    #[error("The person who asked may no longer ask here")]
    NotAllowed,
    #[error("There is no such question")]
    Unasked,
}

pub(crate) type RunResult<T> = Result<T, RunFailure>;

impl From<RoomError> for RunFailure {
    fn from(error: RoomError) -> Self {
        Self::Ask(error.into())
    }
}

impl From<serde_json::Error> for RunFailure {
    fn from(error: serde_json::Error) -> Self {
        Self::Ask(AskError::Unwritable(error))
    }
}

impl From<RunFailure> for RunEnd {
    fn from(failure: RunFailure) -> Self {
        let reason = match &failure {
            RunFailure::Unasked => return Self::cancelled(),
            RunFailure::Selection => RunEndReason::InvalidSelection,
            RunFailure::Model(_) => RunEndReason::UnknownModel,
            RunFailure::NotAllowed | RunFailure::Ask(AskError::ReadingDenied(_)) => {
                RunEndReason::NotAllowed
            }
            RunFailure::Ask(AskError::ModelNotAllowed { .. }) => RunEndReason::ModelNotAllowed,
            RunFailure::Ask(AskError::Room(RoomError::NoDocument)) => RunEndReason::NotFound,
            RunFailure::Ask(AskError::Room(_)) => RunEndReason::DocumentUnavailable,
            RunFailure::Ask(AskError::Store(_)) => RunEndReason::StoreFailed,
            RunFailure::Ask(_) => RunEndReason::Internal,
        };
        Self::error(reason, failure.to_string())
    }
}
