//! Placement: which of the servers that share a database works on a document, or on a task.
//!
//! Everybody who opens a document claims it first. On a server that is the only one
//! ([`SingleServer`]) this does nothing. Where there are several, `copydesk-cluster` decides.

mod peer_message;
mod redis_url;
mod single_server;

use std::fmt::Debug;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use tokio::sync::watch;

use copydesk_ids::DocumentId;
use copydesk_store::{StoreError, StoreResult};

pub use peer_message::{CountedApi, PeerMessage};
pub use redis_url::RedisUrl;
pub use single_server::SingleServer;

/// Another server. Only the cluster looks inside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherServer {
    /// Number, which no later server has again.
    pub number: i64,
    /// Address at which this server reaches it, such as `http://10.0.0.5:4680`.
    pub url: Arc<str>,
}

/// Reason why this server may not work on a document now. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotHere {
    /// Another server has it.
    #[error("another server has this document at the moment; try again")]
    OtherServer(OtherServer),
    /// It needs the workspace, and no server that has it is running.
    #[error(
        "no server that has the workspace is running at the moment; nothing was changed, and what waits is kept: try again once it is back"
    )]
    NoWorkspaceServer,
}

/// Error of a document that cannot be claimed.
#[derive(Debug, thiserror::Error)]
pub enum ClaimError {
    /// Another server has it.
    #[error(transparent)]
    NotHere(#[from] NotHere),
    /// Unknown document.
    #[error("there is no such document")]
    NoDocument,
    /// Failure of the database.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Placement of documents and tasks on the servers that share a database.
pub trait Placement: Debug + Send + Sync {
    /// Returns `true` if other servers may share the database.
    fn is_shared(&self) -> bool;

    /// Claims a document, unless another server has it.
    fn claim<'a>(&'a self, document: &'a DocumentId) -> BoxFuture<'a, Result<(), ClaimError>>;

    /// Claims a document that is about to be created.
    fn claim_new<'a>(&'a self, document: &'a DocumentId) -> BoxFuture<'a, StoreResult<()>>;

    /// Gives a document back. If that fails, this server keeps it, which is no harm.
    fn release<'a>(&'a self, document: &'a DocumentId) -> BoxFuture<'a, ()>;

    /// Gives everything back, before this server stops.
    fn release_all(&self) -> BoxFuture<'_, ()>;

    /// Returns the other server that has a document; claims nothing.
    fn other_server_of<'a>(
        &'a self,
        document: &'a DocumentId,
    ) -> BoxFuture<'a, StoreResult<Option<OtherServer>>>;

    /// Claims a task until this server ends, unless another one has it; returns `true` if this one
    /// has it then.
    fn claim_task<'a>(&'a self, task: &'a str) -> BoxFuture<'a, StoreResult<bool>>;

    /// Waits until this server has a task.
    fn await_task<'a>(&'a self, task: &'a str) -> BoxFuture<'a, ()>;

    /// Returns `true` if this server has a task.
    fn has_task(&self, task: &str) -> bool;

    /// Returns the other server that has a task; claims nothing.
    fn other_server_of_task<'a>(
        &'a self,
        task: &'a str,
    ) -> BoxFuture<'a, StoreResult<Option<OtherServer>>>;

    /// Tells the other servers something.
    fn tell<'a>(&'a self, message: &'a PeerMessage) -> BoxFuture<'a, ()>;

    /// Returns a receiver that changes when other servers may have given something back.
    fn departures(&self) -> watch::Receiver<u64>;

    /// Notes that other servers may have given something back.
    fn note_departure(&self);

    /// Forgets what another server has, because it does not answer.
    fn forget_server(&self, server: &OtherServer);

    /// Measures how many servers there are, and what this one has.
    fn measure(&self) -> BoxFuture<'_, StoreResult<()>>;
}
