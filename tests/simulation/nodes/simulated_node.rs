//! A simulated node: the product's node, room and session logic, driven as its tasks do, with the
//! connections of people.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use copydesk_approvals::{ApprovalSwitch, Decision, RequestVerdict};
use copydesk_cluster::{ClusterNode, LeaseHolder};
use copydesk_document::Text;
use copydesk_ids::permissions::Principal;
use copydesk_ids::{DocumentId, MemberId, Version};
use copydesk_placement::{NotHere, OtherServer, PeerMessage, Placement as _};
use copydesk_rooms::RoomError;
use copydesk_rooms::command::{ReplySender, RequestCommand, RoomCommand, SuggestionUpdate};
use copydesk_rooms::settings::{PermissionMode, ServerSettings};
use copydesk_rooms::simulated_room::{SimulatedOutput, SimulatedRoom};
use copydesk_store::node_tables::NodeTables;
use copydesk_store::session_source::{SessionSource, TransactionAttempts};
use copydesk_store::{StoreError, StoreResult, WriteBatch};
use fastrand::Rng;
use tokio::sync::{Mutex, mpsc, oneshot};
use tokio::task::{AbortHandle, spawn_local};
use tokio::time::{sleep, timeout};

use super::database_client::DatabaseClient;
use super::model_database::ModelDatabase;
use super::node_mutations::NodeMutation;
use crate::generators::{self, PEOPLE};

/// Lifetime of a request: so short that some expire.
const TIMEOUT_MS: u64 = 30_000;
/// Time between two checks of an idle session.
const SESSION_CHECK_INTERVAL: Duration = Duration::from_secs(5);
/// Longest time of a shutdown.
const SHUTDOWN_LIMIT: Duration = Duration::from_secs(10);
/// Time after which a failed load is repeated.
const RETRY: Duration = Duration::from_secs(1);

/// Receives the output of a node.
pub type OutputSink = Rc<dyn Fn(i64, &DocumentId, NodeOutput)>;

/// Output of a room, or the end of connections.
pub enum NodeOutput {
    Room(SimulatedOutput),
    /// Members who may have received what is not durable: they have to open the document again.
    Disconnected(BTreeSet<MemberId>),
}

/// A command, and the version it refers to.
pub struct QueuedCommand {
    pub command: RoomCommand,
    /// The version it refers to.
    pub since: Version,
}

/// A command of the writer.
enum WriterCommand {
    Commit(DocumentId, WriteBatch, oneshot::Sender<StoreResult<()>>),
    Settle(oneshot::Sender<StoreResult<()>>),
}

/// A switch that pauses all tasks of a process.
#[derive(Default)]
struct PauseSwitch {
    is_paused: Cell<bool>,
    wakers: RefCell<Vec<Waker>>,
}

/// A task that makes no progress while its process is paused.
struct PausableTask {
    pause: Rc<PauseSwitch>,
    work: Pin<Box<dyn Future<Output = ()>>>,
}

impl Future for PausableTask {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.pause.is_paused.get() {
            self.pause.wakers.borrow_mut().push(context.waker().clone());
            return Poll::Pending;
        }
        self.work.as_mut().poll(context)
    }
}

/// A node: one process with its rooms.
pub struct SimulatedNode {
    pub cluster_node: Arc<ClusterNode>,
    pub client: DatabaseClient,
    rooms: RefCell<BTreeMap<DocumentId, mpsc::UnboundedSender<QueuedCommand>>>,
    loading: Mutex<()>,
    writer: mpsc::UnboundedSender<WriterCommand>,
    is_unsettled: Cell<bool>,
    /// Time by which the node's clock is ahead.
    pub clock_skew_ms: u64,
    now_ms: Rc<dyn Fn() -> u64>,
    settings: ServerSettings,
    people: [Principal; PEOPLE.len()],
    output: OutputSink,
    pause: Rc<PauseSwitch>,
    tasks: RefCell<Vec<AbortHandle>>,
    pub is_dead: Cell<bool>,
    is_stopping: Cell<bool>,
    /// Number of rooms whose tasks have not ended.
    running: Cell<usize>,
    /// The version of the settings that the node knows.
    pub known_settings: Cell<u64>,
    /// Number of times that each message was received.
    pub received: RefCell<BTreeMap<String, usize>>,
    random: RefCell<Rng>,
    mutation: Option<NodeMutation>,
}

