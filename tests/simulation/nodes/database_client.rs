//! A node's client of the model database. Statements may arrive late, and replies may be lost. The
//! product's own node and session logic uses it.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use copydesk_ids::DocumentId;
use copydesk_store::node_tables::{
    LeaseRow, MessageNotice, MessageStream, MessageTable, NodeRow, NodeTables, StoredMessage,
};
use copydesk_store::session_source::WriterSessions;
use copydesk_store::{StoreError, StoreResult, WriteBatch};
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{sleep, timeout};

use super::model_database::{ModelDatabase, SharedModelDatabase, StatementOutcome};
use super::node_mutations::NodeMutation;
use super::simulated_network::{NetworkEndpoint, SharedNetwork, transmit};

/// Longest waits, as with PostgreSQL: for a reply, a lock, a connection; and the time after which
/// the database ends an idle session in a transaction.
pub const ANSWER_LIMIT: Duration = Duration::from_secs(30);
const LOCK_LIMIT: Duration = Duration::from_secs(10);
const CONNECT_LIMIT: Duration = Duration::from_secs(15);
const IDLE_LIMIT: Duration = Duration::from_secs(10);
/// Longest time for which the release of a lease is on its way, in milliseconds, and the time after
/// which its sender gives up then.
const LONGEST_RELEASE_MS: u64 = 20_000;
const GIVEN_UP_LIMIT: Duration = Duration::from_millis(50);

/// One node's client of the model database.
#[derive(Clone)]
pub struct DatabaseClient {
    pub database: SharedModelDatabase,
    pub network: SharedNetwork,
    pub node: i64,
}

impl std::fmt::Debug for DatabaseClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DatabaseClient").field("node", &self.node).finish_non_exhaustive()
    }
}

fn connection_lost() -> sqlx::Error {
    sqlx::Error::Io(std::io::ErrorKind::ConnectionReset.into())
}

/// Returns the error of a lock that took too long, which is no loss of the connection.
fn lock_timeout() -> sqlx::Error {
    sqlx::Error::InvalidArgument("canceling statement due to lock timeout".to_owned())
}

impl DatabaseClient {
    /// Joins the cluster, and opens a first session.
    pub fn join(
        database: &SharedModelDatabase,
        network: &SharedNetwork,
    ) -> Option<(Self, WritingSession)> {
        let opened = {
            let mut database = database.lock();
            if database.is_down {
                return None;
            }
            let node = database.join();
            database.open_session(node)
        };
        let StatementOutcome::Done(Some((id, transactions, node))) = opened else { return None };
        let client = Self { database: Arc::clone(database), network: Arc::clone(network), node };
        Some((client.clone(), WritingSession { client, id, transactions }))
    }

    fn endpoint(&self) -> NetworkEndpoint {
        NetworkEndpoint::Node(self.node)
    }

    /// Sends a statement, and waits for the reply up to `limit`. The statement arrives in any case.
    async fn call_with_limit<T: Send + 'static>(
        &self,
        limit: Duration,
        statement: impl Future<Output = sqlx::Result<T>> + Send + 'static,
    ) -> sqlx::Result<T> {
        let (answer, answered) = oneshot::channel();
        let client = self.clone();
        tokio::spawn(async move {
            transmit(&client.network, client.endpoint(), NetworkEndpoint::Database).await;
            let is_down = {
                let mut database = client.database.lock();
                database.operations += 1;
                database.is_down
            };
            let result = if is_down { Err(connection_lost()) } else { statement.await };
            transmit(&client.network, NetworkEndpoint::Database, client.endpoint()).await;
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
        // Now and then the client gives up while the statement is on its way.
        let is_cut_short = self.database.lock().random.u8(..8) == 0;
        let limit = if is_cut_short { ANSWER_LIMIT / 15 } else { ANSWER_LIMIT };
        self.call_with_limit(limit, statement).await
    }

    /// Executes a statement that needs no lock.
    pub async fn ask<T: Send + 'static>(
        &self,
        statement: impl FnOnce(&mut ModelDatabase) -> T + Send + 'static,
    ) -> StoreResult<T> {
        let database = Arc::clone(&self.database);
        Ok(self.call(async move { Ok(statement(&mut database.lock())) }).await?)
    }
}

/// Repeats an attempt until it is not blocked.
async fn when_unblocked<T>(
    database: &SharedModelDatabase,
    attempt: impl Fn(&mut ModelDatabase) -> StatementOutcome<T>,
) -> sqlx::Result<T> {
    let waiting = async {
        loop {
            let changed = {
                let mut database = database.lock();
                match attempt(&mut database) {
                    StatementOutcome::Done(done) => return Ok(done),
                    StatementOutcome::SessionEnded => return Err(connection_lost()),
                    StatementOutcome::Blocked => Arc::clone(&database.changed),
                }
            };
            changed.notified().await;
        }
    };
    timeout(LOCK_LIMIT, waiting).await.unwrap_or_else(|_| Err(lock_timeout()))
}

