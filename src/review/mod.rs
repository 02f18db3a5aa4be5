//! What a person must decide: requests, hunks, decisions; pure.
//!
//! A [`ApprovalRequest`] is one gated tool call that waits for people. If it changes text it carries [`Hunk`]s, and a hunk is a list of
//! word-level [`HunkPart`]s. Read `hunk` for how changes stay true while people type, `decide` for how one is taken,
//! `judging` for what a decision takes, `rule` for what people approve in advance, `report` for what the model hears of it.

mod again;
mod already;
mod apply;
mod arrival;
mod credit;
mod decide;
mod decision;
mod difflib;
mod execution;
mod fingerprint;
mod hunk;
mod judging;
mod keeping;
mod pattern;
mod person;
mod policy;
mod preview;
mod rebase;
mod report;
mod request;
mod reversal;
mod rule;
mod soundness;
mod undo;

#[cfg(test)]
mod stories;

pub use crate::document::diff::{DraftPart, HunkDraft};
pub use arrival::{ArrivedHunks, ReturnedHunk};
pub use credit::{AiCredit, AuthorSpan, SpanAuthor};
pub use decision::{
    Decision, DecisionError, DecisionOutcome, FileNow, FinishRest, HunkChoice, HunkVerdict,
    PeopleAsked, RequestVerdict, TouchedSince,
};
pub use execution::{AnnouncedPreview, ExecutionState, UpdatedPreview};
pub use hunk::{Hunk, HunkDecision, HunkPart, HunkStatus};
pub use judging::{ChangeExtent, DecisionRequirements};
pub use pattern::{ExcludedPaths, PathPattern};
pub use person::Person;
pub use policy::{ApprovalRequirement, DecisionPolicy, ToolPolicy, Vote, VoteCount};
pub use preview::{Preview, PreviewKind, PreviewStep, PreviewWarning, changed_units, diff_lines};
pub use rebase::{CommittedUpdate, RebaseOutcome};
pub use report::ToolReport;
pub use request::{
    ApprovalRequest, ClosedBy, DecisionRemark, ProposedCall, RequestResolution, RequestStatus,
    RequestTimes, UnaskedReason,
};
pub use reversal::{FileUndo, FileUndoOutcome, FoundFile, WrittenFile};
pub use rule::{
    ApprovalRule, EVERY_TOOL, PLAN_TOOL, RememberWish, RuleEffect, RuleEnd, RuleScope, RuleSubject,
    ruling,
};
pub use undo::{TouchedPolicy, UndoScope};
