//! What a model may do, one file for each tool, and the gate that every call passes.
//!
//! A tool has two halves: [`Tool::prepare`] says what a call would do, [`Tool::finish`] what came of it. Between them
//! stands the gate ([`registry`]), so that nothing happens before people have decided. Tools for documents *propose*:
//! the room commits what was accepted at the moment of the decision, and `finish` only reports. Tools for the workspace
//! *act*: people are asked at the [workspace inbox](pipeline::inbox_approval), and [`Tool::act`] does once what they approved.

pub mod conversation;
pub mod document;
pub mod document_updates;
pub mod pipeline;
pub mod registry;
pub mod workspace;

mod call;
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
pub use partial_input::PartialInput;
pub use pipeline::early_preparation::EarlyPreparation;
pub use registry::ToolRegistry;
pub use unread_ranges::UnreadRanges;

/// What a model may do. One file and one line in [`registry`] make a new tool.
pub trait Tool: 'static {
    /// As the model calls it; also the name of the file.
    const NAME: &'static str;
    /// What it does and how to use it, for the model.
    const DESCRIPTION: &'static str;
    /// When to use it, as one line of the prompt.
    const WHEN: &'static str;
    /// What it does to the world. There is no default.
    const EFFECT: ToolEffect;
    /// Whether its input names the words that it takes away. There they need not be asked for first.
    const TAKES: ReplacedText = ReplacedText::Place;
    /// What people can watch while the model writes it; `None`: nothing.
    const WRITES: Option<StreamedField> = None;
    /// What it needs to be of use.
    const GROUND: ToolScope = ToolScope::Document;
    /// Its input; the schema the model gets is made from it.
    type Input: DeserializeOwned + JsonSchema + Send;

    /// What the call would do. Changes nothing.
    fn prepare(
        context: ToolContext,
        input: Self::Input,
    ) -> impl Future<Output = Result<PreparedCall, ToolError>> + Send;

    /// Whether a call with this input only looks, though others of the tool change something.
    fn only_looks(_input: &Value) -> bool {
        false
    }

    /// The range of the document that an input is about; `None`: all of it.
    fn scope(_context: &ToolContext, _input: &Value) -> Option<(usize, usize)> {
        None
    }

    /// The document that an input names; `None`: the conversation's own.
    fn target(_input: &Value) -> Option<DocumentId> {
        None
    }

    /// What the model is told where the document that an input names is none that the person may open, whether there is one or
    /// not; `None`: its name.
    fn missing(_context: &ToolContext, _input: &Value) -> Option<String> {
        None
    }

    /// The file of the workspace that an input names, if the tool reads or writes one.
    fn file(_input: &Value) -> Option<String> {
        None
    }

    /// Does what was approved, if what people were shown is still there; only for tools that act. Returns what came of it.
    fn act(
        _errand: ExecutionContext,
        _input: Self::Input,
    ) -> impl Future<Output = Result<String, ToolError>> + Send {
        std::future::ready(Err(ToolError::Effect(Self::NAME)))
    }

    /// Does what was approved and needs no folder. After a crash it may be done again, so it must do nothing twice; only for
    /// tools that plan or create.
    fn conclude(
        _context: ToolContext,
        _approved: ApprovedCall,
        _input: Self::Input,
    ) -> impl Future<Output = Result<CompletedExecution, ToolError>> + Send {
        std::future::ready(Err(ToolError::Effect(Self::NAME)))
    }

    /// What came of it, for the model. Most tools have nothing left to do but to report.
    fn finish(context: &ToolContext, verdict: &ProposalResult) -> FinishedCall {
        document_updates::report(context, verdict)
    }
}

/// What a tool does to the world, and so what it needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolEffect {
    /// Nothing: it runs at once.
    Safe,
    /// It reads in the workspace: at once, unless the person wants to be asked ([`SafeTools`]).
    Reads,
    /// It proposes a change of the document, which the room holds for people to decide.
    Proposes,
    /// It acts outside of documents once it is approved.
    Acts,
    /// It asks people to approve a plan; nothing else happens.
    Plans,
    /// It makes a document once that is approved.
    Creates,
}

impl ToolEffect {
    /// Whether a call changes nothing, and nobody needs to be asked.
    pub fn only_reads(self) -> bool {
        match self {
            Self::Safe | Self::Reads => true,
            Self::Proposes | Self::Acts | Self::Plans | Self::Creates => false,
        }
    }

