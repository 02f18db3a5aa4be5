//! One server's way to the database: statements that may arrive late, and answers that may not
//! arrive. The product's own node and session logic asks through it.

use std::sync::Arc;
use std::time::Duration;

use copydesk::ids::DocumentId;
use copydesk::store::node_tables::{
    LeaseRow, MessageNotice, MessageStream, MessageTable, NodeRow, NodeTables, StoredMessage,
};
use copydesk::store::session_source::WriterSessions;
use copydesk::store::{StoreError, StoreResult, WriteBatch};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{sleep, timeout};

use super::database::{Database, Said, SharedDatabase};
use super::mutations::Wrong;
use super::network::{Place, SharedNetwork, lock, travel};

/// Longest waits, as with PostgreSQL: for an answer, for a lock, for a connection; and the time
/// after which it ends a session that stands still in a transaction.
pub const ANSWER_LIMIT: Duration = Duration::from_secs(30);
const LOCK_LIMIT: Duration = Duration::from_secs(10);
const CONNECT_LIMIT: Duration = Duration::from_secs(15);
const IDLE_LIMIT: Duration = Duration::from_secs(10);

/// One server's way to the database.
#[derive(Clone)]
pub struct Link {
    pub database: SharedDatabase,
    pub network: SharedNetwork,
    pub node: i64,
}

impl std::fmt::Debug for Link {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Link").field("node", &self.node).finish_non_exhaustive()
    }
}

fn lost() -> sqlx::Error {
    sqlx::Error::Io(std::io::ErrorKind::ConnectionReset.into())
}

/// Somebody else had the lock for too long, which is no loss of the connection.
fn locked() -> sqlx::Error {
    sqlx::Error::InvalidArgument("canceling statement due to lock timeout".to_owned())
}

impl Link {
    /// Joins the other servers, with a first session.
    pub fn join(
        database: &SharedDatabase,
        network: &SharedNetwork,
    ) -> Option<(Self, WritingSession)> {
        let opened = {
            let mut database = lock(database);
            if database.is_down {
                return None;
            }
            let node = database.join();
            database.open_session(node)
        };
        let Said::Done(Some((id, transactions, node))) = opened else { return None };
        let link = Self { database: Arc::clone(database), network: Arc::clone(network), node };
        Some((link.clone(), WritingSession { link, id, transactions }))
    }

    fn here(&self) -> Place {
        Place::Server(self.node)
    }

    /// Sends a statement, and waits for the answer as long as `limit`. It arrives whether somebody
    /// waits or not.
    async fn call_within<T: Send + 'static>(
        &self,
        limit: Duration,
        statement: impl Future<Output = sqlx::Result<T>> + Send + 'static,
    ) -> sqlx::Result<T> {
        let (answer, answered) = oneshot::channel();
        let link = self.clone();
        tokio::spawn(async move {
            travel(&link.network, link.here(), Place::Database).await;
            let is_down = {
                let mut database = lock(&link.database);
                database.operations += 1;
                database.is_down
            };
            let result = if is_down { Err(lost()) } else { statement.await };
            travel(&link.network, Place::Database, link.here()).await;
            answer.send(result).ok();
        });
        match timeout(limit, answered).await {
            Ok(Ok(result)) => result,
            _ => Err(sqlx::Error::Io(std::io::ErrorKind::TimedOut.into())),
        }
    }

    async fn call<T: Send + 'static>(
        &self,
        statement: impl Future<Output = sqlx::Result<T>> + Send + 'static,
    ) -> sqlx::Result<T> {
        // Now and then the connection is lost here, while the statement is on its way.
        let is_short = lock(&self.database).random.u8(..8) == 0;
        let limit = if is_short { ANSWER_LIMIT / 15 } else { ANSWER_LIMIT };
        self.call_within(limit, statement).await
    }

    /// A statement that waits for nobody.
    pub async fn ask<T: Send + 'static>(
        &self,
        statement: impl FnOnce(&mut Database) -> T + Send + 'static,
    ) -> StoreResult<T> {
        let database = Arc::clone(&self.database);
        Ok(self.call(async move { Ok(statement(&mut lock(&database))) }).await?)
    }
}

/// Does something in the database as soon as nobody is in the way.
async fn in_turn<T>(
    database: &SharedDatabase,
    attempt: impl Fn(&mut Database) -> Said<T>,
) -> sqlx::Result<T> {
    let waiting = async {
        loop {
            let changed = {
                let mut database = lock(database);
                match attempt(&mut database) {
                    Said::Done(done) => return Ok(done),
                    Said::Reset => return Err(lost()),
                    Said::Wait => Arc::clone(&database.changed),
                }
            };
            changed.notified().await;
        }
    };
    timeout(LOCK_LIMIT, waiting).await.unwrap_or_else(|_| Err(locked()))
}

