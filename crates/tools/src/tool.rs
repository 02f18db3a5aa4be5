//! Traits of tools: one for the facts that every tool declares, and one for each kind of effect.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use copydesk_approvals::ApprovalRequest;
use copydesk_document::diff::DiffLimits;
use copydesk_ids::{DocumentId, RequestId};
use copydesk_rooms::command::DocumentSnapshot;
use copydesk_workspace::Workspace;

use super::{ActionPreview, DocumentProposal, ToolAnswer, ToolContext, ToolResult};

/// Facts that every tool declares about itself. Its work is in the trait for its effect:
/// [`ReadTool`], [`CommentTool`], [`ProposeTool`], [`FileTool`], [`ActTool`], [`CreateTool`] or
/// [`PlanTool`].
pub trait Tool: Send + Sync + 'static {
    /// Name by which the model calls it; in snake case also the name of its file.
    const NAME: &'static str;
    /// Name for people.
    const TITLE: &'static str;
    /// Name for people who make a rule about the tool: what its calls do.
    const RULE_TITLE: &'static str = Self::TITLE;
    /// Description for the model: purpose and use of the tool.
    const DESCRIPTION: &'static str;
    /// Situations in which to use it, as one line of the prompt.
    const WHEN: &'static str;
    /// Kind of conversation that the tool needs.
    const SCOPE: ToolScope = ToolScope::Document;
    /// Offer to programs over MCP; `None` if they may not call the tool.
    const PROGRAM: Option<ProgramOffer> = None;
    /// Input of a call; the schema for the model is generated from it.
    type Input: DeserializeOwned + JsonSchema + Send + 'static;

    /// Returns the document or file that an input names.
    fn target(_input: &Value) -> CallTarget {
        CallTarget::Conversation
    }

    /// Returns the message for the model if the document that an input names does not exist or may
    /// not be opened. `None` selects the usual message, which names its id.
    fn not_found_message(_context: &ToolContext, _input: &Value) -> Option<String> {
        None
    }
}

/// Tool that only answers. In the workspace it reads files: rules may want people to be asked.
pub trait ReadTool: Tool {
    /// Words that an answer quotes. There is no default.
    const READS: WordsRead;

    /// Answers a call. Changes nothing.
    fn read(
        &self,
        context: ToolContext,
        input: Self::Input,
    ) -> impl Future<Output = ToolResult<ToolAnswer>> + Send;
}

/// Tool that comments on a document. Comments change no text, so people are not asked; but an
/// owner's rule may forbid them, and plan mode does.
pub trait CommentTool: Tool {
    /// Writes the comment of a call. Must be idempotent: after a crash it is called again.
    fn comment(
        &self,
        context: ToolContext,
        input: Self::Input,
    ) -> impl Future<Output = ToolResult<ToolAnswer>> + Send;
}

/// Tool that proposes a change of a document, which the room holds until people decide.
pub trait ProposeTool: Tool {
    /// Way in which a call names the words that it removes; words that it quotes need not be read
    /// first.
    const REPLACES: ReplacedText = ReplacedText::Range;
    /// Field that people can watch while the model writes it; `None` if there is none.
    const STREAMS: Option<StreamedField> = None;
    /// `true` if a call replaces words wherever they are: a word that becomes a similar one is then
    /// no correction.
    const SUBSTITUTES: bool = false;

    /// Computes the change that a call proposes. Changes nothing.
    fn propose(
        &self,
        context: ToolContext,
        input: Self::Input,
    ) -> impl Future<Output = ToolResult<Proposed>> + Send;

    /// Returns `true` if a call with this input only reads.
    fn only_reads(_input: &Value) -> bool {
        false
    }

    /// Returns the range that an input is about, in UTF-16 units; `None` for all of the document.
    fn edited_range(_context: &ToolContext, _input: &Value) -> Option<(usize, usize)> {
        None
    }
}

/// Tool that changes the file that [`Tool::target`] names. All methods but [`FileTool::edit`] run
/// on a thread for long work.
pub trait FileTool: Tool {
    /// Way in which a call names the words that it removes.
    const REPLACES: ReplacedText = ReplacedText::Range;
    /// Tool whose work a call does several times; its rules and policies are for this one too.
    const REPEATS: Option<&'static str> = None;

