//! Workspace files that are documents.

use super::names::FileStatus;
use copydesk_macros::wire;

/// Payload of `workspace:files`.
#[wire(Deserialize, TS)]
pub struct ListFiles {
    /// Words that the path contains, in any order and case; missing: all files.
    pub pattern: Option<String>,
}

/// Answer of `workspace:files`: text files that can be opened, sorted, without ignored ones.
#[wire(Serialize, TS, camelCase)]
pub struct FileList {
    /// Files, with paths relative to the workspace.
    pub files: Vec<FileLine>,
    /// `true`: there are more files than listed.
    pub is_cut: bool,
}

/// File that can be opened.
#[wire(Serialize, TS, camelCase)]
pub struct FileLine {
    /// Path relative to the workspace.
    pub path: String,
    /// Document of the file, if there is one already.
    pub document_id: Option<String>,
}

/// State of a document's file.
#[wire(Serialize, TS)]
pub struct FileState {
    /// Path relative to the workspace.
    pub path: String,
    /// Synchronisation status.
    pub status: FileStatus,
    /// Newest version that is in the file.
    pub version: u64,
    /// Reason for a failure, for people.
    pub reason: Option<String>,
}

/// `document:file`: the document was written to its file, the file is gone, or its changes were
/// merged.
#[wire(Serialize, TS, camelCase)]
pub struct DocumentFile {
    /// Document of the file.
    pub document_id: String,
    /// State of the file.
    pub file: FileState,
    /// Result of merging changes of the file.
    pub merged: Option<FileMerged>,
}

/// Result of merging changes of a file. Most are in the text, as updates by `disk`.
#[wire(Serialize, TS)]
pub struct FileMerged {
    /// Changes that are not in the text, because people had changed the same words. The people's
    /// words stay, and replace the file's.
    pub kept: Vec<FileConflict>,
}

/// Words that were changed in the document and in the file at the same time.
#[wire(Serialize, TS)]
pub struct FileConflict {
    /// Words before both changes.
    pub base: String,
    /// Words in the file.
    pub disk: String,
    /// Words in the document, which stay.
    pub kept: String,
}