impl NodeTables for Link {
    fn beat(&self) -> BoxFuture<'_, StoreResult<bool>> {
        let node = self.node;
        self.ask(move |database| database.beat(node)).boxed()
    }

    fn others(&self) -> BoxFuture<'_, StoreResult<Vec<NodeRow>>> {
        let node = self.node;
        self.ask(move |database| database.others(node)).boxed()
    }

    fn is_unlocked(&self, number: i64) -> BoxFuture<'_, StoreResult<bool>> {
        self.ask(move |database| database.is_unlocked(number)).boxed()
    }

    fn remove(&self, number: i64, beat: i64) -> BoxFuture<'_, StoreResult<bool>> {
        let (database, by) = (Arc::clone(&self.database), self.node);
        let removing = async move {
            lock(&database).terminate(number);
            in_turn(&database, |database| database.remove(by, number, beat)).await
        };
        async { Ok(self.call(removing).await?) }.boxed()
    }

    fn lease<'a>(
        &'a self,
        name: &'a str,
        _: Option<&'a DocumentId>,
    ) -> BoxFuture<'a, StoreResult<Option<LeaseRow>>> {
        let (node, name) = (self.node, name.to_owned());
        async move {
            let lease = self.ask(move |database| database.lease(node, &name)).await?;
            lease.ok_or(StoreError::Replaced).map(Some)
        }
        .boxed()
    }

    fn holder<'a>(&'a self, name: &'a str) -> BoxFuture<'a, StoreResult<Option<(i64, String)>>> {
        let (node, name) = (self.node, name.to_owned());
        let holder = move |database: &mut Database| {
            let holder = database.holder(&name).filter(|holder| *holder != node)?;
            Some((holder, database.url(holder)))
        };
        self.ask(holder).boxed()
    }

    fn release<'a>(&'a self, name: &'a str, term: i64) -> BoxFuture<'a, StoreResult<()>> {
        let (node, name) = (self.node, name.to_owned());
        self.ask(move |database| database.release(node, &name, term)).boxed()
    }

    fn release_all(&self) -> BoxFuture<'_, StoreResult<()>> {
        let node = self.node;
        self.ask(move |database| database.release_all(node)).boxed()
    }

    fn leased_documents(&self) -> BoxFuture<'_, StoreResult<usize>> {
        let node = self.node;
        self.ask(move |database| database.leased(node)).boxed()
    }

    fn leave(&self) -> BoxFuture<'_, ()> {
        let node = self.node;
        async move { drop(self.ask(move |database| database.leave(node)).await) }.boxed()
    }
}

impl MessageTable for Link {
    fn store<'a>(
        &'a self,
        messages: &'a [(i64, String)],
        notice: MessageNotice,
    ) -> BoxFuture<'a, StoreResult<()>> {
        let (link, messages) = (self.clone(), messages.to_vec());
        let storing = move |database: &mut Database| {
            database.store_messages(link.node, &messages);
            if notice == MessageNotice::Notify {
                for (_, message) in &messages {
                    carry(&link, database, message);
                }
            }
        };
        self.ask(storing).boxed()
    }

    fn messages_after<'a>(
        &'a self,
        read: &'a [(i64, i64)],
    ) -> BoxFuture<'a, StoreResult<Vec<StoredMessage>>> {
        let (node, read) = (self.node, read.to_vec());
        self.ask(move |database| database.messages_after(node, &read)).boxed()
    }

    fn forget_messages(&self, older_than_s: i32) -> BoxFuture<'_, StoreResult<()>> {
        let older_than = Duration::from_secs(older_than_s.unsigned_abs().into());
        self.ask(move |database| database.forget_messages(older_than)).boxed()
    }

    fn listen(&self) -> BoxFuture<'_, StoreResult<Box<dyn MessageStream>>> {
        async {
            let (sender, messages) = mpsc::unbounded_channel();
            self.ask(move |database| database.listeners.push(sender)).await?;
            Ok(Box::new(Carried(messages)) as Box<dyn MessageStream>)
        }
        .boxed()
    }
}

/// Carries a message to all who listen: now and then never, twice, late or in another order.
fn carry(link: &Link, database: &mut Database, message: &str) {
    let message = match database.wrong {
        Some(Wrong::CarriedIsAnother) => message.replace("\"number\":", "\"number\":9"),
        _ => message.to_owned(),
    };
    for listener in database.listeners.clone() {
        for _ in 0..[1, 1, 1, 1, 0, 2][database.random.usize(..6)] {
            let (message, listener) = (message.clone(), listener.clone());
            let late = [0, 5, 2_500][database.random.usize(..3)];
            let (database, wait) =
                (Arc::clone(&link.database), Duration::from_millis(database.random.u64(..=late)));
            tokio::spawn(async move {
                sleep(wait).await;
                lock(&database).operations += 1;
                listener.send(message).ok();
            });
        }
    }
}

