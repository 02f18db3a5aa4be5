//! Events about documents that another server of several has: passed on to it in the client's name,
//! over a connection of the client's own, and what it answers and sends passed back.
//!
//! The other server sees an ordinary client, whose token it checks itself. When that connection is
//! lost, the client is disconnected too: as after a restart of a server, it comes back, opens its
//! documents again and sends again what was not acknowledged.

mod answers;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot::error::TryRecvError;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use copydesk_api::OtherServer;
use copydesk_connections::EndReason;
use copydesk_ids::{DocumentId, SessionId};
use copydesk_metrics as metrics;
use copydesk_protocol::client::{HUNK_CHANGES, Handshake, PEER_CHANGES, RELAYED, RELAYED_INBOX};

use super::SocketConnection;
use super::event_queue::{AckReply, RelaySlot};
use super::followed_requests::{FollowedRequest, RequestsToFollow};
use super::link::ClientLink;
use super::socket_error::SocketError;
use answers::{EventFollower, PassedOutcome, WaitingEvent, pass_back};

/// Longest time for which an event looks for the server that has its document: about as long as
/// the servers take to find out that one of them is gone.
const PATIENCE: Duration = Duration::from_secs(15);
/// Pause between two attempts.
const PAUSE: Duration = Duration::from_millis(100);
/// Number of events that may wait to be passed on.
const WAITING: usize = 256;

/// Function that connects to another server as a client with this handshake.
pub type ConnectNode = Arc<
    dyn Fn(OtherServer, Value) -> BoxFuture<'static, Result<NodeLink, NodeRefusal>> + Send + Sync,
>;

/// Connection to another server, as a client there. It ends when one of the channels is closed.
#[derive(Debug)]
pub struct NodeLink {
    /// Events to be sent.
    pub events: mpsc::Sender<PassedEvent>,
    /// What has arrived.
    pub packets: mpsc::Receiver<NodePacket>,
}

/// Reason why there is no connection to another server.
#[derive(Clone, Debug)]
pub enum NodeRefusal {
    /// It does not answer.
    Unreachable,
    /// It has refused the client, with this message.
    Refused(String),
}

/// Event that is passed on.
#[derive(Debug)]
pub struct PassedEvent {
    /// Number of the answer; `None` if the client wants none.
    pub number: Option<u64>,
    /// Name of the event.
    pub name: String,
    /// Payload of the event.
    pub payload: Box<RawValue>,
}

/// Packet that has arrived from another server.
#[derive(Debug)]
pub enum NodePacket {
    /// Event for the client.
    Event(String, Box<RawValue>),
    /// Answer to the event of this number.
    Answer(u64, Box<RawValue>),
}

/// Part that other servers have in serving a client.
pub(crate) enum ClientRoute {
    /// Nothing: this server is the only one.
    Direct,
    /// This server passes events on to the others.
    Relays(Box<ClientRelay>),
    /// Another server relays the client.
    Relayed {
        /// `true` if the client joins the workspace inbox here.
        with_inbox: bool,
    },
}

impl ClientRoute {
    /// Returns the route of a client that came with this handshake. The events of a client that
    /// another server relays go no further. With connections to other servers comes what these
    /// tell.
    pub(crate) fn of(
        connect: Option<ConnectNode>,
        handshake: &Handshake,
        session: &SessionId,
        link: ClientLink,
    ) -> (Self, Option<RequestsToFollow>) {
        let has = |capability| handshake.capabilities.iter().any(|name| name == capability);
        match connect {
            _ if has(RELAYED) => (Self::Relayed { with_inbox: has(RELAYED_INBOX) }, None),
            Some(connect) => {
                let (follows, to_follow) = mpsc::unbounded_channel();
                let relay = ClientRelay::new(connect, handshake, session, (link, follows));
                (Self::Relays(Box::new(relay)), Some(to_follow))
            }
            None => (Self::Direct, None),
        }
    }

