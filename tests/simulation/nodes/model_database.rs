//! A model of the database that the nodes share: rows of nodes, leases, messages, sessions that
//! write, and documents. What is committed is checked against the invariants.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use copydesk_ids::{DocumentId, Version};
use copydesk_rooms::RoomError;
use copydesk_rooms::simulated_room::SimulatedRoom;
use copydesk_store::node_tables::{LeaseRow, NodeRow, StoredMessage};
use copydesk_store::{StoreOp, WriteBatch};
use fastrand::Rng;
use parking_lot::Mutex;
use tokio::sync::{Notify, mpsc};
use tokio::time::Instant;

use super::database_document::DatabaseDocument;
use super::node_mutations::NodeMutation;
use crate::invariants::Invariant::{LiveNodeIsNotRemoved, OneNodeWritesDocument};
use crate::invariants::{CheckResult, InvariantViolation, ensure};

/// Shortest silence after which a node is removed: three seconds for the others, less the time that
/// a heartbeat and an observation take.
const MIN_SILENCE: Duration = Duration::from_millis(1_500);
/// Smallest number of observations without a heartbeat by the node that removes another.
const MIN_OBSERVATIONS: u32 = 4;
/// Age up to which messages may be lost when the database crashes.
const MAX_UNSYNCED: Duration = Duration::from_millis(600);

/// The row of a node.
struct ModelNode {
    url: String,
    transactions: u64,
    beat: i64,
    last_heartbeat: Instant,
}

/// A session in which a node writes.
struct ModelSession {
    node: i64,
    is_ended: bool,
    /// It ends after the commit in progress.
    is_closed: bool,
    /// The transaction in progress, which holds the lock of all writers.
    transaction: Option<ModelTransaction>,
    /// Number of statements in the session.
    activity: u64,
}

/// A transaction in progress.
#[derive(Default)]
struct ModelTransaction {
    staged: Option<(DocumentId, WriteBatch)>,
    is_committing: bool,
}

/// The outcome of a statement in a session.
#[derive(Debug, PartialEq, Eq)]
pub enum StatementOutcome<T> {
    Done(T),
    /// The session has ended.
    SessionEnded,
    /// Another transaction has to end first.
    Blocked,
}

/// A model of the shared database.
pub struct ModelDatabase {
    nodes: BTreeMap<i64, ModelNode>,
    next_node: i64,
    /// Number of transactions of each removed node.
    removed_nodes: BTreeMap<i64, u64>,
    leases: BTreeMap<String, (i64, i64)>,
    next_term: i64,
    messages: Vec<(Instant, StoredMessage)>,
    pub listeners: Vec<mpsc::UnboundedSender<String>>,
    sessions: BTreeMap<u64, ModelSession>,
    writing_session: Option<u64>,
    pub documents: BTreeMap<DocumentId, DatabaseDocument>,
    /// The version of the settings.
    pub settings: u64,
    pub is_down: bool,
    /// Number of crashes.
    pub crash_count: u64,
    /// Number of statements that arrived.
    pub operations: u64,
    /// Nodes may end each other's sessions, which not every user may.
    can_terminate_sessions: bool,
    pub random: Rng,
    pub changed: Arc<Notify>,
    pub mutation: Option<NodeMutation>,
    /// The first violation of an invariant.
    pub violation: Option<InvariantViolation>,
    /// The last heartbeat that one node observed of another, and how often since then.
    observations: BTreeMap<(i64, i64), (i64, u32)>,
}

/// The database, shared by all nodes.
pub type SharedModelDatabase = Arc<Mutex<ModelDatabase>>;

impl ModelDatabase {
    pub fn new(
        texts: &[(DocumentId, &str)],
        mut random: Rng,
        mutation: Option<NodeMutation>,
    ) -> Self {
        let document =
            |(id, text): &(DocumentId, &str)| (id.clone(), DatabaseDocument::new(id.clone(), text));
        Self {
            nodes: BTreeMap::new(),
            next_node: 1,
            removed_nodes: BTreeMap::new(),
            leases: BTreeMap::new(),
            next_term: 1,
            messages: Vec::new(),
            listeners: Vec::new(),
            sessions: BTreeMap::new(),
            writing_session: None,
            documents: texts.iter().map(document).collect(),
            settings: 0,
            is_down: false,
            crash_count: 0,
            operations: 0,
            can_terminate_sessions: random.bool(),
            random,
            changed: Arc::default(),
            mutation,
            violation: None,
            observations: BTreeMap::new(),
        }
    }

