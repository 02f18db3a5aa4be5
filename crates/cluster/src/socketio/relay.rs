//! Events about documents of other servers: passed on to them in the client's name, over a
//! connection of the client's own, and what they answer and send passed back.
//!
//! The other server sees an ordinary client, whose token it checks itself. When that connection is
//! lost, the client is disconnected too: as after a restart of a server, it comes back, opens its
//! documents again and sends again what was not acknowledged.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::oneshot::error::TryRecvError;
use tokio::sync::{mpsc, oneshot};
use tokio_util::task::TaskTracker;

use super::answers::{EventFollower, PassedOutcome, WaitingEvent, pass_back};
use super::decisions;
use crate::connections::{NodeAnswer, NodeConnector, NodeLink, NodeRefusal, PassedEvent};
use crate::decision_batch::wire_error;
use crate::node::ClusterNode;
use copydesk_api::Application;
use copydesk_client::TrustedAuthorities;
use copydesk_connections::EndReason;
use copydesk_ids::DocumentId;
use copydesk_metrics as metrics;
use copydesk_placement::OtherServer;
use copydesk_protocol::client::{COMMENTS, HUNK_CHANGES, PEER_CHANGES, RELAYED, RELAYED_INBOX};
use copydesk_protocol::rest::DecisionResult;
use copydesk_socketio::{AckReply, NewClient, OtherServers, OtherServersOfClient, SocketDecisions};

/// Returns the function that passes the events of clients on to other servers.
pub fn client_relays(
    node: &Arc<ClusterNode>,
    authorities: &TrustedAuthorities,
    application: &Application,
    tasks: &TaskTracker,
) -> OtherServersOfClient {
    let connector = Arc::new(NodeConnector::new(node, authorities));
    let (application, tasks) = (application.clone(), tasks.clone());
    Arc::new(move |client| {
        let relay =
            ClientRelay::new(Arc::clone(&connector), client, (application.clone(), tasks.clone()));
        Box::new(relay)
    })
}

/// Connections of one client to other servers.
pub(super) struct ClientRelay {
    connector: Arc<NodeConnector>,
    application: Application,
    tasks: TaskTracker,
    client: NewClient,
    /// Pushes in progress on other servers.
    pushes: Vec<oneshot::Receiver<()>>,
    /// Handshake that the other servers get.
    handshake: Value,
    links: HashMap<i64, OpenLink>,
    /// Documents that the client has open on other servers.
    remote: HashMap<DocumentId, OtherServer>,
}

/// Connection to another server.
struct OpenLink {
    events: mpsc::Sender<PassedEvent>,
    /// `true` if the client joins the workspace inbox there.
    with_inbox: bool,
    waiting: Arc<Mutex<HashMap<u64, WaitingEvent>>>,
    last: u64,
}

/// Part of a payload that names a document.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct NamedDocument {
    document_id: Option<String>,
}

impl ClientRelay {
    fn new(
        connector: Arc<NodeConnector>,
        client: NewClient,
        (application, tasks): (Application, TaskTracker),
    ) -> Self {
        // Short updates name documents by numbers that each server gives.
        let mut capabilities = vec![PEER_CHANGES, HUNK_CHANGES, COMMENTS];
        let understood = &client.handshake.capabilities;
        capabilities.retain(|passed| understood.iter().any(|name| name == passed));
        let handshake = json!({
            "token": client.handshake.token,
            "name": client.handshake.name,
            "protocol": 1,
            "sessionId": client.session,
            "capabilities": capabilities,
        });
        Self {
            connector,
            application,
            tasks,
            client,
            pushes: Vec::new(),
            handshake,
            links: HashMap::new(),
            remote: HashMap::new(),
        }
    }

    /// Passes an event on to another server. Returns the reply if nothing was done there.
    async fn pass_event(
        &mut self,
        node: &OtherServer,
        (name, payload): (&str, &RawValue),
        ack: AckReply,
    ) -> Option<AckReply> {
        match self.link_to(node, &[RELAYED]).await {
            Ok(()) => {}
            Err(NodeRefusal::Unreachable) => return Some(ack),
            Err(NodeRefusal::Refused(reason)) => {
                tracing::warn!(node = node.number, reason, "another server has refused a client");
                ack.refuse_unavailable(reason);
                return None;
            }
        }
        let Some(link) = self.links.get_mut(&node.number) else { return Some(ack) };
        let (is_push, payload) = (name == "document:push", payload.to_owned());
        metrics::RELAYED_EVENTS.count();
        let opens = matches!(name, "document:open" | "document:resync");
        let named = serde_json::from_str(payload.get()).ok().filter(|_| opens);
        let named = named.and_then(|NamedDocument { document_id }| document_id);
        let names_file = opens && named.is_none();
        if let Some(document) = named {
            self.remote.insert(document.into(), node.clone());
        }
        if !ack.is_wanted() {
            let event = PassedEvent { number: None, name: name.to_owned(), payload };
            // A lost connection ends the client.
            link.events.send(event).await.ok();
            ack.leave_unanswered();
            return None;
        }
        link.last += 1;
        let number = link.last;
        let event = PassedEvent { number: Some(number), name: name.to_owned(), payload };
        if is_push {
            let (over, passed) = oneshot::channel();
            let then = EventFollower::AfterPushes(over);
            link.waiting.lock().insert(number, WaitingEvent::Passed { ack, then, names_file });
            link.events.send(event).await.ok();
            self.pushes.retain_mut(|push| push.try_recv() == Err(TryRecvError::Empty));
            self.pushes.push(passed);
            return None;
        }
        let (done, outcome) = oneshot::channel();
        let then = EventFollower::Next(done);
        link.waiting.lock().insert(number, WaitingEvent::Passed { ack, then, names_file });
        link.events.send(event).await.ok();
        match outcome.await {
            Ok(PassedOutcome::Moved(ack)) => Some(ack),
            Ok(PassedOutcome::Answered(opened)) => {
                if let Some(document) = opened {
                    self.remote.insert(document, node.clone());
                }
                None
            }
            // With the connection lost, the client is disconnected.
            Err(_) => None,
        }
    }

