//! Place of the workspace among several servers that share a database. One of those that were given
//! a folder has it, by a lease. The workspace inbox and the documents of files are there only:
//! while no such server is running, they can be read, and nothing is changed.

mod handover;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_recursion::async_recursion as boxed;
use parking_lot::RwLock;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use copydesk_approvals::ToolCatalog;
use copydesk_ids::DocumentId;
use copydesk_store::{ClusterNode, NodeAddress, Store, StoreOp};

use super::inbox_policies::InboxPolicies;
use super::state::workspace_inbox;
use super::{RoomError, RoomResult};

/// Name of the task of the server that has the workspace.
const TASK: &str = "workspace";
/// Key under which the store notes whether one of several servers had a workspace.
const NOTED: &str = "workspace";
const YES: &str = "yes";
const NO: &str = "no";

/// Place of the workspace, as one of several servers sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorkspacePlace {
    /// This server.
    Here,
    /// Another server.
    Elsewhere(NodeAddress),
    /// A server that is not running now.
    Missing,
    /// No server has ever had one.
    Nowhere,
}

impl WorkspacePlace {
    /// Returns the error for what needs the workspace, if it is not here.
    fn check(self) -> RoomResult<()> {
        match self {
            Self::Here | Self::Nowhere => Ok(()),
            Self::Elsewhere(node) => Err(RoomError::Elsewhere(node)),
            Self::Missing => Err(RoomError::NoWorkspaceNode),
        }
    }
}

/// Knowledge of a server about the workspace.
pub(super) struct WorkspaceKnowledge {
    store: Store,
    stopping: CancellationToken,
    /// `true` once this server of several has the workspace and synchronises its files.
    is_here: watch::Sender<bool>,
    /// `true` once it is known that one of several servers has, or had, a workspace.
    is_shared: AtomicBool,
    /// Requirements of the inbox before a file is changed; `None`: nobody has needed it yet.
    pub(super) inbox_policies: RwLock<Option<Arc<InboxPolicies>>>,
    /// Tools of the server, by which rules and policies know those that change files.
    pub(super) tools: ToolCatalog,
}

impl WorkspaceKnowledge {
    pub(super) fn new(store: Store, stopping: CancellationToken, tools: ToolCatalog) -> Self {
        Self {
            store,
            stopping,
            is_here: watch::Sender::default(),
            is_shared: AtomicBool::default(),
            inbox_policies: RwLock::default(),
            tools,
        }
    }

    /// Makes sure that a document that needs the workspace is opened on the server that has it.
    /// Returns `true` if the workspace may still come to another server.
    ///
    /// # Errors
    /// [`RoomError::Elsewhere`] or [`RoomError::NoWorkspaceNode`] if this server does not have it.
    #[boxed]
    pub(super) async fn check(
        &self,
        node: &ClusterNode,
        document: &DocumentId,
    ) -> RoomResult<bool> {
        if *self.is_here.borrow() {
            return Ok(false);
        }
        let is_inbox = *document == workspace_inbox::id();
        let is_shared = self.is_shared.load(Ordering::Relaxed);
        let needs_it = is_inbox || (is_shared && self.store.file(document).await?.is_some());
        if needs_it {
            self.place(node).await?.check()?;
        }
        Ok(needs_it)
    }

    #[boxed]
    async fn place(&self, node: &ClusterNode) -> RoomResult<WorkspacePlace> {
        if node.has_task(TASK) {
            let mut is_here = self.is_here.subscribe();
            return tokio::select! {
                () = self.stopping.cancelled() => Err(RoomError::Closed),
                _ = is_here.wait_for(|is_here| *is_here) => Ok(WorkspacePlace::Here),
            };
        }
        Ok(match node.task_elsewhere(TASK).await? {
            Some(node) => WorkspacePlace::Elsewhere(node),
            None if self.recall().await? => WorkspacePlace::Missing,
            None => WorkspacePlace::Nowhere,
        })
    }

    /// Returns `true` if one of several servers has, or had, a workspace.
    async fn recall(&self) -> RoomResult<bool> {
        if !self.is_shared.load(Ordering::Relaxed) {
            let noted = self.store.setting(NOTED).await?;
            self.is_shared.fetch_or(noted.as_deref() == Some(YES), Ordering::Relaxed);
        }
        Ok(self.is_shared.load(Ordering::Relaxed))
    }

    async fn note(&self, value: &str) -> RoomResult<()> {
        let (key, value) = (NOTED.to_owned(), value.to_owned());
        Ok(self.store.commit(StoreOp::PutSetting { key, value }).await?)
    }
}
