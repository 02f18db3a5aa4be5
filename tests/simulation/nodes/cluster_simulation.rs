//! The simulation of several nodes: simulated people and agents, injected faults, and checks.

mod writers;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use copydesk_approvals::{
    ApprovalRequest, CallOrigin, Decision, Hunk, HunkChoice, HunkVerdict, Preview, ProposedAction,
    RequestSource, RequestVerdict,
};
use copydesk_ids::{DocumentId, MemberId, RequestId, Version};
use copydesk_placement::{PeerMessage, Placement as _};
use copydesk_rooms::RoomError;
use copydesk_rooms::command::{
    ApprovalMode, ClientCapabilities, JoiningMember, NewApprovalRequest, OpenedDocument,
    PushRequest, ReplySender, RequestCommand, RoomCommand, SuggestionSnapshot, ThreadSnapshot,
};
use copydesk_rooms::event::RoomEvent;
use copydesk_rooms::simulated_room::SimulatedOutput;
use fastrand::Rng;
use parking_lot::Mutex;
use tokio::time::{Instant, sleep, timeout};

use super::database_client::DatabaseClient;
use super::model_database::{ModelDatabase, SharedModelDatabase};
use super::node_mutations::NodeMutation;
use super::sent_writes::{SentWrites, WriteKey, WriteOutcome};
use super::simulated_network::{NetworkEndpoint, SharedNetwork, SimulatedNetwork, transmit};
use super::simulated_node::{
    NodeEnvironment, NodeOutput, OutputSink, QueuedCommand, SimulatedNode,
};
use crate::generators::{self, PEOPLE};
use crate::invariants::Invariant::{
    AcknowledgedIsDurable, AvailabilityRecovers, MessagesAreDelivered, NothingIsAppliedTwice,
};
use crate::invariants::{CheckResult, ensure};
use crate::model_store::stored_request;
use crate::room_simulation::EventCounts;
use crate::simulated_editor::{InFlightMessage, SimulatedEditor, UnconfirmedUpdates};
use writers::{SentComment, SentUpdate};

const INITIAL_TEXT: &str = "It was a bright cold day. She recieve 😀 letters.\n\nThan it ended.\n";
const STEPS: usize = 90;
/// Longest wait for another node, as between real ones.
const RELAY_TIMEOUT: Duration = Duration::from_secs(5);
/// Time after which a person whose document is not opened tries another node.
const OPEN_TIMEOUT: Duration = Duration::from_secs(15);
/// Largest number of rounds until all replicas are equal, and the time of one round.
const MAX_ROUNDS: usize = 60;
const ROUND_INTERVAL: Duration = Duration::from_secs(4);

/// A person with an editor.
struct SimulatedPerson {
    document: DocumentId,
    editor: SimulatedEditor,
    /// The node that the person is connected to, and the one that has the document.
    via: i64,
    owner: Option<i64>,
    since: Instant,
}

/// A reply to a command of a person.
enum ClientReply {
    Pushed(usize, MemberId, usize, Result<Version, RoomError>),
    Decided(usize, Result<Arc<ApprovalRequest>, RoomError>),
    Commented(SentComment, Result<ThreadSnapshot, RoomError>),
    Suggested(SentUpdate, Result<SuggestionSnapshot, RoomError>),
}

/// A reply of `document:open`, which is in one order with the events.
type OpenReply = (usize, MemberId, Result<OpenedDocument, RoomError>);

/// All people, shared with the output sinks of nodes.
type SharedPeople = Rc<RefCell<Vec<SimulatedPerson>>>;
/// All running nodes by number.
type SharedNodes = Rc<RefCell<BTreeMap<i64, Rc<SimulatedNode>>>>;

/// A simulation of several nodes with their people and database.
pub struct ClusterSimulation {
    random: Rng,
    database: SharedModelDatabase,
    network: SharedNetwork,
    nodes: SharedNodes,
    people: SharedPeople,
    people_count: usize,
    documents: Vec<DocumentId>,
    sent: SentWrites,
    decisions: usize,
    comments: usize,
    calls: usize,
    messages_sent: usize,
    replies: (Sender<ClientReply>, Receiver<ClientReply>),
    open_replies: (Sender<OpenReply>, Rc<Receiver<OpenReply>>),
    mutation: Option<NodeMutation>,
    began: Instant,
    max_nodes: usize,
    commands: u64,
    counts: EventCounts,
    verbose: bool,
}

