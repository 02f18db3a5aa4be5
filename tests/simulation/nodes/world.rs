//! People and agents around several servers, what happens to these, and what it must come to.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use copydesk::approvals::{
    ApprovalRequest, CallOrigin, Decision, HunkChoice, HunkVerdict, Preview, ProposedAction,
    RequestSource, RequestVerdict,
};
use copydesk::ids::{DocumentId, HunkId, MemberId, RequestId, Version};
use copydesk::rooms::RoomError;
use copydesk::rooms::command::{
    ApprovalMode, ClientCapabilities, JoiningMember, NewApprovalRequest, OpenedDocument,
    PushRequest, ReplySender, RequestCommand, RoomCommand,
};
use copydesk::rooms::simulated_room::SimulatedOutput;
use copydesk::store::{NodeNews, StoreError};
use fastrand::Rng;
use tokio::time::{Instant, sleep, timeout};

use super::database::{Database, SharedDatabase};
use super::link::Link;
use super::mutations::Wrong;
use super::network::{Network, Place, SharedNetwork, lock, travel};
use super::server::{Order, Server, Surroundings, Tell, Told};
use crate::chance::{self, PEOPLE};
use crate::disk::stored_request;
use crate::editor::{Editor, Message, Unsent};
use crate::rules::Rule::{
    AcknowledgedMeansDurable, EverybodyIsServedAgain, MessagesArrive, NothingIsTakenTwice,
    RefusedIsNotDone,
};
use crate::rules::{Held, must};
use crate::world::Tally;

const OPENING: &str = "It was a bright cold day. She recieve 😀 letters.\n\nThan it ended.\n";
const STEPS: usize = 90;
/// Longest wait for another server, as between real ones.
const PATIENCE: Duration = Duration::from_secs(5);
/// Time after which somebody who is not let in goes elsewhere.
const IMPATIENCE: Duration = Duration::from_secs(15);
/// Looks at whether everybody has come together, and the time between two.
const ROUNDS: usize = 60;
const ROUND: Duration = Duration::from_secs(4);

/// A person at an editor.
struct Seat {
    document: DocumentId,
    editor: Editor,
    /// The server that they have come to, and the one that has the document.
    via: i64,
    owner: Option<i64>,
    since: Instant,
}

enum Answer {
    Pushed(usize, MemberId, usize, Result<Version, RoomError>),
    Decided(usize, Result<Arc<ApprovalRequest>, RoomError>),
}

/// An answer of `document:open`, which is in one order with what is told.
type Entry = (usize, MemberId, Result<OpenedDocument, RoomError>);

/// A decision that was sent, by what is known of it.
struct Sent {
    document: DocumentId,
    note: String,
    fate: Fate,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Unknown,
    Acknowledged,
    Refused,
}

type Seats = Rc<RefCell<Vec<Seat>>>;
type Servers = Rc<RefCell<BTreeMap<i64, Rc<Server>>>>;

pub struct World {
    random: Rng,
    database: SharedDatabase,
    network: SharedNetwork,
    servers: Servers,
    seats: Seats,
    people: usize,
    documents: Vec<DocumentId>,
    sent: Vec<Sent>,
    calls: usize,
    news: usize,
    answers: (Sender<Answer>, Receiver<Answer>),
    entries: (Sender<Entry>, Rc<Receiver<Entry>>),
    wrong: Option<Wrong>,
    began: Instant,
    most: usize,
    commands: u64,
    tally: Tally,
    is_loud: bool,
}

/// People are let in, or not.
fn enter(seats: &mut [Seat], entries: &Receiver<Entry>) {
    for (at, member, result) in entries.try_iter() {
        let editor = &mut seats[at].editor;
        let line = editor.line.as_mut().filter(|line| line.member == member);
        match (line, result) {
            (Some(line), Ok(opened)) => line.inbox.push_back(Message::Opened(Box::new(opened))),
            (Some(_), Err(_)) => drop(editor.parts()),
            (None, _) => {}
        }
    }
}

