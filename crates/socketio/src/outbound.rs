//! Delivery of the events of rooms and runs to sockets: encoded once, sent to each member in order.

use std::collections::{HashMap, HashSet};
use std::mem::{Discriminant, discriminant};
use std::sync::Arc;

use parking_lot::{Mutex, RwLock};
use tokio::sync::mpsc::UnboundedSender;

use copydesk_api::HeardRuns;
use copydesk_connections::{TextFrame, gather_writes};
use copydesk_ids::permissions::{Action, Principal};
use copydesk_ids::{DocumentId, MemberId, RequestId, RunId, SessionId};
use copydesk_protocol_conversion as wire;
use copydesk_rooms::command::ClientCapabilities;
use copydesk_rooms::event::{AgentEventType, RoomEvent, RunEvent, RunEventKind, ServerEvent};
use copydesk_rooms::{EncodedEvent, EncodedForm, EventSink};

use super::link::{ClientLink, event_frame};
use super::other_servers::{ConnectedServers, FollowedRequest, TO_FOLLOW};

/// Largest number of receivers of one event of a document to whom the task that has it writes.
/// Behind so many, the tasks of the others are faster.
const DIRECT_RECEIVERS: usize = 256;

/// Largest number of receivers of an announcement to whom the task that has it writes. No one waits
/// for an announcement, and written so it takes less time in all. A queue through which many went
/// would also keep a second block of 5 KB.
const DIRECTLY_ANNOUNCED: usize = 1_024;

/// Registry of the connected sockets.
#[derive(Clone)]
pub struct SocketRegistry {
    connected_sockets: Arc<RwLock<HashMap<MemberId, Arc<ConnectedSocket>>>>,
    heard_runs: HeardRuns,
    /// Ends of runs that are being stored as heard.
    noting: Arc<Mutex<HashSet<(SessionId, RunId)>>>,
}

/// Connected socket in the [`SocketRegistry`].
pub(crate) struct ConnectedSocket {
    link: ClientLink,
    principal: Principal,
    session: SessionId,
    capabilities: ClientCapabilities,
    /// `true` if the client is connected to another server, which sends it the events that belong
    /// to no document.
    pub(crate) is_of_other_server: bool,
    /// Other servers to which the client is connected.
    pub(crate) connected: ConnectedServers,
    /// Takes the requests of other documents that the client is to be notified of.
    pub(crate) follows: Option<UnboundedSender<Box<FollowedRequest>>>,
    /// Parts of the ends of its session's runs that the socket was sent, so that none comes twice.
    heard: Mutex<HashSet<(RunId, Discriminant<RunEventKind>)>>,
}

impl ConnectedSocket {
    pub(crate) fn new(
        link: ClientLink,
        principal: Principal,
        session: SessionId,
        capabilities: ClientCapabilities,
    ) -> Self {
        Self {
            link,
            principal,
            session,
            capabilities,
            is_of_other_server: false,
            connected: ConnectedServers::default(),
            follows: None,
            heard: Mutex::default(),
        }
    }

    /// Returns the link to the client.
    pub(crate) fn link(&self) -> &ClientLink {
        &self.link
    }

    /// Returns `true` if the client is sent an event of this kind; by its capabilities it may be
    /// sent another one in its place.
    fn takes(&self, event: &RoomEvent) -> bool {
        match event {
            RoomEvent::Peers(_) => !self.capabilities.peer_changes,
            RoomEvent::PeersChanged(_) => self.capabilities.peer_changes,
            RoomEvent::RequestedAgain(_) => !self.capabilities.hunk_changes,
            RoomEvent::ThreadChanged(..) => self.capabilities.comments,
            _ => true,
        }
    }

    fn emit(&self, message: &EncodedEvent) {
        let EncodedForm { name, payload } = self.form(message);
        self.link.emit(name, payload, None);
    }

