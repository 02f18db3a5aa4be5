//! What can be seen of a room from outside without asking it: asking would keep it open.

use tokio::sync::{mpsc, watch};

use crate::ids::{DocumentId, SessionId, Version};

use super::RoomHandle;
use super::actor::RoomActor;
use super::command::RoomCommand;

/// A room at a glance, after everything was kept and told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoomStatus {
    /// The newest durable version.
    pub version: Version,
    /// Connections that are told what happens.
    pub people: usize,
}

/// A room that may close while somebody watches it.
#[derive(Clone, Debug)]
pub struct WeakRoomHandle {
    document: DocumentId,
    unlisted_owner: Option<SessionId>,
    inbox: mpsc::WeakSender<RoomCommand>,
    pulse: watch::Receiver<RoomStatus>,
}

impl RoomHandle {
    /// A way to watch the room that does not keep it open.
    pub fn downgrade(&self) -> WeakRoomHandle {
        WeakRoomHandle {
            document: self.document.clone(),
            unlisted_owner: self.unlisted_owner.clone(),
            inbox: self.inbox.downgrade(),
            pulse: self.pulse.clone(),
        }
    }

    /// The room at a glance.
    pub fn pulse(&self) -> RoomStatus {
        *self.pulse.borrow()
    }
}

impl WeakRoomHandle {
    /// The document.
    pub fn document(&self) -> &DocumentId {
        &self.document
    }

    /// The room, if it still serves.
    pub fn upgrade(&self) -> Option<RoomHandle> {
        Some(RoomHandle {
            document: self.document.clone(),
            unlisted_owner: self.unlisted_owner.clone(),
            inbox: self.inbox.upgrade()?,
            pulse: self.pulse.clone(),
        })
    }

    /// The room at a glance, now and whenever that changes; ends with the room.
    pub fn pulse(&self) -> watch::Receiver<RoomStatus> {
        self.pulse.clone()
    }
}

impl RoomActor {
    /// Shows those who watch what is durable now.
    pub(super) fn beat(&self) {
        let now = RoomStatus { version: self.told, people: self.audience.len() };
        self.pulse.send_if_modified(|pulse| std::mem::replace(pulse, now) != now);
    }
}
