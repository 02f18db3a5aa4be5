//! Calendar months in UTC, by which spending is added up.

use std::fmt;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};

/// Calendar month in UTC, written as `2026-11`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpendingMonth {
    first: Date,
}

impl SpendingMonth {
    /// Returns the month of a time in milliseconds since 1970.
    pub fn at(at_ms: u64) -> Self {
        let at = i64::try_from(at_ms).ok().and_then(|ms| Timestamp::from_millisecond(ms).ok());
        let day = at.unwrap_or(Timestamp::MAX).to_zoned(TimeZone::UTC).date();
        Self { first: day.first_of_month() }
    }

    /// Reads a month that is written as `2026-11`; `None` if it is not.
    pub fn parse(name: &str) -> Option<Self> {
        let (year, month) = name.split_once('-')?;
        let is_number =
            |text: &str, digits| text.len() == digits && text.bytes().all(|it| it.is_ascii_digit());
        if !is_number(year, 4) || !is_number(month, 2) {
            return None;
        }
        Date::new(year.parse().ok()?, month.parse().ok()?, 1).ok().map(|first| Self { first })
    }

    /// Returns the time at which the next month begins, in milliseconds since 1970.
    pub fn end_ms(self) -> u64 {
        let next = self.first.checked_add(1.month()).ok();
        let next = next.and_then(|day| day.to_zoned(TimeZone::UTC).ok());
        let end = next.map_or(Timestamp::MAX, |next| next.timestamp());
        u64::try_from(end.as_millisecond()).unwrap_or_default()
    }

    /// Returns the day on which the next month begins, as people write it: `1 December 2026`.
    pub fn end_day(self) -> String {
        let next = self.first.checked_add(1.month()).unwrap_or(self.first);
        next.strftime("%-d %B %Y").to_string()
    }
}

impl fmt::Display for SpendingMonth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}", self.first.year(), self.first.month())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_month_ends_where_the_next_begins() {
        // 2026-11-30T23:59:59.999Z and 2026-12-01T00:00:00Z.
        let [last, first] = [1_796_083_199_999, 1_796_083_200_000];
        let [november, december] = [last, first].map(SpendingMonth::at);
        assert_eq!([november.to_string(), december.to_string()], ["2026-11", "2026-12"]);
        assert_eq!(november.end_ms(), first);
        assert_eq!(december.end_day(), "1 January 2027");
        assert_eq!(SpendingMonth::parse("2026-11"), Some(november));
    }

    #[test]
    fn what_is_no_month_is_not_read_as_one() {
        for wrong in ["", "2026", "2026-1", "2026-13", "2026-00", "26-11", "2026-11-01", "+026-11"]
        {
            assert_eq!(SpendingMonth::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn times_that_no_calendar_has_do_no_harm() {
        assert_eq!(SpendingMonth::at(u64::MAX).to_string(), "9999-12");
        assert!(SpendingMonth::at(u64::MAX).end_ms() > 0);
    }
}
