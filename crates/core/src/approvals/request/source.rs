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
    /// Tracked changes of a file that a person imports.
    Import,
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

/// Author of the tracked changes of an imported file. The name is what the file claims, not an
/// account of this server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClaimedAuthor {
    /// Name in the file.
    pub name: String,
    /// Time of the newest change in RFC 3339, if the file has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
}
