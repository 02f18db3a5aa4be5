//! Documents as files for other programs.

use copydesk_cpu_pool as cpu_pool;
use copydesk_export::{ExportFormat, ExportInput};
use copydesk_ids::DocumentId;
use copydesk_ids::permissions::Action;
use copydesk_macros::boxed;
use copydesk_rooms::{ExportSnapshot, RoomResult, author_spans};
use copydesk_store::Store;

use super::{ApiError, ApiResult, Caller};

/// File that a document was exported to.
#[derive(Clone, Debug)]
pub struct ExportedFile {
    /// Name for the file, after the title.
    pub name: String,
    /// Content of the file.
    pub content: Vec<u8>,
}

impl Caller {
    /// Exports a document, on the CPU pool: the layout of a long one takes longer than other people
    /// should have to wait. Ends when the caller stops waiting.
    ///
    /// # Errors
    /// [`Internal`](super::ErrorCode::Internal) if the file cannot be made,
    /// [`Invalid`](super::ErrorCode::Invalid) if the document changes too fast to be read; those of
    /// [`Self::room`].
    #[boxed]
    pub async fn export_document(
        &self,
        document: &DocumentId,
        format: ExportFormat,
    ) -> ApiResult<ExportedFile> {
        let room = self.room(document, Action::Read).await?;
        let input =
            export_input(&self.application.store, document, room.draft().await?, format).await?;
        let name = input.file_name(format);
        let (person, memory) = (self.principal.user.as_str(), input.memory_bytes(format));
        let exporting =
            cpu_pool::run_long(person, memory, move |gone| input.export_until(format, gone));
        match exporting.await {
            Ok(Ok(content)) => Ok(ExportedFile { name, content }),
            Ok(Err(error)) => {
                tracing::error!(%error, %document, "cannot export a document");
                Err(ApiError::internal())
            }
            Err(error) => {
                tracing::error!(%error, %document, "the export job of a document panicked");
                Err(ApiError::internal())
            }
        }
    }
}

/// Returns everything that the exported file of a document holds.
///
/// # Errors
/// Those of [`author_spans`], for JSON; none for other formats.
pub async fn export_input(
    store: &Store,
    document: &DocumentId,
    snapshot: ExportSnapshot,
    format: ExportFormat,
) -> RoomResult<ExportInput> {
    let ExportSnapshot { title, version, text, requests, threads } = snapshot;
    let author_spans = match format {
        ExportFormat::Json => author_spans(store, document, version, 0..text.len()).await?,
        ExportFormat::Markdown
        | ExportFormat::Html
        | ExportFormat::Docx
        | ExportFormat::CriticMarkup => Vec::new(),
    };
    let id = document.clone();
    Ok(ExportInput { id, title, version, text, requests, threads, author_spans })
}
