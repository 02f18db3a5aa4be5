//! Logs every call, and makes the line that the audit log keeps with it.

use serde_json::{Value, json};

use crate::tools::FinishedCall;

use super::CompletedCall;

/// Characters of a result that the audit log repeats.
const RESULT_LIMIT: usize = 500;

/// A line for the audit log; kept in one transaction with the result.
#[derive(Clone, Debug, PartialEq)]
pub struct ActivityLine {
    /// What happened, as `noun.verb`.
    pub action: &'static str,
    /// Everything else.
    pub detail: Value,
}

/// Logs the call.
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