impl World {
    pub fn new(seed: u64, wrong: Option<Wrong>, is_loud: bool) -> Self {
        let mut random = Rng::with_seed(seed);
        let documents: Vec<DocumentId> =
            (1..=random.usize(1..=2)).map(|number| format!("doc_{number}").into()).collect();
        let texts: Vec<_> = documents.iter().map(|id| (id.clone(), OPENING)).collect();
        let database = Database::new(&texts, random.fork(), wrong);
        let (entries, entered) = channel();
        let mut seats = Vec::new();
        for (document, shelf) in &database.shelves {
            for at in 0..random.usize(1..=3) {
                let client = format!("c{at}of{document}");
                let editor = Editor::new(chance::person(PEOPLE[at % 3]), &client, &shelf.ledger);
                let (document, since) = (document.clone(), Instant::now());
                seats.push(Seat { document, editor, via: 0, owner: None, since });
            }
        }
        Self {
            database: Arc::new(Mutex::new(database)),
            network: Network::new(random.fork()),
            servers: Servers::default(),
            people: seats.len(),
            seats: Rc::new(RefCell::new(seats)),
            documents,
            sent: Vec::new(),
            calls: 0,
            news: 0,
            answers: channel(),
            entries: (entries, Rc::new(entered)),
            wrong,
            began: Instant::now(),
            most: random.usize(2..=4),
            commands: 0,
            tally: Tally::new(),
            is_loud,
            random,
        }
    }

    pub fn operations(&self) -> u64 {
        self.commands + lock(&self.database).operations
    }

    pub fn tally(&self) -> Tally {
        self.tally.clone()
    }

    /// Nothing goes on.
    pub fn ends(&mut self) {
        for (_, server) in std::mem::take(&mut *self.servers.borrow_mut()) {
            server.dies();
        }
    }

    fn count(&mut self, what: &'static str) {
        *self.tally.entry(what).or_default() += 1;
        if self.is_loud {
            eprintln!("{:?} {what}", self.began.elapsed());
        }
    }

    pub async fn plays(&mut self) -> Held {
        for _ in 0..self.most {
            self.joins();
        }
        for _ in 0..STEPS {
            self.step();
            let wait = [0, 3, 30, 300, 300, 2_500][self.random.usize(..6)];
            sleep(Duration::from_millis(self.random.u64(..=wait))).await;
            self.takes_stock()?;
        }
        self.comes_together().await
    }

    fn step(&mut self) {
        self.commands += 1;
        let at = self.random.usize(..self.people);
        let is_here = self.seats.borrow()[at].editor.line.is_some();
        match self.random.u16(..1000) {
            0..220 => self.types(at),
            220..380 => self.sends(at),
            380..560 => {}
            560..600 if is_here => self.parts(at),
            560..680 if !is_here => self.comes_back(at),
            680..730 => self.proposes(),
            730..830 => self.decides(),
            830..850 => self.tells(),
            850..960 => self.something_happens(),
            _ => {
                for at in 0..self.people {
                    self.sends(at);
                }
            }
        }
    }

    // Servers, and what happens to them.

    fn joins(&mut self) {
        let Some((link, session)) = Link::join(&self.database, &self.network) else { return };
        let (began, number) = (self.began, link.node);
        let surroundings = Surroundings {
            link,
            skew_ms: [0, 0, 40, 9_000][self.random.usize(..4)],
            now_ms: Rc::new(move || 1_000 + began.elapsed().as_millis() as u64),
            tell: self.telling(),
            random: self.random.fork(),
            wrong: self.wrong,
        };
        let server = Server::start(surroundings, session);
        self.servers.borrow_mut().insert(number, server);
        self.count("a server joined");
    }

    fn some_server(&mut self) -> Option<Rc<Server>> {
        let servers = self.servers.borrow();
        if servers.is_empty() {
            return None;
        }
        servers.values().nth(self.random.usize(..servers.len())).cloned()
    }