    /// Returns the form of an event that the client takes.
    fn form<'a>(&self, message: &'a EncodedEvent) -> &'a EncodedForm {
        let short = message.short.as_ref().filter(|_| self.capabilities.short_updates);
        short.unwrap_or(&message.whole)
    }

    /// Sends an event about the end of one of the session's own runs, unless the socket has it
    /// already.
    fn emit_end(&self, said: &RunEvent, message: &EncodedEvent) {
        let what = (said.run.clone(), discriminant(&said.saying));
        if self.heard.lock().insert(what) {
            self.emit(message);
        }
    }

    fn heard_anything_of(&self, run: &RunId) -> bool {
        self.heard.lock().iter().any(|(known, _)| known == run)
    }
}

impl SocketRegistry {
    /// Returns an empty registry.
    pub fn new(heard_runs: HeardRuns) -> Self {
        Self { connected_sockets: Arc::default(), heard_runs, noting: Arc::default() }
    }

    /// Returns the number of connected sockets.
    pub fn count(&self) -> usize {
        self.connected_sockets.read().len()
    }

    /// Registers a socket until [`SocketRegistry::remove`].
    pub(crate) fn insert(&self, member: MemberId, socket: ConnectedSocket) {
        self.connected_sockets.write().insert(member, Arc::new(socket));
    }

    /// Removes a socket.
    pub(crate) fn remove(&self, member: &MemberId) {
        self.connected_sockets.write().remove(member);
    }

    /// Returns the sockets of members that take an event. Nothing is locked while they are written
    /// to.
    fn receivers(&self, members: &[MemberId], event: &RoomEvent) -> Vec<Arc<ConnectedSocket>> {
        let connected_sockets = self.connected_sockets.read();
        let sockets = members.iter().filter_map(|member| connected_sockets.get(member));
        sockets.filter(|socket| socket.takes(event)).map(Arc::clone).collect()
    }

    /// Sends a socket the events that its session has missed: the ends of runs while no socket of
    /// the session was connected.
    pub fn catch_up(&self, member: &MemberId, missed: &[RunEvent]) {
        if let Some(socket) = self.connected_sockets.read().get(member) {
            for said in missed {
                if let Some(message) = wire::said(said) {
                    socket.emit_end(said, &message);
                }
                self.note(said, std::iter::once(socket));
            }
        }
    }

    /// Returns the sockets of a session that are sent nothing by the server `node`.
    pub fn untold(&self, session: &SessionId, node: i64) -> Vec<MemberId> {
        let is_untold = |socket: &ConnectedSocket| {
            socket.session == *session && !socket.is_of_other_server && !socket.connected.has(node)
        };
        let connected_sockets = self.connected_sockets.read();
        let untold = connected_sockets.iter().filter(|(_, socket)| is_untold(socket));
        untold.map(|(member, _)| member.clone()).collect()
    }

    /// Sends the end of a run to everybody in the document and to every socket of the session that
    /// asked.
    fn notify_end(&self, members: &[MemberId], said: &RunEvent) {
        let (connected_sockets, message) = (self.connected_sockets.read(), wire::said(said));
        let own = || connected_sockets.values().filter(|socket| socket.session == said.session);
        if let Some(message) = &message {
            own().for_each(|socket| socket.emit_end(said, message));
            let others = members.iter().filter_map(|member| connected_sockets.get(member));
            others.filter(|socket| socket.session != said.session).for_each(|it| it.emit(message));
        }
        self.note(said, own());
    }

    /// Stores that the session was notified of the end of a run, after its last event. An event
    /// that was handed to a connected socket counts as heard; after a crash before this is stored,
    /// the events are sent again.
    fn note<'a>(
        &self,
        said: &RunEvent,
        mut connected_sockets: impl Iterator<Item = &'a Arc<ConnectedSocket>>,
    ) {
        if !matches!(said.saying, RunEventKind::Over)
            || !connected_sockets.any(|it| it.heard_anything_of(&said.run))
        {
            return;
        }
        let heard_runs = self.heard_runs.clone();
        let (session, run) = (said.session.clone(), said.run.clone());
        let (noting, name) = (Arc::clone(&self.noting), (session.clone(), run.clone()));
        noting.lock().insert(name.clone());
        tokio::spawn(async move {
            heard_runs.add(session, run).await;
            noting.lock().remove(&name);
        });
    }

    /// Returns the runs whose end was heard, though that is not yet stored.
    pub(crate) fn being_noted(&self) -> HashSet<(SessionId, RunId)> {
        self.noting.lock().clone()
    }
}

