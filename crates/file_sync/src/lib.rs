//! Synchronisation of open files: workspace files that people edit together as documents. Changes
//! that other programs make to a file become updates by [`DISK`](copydesk_rooms::file::DISK).
//!
//! The room stays the only owner of the text, and the workspace the only module that touches files.
//! [`synced_file`] compares and writes, [`sync_task`] decides when, [`text_encoding`] keeps
//! everything that is not text. The store records up to which version file and document agree, so
//! after a crash both are compared again when the server starts or the document is opened.

mod sync_task;
mod synced_file;
#[cfg(test)]
mod tests;
pub mod text_encoding;

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use copydesk_ids::permissions::Principal;
use copydesk_ids::{DocumentId, Version};
use copydesk_macros::boxed;
use copydesk_rooms::settings::model_access::AskedModel;
use copydesk_rooms::{RoomError, RoomHandle, RoomRegistry};
use copydesk_store::{FileRecord, Store, StoreError};
use copydesk_workspace::{ABSENT, GlobResult, Workspace, WorkspaceError, plain_path};

use synced_file::SyncedFile;

/// Longest search words for paths, in bytes.
const LONGEST_PATTERN: usize = 1_000;

/// Service that synchronises open files. Cheap to clone.
#[derive(Clone)]
pub struct FileSync(Arc<FileSyncDeps>);

struct FileSyncDeps {
    store: Store,
    rooms: RoomRegistry,
    workspace: Workspace,
    copies: Mutex<SyncedFiles>,
    /// Lock for opening: two people who open one file at once get one document.
    opening: tokio::sync::Mutex<()>,
    tasks: TaskTracker,
    stopping: CancellationToken,
}

#[derive(Default)]
struct SyncedFiles {
    by_path: HashMap<String, Arc<SyncedFile>>,
    by_document: HashMap<DocumentId, Arc<SyncedFile>>,
}

/// Reason why [`FileSync`] could not open, list or synchronise a file.
#[derive(Debug, thiserror::Error)]
pub enum FileSyncError {
    /// The file cannot be read, or could not be written.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    /// The document of the file cannot be opened.
    #[error(transparent)]
    Room(#[from] RoomError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The search words for paths are too long.
    #[error("a pattern has at most {LONGEST_PATTERN} bytes")]
    LongPattern,
    /// A comparison was given up.
    #[error("the texts could not be compared")]
    Compared,
}

/// Result of synchronising files, or a [`FileSyncError`].
pub type SyncResult<T> = Result<T, FileSyncError>;

impl std::fmt::Debug for FileSync {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Files").field("known", &self.0.copies.lock().by_path.len()).finish()
    }
}

#[boxed]
impl FileSync {
    /// Creates the service, which does nothing before [`Self::begin`].
    pub fn new(store: Store, rooms: RoomRegistry, workspace: Workspace) -> Self {
        Self(Arc::new(FileSyncDeps {
            store,
            rooms,
            workspace,
            copies: Mutex::default(),
            opening: tokio::sync::Mutex::default(),
            tasks: TaskTracker::new(),
            stopping: CancellationToken::new(),
        }))
    }

    /// Begins to synchronise the files that are documents already, before any of these is opened,
    /// and writes changes that a crash left unwritten; once.
    pub async fn begin(&self) -> SyncResult<()> {
        let shared = Arc::clone(&self.0);
        let known = shared.store.files().await?;
        let opened = shared.rooms.watch();
        let mut behind = Vec::new();
        for (record, newest) in known {
            if record.version != newest || record.writing.is_some() || record.disk.is_some() {
                behind.push(record.document.clone());
            }
            shared.remember(SyncedFile::new(record));
        }
        shared.tasks.spawn(sync_task::watch(Arc::clone(&shared), opened));
        let catching_up = Arc::clone(&shared);
        self.0.tasks.spawn(async move {
            for document in behind {
                // Opening the room is enough: its task synchronises the file.
                if let Err(error) = catching_up.rooms.open(&document).await {
                    tracing::warn!(%error, room.id = %document, "cannot synchronise a file at start");
                }
            }
        });
        Ok(())
    }

    /// Opens or creates the document of a file, with the content of the file.
    pub async fn open(&self, path: &str, by: &Principal) -> SyncResult<DocumentId> {
        let shared = &self.0;
        let path = plain_path(path)?;
        let _passed = shared.opening.lock().await;
        let found = shared.read_if_exists(&path).await?;
        if let Some(copy) = shared.copy_at(&path) {
            let room = shared.rooms.open(copy.document()).await;
            // A room stays open for a moment after its document was deleted.
            let there = match &room {
                Ok(room) => room.read().await.map(drop),
                Err(_) => Ok(()),
            };
            match there.and(room) {
                Ok(room) => {
                    copy.sync(shared, &room).await;
                    return Ok(copy.document().clone());
                }
                // The document was deleted; the file gets a new one.
                Err(RoomError::NoDocument) => shared.forget(&copy),
                Err(error) => return Err(error.into()),
            }
        }
        if found.is_none() {
            return Err(WorkspaceError::NotFound { path }.into());
        }
        let record = FileRecord {
            document: DocumentId::generate(),
            path,
            version: Version(0),
            stamp: ABSENT.to_owned(),
            disk: None,
            form: String::new(),
            writing: None,
        };
        // Added before its room opens, so that the room's task finds it.
        let copy = shared.remember(SyncedFile::new(record.clone()));
        match shared.rooms.create_for(record, by).await {
            Ok(room) => copy.sync(shared, &room).await,
            Err(error) => {
                shared.forget(&copy);
                return Err(error.into());
            }
        }
        Ok(copy.document().clone())
    }

