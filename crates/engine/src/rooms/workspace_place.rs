//! Place of the workspace among several servers that share a database. One of those that were given
//! a folder has it, by a lease. The workspace inbox and the documents of files are there only:
//! while no such server is running, they can be read, and nothing is changed.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::watch;

use crate::ids::{DocumentId, SessionId};
use crate::store::{ClusterNode, LeaseHolder, NodeAddress, NodeNews, StoreOp};

use super::command::RoomCommand;
use super::registry::RoomRegistry;
use super::room_deps::RoomDeps;
use super::state::workspace_inbox;
use super::{RoomError, RoomHandle, RoomResult};

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

/// Knowledge of one server about the workspace.
#[derive(Debug, Default)]
pub(super) struct WorkspaceKnowledge {
    /// `true` once this server has the workspace and its files are synchronised.
    is_here: watch::Sender<bool>,
    /// `true` once it is known that one of several servers has, or had, a workspace.
    is_shared: AtomicBool,
}

impl RoomDeps {
    /// Makes sure that a document that needs the workspace is opened on the server that has it.
    /// Returns `true` if the workspace may still come to another server.
    ///
    /// # Errors
    /// [`RoomError::Elsewhere`] or [`RoomError::NoWorkspaceNode`] if this server does not have it.
    pub(super) async fn check_workspace(
        &self,
        node: &ClusterNode,
        document: &DocumentId,
    ) -> RoomResult<bool> {
        if *self.workspace.is_here.borrow() {
            return Ok(false);
        }
        let is_inbox = *document == workspace_inbox::id();
        let is_shared = self.workspace.is_shared.load(Ordering::Relaxed);
        if !is_inbox && !(is_shared && self.store.file(document).await?.is_some()) {
            return Ok(false);
        }
        self.workspace_place(node).await?.check()?;
        Ok(true)
    }

    async fn workspace_place(&self, node: &ClusterNode) -> RoomResult<WorkspacePlace> {
        if node.has_task(TASK) {
            let mut is_here = self.workspace.is_here.subscribe();
            return tokio::select! {
                () = self.stopping.cancelled() => Err(RoomError::Closed),
                _ = is_here.wait_for(|is_here| *is_here) => Ok(WorkspacePlace::Here),
            };
        }
        Ok(match node.task_elsewhere(TASK).await? {
            Some(node) => WorkspacePlace::Elsewhere(node),
            None if self.is_workspace_shared().await? => WorkspacePlace::Missing,
            None => WorkspacePlace::Nowhere,
        })
    }

    async fn is_workspace_shared(&self) -> RoomResult<bool> {
        let is_shared = &self.workspace.is_shared;
        if !is_shared.load(Ordering::Relaxed) {
            let noted = self.store.setting(NOTED).await?;
            is_shared.fetch_or(noted.as_deref() == Some(YES), Ordering::Relaxed);
        }
        Ok(is_shared.load(Ordering::Relaxed))
    }
}

impl RoomRegistry {
    /// Returns the place of the workspace; a server that is the only one has it.
    ///
    /// # Errors
    /// [`RoomError::Store`] if the database cannot be asked, [`RoomError::Closed`] while the server
    /// stops.
    pub async fn workspace_place(&self) -> RoomResult<WorkspacePlace> {
        match self.0.store.node() {
            Some(node) => self.0.workspace_place(node).await,
            None => Ok(WorkspacePlace::Here),
        }
    }

    /// Fails unless this server has the workspace, or no server ever had one.
    ///
    /// # Errors
    /// [`RoomError::Elsewhere`] or [`RoomError::NoWorkspaceNode`], and those of
    /// [`Self::workspace_place`].
    pub async fn check_workspace_here(&self) -> RoomResult<()> {
        self.workspace_place().await?.check()
    }

    /// Returns `true` if this server of several has the workspace.
    pub fn has_workspace_here(&self) -> bool {
        *self.0.workspace.is_here.borrow()
    }

    /// Returns `true` if it is known that one of several servers has, or had, a workspace.
    pub fn knows_of_workspace(&self) -> bool {
        self.0.workspace.is_shared.load(Ordering::Relaxed)
    }

