//! The agent: calls the model, passes its tool calls through the pipeline, publishes events, and
//! keeps the conversation.
//!
//! [`AgentService`] is the way in. A run is a pure state machine ([`run::state_machine`]) driven by
//! [`run::executor`]. What is said is kept as a [`conversation::transcript`] before anything
//! depends on it, so that a run goes on where it stood after a crash.

mod call_maker;
pub mod conversation;
pub mod external_calls;
mod mode_permission;
mod models;
pub mod requests;
mod resume;
pub mod run;
mod run_queues;
mod service;
mod spending;
#[cfg(test)]
mod tests;
mod worker;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use copydesk_ids::permissions::Principal;
use copydesk_ids::{DocumentId, RunId, SessionId, ThreadId};
use copydesk_rooms::RoomError;
use copydesk_rooms::settings::model_access::ModelAccess;
use copydesk_store::StoreError;

pub use call_maker::{CallMaker, MadeCall, RunCall};
pub use conversation::fork::ConversationFork;
pub use conversation::history::HistoryPage;
pub use copydesk_rooms::settings::PermissionMode;
pub use copydesk_store::{RunEndKind, RunState};
pub use copydesk_tools::ReadToolPolicy;
pub use external_calls::call::{CallEvent, CallRequest, CallResult, ExternalCall};
pub use external_calls::call_source::CallSource;
pub use external_calls::waiters::CallHandle;
#[cfg(any(test, feature = "rehearsal"))]
pub use external_calls::waiters::staged_call::StagedCall;
pub use mode_permission::{approval_mode, needed_action};
pub use models::{ChosenModel, ModelCatalog};
pub use requests::reopen::ReopenOutcome;
pub use run::run_record::{Run, is_part_of_run};
pub use run::state_machine::RunLimits;
pub use run::status::RunStatus;
pub use service::AgentService;
pub use spending::{CallPayer, MeteredCall, ReachedLimit, dollars};

/// Question of a person to the agent ([`AgentService::ask`]), or a call of an outside caller.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct AgentQuestion {
    /// Session that asks; the caller has checked that it is the person's own.
    pub session: SessionId,
    /// Name of the run, unique within the session.
    pub run: RunId,
    /// Person who asks.
    pub principal: Principal,
    /// Text that the person typed.
    pub prompt: String,
    /// Shared document to work on.
    pub document: Option<DocumentId>,
    /// New text of the session's private document, if there is no `document`.
    pub content: Option<String>,
    /// Selection of the person.
    pub selection: Option<SelectedRange>,
    /// Earlier messages that the server does not have: role and text, oldest first.
    pub history: Vec<(String, String)>,
    /// Extra instructions for the model.
    pub instructions: Option<String>,
    /// Choice to continue the conversation or to begin a new one.
    pub conversation: ConversationMode,
    /// Model to use; the default if missing.
    pub model: Option<String>,
    /// Event that asked; determines the kind of answer.
    pub kind: AskKind,
    /// Treatment of tools that only read.
    pub read_tools: ReadToolPolicy,
    /// Way in which the run's changes are approved.
    pub permission_mode: PermissionMode,
}

impl AgentQuestion {
    /// Returns a question without a document, under a new name, that continues the conversation.
    /// People are asked about changes, and not about tools that only read.
    pub fn new(session: SessionId, principal: Principal, prompt: String, kind: AskKind) -> Self {
        Self {
            session,
            run: RunId::generate(),
            principal,
            prompt,
            document: None,
            content: None,
            selection: None,
            history: Vec::new(),
            instructions: None,
            conversation: ConversationMode::Continue,
            model: None,
            kind,
            read_tools: ReadToolPolicy::AtOnce,
            permission_mode: PermissionMode::Ask,
        }
    }
}

/// Selected range of the document in UTF-16 units, half-open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SelectedRange {
    /// First unit.
    pub start: usize,
    /// One past the last unit.
    pub end: usize,
    /// Words as the person saw them, to find them again if people typed meanwhile.
    pub text: Option<String>,
}