    fn something_happens(&mut self) {
        let Some(server) = self.some_server() else { return self.joins() };
        let place = Place::Server(server.number());
        match self.random.u8(..24) {
            0..3 => {
                let mut network = lock(&self.network);
                network.cut(place, Place::Database);
                network.cut(Place::Database, place);
                drop(network);
                Self::sessions_are_missed(&server);
                self.count("a line was cut");
            }
            3..5 => {
                let is_out = self.random.bool();
                let (from, to) =
                    if is_out { (place, Place::Database) } else { (Place::Database, place) };
                lock(&self.network).cut(from, to);
                Self::sessions_are_missed(&server);
                self.count("a line was cut one way");
            }
            5..7 => {
                let Some(other) = self.some_server() else { return };
                let other = Place::Server(other.number());
                lock(&self.network).cut(place, other);
                lock(&self.network).cut(other, place);
                self.count("a line was cut");
            }
            7 => {
                lock(&self.network).slow(place);
                self.count("a server is slow");
            }
            8..10 => {
                server.dies();
                self.count("a server was killed");
            }
            10 => {
                let stopping = Rc::clone(&server);
                server.does(stopping.stops());
                self.count("a server was stopped");
            }
            11..13 => {
                server.stands_still(true);
                self.count("a server stood still");
            }
            13..15 if server.is_still() => {
                server.stands_still(false);
                self.count("a server went on");
            }
            15 => {
                lock(&self.database).goes_down();
                self.count("the database went down");
            }
            16 => server.does(Rc::clone(&server).changes_settings()),
            17..20 if self.servers.borrow().len() < self.most => self.joins(),
            _ => self.heals(),
        }
    }

    /// A session of which nothing is heard is ended by keepalives.
    fn sessions_are_missed(server: &Server) {
        let (link, place) = (server.link.clone(), Place::Server(server.number()));
        tokio::spawn(async move {
            sleep(Duration::from_secs(25)).await;
            if lock(&link.network).is_cut(place, Place::Database) {
                lock(&link.database).end_sessions(link.node);
            }
        });
    }

    fn heals(&mut self) {
        lock(&self.network).heal();
        for server in self.servers.borrow().values() {
            server.stands_still(false);
        }
        if lock(&self.database).is_down {
            lock(&self.database).comes_back();
            self.count("the database came back");
        }
        self.count("healed");
    }

    // People.

    fn types(&mut self, at: usize) {
        let seat = &mut self.seats.borrow_mut()[at];
        let mut database = lock(&self.database);
        let ledger = &mut database.shelves.get_mut(&seat.document).unwrap().ledger;
        seat.editor.types(&mut self.random, ledger);
    }

    /// Everything that is not confirmed, perhaps for the second time.
    fn sends(&mut self, at: usize) {
        let (document, push, made) = {
            let seat = &mut self.seats.borrow_mut()[at];
            let editor = &mut seat.editor;
            let (true, Some(unsent)) = (editor.is_here(), editor.unsent()) else { return };
            let Unsent { base, updates, made } = unsent;
            let member = editor.line.as_ref().unwrap().member.clone();
            let principal = editor.who.clone();
            (seat.document.clone(), PushRequest { member, principal, base, updates }, made)
        };
        self.commands += 1;
        let (answers, member) = (self.answers.0.clone(), push.member.clone());
        let since = push.base;
        let reply = ReplySender::new(move |result| {
            answers.send(Answer::Pushed(at, member, made, result)).ok();
        });
        let via = self.seats.borrow()[at].via;
        self.orders(via, &document, RoomCommand::Push(push, reply), since);
    }

    fn parts(&mut self, at: usize) {
        let (document, owner, member) = {
            let seat = &mut self.seats.borrow_mut()[at];
            let Some(member) = seat.editor.parts() else { return };
            (seat.document.clone(), seat.owner.take(), member)
        };
        let owner = owner.and_then(|owner| self.servers.borrow().get(&owner).cloned());
        if let Some(owner) = owner {
            let (command, since) = (RoomCommand::Leave(member), Version(u64::MAX));
            owner.orders_if_open(&document, Order { command, since });
        }
    }

    fn comes_back(&mut self, at: usize) {
        let Some(server) = self.some_server() else { return };
        let (document, since, joins) = {
            let seat = &mut self.seats.borrow_mut()[at];
            (seat.via, seat.owner, seat.since) = (server.number(), None, Instant::now());
            let since = Version(seat.editor.version as u64);
            let (id, principal) = (seat.editor.connects(), seat.editor.who.clone());
            let capabilities = ClientCapabilities::default();
            (seat.document.clone(), since, JoiningMember { id, principal, capabilities })
        };
        let (entries, member) = (self.entries.0.clone(), joins.id.clone());
        let reply = ReplySender::new(move |result| {
            entries.send((at, member, result)).ok();
        });
        let command = RoomCommand::Open(joins, Some(since), reply);
        self.orders(server.number(), &document, command, since);
    }

