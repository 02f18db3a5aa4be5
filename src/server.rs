//! Composition root: builds every part once, binds, and shuts down in a written order.

mod allocator;
mod assets;
mod claude;
mod cluster;
mod command_line;
mod metrics;
mod models;
mod serving;
mod settings;
mod sign_in;
mod sockets;
mod tls;
mod workspace;

pub use command_line::main;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use axum::{Router, middleware};
use socketioxide::SocketIo;
use tokio::net::TcpListener;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::webhooks::DeliveryWorker;
use copydesk_http::rest;
use copydesk_mcp as mcp;
use copydesk_socketio as socketio;

use crate::telemetry;
use copydesk_agent::{AgentService, BypassPolicy};
use copydesk_api::webhooks::WebhookOutbox;
use copydesk_api::{Application, ApplicationOptions, HeardRuns, StoredAnswers};
use copydesk_auth::{Authenticator, TokenSecret, owner_secret};
use copydesk_clock::WallClock;
use copydesk_cluster::Cluster;
use copydesk_commands::commands::stop_signal;
use copydesk_commands::config::ServerConfig;
use copydesk_connections::body_quota::BodyQuota;
use copydesk_connections::{ConnectionLimits, ConnectionRegistry};
use copydesk_failpoint as failpoint;
use copydesk_file_sync::FileSync;
use copydesk_http::rest::middleware::guard::AllowedHosts;
use copydesk_load_test::open_file_limit;
use copydesk_placement::{Placement, SingleServer};
use copydesk_rooms::{NewDocument, RoomRegistry};
use copydesk_socketio::{SocketRegistry, SocketState};
use copydesk_store::{Store, StoreAccess, StoreOp, create_data_directory};

/// Maximum time of the shutdown before the process ends anyway; everything acknowledged is durable
/// by then.
const SHUTDOWN_LIMIT: Duration = Duration::from_secs(10);
/// Part of [`SHUTDOWN_LIMIT`] for everything before the store is closed.
const CLOSING_LIMIT: Duration = Duration::from_secs(8);
/// Time for answers in progress to be sent.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// Interval at which tokens are checked for having expired or been revoked by another process.
const SWEEP: Duration = Duration::from_secs(1);
/// Sample document for a new server: prose with real mistakes.
const SAMPLE: &str = include_str!("../fixtures/documents/the-keepers-ledger.md");
const SAMPLE_TITLE: &str = "The Keeper’s Ledger";

/// Runs the server until it is asked to stop.
async fn serve(config: ServerConfig) -> Result<()> {
    let stop = CancellationToken::new();
    let traces = telemetry::exporter(config.otlp_endpoint.as_deref(), stop.clone())?;
    let traces = tokio::spawn(traces);
    let certificate = tls::start(&config).await?;
    let listener = TcpListener::bind(config.listen)
        .await
        .with_context(|| format!("cannot listen on {}", config.listen))?;
    let bound = listener.local_addr()?;
    metrics::note_start();
    let app = Server::build(&config, bound).await?;
    if let Some(cluster) = app.cluster.clone() {
        // Until the process ends: while it closes, too, the others must not take it for lost.
        tokio::spawn(async move { cluster.attend().await });
    }
    failpoint::pass("app.opened");
    app.begin_work().await?;
    let agents = app.agents.clone();
    // Nothing waits for the lists of models: until they arrive, the configured names are offered.
    tokio::spawn(async move { agents.catalog().list_provider_models().await });
    let application = app.application(&config, bound);
    let (router, io) = app.apps(&config, bound, &application)?;
    // Before anybody knows that the server runs: a signal that came between would be lost.
    let stopped = stop_signal()?;
    serving::announce(&config, bound, &app.secret)?;

    let (connections, stopping) = (app.connections.clone(), stop.clone());
    let serving = serving::ServingParts { router, connections, certificate, stop: stopping };
    let accepting = tokio::spawn(serving::serve(listener, serving));
    let supervision = tokio::spawn(app.connections.clone().supervise());
    let (people, stopping) = (application.clone(), stop.clone());
    tokio::spawn(async move { people.delete_people(stopping).await });
    let watch = tokio::spawn(watch_tokens(app.auth.clone(), app.rooms.clone(), app.clock.clone()));
    let outbox = WebhookOutbox::new(app.store.clone());
    let worker = DeliveryWorker::new(outbox, app.clock.clone(), settings::address_policy(&config));
    let worker =
        tokio::spawn(cluster::deliver(Arc::clone(app.rooms.placement()), worker, stop.clone()));
    cluster::serve_until(&app, &config, stopped).await?;
    tracing::info!("stopping");
    stop.cancel();
    // Interrupted deliveries are sent again at the next start.
    worker.await.ok();
    watch.abort();
    if tokio::time::timeout(SHUTDOWN_LIMIT, app.close(&io)).await.is_err() {
        tracing::warn!("shutdown timed out; what was acknowledged is durable");
    }
    let abort = accepting.abort_handle();
    drop(tokio::time::timeout(LAST_WORDS, accepting).await);
    abort.abort();
    supervision.abort();
    // The last spans; it has a limit of its own.
    traces.await.ok();
    Ok(())
}

