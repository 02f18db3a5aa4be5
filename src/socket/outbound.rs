//! Events of rooms and runs on their way to sockets: encoded once, sent to each member in order.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use socketioxide::extract::SocketRef;

use crate::ids::{DocumentId, MemberId};
use crate::room::Outlet;
use crate::room::event::Event;
use crate::wire::convert;

/// The sockets that are connected.
#[derive(Clone, Default)]
pub struct Sockets(Arc<RwLock<HashMap<MemberId, SocketRef>>>);

impl Sockets {
    /// Remembers a socket until [`Sockets::remove`].
    pub(super) fn insert(&self, member: MemberId, socket: SocketRef) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(member, socket);
    }

    /// Forgets a socket.
    pub(super) fn remove(&self, member: &MemberId) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).remove(member);
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.read().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Outlet for Sockets {
    fn tell(&self, document: &DocumentId, members: &[MemberId], event: &Event) {
        if members.is_empty() {
            return;
        }
        let Some(message) = convert::event(document, event) else { return };
        let sockets = self.0.read().unwrap_or_else(PoisonError::into_inner);
        for member in members {
            let Some(socket) = sockets.get(member) else { continue };
            if socket.emit(message.name, &message.payload).is_err() {
                cut_off(socket);
            }
        }
    }
}

/// Disconnects a socket whose outgoing buffer is full: it has missed something, so it must come back and resync.
pub(super) fn cut_off(socket: &SocketRef) {
    if disconnect(socket) == Ending::Begun {
        tracing::warn!(socket.id = %socket.id, "a socket cannot keep up and is cut off");
    }
}

/// Whether a socket's end began just now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// By this call.
    Begun,
    /// Before, or the socket was gone.
    Earlier,
}

/// Disconnects a socket.
///
/// The disconnect packet itself needs room in the outgoing buffer; until the reader makes some, or the heartbeat gives up
/// on it, nothing else is sent, for a client must never see an event after a gap.
pub(super) fn disconnect(socket: &SocketRef) -> Ending {
    if socket.extensions.insert(CutOff).is_some() || !socket.connected() {
        return Ending::Earlier;
    }
    let socket = socket.clone();
    tokio::spawn(async move {
        while socket.connected() && socket.clone().disconnect().is_err() {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    });
    Ending::Begun
}

/// Marks a socket that is being disconnected.
#[derive(Clone)]
struct CutOff;
