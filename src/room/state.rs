//! What a room knows and decides. Pure: no clock, no disk, no task.
//!
//! Every method either changes nothing and refuses, or changes the state and adds to the [`Step`] what to keep, whom
//! to tell and what to answer. The state may run ahead of the store only within one turn of the driver; if the turn
//! cannot be kept, the driver loads again what is durable and puts the people back in ([`RoomState::replace_with`]).

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use serde_json::Value;

use crate::document::{Document, Update};
use crate::ids::{ClientId, DocumentId, MemberId, RequestId, RuleId, SessionId, UserId, Version};
use crate::review::{Request, Requirements, Rule};
use crate::store::{AuditEntry, DocumentRecord, Op};
use crate::who::Principal;

use super::command::{Command, Content, Member, Opened, Reading, Reply};
use super::event::{Caret, Event};
use super::file::{self, FileNews};
use super::focus::Focuses;
use super::long_work::is_long_answer;
use super::presence::Presence;
use super::settings::{DocumentSettings, OwnSettings, ServerSettings};
use super::sketches::{self, Sketchbook};
use super::step::{Output, Step};
use super::{RoomError, frozen, requests, rules, time};

/// Requests that have ended and are still remembered, so that a late decision learns who was first.
const REMEMBERED: usize = 64;

/// The moment at which a command is applied.
pub(super) struct Now {
    /// Milliseconds since 1970.
    pub(super) ms: u64,
    /// The server's settings.
    pub(super) server: ServerSettings,
}

/// A document, its requests and the people in it.
pub(super) struct RoomState {
    /// Its version is the one it was loaded at: the newest is the document's.
    pub(super) record: DocumentRecord,
    pub(super) own: OwnSettings,
    pub(super) document: Document,
    /// Open requests; each at the document's version.
    pub(super) open: BTreeMap<RequestId, Arc<Request>>,
    /// Ended requests, newest last; each at the version it ended at.
    pub(super) ended: VecDeque<Arc<Request>>,
    /// The rules in force, oldest first.
    pub(super) rules: BTreeMap<RuleId, Arc<Rule>>,
    /// What the model is still writing.
    pub(super) sketches: Sketchbook,
    pub(super) focuses: Focuses,
    pub(super) presence: Presence,
    /// Whose the clients are, as far as that was looked up.
    pub(super) clients: HashMap<ClientId, Option<UserId>>,
    /// How it stands with the file that it is, as it was told last.
    pub(super) file: Option<FileNews>,
    /// What was committed since the newest snapshot.
    pub(super) unsnapshotted: Unsnapshotted,
}

/// Updates that loading would replay.
#[derive(Clone, Copy, Default)]
pub(super) struct Unsnapshotted {
    /// How many.
    pub(super) updates: usize,
    /// Their JSON.
    pub(super) bytes: usize,
}

impl Unsnapshotted {
    /// Counts one more.
    pub(super) fn add(&mut self, update: &Update) {
        self.updates += 1;
        self.bytes += update.changes.len();
    }
}

impl RoomState {
    /// A room as it is loaded: nobody is in it, and it has no rules yet.
    pub(super) fn new(
        record: DocumentRecord,
        own: OwnSettings,
        document: Document,
        open: BTreeMap<RequestId, Arc<Request>>,
        unsnapshotted: Unsnapshotted,
    ) -> Self {
        Self {
            record,
            own,
            document,
            open,
            ended: VecDeque::new(),
            rules: BTreeMap::new(),
            sketches: Sketchbook::default(),
            focuses: Focuses::default(),
            presence: Presence::default(),
            clients: HashMap::new(),
            file: None,
            unsnapshotted,
        }
    }

    pub(super) fn id(&self) -> &DocumentId {
        &self.record.id
    }

    pub(super) fn version(&self) -> Version {
        self.document.version()
    }

    pub(super) fn unlisted_owner(&self) -> Option<&SessionId> {
        self.record.unlisted_owner.as_ref()
    }

    pub(super) fn is_deleted(&self) -> bool {
        self.record.deleted
    }

