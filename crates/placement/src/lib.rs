//! Placement: which of the servers that share a database works on a document, or on a task.
//!
//! Everybody who opens a document claims it first. On a server that is the only one
//! ([`SingleServer`]) this does nothing. Where there are several, `copydesk-cluster` decides.

mod peer_message;
mod redis_url;

use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::watch;

use copydesk_ids::DocumentId;
use copydesk_store::{StoreError, StoreResult};

pub use peer_message::{CountedApi, PeerMessage};
pub use redis_url::RedisUrl;

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

/// Placement of documents and tasks on the servers that share a database. Where no method is
/// replaced, there is one server, which has everything.
#[async_trait]
pub trait Placement: Debug + Send + Sync {
    /// Returns `true` if other servers may share the database.
    fn is_shared(&self) -> bool {
        false
    }

    /// Claims a document, unless another server has it.
    async fn claim(&self, _document: &DocumentId) -> Result<(), ClaimError> {
        Ok(())
    }

    /// Claims a document that is about to be created.
    async fn claim_new(&self, _document: &DocumentId) -> StoreResult<()> {
        Ok(())
    }

    /// Gives a document back. If that fails, this server keeps it, which is no harm.
    async fn release(&self, _document: &DocumentId) {}

    /// Gives everything back, before this server stops.
    async fn release_all(&self) {}

    /// Returns the other server that has a document; claims nothing.
    async fn other_server_of(&self, _document: &DocumentId) -> StoreResult<Option<OtherServer>> {
        Ok(None)
    }

    /// Claims a task until this server ends, unless another one has it; returns `true` if this one
    /// has it then.
    async fn claim_task(&self, _task: &str) -> StoreResult<bool> {
        Ok(true)
    }

    /// Waits until this server has a task.
    async fn await_task(&self, _task: &str) {}

    /// Returns `true` if this server has a task.
    fn has_task(&self, _task: &str) -> bool {
        true
    }

    /// Returns the other server that has a task; claims nothing.
    async fn other_server_of_task(&self, _task: &str) -> StoreResult<Option<OtherServer>> {
        Ok(None)
    }

    /// Tells the other servers something. They know it at once, or when they look.
    async fn tell(&self, _message: &PeerMessage) {}

    /// Returns a receiver that changes when other servers may have given something back.
    fn departures(&self) -> watch::Receiver<u64>;

    /// Notes that other servers may have given something back.
    fn note_departure(&self) {}

    /// Forgets what another server has, because it does not answer.
    fn forget_server(&self, _server: &OtherServer) {}

    /// Measures how many servers there are, what this one has, and when it last saw the others.
    async fn measure(&self) -> StoreResult<()> {
        Ok(())
    }
}

/// Placement on a server that is the only one.
#[derive(Debug, Default)]
pub struct SingleServer {
    /// Never changes.
    departures: watch::Sender<u64>,
}

impl Placement for SingleServer {
    fn departures(&self) -> watch::Receiver<u64> {
        self.departures.subscribe()
    }
}
