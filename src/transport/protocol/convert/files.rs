//! How a document stands with the file that it is.

use crate::approvals::ReturnedHunk;
use crate::ids::DocumentId;
use crate::rooms::file::{FileState, FileStatus, MergedChanges};
use crate::transport::protocol::files;

/// A file that can be opened, and the document that it is already.
pub fn file_line(path: String, document: Option<DocumentId>) -> files::FileLine {
    files::FileLine { path, document_id: document.map(|id| id.to_string()) }
}

/// How it stands, for whoever comes in.
pub(crate) fn state(news: &FileState) -> files::FileState {
    let FileState { path, status, version, merged: _ } = news;
    let (status, reason) = match status {
        FileStatus::Saved => ("saved", None),
        FileStatus::Missing => ("missing", None),
        FileStatus::Failed(reason) => ("failed", Some(reason.clone())),
    };
    files::FileState { path: path.clone(), status: status.to_owned(), version: version.0, reason }
}

/// What is new.
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
