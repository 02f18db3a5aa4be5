//! The agent: calls the model, passes its tool calls through the pipeline, publishes events, and
//! keeps the conversation.
//!
//! [`AgentService`] is the way in. A run is a pure state machine ([`run::state_machine`]) driven by
//! [`run::executor`]. What is said is kept as a [`conversation::transcript`] before anything depends
//! on it, so that a run goes on where it stood after a crash.

pub mod conversation;
pub mod external_calls;
mod mode_permission;
mod models;
pub mod requests;
pub mod run;
mod scheduler;
mod service;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use crate::ids::{DocumentId, RunId, SessionId};
use crate::permissions::Principal;
use crate::rooms::RoomError;
use crate::store::StoreError;

pub use crate::rooms::settings::PermissionMode;
pub use crate::tools::SafeTools;
pub use conversation::fork::ConversationFork;
pub use conversation::history::HistoryPage;
pub use external_calls::call::{
    CallEvent, CallRequest, CallResult, CallSource, ClientConnection, DedupKey, ExternalCall,
    KeyIssuer,
};
pub use external_calls::waiters::CallHandle;
#[cfg(test)]
pub use external_calls::waiters::StagedCall;
pub use models::{ChosenModel, ModelCatalog};
pub use requests::reopen::ReopenOutcome;
pub use run::state_machine::RunLimits;
pub use run::status::RunStatus;
pub use service::AgentService;

/// Something a person asks of the agent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct AgentRequest {
    /// The session that asks; the caller has checked that it is the person's own.
    pub session: SessionId,
    /// The name of the run, unique within the session.
    pub run: RunId,
    /// Who asks.
    pub principal: Principal,
    /// What they typed.
    pub prompt: String,
    /// The shared document to work on.
    pub document: Option<DocumentId>,
    /// Without `document`: the text the session's private document is brought to.
    pub content: Option<String>,
    /// What is selected.
    pub selection: Option<SelectedRange>,
    /// Earlier turns the server does not have: role and text, oldest first.
    pub history: Vec<(String, String)>,
    /// Extra instructions for the model.
    pub instructions: Option<String>,
    /// Whether the conversation goes on or begins anew.
    pub conversation: ConversationMode,
    /// The model to use; the default if missing.
    pub model: Option<String>,
    /// The event that asked.
    pub kind: AskKind,
    /// What happens to tools that only read.
    pub safe_tools: SafeTools,
    /// How calls are approved.
    pub permission_mode: PermissionMode,
}

/// A selection: UTF-16 units, half-open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SelectedRange {
    /// First unit.
    pub start: usize,
    /// One past the last.
    pub end: usize,
    /// The words as the person saw them, to find them again if people typed meanwhile.
    pub text: Option<String>,
}

impl SelectedRange {
    /// Whether nothing is selected: then it is no harm if the place is gone.
    fn is_caret(&self) -> bool {
        self.start == self.end
    }
}

/// Whether a conversation goes on (`continue` on the wire).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ConversationMode {
    /// It goes on.
    Continue,
    /// What was said so far is forgotten.
    Fresh,
}

/// Which event asked, and so what is answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum AskKind {
    /// `askClaudeCode`: a `result` and a `claudeResponse`.
    Ask,
    /// `run`: a `result`.
    Run,
    /// Somebody else's agent calls a tool: a `result`, and whoever waits is told ([`AgentService::call`]).
    Call(Box<ExternalCall>),
}

impl AgentRequest {
    /// The call, if it is one that was made outside.
    fn outside(&self) -> Option<&ExternalCall> {
        match &self.kind {
            AskKind::Call(outside) => Some(outside),
            AskKind::Ask | AskKind::Run => None,
        }
    }
}

/// Whether owners may switch approvals off for a run (`--allow-bypass`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BypassPolicy {
    /// Never.
    Forbidden,
    /// Owners may.
    Allowed,
}

/// Which runs to stop; everything that is given must fit. The caller has checked that the person may.
#[derive(Clone, Debug, Default)]
pub struct StopFilter {
    /// Runs of this session.
    pub session: Option<SessionId>,
    /// The run of this name.
    pub run: Option<RunId>,
}

/// Why something was not done. Nothing was started then.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// The person may not do that.
    #[error("you may not do that")]
    NotAllowed,
    /// The server does not allow to skip approvals, or the person is no owner.
    #[error("bypassPermissions needs a server started with --allow-bypass, and an owner")]
    BypassNotAllowed,
    /// There is no Claude CLI on the server.
    #[error(
        "mcpProxy needs the Claude CLI: install it on the server and log in, or say where it is with --claude-binary"
    )]
    NoCli,
    /// No model has this name.
    #[error("there is no model {name}; available: {available}")]
    UnknownModel {
        /// What was asked for.
        name: String,
        /// The names there are.
        available: String,
    },
    /// Nothing was asked.
    #[error("the prompt is empty")]
    EmptyPrompt,
    /// Prompt, instructions, history or text are too long.
    #[error("{what} is too long: at most {limit} bytes")]
    TooLong {
        /// Which part.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
    /// The selection is not a range of the document, or its words are no longer there.
    #[error("the selection does not fit the document; select the words again")]
    Selection,
    /// The session has another run of this name.
    #[error("there was already a run {run} in this session")]
    Duplicate {
        /// The run.
        run: RunId,
    },
    /// Too many runs of the session wait for this document.
    #[error("{limit} runs already wait here; cancel some first")]
    QueueFull {
        /// The limit.
        limit: usize,
    },
    /// Too many runs of the person are under way.
    #[error("{limit} runs of yours are under way; wait for some or cancel them")]
    TooManyRuns {
        /// The limit.
        limit: usize,
    },
    /// A run of this conversation is at work or waits.
    #[error("a run of this conversation is at work; wait for it or cancel it")]
    Busy,
    /// There is no such run.
    #[error("there is no such run")]
    NoRun,
    /// The document cannot be reached.
    #[error(transparent)]
    Room(#[from] RoomError),
    /// The store failed; nothing was started.
    #[error("the request could not be stored; nothing was started")]
    Store(#[from] StoreError),
    /// A value could not be written as JSON: a fault of this program.
    #[error("the request could not be written down")]
    Unwritable(#[from] serde_json::Error),
    /// The server is stopping.
    #[error("the server is stopping")]
    Closed,
}
