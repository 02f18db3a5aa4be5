//! What surrounds every call, in an order that is written once, here. A hook that fails denies the call.
//!
//! schema → **validate** (input) → prepare → **validate** (result) → **unread** → **freeze** → **approval** → finish → **format** → **audit**

pub mod approval;
pub mod audit;
pub mod cross_document;
pub(crate) mod cross_document_consent;
pub(crate) mod document_path_rules;
pub(crate) mod early_preparation;
pub(crate) mod execute;
pub(crate) mod file_warnings;
pub mod format;
pub mod freeze;
pub mod inbox_approval;
pub(crate) mod invisible_chars;
pub(crate) mod lookup;
pub(crate) mod open_file;
pub(crate) mod rule_targets;
pub mod unread;
pub mod validate;

use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::Value;

use crate::document::Text;
use crate::ids::{RunId, SessionId};
use crate::rooms::command::{DocumentSnapshot, SnapshotWithUpdates};

use super::{
    DocumentProposal, EditableRange, FinishedCall, ReplacedText, ToolCall, ToolError, UnreadRanges,
};

/// Before the call is prepared.
pub type BeforeHook = fn(&CallInput<'_>) -> Result<(), HookDenial>;
/// Before anybody is asked to approve what the call would do.
pub type ProposedHook = fn(&CallOutlook<'_>) -> Result<(), HookDenial>;
/// After the call, whatever came of it.
pub type AfterHook = fn(&CompletedCall<'_>, &mut FinishedCall);

/// The hooks, each list in its order.
#[derive(Clone, Copy, Debug)]
pub struct HookLists {
    /// On the input.
    pub before: &'static [BeforeHook],
    /// On what would be proposed.
    pub proposed: &'static [ProposedHook],
    /// On the outcome.
    pub after: &'static [AfterHook],
}

/// What every server runs.
pub const HOOKS: HookLists = HookLists {
    before: &[validate::range, validate::content_size],
    proposed: &[
        validate::result_size,
        validate::no_nul,
        unread::taken,
        unread::filled,
        unread::told_twice,
        freeze::frozen,
        freeze::selection,
    ],
    after: &[format::stamp, audit::log],
};

/// A call that is about to be prepared.
#[derive(Clone, Copy, Debug)]
pub struct CallInput<'a> {
    /// The tool's JSON schema.
    pub schema: &'a Value,
    /// The input, as the model gave it: it may have any shape.
    pub input: &'a Value,
    /// The document the model was shown.
    pub text: Option<&'a Text>,
}

impl CallInput<'_> {
    /// Whether the tool takes an input of this name.
    pub fn takes(&self, field: &str) -> bool {
        self.schema["properties"].get(field).is_some()
    }
}

/// What a call would do, before anybody is asked.
#[derive(Clone, Copy, Debug)]
pub struct CallOutlook<'a> {
    /// The change, in positions of `base`, and the text that would result.
    pub proposal: &'a DocumentProposal,
    /// The document the model was shown.
    pub base: &'a DocumentSnapshot,
    /// What of that it has not read all the same.
    pub unread: &'a UnreadRanges,
    /// How the tool says which words go.
    pub takes: ReplacedText,
    /// The tool that reads it.
    pub reads_with: &'static str,
    /// The document as it is, and what happened to it since.
    pub caught_up: &'a SnapshotWithUpdates,
    /// What of `base` may be changed.
    pub allowed: EditableRange,
    /// The session that asks.
    pub session: &'a SessionId,
}

/// Asks one hook; one that panics denies.
pub fn ask(hook: impl FnOnce() -> Result<(), HookDenial>) -> Result<(), ToolError> {
    // A hook only reads, so nothing can be left half done.
    let answer = catch_unwind(AssertUnwindSafe(hook));
    let unchecked =
        || Err(HookDenial("This call could not be checked; it was not executed".into()));
    answer.unwrap_or_else(|_| unchecked()).map_err(|denial| ToolError::Denied(denial.0))
}

/// Why a hook denied a call; the model and the people are told these words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookDenial(pub String);

/// A call that is over.
#[derive(Clone, Copy, Debug)]
pub struct CompletedCall<'a> {
    /// The call.
    pub call: &'a ToolCall,
    /// The session that asked.
    pub session: &'a SessionId,
    /// The run that asked.
    pub run: &'a RunId,
    /// Milliseconds since 1970.
    pub at_ms: u64,
}