    pub fn record_violation(&mut self, result: CheckResult) {
        if let Err(violation) = result {
            self.violation.get_or_insert(violation);
        }
    }

    fn has_mutation(&self, mutation: NodeMutation) -> bool {
        self.mutation == Some(mutation)
    }

    // Nodes.

    pub fn join(&mut self) -> i64 {
        let number = self.next_node;
        self.next_node += 1;
        let now = Instant::now();
        let url = format!("http://{number}");
        let state = ModelNode { url, transactions: 0, beat: 0, last_heartbeat: now };
        self.nodes.insert(number, state);
        number
    }

    pub fn is_member(&self, node: i64) -> bool {
        self.nodes.contains_key(&node)
    }

    pub fn beat(&mut self, node: i64) -> bool {
        if self.has_mutation(NodeMutation::HeartbeatRestoresRemovedRow)
            && !self.nodes.contains_key(&node)
        {
            self.restore_row(node);
        }
        let Some(state) = self.nodes.get_mut(&node) else { return false };
        state.beat += 1 + self.random.i64(0..1_000_000);
        state.last_heartbeat = Instant::now();
        true
    }

    /// Restores the row of a removed node.
    pub fn restore_row(&mut self, node: i64) {
        let transactions = self.removed_nodes.get(&node).copied().unwrap_or_default();
        let (url, last_heartbeat) = (format!("http://{node}"), Instant::now());
        self.nodes.insert(node, ModelNode { url, transactions, beat: 0, last_heartbeat });
    }

    pub fn others(&mut self, node: i64) -> Vec<NodeRow> {
        let others = self.nodes.iter().filter(|(number, _)| **number != node);
        let row = |(number, state): (&i64, &ModelNode)| NodeRow {
            number: *number,
            url: state.url.clone(),
            beat: state.beat,
        };
        let others: Vec<_> = others.map(row).collect();
        for other in &others {
            let observation =
                self.observations.entry((node, other.number)).or_insert((other.beat, 0));
            *observation = if observation.0 == other.beat {
                (observation.0, observation.1 + 1)
            } else {
                (other.beat, 1)
            };
        }
        others
    }

    /// Returns whether the session in which a node writes has ended.
    pub fn is_unlocked(&self, node: i64) -> bool {
        !self.sessions.values().any(|session| session.node == node && !session.is_ended)
    }

    /// Ends the sessions of a node after any commit in progress, if the user has the right.
    pub fn terminate(&mut self, node: i64) {
        if self.can_terminate_sessions {
            self.end_sessions(node);
        }
    }

    /// Ends the sessions of a node whose connections are lost.
    pub fn end_sessions(&mut self, node: i64) {
        let of_node = self.sessions.iter().filter(|(_, session)| session.node == node);
        let sessions: Vec<u64> = of_node.map(|(id, _)| *id).collect();
        for session in sessions {
            self.end_session(session);
        }
    }

    /// Removes a node and its leases if it sent no heartbeat since `beat`.
    pub fn remove(&mut self, by: i64, node: i64, beat: i64) -> StatementOutcome<bool> {
        if self.is_writing(node) && !self.has_mutation(NodeMutation::RemovalIgnoresCommit) {
            return StatementOutcome::Blocked;
        }
        let Some(state) = self.nodes.get(&node) else { return StatementOutcome::Done(false) };
        if state.beat != beat && !self.has_mutation(NodeMutation::HeartbeatNotCompared) {
            return StatementOutcome::Done(false);
        }
        let silent = state.last_heartbeat.elapsed();
        self.record_violation(ensure(LiveNodeIsNotRemoved, silent >= MIN_SILENCE, || {
            format!("node {node} was removed after a silence of {silent:?}")
        }));
        let observations =
            self.observations.get(&(by, node)).map_or(0, |observation| observation.1);
        self.record_violation(ensure(
            LiveNodeIsNotRemoved,
            observations >= MIN_OBSERVATIONS,
            || {
                format!(
                    "node {by} removed {node} after {observations} observations without a heartbeat"
                )
            },
        ));
        self.forget_node(node);
        StatementOutcome::Done(true)
    }