/// Delivers replies of `document:open`.
fn deliver_open_replies(people: &mut [SimulatedPerson], open_replies: &Receiver<OpenReply>) {
    for (at, member, result) in open_replies.try_iter() {
        let editor = &mut people[at].editor;
        let connection =
            editor.connection.as_mut().filter(|connection| connection.member == member);
        match (connection, result) {
            (Some(connection), Ok(opened)) => {
                connection.inbox.push_back(InFlightMessage::OpenReply(Box::new(opened)));
            }
            (Some(_), Err(_)) => drop(editor.disconnect()),
            (None, _) => {}
        }
    }
}

impl ClusterSimulation {
    pub fn new(seed: u64, mutation: Option<NodeMutation>, verbose: bool) -> Self {
        let mut random = Rng::with_seed(seed);
        let documents: Vec<DocumentId> =
            (1..=random.usize(1..=2)).map(|number| format!("doc_{number}").into()).collect();
        let texts: Vec<_> = documents.iter().map(|id| (id.clone(), INITIAL_TEXT)).collect();
        let database = ModelDatabase::new(&texts, random.fork(), mutation);
        let (open_replies, open_reply_receiver) = channel();
        let mut people = Vec::new();
        for (id, row) in &database.documents {
            for at in 0..random.usize(1..=3) {
                let client = format!("c{at}of{id}");
                let editor = SimulatedEditor::new(
                    generators::principal_named(PEOPLE[at % 3]),
                    &client,
                    &row.reference,
                );
                let (document, since) = (id.clone(), Instant::now());
                people.push(SimulatedPerson { document, editor, via: 0, owner: None, since });
            }
        }
        Self {
            database: Arc::new(Mutex::new(database)),
            network: SimulatedNetwork::new(random.fork()),
            nodes: SharedNodes::default(),
            people_count: people.len(),
            people: Rc::new(RefCell::new(people)),
            documents,
            sent: SentWrites::default(),
            decisions: 0,
            comments: 0,
            calls: 0,
            messages_sent: 0,
            replies: channel(),
            open_replies: (open_replies, Rc::new(open_reply_receiver)),
            mutation,
            began: Instant::now(),
            max_nodes: random.usize(2..=4),
            commands: 0,
            counts: EventCounts::new(),
            verbose,
            random,
        }
    }

    pub fn operations(&self) -> u64 {
        self.commands + self.database.lock().operations
    }

    pub fn counts(&self) -> EventCounts {
        self.counts.clone()
    }

    /// Kills all nodes.
    pub fn kill_all(&mut self) {
        for (_, node) in std::mem::take(&mut *self.nodes.borrow_mut()) {
            node.kill();
        }
    }

    fn count(&mut self, what: &'static str) {
        *self.counts.entry(what).or_default() += 1;
        if self.verbose {
            eprintln!("{:?} {what}", self.began.elapsed());
        }
    }

    pub async fn run(&mut self) -> CheckResult {
        for _ in 0..self.max_nodes {
            self.start_node();
        }
        for _ in 0..STEPS {
            self.step();
            let wait = [0, 3, 30, 300, 300, 2_500][self.random.usize(..6)];
            sleep(Duration::from_millis(self.random.u64(..=wait))).await;
            self.check_progress()?;
        }
        self.converge().await
    }

    fn step(&mut self) {
        self.commands += 1;
        let at = self.random.usize(..self.people_count);
        let is_connected = self.people.borrow()[at].editor.connection.is_some();
        match self.random.u16(..1000) {
            0..220 => self.edit(at),
            220..380 => self.send_unconfirmed(at),
            380..440 => self.comment(),
            440..500 => self.suggest(),
            500..560 => {}
            560..600 if is_connected => self.disconnect(at),
            560..680 if !is_connected => self.reconnect(at),
            680..730 => self.propose(),
            730..830 => self.decide(),
            830..850 => self.send_message(),
            850..960 => self.inject_fault(),
            _ => {
                for at in 0..self.people_count {
                    self.send_unconfirmed(at);
                }
            }
        }
    }