    /// A command reaches a server, which has it done, or passes it on to the one that has the
    /// document.
    fn orders(&self, via: i64, document: &DocumentId, command: RoomCommand, since: Version) {
        let Some(server) = self.servers.borrow().get(&via).cloned() else { return };
        let (servers, network) = (Rc::clone(&self.servers), Arc::clone(&self.network));
        let (document, order) = (document.clone(), Order { command, since });
        let here = Rc::clone(&server);
        server.does(async move {
            let Err((owner, order)) = here.orders(&document, order).await else { return };
            let (from, to) = (Place::Server(via), Place::Server(owner));
            let travelled = timeout(PATIENCE, travel(&network, from, to)).await;
            let there = servers.borrow().get(&owner).filter(|it| !it.is_dead.get()).cloned();
            let (Ok(()), Some(there)) = (travelled, there) else {
                here.node.forget_node(owner);
                return;
            };
            let owner = Rc::clone(&there);
            there.does(async move {
                if owner.orders(&document, order).await.is_err() {
                    // It is elsewhere by now.
                    here.node.forget(&document);
                }
            });
        });
    }

    fn telling(&self) -> Tell {
        let (seats, entries) = (Rc::clone(&self.seats), Rc::clone(&self.entries.1));
        Rc::new(move |from, document, told| {
            let mut seats = seats.borrow_mut();
            enter(&mut seats, &entries);
            let here = seats.iter_mut().filter(|seat| seat.document == *document);
            for seat in here {
                let Some(line) = &mut seat.editor.line else { continue };
                match &told {
                    Told::Output(SimulatedOutput::Joined(member)) if line.member == *member => {
                        seat.owner = Some(from);
                    }
                    Told::CutOff(members) if members.contains(&line.member) => {
                        seat.editor.parts();
                        seat.owner = None;
                    }
                    Told::Output(output) if seat.owner == Some(from) => {
                        let event = match output {
                            SimulatedOutput::All(event) => event,
                            SimulatedOutput::Others(one, event) if line.member != *one => event,
                            SimulatedOutput::One(one, event) if line.member == *one => event,
                            _ => continue,
                        };
                        line.inbox.push_back(Message::Told(Arc::new(event.clone())));
                    }
                    _ => {}
                }
            }
        })
    }

    /// Lines end whose servers are gone, or cannot reach each other; whoever is not let in tries
    /// elsewhere.
    fn ends_lines(&mut self) {
        let servers = Rc::clone(&self.servers);
        servers.borrow_mut().retain(|_, server| !server.is_dead.get());
        let mut lost = Vec::new();
        for (at, seat) in self.seats.borrow().iter().enumerate() {
            let is_gone = |number: &i64| !servers.borrow().contains_key(number);
            let is_apart = |owner: i64| {
                let (via, owner) = (Place::Server(seat.via), Place::Server(owner));
                via != owner && lock(&self.network).is_cut(via, owner)
            };
            let is_late = !seat.editor.is_here() && seat.since.elapsed() > IMPATIENCE;
            let owner = seat.owner.is_some_and(|it| is_gone(&it) || is_apart(it));
            if seat.editor.line.is_some() && (is_gone(&seat.via) || owner || is_late) {
                lost.push(at);
            }
        }
        for at in lost {
            self.parts(at);
            self.count("cut off");
        }
    }

    // Agents and reviewers.

    fn some_document(&mut self) -> DocumentId {
        self.documents[self.random.usize(..self.documents.len())].clone()
    }

    fn proposes(&mut self) {
        let document = self.some_document();
        let (base, version) = {
            let database = lock(&self.database);
            let ledger = &database.shelves[&document].ledger;
            let back = self.random.usize(..=ledger.version().min(6));
            let version = ledger.version() - back;
            (ledger.text(version).clone(), Version(version as u64))
        };
        let hunks = chance::drafts(&mut self.random, &base);
        if hunks.is_empty() {
            return;
        }
        self.calls += 1;
        let new = NewApprovalRequest {
            origin: CallOrigin {
                id: RequestId::from(format!("req_{}", self.calls)),
                tool: "str_replace".into(),
                input: serde_json::Value::Null,
                tool_use: "toolu_1".into(),
                session: "ses_1".into(),
                run: "run_1".into(),
            },
            action: ProposedAction {
                prompt: String::new(),
                base_version: version,
                scope: Some((0, base.len())),
                explanation: String::new(),
                preview: Preview::generic(),
                touched: None,
                source: RequestSource::Ask,
            },
            requester: chance::person(PEOPLE[self.random.usize(..3)]),
            base,
            hunks,
            approval_mode: ApprovalMode::Ask,
            deadline_ms: None,
            after_restart: true,
            again_of: None,
        };
        // Now and then a run that was taken over asks, too.
        for _ in 0..[1, 1, 1, 2][self.random.usize(..4)] {
            let Some(server) = self.some_server() else { return };
            let (reply, _) = ReplySender::channel();
            let command = RoomCommand::Propose(Box::new(new.clone()), reply);
            self.orders(server.number(), &document, command, version);
        }
        self.count("proposed");
    }

