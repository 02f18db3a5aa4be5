//! What goes with a request: votes, warnings, whether anybody was asked, and what was done about it since.

use schemars::JsonSchema;
use serde::Serialize;
#[cfg(test)]
use ts_rs::TS;

use super::Person;

/// What became of a request besides its decision, and what can be done about it now.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS), ts(optional_fields))]
pub struct Aftermath {
    /// Whether something of it could be undone now (`approval:undo`), by whoever may decide it.
    pub can_undo: bool,
    /// Whether something of it could be proposed again now (`approval:reopen`).
    pub can_reopen: bool,
    /// Who took back what the call had done to a file; missing: nobody has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undone: Option<Undone>,
    /// The request that a person proposed again with this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub again_of: Option<String>,
    /// The request with which a person has proposed this one again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub again_as: Option<String>,
}

/// What a call had done to a file was taken back.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS))]
pub struct Undone {
    /// By whom.
    pub by: Person,
    /// When, RFC 3339.
    pub at: String,
    /// Although the file had been changed since.
    pub forced: bool,
}

/// A warning of a preview.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS))]
pub struct Warning {
    /// Stable, for programs.
    pub code: String,
    /// For people.
    pub text: String,
}

/// Votes.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS))]
pub struct Approvals {
    /// People who said yes.
    pub have: u32,
    /// People needed.
    pub need: u32,
}