/// Everything that a node needs of the simulation.
pub struct NodeEnvironment {
    pub client: DatabaseClient,
    pub clock_skew_ms: u64,
    pub now_ms: Rc<dyn Fn() -> u64>,
    pub output: OutputSink,
    pub random: Rng,
    pub mutation: Option<NodeMutation>,
}

impl SimulatedNode {
    /// Starts a node that has a row, with its first session.
    pub fn start(
        environment: NodeEnvironment,
        session: super::database_client::WritingSession,
    ) -> Rc<Self> {
        let NodeEnvironment { client, clock_skew_ms, now_ms, output, random, mutation } =
            environment;
        let own =
            OtherServer { number: client.node, url: format!("http://{}", client.node).into() };
        let cluster_node = Arc::new(ClusterNode::simulated(Arc::new(client.clone()), own));
        let (writer, commands) = mpsc::unbounded_channel();
        let server = Rc::new(Self {
            cluster_node,
            client: client.clone(),
            rooms: RefCell::default(),
            loading: Mutex::default(),
            writer,
            is_unsettled: Cell::new(false),
            clock_skew_ms,
            now_ms,
            settings: ServerSettings {
                approvals: ApprovalSwitch::On,
                timeout_ms: Some(TIMEOUT_MS),
                permission_mode: PermissionMode::Ask,
            },
            people: PEOPLE.map(generators::principal_named),
            output,
            pause: Rc::default(),
            tasks: RefCell::default(),
            is_dead: Cell::new(false),
            is_stopping: Cell::new(false),
            running: Cell::new(0),
            known_settings: Cell::new(0),
            received: RefCell::default(),
            random: RefCell::new(random),
            mutation,
        });
        let source = SessionSource::new(client, session);
        server.spawn(Rc::clone(&server).run_writer(source, commands));
        let cluster_node = Arc::clone(&server.cluster_node);
        server.spawn(async move { cluster_node.attend().await });
        server.spawn(Rc::clone(&server).receive_messages());
        server.spawn(Rc::clone(&server).kill_when_removed());
        if mutation == Some(NodeMutation::LeaseHintTrusted) {
            server.spawn(Rc::clone(&server).trust_lease_hints());
        }
        server
    }

    pub fn number(&self) -> i64 {
        self.cluster_node.address().number
    }

    fn has_mutation(&self, mutation: NodeMutation) -> bool {
        self.mutation == Some(mutation)
    }

    /// Spawns a task of this process, which ends with it.
    pub fn spawn(&self, work: impl Future<Output = ()> + 'static) {
        let task = PausableTask { pause: Rc::clone(&self.pause), work: Box::pin(work) };
        self.tasks.borrow_mut().push(spawn_local(task).abort_handle());
    }

    /// Kills the process.
    pub fn kill(&self) {
        if !self.is_dead.replace(true) {
            self.rooms.borrow_mut().clear();
            self.tasks.borrow_mut().drain(..).for_each(|task| task.abort());
        }
    }

    /// Pauses or resumes the process.
    pub fn set_paused(&self, is_paused: bool) {
        self.pause.is_paused.set(is_paused);
        if !is_paused {
            self.pause.wakers.borrow_mut().drain(..).for_each(Waker::wake);
        }
    }

    pub fn is_paused(&self) -> bool {
        self.pause.is_paused.get()
    }

    /// Returns whether a transaction has an unknown outcome.
    pub fn is_unsettled(&self) -> bool {
        self.is_unsettled.get()
    }

