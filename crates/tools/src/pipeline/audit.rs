//! Hook that logs every call and makes its line for the audit log.

use serde_json::json;

use crate::{ActivityLine, FinishedCall};

use super::hooks::CompletedCall;

/// Maximum length of a result in the audit log, in characters.
const RESULT_LIMIT: usize = 500;

/// Logs the call and attaches its [`ActivityLine`].
pub fn log(activity: &CompletedCall<'_>, finished: &mut FinishedCall) {
    let CompletedCall { call, session, run, .. } = *activity;
    let outcome = &finished.outcome;
    tracing::info!(%session, %run, tool = call.name, failed = outcome.is_error, "tool used");
    let result: String = outcome.text.chars().take(RESULT_LIMIT).collect();
    finished.audit = Some(ActivityLine {
        action: if outcome.is_error { "tool.failed" } else { "tool.used" },
        detail: json!({
            "tool": call.name,
            "session": session.as_str(),
            "run": run.as_str(),
            "result": result,
        }),
    });
}
