//! This server as one of several that share a PostgreSQL database: connections to the others, and
//! what is done when they tell something, or are gone.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use futures_util::FutureExt as _;
use parking_lot::Mutex;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::webhooks::DeliveryWorker;
use copydesk_agent::StopFilter;
use copydesk_approvals::DeletedPerson;
use copydesk_client::forward::{RequestForwarder, pass_headers};
use copydesk_client::mcp::{self, StdioBridge};
use copydesk_client::socketio::{SocketIoClient, SocketIoServer};
use copydesk_client::{ClientError, ServerClient, TrustedAuthorities};
use copydesk_cluster::ClusterNode;
use copydesk_commands::config::ServerConfig;
use copydesk_http::rest::RequestLimit;
use copydesk_http::rest::middleware::relay::{ForwardFailure, ForwardRequest, RequestRelay};
use copydesk_ids::{RunId, SessionId, UserId};
use copydesk_mcp::{ForwardCall, ForwardedCall};
use copydesk_placement::{CountedApi, OtherServer, PeerMessage, Placement};
use copydesk_socketio::{ConnectNode, LINK_LENGTH, NodeLink, NodePacket, NodeRefusal, PassedEvent};

use super::{Server, settings};

/// Longest wait for a connection to another server.
const PATIENCE: Duration = Duration::from_secs(5);
/// Pause after an attempt to take over runs that failed.
const TAKE_OVER_AGAIN: Duration = Duration::from_secs(3);
/// Name of the task that sends the deliveries of webhooks.
pub(super) const DELIVERIES: &str = "webhooks";
/// Number of packets that may wait to be passed back to a client.
const PACKETS: usize = 1_024;

/// Servers by the numbers of their nodes: each has one client for all connections.
type KnownServers = Arc<Mutex<HashMap<i64, SocketIoServer>>>;

/// Reads the authorities that certificates of other servers may have, besides those of the system.
pub(super) async fn authorities(config: &ServerConfig) -> Result<TrustedAuthorities> {
    let Some(path) = &config.node_ca else { return Ok(TrustedAuthorities::default()) };
    let named = || format!("cannot use --node-ca {}", path.display());
    let content = tokio::fs::read(path).await.with_context(named)?;
    TrustedAuthorities::read(&content).with_context(named)
}

/// Waits until the servers have removed another one, which may only stand still: its connections
/// would stay open.
async fn removed(own: Arc<ClusterNode>, number: i64) {
    let mut departures = own.departures();
    let mut was_seen = false;
    loop {
        if own.sees(number) {
            was_seen = true;
        } else if was_seen {
            return;
        }
        if departures.changed().await.is_err() {
            return;
        }
    }
}

/// Returns the function that connects clients to other servers.
pub(super) fn connector(own: &Arc<ClusterNode>, authorities: &TrustedAuthorities) -> ConnectNode {
    let (servers, authorities) = (KnownServers::default(), authorities.clone());
    let own = Arc::clone(own);
    Arc::new(move |node, handshake| {
        let removed = removed(Arc::clone(&own), node.number);
        connect(Arc::clone(&servers), authorities.clone(), node, handshake, removed).boxed()
    })
}

async fn connect(
    servers: KnownServers,
    authorities: TrustedAuthorities,
    node: OtherServer,
    handshake: Value,
    removed: impl Future<Output = ()> + Send + 'static,
) -> Result<NodeLink, NodeRefusal> {
    let known = servers.lock().get(&node.number).cloned();
    let server = if let Some(server) = known {
        server
    } else {
        let server = SocketIoServer::trusting(&node.url, &authorities);
        let server = server.map_err(|_| NodeRefusal::Unreachable)?;
        let mut servers = servers.lock();
        servers.insert(node.number, server.clone());
        server
    };
    let connected = tokio::time::timeout(PATIENCE, server.connect(&handshake)).await;
    let client = match connected {
        Ok(Ok(client)) => client,
        Ok(Err(ClientError::NotAdmitted { detail })) => return Err(NodeRefusal::Refused(detail)),
        Ok(Err(error)) => {
            tracing::debug!(%error, node = node.number, "cannot connect to another server");
            return Err(NodeRefusal::Unreachable);
        }
        Err(_) => return Err(NodeRefusal::Unreachable),
    };
    let (events, passed) = mpsc::channel(LINK_LENGTH);
    let (arrived, packets) = mpsc::channel(PACKETS);
    tokio::spawn(async move {
        tokio::select! {
            () = removed => {}
            () = pump(client, passed, arrived) => {}
        }
    });
    Ok(NodeLink { events, packets })
}