    /// Whether it changes something that people can see: then it needs an approved plan in plan mode.
    pub fn changes(self) -> bool {
        match self {
            Self::Safe | Self::Reads | Self::Plans => false,
            Self::Proposes | Self::Acts | Self::Creates => true,
        }
    }

    /// Whether people are asked about the call as a whole, and what they approve needs no folder.
    pub fn concludes(self) -> bool {
        match self {
            Self::Plans | Self::Creates => true,
            Self::Safe | Self::Reads | Self::Proposes | Self::Acts => false,
        }
    }
}

/// How the model says which words go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplacedText {
    /// By all the rest: it says how the whole document is to read, and must have read it, or it would take away what it never
    /// saw.
    TheRest,
    /// By a place, of which the same holds.
    Place,
    /// By the words themselves.
    Named,
    /// None go.
    Nothing,
}

/// Whether a run may change anything yet (`permission_mode: toolApproval`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanMode {
    /// It needs no plan.
    Off,
    /// Nothing before people have approved a plan.
    Planning,
    /// They have.
    Approved,
}

/// The field of a call's input that people can watch while the model writes it, and where its text would go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamedField {
    /// It replaces the document.
    Document(&'static str),
    /// It replaces the range that the call is about ([`Tool::scope`]).
    Range(&'static str),
}

/// What happens to tools that only read (`auto_approve_safe` on the wire).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SafeTools {
    /// They run at once.
    AtOnce,
    /// They wait for people too.
    Ask,
}

/// An approved call that acts now.
#[derive(Clone, Debug)]
pub struct ExecutionContext {
    /// Where it acts.
    pub workspace: Workspace,
    /// The stamp of the file that people were shown; what is there now must be the same.
    pub touched: Option<String>,
    /// The name of its request.
    pub request: RequestId,
    /// Fires when the run is stopped.
    pub cancel: CancellationToken,
}

/// What people approved, to be concluded now.
#[derive(Clone, Debug)]
pub struct ApprovedCall {
    /// The request.
    pub request: Arc<ApprovalRequest>,
    /// Whether nobody was asked.
    pub unasked: bool,
}

/// An approved call that is concluded.
#[derive(Clone, Debug, Default)]
pub struct CompletedExecution {
    /// What the model and the people are told.
    pub text: String,
    /// The plan that was approved, if it was one.
    pub plan: Option<String>,
    /// Another document, if the model knows now how it reads.
    pub read: Option<(DocumentId, DocumentSnapshot)>,
}

/// What a conversation is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolScope {
    /// A document.
    Document,
    /// Nothing but the conversation.
    Conversation,
    /// A folder of files.
    Workspace,
}

/// What a call works with.
#[derive(Clone, Debug)]
pub struct ToolContext {
    /// The room of the document, or the session's private one.
    pub room: RoomHandle,
    /// The room of requests without a document.
    pub desk: RoomHandle,
    /// The folder of work without a document, if there is one.
    pub workspace: Option<Workspace>,
    /// What happens to tools that only read in it.
    pub safe_tools: SafeTools,
    /// All rooms, for calls about other documents.
    pub rooms: RoomRegistry,
    /// The room of the conversation, if the call is about another document and `room` is that one's.
    pub elsewhere: Option<RoomHandle>,
    /// The file that the call is about, if people have it open as the document of `room`.
    pub live: Option<String>,
    /// What the model has read of other documents; `None`: a call from outside, whose caller keeps account of that itself.
    pub read: Option<Arc<cross_document::ReadDocuments>>,
    /// The document as the model was shown it when it made the calls of this turn; `None`: a conversation without one.
    pub base: Option<DocumentSnapshot>,
    /// What of `base` it has not read all the same.
    pub unread: UnreadRanges,
    /// The document as the model was told of it last; differs from `base` after a call of the same turn.
    pub shown: Option<DocumentSnapshot>,
    /// What of `shown` it has not read all the same.
    pub still_unread: UnreadRanges,
    /// What the person has selected, or where their caret is, in UTF-16 units of `base`.
    pub selection: Option<(usize, usize)>,
    /// What of the document a call may change, in UTF-16 units of `base`.
    pub allowed: EditableRange,
    /// The model's answer that the call is in, if nobody has kept that yet: whoever proposes first takes it along.
    pub preface: Arc<Mutex<Option<CommitPrefix>>>,
    /// The name of the request, if there will be one; made before anything happens, so that a restart finds it again.
    pub request: RequestId,
    /// The session that asked.
    pub session: SessionId,
    /// The run that asked.
    pub run: RunId,
    /// The person who asked.
    pub requester: Principal,
    /// What the person typed.
    pub prompt: Arc<str>,
    /// The door it came through.
    pub source: &'static str,
    /// Whether people must be asked.
    pub gate: ApprovalMode,
    /// When an outside caller gives up, in milliseconds since 1970.
    pub deadline_ms: Option<u64>,
    /// Who wants to hear how the asking of people goes on.
    pub asking: Option<watch::Sender<Option<ApprovalWait>>>,
    /// Whether anything may be changed yet.
    pub plan: PlanMode,
    /// Whether the call may have been made before a restart.
    pub taken_up: bool,
    /// The request that a person proposes again with the call.
    pub again_of: Option<RequestId>,
    /// Random; marks text of the document as data.
    pub tag: Arc<str>,
    /// What time it is.
    pub clock: WallClock,
}

