//! Programs in other languages, where they are installed; where everything is required, they have to be.

use std::io::Write as _;

/// A Python with `tests/sdk/requirements.txt`; `left_out` is what is not tested without it.
pub fn python(left_out: &str) -> Option<String> {
    let python = std::env::var("COPYDESK_SDK_PYTHON").ok();
    let required = std::env::var("COPYDESK_REQUIRE_ALL").is_ok_and(|it| it == "1");
    let why = "COPYDESK_SDK_PYTHON is not set to a Python with tests/sdk/requirements.txt";
    assert!(python.is_some() || !required, "{why}");
    if python.is_none() {
        // Written past the test runner, which would keep it to itself.
        let words = format!("\n*** SKIPPED: {left_out}: {why}\n");
        std::io::stderr().write_all(words.as_bytes()).ok();
    }
    python
}
