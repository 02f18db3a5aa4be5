//! Place of the workspace among several servers that share a database. One of those that were given
//! a folder has it, as a task. The workspace inbox and the documents of files are there only:
//! while no such server is running, they can be read, and nothing is changed.

mod handover;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::RwLock;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use copydesk_approvals::ToolCatalog;
use copydesk_ids::DocumentId;
use copydesk_macros::boxed;
use copydesk_placement::{NotHere, Placement};
use copydesk_store::{Store, StoreOp};

use super::inbox_policies::InboxPolicies;
use super::state::workspace_inbox;
use super::{RoomError, RoomResult};

/// Name of the task of the server that has the workspace.
const TASK: &str = "workspace";
/// Key under which the store notes whether one of several servers had a workspace.
const NOTED: &str = "workspace";
const YES: &str = "yes";
const NO: &str = "no";

/// Knowledge of a server about the workspace.
pub(super) struct WorkspaceKnowledge {
    store: Store,
    pub(super) placement: Arc<dyn Placement>,
    stopping: CancellationToken,
    /// `true` once this server has the workspace and synchronises its files; always on a server
    /// that is the only one.
    is_here: watch::Sender<bool>,
    /// `true` once it is known that one of several servers has, or had, a workspace.
    is_shared: AtomicBool,
    /// Requirements of the inbox before a file is changed; `None`: no caller has needed it yet.
    pub(super) inbox_policies: RwLock<Option<Arc<InboxPolicies>>>,
    /// Tools of the server, by which rules and policies know those that change files.
    pub(super) tools: ToolCatalog,
}

impl WorkspaceKnowledge {
    pub(super) fn new(
        (store, placement): (Store, Arc<dyn Placement>),
        stopping: CancellationToken,
        tools: ToolCatalog,
    ) -> Self {
        Self {
            store,
            is_here: watch::Sender::new(!placement.is_shared()),
            placement,
            stopping,
            is_shared: AtomicBool::default(),
            inbox_policies: RwLock::default(),
            tools,
        }
    }

    /// Makes sure that a document that needs the workspace is opened on the server that has it.
    /// Returns `true` if the workspace may still come to another server.
    ///
    /// # Errors
    /// [`RoomError::NotHere`] if this server does not have it.
    #[boxed]
    pub(super) async fn check(&self, document: &DocumentId) -> RoomResult<bool> {
        if *self.is_here.borrow() {
            return Ok(false);
        }
        let is_inbox = *document == workspace_inbox::id();
        let is_shared = self.is_shared.load(Ordering::Relaxed);
        let needs_it = is_inbox || (is_shared && self.store.file(document).await?.is_some());
        if needs_it {
            self.check_here().await?;
        }
        Ok(needs_it)
    }

    /// Fails unless this server has the workspace, or no server ever had one.
    #[boxed]
    async fn check_here(&self) -> RoomResult<()> {
        if self.placement.has_task(TASK) {
            let mut is_here = self.is_here.subscribe();
            return tokio::select! {
                () = self.stopping.cancelled() => Err(RoomError::Closed),
                _ = is_here.wait_for(|is_here| *is_here) => Ok(()),
            };
        }
        match self.placement.other_server_of_task(TASK).await? {
            Some(server) => Err(NotHere::OtherServer(server).into()),
            None if self.recall().await? => Err(NotHere::NoWorkspaceServer.into()),
            None => Ok(()),
        }
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
