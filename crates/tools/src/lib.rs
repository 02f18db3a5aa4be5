//! Tools that a model may call, and the approval step that every call passes. Each tool has a file
//! in [`document`], [`workspace`] or [`conversation`].
//!
//! A tool declares its facts ([`Tool`]) and implements the trait for its effect. [`ReadTool`]
//! answers, [`CommentTool`] comments. [`ProposeTool`] proposes: the room commits what was accepted
//! at the moment of the decision. [`FileTool`], [`ActTool`], [`CreateTool`] and [`PlanTool`] have
//! two halves: one computes what people are shown, the other does it. The
//! [approval step](approval_step) stands between them, so that nothing happens before people have
//! decided, in the [workspace inbox](pipeline::inbox_approval).
//!
//! `CONTRIBUTING.md` says under "A tool" what a new tool needs.

pub mod approval_step;
pub mod conversation;
pub mod document;
pub mod model_notes;
pub mod pipeline;
pub mod registry;
pub mod workspace;

mod call;
mod context;
mod editor_table;
mod error;
mod lenient_input;
mod partial_input;
mod prepared_call;
mod registered_tool;
mod schema;
mod text_range;
mod tool;
mod tool_facts;
mod unread_ranges;

pub use call::{DecidedChange, RewrittenRange, ToolCall, ToolOutcome};
pub use context::{
    ApprovalTerms, ApprovalWait, CallEnvironment, CallIdentity, DocumentView, EditableRange,
    PlanMode, ReadDocuments, ReadToolPolicy, ToolContext,
};
pub use document::add_comment::quoted_range;
pub use error::{ToolError, ToolResult};
pub use partial_input::PartialInput;
pub use pipeline::other_servers::{CallAttempt, OtherServerCall};
pub use prepared_call::{
    ActionPreview, ActivityLine, DocumentProposal, FinishedCall, ProposalResult, ToolAnswer,
};
pub use registered_tool::RegisteredTool;
pub use registry::ToolRegistry;
pub use tool::{
    ActTool, ApprovedCall, CallTarget, CommentTool, CompletedExecution, CreateTool,
    ExecutionContext, FileEdit, FileTool, PlanTool, ProgramOffer, ProposeTool, Proposed, ReadTool,
    ReplacedText, StreamedField, Tool, ToolEffect, ToolScope, WordsRead,
};
pub use tool_facts::ToolFacts;
pub use unread_ranges::UnreadRanges;
