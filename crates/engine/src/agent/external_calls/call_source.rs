//! Origins of external calls.

use serde::{Deserialize, Serialize};

/// Origin of an external call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallSource {
    /// The Model Context Protocol.
    Mcp,
    /// The Messages API.
    Messages,
    /// REST.
    Rest,
    /// A person who proposes a request again.
    #[serde(rename = "desk")]
    WorkspaceInbox,
}

impl CallSource {
    /// Returns the `source` of the requests on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Mcp => "mcp",
            Self::Messages => "messages_api",
            Self::Rest => "rest",
            Self::WorkspaceInbox => "desk",
        }
    }
}
