//! Handshake: authentication, the session, and the socket's worker.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use socketioxide::extract::{SocketRef, TryData};
use socketioxide::handler::ConnectHandler;
use socketioxide::{SocketIo, TransportType};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use copydesk_api::{Caller, SessionRecord};
use copydesk_auth::AccessGuard;
use copydesk_connections::SocketClient;
use copydesk_ids::permissions::Principal;
use copydesk_ids::{MemberId, SessionId};
use copydesk_protocol::client::{COMMENTS, HUNK_CHANGES, Handshake, PEER_CHANGES, SHORT_UPDATES};
use copydesk_protocol::server::{Person, SessionRegistered, WireError};
use copydesk_protocol_conversion as wire;
use copydesk_rooms::command::ClientCapabilities;
use copydesk_rooms::settings::PermissionMode;

use super::event_queue::{EnqueueEvents, EventQueue};
use super::link::ClientLink;
use super::other_servers::{
    ConnectionOrigin, NewClient, OtherServers, OtherServersOfClient, RequestsToFollow,
};
use super::outbound::ConnectedSocket;
use super::socket_error::{SocketError, SocketResult};
use super::{InboxMembership, SocketConnection, SocketState};

/// Longest name that is shortened; a longer one is refused.
const LONGEST_NAME_BYTES: usize = 16 * 1024;
/// Only version of the protocol.
const PROTOCOL: u32 = 1;

/// Registers the namespace `/`.
pub(crate) fn register(io: &SocketIo, app: Arc<SocketState>) {
    // Everything but the greeting happens in the middleware: it runs before the client learns that
    // it is connected, so that the client's first event finds its handler.
    io.ns(
        "/",
        send_welcome.with(move |socket: SocketRef, auth: TryData<Handshake>| {
            let app = Arc::clone(&app);
            async move { admit(&app, socket, auth.0).await.map_err(ConnectError) }
        }),
    );
}

/// Message of `connect_error`: `CODE: words`. Clients read the code up to the first colon.
#[derive(Debug)]
struct ConnectError(SocketError);

impl std::fmt::Display for ConnectError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let WireError { code, message, reason_code: _, details: _ } = self.0.error();
        write!(f, "{code}: {message}")
    }
}

/// Checks the protocol and the name in a handshake; returns the name.
fn checked_name(handshake: &Handshake) -> SocketResult<&str> {
    if handshake.protocol.is_some_and(|protocol| protocol != PROTOCOL) {
        return Err(SocketError::new("protocol", "this server speaks protocol 1"));
    }
    let name = handshake.name.as_deref().unwrap_or_default();
    if name.len() > LONGEST_NAME_BYTES {
        let message = format!("a name has at most {LONGEST_NAME_BYTES} bytes");
        return Err(SocketError::invalid(message));
    }
    Ok(name)
}

async fn admit<E: std::fmt::Display>(
    app: &Arc<SocketState>,
    socket: SocketRef,
    auth: Result<Handshake, E>,
) -> SocketResult<()> {
    let handshake = auth.map_err(|error| SocketError::invalid(error.to_string()))?;
    let name = checked_name(&handshake)?;
    let pass = identify(app, &handshake).await?;
    let principal = pass.principal().clone().calling_themselves(name);
    let resumed = handshake.session_id.as_deref().map(Into::into);
    let session = app.application.resume_session(&principal, resumed).await?;
    let member = MemberId::generate();

    let client = client(app, &socket, pass.principal())?;
    let link = ClientLink::new(socket.clone(), Arc::clone(&client), app.connections.clone());
    let (queue, events) = EventQueue::new(app.operations, link.clone());
    socket.extensions.insert(queue);
    socket.on_fallback(EnqueueEvents);
    let capabilities = understood(&handshake);
    let origin = ConnectionOrigin::of(&handshake);
    let mut connected_socket =
        ConnectedSocket::new(link.clone(), principal.clone(), session.id.clone(), capabilities);
    connected_socket.is_of_other_server = origin != ConnectionOrigin::Client;
    // The events of a client that another server sent here go no further.
    let hook = app.other_servers.as_ref().filter(|_| origin == ConnectionOrigin::Client);
    let (other_servers, to_follow) =
        hook.map(|hook| follow_others(hook, handshake, &session.id, &mut connected_socket)).unzip();
    app.sockets.insert(member.clone(), connected_socket);
    let left = CancellationToken::new();
    let gone = left.clone();
    socket.on_disconnect(async move |_: SocketRef| gone.cancel());
    let (greeted, greeting) = oneshot::channel();
    let greeted = Arc::new(Mutex::new(Some(greeted)));
    let registered = registered(app, &session, &principal);
    socket.extensions.insert(PendingGreeting(registered, link.clone(), greeted));
    let watch = wait_for_end(Arc::clone(app), member.clone(), link, pass.clone(), left);
    app.tasks.spawn(watch);
    let connection = SocketConnection {
        app: Arc::clone(app),
        member,
        client,
        capabilities,
        caller: Caller {
            application: app.application.clone(),
            principal,
            session: Some(session.id.clone()),
            token: pass.token().clone(),
            reached_at: reached_at(&socket),
        },
        pass,
        session: session.id,
        rooms: HashMap::new(),
        inbox: InboxMembership::NotHere,
        pushes: Vec::new(),
        origin,
        other_servers,
    };
    app.tasks.spawn(super::work(Box::new(connection), events, to_follow, greeting));
    Ok(())
}