    // Nodes, and faults.

    fn start_node(&mut self) {
        let Some((client, session)) = DatabaseClient::join(&self.database, &self.network) else {
            return;
        };
        let (began, number) = (self.began, client.node);
        let environment = NodeEnvironment {
            client,
            clock_skew_ms: [0, 0, 40, 9_000][self.random.usize(..4)],
            now_ms: Rc::new(move || 1_000 + began.elapsed().as_millis() as u64),
            output: self.output_sink(),
            random: self.random.fork(),
            mutation: self.mutation,
        };
        let node = SimulatedNode::start(environment, session);
        self.nodes.borrow_mut().insert(number, node);
        self.count("a node joined");
    }

    fn random_node(&mut self) -> Option<Rc<SimulatedNode>> {
        let nodes = self.nodes.borrow();
        if nodes.is_empty() {
            return None;
        }
        nodes.values().nth(self.random.usize(..nodes.len())).cloned()
    }

    fn inject_fault(&mut self) {
        if self.shut_down_unsettled() {
            return;
        }
        let Some(node) = self.random_node() else { return self.start_node() };
        let endpoint = NetworkEndpoint::Node(node.number());
        match self.random.u8(..24) {
            0..3 => {
                let mut network = self.network.lock();
                network.block(endpoint, NetworkEndpoint::Database);
                network.block(NetworkEndpoint::Database, endpoint);
                drop(network);
                Self::end_unreachable_sessions(&node);
                self.count("a connection was blocked");
            }
            3..5 => {
                let is_out = self.random.bool();
                let (from, to) = if is_out {
                    (endpoint, NetworkEndpoint::Database)
                } else {
                    (NetworkEndpoint::Database, endpoint)
                };
                self.network.lock().block(from, to);
                Self::end_unreachable_sessions(&node);
                self.count("a connection was blocked one way");
            }
            5..7 => {
                let Some(other) = self.random_node() else { return };
                let other = NetworkEndpoint::Node(other.number());
                self.network.lock().block(endpoint, other);
                self.network.lock().block(other, endpoint);
                self.count("a connection was blocked");
            }
            7 => {
                self.network.lock().slow(endpoint);
                self.count("a node was slowed");
            }
            8..10 => {
                node.kill();
                self.count("a node was killed");
            }
            10 => {
                node.spawn(Rc::clone(&node).shut_down());
                self.count("a node was shut down");
            }
            11..13 => {
                node.set_paused(true);
                self.count("a node was paused");
            }
            13..15 if node.is_paused() => {
                node.set_paused(false);
                self.count("a node was resumed");
            }
            15 => {
                self.database.lock().crash();
                self.count("the database crashed");
            }
            16 => node.spawn(Rc::clone(&node).change_settings()),
            17..20 if self.nodes.borrow().len() < self.max_nodes => self.start_node(),
            _ => self.heal(),
        }
    }

    /// Now and then shuts down a node with a transaction of unknown outcome, if there is one.
    /// Returns whether it did.
    fn shut_down_unsettled(&mut self) -> bool {
        let unsettled = self.nodes.borrow().values().find(|it| it.is_unsettled()).cloned();
        let Some(node) = unsettled.filter(|_| self.random.u8(..3) == 0) else { return false };
        node.spawn(Rc::clone(&node).shut_down());
        self.count("a node was shut down, unsettled");
        true
    }

    /// Lets the database end sessions that its keepalives find unreachable.
    fn end_unreachable_sessions(node: &SimulatedNode) {
        let (client, endpoint) = (node.client.clone(), NetworkEndpoint::Node(node.number()));
        tokio::spawn(async move {
            sleep(Duration::from_secs(25)).await;
            if client.network.lock().is_blocked(endpoint, NetworkEndpoint::Database) {
                client.database.lock().end_sessions(client.node);
            }
        });
    }

    fn heal(&mut self) {
        self.network.lock().heal();
        for node in self.nodes.borrow().values() {
            node.set_paused(false);
        }
        if self.database.lock().is_down {
            self.database.lock().restart();
            self.count("the database restarted");
        }
        self.count("healed");
    }

