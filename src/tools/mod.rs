//! Tools that a model may call, one file for each, and the approval step that every call passes.
//!
//! A tool has two halves: [`Tool::prepare`] computes what a call would do, [`Tool::finish`] reports
//! its outcome. The approval step ([`registry`]) stands between them, so that nothing happens
//! before people have decided. Tools for documents *propose*: the room commits what was accepted at
//! the moment of the decision, and `finish` only reports. Tools for the workspace *act*: people are
//! asked in the [workspace inbox](pipeline::inbox_approval), and [`Tool::act`] does once what they
//! approved.

pub mod conversation;
pub mod document;
pub mod document_updates;
pub mod pipeline;
pub mod registry;
pub mod workspace;

mod call;
mod offers;
mod partial_input;
mod registered_tool;
mod schema;
mod text_range;
mod unread_ranges;

use crate::tools::document::read_document;
use crate::tools::pipeline::cross_document;
use crate::tools::workspace::read;
use std::sync::{Arc, Mutex, PoisonError};

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::approvals::{ApprovalRequest, HunkDraft, Preview, RequestResolution};
use crate::document::Text;
use crate::ids::{DocumentId, RequestId, RunId, SessionId};
use crate::permissions::Principal;
use crate::rooms::clock::WallClock;
use crate::rooms::command::{ApprovalMode, CommitPrefix, DocumentSnapshot};
use crate::rooms::{RoomError, RoomHandle, RoomRegistry};
use crate::workspace::{Workspace, WorkspaceError};

pub use call::{DecidedChange, RewrittenRange, ToolCall, ToolOutcome};
pub use offers::ToolOffer;
pub use partial_input::PartialInput;
pub use pipeline::early_preparation::EarlyPreparation;
pub use registry::ToolRegistry;
pub use unread_ranges::UnreadRanges;

/// Tool that a model may call. A new tool needs one file and one line in [`registry`].
pub trait Tool: 'static {
    /// Name by which the model calls it; also the name of the file.
    const NAME: &'static str;
    /// Description for the model: purpose and use of the tool.
    const DESCRIPTION: &'static str;
    /// Situations in which to use it, as one line of the prompt.
    const WHEN: &'static str;
    /// Effect on the world. There is no default.
    const EFFECT: ToolEffect;
    /// Kind of reference to the words that a call removes. Words that the input quotes need not be
    /// read first.
    const TAKES: ReplacedText = ReplacedText::Place;
    /// Field that people can watch while the model writes it; `None` if there is none.
    const WRITES: Option<StreamedField> = None;
    /// Kind of conversation that the tool needs.
    const GROUND: ToolScope = ToolScope::Document;
    /// Input of a call; the schema for the model is generated from it.
    type Input: DeserializeOwned + JsonSchema + Send;

    /// Computes what a call would do. Changes nothing.
    ///
    /// # Errors
    ///
    /// If the call is not possible; the model is told why.
    fn prepare(
        context: ToolContext,
        input: Self::Input,
    ) -> impl Future<Output = Result<PreparedCall, ToolError>> + Send;

    /// Returns `true` if a call with this input only reads, though other calls of the tool change
    /// something.
    fn only_looks(_input: &Value) -> bool {
        false
    }

    /// Returns the range of the document that an input is about, in UTF-16 units; `None` for all of
    /// it.
    fn scope(_context: &ToolContext, _input: &Value) -> Option<(usize, usize)> {
        None
    }

    /// Returns the document that an input names; `None` for the conversation's own.
    fn target(_input: &Value) -> Option<DocumentId> {
        None
    }

    /// Returns the message for the model if the person may not open the document that an input
    /// names, or if there is no such document. `None` selects the usual message, which tells its
    /// id.
    fn missing(_context: &ToolContext, _input: &Value) -> Option<String> {
        None
    }

    /// Returns the workspace file that an input names, if the tool reads or writes one.
    fn file(_input: &Value) -> Option<String> {
        None
    }

    /// Executes an approved call, if the file is still the one that people were shown. Only for
    /// tools that act. Returns the result text.
    fn act(
        _errand: ExecutionContext,
        _input: Self::Input,
    ) -> impl Future<Output = Result<String, ToolError>> + Send {
        std::future::ready(Err(ToolError::Effect(Self::NAME)))
    }

    /// Executes an approved call that needs no folder. Only for tools that plan or create. It may
    /// run again after a crash, so it must be idempotent.
    fn conclude(
        _context: ToolContext,
        _approved: ApprovedCall,
        _input: Self::Input,
    ) -> impl Future<Output = Result<CompletedExecution, ToolError>> + Send {
        std::future::ready(Err(ToolError::Effect(Self::NAME)))
    }

    /// Returns the outcome of a decided proposal, for the model. Most tools only report.
    fn finish(context: &ToolContext, verdict: &ProposalResult) -> FinishedCall {
        document_updates::report(context, verdict)
    }
}

