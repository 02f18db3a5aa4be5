//! Messages between servers that share a database.

use serde::{Deserialize, Serialize};

use copydesk_ids::{DocumentId, RunId, SessionId, ThreadId, UserId};

/// Message to the other servers: what is to be looked up, done, or counted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PeerMessage {
    /// A token was revoked, or has expired.
    Tokens,
    /// The server's settings were changed.
    Settings,
    /// A document was created.
    Created(DocumentId),
    /// A document was renamed or deleted.
    Renamed(DocumentId),
    /// Programs of the node listen to the texts of these documents, for a while.
    Watched(Vec<DocumentId>),
    /// The texts of these documents, to which another node listens, have changed.
    Texts(Vec<DocumentId>),
    /// A run has ended.
    RunEnded(SessionId, RunId),
    /// A call that one node makes for a run of another is stored, asks people, or is over.
    Call(SessionId, RunId),
    /// A server has given documents or tasks back, or has ended.
    #[serde(rename = "leases")]
    Released,
    /// The node has taken the workspace.
    Workspace,
    /// People have made so many requests to an API of the node since it announced them last.
    Requests(CountedApi, Vec<(UserId, u32)>),
    /// There may be something new in the outbox of the webhooks.
    Outbox,
    /// All runs of a session are to be stopped.
    Cancel(SessionId),
    /// A run is to be stopped.
    CancelRun(SessionId, RunId),
    /// The data of the person with this user is being deleted: open rooms are to forget their name.
    PersonDeleted(UserId),
    /// People who are mentioned in comments of a document, or have read threads of it; each thread
    /// with the number of comments that were read.
    Mentions(DocumentId, Vec<UserId>, Vec<(ThreadId, u64)>),
    /// Messages may be lost: the database was away, or a node ended before it could tell.
    #[serde(skip)]
    Missed,
}

/// API whose requests of each person all nodes count together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CountedApi {
    /// The REST API.
    Rest,
    /// The Messages API.
    Messages,
}
