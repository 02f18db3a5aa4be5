//! Tools that a model may call, and the approval step that every call passes. Each tool has a file
//! in [`document`], [`workspace`] or [`conversation`].
//!
//! A tool has two halves: [`Tool::prepare`] computes what a call would do, [`Tool::execute`] does
//! it. The approval step ([`registry`]) stands between them, so that nothing happens before people
//! have decided. Tools for documents only *propose*: the room commits what was accepted at the
//! moment of the decision. Tools for the workspace *act*: people are asked in the
//! [workspace inbox](pipeline::inbox_approval), and [`Tool::execute`] does once what they approved.
//! Tools that plan or create need no folder: [`Tool::conclude`] completes the approved call.
//!
//! `CONTRIBUTING.md` says under "A tool" what a new tool needs.

pub mod conversation;
pub mod document;
pub mod model_notes;
pub mod pipeline;
pub mod registry;
pub mod workspace;

mod call;
mod context;
mod dyn_tool;
mod error;
mod lenient_input;
mod offers;
mod partial_input;
mod prepared_call;
mod schema;
mod text_range;
mod tool;
mod unread_ranges;

pub use call::{DecidedChange, RewrittenRange, ToolCall, ToolOutcome};
pub use context::{
    ApprovalTerms, ApprovalWait, CallEnvironment, CallIdentity, DocumentView, EditableRange,
    PlanMode, ReadDocuments, ReadToolPolicy, ToolContext,
};
pub use error::{ToolError, ToolResult};
pub use offers::ToolOffer;
pub use partial_input::PartialInput;
pub use pipeline::elsewhere::{CallAttempt, CallElsewhere};
pub use prepared_call::{
    ActionPreview, ActivityLine, DocumentProposal, FinishedCall, PreparedCall, ProposalResult,
    ToolAnswer,
};
pub use registry::ToolRegistry;
pub use tool::{
    ApprovedCall, CallTarget, CompletedExecution, ExecutionContext, ReplacedText, StreamedField,
    Tool, ToolEffect, ToolScope,
};
pub use unread_ranges::UnreadRanges;
