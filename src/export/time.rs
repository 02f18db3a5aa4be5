//! Milliseconds since 1970 as people and programs read them.

use jiff::Timestamp;

/// RFC 3339 in UTC with milliseconds; a time that no calendar has is the beginning of 1970.
pub(super) fn rfc3339(at_ms: u64) -> String {
    format!("{:.3}", timestamp(at_ms))
}

/// RFC 3339 in UTC with seconds, as Word writes it.
pub(super) fn seconds(at_ms: u64) -> String {
    format!("{:.0}", timestamp(at_ms))
}

fn timestamp(at_ms: u64) -> Timestamp {
    i64::try_from(at_ms)
        .ok()
        .and_then(|ms| Timestamp::from_millisecond(ms).ok())
        .unwrap_or_default()
}