    /// Somebody decides something that is open, or several do at once, each at another server.
    fn decides(&mut self) {
        let document = self.some_document();
        let requests: Vec<(RequestId, Vec<HunkId>)> = {
            let database = lock(&self.database);
            let open = database.shelves[&document].disk.requests.values().filter(|it| it.open);
            let hunks = |request: ApprovalRequest| {
                request
                    .hunks
                    .iter()
                    .filter(|it| it.status.is_open())
                    .map(|it| it.id.clone())
                    .collect()
            };
            open.map(|it| (it.id.clone(), hunks(stored_request(it).finish()))).collect()
        };
        if requests.is_empty() {
            return;
        }
        let (request, hunks) = requests[self.random.usize(..requests.len())].clone();
        if hunks.is_empty() {
            return;
        }
        let hunk = hunks[self.random.usize(..hunks.len())].clone();
        let rivals = [1, 1, 2, 3][self.random.usize(..4)];
        if rivals > 1 {
            self.count("rivals");
        }
        for _ in 0..rivals {
            let Some(server) = self.some_server() else { return };
            let is_yes = self.random.u8(..3) > 0;
            let verdict = if is_yes { RequestVerdict::Approve } else { RequestVerdict::Reject };
            let mut decision = Decision::plain(verdict);
            let note = format!("#{}", self.sent.len());
            decision.note = Some(note.clone());
            if self.random.u8(..4) > 0 {
                let choice = if is_yes { HunkChoice::Accept } else { HunkChoice::Reject };
                decision.hunks = Some(vec![HunkVerdict::plain(hunk.clone(), choice)]);
            }
            let (answers, at) = (self.answers.0.clone(), self.sent.len());
            self.sent.push(Sent { document: document.clone(), note, fate: Fate::Unknown });
            let reply = ReplySender::new(move |result| {
                answers.send(Answer::Decided(at, result)).ok();
            });
            let by = chance::person(PEOPLE[self.random.usize(..4)]);
            let command = RequestCommand::Decide(Box::new(decision), by);
            let command = RoomCommand::About(request.clone(), command, reply);
            self.orders(server.number(), &document, command, Version(u64::MAX));
        }
        self.count("decided");
    }

    /// A server tells the others something that counts once.
    fn tells(&mut self) {
        let Some(server) = self.some_server() else { return };
        self.news += 1;
        let news = NodeNews::Cancel(format!("ses_{}", self.news).into());
        let node = Arc::clone(&server.node);
        server.does(async move { node.tell(&news).await });
    }

    // What must hold.

    fn takes_stock(&mut self) -> Held {
        enter(&mut self.seats.borrow_mut(), &self.entries.1);
        let answers: Vec<_> = self.answers.1.try_iter().collect();
        for answer in answers {
            self.is_answered(answer)?;
        }
        if let Some(broken) = lock(&self.database).broken.take() {
            return Err(broken);
        }
        self.ends_lines();
        for at in 0..self.people {
            if self.random.bool() {
                self.hears(at)?;
            }
        }
        let removed: Vec<_> = {
            let (servers, database) = (self.servers.borrow(), lock(&self.database));
            servers.values().filter(|it| !database.is_member(it.number())).cloned().collect()
        };
        for server in removed {
            let is_new = *server.heard.borrow_mut().entry("removed".to_owned()).or_default() == 0;
            server.heard.borrow_mut().insert("removed".to_owned(), 1);
            if is_new {
                self.count("a server was removed");
            }
        }
        for server in self.servers.borrow().values() {
            let heard = server.heard.borrow();
            let twice = heard.iter().find(|(_, times)| **times > 1);
            must(NothingIsTakenTwice, twice.is_none(), || format!("heard was {twice:?}"))?;
        }
        Ok(())
    }

