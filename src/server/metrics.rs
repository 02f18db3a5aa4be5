//! Measurements of this server that are taken when Prometheus asks for them: what is open and what
//! waits, and what the process uses.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result, bail};
use futures_util::FutureExt as _;
use tokio::sync::Mutex;

use copydesk_api::Application;
use copydesk_auth::TokenSecret;
use copydesk_commands::config::ServerConfig;
use copydesk_connections::ConnectionRegistry;
use copydesk_http::rest::{self, MeasureServer};
use copydesk_load_test::resident_bytes;
use copydesk_metrics as metrics;
use copydesk_socketio::SocketRegistry;

use super::Server;

/// Longest wait for the database, before the limits of Prometheus: it gives up a scrape after ten
/// seconds.
const STORE_TIMEOUT: Duration = Duration::from_secs(2);

/// Records when the server was started.
pub(super) fn note_start() {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    metrics::PROCESS_START_SECONDS.set(now.as_secs_f64());
}

impl Server {
    /// Returns the metrics of this server, and who may read them.
    pub(super) fn metrics_access(
        &self,
        config: &ServerConfig,
        application: &Application,
    ) -> Result<rest::MetricsAccess> {
        let token = config.metrics_token.as_deref().filter(|token| !token.is_empty());
        let token = token.map(TokenSecret::chosen).transpose();
        let token = token.context("cannot use the token of --metrics-token")?;
        if token.as_ref() == Some(&self.secret) {
            bail!("--metrics-token is the owner's token, which opens everything: choose another");
        }
        let connections = self.connections.clone();
        let measure = measuring(application.clone(), self.sockets.clone(), connections);
        Ok(rest::MetricsAccess::new(token.as_ref(), measure))
    }
}

/// Returns the function that measures the server.
fn measuring(
    application: Application,
    sockets: SocketRegistry,
    connections: ConnectionRegistry,
) -> MeasureServer {
    let one_at_a_time = Arc::new(Mutex::new(()));
    Arc::new(move || {
        let one_at_a_time = Arc::clone(&one_at_a_time);
        let (application, sockets, connections) =
            (application.clone(), sockets.clone(), connections.clone());
        let measure = async move {
            let _turn = one_at_a_time.lock().await;
            metrics::SOCKETS.set_count(sockets.count());
            metrics::CONNECTIONS.set_count(connections.count());
            metrics::CONNECTION_MEMORY_BYTES.set_count(connections.accounts().held());
            measure_process();
            application.measure();
            let counted = tokio::time::timeout(STORE_TIMEOUT, application.measure_store()).await;
            let is_up = matches!(counted, Ok(Ok(())));
            metrics::DATABASE_UP.set(if is_up { 1.0 } else { 0.0 });
        };
        measure.boxed()
    })
}

fn measure_process() {
    #[cfg(unix)]
    {
        let used = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
        let seconds = used.tv_sec as f64 + used.tv_nsec as f64 / 1e9;
        metrics::PROCESS_CPU_SECONDS.raise_to(seconds);
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    if let Some(memory) = resident_bytes(&status) {
        metrics::PROCESS_MEMORY_BYTES.set(memory as f64);
    }
    if let Ok(files) = std::fs::read_dir("/proc/self/fd") {
        // Without the one of this list.
        metrics::PROCESS_OPEN_FILES.set_count(files.count().saturating_sub(1));
    }
}
