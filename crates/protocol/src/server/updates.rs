//! Committed updates of a document, and the hunks that change with them.

use copydesk_macros::wire;
use serde_json::value::RawValue;

use super::Hunk;

/// Committed update.
#[wire(Serialize, TS)]
pub struct Update {
    /// Editor instance that made it; `ai:…` for an accepted request.
    #[serde(rename = "clientID")]
    pub client_id: String,
    /// `ChangeSet.toJSON()`, as committed.
    #[cfg_attr(test, ts(type = "unknown"))]
    pub changes: Box<RawValue>,
    /// Request that the update came from; missing: it was typed.
    pub origin: Option<String>,
}

/// `document:updates`: new updates of a document.
#[wire(Serialize, TS, camelCase)]
pub struct DocumentUpdates {
    /// Document that changed.
    pub document_id: String,
    /// Version before the first update.
    pub from: u64,
    /// Updates in order, without a gap; empty if only hunks change.
    pub updates: Vec<Update>,
    /// Changes of open hunks that belong to the updates.
    pub hunks: Option<HunkChanges>,
}

/// `updates`: `document:updates` without hunks in a short form, for clients that name the
/// capability `short-updates`: an array of the fields.
#[wire(Serialize, TS)]
pub struct ShortUpdates(
    /// `shortId` of the document, as the answer to `document:open` gave it.
    pub u32,
    /// Version before the first update.
    pub u64,
    /// Updates in order, without a gap.
    pub Vec<ShortUpdate>,
);

/// [`Update`] as an array: `clientID` and `changes`.
#[wire(Serialize, TS)]
pub struct ShortUpdate(
    /// Editor instance that made it.
    pub String,
    /// `ChangeSet.toJSON()`, as committed.
    #[cfg_attr(test, ts(type = "unknown"))]
    pub Box<RawValue>,
);

/// Changes of hunks that mapping through updates does not give.
#[wire(Default, Serialize, TS)]
pub struct HunkChanges {
    /// Hunks that are no longer open.
    pub drop: Vec<String>,
    /// New or changed hunks; positions are those after the message's updates.
    pub put: Vec<Hunk>,
}
