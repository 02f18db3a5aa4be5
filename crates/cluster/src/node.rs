//! One of several servers ("nodes") that share a PostgreSQL database: its signs of life, its
//! leases, and short messages between nodes.
//!
//! A message is stored in the database, where each node looks once a second, and carried to the
//! others at once, by PostgreSQL's `NOTIFY` or by Redis. That may lose it; what is stored may not.
//!
//! A node has a row in the database, and writes only while that row is there. A lease belongs to
//! the row: it ends when its node gives it back, or when the row is removed. So a node that has
//! taken a document's lease is the only one that writes the document, for as long as it can write
//! at all. Who gives no sign of life is removed by the others.

mod message_key;
mod messages;
mod placement;
pub(super) mod redis_channel;
mod sightings;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{broadcast, watch};
use tokio::time::{Instant, MissedTickBehavior};
use tokio_util::sync::CancellationToken;

use copydesk_ids::DocumentId;
use copydesk_metrics as metrics;
use copydesk_placement::{OtherServer, PeerMessage, Placement as _, RedisUrl};
use copydesk_store::node_tables::{LeaseRow, MessageNotice, NodeTables};
use copydesk_store::{NodeConnections, StoreError, StoreResult};
use message_key::MessageKey;
use messages::{ArrivedMessages, NodeMessage, UnstoredMessages};
use redis_channel::RedisChannel;
use sightings::{NodeLook, NodeSightings};

/// Interval of the signs of life.
const BEAT: Duration = Duration::from_secs(1);
/// Number of messages that may wait for a receiver before it loses some.
const MESSAGES: usize = 1_024;
/// Time for which another node is taken to have what it had: then the database is asked again,
/// since what is given back is announced to no one.
const ELSEWHERE_AGE: Duration = Duration::from_secs(10);
/// Pause before the connection for messages is opened again.
const LISTEN_AGAIN: Duration = Duration::from_millis(500);
/// Age in seconds at which stored messages are removed: no node that is alive looks so late.
const MESSAGE_AGE_S: i32 = 30;
/// Number of beats between two removals of old messages.
const LOOKS: u64 = 15;

/// Place of a lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LeaseHolder {
    /// This node.
    Here,
    /// Another node.
    Elsewhere(OtherServer),
}

/// Channel that carries messages to the other nodes at once.
#[derive(Debug)]
enum MessageCarrier {
    /// PostgreSQL's `NOTIFY`.
    Database,
    /// A channel of Redis.
    Redis(RedisChannel),
}

/// This server as one of several.
#[derive(Debug)]
pub struct ClusterNode {
    tables: Arc<dyn NodeTables>,
    carrier: MessageCarrier,
    /// Key by which messages are known that are carried; a simulation has none.
    key: Option<MessageKey>,
    own: OtherServer,
    sightings: Mutex<NodeSightings>,
    /// Leases that other nodes had when they were last asked for, and when that was.
    elsewhere: Mutex<HashMap<String, (OtherServer, Instant)>>,
    /// Terms of the leases that this node has taken.
    terms: Mutex<HashMap<String, i64>>,
    /// Tasks that this node has, until it ends.
    tasks: Mutex<HashSet<String>>,
    unstored: Mutex<UnstoredMessages>,
    /// Held while messages are stored, so that they are in their order.
    storing: tokio::sync::Mutex<()>,
    arrived: Mutex<ArrivedMessages>,
    news: broadcast::Sender<(i64, PeerMessage)>,
    /// Number of times that leases became free.
    departures: watch::Sender<u64>,
    /// Time of the last look at the other nodes that succeeded.
    looked: Mutex<Instant>,
    removed: CancellationToken,
}

impl ClusterNode {
    /// Returns the node with the row of these connections, which other nodes reach at `address`.
    /// With `redis`, that carries its messages.
    ///
    /// # Errors
    /// [`StoreError::Database`] if the database cannot be asked, [`StoreError::Corrupt`] if the key
    /// of the nodes is damaged.
    pub async fn start(
        connections: Arc<NodeConnections>,
        redis: Option<RedisUrl>,
        address: &str,
    ) -> StoreResult<Self> {
        let number = connections.number();
        let (channel, secret) = connections.channel().await?;
        let key = MessageKey::new(&secret).ok_or_else(|| StoreError::Corrupt {
            what: "the key of the nodes".to_owned(),
            reason: "it cannot be one".to_owned(),
        })?;
        let carrier = match redis {
            Some(redis) => MessageCarrier::Redis(RedisChannel::new(redis, channel, number)),
            None => MessageCarrier::Database,
        };
        let told_before = connections.last_messages().await?;
        let own = OtherServer { number, url: address.into() };
        let node = Self::with_tables(connections, carrier, own, told_before);
        Ok(Self { key: Some(key), ..node })
    }

    /// Returns the node at this address over tables of a simulation, which has a row there.
    #[cfg(feature = "rehearsal")]
    pub fn simulated(tables: Arc<dyn NodeTables>, own: OtherServer) -> Self {
        Self::with_tables(tables, MessageCarrier::Database, own, Vec::new())
    }

