//! The workspace of several servers is taken, and handed over by a server that does not have it.

use std::collections::HashSet;
use std::sync::atomic::Ordering;

use copydesk_ids::{DocumentId, SessionId};
use copydesk_placement::PeerMessage;

use super::{NO, NOTED, TASK, YES};
#[cfg(doc)]
use crate::RoomError;
use crate::command::RoomCommand;
use crate::state::workspace_inbox;
use crate::{RoomHandle, RoomRegistry, RoomResult};

impl RoomRegistry {
    /// Fails unless this server has the workspace, or no server ever had one.
    ///
    /// # Errors
    /// [`RoomError::NotHere`]; [`RoomError::Store`] if the database cannot be asked,
    /// [`RoomError::Closed`] while the server stops.
    pub async fn check_workspace_here(&self) -> RoomResult<()> {
        self.0.workspace.check_here().await
    }

    /// Returns `true` if this server has the workspace, or is the only one.
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
        if self.0.placement().is_shared() {
            return self.0.workspace.recall().await.map(drop);
        }
        if self.0.store.setting(NOTED).await?.as_deref() == Some(YES) {
            self.0.workspace.note(NO).await?;
        }
        Ok(())
    }

    /// Takes the workspace for this server, unless another one has it; returns `true` if this one
    /// has it then.
    ///
    /// # Errors
    /// [`RoomError::Store`] if the database cannot be asked.
    pub async fn take_workspace(&self) -> RoomResult<bool> {
        Ok(self.0.placement().claim_task(TASK).await?)
    }

    /// Waits until this server of several has the workspace.
    pub async fn await_workspace(&self) {
        self.0.placement().await_task(TASK).await;
    }

    /// Lets rooms that need the workspace open here from now on.
    ///
    /// # Errors
    /// [`RoomError::Store`] if it cannot be stored that there is a workspace.
    pub async fn serve_workspace(&self) -> RoomResult<()> {
        if !self.0.placement().is_shared() {
            return Ok(());
        }
        // Stored first: a server that hears of it must find it.
        if !self.0.workspace.recall().await? {
            self.0.workspace.note(YES).await?;
            self.0.workspace.is_shared.store(true, Ordering::Relaxed);
        }
        self.0.workspace.is_here.send_replace(true);
        self.0.placement().note_departure();
        Ok(())
    }

    /// Tells the other servers that this one has the workspace, if it has.
    pub async fn announce_workspace(&self) {
        if self.has_workspace_here() {
            self.0.placement().tell(&PeerMessage::Workspace).await;
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
        if shared.placement().has_task(TASK) || !shared.workspace.recall().await? {
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
            // While a task has this lock, the document is about to be given back or claimed.
            let loading_lock = shared.loading_lock(document);
            let _passed = loading_lock.lock().await;
            if shared.room(document).is_none() {
                shared.release(document).await;
            }
        }
        if !open.is_empty() {
            tracing::info!(rooms = open.len(), "another server has the workspace now");
            shared.placement().note_departure();
            shared.placement().tell(&PeerMessage::Released).await;
        }
        Ok(())
    }
}