    /// Returns `true` if another server relays the client.
    pub(crate) fn is_relayed(&self) -> bool {
        matches!(self, Self::Relayed { .. })
    }

    /// Returns the connections to other servers, if there can be any.
    pub(crate) fn relay(&self) -> Option<&ClientRelay> {
        if let Self::Relays(relay) = self { Some(relay) } else { None }
    }

    /// Returns the connections to other servers, to change them.
    pub(crate) fn relay_mut(&mut self) -> Option<&mut ClientRelay> {
        if let Self::Relays(relay) = self { Some(relay) } else { None }
    }
}

/// Connections of one client to other servers.
pub(crate) struct ClientRelay {
    connect: ConnectNode,
    link: ClientLink,
    /// Takes the requests of other documents that the client is to be told of.
    follows: UnboundedSender<Box<FollowedRequest>>,
    /// Pushes in progress on other servers.
    pub(crate) pushes: Vec<oneshot::Receiver<()>>,
    /// Handshake that the other servers get.
    handshake: Value,
    pub(crate) slot: RelaySlot,
    links: HashMap<i64, OpenLink>,
    /// Documents that the client has open on other servers.
    remote: HashMap<DocumentId, OtherServer>,
    /// Numbers of the servers to which the client has a connection. They send it the ends of runs
    /// there, so this server does not.
    numbers: LinkedNodes,
}

/// Numbers of the servers to which a client has a connection. Clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct LinkedNodes(Arc<Mutex<Vec<i64>>>);

impl LinkedNodes {
    /// Returns `true` if there is a connection to this server.
    pub(crate) fn has(&self, number: i64) -> bool {
        self.0.lock().contains(&number)
    }
}

struct OpenLink {
    events: mpsc::Sender<PassedEvent>,
    /// `true` if the client joins the workspace inbox there.
    with_inbox: bool,
    waiting: Arc<Mutex<HashMap<u64, WaitingEvent>>>,
    last: u64,
}

/// Answer of another server to a part of a client's event.
pub(crate) enum NodeAnswer {
    /// Complete answer.
    Answered(Box<RawValue>),
    /// The server was not reached; nothing was done.
    NotReached,
    /// The server has refused the client, with this message; nothing was done.
    Refused(String),
    /// The connection was lost: it may have been done. The client is disconnected.
    Lost,
}

/// Result of [`SocketConnection::pass_on`].
enum Passed {
    Done,
    Again(AckReply),
}

/// Part of a payload that names a document.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct NamedDocument {
    document_id: Option<String>,
}

impl ClientRelay {
    fn new(
        connect: ConnectNode,
        handshake: &Handshake,
        session: &SessionId,
        (link, follows): (ClientLink, UnboundedSender<Box<FollowedRequest>>),
    ) -> Self {
        // Short updates name documents by numbers that each server gives.
        let mut capabilities = vec![PEER_CHANGES, HUNK_CHANGES];
        capabilities.retain(|passed| handshake.capabilities.iter().any(|name| name == passed));
        let handshake = json!({
            "token": handshake.token,
            "name": handshake.name,
            "protocol": 1,
            "sessionId": session,
            "capabilities": capabilities,
        });
        Self {
            connect,
            link,
            follows,
            pushes: Vec::new(),
            handshake,
            slot: RelaySlot::default(),
            links: HashMap::new(),
            remote: HashMap::new(),
            numbers: LinkedNodes::default(),
        }
    }

    /// Returns the numbers of the servers with a connection.
    pub(crate) fn linked(&self) -> LinkedNodes {
        self.numbers.clone()
    }

    /// Returns what takes the requests of other documents that the client is to be told of.
    pub(crate) fn follows(&self) -> UnboundedSender<Box<FollowedRequest>> {
        self.follows.clone()
    }

    /// Returns the server on which the client has opened a document.
    pub(crate) fn opened_on(&self, document: &DocumentId) -> Option<&OtherServer> {
        self.remote.get(document)
    }

