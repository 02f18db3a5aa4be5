//! The database that the servers share: rows of nodes, leases, messages, the sessions that write,
//! and the documents. What is committed here is held against the rules.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use copydesk::approvals::HunkStatus;
use copydesk::ids::{DocumentId, HunkId, Version};
use copydesk::store::node_tables::{LeaseRow, NodeRow, StoredMessage};
use copydesk::store::{StoreOp, WriteBatch};
use fastrand::Rng;
use tokio::sync::{Notify, mpsc};
use tokio::time::Instant;

use super::mutations::Wrong;
use crate::disk::{Disk, stored_request};
use crate::ledger::Ledger;
use crate::rules::Rule::{DecisionsStay, NobodyIsRemovedAlive, NothingIsTakenTwice, OneNodeWrites};
use crate::rules::{Broken, Held, must};

/// A node is removed after so much silence at least: three seconds as others saw it, but for the
/// time that a sign of life and a look take.
const SILENCE: Duration = Duration::from_millis(1_500);
/// Looks of the one who removes it that found no sign of life, at least.
const LOOKS: u32 = 4;
/// Messages of so late are lost with the database.
const UNSYNCED: Duration = Duration::from_millis(600);

/// A document, and what is known about it beside the server.
pub struct Shelf {
    pub disk: Disk,
    pub ledger: Ledger,
    /// What each hunk was decided to be.
    decided: BTreeMap<HunkId, String>,
    /// How often each decision is on record, by the note it carries.
    pub notes: BTreeMap<String, usize>,
}

struct NodeState {
    url: String,
    transactions: u64,
    beat: i64,
    beaten: Instant,
}

/// A session in which a server writes.
struct Session {
    node: i64,
    is_ended: bool,
    /// It ends as soon as it has committed.
    is_closed: bool,
    /// The transaction in progress has the lock of all that write.
    transaction: Option<Transaction>,
    /// Counts what is asked of it.
    stamp: u64,
}

#[derive(Default)]
struct Transaction {
    staged: Option<(DocumentId, WriteBatch)>,
    is_committing: bool,
}

/// What a statement of a session came to.
#[derive(Debug, PartialEq, Eq)]
pub enum Said<T> {
    Done(T),
    /// The session has ended.
    Reset,
    /// Somebody else has to be done first.
    Wait,
}

pub struct Database {
    nodes: BTreeMap<i64, NodeState>,
    next_node: i64,
    /// Transactions of nodes that were removed.
    past: BTreeMap<i64, u64>,
    leases: BTreeMap<String, (i64, i64)>,
    next_term: i64,
    messages: Vec<(Instant, StoredMessage)>,
    pub listeners: Vec<mpsc::UnboundedSender<String>>,
    sessions: BTreeMap<u64, Session>,
    writing: Option<u64>,
    pub shelves: BTreeMap<DocumentId, Shelf>,
    /// Version of the settings.
    pub settings: u64,
    pub is_down: bool,
    /// How often it was away.
    pub epoch: u64,
    /// Statements that arrived.
    pub operations: u64,
    /// Whether servers may end each other's sessions, which not every user may.
    may_terminate: bool,
    pub random: Rng,
    pub changed: Arc<Notify>,
    pub wrong: Option<Wrong>,
    /// The first rule that was broken.
    pub broken: Option<Broken>,
    /// The sign of life that one node saw last of another, and how often since then.
    looks: BTreeMap<(i64, i64), (i64, u32)>,
}

pub type SharedDatabase = Arc<Mutex<Database>>;