    /// Sends a part of an event of the client to another server, and waits for the answer.
    pub(super) async fn ask_node(
        &mut self,
        node: &OtherServer,
        name: &str,
        payload: Box<RawValue>,
    ) -> NodeAnswer<Box<RawValue>> {
        match self.link_to(node, &[RELAYED]).await {
            Ok(()) => {}
            Err(NodeRefusal::Unreachable) => return NodeAnswer::NotReached,
            Err(NodeRefusal::Refused(reason)) => {
                return NodeAnswer::Refused(wire_error(("unavailable", &reason)));
            }
        }
        let Some(link) = self.links.get_mut(&node.number) else { return NodeAnswer::NotReached };
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
            () = self.client.link.client().ended() => NodeAnswer::Lost,
        }
    }

    /// Returns the node of this server.
    pub(super) fn own_node(&self) -> &Arc<ClusterNode> {
        self.connector.node()
    }

    /// Makes sure that there is a connection to another server.
    async fn link_to(&mut self, node: &OtherServer, more: &[&str]) -> Result<(), NodeRefusal> {
        if self.links.get(&node.number).is_some_and(|link| !link.events.is_closed()) {
            return Ok(());
        }
        let mut handshake = self.handshake.clone();
        if let Some(capabilities) = handshake["capabilities"].as_array_mut() {
            capabilities.extend(more.iter().map(|name| json!(name)));
        }
        let NodeLink { events, packets } = self.connector.connect(node, &handshake).await?;
        let waiting = Arc::default();
        self.client.connected.add(node.number);
        let with_inbox = more.contains(&RELAYED_INBOX);
        let link = OpenLink { events, with_inbox, waiting: Arc::clone(&waiting), last: 0 };
        self.links.insert(node.number, link);
        let client = (self.client.link.clone(), self.client.follow.clone());
        let application = self.application.clone();
        self.tasks.spawn(async move { pass_back(&application, client, packets, &waiting).await });
        Ok(())
    }
}

#[async_trait]
impl OtherServers for ClientRelay {
    async fn pass_on(
        &mut self,
        server: &OtherServer,
        event: (&str, &RawValue),
        reply: AckReply,
    ) -> Option<AckReply> {
        let again = self.pass_event(server, event, reply).await;
        if again.is_some() {
            self.own_node().forget_node(server.number);
        }
        again
    }

    async fn await_pushes(&mut self) {
        for push in self.pushes.drain(..) {
            // An error means that the push was answered by being dropped.
            push.await.ok();
        }
    }

    async fn send(&mut self, server: &OtherServer, name: &'static str, payload: Box<RawValue>) {
        if let Err(refusal) = self.link_to(server, &[RELAYED]).await {
            tracing::debug!(?refusal, node = server.number, "cannot send to another server");
            return;
        }
        if let Some(link) = self.links.get(&server.number) {
            let event = PassedEvent { number: None, name: name.to_owned(), payload };
            // A lost connection ends the client.
            link.events.send(event).await.ok();
        }
    }

    async fn join_inbox(&mut self, server: &OtherServer) -> bool {
        if let Err(refusal) = self.link_to(server, &[RELAYED, RELAYED_INBOX]).await {
            tracing::debug!(?refusal, node = server.number, "cannot join the workspace inbox yet");
            return false;
        }
        if self.links.get(&server.number).is_some_and(|link| !link.with_inbox) {
            // The connection is older than the inbox there: the client comes back with another.
            self.client.link.client().end(EndReason::NodeLost);
        }
        true
    }

    async fn listen(&mut self, server: &OtherServer) {
        if let Err(refusal) = self.link_to(server, &[RELAYED]).await {
            tracing::warn!(?refusal, node = server.number, "cannot listen for a session");
        }
    }

    fn opened_on(&self, document: &DocumentId) -> Option<&OtherServer> {
        self.remote.get(document)
    }

    fn close(&mut self, document: &DocumentId) -> Option<OtherServer> {
        self.remote.remove(document)
    }

    async fn decide_all(&mut self, decisions: SocketDecisions<'_>) -> Vec<DecisionResult> {
        decisions::decide_all(self, decisions).await
    }
}
