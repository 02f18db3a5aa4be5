//! Status of a room that can be read without sending a command, which would keep the room open.

use tokio::sync::{mpsc, watch};

use crate::ids::{DocumentId, SessionId, Version};

use super::RoomHandle;
use super::command::RoomCommand;

/// Status of a room, after everything was stored and told; see [`RoomHandle::room_status()`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoomStatus {
    /// Newest durable version.
    pub version: Version,
    /// Number of connections that are told of events.
    pub people: usize,
}

/// Handle that does not keep its room open; see [`RoomHandle::downgrade`].
#[derive(Clone, Debug)]
pub struct WeakRoomHandle {
    document: DocumentId,
    unlisted_owner: Option<SessionId>,
    inbox: mpsc::WeakSender<RoomCommand>,
    room_status: watch::Receiver<RoomStatus>,
}

impl RoomHandle {
    /// Returns a handle that does not keep the room open.
    pub fn downgrade(&self) -> WeakRoomHandle {
        WeakRoomHandle {
            document: self.document.clone(),
            unlisted_owner: self.unlisted_owner.clone(),
            inbox: self.inbox.downgrade(),
            room_status: self.room_status.clone(),
        }
    }

    /// Returns the room's status.
    pub fn room_status(&self) -> RoomStatus {
        *self.room_status.borrow()
    }
}

impl WeakRoomHandle {
    /// Returns the identifier of the document.
    pub fn document(&self) -> &DocumentId {
        &self.document
    }

    /// Returns a [`RoomHandle`], if the room still serves.
    pub fn upgrade(&self) -> Option<RoomHandle> {
        Some(RoomHandle {
            document: self.document.clone(),
            unlisted_owner: self.unlisted_owner.clone(),
            inbox: self.inbox.upgrade()?,
            room_status: self.room_status.clone(),
        })
    }

    /// Returns a receiver of the [`RoomStatus`] and its changes; ends with the room.
    pub fn room_status(&self) -> watch::Receiver<RoomStatus> {
        self.room_status.clone()
    }
}