impl Database {
    pub fn new(texts: &[(DocumentId, &str)], mut random: Rng, wrong: Option<Wrong>) -> Self {
        let shelf = |(id, text): &(DocumentId, &str)| {
            let (disk, ledger) = (Disk::of(id.clone(), text), Ledger::new(text));
            let (decided, notes) = (BTreeMap::new(), BTreeMap::new());
            (id.clone(), Shelf { disk, ledger, decided, notes })
        };
        Self {
            nodes: BTreeMap::new(),
            next_node: 1,
            past: BTreeMap::new(),
            leases: BTreeMap::new(),
            next_term: 1,
            messages: Vec::new(),
            listeners: Vec::new(),
            sessions: BTreeMap::new(),
            writing: None,
            shelves: texts.iter().map(shelf).collect(),
            settings: 0,
            is_down: false,
            epoch: 0,
            operations: 0,
            may_terminate: random.bool(),
            random,
            changed: Arc::default(),
            wrong,
            broken: None,
            looks: BTreeMap::new(),
        }
    }

    pub fn hold(&mut self, held: Held) {
        if let Err(broken) = held {
            self.broken.get_or_insert(broken);
        }
    }

    fn is(&self, wrong: Wrong) -> bool {
        self.wrong == Some(wrong)
    }

    // Nodes.

    pub fn join(&mut self) -> i64 {
        let number = self.next_node;
        self.next_node += 1;
        let now = Instant::now();
        let url = format!("http://{number}");
        let state = NodeState { url, transactions: 0, beat: 0, beaten: now };
        self.nodes.insert(number, state);
        number
    }

    pub fn is_member(&self, node: i64) -> bool {
        self.nodes.contains_key(&node)
    }

    pub fn beat(&mut self, node: i64) -> bool {
        if self.is(Wrong::RemovedRowComesBack) && !self.nodes.contains_key(&node) {
            self.beat_anew(node);
        }
        let Some(state) = self.nodes.get_mut(&node) else { return false };
        state.beat += 1 + self.random.i64(0..1_000_000);
        state.beaten = Instant::now();
        true
    }

    /// A node that was removed has a row again.
    pub fn beat_anew(&mut self, node: i64) {
        let transactions = self.past.get(&node).copied().unwrap_or_default();
        let (url, beaten) = (format!("http://{node}"), Instant::now());
        self.nodes.insert(node, NodeState { url, transactions, beat: 0, beaten });
    }

    pub fn others(&mut self, node: i64) -> Vec<NodeRow> {
        let others = self.nodes.iter().filter(|(number, _)| **number != node);
        let row = |(number, state): (&i64, &NodeState)| NodeRow {
            number: *number,
            url: state.url.clone(),
            beat: state.beat,
        };
        let others: Vec<_> = others.map(row).collect();
        for other in &others {
            let look = self.looks.entry((node, other.number)).or_insert((other.beat, 0));
            *look = if look.0 == other.beat { (look.0, look.1 + 1) } else { (other.beat, 1) };
        }
        others
    }

    /// Whether the session in which a node writes has ended.
    pub fn is_unlocked(&self, node: i64) -> bool {
        !self.sessions.values().any(|session| session.node == node && !session.is_ended)
    }

    /// Ends the sessions of a node, but for a commit under way, if its user has the right to.
    pub fn terminate(&mut self, node: i64) {
        if self.may_terminate {
            self.end_sessions(node);
        }
    }

    /// The database misses the sessions of a node.
    pub fn end_sessions(&mut self, node: i64) {
        let of_node = self.sessions.iter().filter(|(_, session)| session.node == node);
        let sessions: Vec<u64> = of_node.map(|(id, _)| *id).collect();
        for session in sessions {
            self.end_session(session);
        }
    }

