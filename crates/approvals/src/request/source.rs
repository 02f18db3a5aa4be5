//! Origins of proposed calls.

use serde::{Deserialize, Serialize};

/// Origin of a proposed call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "wire", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub enum RequestSource {
    /// A run whose changes people are asked about.
    #[serde(rename = "sdk")]
    Ask,
    /// A run whose changes are applied at once.
    #[serde(rename = "bypassPermissions")]
    Bypass,
    /// A run that plans first.
    #[serde(rename = "toolApproval")]
    PlanFirst,
    /// A run of the Claude CLI.
    #[serde(rename = "mcpProxy")]
    ClaudeCli,
    /// A client of the Model Context Protocol.
    Mcp,
    /// A client of the Messages API.
    #[serde(rename = "messages_api")]
    MessagesApi,
    /// A client of the REST API.
    Rest,
    /// A person who proposes a request again.
    #[serde(rename = "desk")]
    WorkspaceInbox,
    /// Tracked changes of an imported file.
    Import,
    /// A person who suggests changes.
    Person,
    /// Stored by a version that did not record it.
    #[default]
    #[serde(rename = "", other)]
    Unknown,
}

impl RequestSource {
    /// Returns `true` if a run made the call, not a person by hand.
    pub fn is_run(self) -> bool {
        !matches!(self, Self::Import | Self::Person)
    }

    /// Returns `true` if an outside program made the call and waits for its result.
    pub fn is_waiting_program(self) -> bool {
        matches!(self, Self::Mcp | Self::MessagesApi)
    }
}

/// Author of the tracked changes of an imported file, as the file names them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "wire", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
pub struct ClaimedAuthor {
    /// Name; no account of this server.
    pub name: String,
    /// Time of the newest change in RFC 3339, if the file has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
}
