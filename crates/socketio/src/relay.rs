//! Events about documents that another server of several has: passed on to it in the client's name,
//! over a connection of the client's own, and what it answers and sends passed back.
//!
//! The other server sees an ordinary client, whose token it checks itself. When that connection is
//! lost, the client is disconnected too: as after a restart of a server, it comes back, opens its
//! documents again and sends again what was not acknowledged.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot::error::TryRecvError;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use copydesk_connections::EndReason;
use copydesk_engine::api::NodeAddress;
use copydesk_engine::ids::{DocumentId, SessionId};
use copydesk_engine::metrics;
use copydesk_protocol::client::{HUNK_CHANGES, Handshake, PEER_CHANGES, RELAYED, RELAYED_INBOX};

use super::event_queue::AckReply;
use super::followed_requests::{FollowedRequest, TO_FOLLOW};
use super::link::{ClientLink, event_frame};
use super::socket_error::SocketError;
use super::{SocketConnection, SocketState};

/// Longest time for which an event looks for the server that has its document: about as long as
/// the servers take to find out that one of them is gone.
const PATIENCE: Duration = Duration::from_secs(15);
/// Pause between two attempts.
const PAUSE: Duration = Duration::from_millis(100);
/// Longest time for a client to be told that its token has ended.
const GOODBYE: Duration = Duration::from_secs(1);
/// Number of events that may wait to be passed on.
const WAITING: usize = 256;

/// Function that connects to another server as a client with this handshake.
pub type ConnectNode = Arc<
    dyn Fn(NodeAddress, Value) -> BoxFuture<'static, Result<NodeLink, NodeRefusal>> + Send + Sync,
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

/// Place where a refused event waits to be passed on.
#[derive(Clone, Debug, Default)]
pub(crate) struct RelaySlot(Arc<Mutex<Option<(AckReply, NodeAddress)>>>);

impl RelaySlot {
    /// Stores the reply to an event whose document another server has.
    pub(crate) fn put(&self, ack: AckReply, node: NodeAddress) {
        *lock(&self.0) = Some((ack, node));
    }

    fn take(&self) -> Option<(AckReply, NodeAddress)> {
        lock(&self.0).take()
    }
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
    /// another server relays go no further.
    pub(crate) fn of(
        connect: Option<ConnectNode>,
        handshake: &Handshake,
        session: &SessionId,
        link: (ClientLink, UnboundedSender<Box<FollowedRequest>>),
    ) -> Self {
        let has = |capability| handshake.capabilities.iter().any(|name| name == capability);
        match connect {
            _ if has(RELAYED) => Self::Relayed { with_inbox: has(RELAYED_INBOX) },
            Some(connect) => {
                Self::Relays(Box::new(ClientRelay::new(connect, handshake, session, link)))
            }
            None => Self::Direct,
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
    remote: HashMap<DocumentId, NodeAddress>,
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
        lock(&self.0).contains(&number)
    }
}

struct OpenLink {
    events: mpsc::Sender<PassedEvent>,
    /// `true` if the client joins the workspace inbox there.
    with_inbox: bool,
    waiting: Arc<Mutex<HashMap<u64, WaitingEvent>>>,
    last: u64,
}

/// Event that was passed on and is not answered yet.
struct WaitingEvent {
    ack: AckReply,
    then: EventFollower,
    /// `true` if the answer says which document was opened: the event names a file.
    names_file: bool,
}

/// Who is told that an event is over.
enum EventFollower {
    /// The next event of the client, for which this one has to be answered.
    Next(oneshot::Sender<PassedOutcome>),
    /// The next event that is no push.
    AfterPushes(oneshot::Sender<()>),
}

/// Outcome of an event that was passed on.
enum PassedOutcome {
    /// The client has its answer, which may say which document a file is.
    Answered(Option<DocumentId>),
    /// The other server does not have the document.
    Moved(AckReply),
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

    /// Returns the server on which the client has opened a document.
    pub(crate) fn opened_on(&self, document: &DocumentId) -> Option<&NodeAddress> {
        self.remote.get(document)
    }