    // People.

    fn edit(&mut self, at: usize) {
        let person = &mut self.people.borrow_mut()[at];
        let mut database = self.database.lock();
        let reference = &mut database.documents.get_mut(&person.document).unwrap().reference;
        person.editor.edit(&mut self.random, reference);
    }

    /// Sends all unconfirmed updates, which may have been sent before.
    fn send_unconfirmed(&mut self, at: usize) {
        let (document, push, change_count) = {
            let person = &mut self.people.borrow_mut()[at];
            let editor = &mut person.editor;
            let (true, Some(unconfirmed)) = (editor.is_open(), editor.unconfirmed_updates()) else {
                return;
            };
            let UnconfirmedUpdates { base, updates, change_count } = unconfirmed;
            let member = editor.connection.as_ref().unwrap().member.clone();
            let principal = editor.principal.clone();
            (
                person.document.clone(),
                PushRequest { member, principal, base, updates },
                change_count,
            )
        };
        self.commands += 1;
        let (replies, member) = (self.replies.0.clone(), push.member.clone());
        let since = push.base;
        let reply = ReplySender::new(move |result| {
            replies.send(ClientReply::Pushed(at, member, change_count, result)).ok();
        });
        let via = self.people.borrow()[at].via;
        self.send_command(via, &document, RoomCommand::Push(push, reply), since);
    }

    fn disconnect(&mut self, at: usize) {
        let (document, owner, member) = {
            let person = &mut self.people.borrow_mut()[at];
            let Some(member) = person.editor.disconnect() else { return };
            (person.document.clone(), person.owner.take(), member)
        };
        let owner = owner.and_then(|owner| self.nodes.borrow().get(&owner).cloned());
        if let Some(owner) = owner {
            let (command, since) = (RoomCommand::Leave(member), Version(u64::MAX));
            owner.execute_if_open(&document, QueuedCommand { command, since });
        }
    }

    fn reconnect(&mut self, at: usize) {
        let Some(node) = self.random_node() else { return };
        let (document, since, joining) = {
            let person = &mut self.people.borrow_mut()[at];
            (person.via, person.owner, person.since) = (node.number(), None, Instant::now());
            let since = Version(person.editor.version as u64);
            let (id, principal) = (person.editor.connect(), person.editor.principal.clone());
            let capabilities = ClientCapabilities { comments: true, ..Default::default() };
            (person.document.clone(), since, JoiningMember { id, principal, capabilities })
        };
        let (open_replies, member) = (self.open_replies.0.clone(), joining.id.clone());
        let reply = ReplySender::new(move |result| {
            open_replies.send((at, member, result)).ok();
        });
        let command = RoomCommand::Open(joining, Some(since), reply);
        self.send_command(node.number(), &document, command, since);
    }

    /// Sends a command to a node, which executes it or relays it to the node that has the document.
    fn send_command(&self, via: i64, document: &DocumentId, command: RoomCommand, since: Version) {
        self.send_late(Duration::ZERO, via, document, QueuedCommand { command, since });
    }

    /// Sends a command to a node, which it reaches after a time.
    fn send_late(&self, after: Duration, via: i64, document: &DocumentId, queued: QueuedCommand) {
        let Some(node) = self.nodes.borrow().get(&via).cloned() else { return };
        let (nodes, network) = (Rc::clone(&self.nodes), Arc::clone(&self.network));
        let document = document.clone();
        let first = Rc::clone(&node);
        node.spawn(async move {
            if !after.is_zero() {
                sleep(after).await;
            }
            let Err((owner, queued)) = first.execute(&document, queued).await else { return };
            let (from, to) = (NetworkEndpoint::Node(via), NetworkEndpoint::Node(owner));
            let arrival = timeout(RELAY_TIMEOUT, transmit(&network, from, to)).await;
            let target = nodes.borrow().get(&owner).filter(|it| !it.is_dead.get()).cloned();
            let (Ok(()), Some(target)) = (arrival, target) else {
                first.cluster_node.forget_node(owner);
                return;
            };
            let owner = Rc::clone(&target);
            target.spawn(async move {
                if owner.execute(&document, queued).await.is_err() {
                    // Another node has it by now.
                    first.cluster_node.forget(&document);
                }
            });
        });
    }