/// Parts of a server, built by [`Server::build`].
struct Server {
    store: Store,
    /// This server as one of several.
    cluster: Option<Cluster>,
    auth: Authenticator,
    secret: TokenSecret,
    sockets: SocketRegistry,
    /// Notifications of changed documents for MCP clients.
    changes: mcp::DocumentChanges,
    rooms: RoomRegistry,
    agents: AgentService,
    conversations: rest::Conversations,
    /// Limits on the requests of each person.
    limits: rest::RequestLimits,
    files: Option<FileSync>,
    clock: WallClock,
    connections: ConnectionRegistry,
    workers: TaskTracker,
    /// Token that ends MCP sessions.
    no_sessions: CancellationToken,
}

/// Returns the registry of connections, with the limits of the settings.
fn connections(config: &ServerConfig) -> ConnectionRegistry {
    let limits =
        ConnectionLimits { memory: config.connection_memory, open_files: open_file_limit() };
    ConnectionRegistry::with_handshake_timeout(limits, config.handshake_timeout)
}

impl Server {
    async fn build(config: &ServerConfig, bound: SocketAddr) -> Result<Self> {
        let (store, cluster) = Self::open_store(config, bound).await?;
        let single = || Arc::new(SingleServer::default()) as Arc<dyn Placement>;
        let placement = cluster.as_ref().map_or_else(single, Cluster::placement);
        let clock = WallClock::system();
        let auth = Authenticator::new(store.clone()).with_placement(Arc::clone(&placement));
        let secret = match &config.token {
            Some(token) => TokenSecret::chosen(token)?,
            None => owner_secret(&config.data)?,
        };
        auth.set_owner(&secret, clock.now_ms()).await?;
        let settings = settings::started_with(config);
        let sockets = SocketRegistry::new(HeardRuns::new(store.clone(), clock.clone()));
        let changes = mcp::DocumentChanges::default();
        let sink = Arc::new(sockets::EventFanOut(sockets.clone(), changes.clone()));
        let mut tools = workspace::tools(config)?;
        let (catalog, time) = (tools.catalog(), clock.clone());
        let rooms =
            RoomRegistry::with_placement(placement, store.clone(), sink, settings, time, catalog);
        let models = models::models(config)?;
        settings::recall(&rooms, config, &models).await?;
        let bypass =
            if config.allow_bypass { BypassPolicy::Allowed } else { BypassPolicy::Forbidden };
        let mut files = None;
        if let Some(workspace) = tools.workspace().cloned() {
            let synchronised = FileSync::new(store.clone(), rooms.clone(), workspace);
            tools = tools.with_files(synchronised.clone());
            files = Some(synchronised);
        }
        let agents = AgentService::with_tools(
            tools,
            store.clone(),
            rooms.clone(),
            models,
            bypass,
            clock.clone(),
        );
        let agents = match &cluster {
            Some(cluster) => agents.with_call_maker(Arc::new(cluster.calls.clone())),
            None => agents,
        };
        let conversations = rest::Conversations::open(StoredAnswers::new(store.clone())).await?;
        Ok(Self {
            store,
            cluster,
            auth,
            secret,
            sockets,
            changes,
            rooms,
            agents,
            conversations,
            limits: rest::RequestLimits::default(),
            files,
            clock,
            connections: connections(config),
            workers: TaskTracker::new(),
            no_sessions: CancellationToken::new(),
        })
    }

    /// Opens the store, and the data directory for the owner's token where the database is
    /// elsewhere.
    async fn open_store(
        config: &ServerConfig,
        bound: SocketAddr,
    ) -> Result<(Store, Option<Cluster>)> {
        let opened = match (&config.database, config.cluster) {
            (Some(database), true) => {
                let (address, redis) = (config.node_address(bound), config.redis.clone());
                let authorities = cluster::authorities(config).await?;
                let joined = Cluster::join(database.clone(), redis, &address, authorities);
                let (store, cluster) = joined.await?;
                (store, Some(cluster))
            }
            _ => (Store::open(config.store(), StoreAccess::Serve).await?, None),
        };
        if config.database.is_some() {
            create_data_directory(&config.data)?;
        }
        Ok(opened)
    }

