//! socket.io transport: the dispatch of the events, one connection after the handshake, and its
//! worker.

mod agent;
mod connect;
mod decision_batch;
mod documents;
mod event_queue;
mod link;
mod other_servers;
mod outbound;
mod review;
mod socket_error;
mod tokens;

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_channel::mpsc::UnboundedReceiver;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use socketioxide::SocketIo;
use tokio::sync::oneshot;
use tokio_util::task::TaskTracker;

use copydesk_api::{Application, Caller};
use copydesk_auth::AccessGuard;
use copydesk_connections::{ConnectionRegistry, EndReason, SocketClient};
use copydesk_ids::permissions::Action;
use copydesk_ids::{DocumentId, MemberId, SessionId};
use copydesk_operation_table::{Operation, OperationTable, RawInput};
use copydesk_placement::NotHere;
use copydesk_rooms::command::{ClientCapabilities, JoiningMember};
use copydesk_rooms::{RoomError, RoomHandle};

use event_queue::IncomingEvent;
use other_servers::{ConnectionOrigin, RequestsToFollow};
use socket_error::{SocketError, SocketResult};

pub use decision_batch::{BATCH, SocketDecisions};
pub use event_queue::AckReply;
pub use link::ClientLink;
pub use other_servers::{
    ConnectedServers, FOLLOW, FollowedRequest, NewClient, OtherServers, OtherServersOfClient,
    TO_FOLLOW,
};
pub use outbound::SocketRegistry;

/// Features of this server beyond the protocol's core; clients show no other ones.
const CAPABILITIES: [&str; 18] = [
    "desk",
    "edit",
    "undo",
    "extend",
    "reopen",
    "transcript",
    "conversations",
    "told",
    "export",
    "tokens",
    "provenance",
    "history",
    "rules",
    "trash",
    "administration",
    "roles",
    "people",
    "comments",
];

/// Shared state of the socket.io transport, given to [`register`].
pub struct SocketState {
    /// Application that does what is asked.
    pub application: Application,
    /// Declared operations, most of which have an event.
    pub operations: &'static OperationTable,
    /// Connected sockets.
    pub sockets: SocketRegistry,
    /// Connections, with the memory held for them.
    pub connections: ConnectionRegistry,
    /// Function that ends a session of long polling, by its name.
    pub close_polling: ClosePolling,
    /// Tracker of the sockets' workers.
    pub tasks: TaskTracker,
    /// Function for the documents of other servers, if there are any.
    pub other_servers: Option<OtherServersOfClient>,
}

/// Function that ends a session of long polling, by its name.
pub type ClosePolling = Arc<dyn Fn(String) -> BoxFuture<'static, ()> + Send + Sync>;

/// Registers the handlers of the namespace.
pub fn register(io: &SocketIo, app: SocketState) {
    connect::register(io, Arc::new(app));
}

/// State of one socket's worker, [`work`].
struct SocketConnection {
    app: Arc<SocketState>,
    member: MemberId,
    /// The client behind the socket: counts what waits to be sent to it, and can end it.
    client: Arc<SocketClient>,
    /// Access of the token, checked before each event.
    pass: AccessGuard,
    /// Person, under the name that this connection gave, with the connection's session.
    caller: Caller,
    /// Additions to the protocol that the client understands.
    capabilities: ClientCapabilities,
    session: SessionId,
    /// Rooms of the documents that this connection has opened.
    rooms: HashMap<DocumentId, RoomHandle>,
    inbox: InboxMembership,
    /// Pushes in progress; every other event waits for them.
    pushes: Vec<oneshot::Receiver<()>>,
    origin: ConnectionOrigin,
    /// Other servers, if there are any.
    other_servers: Option<Box<dyn OtherServers>>,
}

/// Membership of a connection in the workspace inbox.
enum InboxMembership {
    /// None: the person may not decide there, or another server tells them of it.
    NotHere,
    /// Here.
    Joined(RoomHandle),
    /// None yet: the inbox could not be reached.
    Missed,
}

impl InboxMembership {
    fn room(&self) -> Option<&RoomHandle> {
        if let Self::Joined(room) = self { Some(room) } else { None }
    }
}

/// Time that a running event may take after the server has disconnected its client.
const LAST_EVENT: Duration = Duration::from_millis(500);