/// Effect of a tool on the world, which determines who must be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolEffect {
    /// No effect: the call runs at once.
    Safe,
    /// Reads in the workspace: the call runs at once, unless the person wants to be asked
    /// ([`SafeTools`]).
    Reads,
    /// Proposes a change of the document, which the room holds until people decide.
    Proposes,
    /// Acts outside of documents once the call is approved.
    Acts,
    /// Asks people to approve a plan; nothing else happens.
    Plans,
    /// Creates a document once that is approved.
    Creates,
}

impl ToolEffect {
    /// Returns `true` if a call changes nothing, and nobody needs to be asked.
    pub fn only_reads(self) -> bool {
        match self {
            Self::Safe | Self::Reads => true,
            Self::Proposes | Self::Acts | Self::Plans | Self::Creates => false,
        }
    }

    /// Returns `true` if a call changes something that people can see. In plan mode it then needs
    /// an approved plan.
    pub fn changes(self) -> bool {
        match self {
            Self::Safe | Self::Reads | Self::Plans => false,
            Self::Proposes | Self::Acts | Self::Creates => true,
        }
    }

    /// Returns `true` if people are asked about the call as a whole and its execution needs no
    /// folder.
    pub fn concludes(self) -> bool {
        match self {
            Self::Plans | Self::Creates => true,
            Self::Safe | Self::Reads | Self::Proposes | Self::Acts => false,
        }
    }
}

/// Kind of reference to the words that a call removes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplacedText {
    /// The call gives the new text of the whole document. The model must have read all of it,
    /// because it would otherwise remove words that it never saw.
    TheRest,
    /// The call names a range. The model must have read that range.
    Place,
    /// The call quotes the words.
    Named,
    /// The call removes no words.
    Nothing,
}

/// State of a run in plan mode (`permission_mode: toolApproval`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanMode {
    /// The run needs no plan.
    Off,
    /// Nothing may be changed before people have approved a plan.
    Planning,
    /// People have approved a plan.
    Approved,
}

/// Input field that people can watch while the model writes it, and the target of its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamedField {
    /// Field whose text replaces the document.
    Document(&'static str),
    /// Field whose text replaces the range that the call is about ([`Tool::scope`]).
    Range(&'static str),
}

/// Treatment of tools that only read (`auto_approve_safe` on the wire).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SafeTools {
    /// Run them at once.
    AtOnce,
    /// Ask people first.
    Ask,
}

/// Context of an approved call that acts ([`Tool::act`]).
#[derive(Clone, Debug)]
pub struct ExecutionContext {
    /// Folder in which it acts.
    pub workspace: Workspace,
    /// Stamp of the file that people were shown; the present file must have an equal stamp.
    pub touched: Option<String>,
    /// Id of the call's request.
    pub request: RequestId,
    /// Token that fires when the run is stopped.
    pub cancel: CancellationToken,
}

/// Approved call that is to be concluded ([`Tool::conclude`]).
#[derive(Clone, Debug)]
pub struct ApprovedCall {
    /// Request that was approved.
    pub request: Arc<ApprovalRequest>,
    /// `true` if nobody was asked.
    pub unasked: bool,
}

/// Result of an approved call that needs no folder ([`Tool::conclude`]).
#[derive(Clone, Debug, Default)]
pub struct CompletedExecution {
    /// Result text for the model and for people.
    pub text: String,
    /// Approved plan, if the call proposed one.
    pub plan: Option<String>,
    /// Another document, if the model now knows how it reads.
    pub read: Option<(DocumentId, DocumentSnapshot)>,
}

/// Kind of conversation that a tool needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolScope {
    /// A document.
    Document,
    /// Nothing but the conversation.
    Conversation,
    /// A folder of files.
    Workspace,
}

