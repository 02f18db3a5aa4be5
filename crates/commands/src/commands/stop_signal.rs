//! Signals that stop a process.

use anyhow::Result;

/// Returns a future that waits for SIGTERM or SIGINT, also one that came before it is polled.
pub fn stop_signal() -> Result<impl Future<Output = ()>> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        Ok(async move {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
        })
    }
    #[cfg(not(unix))]
    Ok(async {
        // Without a handler, the process ends at once.
        tokio::signal::ctrl_c().await.ok();
    })
}
