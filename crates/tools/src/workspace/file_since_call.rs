//! State of a file since a call changed it: compares the file with the call's result, and restores
//! the text before the call, for an undo.

use copydesk_approvals::{FileNow, WrittenFile, changed_units, diff_lines};
use copydesk_file_sync::text_encoding;
use copydesk_ids::DocumentId;
use copydesk_rooms::RoomHandle;
use copydesk_rooms::command::DocumentSnapshot;
use copydesk_workspace::{ABSENT, Workspace, stamp};

use crate::document::text_changes;
use crate::{ToolError, ToolRegistry, ToolResult};

/// Maximum number of lines of a diff that people are shown.
const MOST_LINES: usize = 400;

/// Change of a file by a call.
#[derive(Clone, Debug)]
pub struct FileChange {
    /// Path of the file.
    pub path: String,
    /// Text before the call; `None` if there was no file.
    pub before: Option<String>,
    /// Text after the call.
    pub after: String,
}

impl FileChange {
    /// Returns the change of a file; `None` if the stored text is not the one that the call
    /// replaced.
    pub fn of(written: &WrittenFile<'_>) -> Option<Self> {
        let WrittenFile { path, before, after, touched } = *written;
        let stood = before.map_or_else(|| ABSENT.to_owned(), stamp);
        (stood == touched).then(|| Self {
            path: path.to_owned(),
            before: before.map(str::to_owned),
            after: after.to_owned(),
        })
    }

    /// Returns the UTF-16 units that an undo deletes and inserts now.
    pub fn units(&self, now: &CurrentFile) -> usize {
        let stands = now.text.as_deref().unwrap_or_default();
        changed_units(stands, self.before.as_deref().unwrap_or_default())
    }

    /// Compares the present file with the file before and after the call.
    pub fn compare(&self, now: &CurrentFile) -> FileSinceCall {
        let same = |text: &str| match &now.live {
            // A document has neither line ends of its own nor a byte order mark.
            Some((_, reading)) => reading.text == text_encoding::read(text),
            None => now.text.as_deref() == Some(text),
        };
        let is_before = match &self.before {
            Some(before) => same(before),
            None => now.live.is_none() && now.text.is_none(),
        };
        if is_before {
            FileSinceCall::TakenBack
        } else if same(&self.after) {
            FileSinceCall::Nothing
        } else {
            FileSinceCall::Changed
        }
    }
}

/// State of a file since a call wrote it ([`FileChange::compare`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileSinceCall {
    /// The file reads as the call left it.
    Nothing,
    /// The file reads as before the call.
    TakenBack,
    /// The file reads otherwise, or is gone.
    Changed,
}

/// Present content at a path that a call has written ([`ToolRegistry::current_file`]).
#[derive(Debug)]
pub struct CurrentFile {
    /// Stamp that identifies the content.
    pub stamp: String,
    /// Text of the file; `None` if there is no file.
    pub text: Option<String>,
    /// Room and snapshot of the document, if people have the file open.
    pub live: Option<(RoomHandle, DocumentSnapshot)>,
}

impl CurrentFile {
    /// Returns the document that people have open in place of the file.
    pub fn document(&self) -> Option<&DocumentId> {
        Some(self.live.as_ref()?.0.document())
    }
}

impl ToolRegistry {
    /// Returns the present content at a path: of the open document, otherwise of the file on the
    /// disk.
    pub async fn current_file(&self, path: &str) -> ToolResult<CurrentFile> {
        let workspace = self.workspace().ok_or(ToolError::NoWorkspace)?.clone();
        if let Some(files) = &self.files
            && let Some(room) = files.open_room(path).await
        {
            let reading = room.read().await?;
            let text = reading.text.to_string();
            let (stamp, text) = (stamp(&text), Some(text));
            return Ok(CurrentFile { stamp, text, live: Some((room, reading)) });
        }
        let path = path.to_owned();
        let found = text_changes::blocking(move |_| workspace.read_if_exists(&path)).await??;
        Ok(match found {
            Some(file) => CurrentFile { stamp: file.stamp, text: Some(file.text), live: None },
            None => CurrentFile { stamp: ABSENT.to_owned(), text: None, live: None },
        })
    }

    /// Restores the text before the call, if the file still has the stamp `found`.
    pub async fn put_back(&self, change: FileChange, found: String) -> ToolResult<()> {
        let workspace = self.workspace().ok_or(ToolError::NoWorkspace)?.clone();
        text_changes::blocking(move |_| put_back(&workspace, &change, &found)).await?
    }

    /// Writes the document of a file to the disk, as far as that is possible.
    pub async fn write_through(&self, document: &DocumentId) {
        if let Some(files) = &self.files {
            files.settle(document).await;
        }
    }
}

fn put_back(workspace: &Workspace, change: &FileChange, found: &str) -> ToolResult<()> {
    match &change.before {
        Some(before) if stamp(before) == found => Ok(()),
        Some(before) => workspace.write(&change.path, before, found).map(drop).map_err(Into::into),
        None if found == ABSENT => Ok(()),
        None => workspace.remove(&change.path, found).map(drop).map_err(Into::into),
    }
}

/// Returns the present text of a file as a diff, for people who may overwrite it.
pub async fn changed_since(change: FileChange, now: &CurrentFile) -> ToolResult<FileNow> {
    let (text, document) = (now.text.clone(), now.document().cloned());
    text_changes::blocking(move |limits| {
        let is_there = text.is_some();
        let FileChange { path, after, .. } = change;
        let mut lines = diff_lines(&path, &after, &text.unwrap_or_default(), limits);
        lines.truncate(MOST_LINES);
        FileNow { path, is_there, diff_lines: lines, document }
    })
    .await
}
