//! Logs every call, and makes the line that the audit log keeps with it.

use serde_json::{Value, json};

use crate::tools::Finished;

use super::Activity;

/// Characters of a result that the audit log repeats.
const RESULT_LIMIT: usize = 500;

/// A line for the audit log; kept in one transaction with the result.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// What happened, as `noun.verb`.
    pub action: &'static str,
    /// Everything else.
    pub detail: Value,
}

/// Logs the call.
pub fn log(activity: &Activity<'_>, finished: &mut Finished) {
    let Activity { call, session, run, .. } = *activity;
    let outcome = &finished.outcome;
    tracing::info!(%session, %run, tool = call.name, failed = outcome.is_error, "tool used");
    let result: String = outcome.text.chars().take(RESULT_LIMIT).collect();
    finished.audit = Some(Line {
        action: if outcome.is_error { "tool.failed" } else { "tool.used" },
        detail: json!({
            "tool": call.name,
            "session": session.as_str(),
            "run": run.as_str(),
            "result": result,
        }),
    });
}
