//! Dependencies that all rooms and their registry share.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use parking_lot::{Mutex, MutexGuard, RwLock};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use copydesk_ids::DocumentId;
use copydesk_placement::Placement;
use copydesk_store::Store;

use super::inbox_policies::InboxPolicies;
use super::persistence::loading;
use super::request_index::RequestIndex;
use super::settings::ServerSettings;
use super::state::{ApplyContext, RoomState, workspace_inbox};
use super::workspace_place::WorkspaceKnowledge;
use super::{EventSink, RoomError, RoomHandle, RoomResult, WeakRoomHandle};
use copydesk_clock::WallClock;

/// Dependencies that every room shares.
pub(super) struct RoomDeps {
    pub(super) store: Store,
    pub(super) sink: Arc<dyn EventSink>,
    pub(super) clock: WallClock,
    pub(super) stopping: CancellationToken,
    pub(super) settings: RwLock<ServerSettings>,
    /// Settings that the server was started with.
    pub(super) started_with: ServerSettings,
    pub(super) tasks: TaskTracker,
    pub(super) open: Mutex<HashMap<DocumentId, RoomHandle>>,
    /// Receiver of a handle of each room that opens.
    pub(super) watcher: OnceLock<mpsc::UnboundedSender<WeakRoomHandle>>,
    /// Locks by document: two people who open a document at once get one room, and no one waits for
    /// another document.
    pub(super) loading_locks: Mutex<HashMap<DocumentId, Arc<LoadingLock>>>,
    pub(super) request_index: Mutex<RequestIndex>,
    pub(super) workspace: WorkspaceKnowledge,
}

/// Lock that is held while a document is loaded.
type LoadingLock = tokio::sync::Mutex<()>;

impl RoomDeps {
    pub(super) fn settings(&self) -> ServerSettings {
        self.settings.read().clone()
    }

    pub(super) fn placement(&self) -> &Arc<dyn Placement> {
        &self.workspace.placement
    }

    /// Returns the time and the settings at which a command is applied now.
    pub(super) fn now(&self) -> ApplyContext {
        ApplyContext {
            ms: self.clock.now_ms(),
            server: self.settings(),
            inbox_policies: self.inbox_policies(),
            tools: self.workspace.tools.clone(),
        }
    }

    /// Returns what the inbox requires before a file is changed; the defaults if
    /// [`Self::load_inbox_policies`] has not loaded it.
    pub(super) fn inbox_policies(&self) -> Arc<InboxPolicies> {
        self.workspace.inbox_policies.read().clone().unwrap_or_default()
    }

    /// Takes over what the inbox asks for from now on.
    pub(super) fn put_inbox_policies(&self, inbox: &RoomState) {
        let policies = Arc::new(inbox.inbox_policies());
        let known = &self.workspace.inbox_policies;
        *known.write() = Some(policies);
    }

    /// Looks up what the inbox asks for, unless that is known.
    pub(super) async fn load_inbox_policies(&self) -> RoomResult<()> {
        let known = &self.workspace.inbox_policies;
        let is_known = known.read().is_some();
        if is_known {
            return Ok(());
        }
        let found = match loading::load(&self.store, &workspace_inbox::id()).await {
            Ok(inbox) => inbox.inbox_policies(),
            Err(RoomError::NoDocument) => InboxPolicies::default(),
            Err(error) => return Err(error),
        };
        let mut known = known.write();
        known.get_or_insert_with(|| Arc::new(found));
        Ok(())
    }

    pub(super) fn put_settings(&self, settings: ServerSettings) {
        *self.settings.write() = settings;
    }

    /// Locks the open rooms: while this is locked, no caller gets a new handle to one.
    pub(super) fn open(&self) -> MutexGuard<'_, HashMap<DocumentId, RoomHandle>> {
        self.open.lock()
    }

    /// Locks the index from requests to documents.
    pub(super) fn request_index(&self) -> MutexGuard<'_, RequestIndex> {
        self.request_index.lock()
    }

    /// Claims a document for this server, before its room is loaded.
    pub(super) async fn claim(&self, document: &DocumentId) -> RoomResult<()> {
        let may_move = self.workspace.check(document).await?;
        self.placement().claim(document).await?;
        // Another server may have got the workspace in between, and looks for its documents.
        if may_move && let Err(error) = self.workspace.check(document).await {
            self.placement().release(document).await;
            return Err(error);
        }
        Ok(())
    }

    /// Gives a document back that is not open here, once nothing of it can be stored any more:
    /// while a commit with an unknown outcome may still come, it stays here.
    pub(super) async fn release(&self, document: &DocumentId) {
        if self.placement().is_shared() && self.store.settle().await.is_ok() {
            self.placement().release(document).await;
        }
    }

    /// Returns the room of a document, if it is open and its task is alive.
    pub(super) fn room(&self, document: &DocumentId) -> Option<RoomHandle> {
        self.open().get(document).filter(|room| room.is_open()).cloned()
    }

    pub(super) fn loading_lock(&self, document: &DocumentId) -> Arc<LoadingLock> {
        let mut loading_locks = self.loading_locks.lock();
        // Locks that no task holds any more are removed.
        loading_locks.retain(|_, loading_lock| Arc::strong_count(loading_lock) > 1);
        Arc::clone(loading_locks.entry(document.clone()).or_default())
    }
}
