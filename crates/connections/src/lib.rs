//! Connections of the server: what one is, what it may hold, and how it ends.
//!
//! **What it is.** Every accepted TCP connection is a [`TcpConnection`]. Its bytes pass through an
//! [`ObservedStream`]. An HTTP request knows its connection by its [`ConnectionArrival`]. A client
//! of socket.io is a [`SocketClient`], over one connection or, while it changes its transport, two.
//!
//! **What it may hold.** Bytes that arrive, wait or stay in buffers are counted in
//! [`MemoryAccounts`] for each person, for all without a token, and for the server; [`HeldBytes`]
//! gives them back on drop.
//!
//! **How it ends.** [`EndReason`] lists the reasons. The [`ConnectionRegistry`] ends connections
//! that are overdue or hold the most, and makes room for newer ones.
//!
//! **The short way out.** A short message to a client for which nothing waits is written at once
//! ([`TextFrame`], [`gather_writes`]), past the queue and the buffers of the libraries.

// What a connection is.
mod arrival;
pub mod body_guard;
mod encrypted_socket;
mod socket_client;
mod stream;
mod tcp_connection;

// Its bytes, as they pass.
mod frames;
mod incoming_frames;
mod request_head_end;

// The short way out.
mod direct_writes;
mod outgoing_state;

// What it may hold.
pub mod body_quota;
mod memory_accounts;
mod message_pace;
mod retained_buffers;
mod retained_bytes;

// How it ends.
mod connection_tables;
mod registry;
mod unauthenticated;

pub use arrival::{CarriedConnection, ConnectionArrival, RequestOwner};
pub use direct_writes::{SharedSocket, TextFrame, gather_writes};
pub use encrypted_socket::EncryptedSocket;
pub use memory_accounts::{HeldBytes, HeldPurpose, MemoryAccounts, MemoryExhausted, PersonAccount};
pub use registry::{ConnectionLimits, ConnectionRegistry, TooManySessions};
pub use socket_client::{QueueOverflow, SocketClient, SwitchRefused};
pub use stream::ObservedStream;
pub use tcp_connection::{ConnectionAccess, TcpConnection, TooManyConnections};

/// Largest message of a client, in bytes: the longest document as JSON, and some more.
pub const MESSAGE_BYTES: usize = 32 * 1024 * 1024;
/// Largest message of a person who may only read, in bytes.
const READER_MESSAGE_BYTES: usize = 256 * 1024;
/// Largest message of a client without a token, in bytes: enough to refuse a senseless name.
pub const UNAUTHENTICATED_MESSAGE_BYTES: usize = 128 * 1024;

/// Reason why the server ended a [`TcpConnection`] or a [`SocketClient`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndReason {
    /// The client has left, or the server has closed it in order.
    Closed,
    /// Too much unsent data: more than one connection or one person may leave unread.
    TooSlow,
    /// Connections of a person or all keep too much memory after long messages; this one most.
    KeepsTooMuch,
    /// The server holds as much as it may, and this connection holds the most.
    ServerFull,
    /// Silence for longer than the heartbeat allows.
    Silent,
    /// The peer accepted no bytes for too long.
    Stalled,
    /// No token was shown in time.
    HandshakeTimeout,
    /// No request came in time.
    Idle,
    /// A message is longer than this client may send.
    MessageTooLarge,
    /// The client broke the protocol.
    Protocol,
    /// Too much incoming data: more at once than this person may send.
    ArrivingTooMuch,
    /// Messages come faster than they are read, for too long.
    Flood,
    /// The token that the last request over this connection has shown is no longer valid.
    AccessEnded,
    /// A newer connection needs the place, and this one is idle, or of the person with the most.
    TooManyOfPerson,
    /// A newer connection needs the place, and this one has not shown a token.
    TooManyUnauthenticated,
    /// The server of several that had a document of this client was lost, or has stopped.
    NodeLost,
    /// The server stops.
    ServerStops,
}
