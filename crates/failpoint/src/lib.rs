//! Failpoints: places where a test aborts the server, to see what it finds when it starts again.
//! Without the feature `failpoints`, which only tests switch on, nothing of this is compiled.
//!
//! `COPYDESK_FAILPOINTS="room.decided>room.kept"` is a crash plan: the process is aborted, as by a
//! power cut, at the first `room.kept` it comes to after a `room.decided`.

#[cfg(feature = "failpoints")]
mod armed;

#[cfg(feature = "failpoints")]
pub use armed::{PLACES, arm, is_armed, pass};

/// Returns `false`: no crash plan can be set without the feature.
#[cfg(not(feature = "failpoints"))]
#[inline]
pub fn is_armed() -> bool {
    false
}

/// Does nothing without the feature.
#[cfg(not(feature = "failpoints"))]
#[inline]
pub fn pass(_place: &'static str) {}