impl EventSink for SocketRegistry {
    fn encode(&self, document: &DocumentId, event: &RoomEvent) -> Option<EncodedEvent> {
        match event {
            RoomEvent::Said(said) if is_end(said) => None,
            event => wire::event(document, event),
        }
    }

    fn notify(
        &self,
        document: &DocumentId,
        members: &[MemberId],
        event: &RoomEvent,
        encoded: Option<&EncodedEvent>,
    ) {
        if let RoomEvent::Said(said) = event
            && is_end(said)
        {
            return self.notify_end(members, said);
        }
        if members.is_empty() {
            return;
        }
        let encoded_now = if encoded.is_none() { wire::event(document, event) } else { None };
        let Some(message) = encoded.or(encoded_now.as_ref()) else { return };
        send(&self.receivers(members, event), message, DIRECT_RECEIVERS);
    }

    fn gather(&self, members: &[MemberId], deliver: &mut dyn FnMut()) {
        let sockets: Vec<_> = {
            let connected_sockets = self.connected_sockets.read();
            members.iter().filter_map(|member| connected_sockets.get(member).cloned()).collect()
        };
        gather_writes(sockets.iter().map(|socket| &**socket.link.client()), deliver);
    }

    fn announce(&self, news: &ServerEvent) {
        let Some(message) = wire::announcement(news) else { return };
        let may_know = |socket: &&Arc<ConnectedSocket>| match news {
            _ if socket.is_of_other_server => false,
            ServerEvent::Created { id, .. } => socket.principal.may(Action::Read, Some(id)),
            ServerEvent::Settings(_) => true,
            ServerEvent::Mentions(of) => {
                socket.capabilities.comments
                    && socket.principal.user == of.user
                    && socket.principal.may(Action::Read, Some(&of.document))
            }
        };
        let receivers: Vec<_> =
            self.connected_sockets.read().values().filter(may_know).map(Arc::clone).collect();
        send(&receivers, &message, DIRECTLY_ANNOUNCED);
    }

    fn follow(&self, members: &[MemberId], document: &DocumentId, request: &RequestId) {
        let (document_id, request_id) = (document.clone(), request.clone());
        let followed = FollowedRequest { document_id, request_id };
        let connected_sockets = self.connected_sockets.read();
        for socket in members.iter().filter_map(|member| connected_sockets.get(member)) {
            if socket.is_of_other_server {
                socket.link.emit_value(TO_FOLLOW, &followed);
            } else if let Some(follows) = &socket.follows {
                follows.send(Box::new(followed.clone())).ok();
            }
        }
    }
}

/// Sends an event to these sockets; to the first `direct` of them directly, where that is possible.
fn send(receivers: &[Arc<ConnectedSocket>], message: &EncodedEvent, direct: usize) {
    let mut frames = EventFrames::default();
    for (index, socket) in receivers.iter().enumerate() {
        let form = socket.form(message);
        let frame = if index < direct { frames.of(form) } else { None };
        socket.link.emit(form.name, &form.payload, frame);
    }
}

/// Frames of the forms of one event, each made when it is first needed.
#[derive(Default)]
struct EventFrames<'a>(Vec<(&'a EncodedForm, Option<TextFrame>)>);

impl<'a> EventFrames<'a> {
    fn of(&mut self, form: &'a EncodedForm) -> Option<&TextFrame> {
        let at = self.0.iter().position(|(known, _)| std::ptr::eq(*known, form));
        let at = at.unwrap_or_else(|| {
            self.0.push((form, event_frame(form.name, &form.payload)));
            self.0.len() - 1
        });
        self.0[at].1.as_ref()
    }
}

/// Returns `true` if the event belongs to the end of a run.
fn is_end(said: &RunEvent) -> bool {
    match &said.saying {
        RunEventKind::Agent(object) => object.kind == AgentEventType::Result,
        RunEventKind::Response(_) | RunEventKind::Over => true,
        RunEventKind::StreamStart | RunEventKind::StreamChunk(_) | RunEventKind::StreamEnd => false,
    }
}
