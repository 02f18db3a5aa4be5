//! Hooks of the approval step. Those before the approval deny the call by failing; those after it
//! cannot fail.

use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::Value;

use copydesk_document::Text;
use copydesk_ids::{RunId, SessionId};
use copydesk_rooms::command::{DocumentSnapshot, SnapshotWithUpdates};

use crate::{
    DocumentProposal, EditableRange, FinishedCall, ReplacedText, ToolCall, ToolError, ToolResult,
    UnreadRanges,
};

/// Hook on a [`CallInput`], before the call is prepared.
pub type BeforeHook = fn(&CallInput<'_>) -> Result<(), HookDenial>;
/// Hook on a [`CallOutlook`], before people are asked to approve the call.
pub type ProposedHook = fn(&CallOutlook<'_>) -> Result<(), HookDenial>;
/// Hook on a [`CompletedCall`], whatever its outcome.
pub type AfterHook = fn(&CompletedCall<'_>, &mut FinishedCall);

/// Hooks of a registry, each list in its order.
#[derive(Clone, Copy, Debug)]
pub struct HookLists {
    /// Hooks on the input.
    pub before: &'static [BeforeHook],
    /// Hooks on the proposal.
    pub proposed: &'static [ProposedHook],
    /// Hooks on the outcome.
    pub after: &'static [AfterHook],
}

/// Call that is about to be prepared, as a [`BeforeHook`] sees it.
#[derive(Clone, Copy, Debug)]
pub struct CallInput<'a> {
    /// JSON schema of the tool.
    pub schema: &'a Value,
    /// Input as the model gave it; it may have any shape.
    pub input: &'a Value,
    /// Text of the document that the model was shown.
    pub text: Option<&'a Text>,
}

impl CallInput<'_> {
    /// Returns `true` if the tool has an input field of this name.
    pub fn takes(&self, field: &str) -> bool {
        self.schema["properties"].get(field).is_some()
    }
}

/// Prepared proposal of a call, as a [`ProposedHook`] sees it.
#[derive(Clone, Copy, Debug)]
pub struct CallOutlook<'a> {
    /// Change in positions of `base`, and the text that would result.
    pub proposal: &'a DocumentProposal,
    /// Document that the model was shown.
    pub base: &'a DocumentSnapshot,
    /// Ranges of `base` that the model has not read.
    pub unread: &'a UnreadRanges,
    /// Kind of reference to the words that the call removes.
    pub replaces: ReplacedText,
    /// Name of the tool that reads the document.
    pub reads_with: &'static str,
    /// Document as it is now, and its updates since `base`.
    pub caught_up: &'a SnapshotWithUpdates,
    /// Part of `base` that may be changed.
    pub allowed: EditableRange,
    /// Session that asks.
    pub session: &'a SessionId,
}

/// Runs one hook; a hook that panics denies the call.
pub fn run_hook(hook: impl FnOnce() -> Result<(), HookDenial>) -> ToolResult<()> {
    // A hook only reads, so a panic leaves nothing half done.
    let answer = catch_unwind(AssertUnwindSafe(hook));
    let unchecked =
        || Err(HookDenial("This call could not be checked; it was not executed".into()));
    answer.unwrap_or_else(|_| unchecked()).map_err(|denial| ToolError::Denied(denial.0))
}

/// Reason why a hook denied a call, in words for the model and for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookDenial(pub String);

/// Call that is over, as an [`AfterHook`] sees it.
#[derive(Clone, Copy, Debug)]
pub struct CompletedCall<'a> {
    /// Call that was made.
    pub call: &'a ToolCall,
    /// Session that asked.
    pub session: &'a SessionId,
    /// Run that asked.
    pub run: &'a RunId,
    /// Time of the end, in milliseconds since 1970.
    pub at_ms: u64,
}
