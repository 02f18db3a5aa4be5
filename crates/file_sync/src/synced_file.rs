//! Synchronisation of one file and its document: each gets the changes of the other.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::Mutex;

use copydesk_document::Text;
use copydesk_document::diff::{DiffLimits, HunkDraft, diff_in_order};
use copydesk_failpoint as failpoint;
use copydesk_ids::{DocumentId, Version};
use copydesk_rooms::file_state::{FileMerge, FileState, FileStatus, MergedChanges};
use copydesk_rooms::{ExportSnapshot, RoomError, RoomHandle, text_at};
use copydesk_store::{FileRecord, StoreOp};
use copydesk_workspace::{ABSENT, FileMeta, TextFile, WorkspaceError, stamp};

use super::text_encoding::{self, TextEncoding};
use super::{FileSyncDeps, FileSyncError, SyncResult, blocking};

/// Attempts in which the file may change while it is read.
const ATTEMPTS: usize = 10;
/// Wait before a changed file is read once more: programs write in pieces.
const PIECES: Duration = Duration::from_millis(60);
/// Longest search for small changes in a comparison of a file with its document.
const DIFF_TIMEOUT: Duration = Duration::from_secs(2);

/// Open file: a workspace file that is a document.
pub(super) struct SyncedFile {
    document: DocumentId,
    path: String,
    state: Mutex<SyncState>,
    /// Version whose text the file has.
    agreed: AtomicU64,
    /// `true` if the file may lack changes of the document, although no one has it open.
    behind: AtomicBool,
}

struct SyncState {
    record: FileRecord,
    /// Text of the file when both last agreed, if it is loaded.
    text: Option<Text>,
    /// Status that was reported last.
    reported: Option<FileStatus>,
    /// Metadata of the file when it was read, if a later change would show in them.
    seen: FileLook,
}

/// Metadata of the file, without its contents.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FileLook {
    /// Unknown: a change would not show.
    Unsure,
    /// The file does not exist.
    Gone,
    There(FileMeta),
}

/// Source of the document's text.
#[derive(Clone, Copy)]
enum TextSource<'a> {
    Room(&'a RoomHandle),
    /// The store, because the room is closed.
    Store,
}

/// Outcome of one attempt.
enum SyncOutcome {
    /// Both were synchronised, with this status.
    To(FileStatus),
    /// Another program changed the file meanwhile.
    Again,
}

/// Document in its current version.
struct CurrentDocument {
    version: Version,
    text: Text,
}

impl SyncedFile {
    pub(super) fn new(record: FileRecord) -> Self {
        let agreed = AtomicU64::new(record.version.0);
        let (document, path) = (record.document.clone(), record.path.clone());
        let state = SyncState { record, text: None, reported: None, seen: FileLook::Unsure };
        Self { document, path, state: Mutex::new(state), agreed, behind: AtomicBool::new(true) }
    }

    pub(super) fn document(&self) -> &DocumentId {
        &self.document
    }

    pub(super) fn path(&self) -> &str {
        &self.path
    }

    /// Returns the version whose text the file has.
    pub(super) fn agreed(&self) -> Version {
        Version(self.agreed.load(Ordering::Relaxed))
    }

    /// Returns `true` if the file may lack changes of the document.
    pub(super) fn is_behind(&self) -> bool {
        self.behind.load(Ordering::Relaxed)
    }

    /// Merges changes of the file into the room, writes changes of the room to the file, and
    /// reports the status to people.
    pub(super) async fn sync(&self, shared: &FileSyncDeps, room: &RoomHandle) {
        self.agree(shared, TextSource::Room(room)).await;
    }

    /// Writes the changes of a closed room, if the file is unchanged.
    pub(super) async fn finish(&self, shared: &FileSyncDeps) {
        self.agree(shared, TextSource::Store).await;
    }

    /// Returns `true` if the file may have changed since it was read.
    pub(super) async fn looks_changed(&self, shared: &FileSyncDeps) -> bool {
        let seen = self.state.lock().await.seen;
        seen == FileLook::Unsure || self.file_meta(shared).await != seen
    }

    async fn file_meta(&self, shared: &FileSyncDeps) -> FileLook {
        let (workspace, path) = (shared.workspace.clone(), self.path.clone());
        match blocking(move || workspace.file_meta(&path)).await {
            Ok(Some(file_meta)) => FileLook::There(file_meta),
            Ok(None) => FileLook::Gone,
            Err(_) => FileLook::Unsure,
        }
    }