    /// Returns the server on which the client has opened a document, which it closes.
    pub(crate) fn closes(&mut self, document: &DocumentId) -> Option<NodeAddress> {
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
            if let Some(own) = self.app.api.node() {
                own.forget_node(node.number);
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Passes an event on to another server.
    async fn pass_on(
        &mut self,
        node: &NodeAddress,
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
            lock(&link.waiting).insert(number, WaitingEvent { ack, then, names_file });
            link.events.send(event).await.ok();
            relay.pushes.retain_mut(|push| push.try_recv() == Err(TryRecvError::Empty));
            relay.pushes.push(passed);
            return Passed::Done;
        }
        let (done, outcome) = oneshot::channel();
        let then = EventFollower::Next(done);
        lock(&link.waiting).insert(number, WaitingEvent { ack, then, names_file });
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

    /// Joins the workspace inbox on the server that has it; returns `false` if that is to be tried
    /// again.
    pub(crate) async fn join_inbox_on(&mut self, node: &NodeAddress) -> bool {
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
    pub(crate) async fn listen_on(&mut self, node: &NodeAddress) {
        if let Err(refusal) = self.link_to(node, &[RELAYED]).await {
            tracing::warn!(?refusal, node = node.number, "cannot listen for a session");
        }
    }

    /// Sends an event to another server, which answers nothing.
    pub(crate) async fn send_to(&mut self, node: &NodeAddress, name: &str, payload: Box<RawValue>) {
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
    async fn link_to(&mut self, node: &NodeAddress, more: &[&str]) -> Result<(), NodeRefusal> {
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
        lock(&relay.numbers.0).push(node.number);
        let with_inbox = more.contains(&RELAYED_INBOX);
        let link = OpenLink { events, with_inbox, waiting: Arc::clone(&waiting), last: 0 };
        relay.links.insert(node.number, link);
        let client = (relay.link.clone(), relay.follows.clone());
        let app = Arc::clone(&self.app);
        self.app.tasks.spawn(async move { pass_back(&app, client, packets, &waiting).await });
        Ok(())
    }
}

/// Passes back what another server sends, until the connection is lost, which ends the client.
async fn pass_back(
    app: &SocketState,
    (client, follows): (ClientLink, UnboundedSender<Box<FollowedRequest>>),
    mut packets: mpsc::Receiver<NodePacket>,
    waiting: &Mutex<HashMap<u64, WaitingEvent>>,
) {
    loop {
        let packet = tokio::select! {
            () = client.client().ended() => None,
            packet = packets.recv() => packet,
        };
        match packet {
            // This server has greeted its client.
            Some(NodePacket::Event(name, _)) if name == "sessionRegistered" => {}
            Some(NodePacket::Event(name, _)) if name == "sessionEnded" => {
                // The token has ended: this server says so, too, and ends the client.
                if let Err(error) = app.api.auth.sweep(app.api.clock.now_ms()).await {
                    tracing::warn!(%error, "cannot check the tokens");
                }
                drop(tokio::time::timeout(GOODBYE, client.client().ended()).await);
                break;
            }
            Some(NodePacket::Event(name, payload)) if name == TO_FOLLOW => {
                if let Ok(followed) = serde_json::from_str(payload.get()) {
                    follows.send(followed).ok();
                }
            }
            Some(NodePacket::Event(name, payload)) => {
                client.emit(&name, &payload, event_frame(&name, &payload).as_ref());
            }
            Some(NodePacket::Answer(number, body)) => {
                let waited = lock(waiting).remove(&number);
                let Some(WaitingEvent { ack, then, names_file }) = waited else { continue };
                match (is_elsewhere(&body), then) {
                    (false, EventFollower::Next(done)) => {
                        let opened = names_file.then(|| opened_document(&body)).flatten();
                        ack.give_raw(&body);
                        done.send(PassedOutcome::Answered(opened)).ok();
                    }
                    (false, EventFollower::AfterPushes(over)) => {
                        let age = ack.age();
                        ack.give_raw(&body);
                        metrics::RELAYED_KEYSTROKE_SECONDS.took(age);
                        over.send(()).ok();
                    }
                    (true, EventFollower::Next(done)) => drop(done.send(PassedOutcome::Moved(ack))),
                    (true, EventFollower::AfterPushes(_)) => {
                        // What came after it was passed on, too. The client sends all of it again.
                        ack.leave_unanswered();
                        break;
                    }
                }
            }
            None => break,
        }
    }
    // First of all: nobody may be told that nothing was changed, for that is not known.
    client.client().end(EndReason::NodeLost);
    let unanswered = std::mem::take(&mut *lock(waiting));
    for event in unanswered.into_values() {
        event.ack.leave_unanswered();
    }
}

/// Returns `true` for the answer of a server that does not have the document.
fn is_elsewhere(answer: &RawValue) -> bool {
    #[derive(Deserialize)]
    struct Refused {
        error: RefusalCode,
    }
    #[derive(Deserialize)]
    struct RefusalCode {
        code: String,
    }
    answer.get().starts_with("{\"ok\":false")
        && serde_json::from_str::<Refused>(answer.get())
            .is_ok_and(|refused| refused.error.code == "elsewhere")
}

/// Returns the document that an answer to `document:open` names.
fn opened_document(answer: &RawValue) -> Option<DocumentId> {
    #[derive(Deserialize)]
    struct Opened {
        document: OpenedLine,
    }
    #[derive(Deserialize)]
    struct OpenedLine {
        id: String,
    }
    let opened: Opened = serde_json::from_str(answer.get()).ok()?;
    Some(opened.document.id.into())
}

/// Number of events that may wait to be passed on to one server; for [`NodeLink::events`].
pub const LINK_LENGTH: usize = WAITING;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // The value is consistent between any two statements.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