    /// Shuts down as after SIGTERM: stores everything and releases all documents, or ends without
    /// that after some time.
    pub async fn shut_down(self: Rc<Self>) {
        let is_closed = timeout(SHUTDOWN_LIMIT, self.close()).await.is_ok();
        if !is_closed && self.has_mutation(NodeMutation::ReleaseBeforeOutcomeKnown) {
            self.cluster_node.release_all().await;
        }
        self.kill();
    }

    async fn close(&self) {
        self.is_stopping.set(true);
        // Rooms end when their senders are gone.
        self.rooms.borrow_mut().clear();
        while self.running.get() > 0 {
            sleep(Duration::from_millis(20)).await;
        }
        let (done, stored) = oneshot::channel();
        let is_settled = self.writer.send(WriterCommand::Settle(done)).is_ok()
            && matches!(stored.await, Ok(Ok(())));
        if is_settled {
            self.cluster_node.release_all().await;
        }
        NodeTables::leave(&self.client).await;
    }

    async fn kill_when_removed(self: Rc<Self>) {
        self.cluster_node.removed().cancelled().await;
        if self.has_mutation(NodeMutation::RemovedNodeKeepsRooms) {
            // It has a row again and continues with its rooms.
            let node = self.client.node;
            self.client.database.lock().restore_row(node);
            return;
        }
        self.kill();
    }

    // Messages of other nodes.

    async fn receive_messages(self: Rc<Self>) {
        let mut messages = self.cluster_node.news();
        self.reload_settings().await;
        loop {
            match messages.recv().await {
                Ok((_, PeerMessage::Settings))
                    if self.has_mutation(NodeMutation::MessageNotVerified) =>
                {
                    self.known_settings.set(self.known_settings.get() + 1);
                }
                Ok((_, PeerMessage::Cancel(session))) => {
                    *self.received.borrow_mut().entry(session.to_string()).or_default() += 1;
                }
                Ok((_, PeerMessage::Settings | PeerMessage::Missed)) | Err(_) => {
                    self.reload_settings().await;
                }
                Ok(_) => {}
            }
        }
    }

    async fn reload_settings(&self) {
        loop {
            if let Ok(settings) = self.client.ask(|database| database.settings).await {
                self.known_settings.set(settings);
                return;
            }
            sleep(RETRY).await;
        }
    }

    /// Changes the settings, which are stored, and tells the other nodes.
    pub async fn change_settings(self: Rc<Self>) {
        let settings = {
            let mut database = self.client.database.lock();
            if !database.is_member(self.client.node) {
                // As every transaction of a removed node, it would be refused.
                return;
            }
            database.settings += 1;
            database.settings
        };
        self.known_settings.set(settings);
        self.cluster_node.tell(&PeerMessage::Settings).await;
    }

    /// Takes all documents when leases are said to be free.
    async fn trust_lease_hints(self: Rc<Self>) {
        let mut departures = self.cluster_node.departures();
        while departures.changed().await.is_ok() {
            let documents: Vec<_> = self.client.database.lock().documents.keys().cloned().collect();
            for document in documents {
                let is_open = self.rooms.borrow().contains_key(&document);
                if !is_open && let Ok(room) = self.load_room(&document).await {
                    self.spawn_room(&document, room);
                }
            }
        }
    }

    // Writing, as the writer of the store does.

    async fn run_writer(
        self: Rc<Self>,
        mut source: SessionSource<DatabaseClient>,
        mut commands: mpsc::UnboundedReceiver<WriterCommand>,
    ) {
        loop {
            match timeout(SESSION_CHECK_INTERVAL, commands.recv()).await {
                Ok(None) => return,
                Ok(Some(WriterCommand::Commit(document, batch, reply))) => {
                    let outcome = self.transact(&mut source, &document, &batch).await;
                    self.is_unsettled.set(source.is_unsettled());
                    reply.send(outcome).ok();
                }
                Ok(Some(WriterCommand::Settle(reply))) => {
                    let settled = source.settle().await;
                    self.is_unsettled.set(source.is_unsettled());
                    reply.send(settled).ok();
                }
                Err(_) => {
                    if let Some(session) = source.release()
                        && session.is_alive().await
                    {
                        source.hold(session);
                    } else {
                        source.settle().await.ok();
                    }
                    self.is_unsettled.set(source.is_unsettled());
                }
            }
        }
    }

