//! Connections to other servers, as clients of them.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::mpsc;

use crate::node::ClusterNode;
use copydesk_client::socketio::{SocketIoClient, SocketIoServer};
use copydesk_client::{ClientError, TrustedAuthorities};
use copydesk_placement::OtherServer;
use copydesk_placement::Placement as _;
use copydesk_protocol::server::WireError;

/// Longest wait for a connection to another server.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Number of events that may wait to be passed on to one server.
const EVENTS: usize = 256;
/// Number of packets that may wait to be passed back to a client.
const PACKETS: usize = 1_024;

/// Waits until the servers have removed another one, which may only stand still: its connections
/// would stay open.
pub(super) async fn removed(own: Arc<ClusterNode>, number: i64) {
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

/// Connector of clients to other servers.
pub(super) struct NodeConnector {
    own: Arc<ClusterNode>,
    authorities: TrustedAuthorities,
    /// Servers by the numbers of their nodes: each has one client for all connections.
    servers: Mutex<HashMap<i64, SocketIoServer>>,
}

/// Connection to another server, as a client there. It ends when one of the channels is closed.
#[derive(Debug)]
pub(super) struct NodeLink {
    /// Events to be sent.
    pub(super) events: mpsc::Sender<PassedEvent>,
    /// Packets that have arrived.
    pub(super) packets: mpsc::Receiver<NodePacket>,
}

/// Reason why there is no connection to another server.
#[derive(Clone, Debug)]
pub(super) enum NodeRefusal {
    /// It does not answer.
    Unreachable,
    /// It has refused the client, with this message.
    Refused(String),
}

/// Answer of another server to what was sent to it.
#[derive(Debug)]
pub(super) enum NodeAnswer<T> {
    /// Complete answer.
    Answered(T),
    /// The node has refused; nothing was done.
    Refused(WireError),
    /// The node was not reached, or does not have the document either; nothing was done.
    NotReached,
    /// The connection was lost, or the answer cannot be read: it may have been done.
    Lost,
}

impl<T> NodeAnswer<T> {
    /// Reads a complete answer further.
    pub(super) fn and_then<U>(self, read: impl FnOnce(T) -> NodeAnswer<U>) -> NodeAnswer<U> {
        match self {
            Self::Answered(answer) => read(answer),
            Self::Refused(error) => NodeAnswer::Refused(error),
            Self::NotReached => NodeAnswer::NotReached,
            Self::Lost => NodeAnswer::Lost,
        }
    }
}

/// Event that is passed on.
#[derive(Debug)]
pub(super) struct PassedEvent {
    /// Number of the answer; `None` if the client wants none.
    pub(super) number: Option<u64>,
    pub(super) name: String,
    pub(super) payload: Box<RawValue>,
}

/// Packet that has arrived from another server.
#[derive(Debug)]
pub(super) enum NodePacket {
    /// Event for the client.
    Event(String, Box<RawValue>),
    /// Answer to the event of this number.
    Answer(u64, Box<RawValue>),
}

impl NodeConnector {
    pub(super) fn new(own: &Arc<ClusterNode>, authorities: &TrustedAuthorities) -> Self {
        let (own, authorities) = (Arc::clone(own), authorities.clone());
        Self { own, authorities, servers: Mutex::default() }
    }

    /// Returns the node of this server.
    pub(super) fn node(&self) -> &Arc<ClusterNode> {
        &self.own
    }

    fn server(&self, node: &OtherServer) -> Result<SocketIoServer, NodeRefusal> {
        let mut servers = self.servers.lock();
        if let Some(known) = servers.get(&node.number) {
            return Ok(known.clone());
        }
        let server = SocketIoServer::trusting(&node.url, &self.authorities);
        let server = server.map_err(|_| NodeRefusal::Unreachable)?;
        servers.insert(node.number, server.clone());
        Ok(server)
    }

    /// Connects to another server as a client with this handshake.
    pub(super) async fn connect(
        &self,
        node: &OtherServer,
        handshake: &Value,
    ) -> Result<NodeLink, NodeRefusal> {
        let server = self.server(node)?;
        let connected = tokio::time::timeout(CONNECT_TIMEOUT, server.connect(handshake)).await;
        let client = match connected {
            Ok(Ok(client)) => client,
            Ok(Err(ClientError::NotAdmitted { detail })) => {
                return Err(NodeRefusal::Refused(detail));
            }
            Ok(Err(error)) => {
                tracing::debug!(%error, node = node.number, "cannot connect to another server");
                return Err(NodeRefusal::Unreachable);
            }
            Err(_) => return Err(NodeRefusal::Unreachable),
        };
        let (events, passed) = mpsc::channel(EVENTS);
        let (arrived, packets) = mpsc::channel(PACKETS);
        let removed = removed(Arc::clone(&self.own), node.number);
        tokio::spawn(async move {
            tokio::select! {
                () = removed => {}
                () = pump(client, passed, arrived) => {}
            }
        });
        Ok(NodeLink { events, packets })
    }
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
