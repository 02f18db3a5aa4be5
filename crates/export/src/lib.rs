//! Exports: a document as a file for other programs. Text and open requests in, bytes out.
//!
//! [`annotated`] puts the pending changes and the comments into the text once, and each format
//! writes the result. Where requests of several people overlap, the changes of the oldest are shown
//! as changes and the others as remarks beside the text.

mod annotated;
mod criticmarkup;
mod docx;
mod escape;
mod front_matter;
mod html;
mod json;
mod markdown;
mod remarks;
mod time;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use copydesk_approvals::{ApprovalRequest, AuthorSpan};
use copydesk_comments::CommentThread;
use copydesk_document::{PositionError, Text};
use copydesk_ids::{DocumentId, Version};
use copydesk_interrupt::{Interrupt, Interrupted};
use copydesk_macros::names;

use annotated::AnnotatedText;

/// Format of a file made by [`ExportInput::export`].
#[names(lowercase)]
pub enum ExportFormat {
    /// Text as it is, without pending changes.
    #[name = "md"]
    Markdown,
    /// Page without scripts and without pending changes.
    Html,
    /// Word document, with every pending change as a tracked insertion or deletion, and comments.
    Docx,
    /// Markdown with every pending change and every comment marked in the text.
    CriticMarkup,
    /// Text with version and hash, the open requests with all their hunks, and all threads.
    Json,
}

impl ExportFormat {
    /// All formats, in the order in which they are listed to people.
    pub const ALL: [Self; 5] =
        [Self::Markdown, Self::Html, Self::Docx, Self::CriticMarkup, Self::Json];

    /// Returns the format with that name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.as_str() == name)
    }

    /// Returns the media type.
    pub fn content_type(self) -> &'static str {
        match self {
            Self::Markdown | Self::CriticMarkup => "text/markdown; charset=utf-8",
            Self::Html => "text/html; charset=utf-8",
            Self::Docx => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            Self::Json => "application/json",
        }
    }

    /// Returns the extension of a file's name.
    fn ending(self) -> &'static str {
        match self {
            Self::CriticMarkup => "critic.md",
            format => format.as_str(),
        }
    }
}

/// Reason why [`ExportInput::export`] failed.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// A change is of another text.
    #[error("a pending change does not fit the text: {0}")]
    Position(#[from] PositionError),
    /// The container of a Word document could not be written.
    #[error("the Word document could not be packed: {0}")]
    Pack(#[from] zip::result::ZipError),
    /// A part of a Word document could not be written.
    #[error("the Word document could not be written: {0}")]
    Write(#[from] std::io::Error),
    /// The result is not wanted any more.
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
    /// The JSON could not be written.
    #[error("the document could not be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
}

/// Result of an export.
pub type ExportResult<T> = Result<T, ExportError>;

/// Document with everything that an export contains; text and requests are of one version.
#[derive(Clone, Debug)]
pub struct ExportInput {
    /// Identifier of the document.
    pub id: DocumentId,
    /// Title of the document.
    pub title: String,
    /// Version of the document.
    pub version: Version,
    /// Text of the document.
    pub text: Text,
    /// Requests that people can still decide, oldest first.
    pub requests: Vec<Arc<ApprovalRequest>>,
    /// Threads of comments, oldest first.
    pub threads: Vec<CommentThread>,
    /// Provenance of the text; only JSON contains it, so for other formats it may be empty.
    pub author_spans: Vec<AuthorSpan>,
}

impl ExportInput {
    /// Returns the content of the file.
    pub fn export(&self, format: ExportFormat) -> ExportResult<Vec<u8>> {
        self.export_until(format, &Interrupt::default())
    }

    /// Returns the content of the file as [`Self::export`] does, unless `interrupt` ends the work.
    pub fn export_until(
        &self,
        format: ExportFormat,
        interrupt: &Interrupt,
    ) -> ExportResult<Vec<u8>> {
        let title = escape::line(&self.title);
        match format {
            ExportFormat::Markdown => Ok(self.text.to_string().into_bytes()),
            ExportFormat::Html => html::write(&title, &self.text.to_string(), interrupt),
            ExportFormat::CriticMarkup => Ok(criticmarkup::write(&self.marked()?)),
            ExportFormat::Docx => docx::write(&title, &self.marked()?, interrupt),
            ExportFormat::Json => json::write(self),
        }
    }

    /// Returns the most memory that [`Self::export`] takes, in bytes: the parser's tree of a text
    /// of signs and short lines counts, `benches/export/export.rs` measures it.
    pub fn memory_bytes(&self, format: ExportFormat) -> usize {
        let per_unit = match format {
            ExportFormat::Markdown => 4,
            ExportFormat::CriticMarkup | ExportFormat::Json => 16,
            ExportFormat::Html | ExportFormat::Docx => 64,
        };
        let hunks = self.requests.iter().flat_map(|request| &request.hunks);
        let changed: usize = hunks.flat_map(|hunk| &hunk.parts).map(|part| part.insert.len()).sum();
        let said: usize = self.threads.iter().map(CommentThread::text_len).sum();
        // The proposed text is a text of its own.
        let texts = if self.requests.is_empty() { 1 } else { 2 };
        per_unit * (texts * self.text.len() + changed) + 4 * said
    }

    /// Returns a file name that is valid on every file system: made of the title, at most 100
    /// characters and the extension.
    pub fn file_name(&self, format: ExportFormat) -> String {
        format!("{}.{}", escape::file_stem(&self.title), format.ending())
    }

    fn marked(&self) -> ExportResult<AnnotatedText> {
        Ok(AnnotatedText::new(&self.text, &self.requests, &self.threads)?)
    }
}