    /// Returns the path of the file that a document is, as it is stored.
    ///
    /// # Errors
    /// [`RoomError::Store`] if it cannot be read.
    pub async fn stored_path(&self, document: &DocumentId) -> RoomResult<Option<String>> {
        Ok(self.0.store.file(document).await?.map(|file| file.path))
    }

    /// Looks up whether one of several servers had a workspace. A server that is the only one
    /// notes that this is over: from now on, its own options say whether there is one.
    ///
    /// # Errors
    /// [`RoomError::Store`] if that can be neither read nor stored.
    pub async fn recall_workspace(&self) -> RoomResult<()> {
        if self.0.store.node().is_some() {
            return self.0.is_workspace_shared().await.map(drop);
        }
        if self.0.store.setting(NOTED).await?.as_deref() == Some(YES) {
            let (key, value) = (NOTED.to_owned(), NO.to_owned());
            self.0.store.commit(StoreOp::PutSetting { key, value }).await?;
        }
        Ok(())
    }

    /// Takes the workspace for this server, unless another one has it; returns `true` if this one
    /// has it then.
    ///
    /// # Errors
    /// [`RoomError::Store`] if the database cannot be asked.
    pub async fn take_workspace(&self) -> RoomResult<bool> {
        let Some(node) = self.0.store.node() else { return Ok(true) };
        Ok(node.lease_task(TASK).await? == LeaseHolder::Here)
    }

    /// Waits until this server of several has the workspace.
    pub async fn await_workspace(&self) {
        if let Some(node) = self.0.store.node() {
            node.await_task(TASK).await;
        }
    }

    /// Lets rooms that need the workspace open here from now on.
    ///
    /// # Errors
    /// [`RoomError::Store`] if it cannot be stored that there is a workspace.
    pub async fn serve_workspace(&self) -> RoomResult<()> {
        let Some(node) = self.0.store.node() else { return Ok(()) };
        // Stored first: a server that hears of it must find it.
        if !self.0.is_workspace_shared().await? {
            let (key, value) = (NOTED.to_owned(), YES.to_owned());
            self.0.store.commit(StoreOp::PutSetting { key, value }).await?;
            self.0.workspace.is_shared.store(true, Ordering::Relaxed);
        }
        self.0.workspace.is_here.send_replace(true);
        node.note_departure();
        Ok(())
    }

    /// Tells the other servers that this one has the workspace, if it has.
    pub async fn announce_workspace(&self) {
        if let Some(node) = self.0.store.node().filter(|_| self.has_workspace_here()) {
            node.tell(&NodeNews::Workspace).await;
        }
    }

    /// Closes the rooms that are to be on another server, because that has the workspace now: those
    /// that need it, and the private documents of sessions without a run at work.
    ///
    /// # Errors
    /// [`RoomError::Store`] if the files cannot be read.
    pub async fn hand_over_workspace(
        &self,
        is_at_work: impl Fn(&SessionId) -> bool,
    ) -> RoomResult<()> {
        let shared = &self.0;
        let Some(node) = shared.store.node() else { return Ok(()) };
        if !shared.is_workspace_shared().await? || node.has_task(TASK) {
            return Ok(());
        }
        let files = shared.store.files().await?;
        let files: HashSet<_> = files.into_iter().map(|(file, _)| file.document).collect();
        let inbox = workspace_inbox::id();
        let moves = |room: &&RoomHandle| {
            let is_idle = room.unlisted_owner().is_some_and(|session| !is_at_work(session));
            is_idle || files.contains(room.document())
        };
        let open: Vec<_> = shared.open().values().filter(moves).cloned().collect();
        for room in &open {
            room.send(RoomCommand::HandOver).await;
            room.closed().await;
        }
        let documents = open.iter().map(RoomHandle::document).chain([&inbox]);
        for document in documents {
            // While somebody has this lock, the lease is about to be given back or taken.
            let loading_lock = shared.loading_lock(document);
            let _passed = loading_lock.lock().await;
            if shared.room(document).is_none() && shared.store.settle().await.is_ok() {
                node.release(document).await;
            }
        }
        if !open.is_empty() {
            tracing::info!(rooms = open.len(), "another server has the workspace now");
            node.note_departure();
            node.tell(&NodeNews::Leases).await;
        }
        Ok(())
    }
}
