//! Pace of messages: how fast they are handed over, and when they are a flood.

use std::time::Duration;

use tokio::time::Instant;

/// Messages of one client in a burst: more than the events that are answered, so that a client that
/// sends too many gets an answer, and is not only slowed down.
const CLIENT_BURST: u32 = 8_192;
/// Sustained messages of one client per second.
const CLIENT_PER_SECOND: u32 = 2_500;
/// Messages of one person in a burst, over all clients.
const PERSON_BURST: u32 = 16_384;
/// Sustained messages of one person per second, over all clients.
const PERSON_PER_SECOND: u32 = 5_000;
/// New polling clients in a burst.
const HANDSHAKE_BURST: u32 = 1_024;
/// Sustained new polling clients per second: each takes memory for ten seconds, token or not.
const HANDSHAKES_PER_SECOND: u32 = 256;
/// Time for which a client may send faster than it is read.
const FLOOD: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub(super) struct MessagePace {
    burst: f64,
    per_second: f64,
    /// Messages that may come now; negative if more have come.
    left: f64,
    at: Instant,
    /// Time since which the allowance is used up.
    used_up: Option<Instant>,
}

impl MessagePace {
    pub(super) fn of_client() -> Self {
        Self::new(CLIENT_BURST, CLIENT_PER_SECOND)
    }

    pub(super) fn of_person() -> Self {
        Self::new(PERSON_BURST, PERSON_PER_SECOND)
    }

    pub(super) fn of_handshakes() -> Self {
        Self::new(HANDSHAKE_BURST, HANDSHAKES_PER_SECOND)
    }

    fn new(burst: u32, per_second: u32) -> Self {
        let (burst, per_second) = (f64::from(burst), f64::from(per_second));
        Self { burst, per_second, left: burst, at: Instant::now(), used_up: None }
    }

    /// Counts messages that have come; returns the time to wait before the next are read.
    pub(super) fn take(&mut self, messages: u32, now: Instant) -> Duration {
        let refilled = now.saturating_duration_since(self.at).as_secs_f64() * self.per_second;
        self.left = (self.left + refilled).min(self.burst);
        self.at = now;
        if self.left > self.burst / 2.0 {
            self.used_up = None;
        }
        self.left -= f64::from(messages);
        if self.left >= 0.0 {
            return Duration::ZERO;
        }
        self.used_up.get_or_insert(now);
        Duration::from_secs_f64(-self.left / self.per_second)
    }

    /// Returns `true` if messages have come faster than they are read for too long.
    pub(super) fn is_flood(&self, now: Instant) -> bool {
        self.used_up.is_some_and(|since| now.saturating_duration_since(since) > FLOOD)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes as many messages as the pace allows in this time, 64 at once.
    fn sends_for(pace: &mut MessagePace, began: Instant, time: Duration) -> (u32, Instant) {
        let (mut now, mut sent) = (began, 0);
        while now.saturating_duration_since(began) < time {
            now += pace.take(64, now).max(Duration::from_micros(10));
            sent += 64;
        }
        (sent, now)
    }

    #[test]
    fn a_person_who_never_pauses_is_slowed_down_and_then_a_flood() {
        let (mut pace, began) = (MessagePace::of_client(), Instant::now());
        let (sent, now) = sends_for(&mut pace, began, FLOOD / 2);
        let most = CLIENT_BURST + 6 * CLIENT_PER_SECOND;
        assert!((CLIENT_BURST..most).contains(&sent), "{sent}");
        assert!(!pace.is_flood(now), "it may have much to say");
        let (_, now) = sends_for(&mut pace, now, FLOOD);
        assert!(pace.is_flood(now));
    }

    #[test]
    fn a_pause_refills_the_burst() {
        let (mut pace, began) = (MessagePace::of_client(), Instant::now());
        assert_eq!(pace.take(CLIENT_BURST, began), Duration::ZERO);
        assert!(pace.take(64, began) > Duration::ZERO);
        let later = began + Duration::from_mins(1);
        assert_eq!(pace.take(CLIENT_BURST, later), Duration::ZERO);
        assert!(!pace.is_flood(later));
    }
}
