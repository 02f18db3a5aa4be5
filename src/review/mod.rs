//! What a person must decide: requests, hunks, decisions; pure.
//!
//! A [`Request`] is one gated tool call that waits for people. If it changes text it carries [`Hunk`]s, and a hunk is a list of
//! word-level [`Part`]s. Read `hunk` for how changes stay true while people type, `decide` for how one is taken,
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
pub use arrival::{Arrival, Returned};
pub use credit::{AiCredit, Author, Credit};
pub use decision::{
    Asked, Choice, Decision, DecisionError, FileNow, Finish, HunkVerdict, Outcome, TouchedSince,
    Verdict,
};
pub use execution::{Announced, Execution, Fresh};
pub use hunk::{Hunk, HunkDecision, HunkStatus, Part};
pub use judging::{Extent, Requirements};
pub use pattern::{Hidden, PathPattern};
pub use person::Person;
pub use policy::{Consent, Policy, ToolPolicy, Vote, Votes};
pub use preview::{Preview, PreviewKind, Step, Warning, changed_units, diff_lines};
pub use rebase::{Committed, Rebased};
pub use report::Report;
pub use request::{Clock, Closed, Proposal, Remark, Request, RequestStatus, Resolution, Unasked};
pub use reversal::{FoundFile, Reversal, Reversed, Written};
pub use rule::{EVERY_TOOL, Effect, Ended, Matter, PLAN_TOOL, Remember, Rule, Scope, ruling};
pub use undo::{Touched, UndoScope};
