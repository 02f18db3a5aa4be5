//! A server of several: the product's node, rooms and session logic, driven as its tasks do, and
//! the connections of people.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use copydesk::ids::{DocumentId, MemberId, Version};
use copydesk::permissions::Principal;
use copydesk::rooms::RoomError;
use copydesk::rooms::command::RoomCommand;
use copydesk::rooms::settings::{ApprovalSwitch, PermissionMode, ServerSettings};
use copydesk::rooms::simulated_room::{SimulatedOutput, SimulatedRoom};
use copydesk::store::session_source::{SessionSource, TransactionAttempts};
use copydesk::store::{
    ClusterNode, LeaseHolder, NodeAddress, NodeNews, StoreError, StoreResult, WriteBatch,
};
use fastrand::Rng;
use tokio::sync::{Mutex, mpsc, oneshot};
use tokio::task::{AbortHandle, spawn_local};
use tokio::time::{sleep, timeout};

use super::link::Link;
use super::mutations::Wrong;
use super::network::lock;
use crate::chance::{self, PEOPLE};

/// So short that some expire.
const TIMEOUT_MS: u64 = 30_000;
/// Time between two looks at a session that is not used.
const LOOK: Duration = Duration::from_secs(5);
/// Time after which a room that could not be loaded again tries once more.
const RETRY: Duration = Duration::from_secs(1);

/// What people are told.
pub type Tell = Rc<dyn Fn(i64, &DocumentId, Told)>;

/// Output of a room, and the end of connections.
pub enum Told {
    Output(SimulatedOutput),
    /// What these were told is not to be relied on: they come back.
    CutOff(BTreeSet<MemberId>),
}

/// A command with what it needs of the store.
pub struct Order {
    pub command: RoomCommand,
    /// The version of which it speaks.
    pub since: Version,
}

enum WriterOrder {
    Commit(DocumentId, WriteBatch, oneshot::Sender<StoreResult<()>>),
    Settle(oneshot::Sender<StoreResult<()>>),
}

/// A process that may stand still.
#[derive(Default)]
struct Gate {
    is_closed: Cell<bool>,
    waiting: RefCell<Vec<Waker>>,
}

struct Gated {
    gate: Rc<Gate>,
    work: Pin<Box<dyn Future<Output = ()>>>,
}

impl Future for Gated {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.gate.is_closed.get() {
            self.gate.waiting.borrow_mut().push(context.waker().clone());
            return Poll::Pending;
        }
        self.work.as_mut().poll(context)
    }
}

pub struct Server {
    pub node: Arc<ClusterNode>,
    pub link: Link,
    rooms: RefCell<BTreeMap<DocumentId, mpsc::UnboundedSender<Order>>>,
    loading: Mutex<()>,
    writer: mpsc::UnboundedSender<WriterOrder>,
    is_unsettled: Cell<bool>,
    /// How far its clock is ahead of others.
    pub skew_ms: u64,
    now_ms: Rc<dyn Fn() -> u64>,
    settings: ServerSettings,
    people: [Principal; PEOPLE.len()],
    tell: Tell,
    gate: Rc<Gate>,
    tasks: RefCell<Vec<AbortHandle>>,
    pub is_dead: Cell<bool>,
    is_stopping: Cell<bool>,
    /// Rooms whose tasks have not ended.
    running: Cell<usize>,
    /// The settings as it knows them.
    pub known_settings: Cell<u64>,
    /// What it heard, by what it is called.
    pub heard: RefCell<BTreeMap<String, usize>>,
    random: RefCell<Rng>,
    wrong: Option<Wrong>,
}

/// What a server needs of the world.
pub struct Surroundings {
    pub link: Link,
    pub skew_ms: u64,
    pub now_ms: Rc<dyn Fn() -> u64>,
    pub tell: Tell,
    pub random: Rng,
    pub wrong: Option<Wrong>,
}