    fn output_sink(&self) -> OutputSink {
        let (people, open_replies) = (Rc::clone(&self.people), Rc::clone(&self.open_replies.1));
        let mutation = self.mutation;
        Rc::new(move |from, document, output| {
            let mut people = people.borrow_mut();
            deliver_open_replies(&mut people, &open_replies);
            let editors = people.iter_mut().filter(|person| person.document == *document);
            for person in editors {
                let Some(connection) = &mut person.editor.connection else { continue };
                match &output {
                    NodeOutput::Room(SimulatedOutput::Joined(member))
                        if connection.member == *member =>
                    {
                        person.owner = Some(from);
                    }
                    NodeOutput::Disconnected(members) if members.contains(&connection.member) => {
                        person.editor.disconnect();
                        person.owner = None;
                    }
                    NodeOutput::Room(SimulatedOutput::All(RoomEvent::ThreadChanged(..)))
                        if mutation == Some(NodeMutation::ThreadEventsNotRelayed)
                            && person.via != from => {}
                    NodeOutput::Room(output) if person.owner == Some(from) => {
                        let event = match output {
                            SimulatedOutput::All(event) => event,
                            SimulatedOutput::Others(one, event) if connection.member != *one => {
                                event
                            }
                            SimulatedOutput::One(one, event) if connection.member == *one => event,
                            _ => continue,
                        };
                        connection.inbox.push_back(InFlightMessage::Event(Arc::new(event.clone())));
                    }
                    _ => {}
                }
            }
        })
    }

    /// Closes connections whose nodes are gone or cannot reach each other, and those that wait too
    /// long for their document.
    fn close_lost_connections(&mut self) {
        let nodes = Rc::clone(&self.nodes);
        nodes.borrow_mut().retain(|_, node| !node.is_dead.get());
        let mut lost = Vec::new();
        for (at, person) in self.people.borrow().iter().enumerate() {
            let is_gone = |number: &i64| !nodes.borrow().contains_key(number);
            let is_unreachable = |owner: i64| {
                let (via, owner) =
                    (NetworkEndpoint::Node(person.via), NetworkEndpoint::Node(owner));
                via != owner && self.network.lock().is_blocked(via, owner)
            };
            let is_late = !person.editor.is_open() && person.since.elapsed() > OPEN_TIMEOUT;
            let owner_is_lost = person.owner.is_some_and(|it| is_gone(&it) || is_unreachable(it));
            if person.editor.connection.is_some()
                && (is_gone(&person.via) || owner_is_lost || is_late)
            {
                lost.push(at);
            }
        }
        for at in lost {
            self.disconnect(at);
            self.count("connection lost");
        }
    }

    // Agents and reviewers.

    fn random_document(&mut self) -> DocumentId {
        self.documents[self.random.usize(..self.documents.len())].clone()
    }