    /// Refuses if the document is gone.
    pub(super) fn exists(&self) -> Result<(), RoomError> {
        if self.is_deleted() { Err(RoomError::NoDocument) } else { Ok(()) }
    }

    /// Takes over what was loaded again; the people stay, and look at what they looked at. Their carets come again.
    pub(super) fn replace_with(&mut self, fresh: Self) {
        let mut presence = std::mem::take(&mut self.presence);
        presence.forget_carets();
        let focuses = std::mem::take(&mut self.focuses);
        let file = self.file.take();
        *self = Self { focuses, presence, file, ..fresh };
    }

    /// Lets somebody in, or brings them up to date. `older` holds the updates between `since` and the log at hand.
    pub(super) fn open(
        &mut self,
        member: Member,
        since: Option<Version>,
        older: Option<Vec<Arc<Update>>>,
        reply: Reply<Opened>,
        now: &Now,
        step: &mut Step,
    ) {
        if let Err(error) = self.exists() {
            return step.answer(reply, Err(error));
        }
        let id = member.id.clone();
        let is_news = self.presence.enter(member);
        step.then(Output::Join(id.clone()));
        let requests: Vec<_> = self.open.values().cloned().collect();
        for request in &requests {
            step.then(Output::TellOne(id.clone(), Event::Requested(Arc::clone(request))));
        }
        let opened = Opened {
            content: self.content(since, older, now),
            client: ClientId::generate(),
            requests,
            sketches: self.sketches.shown(),
            peers: self.presence.peers().to_vec(),
        };
        if is_news {
            step.then(Output::TellOthers(id, Event::Peers(self.presence.peers().to_vec())));
        }
        let hunks = opened.requests.iter().map(|request| request.hunks.len()).sum();
        let units = match &opened.content {
            Content::Whole(reading) => reading.text.len(),
            Content::Since { updates, .. } => {
                updates.iter().map(|update| update.changes.len()).sum()
            }
        };
        if is_long_answer(units, hunks) {
            step.answer_long(reply, Ok(opened));
        } else {
            step.answer(reply, Ok(opened));
        }
    }

    fn content(
        &self,
        since: Option<Version>,
        older: Option<Vec<Arc<Update>>>,
        now: &Now,
    ) -> Content {
        let Some(from) = since else { return Content::Whole(Box::new(self.reading(now))) };
        let start = self.document.tail_start().max(from);
        match (older, self.document.since(start)) {
            (Some(mut updates), Some(newer)) => {
                updates.extend(newer.map(Arc::new));
                Content::Since { from, updates, reading: Box::new(self.reading(now)) }
            }
            _ => Content::Whole(Box::new(self.reading(now))),
        }
    }

    /// Somebody goes.
    pub(super) fn leave(&mut self, member: &MemberId, now: &Now, step: &mut Step) {
        step.then(Output::Leave(member.clone()));
        if self.presence.leave(member) {
            step.tell(Event::Peers(self.presence.peers().to_vec()));
        }
        time::look_away_from_all(self, member, now, step);
    }

    /// Somebody's caret moves.
    fn place(&mut self, member: &MemberId, caret: Caret, step: &mut Step) {
        let version = self.version();
        if self.presence.place(member, caret, version, self.document.text()) {
            step.then(Output::TellOthers(member.clone(), Event::Caret(member.clone(), caret)));
        }
    }

    /// The document as it is.
    pub(super) fn reading(&self, now: &Now) -> Reading {
        Reading {
            title: self.record.title.clone(),
            version: self.version(),
            text: self.document.text().clone(),
            settings: self.in_force(now),
            file: self.file.clone(),
        }
    }

    pub(super) fn in_force(&self, now: &Now) -> DocumentSettings {
        self.own.in_force(&now.server)
    }

    /// What changes take here, where these settings are in force.
    pub(super) fn requirements<'a>(&'a self, settings: &'a DocumentSettings) -> Requirements<'a> {
        settings.requirements(self.rules.values().map(AsRef::as_ref))
    }

