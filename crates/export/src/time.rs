//! Times as text, from milliseconds since 1970.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

/// Returns RFC 3339 in UTC with milliseconds; a time that no calendar has becomes the beginning of
/// 1970.
pub(super) fn rfc3339(at_ms: u64) -> String {
    format!("{:.3}", timestamp(at_ms))
}

/// Returns RFC 3339 in UTC with seconds, as Word writes it.
pub(super) fn seconds(at_ms: u64) -> String {
    format!("{:.0}", timestamp(at_ms))
}

/// Returns the time that a file claims, in UTC if it names no zone.
pub(super) fn milliseconds(at: &str) -> Option<u64> {
    let local = || at.parse::<DateTime>().ok()?.to_zoned(TimeZone::UTC).ok();
    let at = at.parse::<Timestamp>().ok().or_else(|| Some(local()?.timestamp()))?;
    u64::try_from(at.as_millisecond()).ok()
}

fn timestamp(at_ms: u64) -> Timestamp {
    let at = i64::try_from(at_ms).ok().and_then(|ms| Timestamp::from_millisecond(ms).ok());
    at.unwrap_or_default()
}
