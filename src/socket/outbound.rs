//! Events of rooms and runs on their way to sockets: encoded once, sent to each member in order.

use std::collections::{HashMap, HashSet};
use std::mem::{Discriminant, discriminant};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};

use crate::ids::{DocumentId, MemberId, RunId, SessionId};
use crate::room::clock::Clock;
use crate::room::event::{Announcement, Event, Said, Saying};
use crate::room::{Outlet, Ready};
use crate::store::{Op, Store};
use crate::who::{Action, Principal};
use crate::wire::convert::{self, Message};

use super::link::ClientLink;

/// The sockets that are connected.
#[derive(Clone)]
pub struct Sockets {
    seats: Arc<RwLock<HashMap<MemberId, Seat>>>,
    /// Remembers which sessions have heard how their runs ended.
    store: Store,
    clock: Clock,
    /// What is just being remembered.
    noting: Arc<Mutex<HashSet<(SessionId, RunId)>>>,
}

/// A connected socket.
pub(super) struct Seat {
    link: ClientLink,
    principal: Principal,
    session: SessionId,
    /// Which ends of its session's runs it was handed, and what of them: so that none comes twice.
    heard: Mutex<HashSet<(RunId, Discriminant<Saying>)>>,
}

impl Seat {
    pub(super) fn new(link: ClientLink, principal: Principal, session: SessionId) -> Self {
        Self { link, principal, session, heard: Mutex::default() }
    }

    fn emit(&self, message: &Message) {
        self.link.emit(message.name, &message.payload);
    }

    /// Hands over something about the end of one of its own session's runs, unless it has it already.
    fn emit_end(&self, said: &Said, message: &Message) {
        let what = (said.run.clone(), discriminant(&said.saying));
        if lock(&self.heard).insert(what) {
            self.emit(message);
        }
    }

    fn heard_anything_of(&self, run: &RunId) -> bool {
        lock(&self.heard).iter().any(|(known, _)| known == run)
    }
}

impl Sockets {
    /// None is connected yet.
    pub fn new(store: Store, clock: Clock) -> Self {
        Self { seats: Arc::default(), store, clock, noting: Arc::default() }
    }

    /// Remembers a socket until [`Sockets::remove`].
    pub(super) fn insert(&self, member: MemberId, seat: Seat) {
        self.seats.write().unwrap_or_else(PoisonError::into_inner).insert(member, seat);
    }

    /// Forgets a socket.
    pub(super) fn remove(&self, member: &MemberId) {
        self.seats.write().unwrap_or_else(PoisonError::into_inner).remove(member);
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.seats().len()
    }

    fn seats(&self) -> RwLockReadGuard<'_, HashMap<MemberId, Seat>> {
        self.seats.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands a socket what its session has missed: how a run ended while nobody of the session was connected.
    pub(super) fn catch_up(&self, member: &MemberId, missed: &[Said]) {
        if let Some(seat) = self.seats().get(member) {
            for said in missed {
                if let Some(message) = convert::said(said) {
                    seat.emit_end(said, &message);
                }
                self.note(said, std::iter::once(seat));
            }
        }
    }

    /// The end of a run goes to everybody in the document and, wherever they are, to whoever asked.
    fn tell_end(&self, members: &[MemberId], said: &Said) {
        let (seats, message) = (self.seats(), convert::said(said));
        let own = || seats.values().filter(|seat| seat.session == said.session);
        if let Some(message) = &message {
            own().for_each(|seat| seat.emit_end(said, message));
            let others = members.iter().filter_map(|member| seats.get(member));
            others.filter(|seat| seat.session != said.session).for_each(|it| it.emit(message));
        }
        self.note(said, own());
    }

    /// Once everything was said: whether the session has heard it is remembered. Handed to a connected socket counts as
    /// heard; between that and this a crash may come, and then it is said again.
    fn note<'a>(&self, said: &Said, mut seats: impl Iterator<Item = &'a Seat>) {
        if !matches!(said.saying, Saying::Over) || !seats.any(|it| it.heard_anything_of(&said.run))
        {
            return;
        }
        let (store, at_ms) = (self.store.clone(), self.clock.now_ms());
        let (session, run) = (said.session.clone(), said.run.clone());
        let (noting, name) = (Arc::clone(&self.noting), (session.clone(), run.clone()));
        lock(&noting).insert(name.clone());
        tokio::spawn(async move {
            if let Err(error) = store.commit(Op::RunHeard { session, run, at_ms }).await {
                tracing::warn!(%error, "that a session heard how its run ended could not be kept");
            }
            lock(&noting).remove(&name);
        });
    }

    /// Runs whose end was heard, though that is not yet kept.
    pub(super) fn being_noted(&self) -> HashSet<(SessionId, RunId)> {
        lock(&self.noting).clone()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Outlet for Sockets {
    /// The event, encoded.
    fn ready(&self, document: &DocumentId, event: &Event) -> Ready {
        match event {
            Event::Said(said) if is_end(said) => Ready::default(),
            event => convert::event(document, event).map(Ready::with).unwrap_or_default(),
        }
    }

    fn tell(&self, document: &DocumentId, members: &[MemberId], event: &Event, ready: &Ready) {
        if let Event::Said(said) = event
            && is_end(said)
        {
            return self.tell_end(members, said);
        }
        if members.is_empty() {
            return;
        }
        let encoded;
        let message = match ready.get::<Message>() {
            Some(message) => message,
            None => match convert::event(document, event) {
                Some(message) => {
                    encoded = message;
                    &encoded
                }
                None => return,
            },
        };
        let seats = self.seats();
        members.iter().filter_map(|member| seats.get(member)).for_each(|seat| seat.emit(message));
    }

    fn announce(&self, news: &Announcement) {
        let Some(message) = convert::announcement(news) else { return };
        let may_know = |seat: &&Seat| match news {
            Announcement::Created { id, .. } => seat.principal.may(Action::Read, Some(id)),
            Announcement::Settings(_) => true,
        };
        self.seats().values().filter(may_know).for_each(|seat| seat.emit(&message));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is inside is whole between any two statements.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether this belongs to the end of a run.
fn is_end(said: &Said) -> bool {
    match &said.saying {
        Saying::Agent(kind, ..) => *kind == "result",
        Saying::Response(_) | Saying::Over => true,
        Saying::StreamStart | Saying::StreamChunk(_) | Saying::StreamEnd => false,
    }
}
