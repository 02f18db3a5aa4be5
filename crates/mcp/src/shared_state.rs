//! State that all sessions of MCP share.

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use copydesk_api::Application;
use copydesk_operation_table::OperationTable;

use super::changes::DocumentChanges;
use super::other_server_request::AskOtherServer;
use super::read_versions::ReadVersions;
use super::sessions::McpSessions;
use super::tools::ListedTool;

/// Maximum length of a client's message, in bytes.
pub(super) const LONGEST_MESSAGE: usize = 4 * 1024 * 1024;

/// Shared state of the MCP transport, given to [`router`](super::router).
#[derive(Clone)]
pub struct McpState {
    /// Application that does what is asked.
    pub application: Application,
    /// Declared operations, of which the tools for comments do some.
    pub operations: &'static OperationTable,
    /// Notifications of changed documents.
    pub changes: DocumentChanges,
    /// Tracker of the tasks that watch tokens and document changes.
    pub tasks: TaskTracker,
    /// Token that ends all sessions.
    pub stop: CancellationToken,
    /// Function for requests about documents of other servers, if there are any.
    pub ask_other_server: Option<AskOtherServer>,
}

/// State shared by all sessions.
pub(super) struct McpShared {
    pub(super) app: McpState,
    pub(super) tools: Vec<ListedTool>,
    pub(super) sessions: McpSessions,
    pub(super) reads: ReadVersions,
}

impl McpShared {
    /// Returns the tools that can be called, here or on another server of several.
    pub(super) fn available_tools(&self) -> impl Iterator<Item = &ListedTool> + Clone {
        let has_workspace = self.app.application.has_workspace();
        self.tools.iter().filter(move |tool| has_workspace || !tool.needs_workspace())
    }
}