    async fn agree(&self, shared: &FileSyncDeps, source: TextSource<'_>) {
        let mut state = self.state.lock().await;
        let mut merged: Option<MergedChanges> = None;
        let mut came = FileStatus::Failed("the file changes too often".to_owned());
        for _ in 0..ATTEMPTS {
            let file_meta = self.file_meta(shared).await;
            state.seen = FileLook::Unsure;
            match self.attempt(shared, source, &mut state, &mut merged).await {
                Ok(SyncOutcome::Again) => {}
                Ok(SyncOutcome::To(status)) => {
                    state.seen = match file_meta {
                        FileLook::There(it) if !it.is_settled() => FileLook::Unsure,
                        sure => sure,
                    };
                    came = status;
                    break;
                }
                // The room, or the store, is closing; the rest is caught up with later.
                Err(FileSyncError::Room(RoomError::Closed | RoomError::NoDocument)) => return,
                Err(error) => {
                    came = FileStatus::Failed(error.to_string());
                    break;
                }
            }
        }
        self.agreed.store(state.record.version.0, Ordering::Relaxed);
        self.behind.store(matches!(came, FileStatus::Failed(_)), Ordering::Relaxed);
        self.notify(source, &mut state, came, merged).await;
    }

    /// Reads file and document once, and synchronises them.
    async fn attempt(
        &self,
        shared: &FileSyncDeps,
        source: TextSource<'_>,
        state: &mut SyncState,
        merged: &mut Option<MergedChanges>,
    ) -> SyncResult<SyncOutcome> {
        let found = shared.read_if_exists(&self.path).await?;
        let under_way = state.record.writing.clone();
        if let (Some(file), Some((version, stamp))) = (&found, under_way)
            && file.stamp == stamp
        {
            // Written before a crash, and not recorded.
            state.agree_on(version, stamp);
            self.keep(shared, state).await?;
        }
        match &found {
            Some(file) if file.stamp != state.record.stamp => {
                let TextSource::Room(room) = source else {
                    // Both are merged when the document is opened.
                    return Ok(SyncOutcome::To(FileStatus::Failed("it was changed".to_owned())));
                };
                if state.record.stamp != ABSENT {
                    tokio::time::sleep(PIECES).await;
                    if shared
                        .read_if_exists(&self.path)
                        .await?
                        .is_none_or(|now| now.stamp != file.stamp)
                    {
                        return Ok(SyncOutcome::Again);
                    }
                }
                let is_first = state.record.stamp == ABSENT;
                if !self.take_in(shared, room, state, file, merged).await? {
                    return Ok(SyncOutcome::Again);
                }
                if is_first {
                    // Its first text is no news to people.
                    *merged = None;
                }
            }
            _ => {}
        }
        self.write(shared, source, state, found).await
    }

    /// Merges changes of the file into the room; `false` if people changed the text during the
    /// comparison.
    async fn take_in(
        &self,
        shared: &FileSyncDeps,
        room: &RoomHandle,
        state: &mut SyncState,
        file: &TextFile,
        merged: &mut Option<MergedChanges>,
    ) -> SyncResult<bool> {
        let base = self.base(shared, state).await?;
        let now = CurrentDocument::of(TextSource::Room(room), shared, &self.document).await?;
        let disk = text_encoding::read(&file.text);
        let (ours, theirs) = compared(&base, &now.text, &disk).await?;
        let mut record = state.record.clone();
        record.stamp.clone_from(&file.stamp);
        TextEncoding::of(&file.text).name().clone_into(&mut record.form);
        record.writing = None;
        let merge = FileMerge { read: now.version, base, ours, theirs, disk: disk.clone(), record };
        let came = match room.merge(merge).await {
            Ok(came) => came,
            Err(RoomError::Resync) => return Ok(false),
            Err(error) => return Err(error.into()),
        };
        state.record = came.record;
        state.text = Some(disk);
        if came.is_changed || !came.kept.is_empty() {
            merged.get_or_insert_default().kept.extend(came.kept);
        }
        Ok(true)
    }

