//! Changes that a person puts at the end of their own list.

use copydesk_macros::wire;

/// Payload of `approval:defer`.
#[wire(Deserialize, TS)]
pub struct DeferHunk {
    /// Request that the change belongs to.
    pub request_id: String,
    /// Change that goes to the end of your own list, or back.
    pub hunk_id: String,
    /// `true`: to the end of the list; `false`: back to its place.
    pub on: bool,
}

/// Open changes that you put at the end of your own list: answer of `approval:deferred`.
#[wire(Serialize, TS)]
pub struct DeferredHunks {
    /// The changes.
    pub hunks: Vec<DeferredHunk>,
}

/// Change at the end of a person's own list.
#[wire(Serialize, TS)]
pub struct DeferredHunk {
    /// Request that the change belongs to.
    pub request_id: String,
    /// The change.
    pub hunk_id: String,
}
