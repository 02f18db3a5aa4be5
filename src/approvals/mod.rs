//! What a person must decide: requests, hunks, decisions; pure.
//!
//! A [`ApprovalRequest`] is one gated tool call that waits for people. If it changes text it carries [`Hunk`]s, and a hunk is a list of
//! word-level [`HunkPart`]s. Read `hunk` for how changes stay true while people type, `decide` for how one is taken,
//! `judging` for what a decision takes, `rule` for what people approve in advance, `report` for what the model hears of it.

mod apply;
mod authorship;
mod decide;
mod decision;
mod duplicate;
mod execution;
mod hunk;
mod invariants;
mod judging;
mod map_to_head;
mod path_pattern;
mod person;
mod policy;
mod preview;
mod rebase;
mod reopen;
mod report;
mod request;
mod rule;
mod undo_file;
mod undo_text;

#[cfg(test)]
mod tests;

pub use crate::document::diff::{DraftPart, HunkDraft};
pub use authorship::{AiCredit, AuthorSpan, SpanAuthor};
pub use decision::{
    Decision, DecisionError, DecisionOutcome, FileNow, FinishRest, HunkChoice, HunkVerdict,
    PeopleAsked, RequestVerdict, TouchedSince,
};
pub use execution::{AnnouncedPreview, ExecutionState, UpdatedPreview};
pub use hunk::{Hunk, HunkDecision, HunkPart, HunkStatus};
pub use judging::{ChangeExtent, DecisionRequirements, FileRequirements};
pub use map_to_head::{ArrivedHunks, ReturnedHunk};
pub use path_pattern::{ExcludedPaths, PathPattern};
pub use person::Person;
pub use policy::{ApprovalRequirement, DecisionPolicy, ToolPolicy, Vote, VoteCount};
pub use preview::{Preview, PreviewKind, PreviewStep, PreviewWarning, changed_units, diff_lines};
pub use rebase::{CommittedUpdate, RebaseOutcome};
pub use report::ToolReport;
pub use request::{
    ApprovalRequest, ClosedBy, DecisionRemark, ProposedCall, RequestResolution, RequestStatus,
    RequestTimes, UnaskedReason,
};
pub use rule::{
    ApprovalRule, EVERY_TOOL, PLAN_TOOL, RememberWish, RuleEffect, RuleEnd, RuleScope, RuleSubject,
    ruling,
};
pub use undo_file::{FileUndo, FileUndoOutcome, FoundFile, WrittenFile};
pub use undo_text::{TouchedPolicy, UndoScope};
