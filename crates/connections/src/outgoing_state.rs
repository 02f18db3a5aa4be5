//! State of what is written over a connection.

use std::sync::Weak;

use tokio::net::tcp::OwnedWriteHalf;
use tokio::runtime::Handle;

/// State of what is written over a connection, held while something is written.
#[derive(Debug, Default)]
pub(super) struct OutgoingState {
    /// Socket of the connection, which its stream keeps open.
    pub(super) socket: Weak<OwnedWriteHalf>,
    /// Runtime of the connection: some answers are written by threads that have none.
    pub(super) runtime: Option<Handle>,
    /// `true` if the last byte that was written ended a frame, and more may follow.
    pub(super) is_between_frames: bool,
    /// Rest of a frame that was written directly; a task writes it.
    pub(super) rest: Vec<u8>,
}

impl OutgoingState {
    /// Returns `true` while the rest of a frame has to be written before anything else.
    pub(super) fn is_taken(&self) -> bool {
        !self.rest.is_empty()
    }
}
