//! Logging: set-up, field names, and data that is never logged.
//!
//! Fields are dotted and carry units (`room.id`, `commit.duration_ms`). Tokens, prompts and
//! document text are never logged. Logs go to standard error, so that standard output holds only
//! the two lines a script waits for.
//!
//! With the feature `otlp`, spans can be sent to a collector too.

#[cfg(feature = "otlp")]
pub mod otlp;

#[cfg(not(feature = "otlp"))]
use std::convert::Infallible;
use std::io::IsTerminal;

use tokio_util::sync::CancellationToken;
use tracing_subscriber::EnvFilter;
#[cfg(feature = "otlp")]
use tracing_subscriber::{Layer as _, layer::SubscriberExt as _, util::SubscriberInitExt as _};

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
    #[cfg(not(feature = "otlp"))]
    drop(
        tracing_subscriber::fmt()
            .with_env_filter(filter)
            .with_writer(std::io::stderr)
            .with_ansi(std::io::stderr().is_terminal())
            .with_target(false)
            .try_init(),
    );
    #[cfg(feature = "otlp")]
    {
        let log = tracing_subscriber::fmt::layer()
            .with_writer(std::io::stderr)
            .with_ansi(std::io::stderr().is_terminal())
            .with_target(false);
        let exported = tracing_subscriber::filter::filter_fn(otlp::is_exported)
            .with_max_level_hint(tracing::Level::DEBUG);
        let (spans, traces) = otlp::layer();
        let registry = tracing_subscriber::registry().with(spans.with_filter(exported));
        if registry.with(log.with_filter(filter)).try_init().is_ok() {
            TRACES.set(traces).ok();
        }
    }
}

/// Handle to the layer that takes the spans of this process.
#[cfg(feature = "otlp")]
static TRACES: std::sync::OnceLock<otlp::TraceHandle> = std::sync::OnceLock::new();

/// Returns the sender of this process's spans to the collector at `endpoint`, if there is one,
/// until `stop`.
#[cfg(feature = "otlp")]
pub fn exporter(
    endpoint: Option<&str>,
    stop: CancellationToken,
) -> Result<impl Future<Output = ()> + use<>, otlp::EndpointError> {
    let url = endpoint.map(otlp::collector_url).transpose()?;
    let traces = url.zip(TRACES.get());
    let exporter = traces.map(|(url, traces)| traces.export_to(&url)).transpose()?.flatten();
    Ok(async move {
        if let Some(exporter) = exporter {
            exporter.run(stop).await;
        }
    })
}

/// Returns nothing to wait for: this program sends no spans.
#[cfg(not(feature = "otlp"))]
pub fn exporter(
    _: Option<&str>,
    _: CancellationToken,
) -> Result<impl Future<Output = ()> + use<>, Infallible> {
    Ok(std::future::ready(()))
}