/// Sends and receives for one client until either side ends, or the other server falls silent.
async fn pump(
    mut client: SocketIoClient,
    mut passed: mpsc::Receiver<PassedEvent>,
    arrived: mpsc::Sender<NodePacket>,
) {
    loop {
        tokio::select! {
            event = passed.recv() => {
                let Some(PassedEvent { number, name, payload }) = event else { return };
                if client.pass(number, &name, &payload).await.is_err() {
                    return;
                }
            }
            packet = client.receive() => {
                let Ok(packet) = packet else { return };
                let raw = |json: &str| RawValue::from_string(json.to_owned()).ok();
                let packet = match (packet.event(), packet.acknowledgement()) {
                    (Some((name, payload)), _) => {
                        raw(payload).map(|payload| NodePacket::Event(name.to_owned(), payload))
                    }
                    (None, Some((number, answer))) => {
                        raw(answer).map(|answer| NodePacket::Answer(number, answer))
                    }
                    (None, None) => None,
                };
                let Some(packet) = packet else { return };
                if arrived.send(packet).await.is_err() {
                    return;
                }
            }
            () = arrived.closed() => return,
        }
    }
}

/// Returns what passes requests on to other servers.
pub(super) fn request_relay(
    node: &Arc<ClusterNode>,
    authorities: &TrustedAuthorities,
) -> Result<RequestRelay> {
    let forwarder = RequestForwarder::trusting(authorities)?;
    let own = Arc::clone(node);
    let forward: ForwardRequest = Arc::new(move |node, request| {
        let removed = removed(Arc::clone(&own), node.number);
        let answer = forward(forwarder.clone(), node, request);
        let lost = removed.map(|()| Err(ForwardFailure::Lost));
        async {
            tokio::select! { it = answer => it, it = lost => it }
        }
        .boxed()
    });
    let placement: Arc<dyn Placement> = Arc::clone(node) as _;
    Ok(RequestRelay { placement, forward })
}

async fn forward(
    forwarder: RequestForwarder,
    node: OtherServer,
    request: Request,
) -> Result<Response, ForwardFailure> {
    let (parts, body) = request.into_parts();
    let target = parts.uri.path_and_query().map_or("/", |target| target.as_str());
    let how = (parts.method, target);
    let sent = forwarder.send(&node.url, how, &parts.headers, body.into_data_stream()).await;
    let answer = sent.map_err(|error| match error {
        ClientError::Unreachable { .. } => ForwardFailure::Unreachable,
        _ => ForwardFailure::Lost,
    })?;
    let (status, mut headers) = (answer.status(), answer.headers().clone());
    pass_headers(&mut headers);
    let mut response = Response::new(Body::from_stream(answer.bytes_stream()));
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    Ok(response)
}

/// Returns the function that makes calls of MCP on other servers.
pub(super) fn call_forwarder(authorities: &TrustedAuthorities) -> ForwardCall {
    let authorities = authorities.clone();
    Arc::new(move |call| ask(authorities.clone(), call).boxed())
}

async fn ask(authorities: TrustedAuthorities, call: ForwardedCall) -> Value {
    let ForwardedCall { node, token, bridge, timeout_ms, client, method, params, call } = call;
    let message = mcp::request(&client, method, params, &call);
    let answered = async {
        let server = ServerClient::trusting(&node.url, token.as_deref(), &authorities)?;
        StdioBridge::ask_once(server, bridge, timeout_ms, &message).await
    };
    answered
        .await
        .unwrap_or_else(|error| json!({"error": {"code": -32603, "message": error.to_string()}}))
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
    let Some(node) = &app.node else {
        stopped.await;
        return Ok(());
    };
    tokio::select! {
        () = stopped => Ok(()),
        () = app.attend(node, config) => {
            bail!("the other servers of this database have removed this one; start it again")
        }
    }
}

impl Server {
    /// Does what other servers tell and leave behind, until they have removed this one.
    async fn attend(&self, node: &ClusterNode, config: &ServerConfig) {
        tokio::select! {
            () = node.removed().cancelled() => {}
            () = self.hear(node, config) => {}
            () = self.take_over(node) => {}
            () = self.take_over_workspace() => {}
            () = self.tell_outbox(node) => {}
            () = self.tell_renames(node) => {}
            () = self.tell_watched(node) => {}
            () = self.tell_texts(node) => {}
            () = self.tell_requests(node) => {}
        }
    }

    pub(super) fn request_limit(&self, api: CountedApi) -> &RequestLimit {
        match api {
            CountedApi::Rest => &self.limits.rest,
            CountedApi::Messages => &self.limits.messages,
        }
    }

    /// Looks up what other servers tell.
    async fn hear(&self, node: &ClusterNode, config: &ServerConfig) {
        let mut news = node.news();
        loop {
            match news.recv().await {
                Ok((from, news)) => self.hear_one(from, news, config).await,
                Err(RecvError::Lagged(_)) => self.make_up(config).await,
                Err(RecvError::Closed) => return,
            }
        }
    }