    /// Returns the server on which the client has opened a document, which it closes.
    pub(crate) fn closes(&mut self, document: &DocumentId) -> Option<OtherServer> {
        self.remote.remove(document)
    }
}

impl SocketConnection {
    /// Handles an event here, or passes it on to the server that has its document.
    pub(crate) async fn handle_or_pass(&mut self, name: &str, payload: &RawValue, ack: AckReply) {
        let Some(slot) = self.route.relay().map(|relay| relay.slot.clone()) else {
            return self.handle(name, payload, ack).await;
        };
        let until = Instant::now() + PATIENCE;
        let mut ack = ack;
        loop {
            self.handle(name, payload, ack.with_slot(slot.clone())).await;
            let Some((refused, node)) = slot.take() else { return };
            ack = match self.pass_on(&node, name, payload, refused).await {
                Passed::Done => return,
                Passed::Again(ack) => ack,
            };
            if Instant::now() >= until || self.client.is_ended() {
                return ack.refuse(&SocketError::new(
                    "unavailable",
                    "the server that has this document does not answer; nothing was changed",
                ));
            }
            self.app.api.placement().forget_server(&node);
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Passes an event on to another server.
    async fn pass_on(
        &mut self,
        node: &OtherServer,
        name: &str,
        payload: &RawValue,
        ack: AckReply,
    ) -> Passed {
        match self.link_to(node, &[RELAYED]).await {
            Ok(()) => {}
            Err(NodeRefusal::Unreachable) => return Passed::Again(ack),
            Err(NodeRefusal::Refused(reason)) => {
                tracing::warn!(node = node.number, reason, "another server has refused a client");
                ack.refuse(&SocketError::new("unavailable", reason));
                return Passed::Done;
            }
        }
        let Some(relay) = self.route.relay_mut() else { return Passed::Done };
        let Some(link) = relay.links.get_mut(&node.number) else { return Passed::Again(ack) };
        let (is_push, payload) = (name == "document:push", payload.to_owned());
        metrics::RELAYED_EVENTS.count();
        let opens = matches!(name, "document:open" | "document:resync");
        let named = serde_json::from_str(payload.get()).ok().filter(|_| opens);
        let named = named.and_then(|NamedDocument { document_id }| document_id);
        let names_file = opens && named.is_none();
        if let Some(document) = named {
            relay.remote.insert(document.into(), node.clone());
        }
        if !ack.is_wanted() {
            let event = PassedEvent { number: None, name: name.to_owned(), payload };
            // A lost connection ends the client.
            link.events.send(event).await.ok();
            ack.leave_unanswered();
            return Passed::Done;
        }
        link.last += 1;
        let number = link.last;
        let event = PassedEvent { number: Some(number), name: name.to_owned(), payload };
        if is_push {
            let (over, passed) = oneshot::channel();
            let then = EventFollower::AfterPushes(over);
            link.waiting.lock().insert(number, WaitingEvent::Passed { ack, then, names_file });
            link.events.send(event).await.ok();
            relay.pushes.retain_mut(|push| push.try_recv() == Err(TryRecvError::Empty));
            relay.pushes.push(passed);
            return Passed::Done;
        }
        let (done, outcome) = oneshot::channel();
        let then = EventFollower::Next(done);
        link.waiting.lock().insert(number, WaitingEvent::Passed { ack, then, names_file });
        link.events.send(event).await.ok();
        match outcome.await {
            Ok(PassedOutcome::Moved(ack)) => Passed::Again(ack),
            Ok(PassedOutcome::Answered(opened)) => {
                if let (Some(document), Some(relay)) = (opened, self.route.relay_mut()) {
                    relay.remote.insert(document, node.clone());
                }
                Passed::Done
            }
            // With the connection lost, the client is disconnected.
            Err(_) => Passed::Done,
        }
    }

    /// Sends a part of an event of the client to another server, and waits for the answer.
    pub(crate) async fn ask_node(
        &mut self,
        node: &OtherServer,
        name: &str,
        payload: Box<RawValue>,
    ) -> NodeAnswer {
        match self.link_to(node, &[RELAYED]).await {
            Ok(()) => {}
            Err(NodeRefusal::Unreachable) => return NodeAnswer::NotReached,
            Err(NodeRefusal::Refused(reason)) => return NodeAnswer::Refused(reason),
        }
        let link = self.route.relay_mut().and_then(|relay| relay.links.get_mut(&node.number));
        let Some(link) = link else { return NodeAnswer::NotReached };
        metrics::RELAYED_EVENTS.count();
        link.last += 1;
        let (taker, answer) = oneshot::channel();
        link.waiting.lock().insert(link.last, WaitingEvent::Part(taker));
        let event = PassedEvent { number: Some(link.last), name: name.to_owned(), payload };
        link.events.send(event).await.ok();
        // A lost connection ends the client.
        tokio::select! {
            biased;
            answer = answer => answer.map_or(NodeAnswer::Lost, NodeAnswer::Answered),
            () = self.client.ended() => NodeAnswer::Lost,
        }
    }

    /// Joins the workspace inbox on the server that has it; returns `false` if that is to be tried
    /// again.
    pub(crate) async fn join_inbox_on(&mut self, node: &OtherServer) -> bool {
        if let Err(refusal) = self.link_to(node, &[RELAYED, RELAYED_INBOX]).await {
            tracing::debug!(?refusal, node = node.number, "cannot join the workspace inbox yet");
            return false;
        }
        let link = self.route.relay().and_then(|relay| relay.links.get(&node.number));
        if link.is_some_and(|link| !link.with_inbox) {
            // The connection is older than the inbox there: the client comes back with another.
            self.client.end(EndReason::NodeLost);
        }
        true
    }

    /// Joins what the session listens to on the server that has its private document.
    pub(crate) async fn listen_on(&mut self, node: &OtherServer) {
        if let Err(refusal) = self.link_to(node, &[RELAYED]).await {
            tracing::warn!(?refusal, node = node.number, "cannot listen for a session");
        }
    }

    /// Sends an event to another server, which answers nothing.
    pub(crate) async fn send_to(&mut self, node: &OtherServer, name: &str, payload: Box<RawValue>) {
        if let Err(refusal) = self.link_to(node, &[RELAYED]).await {
            tracing::debug!(?refusal, node = node.number, "cannot send to another server");
            return;
        }
        let link = self.route.relay().and_then(|relay| relay.links.get(&node.number));
        if let Some(link) = link {
            let event = PassedEvent { number: None, name: name.to_owned(), payload };
            // A lost connection ends the client.
            link.events.send(event).await.ok();
        }
    }

    /// Makes sure that there is a connection to another server.
    async fn link_to(&mut self, node: &OtherServer, more: &[&str]) -> Result<(), NodeRefusal> {
        let Some(relay) = self.route.relay_mut() else { return Err(NodeRefusal::Unreachable) };
        if relay.links.get(&node.number).is_some_and(|link| !link.events.is_closed()) {
            return Ok(());
        }
        let mut handshake = relay.handshake.clone();
        if let Some(capabilities) = handshake["capabilities"].as_array_mut() {
            capabilities.extend(more.iter().map(|name| json!(name)));
        }
        let NodeLink { events, packets } = (relay.connect)(node.clone(), handshake).await?;
        let waiting = Arc::default();
        relay.numbers.0.lock().push(node.number);
        let with_inbox = more.contains(&RELAYED_INBOX);
        let link = OpenLink { events, with_inbox, waiting: Arc::clone(&waiting), last: 0 };
        relay.links.insert(node.number, link);
        let client = (relay.link.clone(), relay.follows.clone());
        let app = Arc::clone(&self.app);
        self.app.tasks.spawn(async move { pass_back(&app, client, packets, &waiting).await });
        Ok(())
    }
}

/// Number of events that may wait to be passed on to one server; for [`NodeLink::events`].
pub const LINK_LENGTH: usize = WAITING;