    fn with_tables(
        tables: Arc<dyn NodeTables>,
        carrier: MessageCarrier,
        own: OtherServer,
        told_before: Vec<(i64, i64)>,
    ) -> Self {
        Self {
            tables,
            carrier,
            key: None,
            own,
            sightings: Mutex::default(),
            elsewhere: Mutex::default(),
            terms: Mutex::default(),
            tasks: Mutex::default(),
            unstored: Mutex::default(),
            storing: tokio::sync::Mutex::default(),
            arrived: Mutex::new(ArrivedMessages::after(told_before)),
            news: broadcast::Sender::new(MESSAGES),
            departures: watch::Sender::new(0),
            looked: Mutex::new(Instant::now()),
            removed: CancellationToken::new(),
        }
    }

    /// Returns the address of this node.
    pub fn address(&self) -> &OtherServer {
        &self.own
    }

    /// Returns a token that fires when the other nodes have removed this one: what it holds in
    /// memory is out of date, and it writes nothing more.
    pub fn removed(&self) -> &CancellationToken {
        &self.removed
    }

    /// Returns a receiver of what the other nodes tell, with their numbers.
    pub fn news(&self) -> broadcast::Receiver<(i64, PeerMessage)> {
        self.news.subscribe()
    }

    /// Takes the lease of a document, unless another node has it. Returns `None` if there is no
    /// such document.
    ///
    /// # Errors
    /// [`StoreError::Replaced`] if this node was removed, [`StoreError::Database`] if the database
    /// cannot be asked.
    pub async fn lease_document(&self, document: &DocumentId) -> StoreResult<Option<LeaseHolder>> {
        self.lease(document_lease(document), Some(document)).await
    }

    /// Takes the lease of a task of this name, unless another node has it.
    async fn lease_task(&self, name: &str) -> StoreResult<LeaseHolder> {
        if self.has_task(name) {
            return Ok(LeaseHolder::Here);
        }
        let holder = self.lease(task_lease(name), None).await?.unwrap_or(LeaseHolder::Here);
        if holder == LeaseHolder::Here {
            self.tasks.lock().insert(name.to_owned());
        }
        Ok(holder)
    }

    /// Returns the other node that has a lease; takes nothing.
    async fn other_node(&self, name: String) -> StoreResult<Option<OtherServer>> {
        let holder = self.tables.holder(&name).await?;
        Ok(holder.map(|(number, url)| OtherServer { number, url: url.into() }))
    }

    /// Returns `true` if this node sees another one of this number.
    pub fn sees(&self, number: i64) -> bool {
        self.sightings.lock().has(number)
    }

    /// Forgets which node has a document, so that the next lease asks the database.
    pub fn forget(&self, document: &DocumentId) {
        self.elsewhere.lock().remove(&document_lease(document));
    }

    /// Forgets what a node has, because it does not answer.
    pub fn forget_node(&self, number: i64) {
        self.elsewhere.lock().retain(|_, (node, _)| node.number != number);
    }

    async fn lease(
        &self,
        name: String,
        document: Option<&DocumentId>,
    ) -> StoreResult<Option<LeaseHolder>> {
        if self.removed.is_cancelled() {
            return Err(StoreError::Replaced);
        }
        // No text of PostgreSQL has it, so there is nothing of this name.
        if name.contains('\0') {
            return Ok(None);
        }
        if let Some((node, at)) = self.elsewhere.lock().get(&name)
            && at.elapsed() < ELSEWHERE_AGE
        {
            return Ok(Some(LeaseHolder::Elsewhere(node.clone())));
        }
        let departures = *self.departures.borrow();
        let Some(LeaseRow { node, url, term }) = self.tables.lease(&name, document).await? else {
            return Ok(None);
        };
        if node == self.own.number {
            self.terms.lock().insert(name, term);
            return Ok(Some(LeaseHolder::Here));
        }
        let node = OtherServer { number: node, url: url.into() };
        let mut elsewhere = self.elsewhere.lock();
        // An answer from before a departure may be about the node that is gone.
        if *self.departures.borrow() == departures {
            elsewhere.insert(name, (node.clone(), Instant::now()));
        }
        Ok(Some(LeaseHolder::Elsewhere(node)))
    }

    /// Gives signs of life, watches the other nodes and receives their messages; ends when this
    /// node was removed.
    pub async fn attend(&self) {
        let receive = async {
            match &self.carrier {
                MessageCarrier::Database => self.listen().await,
                MessageCarrier::Redis(channel) => {
                    channel.attend(|it| self.receive_carried(it)).await;
                }
            }
        };
        // None waits for another: a look can take longer than the others wait for a sign.
        tokio::select! {
            biased;
            () = self.give_signs() => {}
            () = self.look_around() => {}
            () = receive => {}
        }
    }