/// Handles one socket's events, one after the other, until it disconnects; then leaves every
/// document. Begins once the client was `greeted`. Events that a client sent before it left are
/// still handled, unless the server has disconnected it.
///
/// Boxed: a task would hold the connection twice, as its argument and as what it works on.
async fn work(
    mut connection: Box<SocketConnection>,
    mut events: UnboundedReceiver<IncomingEvent>,
    mut to_follow: Option<RequestsToFollow>,
    greeted: oneshot::Receiver<()>,
) {
    let mut departures = connection.app.application.placement().departures();
    if greeted.await.is_ok() {
        Box::pin(connection.arrive()).await;
    }
    let client = Arc::clone(&connection.client);
    let handled = async {
        loop {
            tokio::select! {
                incoming = events.recv() => {
                    let Ok(incoming) = incoming else { return };
                    // Boxed: an idle connection does not keep room for the work on an event.
                    Box::pin(connection.take(incoming)).await;
                }
                Ok(()) = departures.changed() => {
                    Box::pin(connection.follow_workspace()).await;
                }
                followed = next_to_follow(to_follow.as_mut()) => {
                    Box::pin(connection.follow_request(*followed)).await;
                }
            }
        }
    };
    tokio::select! {
        () = handled => {}
        () = async { client.cut().await; tokio::time::sleep(LAST_EVENT).await } => {}
    }
    // Waiting events are dropped with their memory.
    drop(events);
    for room in connection.rooms.values().chain(connection.inbox.room()) {
        room.leave(connection.member.clone()).await;
    }
    connection.rooms.clear();
    connection.inbox = InboxMembership::NotHere;
    connection.use_session().await;
}

/// Waits for the next request that the client is to be notified of; for ever if there are none.
async fn next_to_follow(to_follow: Option<&mut RequestsToFollow>) -> Box<FollowedRequest> {
    if let Some(to_follow) = to_follow
        && let Some(followed) = to_follow.recv().await
    {
        return followed;
    }
    std::future::pending().await
}

impl SocketConnection {
    async fn take(&mut self, IncomingEvent { event, ack }: IncomingEvent) {
        match event {
            // No one would receive the answer.
            Ok(_) if self.client.is_ended() && ack.is_sheddable() => {}
            Ok(_) if self.client.is_busy() && ack.is_sheddable() => {
                ack.refuse(&SocketError::unread());
            }
            Ok((name, payload)) => {
                let handled = AssertUnwindSafe(self.handle_or_pass(&name, &payload, ack));
                // The dropped `AckReply` answers the event; the socket's next event is handled as
                // usual.
                if handled.catch_unwind().await.is_err() {
                    tracing::error!(event.name = shown(&name), "a handler panicked");
                }
            }
            Err(refusal) => ack.refuse(&refusal),
        }
    }

    /// Handles an event by its name.
    async fn handle(&mut self, name: &str, payload: &RawValue, ack: AckReply) {
        // Applies also to events that were sent before the token ended and not handled yet.
        if let Err(ended) = self.pass.check(self.app.application.clock.now_ms()) {
            return ack.refuse(&ended.into());
        }
        if name == "document:push" {
            return documents::push(self, payload, ack).await;
        }
        // Boxed: a push does not need room for the work on other events.
        Box::pin(self.handle_by_name(name, payload, ack)).await;
    }

    /// Handles an event that is no push, by its name: one that needs the connection here, any other
    /// by its operation.
    async fn handle_by_name(&mut self, name: &str, payload: &RawValue, ack: AckReply) {
        for push in self.pushes.drain(..) {
            // An error means that the push was answered by being dropped; either way it is over.
            push.await.ok();
        }
        if let Some(others) = &mut self.other_servers {
            others.await_pushes().await;
        }
        match name {
            "document:open" => documents::open(self, payload, ack).await,
            "document:resync" => documents::resync(self, payload, ack).await,
            "document:close" => run(self, payload, ack, documents::close).await,
            "presence:update" => run(self, payload, ack, documents::caret).await,
            "askClaudeCode" => run(self, payload, ack, agent::ask).await,
            "run" => run(self, payload, ack, agent::run).await,
            "cancel" => run(self, payload, ack, agent::cancel).await,
            "tool_approval_response" => run(self, payload, ack, review::respond).await,
            "tool_approval_batch" => run(self, payload, ack, decision_batch::batch).await,
            "approval:focus" => run(self, payload, ack, review::focus).await,
            "token:name" => run(self, payload, ack, tokens::name).await,
            FOLLOW if self.origin != ConnectionOrigin::Client => {
                run(self, payload, ack, review::follow).await;
            }
            name => {
                let Some(operation) = self.app.operations.of_event(name) else {
                    let message = format!("there is no event `{}`", shown(name));
                    return ack.refuse(&SocketError::invalid(message));
                };
                self.perform(operation, payload, ack).await;
            }
        }
    }

    /// Does an operation that needs nothing of the connection but its caller.
    async fn perform(&mut self, operation: &Operation, payload: &RawValue, ack: AckReply) {
        let input = RawInput::Event(payload.to_owned());
        match operation.run(self.caller.clone(), input).await {
            Ok(output) => {
                if operation.event == Some(documents::DELETE) {
                    documents::forget(self, payload);
                }
                ack.accept_fields(operation.ack_field, &output);
            }
            Err(error) => ack.refuse(&error.into()),
        }
    }

