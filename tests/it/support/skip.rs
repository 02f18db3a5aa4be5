//! Words of a story that does not find the program it needs.

use std::fmt::Display;
use std::io::Write as _;

/// Says that something is not tested. Where everything is required (`COPYDESK_REQUIRE_ALL=1`, as
/// in `.ci/run`) that is a failure.
#[track_caller]
pub fn skip(what: impl Display, why: impl Display) {
    let required = std::env::var_os("COPYDESK_REQUIRE_ALL").is_some_and(|all| all == "1");
    assert!(!required, "not tested: {what}: {why}, and COPYDESK_REQUIRE_ALL=1");
    say_skipped(what, why);
}

/// Says that something is not tested, which is no failure even where everything is required.
pub fn say_skipped(what: impl Display, why: impl Display) {
    // Written past the test runner, which would keep it to itself.
    let words = format!("\n*** SKIPPED: {what}: {why}\n");
    std::io::stderr().write_all(words.as_bytes()).ok();
}

/// Returns the name of the test that runs on this thread.
pub fn story() -> String {
    std::thread::current().name().unwrap_or("a story").to_owned()
}
