//! This server as one of several, if it is.

use std::error::Error;
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use crate::webhooks::DeliveryWorker;
use copydesk_client::TrustedAuthorities;
use copydesk_cluster::{ClusterMember, DELIVERIES, LocalServer};
use copydesk_commands::config::ServerConfig;
use copydesk_placement::Placement;
use copydesk_rooms::RoomResult;

use super::{Server, settings};

/// Reads the authorities that certificates of other servers may have, besides those of the system.
pub(super) async fn authorities(config: &ServerConfig) -> Result<TrustedAuthorities> {
    let Some(path) = &config.node_ca else { return Ok(TrustedAuthorities::default()) };
    let named = || format!("cannot use --node-ca {}", path.display());
    let content = tokio::fs::read(path).await.with_context(named)?;
    TrustedAuthorities::read(&content).with_context(named)
}

/// Sends the deliveries of webhooks; of several servers, one at a time does.
pub(super) async fn deliver(
    placement: Arc<dyn Placement>,
    worker: DeliveryWorker,
    stop: CancellationToken,
) {
    tokio::select! {
        () = placement.await_task(DELIVERIES) => {}
        () = stop.cancelled() => return,
    }
    worker.run(stop).await;
}

/// Waits for the signal to stop.
///
/// # Errors
/// The other servers have removed this one: what it holds is out of date, and it writes nothing
/// more.
pub(super) async fn serve_until(
    app: &Server,
    config: &ServerConfig,
    stopped: impl Future<Output = ()>,
) -> Result<()> {
    let Some(cluster) = &app.cluster else {
        stopped.await;
        return Ok(());
    };
    let local = ConfiguredServer { app, config };
    let member = ClusterMember {
        node: cluster.node(),
        local: &local,
        store: app.store.clone(),
        auth: app.auth.clone(),
        rooms: app.rooms.clone(),
        agents: app.agents.clone(),
        calls: cluster.calls.clone(),
        changes: app.changes.clone(),
        limits: app.limits.clone(),
        sockets: app.sockets.clone(),
        clock: app.clock.clone(),
    };
    tokio::select! {
        () = stopped => Ok(()),
        () = member.attend() => {
            bail!("the other servers of this database have removed this one; start it again")
        }
    }
}

/// Server with its options.
struct ConfiguredServer<'a> {
    app: &'a Server,
    config: &'a ServerConfig,
}

#[async_trait]
impl LocalServer for ConfiguredServer<'_> {
    async fn recall_settings(&self) -> RoomResult<()> {
        settings::recall(&self.app.rooms, self.config, self.app.agents.catalog()).await
    }

    fn has_workspace_folder(&self) -> bool {
        self.app.files.is_some()
    }

    async fn serve_workspace(&self) -> Result<(), Box<dyn Error + Send + Sync>> {
        Ok(self.app.serve_workspace().await?)
    }
}
