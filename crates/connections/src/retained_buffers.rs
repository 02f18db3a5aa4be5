//! Memory that connections keep after long messages.
//!
//! The buffers of a WebSocket stay as long as its longest frame was. Of one person's connections
//! that keep too much, and of the server's, the largest are ended, those with nothing to send
//! first: their clients connect again and get what they missed, with short buffers. A client that
//! is being sent a long message is given time to read it.

use std::cmp::Reverse;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::EndReason;
use super::memory_accounts::{AccountsShared, PersonAccount};
use super::socket_client::SocketClient;

/// Longest buffer, in bytes, that is not counted.
const SHORT_BUFFER_BYTES: usize = 8 * 1024;
/// Bytes of messages that a WebSocket collects before it writes them.
const COLLECTED_BYTES: usize = 128 * 1024;
/// Bytes that connections of one person keep, beyond those of the largest.
const PERSON_BYTES: usize = 64 * 1024 * 1024;
/// Bytes that connections of a person who may only read keep, beyond those of the largest.
const READER_BYTES: usize = 24 * 1024 * 1024;
/// Bytes that connections of one person keep in addition for a moment, for long messages.
const MOMENT_BYTES: usize = 48 * 1024 * 1024;
/// Time for which connections of one person may keep more than they may for longer.
const MOMENT: Duration = Duration::from_secs(10);

#[derive(Debug, Default)]
pub(super) struct RetainedBuffer {
    bytes: usize,
}

impl RetainedBuffer {
    pub(super) fn grow(&mut self, session: &SocketClient, length: u64) {
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        if length > self.bytes.max(SHORT_BUFFER_BYTES) {
            // A buffer grows by doubling, but at once for a long frame.
            let is_long = length > COLLECTED_BYTES;
            let bytes = if is_long { length } else { length.next_power_of_two() };
            session.keep(bytes - self.bytes);
            self.bytes = bytes;
        }
    }

    /// Grows the buffer for a sent frame of this length and what is collected with it.
    pub(super) fn grow_to_send(&mut self, session: &SocketClient, length: u64) {
        // A buffer that is already so long is not worth a look at the queue.
        let collected = if self.bytes < COLLECTED_BYTES { session.waiting_bytes() } else { 0 };
        self.grow(session, length.max(collected.min(COLLECTED_BYTES) as u64));
    }
}

impl SocketClient {
    /// Counts bytes that a buffer keeps in addition, and ends other clients if connections keep too
    /// much.
    pub(super) fn keep(&self, more: usize) {
        let Some(person) = self.person() else { return };
        person.shared.kept.add(more);
        person.kept.add(more);
        // Last: what its end takes back is then counted everywhere.
        self.kept.add(more);
        person.reduce_kept(Some(self), false);
        person.shared.reduce_kept(self);
    }

    pub(super) fn stop_keeping(&self) {
        if let Some(person) = self.person() {
            let bytes = self.kept.take();
            person.kept.remove(bytes);
            person.shared.kept.remove(bytes);
        }
    }
}

impl PersonAccount {
    /// Ends clients if the connections keep too much for longer than a moment.
    pub(super) fn end_excess(&self, now: Instant) {
        let lasts = self.excess.lasts(self.kept_in_excess() > 0, now);
        self.reduce_kept(None, lasts.is_some_and(|time| time >= MOMENT));
    }

    /// Ends clients that are not reading until the connections keep no more than they may, those
    /// that keep most first. Others are ended too if that `is_late`, or the limit for a moment is
    /// passed.
    fn reduce_kept(&self, except: Option<&SocketClient>, is_late: bool) {
        loop {
            let excess = self.kept_in_excess();
            let (true, Some((is_quiet, largest))) = (excess > 0, self.largest_keeper(except))
            else {
                return;
            };
            if !is_quiet && !is_late && excess <= MOMENT_BYTES {
                return;
            }
            largest.end(EndReason::KeepsTooMuch);
        }
    }

