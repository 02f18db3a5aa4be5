//! Imports: files of other programs as documents, and HTML as Markdown.

use std::sync::Arc;
use std::time::Duration;

use async_recursion::async_recursion as boxed;
use bytes::Bytes;

use crate::{ApiError, ApiResult, Caller, DocumentContent, ErrorCode};
use copydesk_approvals::{ApprovalRequest, ClaimedAuthor, DraftPart, HunkDraft, HunkKind};
use copydesk_convert::{
    Converted, FileError, FileKind, ImportedChange, ImportedPart, ImportedSuggestion, Report,
    SourceFile, WordError,
};
use copydesk_cpu_pool as cpu_pool;
use copydesk_document::Text;
use copydesk_rooms::{ClaimedSuggestion, ImportedDocument};

/// Time that reading a file may take on the pool.
const FILE_TIME: Duration = Duration::from_secs(10);
/// Time that reading HTML, such as pasted words, may take on the pool.
const HTML_TIME: Duration = Duration::from_secs(2);

/// File that a person imports.
#[derive(Clone, Debug, Default)]
pub struct ImportedFile {
    /// Content.
    pub bytes: Bytes,
    /// Name with its extension; empty if it is not known.
    pub name: String,
    /// Content type with its parameters; empty if it is not known.
    pub content_type: String,
}

/// Document of an imported file.
#[derive(Clone, Debug)]
pub struct DocumentImport {
    /// Document as it is now.
    pub document: DocumentContent,
    /// Requests for the tracked changes of the file, one for each author.
    pub requests: Vec<Arc<ApprovalRequest>>,
    /// What was left out and decided.
    pub report: Report,
}

impl Caller {
    /// Creates a document of a file under `title` or the file's own. Its tracked changes become
    /// requests, one for each author, of which the caller is the requester.
    ///
    /// # Errors
    /// [`UnsupportedMediaType`](ErrorCode::UnsupportedMediaType) for a file of another kind or
    /// encoding, [`Unprocessable`](ErrorCode::Unprocessable) for a damaged or too complex one,
    /// [`Invalid`](ErrorCode::Invalid) for too long a text.
    #[boxed]
    pub async fn import_document(
        &self,
        title: Option<String>,
        file: ImportedFile,
    ) -> ApiResult<DocumentImport> {
        let (converted, text) = self.read_file(file).await?;
        let Converted { title: own, markdown, suggestions, report } = converted;
        let title = title.filter(|title| !title.trim().is_empty()).or(own).unwrap_or_default();
        let suggestions = suggestions.into_iter().map(|it| claimed(it, &text)).collect();
        let new = ImportedDocument { title, text: markdown, suggestions };
        let (room, requests) = self.api.rooms.create_imported(new, &self.principal).await?;
        Ok(DocumentImport { document: DocumentContent::of(&room).await?, requests, report })
    }

    /// Returns HTML, or a file, as Markdown, without tracked changes.
    ///
    /// # Errors
    /// [`Unprocessable`](ErrorCode::Unprocessable) if it cannot be read, or HTML not within 2 s;
    /// [`UnsupportedMediaType`](ErrorCode::UnsupportedMediaType) for a file of another kind or
    /// encoding.
    #[boxed]
    pub async fn convert_file(&self, file: ImportedFile) -> ApiResult<(String, Report)> {
        let (converted, _) = self.read_file(file).await?;
        let Converted { markdown, suggestions, mut report, .. } = converted;
        for change in suggestions.iter().flat_map(|suggestion| &suggestion.changes) {
            let words = change.parts.iter().map(|part| part.insert.as_str()).collect::<String>();
            report.leave_out("tracked change", Some(&words));
        }
        Ok((markdown, report))
    }

    #[boxed]
    async fn read_file(&self, file: ImportedFile) -> ApiResult<(Converted, Text)> {
        let (user, file) = (&self.principal.user, Arc::new(file));
        let source = Arc::clone(&file);
        // The directory of a long file is read for it.
        let known = cpu_pool::run(user.as_str(), move || {
            (source.source().memory_estimate(), source.source().kind())
        });
        let (memory, kind) = known.await.map_err(|_| ApiError::internal())?;
        let time = if kind? == FileKind::Html { HTML_TIME } else { FILE_TIME };
        let read = move || {
            let converted = file.source().read()?;
            let text = Text::new(&converted.markdown);
            Ok::<_, FileError>((converted, text))
        };
        Ok(self.api.imports.run(user, memory, time, read).await??)
    }
}

impl ImportedFile {
    fn source(&self) -> SourceFile<'_> {
        let Self { bytes, name, content_type } = self;
        SourceFile { bytes, name, content_type }
    }
}

fn claimed(suggestion: ImportedSuggestion, text: &Text) -> ClaimedSuggestion {
    let ImportedSuggestion { author, at, changes } = suggestion;
    let hunks = changes.into_iter().map(|change| hunk(change, text)).collect();
    ClaimedSuggestion { author: ClaimedAuthor { name: author, at }, hunks }
}

fn hunk(ImportedChange { parts }: ImportedChange, text: &Text) -> HunkDraft {
    let part = |ImportedPart { from, to, insert }: ImportedPart| {
        // A range that is none of the text is refused with its document.
        let base = text.slice(from..to).unwrap_or_default();
        DraftPart { from, to, base, insert }
    };
    let parts: Vec<_> = parts.into_iter().map(part).collect();
    let is_move = match parts.as_slice() {
        [one, other] => {
            let [removed, put] = if one.insert.is_empty() { [one, other] } else { [other, one] };
            removed.insert.is_empty() && put.base.is_empty() && put.insert == removed.base
        }
        _ => false,
    };
    HunkDraft { parts, explanation: None, kind: is_move.then_some(HunkKind::Moved), group: None }
}

impl From<FileError> for ApiError {
    fn from(error: FileError) -> Self {
        let message = error.to_string();
        match error {
            FileError::Word(WordError::TooLarge) => Self::new(ErrorCode::TooLarge, message),
            FileError::Word(
                WordError::NotWord | WordError::OldOrEncrypted | WordError::OtherFormat(_),
            )
            | FileError::NoText
            | FileError::UnknownEncoding
            | FileError::OtherKind(_) => Self::new(ErrorCode::UnsupportedMediaType, message),
            FileError::Word(_) => Self::unprocessable(message),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_move_are_one_moved_change() {
        let text = Text::new("one two three");
        let part = |from, to, insert: &str| ImportedPart { from, to, insert: insert.to_owned() };
        let kind = |parts| hunk(ImportedChange { parts }, &text).kind;
        assert_eq!(kind(vec![part(0, 4, ""), part(13, 13, "one ")]), Some(HunkKind::Moved));
        assert_eq!(kind(vec![part(0, 0, "three"), part(8, 13, "")]), Some(HunkKind::Moved));
        assert_eq!(kind(vec![part(0, 4, ""), part(13, 13, "four")]), None);
        assert_eq!(kind(vec![part(0, 3, "four")]), None);
    }
}