    /// Computes what a call would write. Changes nothing.
    fn preview(
        workspace: &Workspace,
        input: Self::Input,
        limits: &DiffLimits,
    ) -> ToolResult<ActionPreview>;

    /// Writes the file, if it is still the one that people were shown. Returns the result text.
    fn write(execution: &ExecutionContext, input: Self::Input) -> ToolResult<String>;

    /// Computes the new text of a file that is open as the document `base`; proposed, not written.
    fn edit(base: &DocumentSnapshot, input: Self::Input) -> ToolResult<FileEdit>;
}

/// Tool that acts in the workspace in any other way, once the call is approved.
pub trait ActTool: Tool {
    /// Computes what a call would do. Changes nothing.
    fn preview(
        &self,
        context: ToolContext,
        input: Self::Input,
    ) -> impl Future<Output = ToolResult<ActionPreview>> + Send;

    /// Executes an approved call. Returns the result text.
    fn execute(
        &self,
        execution: ExecutionContext,
        input: Self::Input,
    ) -> impl Future<Output = ToolResult<String>> + Send;
}

/// Tool that creates a document once that is approved. It needs no folder.
pub trait CreateTool: Tool {
    /// Computes what a call would create. Changes nothing.
    fn preview(
        &self,
        context: ToolContext,
        input: Self::Input,
    ) -> impl Future<Output = ToolResult<ActionPreview>> + Send;

    /// Creates the document of an approved call. Must be idempotent: after a crash it runs again.
    fn create(
        &self,
        approved: ApprovedCall,
        input: Self::Input,
    ) -> impl Future<Output = ToolResult<CompletedExecution>> + Send;
}

/// Tool that asks people to approve a plan; nothing else happens.
pub trait PlanTool: Tool {
    /// Returns the plan of a call, which people are shown.
    fn plan(input: Self::Input) -> ToolResult<String>;

    /// Returns the result text for the model once a plan is approved.
    fn approved(plan: &str) -> String;
}

/// Prepared call of a [`ProposeTool`].
#[derive(Debug)]
pub enum Proposed {
    /// Change for people to decide about.
    Change(DocumentProposal),
    /// Answer, which is less than a change: the call only reads.
    Answer(ToolAnswer),
}

/// New text of a file that is open as a document ([`FileTool::edit`]).
#[derive(Debug)]
pub struct FileEdit {
    /// Path of the file, as the input names it.
    pub path: String,
    /// The whole new text.
    pub text: String,
    /// Text for the model if people accept everything unchanged.
    pub success_text: String,
}

/// Document or file that the input of a call names ([`Tool::target`]).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallTarget {
    /// None: the call is about the conversation and its own document.
    Conversation,
    /// Document with this id.
    Document(DocumentId),
    /// File of the workspace at this path.
    File(String),
}

impl CallTarget {
    pub(super) fn document_id(input: &Value) -> Self {
        let id = input.get("document_id").and_then(Value::as_str);
        id.map_or(Self::Conversation, |id| Self::Document(id.into()))
    }

    pub(super) fn file_path(input: &Value) -> Self {
        let path = input.get("file_path").and_then(Value::as_str);
        path.map_or(Self::Conversation, |path| Self::File(path.to_owned()))
    }

    /// Returns the id, if the target is a document.
    pub fn document(self) -> Option<DocumentId> {
        match self {
            Self::Document(id) => Some(id),
            Self::Conversation | Self::File(_) => None,
        }
    }

    /// Returns the path, if the target is a file.
    pub fn file(self) -> Option<String> {
        match self {
            Self::File(path) => Some(path),
            Self::Conversation | Self::Document(_) => None,
        }
    }
}