    /// Writes changes of the document to the file.
    async fn write(
        &self,
        shared: &FileSyncDeps,
        source: TextSource<'_>,
        state: &mut SyncState,
        found: Option<TextFile>,
    ) -> SyncResult<SyncOutcome> {
        let now = CurrentDocument::of(source, shared, &self.document).await?;
        let is_level = now.version == state.record.version && state.record.disk.is_none();
        if is_level {
            // A missing file is created again only when a person writes.
            let status = if found.is_some() { FileStatus::Saved } else { FileStatus::Missing };
            if state.record.writing.take().is_some() {
                self.keep(shared, state).await?;
            }
            return Ok(SyncOutcome::To(status));
        }
        let base = self.base(shared, state).await?;
        if let Some(file) = found.as_ref().filter(|_| now.text == base) {
            // People undid their changes.
            state.agree_on(now.version, file.stamp.clone());
            self.keep(shared, state).await?;
            return Ok(SyncOutcome::To(FileStatus::Saved));
        }
        let form = TextEncoding::named(&state.record.form);
        let (text, old) = (now.text.to_string(), found.as_ref().map(|file| file.text.clone()));
        let content = blocking(move || match old {
            Some(old) => text_encoding::written(&old, &text, &limits()),
            None => text_encoding::made(&text, form),
        });
        let content = content.await?;
        let stamp = stamp(&content);
        // Stored before anything is written: a file found with this stamp after a crash is our own
        // write.
        state.record.writing = Some((now.version, stamp.clone()));
        self.keep(shared, state).await?;
        failpoint::pass("files.writing");
        let expected = found.map_or_else(|| ABSENT.to_owned(), |file| file.stamp);
        let (workspace, path) = (shared.workspace.clone(), self.path.clone());
        let written = blocking(move || workspace.write(&path, &content, &expected)).await?;
        failpoint::pass("files.written");
        match written {
            Ok(_) => {
                state.agree_on(now.version, stamp);
                state.text = Some(now.text);
                self.keep(shared, state).await?;
                Ok(SyncOutcome::To(FileStatus::Saved))
            }
            Err(WorkspaceError::Changed { .. }) => {
                state.record.writing = None;
                Ok(SyncOutcome::Again)
            }
            Err(error) => {
                state.record.writing = None;
                Ok(SyncOutcome::To(FileStatus::Failed(error.to_string())))
            }
        }
    }

    /// Returns the text of the file when both last agreed.
    async fn base(&self, shared: &FileSyncDeps, state: &mut SyncState) -> SyncResult<Text> {
        if let Some(text) = &state.text {
            return Ok(text.clone());
        }
        let text = if let Some(disk) = &state.record.disk {
            Text::new(disk)
        } else {
            let (id, version) = (&self.document, state.record.version);
            text_at(&shared.store, id, version, id.as_str()).await?
        };
        state.text = Some(text.clone());
        Ok(text)
    }

    async fn keep(&self, shared: &FileSyncDeps, state: &SyncState) -> SyncResult<()> {
        Ok(shared.store.commit(StoreOp::PutFile(state.record.clone())).await?)
    }

    /// Reports the status to the room, which shows people what is new to them.
    async fn notify(
        &self,
        source: TextSource<'_>,
        state: &mut SyncState,
        status: FileStatus,
        merged: Option<MergedChanges>,
    ) {
        let TextSource::Room(room) = source else { return };
        if let FileStatus::Failed(reason) = &status
            && state.reported.as_ref() != Some(&status)
        {
            tracing::warn!(room.id = %self.document, reason, "cannot write a document to its file");
        }
        state.reported = Some(status.clone());
        let (path, version) = (self.path.clone(), state.record.version);
        room.notify_file(FileState { path, status, version, merged }).await;
    }
}

impl SyncState {
    /// Records that the file has the text of this version.
    fn agree_on(&mut self, version: Version, stamp: String) {
        self.record =
            FileRecord { version, stamp, disk: None, writing: None, ..self.record.clone() };
        self.text = None;
    }
}

impl CurrentDocument {
    async fn of(
        source: TextSource<'_>,
        shared: &FileSyncDeps,
        id: &DocumentId,
    ) -> SyncResult<Self> {
        Ok(match source {
            TextSource::Room(room) => {
                let now = room.read().await?;
                Self { version: now.version, text: now.text }
            }
            TextSource::Store => {
                let now = ExportSnapshot::stored(&shared.store, id).await?;
                Self { version: now.version, text: now.text }
            }
        })
    }
}

/// Compares the base with the document's text and with the file's.
async fn compared(
    base: &Text,
    ours: &Text,
    theirs: &Text,
) -> SyncResult<(Vec<HunkDraft>, Vec<HunkDraft>)> {
    let (base, ours, theirs) = (base.to_string(), ours.to_string(), theirs.to_string());
    blocking(move || {
        (diff_in_order(&base, &ours, &limits()), diff_in_order(&base, &theirs, &limits()))
    })
    .await
}

fn limits() -> DiffLimits {
    DiffLimits { deadline: Some(Instant::now() + DIFF_TIMEOUT) }
}
