//! What a call has made of a file is compared with what stands there now, and put back as it was before.

use crate::approvals::{FileNow, WrittenFile, changed_units, diff_lines};
use crate::file_sync::text_encoding;
use crate::ids::DocumentId;
use crate::rooms::RoomHandle;
use crate::rooms::command::DocumentSnapshot;
use crate::workspace::{ABSENT, Workspace, stamp};

use crate::tools::document::text_changes;
use crate::tools::{ToolError, ToolRegistry};

/// Lines of what changed in a file that people are shown.
const MOST_LINES: usize = 400;

/// What a call has made of a file, and what was there before.
#[derive(Clone, Debug)]
pub struct FileChange {
    /// The file.
    pub path: String,
    /// What it read before; `None`: there was none.
    pub before: Option<String>,
    /// What it read afterwards.
    pub after: String,
}

impl FileChange {
    /// What a call has made of a file; `None`: what is kept of the file before is not what it replaced.
    pub fn of(written: &WrittenFile<'_>) -> Option<Self> {
        let WrittenFile { path, before, after, touched } = *written;
        let stood = before.map_or_else(|| ABSENT.to_owned(), stamp);
        (stood == touched).then(|| Self {
            path: path.to_owned(),
            before: before.map(str::to_owned),
            after: after.to_owned(),
        })
    }

    /// How much of the file changes if it is taken back now, in UTF-16 units: everything deleted and inserted.
    pub fn units(&self, now: &CurrentFile) -> usize {
        let stands = now.text.as_deref().unwrap_or_default();
        changed_units(stands, self.before.as_deref().unwrap_or_default())
    }

    /// What became of it since.
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

/// What became of a file since a call wrote it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileSinceCall {
    /// It reads as the call left it.
    Nothing,
    /// It reads as before the call.
    TakenBack,
    /// It reads otherwise, or is gone.
    Changed,
}

/// What stands where a call has written.
#[derive(Debug)]
pub struct CurrentFile {
    /// What tells it from everything else.
    pub stamp: String,
    /// What it reads; `None`: there is no such file.
    pub text: Option<String>,
    /// The room of the file, and how it reads there, if that is what counts.
    pub live: Option<(RoomHandle, DocumentSnapshot)>,
}

impl CurrentFile {
    /// The document that people have open in place of the file.
    pub fn document(&self) -> Option<&DocumentId> {
        Some(self.live.as_ref()?.0.document())
    }
}

impl ToolRegistry {
    /// What stands at a path now: in the document that the file is, if people have that open, or on the disk.
    pub async fn standing(&self, path: &str) -> Result<CurrentFile, ToolError> {
        let workspace = self.workspace().ok_or(ToolError::NoWorkspace)?.clone();
        if let Some(files) = &self.files
            && let Some(room) = files.live(path).await
        {
            let reading = room.read().await?;
            let text = reading.text.to_string();
            let (stamp, text) = (stamp(&text), Some(text));
            return Ok(CurrentFile { stamp, text, live: Some((room, reading)) });
        }
        let path = path.to_owned();
        let found = text_changes::blocking(move |_| workspace.look(&path)).await??;
        Ok(match found {
            Some(file) => CurrentFile { stamp: file.stamp, text: Some(file.text), live: None },
            None => CurrentFile { stamp: ABSENT.to_owned(), text: None, live: None },
        })
    }

    /// Puts back what a file read before, if it still reads as it was found: completely or not at all.
    pub async fn put_back(&self, change: FileChange, found: String) -> Result<(), ToolError> {
        let workspace = self.workspace().ok_or(ToolError::NoWorkspace)?.clone();
        text_changes::blocking(move |_| put_back(&workspace, &change, &found)).await?
    }

    /// The document of a file is written to it, as far as that is possible.
    pub async fn write_through(&self, document: &DocumentId) {
        if let Some(files) = &self.files {
            files.settle(document).await;
        }
    }
}

fn put_back(workspace: &Workspace, change: &FileChange, found: &str) -> Result<(), ToolError> {
    match &change.before {
        Some(before) if stamp(before) == found => Ok(()),
        Some(before) => workspace.write(&change.path, before, found).map(drop).map_err(Into::into),
        None if found == ABSENT => Ok(()),
        None => workspace.remove(&change.path, found).map(drop).map_err(Into::into),
    }
}

/// How a file reads now, for people who must know before they overwrite it.
pub async fn changed_since(change: FileChange, now: &CurrentFile) -> Result<FileNow, ToolError> {
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
