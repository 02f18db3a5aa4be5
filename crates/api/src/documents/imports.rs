//! Imports: files of other programs as documents, and HTML as Markdown.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use crate::{ApiError, ApiResult, Caller, DocumentContent, ErrorCode};
use copydesk_approvals::{ApprovalRequest, ClaimedAuthor, DraftPart, HunkDraft, HunkKind};
use copydesk_comments::{
    CommentAnchor, LONGEST_COMMENT, LONGEST_QUOTE, MOST_COMMENTS, MOST_OPEN_THREADS, MOST_THREADS,
};
use copydesk_convert::{
    Converted, FileError, FileKind, ImportedChange, ImportedComment, ImportedPart,
    ImportedSuggestion, ImportedThread, Report, SourceFile, WordError,
};
use copydesk_cpu_pool as cpu_pool;
use copydesk_document::Text;
use copydesk_macros::boxed;
use copydesk_rooms::{ClaimedSuggestion, ClaimedThread, ImportedDocument};

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
    /// Number of comments that the document's threads hold.
    pub comments: u32,
    /// Things that were left out, and decisions of the reader.
    pub report: Report,
}

#[boxed]
impl Caller {
    /// Creates a document of a file under `title` or the file's own. Its tracked changes become
    /// requests, one for each author, of which the caller is the requester, and its comments
    /// threads.
    ///
    /// # Errors
    /// [`UnsupportedMediaType`](ErrorCode::UnsupportedMediaType) for a file of another kind or
    /// encoding, [`Unprocessable`](ErrorCode::Unprocessable) for a damaged or too complex one,
    /// [`Invalid`](ErrorCode::Invalid) for too long a text.
    pub async fn import_document(
        &self,
        title: Option<String>,
        file: ImportedFile,
    ) -> ApiResult<DocumentImport> {
        let (converted, text) = self.read_file(file).await?;
        let Converted { title: own, markdown, suggestions, threads, mut report } = converted;
        let title = title.filter(|title| !title.trim().is_empty()).or(own).unwrap_or_default();
        let suggestions = suggestions.into_iter().map(|it| claimed(it, &text)).collect();
        let threads = claimed_threads(threads, &mut report);
        let comments = threads.iter().map(|thread| thread.comments.len() as u32).sum();
        let new = ImportedDocument { title, text: markdown, suggestions, threads };
        let (room, requests) = self.application.rooms.create_imported(new, &self.principal).await?;
        let document = DocumentContent::of(&room).await?;
        Ok(DocumentImport { document, requests, comments, report })
    }

    /// Returns HTML, or a file, as Markdown, without tracked changes and comments.
    ///
    /// # Errors
    /// [`Unprocessable`](ErrorCode::Unprocessable) if it cannot be read, or HTML not within 2 s;
    /// [`UnsupportedMediaType`](ErrorCode::UnsupportedMediaType) for a file of another kind or
    /// encoding.
    pub async fn convert_file(&self, file: ImportedFile) -> ApiResult<(String, Report)> {
        let (converted, _) = self.read_file(file).await?;
        let Converted { markdown, suggestions, threads, mut report, .. } = converted;
        for change in suggestions.iter().flat_map(|suggestion| &suggestion.changes) {
            let words = change.parts.iter().map(|part| part.insert.as_str()).collect::<String>();
            report.leave_out("tracked change", Some(&words));
        }
        for comment in threads.iter().flat_map(|thread| &thread.comments) {
            report.leave_out("comment", Some(&comment.text));
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
        Ok(self.application.limits.imports.run(user, memory, time, read).await??)
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

/// Returns the threads of a file as far as a document has room for them. The rest is reported.
fn claimed_threads(threads: Vec<ImportedThread>, report: &mut Report) -> Vec<ClaimedThread> {
    let mut open = 0;
    let mut kept = Vec::new();
    for thread in threads {
        open += usize::from(!thread.is_resolved);
        let is_over = !thread.is_resolved && open > MOST_OPEN_THREADS || kept.len() >= MOST_THREADS;
        let room = if is_over { 0 } else { MOST_COMMENTS };
        for comment in thread.comments.iter().skip(room) {
            report.leave_out("comment", Some(&comment.text));
        }
        if !is_over {
            kept.push(claimed_thread(thread, report));
        }
    }
    kept
}

fn claimed_thread(thread: ImportedThread, report: &mut Report) -> ClaimedThread {
    let ImportedThread { range, about, deleted_words, comments, is_resolved } = thread;
    let anchor = range.map(|(from, to)| CommentAnchor {
        is_orphaned: deleted_words.is_some(),
        ..CommentAnchor::new(from, to)
    });
    let comments = comments.into_iter().take(MOST_COMMENTS);
    let comments = comments.map(|ImportedComment { author, at, mut text }| {
        if let Some((end, _)) = text.char_indices().nth(LONGEST_COMMENT) {
            text.truncate(end);
            report.decide("shortened comment");
        }
        (ClaimedAuthor { name: author, at }, text)
    });
    ClaimedThread {
        anchor,
        about,
        // A character has at most two units.
        deleted_words: deleted_words.map(|it| it.chars().take(LONGEST_QUOTE / 2).collect()),
        comments: comments.collect(),
        is_resolved,
    }
}

fn hunk(ImportedChange { parts, explanation }: ImportedChange, text: &Text) -> HunkDraft {
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
    HunkDraft { parts, explanation, kind: is_move.then_some(HunkKind::Moved), group: None }
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
        let kind = |parts| {
            let change = ImportedChange { parts, explanation: None };
            hunk(change, &text).kind
        };
        assert_eq!(kind(vec![part(0, 4, ""), part(13, 13, "one ")]), Some(HunkKind::Moved));
        assert_eq!(kind(vec![part(0, 0, "three"), part(8, 13, "")]), Some(HunkKind::Moved));
        assert_eq!(kind(vec![part(0, 4, ""), part(13, 13, "four")]), None);
        assert_eq!(kind(vec![part(0, 3, "four")]), None);
    }

    #[test]
    fn more_comments_than_there_is_room_for_are_left_out_and_counted() {
        let comment = |text: &str| ImportedComment {
            author: "Bo".to_owned(),
            at: None,
            text: text.to_owned(),
        };
        let thread = |is_resolved, comments| ImportedThread {
            range: None,
            about: None,
            deleted_words: None,
            comments,
            is_resolved,
        };
        let mut threads = vec![thread(false, vec![comment("Why?")]); MOST_OPEN_THREADS + 2];
        threads.push(thread(true, vec![comment("So."); MOST_COMMENTS + 3]));
        threads.push(thread(true, vec![comment(&"é".repeat(LONGEST_COMMENT + 1))]));
        let mut report = Report::default();
        let kept = claimed_threads(threads, &mut report);
        assert_eq!(kept.len(), MOST_OPEN_THREADS + 2);
        assert_eq!(kept[MOST_OPEN_THREADS].comments.len(), MOST_COMMENTS);
        let (_, shortened) = &kept[MOST_OPEN_THREADS + 1].comments[0];
        assert_eq!(shortened.chars().count(), LONGEST_COMMENT);
        assert_eq!((&*report.left_out[0].kind, report.left_out[0].count), ("comment", 5));
        assert_eq!((&*report.decided[0].kind, report.decided[0].count), ("shortened comment", 1));
    }
}