    async fn transact(
        &self,
        source: &mut SessionSource<DatabaseClient>,
        document: &DocumentId,
        batch: &WriteBatch,
    ) -> StoreResult<()> {
        let mut attempts = TransactionAttempts::default();
        loop {
            let mut session = source.take().await?;
            let error = match session.write(document, batch).await {
                Ok(()) => {
                    source.hold(session);
                    return Ok(());
                }
                Err(error) => error,
            };
            let outcome = source.after_error(session, error).await;
            match attempts.conclude(outcome) {
                Some(Err(StoreError::OutcomeUnknown { .. }))
                    if self.has_mutation(NodeMutation::UnknownOutcomeAssumedCommitted) =>
                {
                    return Ok(());
                }
                Some(Err(StoreError::OutcomeUnknown { .. }))
                    if self.has_mutation(NodeMutation::UnknownOutcomeRetried) => {}
                Some(result) => return result,
                None => {}
            }
        }
    }

    async fn commit(&self, document: &DocumentId, batch: WriteBatch) -> StoreResult<()> {
        if batch.ops().is_empty() {
            return Ok(());
        }
        let (reply, outcome) = oneshot::channel();
        let queued = WriterCommand::Commit(document.clone(), batch, reply);
        self.writer.send(queued).map_err(|_| StoreError::Closed)?;
        outcome.await.map_err(|_| StoreError::Closed)?
    }

    /// Waits for a known outcome, as `Store::settle` does.
    async fn settle(&self) -> StoreResult<()> {
        if !self.is_unsettled.get() {
            return Ok(());
        }
        let (reply, settled) = oneshot::channel();
        self.writer.send(WriterCommand::Settle(reply)).map_err(|_| StoreError::Closed)?;
        settled.await.map_err(|_| StoreError::Closed)?
    }

    // Rooms, as their registry and their tasks do.

    /// Executes a command; returns it with the number of the node that has the document, if that is
    /// another.
    pub async fn execute(
        self: &Rc<Self>,
        document: &DocumentId,
        queued: QueuedCommand,
    ) -> Result<(), (i64, QueuedCommand)> {
        match self.open_room(document).await {
            Ok(room) => room.send(queued).unwrap_or_default(),
            Err(RoomError::NotHere(NotHere::OtherServer(node))) => {
                return Err((node.number, queued));
            }
            // The dropped command is its reply.
            Err(_) => {}
        }
        Ok(())
    }

    /// Executes a command if the room is open.
    pub fn execute_if_open(&self, document: &DocumentId, queued: QueuedCommand) {
        if let Some(room) = self.rooms.borrow().get(document) {
            room.send(queued).ok();
        }
    }

    async fn open_room(
        self: &Rc<Self>,
        document: &DocumentId,
    ) -> Result<mpsc::UnboundedSender<QueuedCommand>, RoomError> {
        let open = self.rooms.borrow().get(document).cloned();
        if let Some(room) = open {
            return Ok(room);
        }
        let _guard = self.loading.lock().await;
        let open = self.rooms.borrow().get(document).cloned();
        if let Some(room) = open {
            return Ok(room);
        }
        match self.cluster_node.lease_document(document).await? {
            Some(LeaseHolder::Here) => {}
            Some(LeaseHolder::Elsewhere(node)) => return Err(NotHere::OtherServer(node).into()),
            None => return Err(RoomError::NoDocument),
        }
        match self.load_room(document).await {
            Ok(_) if self.is_stopping.get() => Err(RoomError::Closed),
            Ok(room) => Ok(self.spawn_room(document, room)),
            Err(error) => {
                self.cluster_node.release(document).await;
                Err(error)
            }
        }
    }

