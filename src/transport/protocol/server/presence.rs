//! Who is in a document, and where their carets are.

use serde::Serialize;
#[cfg(test)]
use ts_rs::TS;

/// A connection in a document.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct Peer {
    /// The connection.
    pub id: String,
    /// The person.
    pub user: String,
    /// The name others see.
    pub name: String,
    /// What the person may do.
    pub role: String,
    /// One of the editor's caret colours, 0 to 3.
    pub color: u8,
    /// The editor instances of this connection.
    #[serde(rename = "clientIDs")]
    pub client_ids: Vec<String>,
    /// Where the caret is, in positions of `version`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caret: Option<PeerCaret>,
}

/// Where somebody's caret is.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct PeerCaret {
    /// The version the positions are of.
    pub version: u64,
    /// Where the selection began.
    pub anchor: usize,
    /// Where the caret stands.
    pub head: usize,
}

/// `presence:peers`
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "camelCase")]
pub struct PresencePeers {
    /// The document.
    pub document_id: String,
    /// Everyone who is here.
    pub peers: Vec<Peer>,
}

/// `presence:update`
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "camelCase")]
pub struct PresenceUpdate {
    /// The document.
    pub document_id: String,
    /// The connection.
    pub id: String,
    /// Where its caret is.
    #[serde(flatten)]
    pub caret: PeerCaret,
}