    /// Removes a node and its leases if it gave no sign of life since `beat`.
    pub fn remove(&mut self, by: i64, node: i64, beat: i64) -> Said<bool> {
        // Its transaction has locked the row.
        let writes = |session: &Session| session.node == node && session.transaction.is_some();
        if self.sessions.values().any(writes) && !self.is(Wrong::RemovalDoesNotWait) {
            return Said::Wait;
        }
        let Some(state) = self.nodes.get(&node) else { return Said::Done(false) };
        if state.beat != beat && !self.is(Wrong::BeatIsNotCompared) {
            return Said::Done(false);
        }
        let silent = state.beaten.elapsed();
        self.hold(must(NobodyIsRemovedAlive, silent >= SILENCE, || {
            format!("node {node} was removed after a silence of {silent:?}")
        }));
        let looks = self.looks.get(&(by, node)).map_or(0, |look| look.1);
        self.hold(must(NobodyIsRemovedAlive, looks >= LOOKS, || {
            format!("node {by} removed {node} after {looks} looks that found no sign of life")
        }));
        self.forget_node(node);
        Said::Done(true)
    }

    fn forget_node(&mut self, node: i64) {
        if let Some(state) = self.nodes.remove(&node) {
            self.past.insert(node, state.transactions);
        }
        if !self.is(Wrong::LeasesOutliveTheirNode) {
            self.leases.retain(|_, (holder, _)| *holder != node);
        }
    }

    /// A node leaves in good order.
    pub fn leave(&mut self, node: i64) {
        self.forget_node(node);
    }

    // Leases.

    pub fn lease(&mut self, node: i64, name: &str) -> Option<LeaseRow> {
        let found = self.leases.get(name).copied();
        if let Some((holder, term)) = found.filter(|(holder, _)| *holder != node)
            && !self.is(Wrong::LeaseIsTakenAway)
        {
            let url = self.nodes.get(&holder).map(|state| state.url.clone()).unwrap_or_default();
            return Some(LeaseRow { node: holder, url, term });
        }
        if !self.nodes.contains_key(&node) {
            return None;
        }
        let term = self.next_term;
        self.next_term += 1;
        self.leases.insert(name.to_owned(), (node, term));
        Some(LeaseRow { node, url: String::new(), term })
    }

    pub fn holder(&self, name: &str) -> Option<i64> {
        self.leases.get(name).map(|(holder, _)| *holder)
    }

    pub fn url(&self, node: i64) -> String {
        self.nodes.get(&node).map(|state| state.url.clone()).unwrap_or_default()
    }

    pub fn release(&mut self, node: i64, name: &str, term: i64) {
        let any_term = self.is(Wrong::ReleaseEndsAnyTerm);
        let ends = |lease: &(i64, i64)| lease.0 == node && (any_term || lease.1 == term);
        if self.leases.get(name).is_some_and(ends) {
            self.leases.remove(name);
        }
    }

    pub fn release_all(&mut self, node: i64) {
        self.leases.retain(|_, (holder, _)| *holder != node);
    }

    pub fn leased(&self, node: i64) -> usize {
        self.leases.values().filter(|(holder, _)| *holder == node).count()
    }

    // Messages.

    pub fn store_messages(&mut self, node: i64, messages: &[(i64, String)]) {
        for (number, message) in messages {
            let is_known = |(_, known): &(Instant, StoredMessage)| {
                known.node == node && known.number == *number
            };
            if !self.messages.iter().any(is_known) {
                let stored = StoredMessage { node, number: *number, message: message.clone() };
                self.messages.push((Instant::now(), stored));
            }
        }
    }

    pub fn messages_after(&self, node: i64, read: &[(i64, i64)]) -> Vec<StoredMessage> {
        if self.is(Wrong::MessagesAreOnlyCarried) {
            return Vec::new();
        }
        let read: BTreeMap<i64, i64> = read.iter().copied().collect();
        let new = |it: &&(Instant, StoredMessage)| {
            it.1.node != node && it.1.number > read.get(&it.1.node).copied().unwrap_or(0)
        };
        let copy = |(_, it): &(Instant, StoredMessage)| StoredMessage {
            node: it.node,
            number: it.number,
            message: it.message.clone(),
        };
        let mut messages: Vec<_> = self.messages.iter().filter(new).map(copy).collect();
        messages.sort_by_key(|it| (it.node, it.number));
        messages
    }