    /// Gives signs of life until this node was removed.
    async fn give_signs(&self) {
        let mut ticks = tokio::time::interval(BEAT);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            match self.tables.beat().await {
                Ok(true) => {}
                Ok(false) => {
                    tracing::error!("the other nodes have removed this one");
                    self.removed.cancel();
                    return;
                }
                Err(error) => tracing::warn!(%error, "cannot give a sign of life"),
            }
        }
    }

    /// Looks at the other nodes and reads their messages, for ever.
    async fn look_around(&self) {
        let mut ticks = tokio::time::interval(BEAT);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut looks: u64 = 0;
        let mut is_blind = false;
        loop {
            ticks.tick().await;
            match self.look().await {
                Ok(()) => {
                    *self.looked.lock() = Instant::now();
                    if std::mem::take(&mut is_blind) {
                        self.note_missed();
                    }
                }
                Err(error) => {
                    // No node is judged by what could not be seen.
                    self.sightings.lock().forget_all();
                    is_blind = true;
                    tracing::warn!(%error, "cannot look at the other nodes");
                }
            }
            looks += 1;
            if looks.is_multiple_of(LOOKS)
                && let Err(error) = self.tables.forget_messages(MESSAGE_AGE_S).await
            {
                tracing::warn!(%error, "cannot remove old messages");
            }
        }
    }

    /// Reads the messages of the others, and removes those that are lost.
    async fn look(&self) -> StoreResult<()> {
        self.store_messages().await?;
        self.read_messages().await?;
        let others = self.tables.others().await?;
        let mut is_any_gone = self.sightings.lock().note(&others);
        for other in &others {
            let look = self.sightings.lock().look(other);
            let is_lost = match look {
                NodeLook::Alive => false,
                NodeLook::Quiet => self.tables.is_unlocked(other.number).await?,
                NodeLook::Lost => true,
            };
            if is_lost && self.tables.remove(other.number, other.beat).await? {
                tracing::warn!(node = other.number, url = other.url, "a node was lost");
                metrics::NODES_LOST.count();
                self.sightings.lock().forget(other.number);
                is_any_gone = true;
                self.tell(&PeerMessage::Released).await;
            }
        }
        if is_any_gone {
            // It may have ended before it could tell something.
            self.note_missed();
        }
        Ok(())
    }

    /// Stores the messages that wait for it. They wait on if it fails.
    async fn store_messages(&self) -> StoreResult<()> {
        let _turn = self.storing.lock().await;
        loop {
            let next = self.unstored.lock().next();
            let Some((last, _)) = next.last() else { return Ok(()) };
            let notice = match &self.carrier {
                MessageCarrier::Database => MessageNotice::Notify,
                MessageCarrier::Redis(_) => MessageNotice::Stored,
            };
            self.tables.store(&next, notice).await?;
            self.unstored.lock().stored(*last);
        }
    }

    /// Reads the messages that nothing has carried here.
    async fn read_messages(&self) -> StoreResult<()> {
        let read = self.arrived.lock().last_read();
        for stored in self.tables.messages_after(&read).await? {
            if self.arrived.lock().is_new_read(stored.node, stored.number)
                && let Some(message) = read_message(&stored.message)
            {
                self.note_message(message);
            }
        }
        self.arrived.lock().tidy();
        Ok(())
    }

    /// Notes that messages may be lost, and leases free.
    fn note_missed(&self) {
        self.note_departure();
        drop(self.news.send((self.own.number, PeerMessage::Missed)));
    }

    async fn listen(&self) {
        let mut is_again = false;
        loop {
            match self.tables.listen().await {
                Ok(mut carried) => {
                    // A database that was restarted in between has lost what was announced last.
                    if std::mem::replace(&mut is_again, true) {
                        self.note_missed();
                    }
                    while let Some(message) = carried.next().await {
                        self.receive_carried(&message);
                    }
                }
                Err(error) => tracing::warn!(%error, "cannot listen to the other nodes"),
            }
            tokio::time::sleep(LISTEN_AGAIN).await;
        }
    }

    /// Takes a message that was carried here, where others may write, too.
    fn receive_carried(&self, message: &str) {
        if self.key.as_ref().is_some_and(|key| !key.has_signed(message)) {
            // Of a node of a former version, it is found in the database.
            return tracing::debug!("a message that was carried here is of no node");
        }
        let Some(message) = read_message(message) else { return };
        let NodeMessage { from, number, .. } = message;
        if from != self.own.number && self.arrived.lock().is_new_carried(from, number) {
            tracing::debug!(node = from, "a message of another node was carried here");
            self.note_message(message);
        }
    }

    fn note_message(&self, NodeMessage { from, news, .. }: NodeMessage) {
        match news {
            PeerMessage::Released => self.note_departure(),
            PeerMessage::Workspace => {
                self.note_departure();
                drop(self.news.send((from, PeerMessage::Workspace)));
            }
            // Without receivers no one has to know.
            news => drop(self.news.send((from, news))),
        }
    }
}

/// Reads a message of another node; `None`, logged, for one that this version does not know.
fn read_message(message: &str) -> Option<NodeMessage> {
    let read = serde_json::from_str(message).ok();
    if read.is_none() {
        tracing::debug!(bytes = message.len(), "cannot read the message of a node");
    }
    read
}

/// Returns the name of the lease of a document.
fn document_lease(document: &DocumentId) -> String {
    format!("document/{document}")
}

/// Returns the name of the lease of a task.
fn task_lease(task: &str) -> String {
    format!("task/{task}")
}