#[async_trait]
impl NodeTables for DatabaseClient {
    async fn beat(&self) -> StoreResult<bool> {
        let node = self.node;
        self.ask(move |database| database.beat(node)).await
    }

    async fn others(&self) -> StoreResult<Vec<NodeRow>> {
        let node = self.node;
        self.ask(move |database| database.others(node)).await
    }

    async fn is_unlocked(&self, number: i64) -> StoreResult<bool> {
        self.ask(move |database| database.is_unlocked(number)).await
    }

    async fn remove(&self, number: i64, beat: i64) -> StoreResult<bool> {
        let (database, by) = (Arc::clone(&self.database), self.node);
        let removing = async move {
            database.lock().terminate(number);
            when_unblocked(&database, |database| database.remove(by, number, beat)).await
        };
        Ok(self.call(removing).await?)
    }

    async fn lease(&self, name: &str, _: Option<&DocumentId>) -> StoreResult<Option<LeaseRow>> {
        let (node, name) = (self.node, name.to_owned());
        let lease = self.ask(move |database| database.lease(node, &name)).await?;
        lease.ok_or(StoreError::Replaced).map(Some)
    }

    async fn holder(&self, name: &str) -> StoreResult<Option<(i64, String)>> {
        let (node, name) = (self.node, name.to_owned());
        let holder = move |database: &mut ModelDatabase| {
            let holder = database.holder(&name).filter(|holder| *holder != node)?;
            Some((holder, database.url(holder)))
        };
        self.ask(holder).await
    }

    async fn release(&self, name: &str, term: i64) -> StoreResult<()> {
        let (database, node, name) = (Arc::clone(&self.database), self.node, name.to_owned());
        // Now and then the client gives up while the statement is on its way for long.
        let delay_ms = {
            let random = &mut self.database.lock().random;
            if random.u8(..3) == 0 { random.u64(..=LONGEST_RELEASE_MS) } else { 0 }
        };
        let limit = if delay_ms > 0 { GIVEN_UP_LIMIT } else { ANSWER_LIMIT };
        let releasing = async move {
            sleep(Duration::from_millis(delay_ms)).await;
            database.lock().release(node, &name, term);
            Ok(())
        };
        Ok(self.call_with_limit(limit, releasing).await?)
    }

    async fn release_all(&self) -> StoreResult<()> {
        let node = self.node;
        self.ask(move |database| database.release_all(node)).await
    }

    async fn leased_documents(&self) -> StoreResult<usize> {
        let node = self.node;
        self.ask(move |database| database.lease_count(node)).await
    }

    async fn leave(&self) {
        let node = self.node;
        let database = Arc::clone(&self.database);
        let leaving = async move { when_unblocked(&database, |it| it.leave(node)).await };
        drop(self.call_with_limit(ANSWER_LIMIT, leaving).await);
    }
}

#[async_trait]
impl MessageTable for DatabaseClient {
    async fn store(&self, messages: &[(i64, String)], notice: MessageNotice) -> StoreResult<()> {
        let (client, messages) = (self.clone(), messages.to_vec());
        let storing = move |database: &mut ModelDatabase| {
            database.store_messages(client.node, &messages);
            if notice == MessageNotice::Notify {
                for (_, message) in &messages {
                    notify_listeners(&client, database, message);
                }
            }
        };
        self.ask(storing).await
    }

    async fn messages_after(&self, read: &[(i64, i64)]) -> StoreResult<Vec<StoredMessage>> {
        let (node, read) = (self.node, read.to_vec());
        self.ask(move |database| database.messages_after(node, &read)).await
    }

    async fn forget_messages(&self, older_than_s: i32) -> StoreResult<()> {
        let older_than = Duration::from_secs(older_than_s.unsigned_abs().into());
        self.ask(move |database| database.forget_messages(older_than)).await
    }

    async fn listen(&self) -> StoreResult<Box<dyn MessageStream>> {
        let (sender, messages) = mpsc::unbounded_channel();
        self.ask(move |database| database.listeners.push(sender)).await?;
        Ok(Box::new(NotificationStream(messages)) as Box<dyn MessageStream>)
    }
}

/// Sends a notification to all listeners: now and then never, twice, late or out of order.
fn notify_listeners(client: &DatabaseClient, database: &mut ModelDatabase, message: &str) {
    let message = match database.mutation {
        Some(NodeMutation::NotificationsNotDeduplicated) => {
            message.replace("\"number\":", "\"number\":9")
        }
        _ => message.to_owned(),
    };
    for listener in database.listeners.clone() {
        for _ in 0..[1, 1, 1, 1, 0, 2][database.random.usize(..6)] {
            let (message, listener) = (message.clone(), listener.clone());
            let max_delay_ms = [0, 5, 2_500][database.random.usize(..3)];
            let (database, wait) = (
                Arc::clone(&client.database),
                Duration::from_millis(database.random.u64(..=max_delay_ms)),
            );
            tokio::spawn(async move {
                sleep(wait).await;
                database.lock().operations += 1;
                listener.send(message).ok();
            });
        }
    }
}

