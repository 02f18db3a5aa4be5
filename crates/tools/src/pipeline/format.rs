//! Hook that adds time and session to every outcome (document agent protocol's `PostToolUse`).

use serde_json::json;

use crate::{FinishedCall, ToolOutcome};
use copydesk_ids::SessionId;

use super::hooks::CompletedCall;

/// Adds `timestamp` (RFC 3339), `sessionId`, and `updateType: none` if no tool has set another.
pub fn stamp(activity: &CompletedCall<'_>, finished: &mut FinishedCall) {
    stamp_outcome(&mut finished.outcome, activity.session, activity.at_ms);
}

/// Adds these fields, where missing, to the outcome of a call that was not run and so passed no
/// hook.
pub fn stamp_outcome(outcome: &mut ToolOutcome, session: &SessionId, at_ms: u64) {
    let at = i64::try_from(at_ms).ok().and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
    let about = &mut outcome.about;
    about.entry("timestamp").or_insert_with(|| json!(at.map(|at| format!("{at:.3}"))));
    about.entry("sessionId").or_insert_with(|| json!(session.as_str()));
    about.entry("updateType").or_insert_with(|| "none".into());
}