impl Server {
    /// Starts a server that has a row, with its first session.
    pub fn start(it: Surroundings, first: super::link::WritingSession) -> Rc<Self> {
        let Surroundings { link, skew_ms, now_ms, tell, random, wrong } = it;
        let own = NodeAddress { number: link.node, url: format!("http://{}", link.node).into() };
        let node = Arc::new(ClusterNode::simulated(Arc::new(link.clone()), own));
        let (writer, orders) = mpsc::unbounded_channel();
        let server = Rc::new(Self {
            node,
            link: link.clone(),
            rooms: RefCell::default(),
            loading: Mutex::default(),
            writer,
            is_unsettled: Cell::new(false),
            skew_ms,
            now_ms,
            settings: ServerSettings {
                approvals: ApprovalSwitch::On,
                timeout_ms: Some(TIMEOUT_MS),
                permission_mode: PermissionMode::Ask,
            },
            people: PEOPLE.map(chance::person),
            tell,
            gate: Rc::default(),
            tasks: RefCell::default(),
            is_dead: Cell::new(false),
            is_stopping: Cell::new(false),
            running: Cell::new(0),
            known_settings: Cell::new(0),
            heard: RefCell::default(),
            random: RefCell::new(random),
            wrong,
        });
        let source = SessionSource::new(link, first);
        server.does(Rc::clone(&server).writes(source, orders));
        let attending = Arc::clone(&server.node);
        server.does(async move { attending.attend().await });
        server.does(Rc::clone(&server).hears());
        server.does(Rc::clone(&server).ends_when_removed());
        if wrong == Some(Wrong::HintIsTrusted) {
            server.does(Rc::clone(&server).trusts_hints());
        }
        server
    }

    pub fn number(&self) -> i64 {
        self.node.address().number
    }

    fn is(&self, wrong: Wrong) -> bool {
        self.wrong == Some(wrong)
    }

    /// Something that this process does, until it is dead.
    pub fn does(&self, work: impl Future<Output = ()> + 'static) {
        let gated = Gated { gate: Rc::clone(&self.gate), work: Box::pin(work) };
        self.tasks.borrow_mut().push(spawn_local(gated).abort_handle());
    }

    /// The process ends at once.
    pub fn dies(&self) {
        if !self.is_dead.replace(true) {
            self.rooms.borrow_mut().clear();
            self.tasks.borrow_mut().drain(..).for_each(|task| task.abort());
        }
    }

    /// The process stands still, or goes on.
    pub fn stands_still(&self, still: bool) {
        self.gate.is_closed.set(still);
        if !still {
            self.gate.waiting.borrow_mut().drain(..).for_each(Waker::wake);
        }
    }

    pub fn is_still(&self) -> bool {
        self.gate.is_closed.get()
    }

    /// SIGTERM: it stores what it has and gives its documents back.
    pub async fn stops(self: Rc<Self>) {
        self.is_stopping.set(true);
        // Rooms end when nobody can reach them.
        self.rooms.borrow_mut().clear();
        while self.running.get() > 0 {
            sleep(Duration::from_millis(20)).await;
        }
        let (done, stored) = oneshot::channel();
        let is_settled = self.writer.send(WriterOrder::Settle(done)).is_ok()
            && matches!(stored.await, Ok(Ok(())));
        if is_settled || self.is(Wrong::ReleasedBeforeSettled) {
            self.node.release_all().await;
        }
        let node = self.link.node;
        self.link.ask(move |database| database.leave(node)).await.ok();
        self.dies();
    }

    async fn ends_when_removed(self: Rc<Self>) {
        self.node.removed().cancelled().await;
        if self.is(Wrong::RoomsAreKept) {
            // It has a row again, and goes on with what it has.
            let node = self.link.node;
            lock(&self.link.database).beat_anew(node);
            return;
        }
        self.dies();
    }

    // What other servers tell.

    async fn hears(self: Rc<Self>) {
        let mut news = self.node.news();
        self.looks_up_settings().await;
        loop {
            match news.recv().await {
                Ok((_, NodeNews::Settings)) if self.is(Wrong::NewsIsNotLookedUp) => {
                    self.known_settings.set(self.known_settings.get() + 1);
                }
                Ok((_, NodeNews::Cancel(session))) => {
                    *self.heard.borrow_mut().entry(session.to_string()).or_default() += 1;
                }
                Ok((_, NodeNews::Settings | NodeNews::Missed)) | Err(_) => {
                    self.looks_up_settings().await;
                }
                Ok(_) => {}
            }
        }
    }

    async fn looks_up_settings(&self) {
        loop {
            if let Ok(settings) = self.link.ask(|database| database.settings).await {
                self.known_settings.set(settings);
                return;
            }
            sleep(RETRY).await;
        }
    }

    /// An owner has changed the settings here, which is stored.
    pub async fn changes_settings(self: Rc<Self>) {
        let settings = {
            let mut database = lock(&self.link.database);
            database.settings += 1;
            database.settings
        };
        self.known_settings.set(settings);
        self.node.tell(&NodeNews::Settings).await;
    }

    /// Takes all documents when somebody says that leases are free.
    async fn trusts_hints(self: Rc<Self>) {
        let mut departures = self.node.departures();
        while departures.changed().await.is_ok() {
            let documents: Vec<_> = lock(&self.link.database).shelves.keys().cloned().collect();
            for document in documents {
                let is_open = self.rooms.borrow().contains_key(&document);
                if !is_open && let Ok(room) = self.loads(&document).await {
                    self.serves(&document, room);
                }
            }
        }
    }

