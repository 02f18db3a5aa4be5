//! State of a document's file, on the wire.

use copydesk_approvals::ReturnedHunk;
use copydesk_ids::DocumentId;
use copydesk_protocol::{files, names};
use copydesk_rooms::file_state::{FileState, FileStatus, MergedChanges};

/// Returns the entry of a file that can be opened, with its document if there is one.
pub fn file_line(path: String, document: Option<DocumentId>) -> files::FileLine {
    files::FileLine { path, document_id: document.map(|id| id.to_string()) }
}

/// Returns the state of the file, for a client that opens the document.
pub(crate) fn state(news: &FileState) -> files::FileState {
    let FileState { path, status, version, merged: _ } = news;
    let (status, reason) = match status {
        FileStatus::Saved => (names::FileStatus::Saved, None),
        FileStatus::Missing => (names::FileStatus::Missing, None),
        FileStatus::Failed(reason) => (names::FileStatus::Failed, Some(reason.clone())),
    };
    files::FileState { path: path.clone(), status, version: version.0, reason }
}

/// Returns the `document:file` event.
pub(crate) fn news(document: &DocumentId, news: &FileState) -> files::DocumentFile {
    let merged = news.merged.as_ref().map(|MergedChanges { kept }| files::FileMerged {
        kept: kept.iter().map(conflict).collect(),
    });
    files::DocumentFile { document_id: document.to_string(), file: state(news), merged }
}

fn conflict(returned: &ReturnedHunk) -> files::FileConflict {
    let ReturnedHunk { base, proposed, now } = returned;
    files::FileConflict { base: base.clone(), disk: proposed.clone(), kept: now.clone() }
}
