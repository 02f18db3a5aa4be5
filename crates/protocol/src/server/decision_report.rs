//! Reports that the model would be given after a decision.

use copydesk_macros::wire;

/// Answer of `approval:told`: the report that the model would be given if this decision were taken
/// now.
#[wire(Serialize, TS)]
pub struct Told {
    /// Text of the report.
    pub text: String,
    /// `true`: the report is marked as an error.
    pub is_error: bool,
    /// Known part of the report.
    #[serde(flatten)]
    pub state: ReportState,
}

/// Known part of a report before the decision is taken.
#[wire(Serialize, TS)]
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
