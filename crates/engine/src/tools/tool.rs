//! Trait that every tool implements, and what a tool declares about itself.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::approvals::ApprovalRequest;
use crate::ids::{DocumentId, RequestId};
use crate::rooms::command::DocumentSnapshot;
use crate::workspace::Workspace;

use super::{PreparedCall, ToolContext, ToolError};

/// Tool that a model may call.
pub trait Tool: Send + Sync + 'static {
    /// Name by which the model calls it; in snake case also the name of its file.
    const NAME: &'static str;
    /// Description for the model: purpose and use of the tool.
    const DESCRIPTION: &'static str;
    /// Situations in which to use it, as one line of the prompt.
    const WHEN: &'static str;
    /// Effect on the world. There is no default.
    const EFFECT: ToolEffect;
    /// Way in which a call names the words that it removes. Words that the input quotes need not be
    /// read first.
    const REPLACES: ReplacedText = ReplacedText::Range;
    /// Field that people can watch while the model writes it; `None` if there is none.
    const STREAMS: Option<StreamedField> = None;
    /// Kind of conversation that the tool needs.
    const SCOPE: ToolScope = ToolScope::Document;
    /// Input of a call; the schema for the model is generated from it.
    type Input: DeserializeOwned + JsonSchema + Send;

    /// Computes what a call would do. Changes nothing.
    ///
    /// # Errors
    ///
    /// If the call is not possible; the model is told why.
    fn prepare(
        &self,
        context: ToolContext,
        input: Self::Input,
    ) -> impl Future<Output = Result<PreparedCall, ToolError>> + Send;

    /// Executes an approved call, if the file is still the one that people were shown. Only for
    /// tools whose effect is [`ToolEffect::Acts`]. Returns the result text.
    fn execute(
        &self,
        _execution: ExecutionContext,
        _input: Self::Input,
    ) -> impl Future<Output = Result<String, ToolError>> + Send {
        std::future::ready(Err(ToolError::Effect(Self::NAME)))
    }

    /// Executes an approved call that needs no folder. Only for tools that plan or create. It may
    /// run again after a crash, so it must be idempotent.
    fn conclude(
        &self,
        _context: ToolContext,
        _approved: ApprovedCall,
        _input: Self::Input,
    ) -> impl Future<Output = Result<CompletedExecution, ToolError>> + Send {
        std::future::ready(Err(ToolError::Effect(Self::NAME)))
    }

    /// Returns the document or file that an input names.
    fn target(&self, _input: &Value) -> CallTarget {
        CallTarget::Conversation
    }

    /// Returns `true` if a call with this input only reads, though other calls of the tool change
    /// something.
    fn only_reads(&self, _input: &Value) -> bool {
        false
    }

    /// Returns the range of the document that an input is about, in UTF-16 units; `None` for all of
    /// it.
    fn edited_range(&self, _context: &ToolContext, _input: &Value) -> Option<(usize, usize)> {
        None
    }

    /// Returns the message for the model if the person may not open the document that an input
    /// names, or if there is no such document. `None` selects the usual message, which tells its
    /// id.
    fn not_found_message(&self, _context: &ToolContext, _input: &Value) -> Option<String> {
        None
    }
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
    /// Returns the document that an input names as `document_id`.
    pub(super) fn document_id(input: &Value) -> Self {
        let id = input.get("document_id").and_then(Value::as_str);
        id.map_or(Self::Conversation, |id| Self::Document(id.into()))
    }

    /// Returns the file that an input names as `file_path`.
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolEffect {
    /// No effect: the call runs at once.
    Safe,
    /// Reads in the workspace: the call runs at once, unless the person wants to be asked
    /// ([`ReadToolPolicy`](super::ReadToolPolicy)).
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

/// Way in which a call names the words that it removes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplacedText {
    /// The call gives the new text of the whole document. The model must have read all of it,
    /// because it would otherwise remove words that it never saw.
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
    /// Field whose text replaces the range that the call is about ([`Tool::edited_range`]).
    Range(&'static str),
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

/// Context of an approved call that acts ([`Tool::execute`]).
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
    pub auto_approved: bool,
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