    /// Creates a sample document at the first start, so that there is something to try.
    async fn welcome(&self) -> Result<()> {
        if !self.rooms.placement().claim_task("welcome").await? {
            return Ok(());
        }
        if self.store.setting("welcomed").await?.is_some() {
            return Ok(());
        }
        let sample = NewDocument {
            title: SAMPLE_TITLE.to_owned(),
            text: SAMPLE.to_owned(),
            unlisted_owner: None,
        };
        self.rooms.create(sample, &Authenticator::owner()).await?;
        let welcomed = StoreOp::PutSetting { key: "welcomed".to_owned(), value: "yes".to_owned() };
        Ok(self.store.commit(welcomed).await?)
    }

    /// Returns the application of this server's parts.
    fn application(&self, config: &ServerConfig, bound: SocketAddr) -> Application {
        Application::new(
            self.store.clone(),
            self.auth.clone(),
            self.rooms.clone(),
            self.agents.clone(),
            self.files.clone(),
            self.clock.clone(),
            ApplicationOptions {
                everyone: config.no_auth.then(Authenticator::owner),
                address_policy: settings::address_policy(config),
                sign_in: sign_in::policy(config, bound),
            },
        )
    }

    /// Builds the transports around the application.
    fn apps(
        &self,
        config: &ServerConfig,
        bound: SocketAddr,
        application: &Application,
    ) -> Result<(Router, SocketIo)> {
        let inside = rest::router(rest::HttpState {
            application: application.clone(),
            operations: copydesk_operations::table(),
            conversations: self.conversations.clone(),
            reading: BodyQuota::new(self.connections.accounts().clone()),
            limits: self.limits.clone(),
            stream_ping: config.stream_ping,
            metrics: self.metrics_access(config, application)?,
        });
        let inside = inside.merge(mcp::router(mcp::McpState {
            application: application.clone(),
            operations: copydesk_operations::table(),
            changes: self.changes.clone(),
            tasks: self.workers.clone(),
            stop: self.no_sessions.clone(),
            ask_other_server: self.cluster.as_ref().map(|it| it.ask_other_server(&self.rooms)),
        }));
        let inside = sign_in::routes(inside, config, bound, application)?;
        let inside = inside.fallback_service(assets::router());
        let inside = match &self.cluster {
            Some(cluster) => cluster.layer(inside)?,
            None => inside,
        };
        let (outside, io) = sockets::around(inside);
        socketio::register(
            &io,
            SocketState {
                application: application.clone(),
                operations: copydesk_operations::table(),
                sockets: self.sockets.clone(),
                connections: self.connections.clone(),
                close_polling: sockets::close_polling(outside.clone()),
                tasks: self.workers.clone(),
                other_servers: self
                    .cluster
                    .as_ref()
                    .map(|cluster| cluster.other_servers(application, &self.workers)),
            },
        );
        let hosts = AllowedHosts::new(bound, &config.allowed_hosts);
        let hosts = if config.tls.is_some() { hosts.with_tls() } else { hosts };
        let connections = self.connections.clone();
        let router = outside
            .layer(middleware::from_fn_with_state(hosts, rest::middleware::guard::check))
            .layer(middleware::from_fn_with_state(connections, rest::byte_accounting::count))
            .layer(middleware::from_fn(rest::middleware::request_id::name));
        Ok((router, io))
    }

    /// Shuts down after the last request: parks runs, lets rooms finish, tells sockets, and closes
    /// the store, however long the others took.
    async fn close(&self, io: &SocketIo) {
        let closing = async {
            self.agents.shutdown().await;
            self.rooms.close().await;
            if let Some(files) = &self.files {
                files.close().await;
            }
            // No other server writes a file before this server has written the last one.
            self.rooms.release_all().await;
        };
        if tokio::time::timeout(CLOSING_LIMIT, closing).await.is_err() {
            tracing::warn!(
                "shutdown timed out waiting for running work; what was acknowledged is durable"
            );
        }
        // A client that does not read would delay this for ever.
        drop(tokio::time::timeout(LAST_WORDS, io.close()).await);
        self.connections.end_all();
        self.store.close().await;
        // Last: everyone who waited for a decision has learned by now that the server stops.
        self.no_sessions.cancel();
    }
}

/// Disconnects people whose tokens have ended, and has the rooms recount the votes.
async fn watch_tokens(auth: Authenticator, rooms: RoomRegistry, clock: WallClock) {
    let mut changes = auth.changes();
    let mut ticks = tokio::time::interval(SWEEP);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = changes.changed() => rooms.recount().await,
            _ = ticks.tick() => {
                // An expired token is refused all the same; only its holder is not notified yet.
                if let Err(error) = auth.sweep(clock.now_ms()).await {
                    tracing::warn!(%error, "cannot check token expiry");
                }
            }
        }
    }
}