    fn hears(&mut self, at: usize) -> Held {
        let seat = &mut self.seats.borrow_mut()[at];
        let database = lock(&self.database);
        let ledger = &database.shelves[&seat.document].ledger;
        while seat.editor.hears(ledger)? {}
        Ok(())
    }

    fn is_answered(&mut self, answer: Answer) -> Held {
        match answer {
            Answer::Pushed(at, member, made, result) => {
                let seat = &mut self.seats.borrow_mut()[at];
                if seat.editor.line.as_ref().is_some_and(|line| line.member == member) {
                    seat.editor.waits = false;
                }
                let database = lock(&self.database);
                let committed =
                    database.shelves[&seat.document].ledger.committed(&seat.editor.client);
                must(AcknowledgedMeansDurable, result.is_err() || committed >= made, || {
                    format!("{made} updates were acknowledged, {committed} are in the log")
                })
            }
            Answer::Decided(at, result) => {
                let fate = match &result {
                    Ok(_) => Fate::Acknowledged,
                    Err(RoomError::Closed) => Fate::Unknown,
                    Err(RoomError::Store(error))
                        if matches!(**error, StoreError::OutcomeUnknown { .. }) =>
                    {
                        Fate::Unknown
                    }
                    Err(error) => {
                        if matches!(error, RoomError::Store(_)) {
                            self.count("not stored");
                        }
                        Fate::Refused
                    }
                };
                self.sent[at].fate = fate;
                self.count(match fate {
                    Fate::Acknowledged => "acknowledged",
                    Fate::Refused => "refused",
                    Fate::Unknown => "nobody knows",
                });
                self.is_as_was_said(at)
            }
        }
    }

    fn is_as_was_said(&self, at: usize) -> Held {
        let Sent { document, note, fate } = &self.sent[at];
        let database = lock(&self.database);
        let taken = database.shelves[document].notes.get(note).copied().unwrap_or_default();
        match fate {
            Fate::Acknowledged => must(AcknowledgedMeansDurable, taken == 1, || {
                format!("decision {note} was acknowledged, and is on record {taken} times")
            }),
            Fate::Refused => must(RefusedIsNotDone, taken == 0, || {
                format!("decision {note} was refused, and is on record {taken} times")
            }),
            Fate::Unknown => Ok(()),
        }
    }

    /// Everything is well again: everybody comes back, sends what is left and hears everything.
    async fn comes_together(&mut self) -> Held {
        self.heals();
        let mut missing = None;
        for round in 0..ROUNDS {
            while self.servers.borrow().len() < 2 {
                self.joins();
            }
            for at in 0..self.people {
                let is_here = self.seats.borrow()[at].editor.line.is_some();
                if is_here { self.sends(at) } else { self.comes_back(at) }
            }
            sleep(ROUND).await;
            self.takes_stock()?;
            for at in 0..self.people {
                self.hears(at)?;
            }
            missing = self.is_together().err();
            // A while longer, for what may come late.
            if missing.is_none() && round > 2 {
                break;
            }
        }
        if let Some(missing) = missing {
            return Err(missing);
        }
        (0..self.sent.len()).try_for_each(|at| self.is_as_was_said(at))?;
        let database = lock(&self.database);
        for shelf in database.shelves.values() {
            shelf.ledger.settle()?;
            shelf.disk.check(|version| shelf.ledger.text(version).clone());
        }
        Ok(())
    }

    fn is_together(&self) -> Held {
        let database = lock(&self.database);
        for seat in self.seats.borrow().iter() {
            let stored = &database.shelves[&seat.document];
            must(EverybodyIsServedAgain, seat.editor.is_here(), || {
                format!("{} is not let in by {}", seat.editor.client, seat.via)
            })?;
            seat.editor.agrees(&stored.ledger)?;
            let room = stored.disk.room();
            let room = room.map_err(|error| {
                crate::rules::Broken(EverybodyIsServedAgain, format!("{error:?}"))
            })?;
            seat.editor.shown.agrees(room.open())?;
        }
        for server in self.servers.borrow().values() {
            let known = server.known_settings.get();
            must(MessagesArrive, known == database.settings, || {
                format!("server {} knows {known}, not {}", server.number(), database.settings)
            })?;
        }
        Ok(())
    }
}