impl SelectedRange {
    /// Returns `true` if nothing is selected. Such a selection may be lost without harm.
    fn is_caret(&self) -> bool {
        self.start == self.end
    }
}

/// Choice to continue a conversation or to begin a new one (`continue` on the wire).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ConversationMode {
    /// Continue the conversation.
    Continue,
    /// Forget the conversation so far.
    Fresh,
}

/// Event that asked, which determines the kind of answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum AskKind {
    /// `askClaudeCode`: a `result` and a `claudeResponse`.
    Ask,
    /// `run`: a `result`.
    Run,
    /// Comment that mentions the AI: a `result`, and a comment in this thread.
    Comment(ThreadId),
    /// Tool call by an outside program: a `result`, and the outcome for the waiting caller
    /// ([`AgentService::call`]).
    Call(Box<ExternalCall>),
    /// Call that one of several servers makes for a run of another, in the form of
    /// `copydesk-cluster`. It is a part of that run, and no run for the agent.
    Forwarded(Value),
}

impl AgentQuestion {
    /// Returns the call of an outside caller, if the request is one.
    fn outside(&self) -> Option<&ExternalCall> {
        if let AskKind::Call(outside) = &self.kind { Some(outside) } else { None }
    }
}

/// Permission for owners to run with [`PermissionMode::Bypass`] (`--allow-bypass`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BypassPolicy {
    /// Prohibition for everybody.
    Forbidden,
    /// Permission for owners.
    Allowed,
}

/// Filter for the runs to stop; all given fields must match. The caller has checked that the person
/// may stop them.
#[derive(Clone, Debug, Default)]
pub struct StopFilter {
    /// Session of the runs.
    pub session: Option<SessionId>,
    /// Name of the run.
    pub run: Option<RunId>,
}

/// Reason why a question was refused. Nothing was started.
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
        "mcpProxy needs the Claude CLI: install it on the server and log in, or name its path with --claude-binary"
    )]
    NoCli,
    /// No model has this name.
    #[error("there is no model {name}; available: {available}")]
    UnknownModel {
        /// Requested name.
        name: String,
        /// Available names.
        available: String,
    },
    /// The document may not be shown to the model.
    #[error("{}", access.refusal())]
    ModelNotAllowed {
        /// Models that may see the document.
        access: ModelAccess,
    },
    /// A rule keeps the file that the document is from being read; the message names it.
    #[error("{0}")]
    ReadingDenied(String),
    /// Empty prompt.
    #[error("the prompt is empty")]
    EmptyPrompt,
    /// Prompt, instructions, history or text are too long.
    #[error("{what} is too long: at most {limit} bytes")]
    TooLong {
        /// Name of the part that is too long.
        what: &'static str,
        /// Limit in bytes.
        limit: usize,
    },
    /// The selection is not a range of the document, or its words are no longer there.
    #[error("the selection does not fit the document; select the words again")]
    Selection,
    /// The session has another run of this name.
    #[error("there was already a run {run} in this session")]
    Duplicate {
        /// Name of the run.
        run: RunId,
    },
    /// Too many runs of the session wait for this document.
    #[error("{limit} runs already wait here; cancel some first")]
    QueueFull {
        /// Limit in runs.
        limit: usize,
    },
    /// Too many runs of the person are under way.
    #[error("{limit} of your runs are in progress; wait for some or cancel them")]
    TooManyRuns {
        /// Limit in runs.
        limit: usize,
    },
    /// A run of this conversation is in progress or waits.
    #[error("a run of this conversation is in progress; wait for it or cancel it")]
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
    /// A value could not be written as JSON, which is a bug of this program.
    #[error("the request could not be written down")]
    Unwritable(#[from] serde_json::Error),
    /// The server is stopping.
    #[error("the server is stopping")]
    Closed,
}

/// Result of an operation of the [`AgentService`].
pub type AskResult<T> = Result<T, AskError>;