    fn forget_node(&mut self, node: i64) {
        if let Some(state) = self.nodes.remove(&node) {
            self.removed_nodes.insert(node, state.transactions);
        }
        if !self.has_mutation(NodeMutation::LeasesOutliveNode) {
            self.leases.retain(|_, (holder, _)| *holder != node);
        }
    }

    /// Removes a node that shuts down.
    pub fn leave(&mut self, node: i64) -> StatementOutcome<()> {
        if self.is_writing(node) {
            return StatementOutcome::Blocked;
        }
        self.forget_node(node);
        StatementOutcome::Done(())
    }

    /// Returns whether a transaction of a node has locked its row.
    fn is_writing(&self, node: i64) -> bool {
        let mut sessions = self.sessions.values();
        sessions.any(|session| session.node == node && session.transaction.is_some())
    }

    // Leases.

    pub fn lease(&mut self, node: i64, name: &str) -> Option<LeaseRow> {
        let found = self.leases.get(name).copied();
        if let Some((holder, term)) = found.filter(|(holder, _)| *holder != node)
            && !self.has_mutation(NodeMutation::LeaseIsStolen)
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
        let any_term = self.has_mutation(NodeMutation::ReleaseIgnoresTerm);
        let ends = |lease: &(i64, i64)| lease.0 == node && (any_term || lease.1 == term);
        if self.leases.get(name).is_some_and(ends) {
            self.leases.remove(name);
        }
    }

    pub fn release_all(&mut self, node: i64) {
        self.leases.retain(|_, (holder, _)| *holder != node);
    }