    async fn hear_one(&self, from: i64, news: PeerMessage, config: &ServerConfig) {
        match news {
            PeerMessage::Tokens => {
                if let Err(error) = self.auth.sweep(self.clock.now_ms()).await {
                    tracing::warn!(%error, "cannot check the tokens");
                }
                // Somebody may not decide any more who is not connected here.
                self.rooms.recount().await;
            }
            PeerMessage::Settings => self.reload_settings(config).await,
            PeerMessage::Created(document) => {
                if let Err(error) = self.rooms.announce_created(&document).await {
                    tracing::warn!(%error, "cannot announce a document");
                }
            }
            PeerMessage::Renamed(document) => self.changes.note_elsewhere(document),
            PeerMessage::Watched(documents) => self.changes.note_watched(documents),
            PeerMessage::Texts(documents) => self.changes.note_texts_elsewhere(documents),
            PeerMessage::RunEnded(session, run) => {
                self.agents.note_ended();
                self.tell_end(from, &session, &run).await;
            }
            PeerMessage::Call(session, call) => self.agents.hear_of_call(session, call),
            PeerMessage::Requests(api, people) => self.request_limit(api).count_elsewhere(&people),
            PeerMessage::Outbox => {
                if self.rooms.placement().has_task(DELIVERIES) {
                    self.store.note_outbox();
                }
            }
            PeerMessage::Cancel(session) => {
                let all = StopFilter { session: Some(session), run: None };
                // Without a run of that session there is nothing to stop.
                self.agents.cancel(all).await.ok();
            }
            PeerMessage::CancelRun(session, run) => {
                let one = StopFilter { session: Some(session), run: Some(run) };
                // It is another server's, or has ended.
                self.agents.cancel(one).await.ok();
            }
            PeerMessage::PersonDeleted(user) => self.forget_person(&user).await,
            PeerMessage::Workspace => self.hand_over_workspace().await,
            PeerMessage::Missed => self.make_up(config).await,
            PeerMessage::Leases => {}
        }
    }

    /// Ends the connections of a person whose data another server deletes, and makes the rooms here
    /// forget their names. That server tells it again until nothing is left.
    async fn forget_person(&self, user: &UserId) {
        if let Err(error) = self.auth.sweep(self.clock.now_ms()).await {
            tracing::warn!(%error, "cannot check the tokens");
        }
        match self.store.person_deletion(user).await {
            Ok(Some(deletion)) => {
                let person = Arc::new(DeletedPerson { users: deletion.users });
                if let Err(error) = self.rooms.forget_person(&person).await {
                    tracing::warn!(%error, "cannot forget the name of a deleted person yet");
                }
            }
            Ok(None) => {}
            Err(error) => tracing::warn!(%error, "cannot look up a deleted person"),
        }
    }

    /// Looks up whatever another server may have told in vain.
    async fn make_up(&self, config: &ServerConfig) {
        self.changes.note_missed();
        if let Err(error) = self.auth.sweep(self.clock.now_ms()).await {
            tracing::warn!(%error, "cannot check the tokens");
        }
        let before = self.rooms.settings();
        match settings::recall(&self.rooms, config, self.agents.catalog()).await {
            Ok(()) if self.rooms.settings() == before => {}
            Ok(()) => self.rooms.announce_settings().await,
            Err(error) => tracing::warn!(%error, "cannot read the settings"),
        }
        self.agents.note_ended();
        self.hand_over_workspace().await;
        if self.rooms.placement().has_task(DELIVERIES) {
            self.store.note_outbox();
        }
    }

    async fn reload_settings(&self, config: &ServerConfig) {
        match settings::recall(&self.rooms, config, self.agents.catalog()).await {
            Ok(()) => self.rooms.announce_settings().await,
            Err(error) => tracing::warn!(%error, "cannot read the settings"),
        }
    }

    /// Tells a session's clients here the end of a run elsewhere, unless that server does.
    async fn tell_end(&self, from: i64, session: &SessionId, run: &RunId) {
        let untold = self.sockets.untold(session, from);
        if untold.is_empty() {
            return;
        }
        match self.agents.unheard(session).await {
            Ok(mut ended) => {
                ended.retain(|said| said.run == *run);
                for member in &untold {
                    self.sockets.catch_up(member, &ended);
                }
            }
            Err(error) => tracing::warn!(%error, "cannot tell a session how its run ended"),
        }
    }

    /// Takes over the runs of servers that are gone.
    async fn take_over(&self, node: &ClusterNode) {
        let mut departures = node.departures();
        // One may have gone while this one started.
        departures.mark_changed();
        while departures.changed().await.is_ok() {
            loop {
                match self.agents.resume().await {
                    Ok(0) => break,
                    Ok(runs) => {
                        tracing::info!(runs, "took over runs of another server");
                        break;
                    }
                    Err(error) => {
                        tracing::warn!(%error, "cannot take over the runs of another server yet");
                        tokio::time::sleep(TAKE_OVER_AGAIN).await;
                    }
                }
            }
        }
    }
}
