//! Snapshot of a document with its open requests and threads, all of one version, for exports.

use std::sync::Arc;

use copydesk_approvals::ApprovalRequest;
use copydesk_comments::CommentThread;
use copydesk_document::Text;
use copydesk_ids::{DocumentId, Version};
use copydesk_macros::boxed;
use copydesk_store::Store;

use super::loading;
use crate::{RoomError, RoomHandle, RoomResult};

/// Number of attempts when an update came between the two answers.
const ATTEMPTS: usize = 20;

/// Document as it is, with its threads and the requests people can still decide; see
/// [`RoomHandle::draft`].
#[derive(Clone, Debug)]
pub struct ExportSnapshot {
    /// Title of the document.
    pub title: String,
    /// Version of text and requests.
    pub version: Version,
    /// Text of the document.
    pub text: Text,
    /// Open requests, oldest first.
    pub requests: Vec<Arc<ApprovalRequest>>,
    /// Threads of comments, oldest first.
    pub threads: Vec<CommentThread>,
}

impl ExportSnapshot {
    /// Reads a document from the disk; a server may be running meanwhile.
    ///
    /// # Errors
    /// [`RoomError::NoDocument`] also for a deleted document, [`RoomError::Invalid`] if it changes
    /// too fast.
    #[boxed]
    pub async fn stored(store: &Store, document: &DocumentId) -> RoomResult<Self> {
        for _ in 0..ATTEMPTS {
            let state = loading::load(store, document).await?;
            let draft = Self {
                title: state.record.title.clone(),
                version: state.document.version(),
                text: state.document.text().clone(),
                requests: state.open.values().cloned().collect(),
                threads: state.threads.all(),
            };
            if draft.is_of_one_version() {
                return Ok(draft);
            }
        }
        Err(changes_too_fast())
    }

    fn is_of_one_version(&self) -> bool {
        self.requests.iter().all(|request| request.version == self.version)
    }
}

impl RoomHandle {
    /// Returns the document, its open requests and its threads.
    pub async fn draft(&self) -> RoomResult<ExportSnapshot> {
        for _ in 0..ATTEMPTS {
            // Sent one after the other, the commands are nearly always answered in one batch of
            // the room. An open request follows every update, so its version shows whether they
            // were.
            let requests = self.requests().await?;
            let threads = self.threads().await?;
            let reading = self.read().await?;
            let (title, version, text) = (reading.title, reading.version, reading.text);
            if threads.version != version {
                continue;
            }
            let threads = threads.threads;
            let draft = ExportSnapshot { title, version, text, requests, threads };
            if draft.is_of_one_version() {
                return Ok(draft);
            }
        }
        Err(changes_too_fast())
    }
}

fn changes_too_fast() -> RoomError {
    RoomError::Invalid("the document changes too fast; try again".to_owned())
}