    /// Returns the bytes that the connections keep beyond what they may.
    fn kept_in_excess(&self) -> usize {
        let limit = if self.only_reads() { READER_BYTES } else { PERSON_BYTES };
        let kept = self.kept.get();
        if kept <= limit {
            return 0;
        }
        let largest = self.live_sessions().iter().map(|it| it.kept.get()).max();
        kept.saturating_sub(limit + largest.unwrap_or_default())
    }

    /// Returns the client whose connection keeps the most, those that are not reading first, for
    /// which the flag is `true`.
    fn largest_keeper(&self, except: Option<&SocketClient>) -> Option<(bool, Arc<SocketClient>)> {
        let now = Instant::now();
        let is_other = |it: &SocketClient| except.is_none_or(|except| !std::ptr::eq(it, except));
        self.live_sessions()
            .into_iter()
            .filter(|it| it.kept.get() > 0 && is_other(it))
            .map(|it| (!it.reads(now), it))
            .max_by_key(|(is_quiet, it)| (*is_quiet, it.kept.get()))
    }
}

impl AccountsShared {
    /// Ends other clients, of the people whose connections keep most, until all are within their
    /// limit.
    fn reduce_kept(&self, except: &SocketClient) {
        while self.kept.get() > self.ceiling / 4 {
            let mut people = self.people();
            people.sort_by_key(|person| Reverse(person.kept.get()));
            let largest = people.iter().find_map(|person| person.largest_keeper(Some(except)));
            let Some((_, largest)) = largest else { return };
            largest.end(EndReason::KeepsTooMuch);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ConnectionLimits, ConnectionRegistry};
    use copydesk_ids::permissions::{Principal, Role};

    fn viewer(name: &str) -> Principal {
        Principal::new(name, name, Role::Viewer)
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

    /// Returns connections of which one person has `count`.
    fn readers(count: usize) -> (ConnectionRegistry, Vec<Arc<SocketClient>>) {
        let connections =
            ConnectionRegistry::new(ConnectionLimits { memory: 1 << 30, open_files: None });
        let admitted = |number: usize| {
            let session = connections.websocket_client();
            connections.admit(&session, number.to_string(), &viewer("ana")).unwrap();
            session
        };
        let readers = (0..count).map(admitted).collect();
        (connections, readers)
    }

    #[test]
    fn readers_who_are_being_sent_a_long_text_have_a_moment_to_read_it() {
        let (_connections, readers) = readers(40);
        for reader in &readers {
            reader.queue(1 << 20).unwrap();
        }
        let (left, now) = (|| readers.iter().filter(|it| !it.is_ended()).count(), Instant::now());
        for reader in &readers {
            reader.keep(1 << 20);
        }
        let person = readers[0].person().unwrap();
        person.end_excess(now);
        assert_eq!(left(), 40);
        // Those who have read it make room, the others when it takes too long.
        for reader in &readers[..5] {
            reader.message_sent();
        }
        person.end_excess(now + MOMENT / 2);
        assert_eq!(left(), 35);
        person.end_excess(now + MOMENT);
        assert_eq!(left(), 25);
    }

    #[test]
    fn short_frames_count_with_what_is_collected_with_them() {
        let (_connections, readers) = readers(1);
        let session = &readers[0];
        let mut buffer = RetainedBuffer::default();
        buffer.grow_to_send(session, 200);
        assert_eq!(session.kept.get(), 0, "a keystroke");
        session.queue(60_000).unwrap();
        buffer.grow_to_send(session, 60_000);
        assert_eq!(session.kept.get(), 64 * 1024);
        for _ in 0..14 {
            session.queue(60_000).unwrap();
        }
        buffer.grow_to_send(session, 60_000);
        assert_eq!(session.kept.get(), 128 * 1024);
    }

    #[test]
    fn not_even_for_a_moment_do_buffers_take_all_memory() {
        let (_connections, readers) = readers(8);
        for reader in &readers {
            reader.queue(100).unwrap();
            reader.keep(16 << 20);
        }
        let left = readers.iter().filter(|it| !it.is_ended()).count();
        assert_eq!(left, 5, "72 MB beyond the largest");
    }

    #[test]
    fn everybody_together_keeps_a_quarter_of_the_servers_memory() {
        assert_eq!(left(64 << 20, &["ana", "ben", "cleo"], 10), 16);
    }
}