    // Writing, as the writer of the store does.

    async fn writes(
        self: Rc<Self>,
        mut source: SessionSource<Link>,
        mut orders: mpsc::UnboundedReceiver<WriterOrder>,
    ) {
        loop {
            match timeout(LOOK, orders.recv()).await {
                Ok(None) => return,
                Ok(Some(WriterOrder::Commit(document, batch, answer))) => {
                    let outcome = self.transact(&mut source, &document, &batch).await;
                    self.is_unsettled.set(source.is_unsettled());
                    answer.send(outcome).ok();
                }
                Ok(Some(WriterOrder::Settle(answer))) => {
                    let settled = source.settle().await;
                    self.is_unsettled.set(source.is_unsettled());
                    answer.send(settled).ok();
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
        source: &mut SessionSource<Link>,
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
                    if self.is(Wrong::UnknownIsCommitted) =>
                {
                    return Ok(());
                }
                Some(Err(StoreError::OutcomeUnknown { .. }))
                    if self.is(Wrong::UnknownIsRepeated) => {}
                Some(result) => return result,
                None => {}
            }
        }
    }

    async fn commit(&self, document: &DocumentId, batch: WriteBatch) -> StoreResult<()> {
        if batch.ops().is_empty() {
            return Ok(());
        }
        let (answer, outcome) = oneshot::channel();
        let order = WriterOrder::Commit(document.clone(), batch, answer);
        self.writer.send(order).map_err(|_| StoreError::Closed)?;
        outcome.await.map_err(|_| StoreError::Closed)?
    }

    /// As `Store::settle`.
    async fn settle(&self) -> StoreResult<()> {
        if !self.is_unsettled.get() {
            return Ok(());
        }
        let (answer, settled) = oneshot::channel();
        self.writer.send(WriterOrder::Settle(answer)).map_err(|_| StoreError::Closed)?;
        settled.await.map_err(|_| StoreError::Closed)?
    }

    // Rooms, as their registry and their tasks do.

    /// Has a command done; who has the document, if that is another server.
    pub async fn orders(
        self: &Rc<Self>,
        document: &DocumentId,
        order: Order,
    ) -> Result<(), (i64, Order)> {
        match self.opens(document).await {
            Ok(room) => room.send(order).unwrap_or_default(),
            Err(RoomError::Elsewhere(node)) => return Err((node.number, order)),
            // Whoever asked is told that by the end of the command.
            Err(_) => {}
        }
        Ok(())
    }

    /// Has a command done where the room is open already, or not at all.
    pub fn orders_if_open(&self, document: &DocumentId, order: Order) {
        if let Some(room) = self.rooms.borrow().get(document) {
            room.send(order).ok();
        }
    }

    async fn opens(
        self: &Rc<Self>,
        document: &DocumentId,
    ) -> Result<mpsc::UnboundedSender<Order>, RoomError> {
        let open = self.rooms.borrow().get(document).cloned();
        if let Some(room) = open {
            return Ok(room);
        }
        let _passed = self.loading.lock().await;
        let open = self.rooms.borrow().get(document).cloned();
        if let Some(room) = open {
            return Ok(room);
        }
        match self.node.lease_document(document).await? {
            Some(LeaseHolder::Here) => {}
            Some(LeaseHolder::Elsewhere(node)) => return Err(RoomError::Elsewhere(node)),
            None => return Err(RoomError::NoDocument),
        }
        match self.loads(document).await {
            Ok(_) if self.is_stopping.get() => Err(RoomError::Closed),
            Ok(room) => Ok(self.serves(document, room)),
            Err(error) => {
                self.node.release(document).await;
                Err(error)
            }
        }
    }

    async fn loads(&self, document: &DocumentId) -> Result<SimulatedRoom, RoomError> {
        if !self.is(Wrong::ReloadedBeforeSettled) {
            self.settle().await?;
        }
        let id = document.clone();
        self.link.ask(move |database| database.shelves[&id].disk.room()).await?
    }

    fn serves(
        self: &Rc<Self>,
        document: &DocumentId,
        room: SimulatedRoom,
    ) -> mpsc::UnboundedSender<Order> {
        let (sender, orders) = mpsc::unbounded_channel();
        self.rooms.borrow_mut().insert(document.clone(), sender.clone());
        self.running.set(self.running.get() + 1);
        let task = RoomTask {
            server: Rc::clone(self),
            document: document.clone(),
            room,
            audience: BTreeSet::new(),
            is_broken: false,
        };
        self.does(task.runs(orders));
        sender
    }
}

struct RoomTask {
    server: Rc<Server>,
    document: DocumentId,
    room: SimulatedRoom,
    audience: BTreeSet<MemberId>,
    is_broken: bool,
}

impl Drop for RoomTask {
    fn drop(&mut self) {
        self.server.running.set(self.server.running.get() - 1);
    }
}

impl RoomTask {
    async fn runs(mut self, mut orders: mpsc::UnboundedReceiver<Order>) {
        loop {
            let patience = self.server.random.borrow_mut().u64(500..20_000);
            match timeout(Duration::from_millis(patience), orders.recv()).await {
                Ok(Some(order)) => self.does(order, &mut orders).await,
                // The server stops.
                Ok(None) => return,
                Err(_) if self.is_broken => self.reloads().await,
                Err(_) => {
                    self.room.expire(self.now_ms(), &self.server.settings);
                    self.stores().await;
                    if self.audience.is_empty() && orders.is_empty() {
                        return self.closes(orders).await;
                    }
                }
            }
        }
    }

