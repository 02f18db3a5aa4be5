//! Origins of proposed calls.

use serde::{Deserialize, Serialize};

/// Origin of a proposed call: the permission mode of the run that made it, or the transport through
/// which an outside program made it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum RequestSource {
    /// Run whose changes people are asked about.
    #[serde(rename = "sdk")]
    Ask,
    /// Run whose changes are applied at once.
    #[serde(rename = "bypassPermissions")]
    Bypass,
    /// Run that plans first.
    #[serde(rename = "toolApproval")]
    PlanFirst,
    /// Run of the Claude CLI.
    #[serde(rename = "mcpProxy")]
    ClaudeCli,
    /// Client of the Model Context Protocol.
    Mcp,
    /// Client of the Messages API.
    #[serde(rename = "messages_api")]
    MessagesApi,
    /// Client of the REST API.
    Rest,
    /// Person who proposes a request again.
    #[serde(rename = "desk")]
    WorkspaceInbox,
    /// Unknown: stored by a version that did not record it, or that had other origins.
    #[default]
    #[serde(rename = "", other)]
    Unknown,
}

impl RequestSource {
    /// Returns `true` if an outside program made the call and waits for its result: an MCP client,
    /// or a client of the Messages API.
    pub fn is_waiting_program(self) -> bool {
        matches!(self, Self::Mcp | Self::MessagesApi)
    }
}
