//! Tables through which the nodes of a database know of each other. A simulation has its own.

use std::fmt::Debug;

use async_trait::async_trait;

use crate::StoreResult;
use copydesk_ids::DocumentId;
use copydesk_macros::record;

/// Row of a node.
#[record(Clone, Debug)]
pub struct NodeRow {
    /// Number, which no later node has again.
    pub number: i64,
    /// Address at which other nodes reach it.
    pub url: String,
    /// Number of its signs of life.
    pub beat: i64,
}

/// Lease as the table has it.
#[record(Clone, Debug, PartialEq, Eq)]
pub struct LeaseRow {
    /// Number of the node that has it.
    pub node: i64,
    /// Address of that node.
    pub url: String,
    /// Term, which is another one each time that the lease is taken. A node that gives it back
    /// names the term, so that a statement that arrives late ends no later term.
    pub term: i64,
}

/// Message of another node that is stored.
#[record(Debug)]
pub struct StoredMessage {
    /// Number of the node.
    pub node: i64,
    /// Number of the message among those of its node.
    pub number: i64,
    /// The message, as it was sent.
    pub message: String,
}

/// Way by which messages reach the other nodes, besides the table in which they look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageNotice {
    /// `NOTIFY`, in the same transaction.
    Notify,
    /// No `NOTIFY`: the message is only stored, because Redis carries it.
    Stored,
}

/// Signs of life and leases of the nodes, as one of them reads and changes them.
#[async_trait]
pub trait NodeTables: MessageTable {
    /// Gives a sign of life; returns `false` if the node was removed. It need not survive a crash
    /// of the database, so that nothing waits for the disk.
    async fn beat(&self) -> StoreResult<bool>;

    /// Returns the other nodes.
    async fn others(&self) -> StoreResult<Vec<NodeRow>>;

    /// Returns `true` if the session in which a node writes has ended.
    async fn is_unlocked(&self, number: i64) -> StoreResult<bool>;

    /// Removes a node that gave no sign of life since `beat`, and with it its leases; returns
    /// `false` if it gave one meanwhile. Waits for the end of its transaction in progress.
    async fn remove(&self, number: i64, beat: i64) -> StoreResult<bool>;

    /// Takes a lease, unless another node has it; returns the lease as it is afterwards. Taken
    /// again by the node that has it, it begins another term. With a `document`, only if that
    /// exists; otherwise returns `None`.
    ///
    /// # Errors
    /// [`StoreError::Replaced`](crate::StoreError::Replaced) if this node was removed.
    async fn lease(
        &self,
        name: &str,
        document: Option<&DocumentId>,
    ) -> StoreResult<Option<LeaseRow>>;

    /// Returns the number and the address of another node that has a lease.
    async fn holder(&self, name: &str) -> StoreResult<Option<(i64, String)>>;

    /// Gives a lease back, unless a later term of it has begun.
    async fn release(&self, name: &str, term: i64) -> StoreResult<()>;

    /// Gives all leases back.
    async fn release_all(&self) -> StoreResult<()>;

    /// Returns the number of documents that this node has.
    async fn leased_documents(&self) -> StoreResult<usize>;

    /// Removes this node, which writes no more, and closes the connections.
    async fn leave(&self);
}

/// Messages between the nodes, as one of them stores and reads them.
#[async_trait]
pub trait MessageTable: Debug + Send + Sync {
    /// Stores messages of this node, with their numbers. Those that are stored already stay. They
    /// need not survive a crash of the database, so that nothing waits for the disk.
    async fn store(&self, messages: &[(i64, String)], notice: MessageNotice) -> StoreResult<()>;

    /// Returns the stored messages of other nodes that come after these numbers, in the order in
    /// which each node sent them.
    async fn messages_after(&self, read: &[(i64, i64)]) -> StoreResult<Vec<StoredMessage>>;

    /// Removes messages that are older than this.
    async fn forget_messages(&self, older_than_s: i32) -> StoreResult<()>;

    /// Returns a receiver of the messages of all nodes, this one too.
    async fn listen(&self) -> StoreResult<Box<dyn MessageStream>>;
}

/// Messages of all nodes as they are carried.
#[async_trait]
pub trait MessageStream: Send {
    /// Waits for the next message; returns `None` once the connection was lost.
    async fn next(&mut self) -> Option<String>;
}