    pub fn forget_messages(&mut self, older_than: Duration) {
        self.messages.retain(|(told, _)| told.elapsed() <= older_than);
    }

    // Sessions that write.

    /// Opens a session of a node once the one before has ended; the number of its transactions, or
    /// `None` if it was removed.
    pub fn open_session(&mut self, node: i64) -> Said<Option<(u64, u64, i64)>> {
        if !self.is_unlocked(node) && !self.is(Wrong::SessionsOverlap) {
            return Said::Wait;
        }
        let Some(state) = self.nodes.get(&node) else { return Said::Done(None) };
        let transactions = state.transactions;
        let id = self.sessions.keys().next_back().map_or(1, |last| last + 1);
        let session =
            Session { node, is_ended: false, is_closed: false, transaction: None, stamp: 0 };
        self.sessions.insert(id, session);
        Said::Done(Some((id, transactions, node)))
    }

    /// Whether a session can be asked something, which it then is.
    fn ask(&mut self, session: u64) -> Option<&mut Session> {
        let found = self.sessions.get_mut(&session).filter(|session| !session.is_ended)?;
        found.stamp += 1;
        Some(found)
    }

    pub fn ping(&mut self, session: u64) -> bool {
        self.ask(session).is_some()
    }

    /// Begins the next transaction of a node; `false` if it may not write any more.
    pub fn begin(&mut self, session: u64, transactions: u64) -> Said<bool> {
        let Some(node) = self.ask(session).map(|session| session.node) else {
            return Said::Reset;
        };
        if self.writing.is_some() {
            return Said::Wait;
        }
        let counted = self.nodes.get(&node).map(|state| state.transactions);
        if counted != Some(transactions) && !self.is(Wrong::TermIsNotChecked) {
            return Said::Done(false);
        }
        self.writing = Some(session);
        if let Some(session) = self.sessions.get_mut(&session) {
            session.transaction = Some(Transaction::default());
        }
        Said::Done(true)
    }

    /// The version that a batch does not lead on from; nothing is left of the transaction then.
    pub fn stage(
        &mut self,
        session: u64,
        document: &DocumentId,
        batch: WriteBatch,
    ) -> Said<Result<(), (Version, Version)>> {
        if self.ask(session).is_none() {
            return Said::Reset;
        }
        let mut found = self.shelves[document].disk.version();
        for op in batch.ops() {
            if let StoreOp::AppendUpdates { from, updates, .. } = op {
                if *from != found {
                    let expected = *from;
                    self.roll_back(session);
                    return Said::Done(Err((expected, found)));
                }
                found = Version(found.0 + updates.len() as u64);
            }
        }
        let transaction = self.sessions.get_mut(&session).and_then(|it| it.transaction.as_mut());
        let Some(transaction) = transaction else { return Said::Reset };
        transaction.staged = Some((document.clone(), batch));
        Said::Done(Ok(()))
    }

    /// Begins to commit: from now on it is, but for a crash of the database.
    pub fn begin_commit(&mut self, session: u64) -> bool {
        let Some(session) = self.ask(session) else { return false };
        let Some(transaction) = &mut session.transaction else { return false };
        transaction.is_committing = true;
        true
    }

    /// The commit is on the disk.
    pub fn commit(&mut self, session: u64) {
        let Some(state) = self.sessions.get_mut(&session) else { return };
        let (node, transaction) = (state.node, state.transaction.take());
        state.is_ended |= state.is_closed;
        if let Some(node) = self.nodes.get_mut(&node) {
            node.transactions += 1;
        }
        self.writing = None;
        if let Some((document, batch)) = transaction.and_then(|it| it.staged) {
            let held = self.keep(node, &document, &batch);
            self.hold(held);
        }
        self.changed.notify_waiters();
    }

    fn roll_back(&mut self, session: u64) {
        if self.writing == Some(session) {
            self.writing = None;
        }
        if let Some(session) = self.sessions.get_mut(&session) {
            session.transaction = None;
        }
        self.changed.notify_waiters();
    }