/// Returns the other servers as a new client needs them, and the requests that it is to be notified
/// of.
fn follow_others(
    hook: &OtherServersOfClient,
    handshake: Handshake,
    session: &SessionId,
    socket: &mut ConnectedSocket,
) -> (Box<dyn OtherServers>, RequestsToFollow) {
    let (follow, requests) = mpsc::unbounded_channel();
    socket.follows = Some(follow.clone());
    let (link, connected) = (socket.link().clone(), socket.connected.clone());
    let client = NewClient { handshake, session: session.clone(), link, follow, connected };
    (hook(client), requests)
}

/// Returns the additions to the protocol that a client with this handshake understands.
fn understood(handshake: &Handshake) -> ClientCapabilities {
    let understands = |addition| handshake.capabilities.iter().any(|name| name == addition);
    ClientCapabilities {
        peer_changes: understands(PEER_CHANGES),
        short_updates: understands(SHORT_UPDATES),
        hunk_changes: understands(HUNK_CHANGES),
        comments: understands(COMMENTS),
    }
}

/// Returns the address by which the client reaches the server, for links.
fn reached_at(socket: &SocketRef) -> String {
    let headers = &socket.req_parts().headers;
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    wire::reached_at(text("origin"), text("host"))
}

/// `sessionRegistered`, prepared by the middleware, which cannot send yet, and the channel that
/// tells the worker that it was sent.
#[derive(Clone)]
struct PendingGreeting(SessionRegistered, ClientLink, Arc<Mutex<Option<oneshot::Sender<()>>>>);

async fn send_welcome(socket: SocketRef) {
    let greeting = socket.extensions.remove::<PendingGreeting>();
    let Some(PendingGreeting(registered, link, greeted)) = greeting else { return };
    link.emit_value("sessionRegistered", &registered);
    let greeted = greeted.lock().take();
    // It is no error if the worker is gone.
    greeted.map(|greeted| greeted.send(()));
}

/// Waits for the time in which a client should have been greeted, and returns if it was not: its
/// connection ended while its token was checked, and nothing tells of that.
async fn never_greeted(socket: &SocketRef, patience: Duration) {
    tokio::time::sleep(patience).await;
    if socket.extensions.get::<PendingGreeting>().is_none() {
        std::future::pending::<()>().await;
    }
}

async fn identify(app: &SocketState, handshake: &Handshake) -> SocketResult<AccessGuard> {
    let admitted = app.application.admit(handshake.token.as_deref()).await?;
    admitted.ok_or_else(|| SocketError::new("unauthorized", "a token is needed"))
}

/// Returns the [`SocketClient`] behind a socket that has shown this person's token.
fn client(
    app: &SocketState,
    socket: &SocketRef,
    person: &Principal,
) -> SocketResult<Arc<SocketClient>> {
    let client = socket.req_parts().extensions.get::<Arc<SocketClient>>();
    let client = client.ok_or_else(SocketError::internal)?;
    app.connections
        .admit(client, socket.id.to_string(), person)
        .map_err(|full| SocketError::new("rate_limited", full.to_string()))?;
    Ok(Arc::clone(client))
}

/// Waits for the end of a client, for whatever reason, and removes the client: it sends and
/// receives no more, its worker leaves its rooms, and its connection ends.
///
/// Waits until the client's token ends; the client then gets the reason first. Earlier questions
/// stay asked; later events are refused ([`SocketConnection::handle`]).
async fn wait_for_end(
    app: Arc<SocketState>,
    member: MemberId,
    link: ClientLink,
    pass: AccessGuard,
    left: CancellationToken,
) {
    let (socket, client) = (link.socket(), link.client());
    let ended = tokio::select! {
        () = left.cancelled() => None,
        () = client.ended() => None,
        () = never_greeted(socket, app.connections.handshake_timeout()) => None,
        ended = pass.ended() => Some(ended),
    };
    // First of all, so that no event of a room follows.
    app.sockets.remove(&member);
    if let Some(ended) = ended {
        link.emit_value("sessionEnded", &wire::session_ended(ended));
        // If there is no room for the packet, the connection ends without it.
        socket.clone().disconnect().ok();
        client.end_idle_connections();
    }
    // Dropping these ends the worker, which leaves the rooms.
    socket.extensions.remove::<EventQueue>();
    socket.extensions.remove::<PendingGreeting>();
    client.end_when_sent().await;
    if socket.transport_type() == TransportType::Polling {
        (app.close_polling)(socket.id.to_string()).await;
    }
}

/// Returns the capabilities: without `tokens` and `roles` if everybody is the owner, and with
/// `workspace` only if there is a folder.
fn capabilities(app: &SocketState) -> Vec<String> {
    let open_to_all = app.application.everyone.is_some();
    let offered = super::CAPABILITIES
        .into_iter()
        .filter(|name| !(open_to_all && matches!(*name, "tokens" | "roles")));
    let workspace = app.application.has_workspace().then_some("workspace");
    let files = app.application.has_files().then_some("files");
    offered.chain(workspace).chain(files).map(str::to_owned).collect()
}

fn registered(
    app: &SocketState,
    session: &SessionRecord,
    principal: &Principal,
) -> SessionRegistered {
    let own_mode = session.permission_mode.as_deref().and_then(PermissionMode::named);
    let (agents, document) = (&app.application.agents, principal.document.as_ref());
    SessionRegistered {
        session_id: session.id.to_string(),
        user: Person { id: principal.user.to_string(), name: principal.name.clone() },
        role: principal.role,
        protocol: PROTOCOL,
        capabilities: capabilities(app),
        permission_mode: wire::permission_mode(
            own_mode.unwrap_or_else(|| agents.default_mode(principal, document)),
        ),
        permission_modes: agents
            .modes(principal, document)
            .into_iter()
            .map(wire::permission_mode)
            .collect(),
        models: agents.catalog().names(),
        local_models: agents.catalog().local_names(),
        settings: wire::settings(&app.application.rooms.settings()),
    }
}
