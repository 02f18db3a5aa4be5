//! Lifetimes of tokens, as people write them.

use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};

/// Reason why [`parse_expiry`] refused a duration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExpiryError {
    /// The text is no duration.
    #[error("cannot read {0:?} as a duration: write 30m, 12h, 7d, 2w or 6mo, or never")]
    Unreadable(String),
    /// The duration is zero or negative.
    #[error("a token must last longer than {0:?}")]
    NotAhead(String),
    /// The end is past the year 9999.
    #[error("{0:?} is too far ahead: write never")]
    TooFar(String),
}

/// Returns the moment that is `text` after `now_ms`, in milliseconds since the epoch; `None` for
/// `never`. Accepts `30m`, `12h`, `7d`, `2w`, `6mo`, `1y`, sums such as `1d 12h`, and ISO 8601
/// (`P7D`). Days have 24 hours; months and years are the calendar's, in UTC.
pub fn parse_expiry(text: &str, now_ms: u64) -> Result<Option<u64>, ExpiryError> {
    let text = text.trim();
    if text.eq_ignore_ascii_case("never") {
        return Ok(None);
    }
    let span: Span = text.parse().map_err(|_| ExpiryError::Unreadable(text.to_owned()))?;
    let too_far = || ExpiryError::TooFar(text.to_owned());
    let now = i64::try_from(now_ms).ok().and_then(|now| Timestamp::from_millisecond(now).ok());
    let now = now.ok_or_else(too_far)?.to_zoned(TimeZone::UTC);
    let then = now.checked_add(span).map_err(|_| too_far())?;
    match u64::try_from(then.timestamp().as_millisecond()) {
        Ok(then) if then > now_ms => Ok(Some(then)),
        _ => Err(ExpiryError::NotAhead(text.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-01-31T00:00:00Z.
    const NOW: u64 = 1_769_817_600_000;
    const DAY: u64 = 24 * 60 * 60 * 1_000;

    #[test]
    fn durations_are_read_as_people_write_them() {
        for (text, lasts_ms) in [
            ("90s", 90_000),
            ("30m", DAY / 48),
            ("12h", DAY / 2),
            ("7d", 7 * DAY),
            (" 7 days ", 7 * DAY),
            ("1d 12h", DAY + DAY / 2),
            ("2w", 14 * DAY),
            ("P7D", 7 * DAY),
            // February 2026 has 28 days.
            ("1mo", 28 * DAY),
            ("1y", 365 * DAY),
        ] {
            assert_eq!(parse_expiry(text, NOW), Ok(Some(NOW + lasts_ms)), "{text}");
        }
        assert_eq!(parse_expiry("never", NOW), Ok(None));
    }

    #[test]
    fn what_is_no_duration_is_refused_with_the_text() {
        let unreadable = |text: &str| Err(ExpiryError::Unreadable(text.to_owned()));
        for text in ["", "7", "soon", "7x", "d7", "tomorrow", "1.5"] {
            assert_eq!(parse_expiry(text, NOW), unreadable(text), "{text}");
        }
        for text in ["0d", "-7d", "7d ago"] {
            let refused = parse_expiry(text, NOW);
            assert_eq!(refused, Err(ExpiryError::NotAhead(text.to_owned())), "{text}");
        }
        let refused = parse_expiry("9000y", NOW);
        assert_eq!(refused, Err(ExpiryError::TooFar("9000y".to_owned())));
    }
}
