//! Hooks of the approval step. A hook before the approval that fails denies the call; the hooks after
//! it cannot fail.

use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::Value;

use crate::document::Text;
use crate::ids::{RunId, SessionId};
use crate::rooms::command::{DocumentSnapshot, OriginRequests, SnapshotWithUpdates};

use super::{audit, format, freeze, unread, validate};
use crate::tools::schema::expected;
use crate::tools::{
    DocumentProposal, EditableRange, FinishedCall, ReplacedText, ToolCall, ToolContext, ToolError,
    ToolFacts, ToolRegistry, ToolResult, ToolScope, UnreadRanges,
};

/// Hook on a [`CallInput`], before the call is prepared.
pub type BeforeHook = fn(&CallInput<'_>) -> Result<(), HookDenial>;
/// Hook on a [`CallOutlook`], before anybody is asked to approve the call.
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

/// Hooks that every server runs.
pub const HOOKS: HookLists = HookLists {
    before: &[validate::range, validate::content_size],
    proposed: &[
        validate::written_size,
        validate::no_nul,
        unread::deny_removing_unread,
        unread::deny_overwriting_filled,
        unread::deny_second_rewrite,
        freeze::frozen,
        freeze::selection,
    ],
    after: &[format::stamp, audit::log],
};

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
///
/// # Errors
/// [`ToolError::Denied`] with the reason of the hook, or with a general one if it panicked.
pub fn run_hook(hook: impl FnOnce() -> Result<(), HookDenial>) -> Result<(), ToolError> {
    // A hook only reads, so a panic leaves nothing half done.
    let answer = catch_unwind(AssertUnwindSafe(hook));
    let unchecked =
        || Err(HookDenial("This call could not be checked; it was not executed".into()));
    answer.unwrap_or_else(|_| unchecked()).map_err(|denial| ToolError::Denied(denial.0))
}

impl ToolRegistry {
    /// Checks a call before anything of it is prepared: that its input fits, and that its result
    /// tells nothing that rules keep from the model.
    pub(crate) async fn validate(
        &self,
        tool: &ToolFacts,
        context: &ToolContext,
        call: &ToolCall,
    ) -> ToolResult<()> {
        // The arguments that a model wrote may be no JSON at all; nobody is asked about that.
        if !call.input.is_object() {
            let reason = "invalid JSON arguments".to_owned();
            let expected = expected(&tool.schema);
            return Err(ToolError::Input { tool: tool.name, reason, expected });
        }
        if tool.scope == ToolScope::Workspace && context.environment.workspace.is_none() {
            return Err(self.unknown_here(context, tool.name));
        }
        self.check_reveals_nothing(tool, context, call).await?;
        self.check(tool, context, &call.input)
    }

    /// Checks an input with the hooks and the tool.
    pub(crate) fn check(
        &self,
        tool: &ToolFacts,
        context: &ToolContext,
        input: &Value,
    ) -> Result<(), ToolError> {
        let text = context.view.base.as_ref().map(|reading| &reading.text);
        let shaped = tool.shaped(input);
        let subject = CallInput { schema: &tool.schema, input: &shaped, text };
        for hook in self.hooks.before {
            run_hook(|| hook(&subject))?;
        }
        tool.check(input)
    }

    /// Runs the hooks that check a proposal.
    pub(crate) async fn check_proposal(
        &self,
        tool: &ToolFacts,
        context: &ToolContext,
        proposal: &DocumentProposal,
    ) -> Result<(), ToolError> {
        let base = context.document()?;
        let is_newest = context.room.room_status().version == base.version;
        // If nothing was frozen when the text was read, the room itself checks passages that were
        // frozen since.
        let caught_up = if is_newest && base.settings.frozen.is_empty() {
            SnapshotWithUpdates { now: base.clone(), missed: Vec::new(), causes: Vec::new() }
        } else {
            // Only proposals for the whole text are compared with earlier proposals
            // (`tools/pipeline/unread.rs`).
            let is_whole = tool.replaces == ReplacedText::Document;
            let causes = if is_whole { OriginRequests::Named } else { OriginRequests::LeftOut };
            context.room.catch_up(base.version, causes).await?
        };
        let outlook = CallOutlook {
            proposal,
            base,
            unread: &context.view.base_unread,
            replaces: tool.replaces,
            reads_with: context.reads_with(),
            caught_up: &caught_up,
            allowed: context.view.editable,
            session: &context.call.session,
        };
        self.hooks.proposed.iter().try_for_each(|hook| run_hook(|| hook(&outlook)))
    }

    /// Runs the hooks on the outcome of a call.
    pub(crate) fn run_post_hooks(
        &self,
        context: &ToolContext,
        call: &ToolCall,
        mut finished: FinishedCall,
    ) -> FinishedCall {
        finished.outcome.tool_use_id.clone_from(&call.id);
        let activity = CompletedCall {
            call,
            session: &context.call.session,
            run: &context.call.run,
            at_ms: context.environment.clock.now_ms(),
        };
        for hook in self.hooks.after {
            hook(&activity, &mut finished);
        }
        finished
    }
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
