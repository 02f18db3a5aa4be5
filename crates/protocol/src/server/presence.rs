//! People in a document, and their carets.

use copydesk_ids::permissions::Role;
use copydesk_macros::wire;

/// Connection in a document.
#[wire(Serialize, TS, camelCase)]
pub struct Peer {
    /// Identifier of the connection.
    pub id: String,
    /// Identifier of the person.
    pub user: String,
    /// Name that others see.
    pub name: String,
    /// Role of the person.
    pub role: Role,
    /// Caret colour of the editor, 0 to 3.
    pub color: u8,
    /// Editor instances of this connection.
    #[serde(rename = "clientIDs")]
    pub client_ids: Vec<String>,
    /// Position of the caret.
    pub caret: Option<PeerCaret>,
}

/// Position of a person's caret.
#[wire(Copy, Serialize, TS)]
pub struct PeerCaret {
    /// Version that the positions refer to.
    pub version: u64,
    /// Position where the selection began.
    pub anchor: usize,
    /// Position of the caret.
    pub head: usize,
}

/// `presence:peers`: everyone in a document.
#[wire(Serialize, TS, camelCase)]
pub struct PresencePeers {
    /// Document that they are in.
    pub document_id: String,
    /// All connections.
    pub peers: Vec<Peer>,
}

/// `presence:changes`: who came, changed and left, for clients that name the capability
/// `presence-changes`.
#[wire(Serialize, TS, camelCase)]
pub struct PresenceChanges {
    /// Document that they are in.
    pub document_id: String,
    /// Connections that came or changed, as they are now.
    pub put: Vec<Peer>,
    /// Identifiers of the connections that left.
    pub left: Vec<String>,
    /// Number of connections in the document. In a crowd it is larger than the number that is
    /// listed: who only reads is counted.
    pub count: usize,
    /// `true` if `put` is everybody who is listed, and all others are to be forgotten.
    pub complete: Option<bool>,
}

/// `presence:update`: a caret that moved.
#[wire(Serialize, TS, camelCase)]
pub struct PresenceUpdate {
    /// Document that the caret is in.
    pub document_id: String,
    /// Identifier of the connection.
    pub id: String,
    /// Position of the caret.
    #[serde(flatten)]
    pub caret: PeerCaret,
}
