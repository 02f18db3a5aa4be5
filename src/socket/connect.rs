//! The handshake: who is it, which session, and the socket's worker.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::json;
use socketioxide::SocketIo;
use socketioxide::extract::{SocketRef, TryData};
use socketioxide::handler::ConnectHandler;

use crate::ids::{MemberId, SessionId};
use crate::store::SessionRecord;
use crate::who::Principal;
use crate::wire::client::Handshake;
use crate::wire::server::{Person, SessionRegistered};

use super::intake::{Enqueued, Intake};
use super::refusal::Refusal;
use super::{Connection, Door};

/// The only protocol there is.
const PROTOCOL: u32 = 1;
/// Longest name a client may give itself, in characters.
const LONGEST_NAME: usize = 80;

/// Registers the namespace `/`.
pub(super) fn register(io: &SocketIo, door: Arc<Door>) {
    // Everything but the greeting happens in the middleware: it runs before the client is told that it is connected, so
    // that its first event finds its handler.
    io.ns(
        "/",
        greet.with(move |socket: SocketRef, auth: TryData<Handshake>| {
            let door = Arc::clone(&door);
            async move { admit(&door, socket, auth.0).await.map_err(ConnectError) }
        }),
    );
}

/// What `connect_error` carries: the message, with `data {code, message}`. The parser sends a text that is an object
/// as it is (`vendor/socketioxide-parser-common`).
#[derive(Debug)]
struct ConnectError(Refusal);

impl std::fmt::Display for ConnectError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let error = self.0.error();
        write!(f, "{}", json!({ "message": error.message, "data": error }))
    }
}

async fn admit<E: std::fmt::Display>(
    door: &Arc<Door>,
    socket: SocketRef,
    auth: Result<Handshake, E>,
) -> Result<(), Refusal> {
    let handshake = auth.map_err(|error| Refusal::invalid(error.to_string()))?;
    if handshake.protocol.is_some_and(|protocol| protocol != PROTOCOL) {
        return Err(Refusal::new("protocol", "this server speaks protocol 1"));
    }
    let principal = identify(door, &handshake).await?;
    let session = session(door, &handshake, &principal).await?;
    let member = MemberId::generate();

    let (intake, events) = Intake::new();
    socket.extensions.insert(intake);
    socket.on_fallback(async |_: Enqueued| {});
    door.sockets.insert(member.clone(), socket.clone());
    let gone = (Arc::clone(door), member.clone());
    socket.on_disconnect(async move |socket: SocketRef| {
        let (door, member) = gone;
        door.sockets.remove(&member);
        // Dropping the queue ends the worker, which leaves the rooms.
        socket.extensions.remove::<Intake>();
    });
    socket.extensions.insert(Greeting(registered(door, &session, &principal)));
    let connection = Connection {
        door: Arc::clone(door),
        member,
        principal,
        session: session.id,
        rooms: HashMap::new(),
        pushes: Vec::new(),
    };
    door.tasks.spawn(super::work(connection, events));
    Ok(())
}

/// `sessionRegistered`, prepared by the middleware, which cannot send yet.
#[derive(Clone)]
struct Greeting(SessionRegistered);

async fn greet(socket: SocketRef) {
    if let Some(Greeting(registered)) = socket.extensions.remove::<Greeting>()
        && socket.emit("sessionRegistered", &registered).is_err()
    {
        super::outbound::cut_off(&socket);
    }
}

async fn identify(door: &Door, handshake: &Handshake) -> Result<Principal, Refusal> {
    let mut principal = match (&door.everyone, &handshake.token) {
        (Some(owner), _) => owner.clone(),
        (None, Some(token)) => door.auth.verify(token, door.clock.now_ms()).await?.principal,
        (None, None) => return Err(Refusal::new("unauthorized", "a token is needed")),
    };
    if let Some(name) = handshake.name.as_deref().map(str::trim).filter(|name| !name.is_empty()) {
        // Control characters could fake a caret's label or a line of the log.
        principal.name = name.chars().filter(|c| !c.is_control()).take(LONGEST_NAME).collect();
    }
    Ok(principal)
}

/// Goes on with the person's session, or begins one. Somebody else's session is refused, not taken over.
async fn session(
    door: &Door,
    handshake: &Handshake,
    principal: &Principal,
) -> Result<SessionRecord, Refusal> {
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
        Some(_) => Err(Refusal::new("not_allowed", "this session belongs to somebody else")),
        None => Ok(door.begin_session(principal).await?),
    }
}

fn registered(door: &Door, session: &SessionRecord, principal: &Principal) -> SessionRegistered {
    SessionRegistered {
        session_id: session.id.to_string(),
        user: Person { id: principal.user.to_string(), name: principal.name.clone() },
        role: principal.role.as_str().to_owned(),
        protocol: PROTOCOL,
        capabilities: super::CAPABILITIES.iter().map(ToString::to_string).collect(),
        permission_mode: session.permission_mode.clone().unwrap_or_else(|| "sdk".to_owned()),
        models: door.agents.models(),
        settings: door.settings(),
    }
}