    pub fn lease_count(&self, node: i64) -> usize {
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
        if self.has_mutation(NodeMutation::StoredMessagesNotRead) {
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
        self.messages.retain(|(stored_at, _)| stored_at.elapsed() <= older_than);
    }

    // Sessions that write.

    /// Opens a session of a node once the previous one has ended. Returns its identifier and the
    /// number of the node's transactions, or `None` if the node was removed.
    pub fn open_session(&mut self, node: i64) -> StatementOutcome<Option<(u64, u64, i64)>> {
        if !self.is_unlocked(node) && !self.has_mutation(NodeMutation::SessionsOverlap) {
            return StatementOutcome::Blocked;
        }
        let Some(state) = self.nodes.get(&node) else { return StatementOutcome::Done(None) };
        let transactions = state.transactions;
        let id = self.sessions.keys().next_back().map_or(1, |last| last + 1);
        let session = ModelSession {
            node,
            is_ended: false,
            is_closed: false,
            transaction: None,
            activity: 0,
        };
        self.sessions.insert(id, session);
        StatementOutcome::Done(Some((id, transactions, node)))
    }

    /// Returns the session if it has not ended, and counts the statement.
    fn touch_session(&mut self, session: u64) -> Option<&mut ModelSession> {
        let found = self.sessions.get_mut(&session).filter(|session| !session.is_ended)?;
        found.activity += 1;
        Some(found)
    }

    pub fn ping(&mut self, session: u64) -> bool {
        self.touch_session(session).is_some()
    }

    /// Begins the next transaction of a node. Returns `false` if it may not write any more.
    pub fn begin(&mut self, session: u64, transactions: u64) -> StatementOutcome<bool> {
        let Some(node) = self.touch_session(session).map(|session| session.node) else {
            return StatementOutcome::SessionEnded;
        };
        if self.writing_session.is_some() {
            return StatementOutcome::Blocked;
        }
        let counted = self.nodes.get(&node).map(|state| state.transactions);
        if counted != Some(transactions) {
            return StatementOutcome::Done(false);
        }
        self.writing_session = Some(session);
        if let Some(session) = self.sessions.get_mut(&session) {
            session.transaction = Some(ModelTransaction::default());
        }
        StatementOutcome::Done(true)
    }

    /// Stages a batch. If it does not continue the document's version, returns the expected and the
    /// found version, and rolls the transaction back.
    pub fn stage(
        &mut self,
        session: u64,
        document: &DocumentId,
        batch: WriteBatch,
    ) -> StatementOutcome<Result<(), (Version, Version)>> {
        if self.touch_session(session).is_none() {
            return StatementOutcome::SessionEnded;
        }
        let mut found = self.documents[document].store.version();
        for op in batch.ops() {
            if let StoreOp::AppendUpdates { from, updates, .. } = op {
                if *from != found {
                    let expected = *from;
                    self.roll_back(session);
                    return StatementOutcome::Done(Err((expected, found)));
                }
                found = Version(found.0 + updates.len() as u64);
            }
        }
        let transaction = self.sessions.get_mut(&session).and_then(|it| it.transaction.as_mut());
        let Some(transaction) = transaction else { return StatementOutcome::SessionEnded };
        transaction.staged = Some((document.clone(), batch));
        StatementOutcome::Done(Ok(()))
    }

    /// Begins a commit. From now on only a crash of the database can undo it.
    pub fn begin_commit(&mut self, session: u64) -> bool {
        let Some(session) = self.touch_session(session) else { return false };
        let Some(transaction) = &mut session.transaction else { return false };
        transaction.is_committing = true;
        true
    }

    /// Completes a commit.
    pub fn commit(&mut self, session: u64) {
        let Some(state) = self.sessions.get_mut(&session) else { return };
        let (node, transaction) = (state.node, state.transaction.take());
        state.is_ended |= state.is_closed;
        if let Some(node) = self.nodes.get_mut(&node) {
            node.transactions += 1;
        }
        self.writing_session = None;
        if let Some((document, batch)) = transaction.and_then(|it| it.staged) {
            let result = self.commit_batch(node, &document, &batch);
            self.record_violation(result);
        }
        self.changed.notify_waiters();
    }

    fn roll_back(&mut self, session: u64) {
        if self.writing_session == Some(session) {
            self.writing_session = None;
        }
        if let Some(session) = self.sessions.get_mut(&session) {
            session.transaction = None;
        }
        self.changed.notify_waiters();
    }

    /// Ends a session, and rolls back what it had not begun to commit.
    pub fn end_session(&mut self, session: u64) {
        let Some(state) = self.sessions.get_mut(&session) else { return };
        if state.transaction.as_ref().is_some_and(|it| it.is_committing) {
            state.is_closed = true;
            return;
        }
        state.is_ended = true;
        self.roll_back(session);
    }

    /// Ends a session without a statement since `activity`, if it is in a transaction.
    pub fn end_if_idle(&mut self, session: u64, activity: u64) {
        let is_idle = |it: &ModelSession| it.activity == activity && it.transaction.is_some();
        if self.sessions.get(&session).is_some_and(is_idle) {
            self.end_session(session);
        }
    }

    pub fn activity(&self, session: u64) -> u64 {
        self.sessions.get(&session).map_or(0, |session| session.activity)
    }

    /// Crashes the database. Each commit in progress is completed or lost.
    pub fn crash(&mut self) {
        self.is_down = true;
        self.crash_count += 1;
        let sessions: Vec<u64> = self.sessions.keys().copied().collect();
        for session in sessions {
            let is_committing = |it: &ModelSession| {
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
        self.writing_session = None;
        self.listeners.clear();
        let some = self.random.u64(..=MAX_UNSYNCED.as_millis() as u64);
        self.messages.retain(|(stored_at, _)| stored_at.elapsed() > Duration::from_millis(some));
        for state in self.nodes.values_mut() {
            state.beat -= self.random.i64(0..2);
        }
        self.changed.notify_waiters();
    }

    pub fn restart(&mut self) {
        self.is_down = false;
    }

    // Documents.

    /// Loads the room of a document.
    pub fn load_room(&mut self, document: &DocumentId) -> Result<SimulatedRoom, RoomError> {
        let (room, check) = self.documents[document].load_room();
        self.record_violation(check);
        room
    }

    /// Commits a batch and checks it against the invariants.
    fn commit_batch(
        &mut self,
        node: i64,
        document: &DocumentId,
        batch: &WriteBatch,
    ) -> CheckResult {
        let holder = self.holder(&format!("document/{document}"));
        ensure(OneNodeWritesDocument, holder == Some(node), || {
            format!("node {node} wrote {document}, whose lease {holder:?} holds")
        })?;
        self.documents.get_mut(document).unwrap().commit(batch)
    }
}