    /// Joins what the session listens to from its beginning, and tells it what it has missed.
    async fn arrive(&mut self) {
        // Events that belong to no document are sent to the client by its own server.
        if let ConnectionOrigin::OtherServer { with_inbox } = self.origin {
            if with_inbox {
                self.join_workspace_inbox().await;
            }
            return self.go_on_listening().await;
        }
        self.join_workspace_inbox().await;
        self.go_on_listening().await;
        self.hear_what_ended().await;
    }

    /// Joins the workspace inbox, if the person may decide requests there: the connection is
    /// notified of open requests, and of new ones from now on.
    async fn join_workspace_inbox(&mut self) {
        if self.caller.require(Action::Decide).is_err() {
            return;
        }
        let inbox = match self.app.application.rooms.workspace_inbox().await {
            Ok(inbox) => inbox,
            Err(error) => {
                tracing::error!(%error, "cannot open the workspace inbox");
                self.inbox = InboxMembership::Missed;
                return;
            }
        };
        self.inbox = match inbox.open(self.as_member(), None).await {
            Ok(_) => InboxMembership::Joined(inbox),
            Err(RoomError::NotHere(reason)) => self.join_inbox_there(&reason).await,
            Err(error) => {
                let message = "cannot send a connection the requests of the workspace inbox";
                tracing::warn!(%error, message);
                InboxMembership::Joined(inbox)
            }
        };
    }

    /// Joins the workspace inbox on the server that has it.
    async fn join_inbox_there(&mut self, reason: &NotHere) -> InboxMembership {
        let (NotHere::OtherServer(server), Some(others)) = (reason, &mut self.other_servers) else {
            return InboxMembership::Missed;
        };
        let is_joined = others.join_inbox(server).await;
        if is_joined { InboxMembership::NotHere } else { InboxMembership::Missed }
    }

    /// Joins the workspace inbox where it is now, if it could not be joined before. A client whose
    /// rooms were handed over to another server comes back to find them there.
    async fn follow_workspace(&mut self) {
        let mut rooms = self.rooms.values().chain(self.inbox.room());
        if rooms.any(|room| !room.is_open()) {
            return self.client.end(EndReason::NodeLost);
        }
        if matches!(self.inbox, InboxMembership::Missed) {
            self.join_workspace_inbox().await;
            self.go_on_listening().await;
        }
    }

    /// Joins the session's private document if a run of the session works there, so that a
    /// returning session gets the run's events and open requests.
    async fn go_on_listening(&mut self) {
        let session = self.session.clone();
        if let Some(others) = &mut self.other_servers
            && let Ok(Some(server)) = self.app.application.agents.private_elsewhere(&session).await
        {
            return others.listen(&server).await;
        }
        if self.app.application.agents.works_in_private(&session)
            && let Err(refusal) = agent::listen_in_private(self, &session).await
        {
            tracing::warn!(error = ?refusal.error(), "cannot resume a session");
        }
    }

    /// Tells the session of the runs that ended while it was away.
    async fn hear_what_ended(&self) {
        // Read first: runs that are stored in the meantime are not read again.
        let noted = self.app.sockets.being_noted();
        match self.app.application.agents.unheard(&self.session).await {
            Ok(mut ended) => {
                ended.retain(|said| !noted.contains(&(said.session.clone(), said.run.clone())));
                self.app.sockets.catch_up(&self.member, &ended);
            }
            Err(error) => tracing::warn!(%error, "cannot tell a session how its runs ended"),
        }
    }

    fn as_member(&self) -> JoiningMember {
        JoiningMember {
            id: self.member.clone(),
            principal: self.caller.principal.clone(),
            capabilities: self.capabilities,
        }
    }

    /// Stores the time at which the person was last here.
    async fn use_session(&self) {
        let user = &self.caller.principal.user;
        if let Err(error) = self.app.application.use_session(user, &self.session).await {
            tracing::debug!(%error, "cannot store when a session was last seen");
        }
    }
}

/// Reads the payload, runs the handler, answers.
async fn run<P, A>(
    connection: &mut SocketConnection,
    payload: &RawValue,
    ack: AckReply,
    handler: impl AsyncFnOnce(&mut SocketConnection, P) -> SocketResult<A>,
) where
    P: DeserializeOwned,
    A: Serialize,
{
    match read(payload) {
        Ok(payload) => ack.answer(handler(connection, payload).await),
        Err(refusal) => ack.refuse(&refusal),
    }
}

/// Reads a payload of the right shape.
fn read<P: DeserializeOwned>(payload: &RawValue) -> SocketResult<P> {
    Ok(copydesk_operation_table::event(payload)?)
}

/// Returns a name from outside, short enough for a message.
fn shown(name: &str) -> String {
    name.chars().filter(|c| !c.is_control()).take(60).collect()
}