    /// Lists at most `most` text files that could be opened and whose paths contain the words
    /// `pattern`, after the path `after`.
    pub async fn list(
        &self,
        pattern: String,
        after: Option<String>,
        most: usize,
    ) -> SyncResult<GlobResult> {
        if pattern.len() > LONGEST_PATTERN {
            return Err(FileSyncError::LongPattern);
        }
        let workspace = self.0.workspace.clone();
        let found = blocking(move || workspace.texts(&pattern, after.as_deref(), most)).await?;
        found.map_err(Into::into)
    }

    /// Returns the path of a document's file, if it has one.
    pub fn path_of(&self, document: &DocumentId) -> Option<String> {
        Some(self.0.copies.lock().by_document.get(document)?.path().to_owned())
    }

    /// Returns the document of a file, even if no one has it open.
    pub fn document_of(&self, path: &str) -> Option<DocumentId> {
        Some(self.0.copy_at(&plain_path(path).ok()?)?.document().clone())
    }

    /// Returns the room of a file whose text must be read and written there: people have it open,
    /// it has changes that the file lacks, or it has settings of its own.
    pub async fn open_room(&self, path: &str) -> Option<RoomHandle> {
        let copy = self.0.copy_at(&plain_path(path).ok()?)?;
        let room = self.live_room(&copy).await?;
        // Recent changes by other programs are merged before the text is used.
        if copy.looks_changed(&self.0).await {
            copy.sync(&self.0, &room).await;
        }
        Some(room)
    }

    /// Returns the paths of the files that are documents which the model may not see, or whose
    /// settings cannot be read.
    pub async fn files_hidden_from(&self, model: &AskedModel) -> Vec<String> {
        let copies: Vec<_> = self.0.copies.lock().by_document.values().cloned().collect();
        let mut hidden = Vec::new();
        for copy in copies {
            let access = async {
                let room = self.0.rooms.open(copy.document()).await?;
                Ok::<_, RoomError>(room.read().await?.settings.models)
            };
            if !access.await.is_ok_and(|access| access.admits(model)) {
                hidden.push(copy.path().to_owned());
            }
        }
        hidden
    }

    /// Synchronises all files with open rooms. Called before and after a command runs: changes of
    /// people are then in the files, and those of the command in the documents.
    pub async fn agree(&self) {
        let copies: Vec<_> = self.0.copies.lock().by_document.values().cloned().collect();
        for copy in copies {
            let Some(room) = self.0.rooms.opened(copy.document()) else { continue };
            if room.room_status().version != copy.agreed() || copy.looks_changed(&self.0).await {
                copy.sync(&self.0, &room).await;
            }
        }
    }

    async fn live_room(&self, copy: &SyncedFile) -> Option<RoomHandle> {
        let is_open = self.0.rooms.opened(copy.document()).is_some_and(|room| {
            let room_status = room.room_status();
            room_status.people > 0 || room_status.version != copy.agreed()
        });
        if is_open || copy.is_behind() {
            return self.0.rooms.open(copy.document()).await.ok();
        }
        self.guarded(copy.document()).await
    }

    /// Returns the room of a document whose settings differ from those of the workspace inbox:
    /// frozen passages, policies, rules. They apply to its file also while no one has it open.
    async fn guarded(&self, document: &DocumentId) -> Option<RoomHandle> {
        let room = self.0.rooms.open(document).await.ok()?;
        let (here, rules) = (room.read().await.ok()?.settings, room.rules().await.ok()?);
        let workspace_inbox =
            self.0.rooms.workspace_inbox().await.ok()?.read().await.ok()?.settings;
        (here.asks_for_more_than(&workspace_inbox) || !rules.is_empty()).then_some(room)
    }

    /// Writes the changes that the file of a document lacks, if the document has a file and that is
    /// possible.
    pub async fn settle(&self, document: &DocumentId) {
        let copy = self.0.copies.lock().by_document.get(document).cloned();
        if let (Some(copy), Ok(room)) = (copy, self.0.rooms.open(document).await) {
            copy.sync(&self.0, &room).await;
        }
    }

    /// Writes all remaining changes; the rooms must be closed.
    pub async fn close(&self) {
        self.0.stopping.cancel();
        self.0.tasks.close();
        self.0.tasks.wait().await;
    }
}

impl FileSyncDeps {
    fn copy_at(&self, path: &str) -> Option<Arc<SyncedFile>> {
        self.copies.lock().by_path.get(path).cloned()
    }

    fn remember(&self, copy: SyncedFile) -> Arc<SyncedFile> {
        let copy = Arc::new(copy);
        let mut copies = self.copies.lock();
        copies.by_path.insert(copy.path().to_owned(), Arc::clone(&copy));
        copies.by_document.insert(copy.document().clone(), Arc::clone(&copy));
        copy
    }

    fn forget(&self, copy: &SyncedFile) {
        let mut copies = self.copies.lock();
        copies.by_path.remove(copy.path());
        copies.by_document.remove(copy.document());
    }

    async fn read_if_exists(&self, path: &str) -> SyncResult<Option<copydesk_workspace::TextFile>> {
        let (workspace, path) = (self.workspace.clone(), path.to_owned());
        Ok(blocking(move || workspace.read_if_exists(&path)).await??)
    }
}

/// Runs `work` on a thread where it may block.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> SyncResult<T> {
    tokio::task::spawn_blocking(work).await.map_err(|_| FileSyncError::Compared)
}