    /// The session ends, and with it what it had not begun to commit.
    pub fn end_session(&mut self, session: u64) {
        let Some(state) = self.sessions.get_mut(&session) else { return };
        if state.transaction.as_ref().is_some_and(|it| it.is_committing) {
            state.is_closed = true;
            return;
        }
        state.is_ended = true;
        self.roll_back(session);
    }

    /// What is asked of a session that has been left alone for long, or was closed.
    pub fn end_if_left_alone(&mut self, session: u64, stamp: u64) {
        let left = |it: &Session| it.stamp == stamp && it.transaction.is_some();
        if self.sessions.get(&session).is_some_and(left) {
            self.end_session(session);
        }
    }

    pub fn stamp(&self, session: u64) -> u64 {
        self.sessions.get(&session).map_or(0, |session| session.stamp)
    }

    /// All of its processes end at once. Commits under way are on the disk, or not.
    pub fn goes_down(&mut self) {
        self.is_down = true;
        self.epoch += 1;
        let sessions: Vec<u64> = self.sessions.keys().copied().collect();
        for session in sessions {
            let is_committing = |it: &Session| {
                it.transaction.as_ref().is_some_and(|transaction| transaction.is_committing)
            };
            if self.sessions.get(&session).is_some_and(is_committing) && self.random.bool() {
                self.commit(session);
            }
            if let Some(state) = self.sessions.get_mut(&session) {
                state.transaction = None;
                state.is_ended = true;
            }
        }
        self.writing = None;
        self.listeners.clear();
        let some = self.random.u64(..=UNSYNCED.as_millis() as u64);
        self.messages.retain(|(told, _)| told.elapsed() > Duration::from_millis(some));
        for state in self.nodes.values_mut() {
            state.beat -= self.random.i64(0..2);
        }
        self.changed.notify_waiters();
    }

    pub fn comes_back(&mut self) {
        self.is_down = false;
    }

    // Documents.

    /// Keeps a batch, and holds it against the rules.
    fn keep(&mut self, node: i64, document: &DocumentId, batch: &WriteBatch) -> Held {
        let holder = self.holder(&format!("document/{document}"));
        must(OneNodeWrites, holder == Some(node), || {
            format!("node {node} wrote {document}, which {holder:?} has")
        })?;
        let stored = self.shelves.get_mut(document).unwrap();
        let known = stored.disk.version();
        stored.disk.keep(batch.ops().iter());
        for update in stored.disk.older(known, stored.disk.version()) {
            stored.ledger.follow(&update)?;
        }
        let mut touched = BTreeSet::new();
        for op in batch.ops() {
            match op {
                StoreOp::PutRequest(record) => drop(touched.insert(record.id.clone())),
                StoreOp::PutRequestParts { request, .. } => drop(touched.insert(request.clone())),
                StoreOp::AppendDecision(record) => {
                    let Some(words) = record.body["note"].as_str() else { continue };
                    let taken = stored.notes.entry(words.to_owned()).or_default();
                    *taken += 1;
                    must(NothingIsTakenTwice, *taken == 1, || {
                        format!("decision {words} was taken {taken} times")
                    })?;
                }
                _ => {}
            }
        }
        for id in touched {
            let request = stored_request(&stored.disk.requests[&id]).finish();
            for hunk in &request.hunks {
                let is_decided = matches!(
                    hunk.status,
                    HunkStatus::Accepted | HunkStatus::Rejected | HunkStatus::Expired
                );
                let now = format!("{:?} {:?}", hunk.status, hunk.decided);
                match stored.decided.get(&hunk.id) {
                    Some(then) => must(DecisionsStay, *then == now, || {
                        format!("{} was {then}, now it is {now}", hunk.id)
                    })?,
                    None if is_decided => drop(stored.decided.insert(hunk.id.clone(), now)),
                    None => {}
                }
            }
        }
        Ok(())
    }
}
