//! Documents of other servers: what a connection needs of those servers, which a hook provides.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use tokio::time::Instant;

use copydesk_api::OtherServer;
use copydesk_ids::{DocumentId, RequestId, SessionId};
use copydesk_protocol::client::{Handshake, RELAYED, RELAYED_INBOX};
use copydesk_protocol::rest::DecisionResult;

use super::SocketConnection;
use super::decision_batch::SocketDecisions;
use super::event_queue::{AckReply, RefusedEvent};
use super::link::ClientLink;
use super::socket_error::SocketError;

/// Longest time for which an event looks for the server that has its document: about as long as
/// the servers take to find out that one of them is gone.
const SEARCH_TIMEOUT: Duration = Duration::from_secs(15);
/// Pause between two attempts.
const PAUSE: Duration = Duration::from_millis(100);

/// Event for a client that another server sent here: that server is to make the client follow a
/// request.
pub const TO_FOLLOW: &str = "approval:to_follow";
/// Event of a client that another server sent here: the client is notified of a request from now
/// on.
pub const FOLLOW: &str = "approval:follow";

/// Function that returns the other servers as a new client needs them.
pub type OtherServersOfClient = Arc<dyn Fn(NewClient) -> Box<dyn OtherServers> + Send + Sync>;

/// Client that has just connected.
pub struct NewClient {
    /// Handshake of the client.
    pub handshake: Handshake,
    /// Session of the client.
    pub session: SessionId,
    /// Link to the client.
    pub link: ClientLink,
    /// Takes the requests of other documents that the client is to be notified of.
    pub follow: UnboundedSender<Box<FollowedRequest>>,
    /// Servers to which the client is connected.
    pub connected: ConnectedServers,
}

/// Other servers, as one client needs them. It is an ordinary client there.
#[async_trait]
pub trait OtherServers: Send + Sync {
    /// Passes an event, its name and payload, on to the server that has its document. Returns the
    /// reply if nothing was done there, and the event is to be tried again.
    async fn pass_on(
        &mut self,
        server: &OtherServer,
        event: (&str, &RawValue),
        reply: AckReply,
    ) -> Option<AckReply>;

    /// Waits until the pushes that were passed on are over.
    async fn await_pushes(&mut self);

    /// Sends an event to another server, which answers nothing.
    async fn send(&mut self, server: &OtherServer, name: &'static str, payload: Box<RawValue>);

    /// Joins the workspace inbox on the server that has it; returns `false` if that is to be tried
    /// again.
    async fn join_inbox(&mut self, server: &OtherServer) -> bool;

    /// Joins what the session listens to on the server that has its private document.
    async fn listen(&mut self, server: &OtherServer);

    /// Returns the server on which the client has opened a document.
    fn opened_on(&self, document: &DocumentId) -> Option<&OtherServer>;

    /// Returns the server on which the client has opened a document, which it closes.
    fn close(&mut self, document: &DocumentId) -> Option<OtherServer>;

    /// Takes several decisions, each on the server that has its document; returns their results in
    /// their order.
    async fn decide_all(&mut self, decisions: SocketDecisions<'_>) -> Vec<DecisionResult>;
}

/// Numbers of the servers to which a client is connected: they send it the ends of runs there, so
/// this server does not. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct ConnectedServers(Arc<Mutex<Vec<i64>>>);

impl ConnectedServers {
    /// Adds a server.
    pub fn add(&self, number: i64) {
        self.0.lock().push(number);
    }

    /// Returns `true` if the client is connected to this server.
    pub(crate) fn has(&self, number: i64) -> bool {
        self.0.lock().contains(&number)
    }
}

/// Requests of other documents that a client is to be notified of. Boxed: nearly always there are
/// none, and the channel has places for many.
pub(crate) type RequestsToFollow = UnboundedReceiver<Box<FollowedRequest>>;

/// Request that a client is notified of though it is in another document: a run there has asked for
/// it. The server of the request notifies the client; so the rights of the person are checked
/// there.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FollowedRequest {
    /// Document that the request would change.
    pub document_id: DocumentId,
    /// The request.
    pub request_id: RequestId,
}

/// Origin of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConnectionOrigin {
    /// The client itself.
    Client,
    /// Another server, to which the client is connected.
    OtherServer {
        /// `true` if the client joins the workspace inbox here.
        with_inbox: bool,
    },
}

impl ConnectionOrigin {
    /// Returns the origin of a connection with this handshake.
    pub(crate) fn of(handshake: &Handshake) -> Self {
        let has = |capability| handshake.capabilities.iter().any(|name| name == capability);
        if has(RELAYED) {
            Self::OtherServer { with_inbox: has(RELAYED_INBOX) }
        } else {
            Self::Client
        }
    }
}

impl SocketConnection {
    /// Handles an event here, or has the server that has its document handle it.
    pub(crate) async fn handle_or_pass(&mut self, name: &str, payload: &RawValue, ack: AckReply) {
        if self.other_servers.is_none() {
            return self.handle(name, payload, ack).await;
        }
        let refused = RefusedEvent::default();
        let until = Instant::now() + SEARCH_TIMEOUT;
        let mut ack = ack;
        loop {
            self.handle(name, payload, ack.or_keep_in(refused.clone())).await;
            let Some((kept, server)) = refused.take() else { return };
            let Some(others) = &mut self.other_servers else { return };
            ack = match others.pass_on(&server, (name, payload), kept).await {
                Some(ack) => ack,
                None => return,
            };
            if Instant::now() >= until || self.client.is_ended() {
                return ack.refuse(&SocketError::new(
                    "unavailable",
                    "the server that has this document does not answer; nothing was changed",
                ));
            }
            tokio::time::sleep(PAUSE).await;
        }
    }
}
