//! Waiting for what comes about: the stories wait for events, or look again and again.

use std::fmt::Debug;
use std::time::{Duration, Instant};

/// Longest wait for what happens within seconds on an idle machine.
const TIMEOUT: Duration = Duration::from_mins(1);
/// Pause between two looks, so that they do not take the machine from what they wait for.
const PAUSE: Duration = Duration::from_millis(10);

/// Looks until it holds. Fails after a minute.
#[track_caller]
pub fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    found(|| if holds() { Ok(()) } else { Err(what) });
}

/// Looks until something is found, and returns it. Fails after a minute, with what was there in
/// its place.
#[track_caller]
pub fn found<T, E: Debug>(look: impl FnMut() -> Result<T, E>) -> T {
    found_within(TIMEOUT, look)
}

/// As `found`, for something that takes long.
#[track_caller]
pub fn found_within<T, E: Debug>(patience: Duration, mut look: impl FnMut() -> Result<T, E>) -> T {
    let until = Instant::now() + patience;
    loop {
        match look() {
            Ok(found) => return found,
            Err(instead) => assert!(Instant::now() < until, "it does not come: {instead:?}"),
        }
        std::thread::sleep(PAUSE);
    }
}
