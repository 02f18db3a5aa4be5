//! Adds to every outcome when it was and whose session it belongs to (seed 5's `PostToolUse`).

use serde_json::json;

use crate::tools::Finished;

use super::Activity;

/// `timestamp` (RFC 3339) and `sessionId`.
pub fn stamp(activity: &Activity<'_>, finished: &mut Finished) {
    let at = i64::try_from(activity.at_ms)
        .ok()
        .and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
    let about = &mut finished.outcome.about;
    about.insert("timestamp".into(), json!(at.map(|at| at.to_string())));
    about.insert("sessionId".into(), json!(activity.session.as_str()));
}
