//! Exports: a document as a file for other programs. Pure: text and open requests in, bytes out.
//!
//! [`annotated`] puts the pending changes into the text once, and each format writes what it finds
//! there. Where requests of several people overlap, the changes of the oldest are shown as changes
//! and the others as remarks beside the text.

mod annotated;
mod criticmarkup;
mod docx;
mod escape;
mod html;
mod json;
mod markdown;
mod time;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use crate::approvals::{ApprovalRequest, AuthorSpan};
use crate::document::{PositionError, Text};
use crate::ids::{DocumentId, Version};

use annotated::AnnotatedText;

/// What a document can be made into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportFormat {
    /// The text as it is, without what is pending.
    Markdown,
    /// A page of its own, without scripts; without what is pending.
    Html,
    /// Word, with every pending change as a tracked insertion or deletion.
    Docx,
    /// Markdown with every pending change marked in the text.
    CriticMarkup,
    /// The text with version and hash, and the open requests with all their hunks.
    Json,
}

impl ExportFormat {
    /// All of them, in the order in which people are told of them.
    pub const ALL: [Self; 5] =
        [Self::Markdown, Self::Html, Self::Docx, Self::CriticMarkup, Self::Json];

    /// The name in an address and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Markdown => "md",
            Self::Html => "html",
            Self::Docx => "docx",
            Self::CriticMarkup => "criticmarkup",
            Self::Json => "json",
        }
    }

    /// The format with that name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.as_str() == name)
    }

    /// The media type.
    pub fn content_type(self) -> &'static str {
        match self {
            Self::Markdown | Self::CriticMarkup => "text/markdown; charset=utf-8",
            Self::Html => "text/html; charset=utf-8",
            Self::Docx => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            Self::Json => "application/json",
        }
    }

    /// How the name of such a file ends.
    fn ending(self) -> &'static str {
        match self {
            Self::Markdown => "md",
            Self::Html => "html",
            Self::Docx => "docx",
            Self::CriticMarkup => "critic.md",
            Self::Json => "json",
        }
    }
}

/// Why a document could not be written.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// A change is of another text.
    #[error("a pending change does not fit the text: {0}")]
    Position(#[from] PositionError),
    /// The container of a Word document.
    #[error("the Word document could not be packed: {0}")]
    Pack(#[from] zip::result::ZipError),
    /// A part of a Word document.
    #[error("the Word document could not be written: {0}")]
    Write(#[from] std::io::Error),
    /// JSON.
    #[error("the document could not be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
}

/// A document with everything an export tells of it; text and requests are of the same version.
#[derive(Clone, Debug)]
pub struct ExportInput {
    /// Its name.
    pub id: DocumentId,
    /// Its title.
    pub title: String,
    /// Its version.
    pub version: Version,
    /// Its text.
    pub text: Text,
    /// The requests that people can still decide, oldest first.
    pub requests: Vec<Arc<ApprovalRequest>>,
    /// Who wrote every span; only JSON tells of it, so for other formats it may be empty.
    pub credits: Vec<AuthorSpan>,
}

impl ExportInput {
    /// The file's content.
    ///
    /// # Errors
    /// [`ExportError`] when text and requests are not of the same version, or the file cannot be put together.
    pub fn export(&self, format: ExportFormat) -> Result<Vec<u8>, ExportError> {
        match format {
            ExportFormat::Markdown => Ok(markdown::write(&self.text)),
            ExportFormat::Html => Ok(html::write(&escape::line(&self.title), &self.text)),
            ExportFormat::CriticMarkup => Ok(criticmarkup::write(&self.marked()?)),
            ExportFormat::Docx => docx::write(&escape::line(&self.title), &self.marked()?),
            ExportFormat::Json => json::write(self),
        }
    }

    /// A name for the file that no file system minds: made of the title, at most 100 characters and the ending.
    pub fn file_name(&self, format: ExportFormat) -> String {
        format!("{}.{}", escape::file_stem(&self.title), format.ending())
    }

    fn marked(&self) -> Result<AnnotatedText, ExportError> {
        Ok(AnnotatedText::new(&self.text, &self.requests)?)
    }
}
