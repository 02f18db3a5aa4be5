//! Result of a tool call as it is reported to the model.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Length of quoted words in a report, in characters; longer ones are cut.
const QUOTE_CHARS: usize = 120;

/// Result of a tool call as the review decides it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolReport {
    /// Text for the model.
    pub text: String,
    /// `true` if the model should treat it as a failure.
    pub is_error: bool,
}

/// Known part of a report before the decision is taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "wire", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "state", rename_all = "lowercase")]
pub enum ReportState {
    /// Changes are still open: the model is told nothing yet.
    Waiting {
        /// Lines about the changes and remarks of people so far, each after a line break.
        so_far: String,
    },
    /// The call runs now, and its result is part of the report.
    Runs {
        /// Text that the model reads before the result.
        before: String,
        /// Text that it reads after the result, each line after a line break.
        after: String,
    },
    /// Everything is known.
    Complete,
}

pub(crate) fn quoted(words: &str) -> String {
    let mut short: String = words.chars().take(QUOTE_CHARS).collect();
    if short.len() < words.len() {
        short.push('…');
    }
    Value::from(short).to_string()
}