/// The notifications that a listener receives.
struct NotificationStream(mpsc::UnboundedReceiver<String>);

#[async_trait]
impl MessageStream for NotificationStream {
    async fn next(&mut self) -> Option<String> {
        self.0.recv().await
    }
}

/// A session in which a node writes. After a drop it ends as soon as the database learns of it.
pub struct WritingSession {
    client: DatabaseClient,
    id: u64,
    transactions: u64,
}

impl WriterSessions for DatabaseClient {
    type Session = WritingSession;

    async fn reconnect(&self) -> StoreResult<(WritingSession, u64)> {
        let client = self.clone();
        let opening = async move {
            let opened =
                when_unblocked(&client.database, |it| it.open_session(client.node)).await?;
            // A session that no caller receives, because the client gave up, ends like any other.
            Ok(opened.map(|(id, transactions, _)| WritingSession { client, id, transactions }))
        };
        let opened = self.call_with_limit(CONNECT_LIMIT, opening).await;
        let unreachable = |error: sqlx::Error| StoreError::Unreachable {
            database: String::new(),
            reason: error.to_string(),
        };
        let session = opened.map_err(unreachable)?.ok_or(StoreError::Replaced)?;
        let transactions = session.transactions;
        Ok((session, transactions))
    }

    fn transactions(session: &WritingSession) -> Option<u64> {
        Some(session.transactions)
    }
}

impl WritingSession {
    /// Returns whether the connection still works.
    pub async fn is_alive(&self) -> bool {
        let id = self.id;
        self.client.ask(move |database| database.ping(id)).await.is_ok_and(|alive| alive)
    }

    /// Writes a batch in a transaction of its own.
    pub async fn write(&mut self, document: &DocumentId, batch: &WriteBatch) -> StoreResult<()> {
        let transaction = self.transact(document, batch);
        let written = timeout(ANSWER_LIMIT, transaction).await;
        let written = written.unwrap_or_else(|_| {
            Err(StoreError::OutcomeUnknown { reason: "there was no reply".to_owned() })
        });
        if written.is_ok() {
            self.transactions += 1;
        }
        written
    }

    async fn transact(&self, document: &DocumentId, batch: &WriteBatch) -> StoreResult<()> {
        let (id, transactions) = (self.id, self.transactions);
        let database = Arc::clone(&self.client.database);
        let beginning = async move {
            let begun =
                when_unblocked(&database, |database| database.begin(id, transactions)).await?;
            end_when_idle(&database, id);
            Ok(begun)
        };
        if !self.client.call(beginning).await? {
            return Err(StoreError::Replaced);
        }
        let (database, staged) = (Arc::clone(&self.client.database), batch.clone());
        let name = document.clone();
        let staging = async move {
            let staged = match database.lock().stage(id, &name, staged) {
                StatementOutcome::Done(staged) => staged,
                StatementOutcome::SessionEnded | StatementOutcome::Blocked => {
                    return Err(connection_lost());
                }
            };
            end_when_idle(&database, id);
            Ok(staged)
        };
        if let Err((expected, found)) = self.client.call(staging).await? {
            return Err(StoreError::Conflict { document: document.clone(), expected, found });
        }
        let database = Arc::clone(&self.client.database);
        let committing = async move {
            let (crash_count, write_time) = {
                let mut database = database.lock();
                if !database.begin_commit(id) {
                    return Err(connection_lost());
                }
                let most = [4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 400, 400, 12_000, 60_000];
                let most = most[database.random.usize(..most.len())];
                (database.crash_count, Duration::from_millis(database.random.u64(..most)))
            };
            sleep(write_time).await;
            let mut database = database.lock();
            if database.crash_count != crash_count {
                return Err(connection_lost());
            }
            database.commit(id);
            Ok(())
        };
        let unknown = |error: sqlx::Error| StoreError::OutcomeUnknown { reason: error.to_string() };
        self.client.call(committing).await.map_err(unknown)
    }
}

/// Ends the session later if no further statement comes in its transaction.
fn end_when_idle(database: &SharedModelDatabase, session: u64) {
    let (database, activity) = (Arc::clone(database), database.lock().activity(session));
    tokio::spawn(async move {
        sleep(IDLE_LIMIT).await;
        database.lock().end_if_idle(session, activity);
    });
}

impl Drop for WritingSession {
    fn drop(&mut self) {
        let Ok(runtime) = Handle::try_current() else { return };
        let (client, id) = (self.client.clone(), self.id);
        runtime.spawn(async move {
            transmit(&client.network, client.endpoint(), NetworkEndpoint::Database).await;
            client.database.lock().end_session(id);
        });
    }
}
