//! Origins of external calls.

use serde::{Deserialize, Serialize};

use copydesk_approvals::RequestSource;

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
    /// The workspace inbox, where a person proposes a request again.
    #[serde(rename = "desk")]
    WorkspaceInbox,
}

impl From<CallSource> for RequestSource {
    fn from(source: CallSource) -> Self {
        match source {
            CallSource::Mcp => Self::Mcp,
            CallSource::Messages => Self::MessagesApi,
            CallSource::Rest => Self::Rest,
            CallSource::WorkspaceInbox => Self::WorkspaceInbox,
        }
    }
}
