//! Programs in other languages, where they are installed; where everything is required, they have
//! to be.

use super::skip::skip;

/// A Python with `tests/sdk/requirements.txt`; `left_out` is what is not tested without it.
pub fn python(left_out: &str) -> Option<String> {
    installed("COPYDESK_SDK_PYTHON", "a Python with tests/sdk/requirements.txt", left_out)
}

/// The packages of `tests/clients/package.json`.
pub fn packages(left_out: &str) -> Option<String> {
    installed(
        "COPYDESK_SDK_MODULES",
        "a node_modules folder with tests/clients/package.json",
        left_out,
    )
}

/// A Node that is new enough for the tools of MCP.
pub fn node_22(left_out: &str) -> Option<String> {
    installed("COPYDESK_SDK_NODE", "a Node of 22.19 or newer", left_out)
}

fn installed(variable: &str, what: &str, left_out: &str) -> Option<String> {
    let place = std::env::var(variable).ok();
    if place.is_none() {
        skip(left_out, format_args!("{variable} is not set to {what}"));
    }
    place
}