    async fn load_room(&self, document: &DocumentId) -> Result<SimulatedRoom, RoomError> {
        if !self.has_mutation(NodeMutation::ReloadBeforeOutcomeKnown) {
            self.settle().await?;
        }
        let id = document.clone();
        let mut room = self.client.ask(move |database| database.load_room(&id)).await??;
        if self.has_mutation(NodeMutation::SuggestionsAcceptedOnLoad) {
            self.accept_suggestions(&mut room);
        }
        Ok(room)
    }

    /// Accepts all suggestions, which only a wrong node does.
    fn accept_suggestions(&self, room: &mut SimulatedRoom) {
        let suggestions = room.open().values().filter(|request| request.suggestion.is_some());
        for request in suggestions.cloned().collect::<Vec<_>>() {
            let preview_hash = Some(request.preview_hash());
            let decision = Decision { preview_hash, ..Decision::plain(RequestVerdict::Approve) };
            let by = generators::principal_named("ana");
            let (reply, _) = ReplySender::channel();
            let command = RequestCommand::Decide(Box::new(decision), by);
            let command = RoomCommand::About(request.id().clone(), command, reply);
            room.take(command, Vec::new(), &self.people, (self.now_ms)(), &self.settings);
        }
    }

    fn spawn_room(
        self: &Rc<Self>,
        document: &DocumentId,
        room: SimulatedRoom,
    ) -> mpsc::UnboundedSender<QueuedCommand> {
        let (sender, commands) = mpsc::unbounded_channel();
        self.rooms.borrow_mut().insert(document.clone(), sender.clone());
        self.running.set(self.running.get() + 1);
        let task = RoomTask {
            server: Rc::clone(self),
            document: document.clone(),
            room,
            joined_members: BTreeSet::new(),
            needs_reload: false,
        };
        self.spawn(task.run(commands));
        sender
    }
}

/// The task of a room.
struct RoomTask {
    server: Rc<SimulatedNode>,
    document: DocumentId,
    room: SimulatedRoom,
    joined_members: BTreeSet<MemberId>,
    needs_reload: bool,
}

impl Drop for RoomTask {
    fn drop(&mut self) {
        self.server.running.set(self.server.running.get() - 1);
    }
}

impl RoomTask {
    async fn run(mut self, mut commands: mpsc::UnboundedReceiver<QueuedCommand>) {
        loop {
            let idle_ms = self.server.random.borrow_mut().u64(500..20_000);
            match timeout(Duration::from_millis(idle_ms), commands.recv()).await {
                Ok(Some(queued)) => self.handle(queued, &mut commands).await,
                // The node shuts down.
                Ok(None) => return,
                Err(_) if self.needs_reload => self.reload().await,
                Err(_) => {
                    self.room.expire(self.now_ms(), &self.server.settings);
                    self.commit().await;
                    if self.joined_members.is_empty() && commands.is_empty() {
                        return self.close(commands).await;
                    }
                }
            }
        }
    }

    fn now_ms(&self) -> u64 {
        (self.server.now_ms)() + self.server.clock_skew_ms
    }

    /// Ends a room that no one uses, and releases its document.
    async fn close(mut self, mut commands: mpsc::UnboundedReceiver<QueuedCommand>) {
        let server = Rc::clone(&self.server);
        if !self.needs_reload {
            self.room.snapshot();
            self.commit().await;
        }
        let _guard = server.loading.lock().await;
        if server.has_mutation(NodeMutation::ReleaseBeforeLastCommands) {
            server.cluster_node.release(&self.document).await;
        }
        server.rooms.borrow_mut().remove(&self.document);
        commands.close();
        while let Ok(queued) = commands.try_recv() {
            self.handle(queued, &mut commands).await;
        }
        let is_settled = server.has_mutation(NodeMutation::ReleaseBeforeOutcomeKnown)
            || server.settle().await.is_ok();
        if is_settled && !server.has_mutation(NodeMutation::ReleaseBeforeLastCommands) {
            server.cluster_node.release(&self.document).await;
        }
        let disconnected = NodeOutput::Disconnected(std::mem::take(&mut self.joined_members));
        (server.output)(server.number(), &self.document, disconnected);
    }

