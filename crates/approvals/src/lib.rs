//! Requests that people must decide, their hunks and the decisions on them. No input or output.
//!
//! An [`ApprovalRequest`] is one gated tool call that waits for people. A request that changes text
//! has [`Hunk`]s, and a hunk is a list of word-level [`HunkPart`]s. `hunks::rebase` keeps hunks
//! valid while people type. `decide` judges a decision by what `requirements` computes, and
//! `decide::carry_out` carries it out. `marking` says what a change alters. `rule` holds the
//! approvals people give in advance, and `report` writes the reports to the model.

mod authorship;
mod decide;
mod decision;
mod execution;
mod hunk;
pub mod hunks;
mod invariants;
mod marking;
mod path_pattern;
mod person;
mod policy;
mod preview;
mod refusal_reason;
mod reopen;
mod report;
mod request;
mod requirements;
mod rule;
mod suggestion;
mod suggestion_state;
mod tool_catalog;
mod undo_file;
mod undo_text;

#[cfg(test)]
mod tests;

pub use authorship::{AuthorSpan, RequestCredit, SpanAuthor};
pub use copydesk_document::diff::{DraftPart, HunkDraft, HunkKind};
pub use copydesk_marks::{Mark, MarkKind};
pub use decide::carry_out::JudgedDecision;
pub use decision::{
    Decision, DecisionError, DecisionOutcome, FileNow, FinishRest, HunkChoice, HunkVerdict,
    PeopleAsked, RequestVerdict, TouchedSince,
};
pub use hunk::{Hunk, HunkDecision, HunkPart, HunkStatus};
pub use hunks::hunk_reason::HunkReason;
pub use hunks::join::OpenUndo;
pub use hunks::map_to_head::{ArrivedHunks, ReturnedHunk};
pub use hunks::rebase::{CommittedUpdate, RebaseOutcome};
pub use path_pattern::{ExcludedPaths, PathPattern};
pub use person::{DeletedPerson, Person, RequesterIds};
pub use policy::{
    ApprovalRequirement, ApprovalSwitch, DecisionPolicy, ToolPolicy, Vote, VoteCount,
};
pub use preview::change_extent::ChangeExtent;
pub use preview::updated_preview::{AnnouncedPreview, UpdatedPreview};
pub use preview::{Preview, PreviewKind, PreviewStep, PreviewWarning, changed_units, diff_lines};
pub use refusal_reason::{InvalidDecisionReason, NotAllowedReason};
pub use report::tool_report::{ReportState, ToolReport};
pub use request::aftermath::{ExecutionState, FileUndo, RequestAftermath};
pub use request::source::{ClaimedAuthor, RequestSource};
pub use request::stored_request::{RequestHead, StoredPart, StoredRequest};
pub use request::{
    ApprovalRequest, CallOrigin, ClosedBy, DecisionRemark, ProposedAction, ProposedCall,
    RequestDecisions, RequestResolution, RequestStatus, RequestTimes, UnaskedReason,
};
pub use requirements::{DecisionRequirements, FileRequirements, JudgedRequirements};
pub use rule::{
    ApprovalRule, EVERY_TOOL, RememberWish, RuleEffect, RuleEnd, RuleScope, RuleSubject,
    SUGGESTION_TOOL, ruling,
};
pub use suggestion::{ArrivedSuggestion, MOST_SUGGESTED, RewrittenHunks};
pub use suggestion_state::{SuggestedHunk, SuggestionState};
pub use tool_catalog::{CatalogTool, ToolCatalog};
pub use undo_file::{FileUndoOutcome, FoundFile, WrittenFile};
pub use undo_text::{JudgedUndo, TouchedPolicy, UndoScope};