/// Effect of a tool on the world, which determines who must be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolEffect {
    /// Answers and changes nothing: the call runs at once. The editor's table has it as `safe`.
    #[serde(rename = "safe")]
    OnlyAnswers,
    /// Reads in the workspace: the call runs at once or after approval
    /// ([`ReadToolPolicy`](super::ReadToolPolicy)).
    Reads,
    /// Comments on the document, which changes no text: the call runs at once.
    Comments,
    /// Proposes a change of the document, which the room holds until people decide.
    Proposes,
    /// Changes a file of the workspace once the call is approved.
    ChangesFile,
    /// Acts in any other way once the call is approved: it can reach anything.
    Acts,
    /// Asks people to approve a plan; nothing else happens.
    Plans,
    /// Creates a document once that is approved.
    Creates,
}

impl ToolEffect {
    /// Returns `true` if a call changes nothing and needs no approval.
    pub fn only_reads(self) -> bool {
        match self {
            Self::OnlyAnswers | Self::Reads => true,
            Self::Comments
            | Self::Proposes
            | Self::ChangesFile
            | Self::Acts
            | Self::Plans
            | Self::Creates => false,
        }
    }

    /// Returns `true` if a call changes something that people can see, for which plan mode wants a
    /// plan.
    pub fn changes(self) -> bool {
        match self {
            Self::OnlyAnswers | Self::Reads | Self::Plans => false,
            Self::Comments | Self::Proposes | Self::ChangesFile | Self::Acts | Self::Creates => {
                true
            }
        }
    }
}

/// Offer of a tool to programs over MCP.
#[derive(Clone, Copy, Debug)]
pub struct ProgramOffer {
    /// Name of the tool there, and for the Claude CLI.
    pub name: &'static str,
    /// Name for the people who use the program.
    pub title: &'static str,
    /// Noun in refusals.
    pub noun: &'static str,
    /// Description in place of [`Tool::DESCRIPTION`], where a program works in another way.
    pub description: Option<&'static str>,
    /// Fields that a program must give, though a model here need not: name and description.
    pub required: &'static [(&'static str, &'static str)],
    /// Returns the result text in the words of the MCP proxy protocol.
    pub result: fn(&str) -> String,
}

impl ProgramOffer {
    /// Creates an offer without anything special.
    pub const fn new(name: &'static str, title: &'static str) -> Self {
        let (noun, description, required) = ("Change", None, [].as_slice());
        Self { name, title, noun, description, required, result: str::to_owned }
    }
}

/// Words that an answer of a [`ReadTool`] quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WordsRead {
    /// No words of a document or file.
    Nothing,
    /// Words of the document that the call is about; people may be asked before these are read.
    OfDocument,
    /// Words of the file that the call names.
    OfFile,
    /// Words of many files, without [unseen ones](super::CallEnvironment::unseen_files).
    OfManyFiles,
}

/// Way in which a call names the words that it removes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplacedText {
    /// The call gives the new text of the whole document, which the model must have read: it would
    /// otherwise remove words that it never saw.
    Document,
    /// The call names a range. The model must have read that range.
    Range,
    /// The call quotes the words.
    Quoted,
    /// The call removes no words.
    Nothing,
}

/// Input field that people can watch while the model writes it, and the target of its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamedField {
    /// Field whose text replaces the document.
    Document(&'static str),
    /// Field whose text replaces the range that the call is about ([`ProposeTool::edited_range`]).
    Range(&'static str),
}

/// Kind of conversation that a tool needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolScope {
    /// A document.
    Document,
    /// Nothing but the conversation.
    Conversation,
    /// A folder of files.
    Workspace,
}

/// Context of an approved call that acts ([`ActTool::execute`], [`FileTool::write`]).
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

/// Approved call of a [`CreateTool`].
#[derive(Clone, Debug)]
pub struct ApprovedCall {
    /// Context of the call.
    pub context: ToolContext,
    /// Request that was approved.
    pub request: Arc<ApprovalRequest>,
    /// `true` if no one was asked.
    pub auto_approved: bool,
}

/// Result of an approved call that needs no folder.
#[derive(Clone, Debug, Default)]
pub struct CompletedExecution {
    /// Result text for the model and for people.
    pub text: String,
    /// Approved plan, if the call proposed one.
    pub plan: Option<String>,
    /// Another document, if the model now knows how it reads.
    pub read: Option<(DocumentId, DocumentSnapshot)>,
}
