//! Documents: lists, contents, titles, settings, edits.

pub(super) mod import_admission;
pub(super) mod imports;

use copydesk_ids::permissions::Action;
use copydesk_ids::{DocumentId, Version};
use copydesk_macros::boxed;
use copydesk_rooms::command::DocumentSnapshot;
use copydesk_rooms::{NewDocument, RoomHandle};
use copydesk_store::DocumentRecord;

use super::{ApiError, ApiResult, Application, Caller, ListPage};

/// Document with its content at one moment.
#[derive(Clone, Debug)]
pub struct DocumentContent {
    /// Identifier of the document.
    pub id: DocumentId,
    /// Title, text and settings.
    pub snapshot: DocumentSnapshot,
}

impl DocumentContent {
    #[boxed]
    pub(super) async fn of(room: &RoomHandle) -> ApiResult<Self> {
        Ok(Self { id: room.document().clone(), snapshot: room.read().await? })
    }
}

impl Application {
    /// Brings a document and its file, if it has one, to the same content: the file is not watched
    /// while no connection is in the document.
    async fn settle_file(&self, document: &DocumentId) {
        if let Some(files) = &self.files {
            files.settle(document).await;
        }
    }
}

#[boxed]
impl Caller {
    /// Returns the page after `after` of the documents that the caller may open, last changed
    /// first.
    ///
    /// # Errors
    /// [`Unavailable`](super::ErrorCode::Unavailable) if the store cannot read the page.
    pub async fn document_page(
        &self,
        after: Option<&(u64, String)>,
        limit: usize,
    ) -> ApiResult<ListPage<DocumentRecord>> {
        let only = self.principal.readable_documents();
        let store = &self.application.store;
        let mut records = store.documents(only.as_deref(), after, limit as u32 + 1).await?;
        records.retain(|record| self.principal.may(Action::Read, Some(&record.id)));
        Ok(ListPage::cut(records, limit))
    }

    /// Creates a document.
    ///
    /// # Errors
    /// [`Invalid`](super::ErrorCode::Invalid) for too long a text,
    /// [`Unavailable`](super::ErrorCode::Unavailable) if it is not stored.
    pub async fn create_document(&self, new: NewDocument) -> ApiResult<DocumentContent> {
        let room = self.application.rooms.create(new, &self.principal).await?;
        DocumentContent::of(&room).await
    }

    /// Returns a document with its text, after it was brought to the same content as its file, if
    /// possible.
    ///
    /// # Errors
    /// [`Unavailable`](super::ErrorCode::Unavailable) if the room stops.
    pub async fn read_document(&self, room: &RoomHandle) -> ApiResult<DocumentContent> {
        self.application.settle_file(room.document()).await;
        DocumentContent::of(room).await
    }

    /// Returns a document with its text as it is.
    ///
    /// # Errors
    /// Those of [`Self::room`].
    pub async fn content(&self, document: &DocumentId) -> ApiResult<DocumentContent> {
        DocumentContent::of(&self.room(document, Action::Read).await?).await
    }

    /// Deletes a document, which can be recovered for 30 days. Its file stays.
    ///
    /// # Errors
    /// [`Unprocessable`](super::ErrorCode::Unprocessable) for the document of a file that has
    /// settings or rules of its own, [`Unavailable`](super::ErrorCode::Unavailable) if the deletion
    /// is not stored.
    pub async fn delete_document(&self, room: &RoomHandle) -> ApiResult<()> {
        self.check_unprotected(room).await?;
        self.application.settle_file(room.document()).await;
        Ok(room.delete(self.principal.clone()).await?)
    }

    /// Refuses the deletion of a file's document with settings or rules of its own, which protect
    /// the file: when it is opened again it has a new document without them.
    async fn check_unprotected(&self, room: &RoomHandle) -> ApiResult<()> {
        let Some(path) = self.application.rooms.stored_path(room.document()).await? else {
            return Ok(());
        };
        let mut lifted = room.read().await?.settings.protections();
        if !room.rules().await?.is_empty() {
            lifted.push("rules");
        }
        if lifted.is_empty() {
            return Ok(());
        }
        Err(ApiError::unprocessable(format!(
            "this document is the file {path}, which stays; deleting it would lift what protects the file: {}. Take that back \
             first",
            lifted.join(", ")
        )))
    }

    /// Applies a person's own new text of a version, and returns the version after it.
    ///
    /// # Errors
    /// [`Resync`](super::ErrorCode::Resync) if the version is too old or does not exist yet,
    /// [`Invalid`](super::ErrorCode::Invalid) for too long a text.
    pub async fn edit_document(
        &self,
        room: &RoomHandle,
        base: Version,
        text: &str,
    ) -> ApiResult<Version> {
        Ok(room.edit(&self.application.store, base, text, &self.principal).await?)
    }
}
