//! Logging: set-up, field names, and data that is never logged.
//!
//! Fields are dotted and carry units (`room.id`, `commit.duration_ms`). Tokens, prompts and
//! document text are never logged. `COPYDESK_LOG` takes the usual filter directives. Logs go to
//! standard error, so that standard output holds only the two lines a script waits for.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

/// Filter in force if `COPYDESK_LOG` is not set or not valid.
const DEFAULT_FILTER: &str = "warn,copydesk=info";

/// Directives for crates that log whole packets, with tokens and text, below `info`; no filter can
/// override them.
const DISCREET: [&str; 5] = [
    "socketioxide=info",
    "socketioxide_core=info",
    "engineioxide=info",
    "tungstenite=info",
    "tokio_tungstenite=info",
];

/// Starts logging; a second call does nothing.
pub fn start() {
    let filter = EnvFilter::builder()
        .with_env_var("COPYDESK_LOG")
        .try_from_env()
        .unwrap_or_else(|_| EnvFilter::new(DEFAULT_FILTER));
    let filter =
        DISCREET.iter().filter_map(|it| it.parse().ok()).fold(filter, EnvFilter::add_directive);
    drop(
        tracing_subscriber::fmt()
            .with_env_filter(filter)
            .with_writer(std::io::stderr)
            .with_ansi(std::io::stderr().is_terminal())
            .with_target(false)
            .try_init(),
    );
}
