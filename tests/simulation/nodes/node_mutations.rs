//! Mutations of nodes and of the model database. A simulation that does not detect one proves
//! nothing about it.

/// A mutation: a wrong behaviour of a node, or of a statement in the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeMutation {
    /// The heartbeat of a removed node restores its row.
    HeartbeatRestoresRemovedRow,
    /// A node is removed although it sent a heartbeat meanwhile.
    HeartbeatNotCompared,
    /// A node is removed while it commits.
    RemovalIgnoresCommit,
    /// Leases remain when their node is removed.
    LeasesOutliveNode,
    /// A lease that another node holds is taken.
    LeaseIsStolen,
    /// A release ends a lease of any term.
    ReleaseIgnoresTerm,
    /// A session begins before the previous one has ended.
    SessionsOverlap,
    /// The stored messages are not read.
    StoredMessagesNotRead,
    /// A notification does not have the number of the stored message.
    NotificationsNotDeduplicated,
    /// A batch is broadcast before it is stored.
    BroadcastBeforeStore,
    /// A batch that was not stored stays in the room.
    FailedBatchStays,
    /// A room is reloaded while the last transaction may still be committed.
    ReloadBeforeOutcomeKnown,
    /// A document is released while the last transaction may still be committed.
    ReleaseBeforeOutcomeKnown,
    /// A document is released before the last commands are stored.
    ReleaseBeforeLastCommands,
    /// A transaction with an unknown outcome is repeated.
    UnknownOutcomeRetried,
    /// A transaction with an unknown outcome is taken for committed.
    UnknownOutcomeAssumedCommitted,
    /// A removed node joins again and keeps its rooms.
    RemovedNodeKeepsRooms,
    /// A node takes the leases of another when it learns that they are free.
    LeaseHintTrusted,
    /// The content of a message is trusted, and nothing is read from the database.
    MessageNotVerified,
    /// An update of a suggestion is applied over any revision.
    RevisionNotCompared,
    /// A node that loads a document accepts the suggestions that it finds.
    SuggestionsAcceptedOnLoad,
    /// A node that loads a document does not look for suggestions that have ended.
    EndedSuggestionsForgotten,
    /// Changes of threads do not reach people who are connected to another node.
    ThreadEventsNotRelayed,
}

use NodeMutation as M;

/// All mutations, each of which must be detected. There is none of the check of a node's own row
/// before each transaction: here the session and its lock already prevent what it prevents.
pub const ALL: [NodeMutation; 23] = [
    M::HeartbeatRestoresRemovedRow,
    M::HeartbeatNotCompared,
    M::RemovalIgnoresCommit,
    M::LeasesOutliveNode,
    M::LeaseIsStolen,
    M::ReleaseIgnoresTerm,
    M::SessionsOverlap,
    M::StoredMessagesNotRead,
    M::NotificationsNotDeduplicated,
    M::BroadcastBeforeStore,
    M::FailedBatchStays,
    M::ReloadBeforeOutcomeKnown,
    M::ReleaseBeforeOutcomeKnown,
    M::ReleaseBeforeLastCommands,
    M::UnknownOutcomeRetried,
    M::UnknownOutcomeAssumedCommitted,
    M::RemovedNodeKeepsRooms,
    M::LeaseHintTrusted,
    M::MessageNotVerified,
    M::RevisionNotCompared,
    M::SuggestionsAcceptedOnLoad,
    M::EndedSuggestionsForgotten,
    M::ThreadEventsNotRelayed,
];
