//! Handshake: authentication, the session, and the socket's worker.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::json;
use socketioxide::extract::{SocketRef, TryData};
use socketioxide::handler::ConnectHandler;
use socketioxide::{SocketIo, TransportType};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use crate::auth::{AccessGuard, Authenticator};
use crate::connections::ClientSession;
use crate::ids::{MemberId, SessionId};
use crate::permissions::Principal;
use crate::store::SessionRecord;
use crate::transport::protocol::client::Handshake;
use crate::transport::protocol::convert;
use crate::transport::protocol::server::{Person, SessionRegistered};

use super::event_queue::{EnqueueEvent, EventQueue};
use super::link::ClientLink;
use super::outbound::ConnectedSocket;
use super::socket_error::SocketError;
use super::{SocketConnection, SocketState};

/// Only version of the protocol.
const PROTOCOL: u32 = 1;

/// Registers the namespace `/`.
pub(crate) fn register(io: &SocketIo, door: Arc<SocketState>) {
    // Everything but the greeting happens in the middleware: it runs before the client is told that
    // it is connected, so that the client's first event finds its handler.
    io.ns(
        "/",
        greet.with(move |socket: SocketRef, auth: TryData<Handshake>| {
            let door = Arc::clone(&door);
            async move { admit(&door, socket, auth.0).await.map_err(ConnectError) }
        }),
    );
}

/// Content of `connect_error`: the message, with `data {code, message}`. The parser sends a text
/// that is an object unchanged (`vendor/socketioxide-parser-common`).
#[derive(Debug)]
struct ConnectError(SocketError);

impl std::fmt::Display for ConnectError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let error = self.0.error();
        write!(f, "{}", json!({ "message": error.message, "data": error }))
    }
}

async fn admit<E: std::fmt::Display>(
    door: &Arc<SocketState>,
    socket: SocketRef,
    auth: Result<Handshake, E>,
) -> Result<(), SocketError> {
    let handshake = auth.map_err(|error| SocketError::invalid(error.to_string()))?;
    if handshake.protocol.is_some_and(|protocol| protocol != PROTOCOL) {
        return Err(SocketError::new("protocol", "this server speaks protocol 1"));
    }
    let pass = identify(door, &handshake).await?;
    let name = handshake.name.as_deref().unwrap_or_default();
    let principal = pass.principal().clone().calling_themselves(name);
    let session = session(door, &handshake, &principal).await?;
    let member = MemberId::generate();

    let client = client(door, &socket, pass.principal())?;
    let link = ClientLink::new(socket.clone(), Arc::clone(&client), door.connections.clone());
    let (intake, events) = EventQueue::new(link.clone());
    socket.extensions.insert(intake);
    socket.on_fallback(async |_: EnqueueEvent| {});
    let seat = ConnectedSocket::new(link.clone(), principal.clone(), session.id.clone());
    door.sockets.insert(member.clone(), seat);
    let left = CancellationToken::new();
    let gone = left.clone();
    socket.on_disconnect(async move |_: SocketRef| gone.cancel());
    let (greeted, greeting) = oneshot::channel();
    let greeted = Arc::new(Mutex::new(Some(greeted)));
    let registered = registered(door, &session, &principal);
    socket.extensions.insert(PendingGreeting(registered, link.clone(), greeted));
    let watch = see_out(Arc::clone(door), member.clone(), link, pass.clone(), left);
    door.tasks.spawn(watch);
    let connection = SocketConnection {
        door: Arc::clone(door),
        member,
        client,
        reached_at: reached_at(&socket),
        pass,
        principal,
        session: session.id,
        rooms: HashMap::new(),
        desk: None,
        pushes: Vec::new(),
    };
    door.tasks.spawn(super::work(connection, events, greeting));
    Ok(())
}

/// Returns the address by which the client reaches the server, for links.
fn reached_at(socket: &SocketRef) -> String {
    let headers = &socket.req_parts().headers;
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    convert::reached_at(text("origin"), text("host"))
}

/// `sessionRegistered`, prepared by the middleware, which cannot send yet, and the channel that
/// tells the worker that it was sent.
#[derive(Clone)]
struct PendingGreeting(SessionRegistered, ClientLink, Arc<Mutex<Option<oneshot::Sender<()>>>>);

