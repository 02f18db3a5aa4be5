//! A document with what is open on it, both of one version: for whoever writes it down elsewhere.

use std::sync::Arc;

use crate::approvals::ApprovalRequest;
use crate::document::Text;
use crate::ids::{DocumentId, Version};
use crate::store::Store;

use super::loading;
use crate::rooms::{RoomError, RoomHandle};

/// How often to ask again when an update came between the two answers.
const ATTEMPTS: usize = 20;

/// A document as it is, with the requests people can still decide.
#[derive(Clone, Debug)]
pub struct ExportSnapshot {
    /// The title.
    pub title: String,
    /// The version of text and requests.
    pub version: Version,
    /// The text.
    pub text: Text,
    /// Oldest first.
    pub requests: Vec<Arc<ApprovalRequest>>,
}

impl ExportSnapshot {
    /// Reads a document from the disk, beside a server that may be running.
    ///
    /// # Errors
    /// [`RoomError::NoDocument`] also for a deleted one, [`RoomError::Invalid`] when it changes too fast.
    pub async fn stored(store: &Store, document: &DocumentId) -> Result<Self, RoomError> {
        for _ in 0..ATTEMPTS {
            let state = loading::load(store, document).await?;
            let draft = Self {
                title: state.record.title.clone(),
                version: state.document.version(),
                text: state.document.text().clone(),
                requests: state.open.values().cloned().collect(),
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
    /// The document and what is open on it.
    pub async fn draft(&self) -> Result<ExportSnapshot, RoomError> {
        for _ in 0..ATTEMPTS {
            // Asked one after the other, they are nearly always answered in one turn of the room. An open request follows
            // every update, so its version says whether they were.
            let requests = self.requests().await?;
            let reading = self.read().await?;
            let (title, version, text) = (reading.title, reading.version, reading.text);
            let draft = ExportSnapshot { title, version, text, requests };
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