/// Context of a call: rooms, the knowledge of the model, and the rights of the person who asked.
#[derive(Clone, Debug)]
pub struct ToolContext {
    /// Room of the document, or of the session's private document.
    pub room: RoomHandle,
    /// Workspace inbox: the room of requests without a document.
    pub desk: RoomHandle,
    /// Folder of work without a document, if there is one.
    pub workspace: Option<Workspace>,
    /// Treatment of tools that only read in that folder.
    pub safe_tools: SafeTools,
    /// All rooms, for calls about other documents.
    pub rooms: RoomRegistry,
    /// Room of the conversation, if the call is about another document, whose room is then `room`.
    pub elsewhere: Option<RoomHandle>,
    /// Path of the file that the call is about, if people have it open as the document of `room`.
    pub live: Option<String>,
    /// Text that the model has read of other documents. `None` for an external call, whose caller
    /// keeps track of that itself.
    pub read: Option<Arc<cross_document::ReadDocuments>>,
    /// Document as the model was shown it when it made the calls of this turn. `None` in a
    /// conversation without a document.
    pub base: Option<DocumentSnapshot>,
    /// Ranges of `base` that the model has not read.
    pub unread: UnreadRanges,
    /// Document as the model was last told of it; differs from `base` after an earlier call of this
    /// turn.
    pub shown: Option<DocumentSnapshot>,
    /// Ranges of `shown` that the model has not read.
    pub still_unread: UnreadRanges,
    /// Selection or caret of the person, in UTF-16 units of `base`.
    pub selection: Option<(usize, usize)>,
    /// Part of the document that a call may change, in UTF-16 units of `base`.
    pub allowed: EditableRange,
    /// Answer of the model that contains the call, if it is not stored yet. The first proposal is
    /// stored together with it.
    pub preface: Arc<Mutex<Option<CommitPrefix>>>,
    /// Id of the request, if there will be one. It is chosen before anything happens, so that a
    /// restart finds the request again.
    pub request: RequestId,
    /// Session that asked.
    pub session: SessionId,
    /// Run that asked.
    pub run: RunId,
    /// Person who asked.
    pub requester: Principal,
    /// Text that the person typed.
    pub prompt: Arc<str>,
    /// Origin of the call, as the request's `source` on the wire.
    pub source: &'static str,
    /// Approval mode of the call, which decides if people are asked.
    pub gate: ApprovalMode,
    /// Time at which an outside caller gives up, in milliseconds since 1970.
    pub deadline_ms: Option<u64>,
    /// Channel that reports how the request progresses, if a caller waits for it.
    pub asking: Option<watch::Sender<Option<ApprovalWait>>>,
    /// Plan mode of the run.
    pub plan: PlanMode,
    /// `true` if the call may have been made before a restart.
    pub taken_up: bool,
    /// Earlier request that a person proposes again with the call.
    pub again_of: Option<RequestId>,
    /// Random tag that marks text of the document as data.
    pub tag: Arc<str>,
    /// Source of the present time.
    pub clock: WallClock,
}

/// Progress of a request ([`ToolContext::asking`]).
#[derive(Clone, Debug)]
pub enum ApprovalWait {
    /// The request was made and waits for people.
    Waits(RequestId),
    /// The request waits no longer. If it was approved, the call is executed now.
    Resolved(RequestId),
}

/// Part of the document that a call may change. A hook enforces it for every tool
/// ([`pipeline::freeze`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EditableRange {
    /// Everything: nothing was selected.
    Everything,
    /// Only this range, which the person selected; words may also be inserted at its edges.
    Only(usize, usize),
    /// Nothing: something was selected and can no longer be found.
    Nothing,
}

impl ToolContext {
    /// Returns the document as the model was shown it.
    ///
    /// # Errors
    ///
    /// [`ToolError::Unread`] or [`ToolError::NoDocument`] if it was shown none.
    pub fn document(&self) -> Result<&DocumentSnapshot, ToolError> {
        self.base.as_ref().ok_or(match self.room.unlisted_owner() {
            None => ToolError::Unread,
            Some(_) => ToolError::NoDocument,
        })
    }

    /// Takes the answer that contains the call, to store it together with a request.
    pub fn take_preface(&self) -> Option<CommitPrefix> {
        // The value is consistent between any two statements.
        self.preface.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Reports the progress of the request.
    fn say(&self, how: fn(RequestId) -> ApprovalWait) {
        if let Some(asking) = &self.asking {
            // There may be no receiver.
            asking.send_replace(Some(how(self.request.clone())));
        }
    }

    /// Returns the room in which the call was asked for, if it works in another room.
    fn asked_in(&self) -> Option<&RoomHandle> {
        self.elsewhere.as_ref().or_else(|| self.live.is_some().then_some(&self.desk))
    }

    /// Returns the folder of work without a document.
    ///
    /// # Errors
    ///
    /// [`ToolError::NoWorkspace`] if there is none.
    pub fn workspace(&self) -> Result<&Workspace, ToolError> {
        self.workspace.as_ref().ok_or(ToolError::NoWorkspace)
    }

    /// Returns the room that asks people about a call as a whole. The people of a document decide
    /// about a plan for it.
    pub fn asks_in(&self, effect: ToolEffect) -> &RoomHandle {
        if effect == ToolEffect::Plans && self.workspace.is_none() {
            &self.room
        } else {
            &self.desk
        }
    }

    /// Returns the settings for notes about changes.
    pub fn telling(&self) -> document_updates::ChangeNote<'_> {
        document_updates::ChangeNote { tag: &self.tag, reads_with: self.reads_with() }
    }