    fn now_ms(&self) -> u64 {
        (self.server.now_ms)() + self.server.skew_ms
    }

    /// Nobody uses the room any more: the document is given back.
    async fn closes(mut self, mut orders: mpsc::UnboundedReceiver<Order>) {
        let server = Rc::clone(&self.server);
        let _passed = server.loading.lock().await;
        if server.is(Wrong::ReleasedTooEarly) {
            server.node.release(&self.document).await;
        }
        server.rooms.borrow_mut().remove(&self.document);
        orders.close();
        while let Ok(order) = orders.try_recv() {
            self.does(order, &mut orders).await;
        }
        let is_settled = server.is(Wrong::ReleasedBeforeSettled) || server.settle().await.is_ok();
        if is_settled && !server.is(Wrong::ReleasedTooEarly) {
            server.node.release(&self.document).await;
        }
        let left = Told::CutOff(std::mem::take(&mut self.audience));
        (server.tell)(server.number(), &self.document, left);
    }

    /// Applies what is waiting, stores it, then tells and answers.
    async fn does(&mut self, first: Order, orders: &mut mpsc::UnboundedReceiver<Order>) {
        if self.is_broken {
            self.reloads().await;
        }
        if self.is_broken {
            // The command is dropped, which answers it.
            return;
        }
        self.room.expire(self.now_ms(), &self.server.settings);
        let mut next = Some(first);
        while let Some(order) = next.take() {
            self.takes(order).await;
            next = orders.try_recv().ok();
        }
        self.stores().await;
    }

    async fn takes(&mut self, Order { command, since }: Order) {
        let (id, tail) = (self.document.clone(), self.room.tail_start());
        let older = if since < tail {
            let read =
                self.server.link.ask(move |database| database.shelves[&id].disk.older(since, tail));
            match read.await {
                Ok(older) => older,
                Err(_) => return,
            }
        } else {
            Vec::new()
        };
        let Server { people, settings, .. } = &*self.server;
        self.room.take(command, older, people, self.now_ms(), settings);
    }

    async fn stores(&mut self) {
        let taken = self.room.take_batch();
        let batch: WriteBatch = taken.batch.ops().iter().cloned().collect();
        if self.server.is(Wrong::ToldBeforeStored) {
            self.tells(taken);
            if self.server.commit(&self.document, batch).await.is_err() {
                self.is_broken = true;
                self.reloads().await;
            }
            return;
        }
        match self.server.commit(&self.document, batch).await {
            Ok(()) => self.tells(taken),
            Err(error) => {
                taken.lost(error);
                if !self.server.is(Wrong::LostBatchStays) {
                    self.is_broken = true;
                    self.reloads().await;
                }
            }
        }
    }

    fn tells(&mut self, taken: copydesk::rooms::simulated_room::SimulatedBatch) {
        let (tell, number) = (Rc::clone(&self.server.tell), self.server.number());
        let document = self.document.clone();
        let audience = &mut self.audience;
        taken.kept(|output| {
            match &output {
                SimulatedOutput::Joined(member) => drop(audience.insert(member.clone())),
                SimulatedOutput::Left(member) => drop(audience.remove(member)),
                _ => {}
            }
            tell(number, &document, Told::Output(output));
        });
    }

    /// Goes back to what is durable. Everybody comes again.
    async fn reloads(&mut self) {
        let Ok(fresh) = self.server.loads(&self.document).await else { return };
        self.room = fresh;
        self.is_broken = false;
        let left = Told::CutOff(std::mem::take(&mut self.audience));
        (self.server.tell)(self.server.number(), &self.document, left);
    }
}