    /// One line of the audit log.
    pub(super) fn audit(
        &self,
        action: &str,
        actor: &str,
        request: Option<&RequestId>,
        detail: Value,
        now: &Now,
    ) -> Op {
        Op::Audit(AuditEntry {
            at_ms: now.ms,
            actor: actor.to_owned(),
            action: action.to_owned(),
            document: self.about(),
            request: request.cloned(),
            detail,
        })
    }

    /// Remembers a request that has ended.
    pub(super) fn remember(&mut self, request: Arc<Request>) {
        self.ended.retain(|other| other.id() != request.id());
        self.ended.push_back(request);
        if self.ended.len() > REMEMBERED {
            self.ended.pop_front();
        }
    }

    /// An open or remembered request.
    pub(super) fn request(&self, id: &RequestId) -> Option<&Arc<Request>> {
        self.open.get(id).or_else(|| self.ended.iter().find(|request| request.id() == id))
    }

    /// Applies a command that needs nothing more from the store.
    pub(super) fn apply(&mut self, command: Command, now: &Now, step: &mut Step) {
        let words_are_frozen = !self.own.frozen.is_empty();
        // Carets and voices come all the time, and change no words.
        let only_tells = matches!(command, Command::Move(..) | Command::Say(_) | Command::Read(_));
        self.carry_out(command, now, step);
        if words_are_frozen && !only_tells {
            frozen::say_why(self, step);
        }
    }

    fn carry_out(&mut self, command: Command, now: &Now, step: &mut Step) {
        match command {
            Command::Leave(member) => self.leave(&member, now, step),
            Command::Move(member, caret) => self.place(&member, caret, step),
            Command::Unsketch(sketches) => sketches::end(self, &sketches, step),
            Command::TellFile(news) => file::tell(self, *news, step),
            Command::Merge(merge, reply) => {
                let result = file::merge(self, *merge, now, step);
                step.answer(reply, result);
            }
            Command::People(reply) => step.answer(reply, Ok(self.presence.peers().to_vec())),
            Command::Say(said) => step.then(Output::Say(said)),
            Command::Read(reply) => {
                let reading = self.exists().map(|()| self.reading(now));
                step.answer(reply, reading);
            }
            Command::Requests(reply) => {
                step.answer(reply, Ok(self.open.values().cloned().collect()));
            }
            Command::Rules(reply) => {
                let rules = self.exists().map(|()| self.rules.values().cloned().collect());
                step.answer(reply, rules);
            }
            Command::AddRule(new, by, reply) => {
                let result = rules::add(self, *new, &by, now, step);
                step.answer(reply, result);
            }
            Command::Revoke(rule, by, reply) => {
                let result = rules::revoke(self, &rule, &by, now, step);
                step.answer(reply, result);
            }
            Command::Push(push, reply) => {
                let result = self.push(&push, super::writing::REBASING, now, step);
                step.answer(reply, result);
            }
            Command::Rename(..)
            | Command::Configure(..)
            | Command::TellSettings(..)
            | Command::Delete(..)
            | Command::Replace(..)
            | Command::Restore(..) => self.administer(command, now, step),
            Command::Decide(..)
            | Command::Focus(..)
            | Command::Extend(..)
            | Command::Withdraw(..)
            | Command::Undo(..)
            | Command::LookAgain(..)
            | Command::Begin(..)
            | Command::Done(..)
            | Command::BeginUndo(..)
            | Command::EndUndo(..)
            | Command::Repeated(..)
            | Command::Reopen(..) => requests::apply(self, command, now, step),
            // The driver hands these over with what it fetched for them.
            Command::Open(..)
            | Command::Propose(..)
            | Command::Sketch(..)
            | Command::CatchUp(..)
            | Command::Await(..)
            | Command::Witness(..)
            | Command::Recount => {}
        }
    }

    /// The person behind a connection that is here.
    pub(super) fn principal_of(&self, member: &MemberId) -> Option<Principal> {
        let peer = self.presence.peers().iter().find(|peer| peer.member == *member)?;
        Some(peer.principal.clone())
    }
}