/// How the asking of people goes on.
#[derive(Clone, Debug)]
pub enum ApprovalWait {
    /// The request was made and waits for them.
    Waits(RequestId),
    /// It waits no longer; a call that they let through is carried out now.
    Resolved(RequestId),
}

/// What of the document a call may change. Whatever tool is used, it is enforced by a hook ([`pipeline::freeze`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EditableRange {
    /// Everything: nothing was selected.
    Everything,
    /// Only this range, which the person selected; words may also be put at its edges.
    Only(usize, usize),
    /// Nothing: something was selected, and can no longer be found.
    Nothing,
}

impl ToolContext {
    /// The document as the model was shown it.
    pub fn document(&self) -> Result<&DocumentSnapshot, ToolError> {
        self.base.as_ref().ok_or(match self.room.unlisted_owner() {
            None => ToolError::Unread,
            Some(_) => ToolError::NoDocument,
        })
    }

    /// The answer that the call is in, for whoever keeps it.
    pub fn take_preface(&self) -> Option<CommitPrefix> {
        // What is inside is whole between any two statements.
        self.preface.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Says how the asking goes on.
    fn say(&self, how: fn(RequestId) -> ApprovalWait) {
        if let Some(asking) = &self.asking {
            // Nobody needs to listen.
            asking.send_replace(Some(how(self.request.clone())));
        }
    }

    /// Where the call was asked for, if it works in another room.
    fn asked_in(&self) -> Option<&RoomHandle> {
        self.elsewhere.as_ref().or_else(|| self.live.is_some().then_some(&self.desk))
    }

    /// The folder of work without a document.
    pub fn workspace(&self) -> Result<&Workspace, ToolError> {
        self.workspace.as_ref().ok_or(ToolError::NoWorkspace)
    }

    /// The room that asks people about a call as a whole. A plan for a document is its people's business.
    pub fn asks_in(&self, effect: ToolEffect) -> &RoomHandle {
        if effect == ToolEffect::Plans && self.workspace.is_none() {
            &self.room
        } else {
            &self.desk
        }
    }

    /// How a model is told of the text.
    pub fn telling(&self) -> document_updates::ChangeNote<'_> {
        document_updates::ChangeNote { tag: &self.tag, reads_with: self.reads_with() }
    }

    /// The tool that reads what the call is about.
    pub fn reads_with(&self) -> &'static str {
        if self.live.is_some() { read::ReadTool::NAME } else { read_document::ReadDocument::NAME }
    }

    /// The document as it is at this moment.
    pub async fn read_now(&self) -> Result<DocumentSnapshot, ToolError> {
        // The room of a conversation without a document is not for models to read.
        if self.room.unlisted_owner().is_some() {
            self.document()?;
        }
        Ok(self.room.read().await?)
    }
}

/// The document that an input names as `document_id`.
fn named_document(input: &Value) -> Option<DocumentId> {
    input.get("document_id")?.as_str().map(DocumentId::from)
}

/// Refuses a text of an input that is longer than `limit` Unicode scalars, or no text.
fn named_text(what: &str, text: &str, limit: usize) -> Result<(), ToolError> {
    if text.chars().count() > limit {
        return Err(ToolError::Denied("Content too large".into()));
    }
    if text.contains('\0') {
        return Err(ToolError::Denied(format!("The {what} contains NUL, which no text has")));
    }
    Ok(())
}

/// The file that an input names as `file_path`.
fn named_file(input: &Value) -> Option<String> {
    input.get("file_path")?.as_str().map(str::to_owned)
}

/// What a call would do.
#[derive(Debug)]
pub enum PreparedCall {
    /// Nothing: this is the answer.
    Answer(ToolAnswer),
    /// A change of the document.
    Propose(DocumentProposal),
    /// It would act outside of documents.
    Act(ActionPreview),
}

