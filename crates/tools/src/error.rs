//! Reasons why a call was not executed, in words for the model.

use copydesk_ids::DocumentId;
use copydesk_rooms::RoomError;
use copydesk_workspace::WorkspaceError;

/// Reason why a call was not executed, in words for the model.
#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    /// No tool has this name.
    #[error("Unknown tool: {name}. Available tools: {available}")]
    Unknown {
        /// Name that the model used.
        name: String,
        /// Names of the available tools.
        available: String,
    },
    /// The input does not fit the tool's schema.
    #[error("Invalid input for {tool}: {reason}. Expected: {expected}")]
    Input {
        /// Name of the tool.
        tool: &'static str,
        /// Reason of the failure.
        reason: String,
        /// Fields that the schema allows.
        expected: String,
    },
    /// A hook or a rule denied the call.
    #[error("{0}")]
    Denied(String),
    /// There is no document to change.
    #[error("There is no document in this conversation; answer in words instead")]
    NoDocument,
    /// The person may not open the document that the call names, or there is no such document.
    #[error("There is no document {0} that the person may open")]
    NoSuchDocument(DocumentId),
    /// There is no workspace to work in.
    #[error("There is no workspace in this conversation")]
    NoWorkspace,
    /// The call was executed and failed; this is its result.
    #[error("{0}")]
    Told(String),
    /// The call could not be executed (wording of the tool approval protocol).
    #[error("Error: {0}")]
    Failed(String),
    /// The model wants to change another document that it has not read in this run.
    #[error("Read that document first with read_document; nothing was proposed")]
    Unread,
    /// The text already reads like the proposal.
    #[error("Nothing to change: the document already reads like this")]
    Unchanged,
    /// The words that the call would change were changed meanwhile.
    #[error("{0}")]
    Conflicted(String),
    /// Nothing may be changed before people have approved a plan.
    #[error(
        "Plan mode: nothing may be changed before people have approved a plan, and {0} was not executed. Read what you need, \
         then call ExitPlanMode with the complete plan"
    )]
    NoPlan(&'static str),
    /// A plan is already approved.
    #[error("The plan is approved already; carry it out")]
    PlanApproved,
    /// The version that the model had read is too old to be compared with the present one.
    #[error(
        "The document changed too much since you read it; nothing was proposed. Try again with the text as it reads now"
    )]
    Outdated,
    /// The room refused.
    #[error("The change could not be proposed: {0}")]
    Room(#[source] RoomError),
    /// The comparison failed.
    #[error("The change could not be computed: {0}")]
    Internal(String),
}

/// Result of a step of a [`ToolCall`](super::ToolCall).
pub type ToolResult<T> = Result<T, ToolError>;

impl From<WorkspaceError> for ToolError {
    fn from(error: WorkspaceError) -> Self {
        Self::Failed(error.to_string())
    }
}

impl From<RoomError> for ToolError {
    fn from(error: RoomError) -> Self {
        match error {
            RoomError::Resync | RoomError::TooCostly => Self::Outdated,
            other => Self::Room(other),
        }
    }
}
