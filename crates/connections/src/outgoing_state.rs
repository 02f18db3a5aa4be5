//! State of what is written over a connection.

use std::sync::Weak;
use std::thread::ThreadId;

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
    /// Frames that are gathered for one write, or the rest of them, which a task writes.
    pub(super) rest: Vec<u8>,
    /// Thread that gathers `rest`, until it has written it.
    pub(super) gatherer: Option<ThreadId>,
    /// `true` if a write of the stream waits until `rest` is written.
    pub(super) has_waiting_writer: bool,
}

impl OutgoingState {
    /// Returns `true` while `rest` has to be written before anything else.
    pub(super) fn is_taken(&self) -> bool {
        !self.rest.is_empty()
    }
}
