//! Clock of rooms and runs. There is no other, so that tests can set it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// Wall clock in milliseconds since 1970, from the system or set by hand. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct WallClock(Option<Arc<AtomicU64>>);

impl WallClock {
    /// Returns the system's clock.
    pub fn system() -> Self {
        Self(None)
    }

    /// Returns a clock that shows `now_ms` until it is moved.
    pub fn standing_at(now_ms: u64) -> Self {
        Self(Some(Arc::new(AtomicU64::new(now_ms))))
    }

    /// Moves a clock made by [`WallClock::standing_at`]; does nothing to the system's clock.
    pub fn advance_ms(&self, by_ms: u64) {
        if let Some(now) = &self.0 {
            now.fetch_add(by_ms, Ordering::SeqCst);
        }
    }

    /// Returns the time in milliseconds since 1970.
    pub fn now_ms(&self) -> u64 {
        match &self.0 {
            Some(now) => now.load(Ordering::SeqCst),
            None => SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .map_or(0, |since| since.as_millis() as u64),
        }
    }
}