struct Carried(mpsc::UnboundedReceiver<String>);

impl MessageStream for Carried {
    fn next(&mut self) -> BoxFuture<'_, Option<String>> {
        self.0.recv().boxed()
    }
}

/// A session in which a server writes. It ends when it is dropped, as soon as the database hears
/// of that.
pub struct WritingSession {
    link: Link,
    id: u64,
    transactions: u64,
}

impl WriterSessions for Link {
    type Session = WritingSession;

    async fn reconnect(&self) -> StoreResult<(WritingSession, u64)> {
        let (database, node) = (Arc::clone(&self.database), self.node);
        let opening =
            async move { in_turn(&database, |database| database.open_session(node)).await };
        let opened = self.call_within(CONNECT_LIMIT, opening).await;
        let unreachable = |error: sqlx::Error| StoreError::Unreachable {
            database: String::new(),
            reason: error.to_string(),
        };
        let (id, transactions, _) = opened.map_err(unreachable)?.ok_or(StoreError::Replaced)?;
        Ok((WritingSession { link: self.clone(), id, transactions }, transactions))
    }

    fn transactions(session: &WritingSession) -> Option<u64> {
        Some(session.transactions)
    }
}

impl WritingSession {
    /// Whether the connection still works.
    pub async fn is_alive(&self) -> bool {
        let id = self.id;
        self.link.ask(move |database| database.ping(id)).await.is_ok_and(|alive| alive)
    }

    /// Writes a batch in a transaction of its own.
    pub async fn write(&mut self, document: &DocumentId, batch: &WriteBatch) -> StoreResult<()> {
        let work = self.transact(document, batch);
        let written = timeout(ANSWER_LIMIT, work).await;
        let written = written.unwrap_or_else(|_| {
            Err(StoreError::OutcomeUnknown { reason: "there is no answer".to_owned() })
        });
        if written.is_ok() {
            self.transactions += 1;
        }
        written
    }

    async fn transact(&self, document: &DocumentId, batch: &WriteBatch) -> StoreResult<()> {
        let (id, transactions) = (self.id, self.transactions);
        let database = Arc::clone(&self.link.database);
        let beginning = async move {
            let begun = in_turn(&database, |database| database.begin(id, transactions)).await?;
            look_after(&database, id);
            Ok(begun)
        };
        if !self.link.call(beginning).await? {
            return Err(StoreError::Replaced);
        }
        let (database, staged) = (Arc::clone(&self.link.database), batch.clone());
        let name = document.clone();
        let staging = async move {
            let staged = match lock(&database).stage(id, &name, staged) {
                Said::Done(staged) => staged,
                Said::Reset | Said::Wait => return Err(lost()),
            };
            look_after(&database, id);
            Ok(staged)
        };
        if let Err((expected, found)) = self.link.call(staging).await? {
            return Err(StoreError::Conflict { document: document.clone(), expected, found });
        }
        let database = Arc::clone(&self.link.database);
        let committing = async move {
            let (epoch, disk) = {
                let mut database = lock(&database);
                if !database.begin_commit(id) {
                    return Err(lost());
                }
                let most = [4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 400, 400, 12_000, 60_000];
                let most = most[database.random.usize(..most.len())];
                (database.epoch, Duration::from_millis(database.random.u64(..most)))
            };
            sleep(disk).await;
            let mut database = lock(&database);
            if database.epoch != epoch {
                return Err(lost());
            }
            database.commit(id);
            Ok(())
        };
        let unknown = |error: sqlx::Error| StoreError::OutcomeUnknown { reason: error.to_string() };
        self.link.call(committing).await.map_err(unknown)
    }
}

/// Ends the session if nothing more is asked of it in its transaction.
fn look_after(database: &SharedDatabase, session: u64) {
    let (database, stamp) = (Arc::clone(database), lock(database).stamp(session));
    tokio::spawn(async move {
        sleep(IDLE_LIMIT).await;
        lock(&database).end_if_left_alone(session, stamp);
    });
}

impl Drop for WritingSession {
    fn drop(&mut self) {
        let Ok(runtime) = Handle::try_current() else { return };
        let (link, id) = (self.link.clone(), self.id);
        runtime.spawn(async move {
            travel(&link.network, link.here(), Place::Database).await;
            lock(&link.database).end_session(id);
        });
    }
}