/// The answer of a tool that changes nothing.
#[derive(Clone, Debug, Default)]
pub struct ToolAnswer {
    /// What the model and the people are told.
    pub text: String,
    /// What only the model is told besides.
    pub note: Option<String>,
    /// Other documents that the note tells of.
    pub of: Vec<DocumentId>,
    /// The document, if the model was told how it reads now.
    pub now: Option<DocumentSnapshot>,
    /// What of that it has not read.
    pub unread: UnreadRanges,
    /// What is said to the person.
    pub said: Option<String>,
}

/// What a call would do outside of documents.
#[derive(Debug)]
pub struct ActionPreview {
    /// What people are shown.
    pub preview: Preview,
    /// The stamp of the file it would change, if it is one.
    pub touched: Option<String>,
}

/// A change of the document.
#[derive(Debug)]
pub struct DocumentProposal {
    /// The changes, in positions of the base version.
    pub hunks: Vec<HunkDraft>,
    /// The document as it would read.
    pub text: Text,
    /// What people are shown besides the hunks.
    pub preview: Preview,
    /// What the model is told if people take all of it as it is; `None`: what the review says.
    pub told: Option<String>,
}

/// What people decided, and how the document reads since.
#[derive(Debug)]
pub struct ProposalResult {
    /// What they decided.
    pub resolution: RequestResolution,
    /// Whether anything of the proposal is in the text.
    pub applied: bool,
    /// Whether all of it is, in its own words.
    pub as_proposed: bool,
    /// The document afterwards.
    pub now: DocumentSnapshot,
    /// For a change of a range: where it was, and what stands there now if anything was applied.
    pub range: Option<RewrittenRange>,
    /// What the model said the change does.
    pub explanation: Option<String>,
    /// The document as it would read if the proposal had been accepted as it is; not known after a restart.
    pub proposed: Option<Text>,
}

/// A call that is over.
#[derive(Debug, Default)]
pub struct FinishedCall {
    /// What came of it.
    pub outcome: ToolOutcome,
    /// The document, if the model was told how it reads now.
    pub now: Option<DocumentSnapshot>,
    /// Another document, if the model was told how that reads now.
    pub read: Option<(DocumentId, DocumentSnapshot)>,
    /// What of either it has not read.
    pub unread: UnreadRanges,
    /// The line for the audit log.
    pub audit: Option<pipeline::audit::ActivityLine>,
}

/// Why a call was not executed; the model is told these words.
#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    /// No tool has this name.
    #[error("Unknown tool: {name}. Available tools: {available}")]
    Unknown {
        /// What the model called.
        name: String,
        /// The names it could have used.
        available: String,
    },
    /// The input does not fit the tool's schema.
    #[error("Invalid input for {tool}: {reason}. Expected: {expected}")]
    Input {
        /// The tool.
        tool: &'static str,
        /// What was wrong.
        reason: String,
        /// What is allowed.
        expected: String,
    },
    /// A hook denied it.
    #[error("{0}")]
    Denied(String),
    /// There is no document to change.
    #[error("There is no document in this conversation; answer in words instead")]
    NoDocument,
    /// The document that it names is none that the person may open, whether there is one or not.
    #[error("There is no document {0} that the person may open")]
    NoSuchDocument(DocumentId),
    /// There is no workspace to work in.
    #[error("There is no workspace in this conversation")]
    NoWorkspace,
    /// It was tried, and this came of it.
    #[error("{0}")]
    Told(String),
    /// It could not be done (tool approval protocol's words).
    #[error("Error: {0}")]
    Failed(String),
    /// The model wants to change another document that it has not read in this run.
    #[error("Read that document first with read_document; nothing was proposed")]
    Unread,
    /// The text already reads like that.
    #[error("Nothing to change: the document already reads like this")]
    Unchanged,
    /// The words it would change were changed meanwhile.
    #[error("{0}")]
    Conflicted(String),
    /// Nothing may be changed before people have approved a plan.
    #[error(
        "Plan mode: nothing may be changed before people have approved a plan, and {0} was not executed. Read what you need, \
         then call ExitPlanMode with the complete plan"
    )]
    NoPlan(&'static str),
    /// There is a plan already.
    #[error("The plan is approved already; carry it out")]
    PlanApproved,
    /// The tool did not keep to its declared effect.
    #[error("{0} tried to do more than it may; nothing was executed")]
    Effect(&'static str),
    /// The version the model had read is too old to be compared with.
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
