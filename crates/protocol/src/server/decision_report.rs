//! Reports that the model would be given after a decision.

use copydesk_approvals::ReportState;
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
