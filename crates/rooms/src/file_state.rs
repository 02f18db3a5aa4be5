//! Workspace file of a document: what is merged from it, and its state as it is announced.

use copydesk_approvals::{HunkDraft, ReturnedHunk};
use copydesk_document::Text;
use copydesk_ids::Version;
use copydesk_store::FileRecord;

/// Content of a file now, and when it last agreed with the document, in positions of
/// [`base`](Self::base).
#[derive(Clone, Debug)]
pub struct FileMerge {
    /// Version that [`ours`](FileMerge::ours) leads to.
    pub read: Version,
    /// Content of the file when it and the document last agreed.
    pub base: Text,
    /// Changes that people have made since.
    pub ours: Vec<HunkDraft>,
    /// Changes that were made in the file since.
    pub theirs: Vec<HunkDraft>,
    /// Content of the file now.
    pub disk: Text,
    /// Record to store; the room fills in the version and, where the text differs, the file's
    /// content.
    pub record: FileRecord,
}

/// Outcome of a [`FileMerge`].
#[derive(Clone, Debug)]
pub struct MergeOutcome {
    /// Record as it is stored.
    pub record: FileRecord,
    /// Changes of the file to words that people had changed otherwise: people's words stay.
    pub kept: Vec<ReturnedHunk>,
    /// `true` if the text changed.
    pub is_changed: bool,
}

/// Synchronisation status of a document's file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileStatus {
    /// File with the text that the document had at [`FileState::version`].
    Saved,
    /// Missing file; it is created when the text is edited.
    Missing,
    /// File that cannot be written or read; the text says why.
    Failed(String),
}

/// State of a document's file, as it is announced; see
/// [`RoomEvent::File`](super::event::RoomEvent::File).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileState {
    /// Path relative to the workspace's root.
    pub path: String,
    /// Synchronisation status.
    pub status: FileStatus,
    /// Newest version that the file has.
    pub version: Version,
    /// Changes just merged from the file; `None` if there were none.
    pub merged: Option<MergedChanges>,
}

/// Changes merged from a file; see [`FileState::merged`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MergedChanges {
    /// Changes that were not merged, because people had changed the same words.
    pub kept: Vec<ReturnedHunk>,
}