    /// Returns the name of the tool that reads what the call is about.
    pub fn reads_with(&self) -> &'static str {
        if self.live.is_some() { read::ReadTool::NAME } else { read_document::ReadDocument::NAME }
    }

    /// Reads the document as it is at this moment.
    ///
    /// # Errors
    ///
    /// [`ToolError::NoDocument`] in a conversation without a document, and errors of the room.
    pub async fn read_now(&self) -> Result<DocumentSnapshot, ToolError> {
        // Models must not read the private document of a conversation without a document.
        if self.room.unlisted_owner().is_some() {
            self.document()?;
        }
        Ok(self.room.read().await?)
    }
}

/// Returns the document that an input names as `document_id`.
fn named_document(input: &Value) -> Option<DocumentId> {
    input.get("document_id")?.as_str().map(DocumentId::from)
}

/// Refuses a text of an input that has more than `limit` Unicode scalars or contains NUL.
fn named_text(what: &str, text: &str, limit: usize) -> Result<(), ToolError> {
    if text.chars().count() > limit {
        return Err(ToolError::Denied("Content too large".into()));
    }
    if text.contains('\0') {
        return Err(ToolError::Denied(format!("The {what} contains NUL, which no text has")));
    }
    Ok(())
}

/// Returns the file that an input names as `file_path`.
fn named_file(input: &Value) -> Option<String> {
    input.get("file_path")?.as_str().map(str::to_owned)
}

/// Prepared effect of a call ([`Tool::prepare`]).
#[derive(Debug)]
pub enum PreparedCall {
    /// No effect: this is the answer.
    Answer(ToolAnswer),
    /// Change of the document.
    Propose(DocumentProposal),
    /// Action outside of documents.
    Act(ActionPreview),
}

/// Answer of a tool that changes nothing ([`PreparedCall::Answer`]).
#[derive(Clone, Debug, Default)]
pub struct ToolAnswer {
    /// Result text for the model and for people.
    pub text: String,
    /// Additional text for the model only.
    pub note: Option<String>,
    /// Other documents whose words or titles are in the note.
    pub of: Vec<DocumentId>,
    /// Document, if the model was told how it reads now.
    pub now: Option<DocumentSnapshot>,
    /// Ranges of `now` that the model has not read.
    pub unread: UnreadRanges,
    /// Answer to the person.
    pub said: Option<String>,
}

/// Prepared action outside of documents ([`PreparedCall::Act`]).
#[derive(Debug)]
pub struct ActionPreview {
    /// Preview that people are shown.
    pub preview: Preview,
    /// Stamp of the file that the action would change, if it changes one.
    pub touched: Option<String>,
}

/// Prepared change of the document ([`PreparedCall::Propose`]).
#[derive(Debug)]
pub struct DocumentProposal {
    /// Changes, in positions of the base version.
    pub hunks: Vec<HunkDraft>,
    /// Text of the document with all changes.
    pub text: Text,
    /// Preview that people are shown besides the hunks.
    pub preview: Preview,
    /// Text for the model if people accept everything unchanged; `None` selects the report of the
    /// review.
    pub told: Option<String>,
}

/// Decision about a [`DocumentProposal`], and the document after it.
#[derive(Debug)]
pub struct ProposalResult {
    /// Resolution of the request.
    pub resolution: RequestResolution,
    /// `true` if anything of the proposal is in the text.
    pub applied: bool,
    /// `true` if all of the proposal is in the text, in its own words.
    pub as_proposed: bool,
    /// Document after the decision.
    pub now: DocumentSnapshot,
    /// For a change of a range: its original position, and its present text if anything was
    /// applied.
    pub range: Option<RewrittenRange>,
    /// The model's own explanation of the change.
    pub explanation: Option<String>,
    /// Text of the document if the proposal had been accepted unchanged; not known after a restart.
    pub proposed: Option<Text>,
}

/// Call that is over, with its [`ToolOutcome`].
#[derive(Debug, Default)]
pub struct FinishedCall {
    /// Outcome of the call.
    pub outcome: ToolOutcome,
    /// Document, if the model was told how it reads now.
    pub now: Option<DocumentSnapshot>,
    /// Another document, if the model was told how it reads now.
    pub read: Option<(DocumentId, DocumentSnapshot)>,
    /// Ranges of `now` or of the document in `read` that the model has not read.
    pub unread: UnreadRanges,
    /// Line for the audit log.
    pub audit: Option<pipeline::audit::ActivityLine>,
}

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
    /// The tool tried to do more than its declared effect allows.
    #[error("{0} tried to do more than it may; nothing was executed")]
    Effect(&'static str),
    /// The version that the model had read is too old to be compared with the present one.
    #[error(
        "The document changed too much since you read it; nothing was proposed. Try again with the text as it reads now"
    )]
    Outdated,
    /// The room refused.
    #[error("The change could not be proposed: {0}")]
    Room(#[source] RoomError),
    /// The comparison failed.
    #[error("The change could not be worked out: {0}")]
    Internal(String),
}

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