    /// Applies all waiting commands, commits the batch, then broadcasts and replies.
    async fn handle(
        &mut self,
        first: QueuedCommand,
        commands: &mut mpsc::UnboundedReceiver<QueuedCommand>,
    ) {
        if self.needs_reload {
            self.reload().await;
        }
        if self.needs_reload {
            // The dropped command is its reply.
            return;
        }
        self.room.expire(self.now_ms(), &self.server.settings);
        let mut next = Some(first);
        while let Some(queued) = next.take() {
            self.apply(queued).await;
            next = commands.try_recv().ok();
        }
        self.commit().await;
    }

    async fn apply(&mut self, QueuedCommand { mut command, since }: QueuedCommand) {
        if let RoomCommand::Suggest(update, _) = &mut command
            && self.recall_suggestion(update).await.is_err()
        {
            return;
        }
        let (id, tail) = (self.document.clone(), self.room.tail_start());
        let older = if since < tail {
            let read = self
                .server
                .client
                .ask(move |database| database.documents[&id].store.updates_between(since, tail));
            match read.await {
                Ok(older) => older,
                Err(_) => return,
            }
        } else {
            Vec::new()
        };
        let SimulatedNode { people, settings, .. } = &*self.server;
        self.room.take(command, older, people, self.now_ms(), settings);
    }

    /// Looks for the newest suggestion of a person, if it has ended.
    async fn recall_suggestion(&mut self, update: &mut SuggestionUpdate) -> StoreResult<()> {
        let mut open = self.room.open().values();
        if let Some(live) = open.find(|request| request.is_suggestion_of(&update.by)) {
            if self.server.has_mutation(NodeMutation::RevisionNotCompared) {
                update.revision = live.revision().unwrap_or_default();
            }
            return Ok(());
        }
        if self.server.has_mutation(NodeMutation::EndedSuggestionsForgotten) {
            return Ok(());
        }
        let (id, session) = (self.document.clone(), update.by.user.to_string());
        let newest =
            move |database: &mut ModelDatabase| database.documents[&id].newest_request(&session);
        let newest = self.server.client.ask(newest).await?;
        if let Some(record) = newest.filter(|record| self.room.request(&record.id).is_none()) {
            self.room.recall(&record, Text::default(), &[]).unwrap();
        }
        Ok(())
    }

    async fn commit(&mut self) {
        let taken = self.room.take_batch();
        let batch: WriteBatch = taken.batch.ops().iter().cloned().collect();
        if self.server.has_mutation(NodeMutation::BroadcastBeforeStore) {
            self.publish(taken);
            if self.server.commit(&self.document, batch).await.is_err() {
                self.needs_reload = true;
                self.reload().await;
            }
            return;
        }
        match self.server.commit(&self.document, batch).await {
            Ok(()) => self.publish(taken),
            Err(error) => {
                taken.lost(error);
                if !self.server.has_mutation(NodeMutation::FailedBatchStays) {
                    self.needs_reload = true;
                    self.reload().await;
                }
            }
        }
    }

    fn publish(&mut self, taken: copydesk_rooms::simulated_room::SimulatedBatch) {
        let (sink, number) = (Rc::clone(&self.server.output), self.server.number());
        let document = self.document.clone();
        let joined_members = &mut self.joined_members;
        taken.kept(|output| {
            match &output {
                SimulatedOutput::Joined(member) => drop(joined_members.insert(member.clone())),
                SimulatedOutput::Left(member) => drop(joined_members.remove(member)),
                _ => {}
            }
            sink(number, &document, NodeOutput::Room(output));
        });
    }

    /// Reloads the durable state. All members are disconnected.
    async fn reload(&mut self) {
        let Ok(room) = self.server.load_room(&self.document).await else { return };
        self.room = room;
        self.needs_reload = false;
        let disconnected = NodeOutput::Disconnected(std::mem::take(&mut self.joined_members));
        (self.server.output)(self.server.number(), &self.document, disconnected);
    }
}