async fn greet(socket: SocketRef) {
    let Some(PendingGreeting(registered, link, greeted)) =
        socket.extensions.remove::<PendingGreeting>()
    else {
        return;
    };
    link.emit_value("sessionRegistered", &registered);
    let greeted = greeted.lock().unwrap_or_else(PoisonError::into_inner).take();
    // It is no error if the worker is gone.
    greeted.map(|greeted| greeted.send(()));
}

async fn identify(door: &SocketState, handshake: &Handshake) -> Result<AccessGuard, SocketError> {
    match (&door.everyone, &handshake.token) {
        (Some(owner), _) => Ok(Authenticator::everyone(owner.clone())),
        (None, Some(token)) => Ok(door.auth.admit(token, door.clock.now_ms()).await?),
        (None, None) => Err(SocketError::new("unauthorized", "a token is needed")),
    }
}

/// Returns the [`ClientSession`] behind a socket that has shown this person's token.
fn client(
    door: &SocketState,
    socket: &SocketRef,
    person: &Principal,
) -> Result<Arc<ClientSession>, SocketError> {
    let client = socket.req_parts().extensions.get::<Arc<ClientSession>>();
    let client = client.ok_or_else(SocketError::internal)?;
    door.connections
        .admit(client, socket.id.to_string(), person)
        .map_err(|full| SocketError::new("rate_limited", full.to_string()))?;
    Ok(Arc::clone(client))
}

/// Waits for the end of a client, for whatever reason, and removes the client: it sends and
/// receives no more, its worker leaves its rooms, and its connection ends.
///
/// When its token ends, the client gets the reason first. Earlier questions stay asked; later
/// events are refused ([`SocketConnection::handle`]).
async fn see_out(
    door: Arc<SocketState>,
    member: MemberId,
    link: ClientLink,
    pass: AccessGuard,
    left: CancellationToken,
) {
    let (socket, client) = (link.socket(), link.session());
    let ended = tokio::select! {
        () = left.cancelled() => None,
        () = client.ended() => None,
        ended = pass.ended() => Some(ended),
    };
    // First of all, so that no event of a room follows.
    door.sockets.remove(&member);
    if let Some(ended) = ended {
        link.emit_value("sessionEnded", &convert::session_ended(ended));
        // If there is no room for the packet, the connection ends without it.
        socket.clone().disconnect().ok();
    }
    // Dropping the queue ends the worker, which leaves the rooms.
    socket.extensions.remove::<EventQueue>();
    client.end_when_sent().await;
    if socket.transport_type() == TransportType::Polling {
        (door.close_polling)(socket.id.to_string()).await;
    }
}

/// Continues the person's session, or begins one. Another person's session is refused, not taken
/// over.
async fn session(
    door: &SocketState,
    handshake: &Handshake,
    principal: &Principal,
) -> Result<SessionRecord, SocketError> {
    let known = match &handshake.session_id {
        Some(id) => door.store.session(&SessionId::from(id.as_str())).await?,
        None => None,
    };
    let now_ms = door.clock.now_ms();
    match known {
        Some(session) if session.user == principal.user => {
            if session.is_over(now_ms) {
                return Ok(door.begin_session(principal).await?);
            }
            Ok(session)
        }
        Some(_) => Err(SocketError::new("not_allowed", "this session belongs to somebody else")),
        None => Ok(door.begin_session(principal).await?),
    }
}

/// Returns the capabilities: without `tokens` if everybody is the owner, and with `workspace` only
/// if there is a folder.
fn capabilities(door: &SocketState) -> Vec<String> {
    let open_to_all = door.everyone.is_some();
    let offered =
        super::CAPABILITIES.into_iter().filter(|name| !(open_to_all && *name == "tokens"));
    let workspace = door.agents.has_workspace().then_some("workspace");
    let files = door.files.is_some().then_some("files");
    offered.chain(workspace).chain(files).map(str::to_owned).collect()
}

fn registered(
    door: &SocketState,
    session: &SessionRecord,
    principal: &Principal,
) -> SessionRegistered {
    let agents = &door.agents;
    // A token for one document asks about that document.
    let document = principal.document.as_ref();
    SessionRegistered {
        session_id: session.id.to_string(),
        user: Person { id: principal.user.to_string(), name: principal.name.clone() },
        role: principal.role.as_str().to_owned(),
        protocol: PROTOCOL,
        capabilities: capabilities(door),
        permission_mode: session
            .permission_mode
            .clone()
            .unwrap_or_else(|| agents.default_mode(principal, document).to_string()),
        permission_modes: agents.modes(principal, document),
        models: door.agents.models(),
        settings: door.settings(),
    }
}
