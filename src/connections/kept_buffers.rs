//! Memory that connections keep after long messages.
//!
//! The buffers of a WebSocket stay as long as its longest frame was. Of one person's connections
//! that keep too much, and of the server's, the largest are ended, those with nothing to send
//! first: their clients connect again and get what they missed, with short buffers.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::EndReason;
use super::session::ClientSession;

/// Longest buffer, in bytes, that is not counted.
const SHORT_BUFFER_BYTES: u64 = 64 * 1024;
/// Bytes that connections of one person keep, beyond those of the largest.
const PERSON_BYTES: usize = 64 * 1024 * 1024;
/// Bytes that connections of a person who may only read keep, beyond those of the largest.
const READER_BYTES: usize = 24 * 1024 * 1024;

/// Count of kept bytes: of one connection, one person or the server.
#[derive(Debug, Default)]
pub(super) struct KeptBytes(AtomicUsize);

impl KeptBytes {
    /// Counts more bytes; returns the sum.
    pub(super) fn add(&self, bytes: usize) -> usize {
        self.0.fetch_add(bytes, Ordering::Relaxed) + bytes
    }

    /// Counts bytes no more.
    pub(super) fn remove(&self, bytes: usize) {
        self.0.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Counts nothing any more; returns the bytes that were counted.
    pub(super) fn take(&self) -> usize {
        self.0.swap(0, Ordering::Relaxed)
    }

    /// Returns the number of bytes.
    pub(super) fn get(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

/// Buffer of one direction of a WebSocket.
#[derive(Debug, Default)]
pub(super) struct KeptBuffer {
    bytes: usize,
}

impl KeptBuffer {
    /// Grows the buffer for a frame of this length.
    pub(super) fn grow(&mut self, session: &ClientSession, length: u64) {
        let bytes = usize::try_from(length).unwrap_or(usize::MAX);
        if length > SHORT_BUFFER_BYTES && bytes > self.bytes {
            session.keep(bytes - self.bytes);
            self.bytes = bytes;
        }
    }
}

impl ClientSession {
    /// Counts bytes that a buffer of its connection keeps in addition, and ends another client if
    /// its person's connections, or all connections, then keep too much.
    pub(super) fn keep(&self, more: usize) {
        let Some(person) = self.person() else { return };
        let own = self.kept.add(more);
        let limit = if person.only_reads() { READER_BYTES } else { PERSON_BYTES };
        let is_full = person.all_keep_too_much(more);
        let leaving = if person.kept.add(more).saturating_sub(own) > limit {
            person.largest_keeper(self)
        } else if is_full {
            person.largest_keeper_of_all(self)
        } else {
            None
        };
        if let Some(keeper) = leaving {
            keeper.end(EndReason::KeepsTooMuch);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::connections::{ConnectionLimits, ConnectionRegistry};
    use crate::permissions::{Principal, Role};

    fn viewer(name: &str) -> Principal {
        Principal { user: name.into(), name: name.to_owned(), role: Role::Viewer, document: None }
    }

    /// Returns how many of `clients` clients of each person are left after each kept a megabyte.
    fn left(memory: usize, people: &[&str], clients: usize) -> usize {
        let connections = ConnectionRegistry::new(ConnectionLimits { memory, open_files: None });
        let mut sessions = Vec::new();
        for person in people {
            for number in 0..clients {
                let session = connections.websocket_client();
                let name = format!("{person}{number}");
                connections.admit(&session, name, &viewer(person)).unwrap();
                session.keep(1 << 20);
                sessions.push(session);
            }
        }
        sessions.iter().filter(|it| !it.is_ended()).count()
    }

    #[test]
    fn a_shared_link_has_a_dozen_readers_of_a_long_document_and_no_end_of_buffers() {
        assert_eq!(left(1 << 30, &["ana"], 12), 12);
        assert_eq!(left(1 << 30, &["ana"], 60), 25);
    }

    #[test]
    fn everybody_together_keeps_a_quarter_of_the_servers_memory() {
        assert_eq!(left(64 << 20, &["ana", "ben", "cleo"], 10), 16);
    }
}
