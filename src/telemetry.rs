//! Logs: set-up, field names, what is never logged.
//!
//! Fields are dotted and carry units (`room.id`, `commit.duration_ms`). Tokens, prompts and document text are never
//! logged. `COPYDESK_LOG` takes the usual filter directives; logs go to standard error, so that standard output holds
//! only the two lines a script waits for.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

/// What is logged when `COPYDESK_LOG` says nothing.
const DEFAULT_FILTER: &str = "warn,copydesk=info";

/// Below `info` these log whole packets, and with them tokens and text; so no filter can make them.
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