    fn propose(&mut self) {
        let document = self.random_document();
        let (base, version) = {
            let database = self.database.lock();
            let reference = &database.documents[&document].reference;
            let lag = self.random.usize(..=reference.version().min(6));
            let version = reference.version() - lag;
            (reference.text(version).clone(), Version(version as u64))
        };
        let hunks = generators::random_hunks(&mut self.random, &base);
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
            requester: generators::principal_named(PEOPLE[self.random.usize(..3)]),
            base,
            hunks,
            approval_mode: ApprovalMode::Ask,
            deadline_ms: None,
            after_restart: true,
            again_of: None,
        };
        // Now and then a run that was taken over proposes the same.
        for _ in 0..[1, 1, 1, 2][self.random.usize(..4)] {
            let Some(node) = self.random_node() else { return };
            let (reply, _) = ReplySender::channel();
            let command = RoomCommand::Propose(Box::new(new.clone()), reply);
            self.send_command(node.number(), &document, command, version);
        }
        self.count("proposed");
    }

    /// Sends a decision, or several concurrent ones to different nodes.
    fn decide(&mut self) {
        let document = self.random_document();
        let requests: Vec<ApprovalRequest> = {
            let database = self.database.lock();
            let open = database.documents[&document].store.requests.values().filter(|it| it.open);
            open.map(|it| stored_request(it).finish()).collect()
        };
        if requests.is_empty() {
            return;
        }
        let request = &requests[self.random.usize(..requests.len())];
        let hunks: Vec<&Hunk> = request.hunks.iter().filter(|it| it.status.is_open()).collect();
        if hunks.is_empty() {
            return;
        }
        let hunk = hunks[self.random.usize(..hunks.len())];
        // Of a suggestion, which its writer goes on writing, people say what they saw.
        let is_suggestion = request.suggestion.is_some();
        let concurrent = [1, 1, 2, 3][self.random.usize(..4)];
        if concurrent > 1 {
            self.count("concurrent decisions");
        }
        for _ in 0..concurrent {
            let Some(node) = self.random_node() else { return };
            let approves = self.random.u8(..3) > 0;
            let verdict = if approves { RequestVerdict::Approve } else { RequestVerdict::Reject };
            let mut decision = Decision::plain(verdict);
            let label = format!("#{}", self.decisions);
            self.decisions += 1;
            decision.note = Some(label.clone());
            decision.preview_hash = is_suggestion.then(|| request.preview_hash());
            if self.random.u8(..4) > 0 {
                let choice = if approves { HunkChoice::Accept } else { HunkChoice::Reject };
                let hash = is_suggestion.then(|| hunk.words_hash());
                let verdict = HunkVerdict::plain(hunk.id.clone(), choice);
                decision.hunks = Some(vec![HunkVerdict { hash, ..verdict }]);
            }
            let replies = self.replies.0.clone();
            let at = self.sent.send(&document, WriteKey::Decision(label), 1);
            let reply = ReplySender::new(move |result| {
                replies.send(ClientReply::Decided(at, result)).ok();
            });
            let by = generators::principal_named(PEOPLE[self.random.usize(..4)]);
            let command = RequestCommand::Decide(Box::new(decision), by);
            let command = RoomCommand::About(request.id().clone(), command, reply);
            self.send_command(node.number(), &document, command, Version(u64::MAX));
        }
        self.count("decided");
    }

    /// Sends a message between nodes that must be received once.
    fn send_message(&mut self) {
        let Some(node) = self.random_node() else { return };
        self.messages_sent += 1;
        let news = PeerMessage::Cancel(format!("ses_{}", self.messages_sent).into());
        let cluster_node = Arc::clone(&node.cluster_node);
        node.spawn(async move { cluster_node.tell(&news).await });
    }

    // Checks.

    fn check_progress(&mut self) -> CheckResult {
        deliver_open_replies(&mut self.people.borrow_mut(), &self.open_replies.1);
        // Before the replies: the rest of a batch with a violation is not noted.
        if let Some(violation) = self.database.lock().violation.take() {
            return Err(violation);
        }
        let replies: Vec<_> = self.replies.1.try_iter().collect();
        for reply in replies {
            self.check_reply(reply)?;
        }
        self.close_lost_connections();
        for at in 0..self.people_count {
            if self.random.bool() {
                self.receive(at)?;
            }
        }
        let removed: Vec<_> = {
            let (nodes, database) = (self.nodes.borrow(), self.database.lock());
            nodes.values().filter(|it| !database.is_member(it.number())).cloned().collect()
        };
        for node in removed {
            let is_new = *node.received.borrow_mut().entry("removed".to_owned()).or_default() == 0;
            node.received.borrow_mut().insert("removed".to_owned(), 1);
            if is_new {
                self.count("a node was removed");
            }
        }
        for node in self.nodes.borrow().values() {
            let received = node.received.borrow();
            let twice = received.iter().find(|(_, times)| **times > 1);
            ensure(NothingIsAppliedTwice, twice.is_none(), || {
                format!("a message was received twice: {twice:?}")
            })?;
        }
        Ok(())
    }

    fn receive(&mut self, at: usize) -> CheckResult {
        let person = &mut self.people.borrow_mut()[at];
        let database = self.database.lock();
        let reference = &database.documents[&person.document].reference;
        while person.editor.receive_next(reference)? {}
        Ok(())
    }

    fn check_reply(&mut self, reply: ClientReply) -> CheckResult {
        match reply {
            ClientReply::Pushed(at, member, change_count, result) => {
                let person = &mut self.people.borrow_mut()[at];
                if person
                    .editor
                    .connection
                    .as_ref()
                    .is_some_and(|connection| connection.member == member)
                {
                    person.editor.push_in_flight = false;
                }
                let database = self.database.lock();
                let committed =
                    database.documents[&person.document].reference.committed(&person.editor.client);
                ensure(AcknowledgedIsDurable, result.is_err() || committed >= change_count, || {
                    format!("{change_count} updates were acknowledged, {committed} are in the log")
                })
            }
            ClientReply::Decided(at, result) => {
                let outcome = WriteOutcome::of(&result);
                let is_suggestion = result.as_ref().is_ok_and(|it| it.suggestion.is_some());
                if matches!(result, Err(RoomError::Store(_))) && outcome == WriteOutcome::Refused {
                    self.count("not stored");
                }
                self.count(match outcome {
                    WriteOutcome::Acknowledged if is_suggestion => "suggestion decided",
                    WriteOutcome::Acknowledged => "acknowledged",
                    WriteOutcome::Refused => "refused",
                    WriteOutcome::Unknown => "outcome unknown",
                });
                self.check_written(at, outcome)
            }
            ClientReply::Commented(sent, result) => self.check_commented(&sent, &result),
            ClientReply::Suggested(sent, result) => self.check_suggested(&sent, &result),
        }
    }

    /// Notes the outcome of a write, and checks what is known of it.
    fn check_written(&mut self, at: usize, outcome: WriteOutcome) -> CheckResult {
        self.sent.hear(at, outcome);
        self.sent.check(at, &self.database.lock().documents[self.sent.document(at)])
    }

    /// Ends all faults, reconnects everybody, and sends and delivers everything that is left.
    async fn converge(&mut self) -> CheckResult {
        self.heal();
        let mut missing = None;
        for round in 0..MAX_ROUNDS {
            while self.nodes.borrow().len() < 2 {
                self.start_node();
            }
            for at in 0..self.people_count {
                let is_connected = self.people.borrow()[at].editor.connection.is_some();
                if is_connected { self.send_unconfirmed(at) } else { self.reconnect(at) }
            }
            sleep(ROUND_INTERVAL).await;
            self.check_progress()?;
            for at in 0..self.people_count {
                self.receive(at)?;
            }
            missing = self.check_converged().err();
            // Some more rounds are for messages that come late.
            if missing.is_none() && round > 2 {
                break;
            }
        }
        if let Some(missing) = missing {
            return Err(missing);
        }
        let database = self.database.lock();
        let document = |at| &database.documents[self.sent.document(at)];
        (0..self.sent.len()).try_for_each(|at| self.sent.check(at, document(at)))?;
        for document in database.documents.values() {
            document.reference.check_all_committed()?;
            document.store.check(|version| document.reference.text(version).clone());
        }
        Ok(())
    }

    fn check_converged(&self) -> CheckResult {
        let database = self.database.lock();
        for person in self.people.borrow().iter() {
            let document = &database.documents[&person.document];
            ensure(AvailabilityRecovers, person.editor.is_open(), || {
                format!("{} cannot open its document at {}", person.editor.client, person.via)
            })?;
            person.editor.check_converged(&document.reference)?;
            let (room, check) = document.load_room();
            check?;
            let room = room.map_err(|error| {
                crate::invariants::InvariantViolation(AvailabilityRecovers, format!("{error:?}"))
            })?;
            person.editor.displayed.check_matches(room.open())?;
            person.editor.threads.check_matches(&room.threads())?;
        }
        for node in self.nodes.borrow().values() {
            let known = node.known_settings.get();
            ensure(MessagesAreDelivered, known == database.settings, || {
                format!(
                    "node {} has version {known} of the settings, not {}",
                    node.number(),
                    database.settings
                )
            })?;
        }
        Ok(())
    }
}
