//! Arrival of the versions of one document at everyone in it.

use std::ops::Range;

use parking_lot::Mutex;
use tokio::time::Instant;

/// Record of when each version of a document was caused, and when the last client received it.
pub(super) struct DeliveryLog {
    clients: u32,
    /// Entry 0 is version 1.
    versions: Mutex<Vec<VersionRecord>>,
}

#[derive(Clone, Copy)]
pub(super) enum VersionCause {
    /// Keystroke, at the time when the writer made it.
    Keystroke(Instant),
    /// Decision, at the time when the reviewer sent it.
    Decision(Instant),
}

#[derive(Clone, Copy, Default)]
struct VersionRecord {
    cause: Option<VersionCause>,
    /// Number of clients that have received it.
    received: u32,
    last: Option<Instant>,
}

/// Times from an action until everyone in the document had its effect, in milliseconds.
#[derive(Default)]
pub(super) struct DeliveryTimes {
    pub keystrokes: Vec<f64>,
    pub decisions: Vec<f64>,
    /// Number of updates that clients have not received.
    pub missing: u64,
}

impl DeliveryLog {
    /// Returns the log of a document that has so many clients.
    pub fn new(clients: u32) -> Self {
        Self { clients, versions: Mutex::default() }
    }

    /// Notes that a client has received the versions after `from`.
    pub fn received(&self, from: u64, count: usize, at: Instant) {
        self.change(from, count, |record| {
            record.received += 1;
            record.last = record.last.max(Some(at));
        });
    }

    /// Notes what made the version after `from`.
    pub fn caused(&self, from: u64, cause: VersionCause) {
        self.change(from, 1, |record| record.cause = Some(cause));
    }

    fn change(&self, from: u64, count: usize, change: impl Fn(&mut VersionRecord)) {
        let mut versions = self.versions.lock();
        let from = usize::try_from(from).unwrap_or(usize::MAX);
        let end = from.saturating_add(count);
        if versions.len() < end {
            versions.resize(end, VersionRecord::default());
        }
        versions[from..end].iter_mut().for_each(change);
    }

    /// Adds the times of what was done in the `measured` time.
    pub fn add_times(&self, measured: &Range<Instant>, all: &mut DeliveryTimes) {
        let versions = self.versions.lock();
        for record in versions.iter() {
            all.missing += u64::from(self.clients.saturating_sub(record.received));
            let (Some(cause), Some(last)) = (record.cause, record.last) else { continue };
            let (begun, times) = match cause {
                VersionCause::Keystroke(at) => (at, &mut all.keystrokes),
                VersionCause::Decision(at) => (at, &mut all.decisions),
            };
            if measured.contains(&begun) && record.received >= self.clients {
                times.push(milliseconds(begun, last));
            }
        }
    }
}

/// Returns the time between two instants, in milliseconds.
pub(super) fn milliseconds(from: Instant, to: Instant) -> f64 {
    to.saturating_duration_since(from).as_secs_f64() * 1_000.0
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_version_counts_when_the_last_client_has_it_and_what_is_missing_is_told() {
        let (log, start) = (DeliveryLog::new(2), Instant::now());
        let after = |ms| start + Duration::from_millis(ms);
        log.caused(0, VersionCause::Keystroke(after(10)));
        log.caused(1, VersionCause::Decision(after(20)));
        log.received(0, 2, after(30));
        log.received(0, 1, after(50));
        let mut times = DeliveryTimes::default();
        log.add_times(&(start..after(100)), &mut times);
        assert_eq!((times.keystrokes, times.decisions.len(), times.missing), (vec![40.0], 0, 1));
        log.received(1, 1, after(25));
        let mut times = DeliveryTimes::default();
        log.add_times(&(after(15)..after(100)), &mut times);
        assert_eq!((times.keystrokes.len(), times.decisions, times.missing), (0, vec![10.0], 0));
    }
}
