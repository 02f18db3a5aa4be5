//! Text files of the workspace, which are documents once someone has opened them.

use std::collections::HashMap;

use copydesk_file_sync::FileSync;
use copydesk_ids::DocumentId;
use copydesk_macros::boxed;

use super::{ApiError, ApiResult, Application, Caller, ErrorCode, ListPage};

/// Files of the workspace that can be opened, each with the document that it is already.
#[derive(Debug)]
pub struct ListedFiles {
    /// Page of paths and documents.
    pub page: ListPage<(String, Option<DocumentId>)>,
    /// `true` if there are more files than the workspace lists at all.
    pub is_cut: bool,
}

/// Paths of the documents that are files.
#[derive(Debug)]
pub enum DocumentPaths {
    /// Paths of the files that this server synchronises; `None` without a workspace.
    Synchronised(Option<FileSync>),
    /// Paths that are stored, because another server of several has the workspace.
    Stored(HashMap<DocumentId, String>),
}

impl DocumentPaths {
    /// Returns the path of the file that a document is.
    pub fn of(&self, document: &DocumentId) -> Option<String> {
        match self {
            Self::Synchronised(files) => files.as_ref()?.path_of(document),
            Self::Stored(paths) => paths.get(document).cloned(),
        }
    }
}

impl Application {
    /// Returns `true` if there is a folder for work without a document, here or on another server.
    pub fn has_workspace(&self) -> bool {
        self.agents.tools().workspace().is_some() || self.rooms.knows_of_workspace()
    }

    /// Returns `true` if files of a workspace can be opened as documents, here or on another
    /// server.
    pub fn has_files(&self) -> bool {
        self.files.is_some() || self.rooms.knows_of_workspace()
    }

    /// Returns the paths of the documents that are files.
    ///
    /// # Errors
    /// [`ErrorCode::Unavailable`] if they cannot be read.
    #[boxed]
    pub async fn document_paths(&self) -> ApiResult<DocumentPaths> {
        if !self.rooms.knows_of_workspace() || self.rooms.has_workspace_here() {
            return Ok(DocumentPaths::Synchronised(self.files.clone()));
        }
        let files = self.store.files().await?.into_iter();
        Ok(DocumentPaths::Stored(files.map(|(file, _)| (file.document, file.path)).collect()))
    }
}

#[boxed]
impl Caller {
    /// Returns the files whose paths contain all words of `pattern`, folder by folder, after the
    /// path `after`.
    ///
    /// # Errors
    /// [`ErrorCode::Invalid`] for too long a pattern, [`ErrorCode::Unsupported`] without a
    /// workspace, [`ErrorCode::OtherServer`] if another one has it, [`ErrorCode::Unavailable`] if
    /// none has it now or it cannot be read.
    pub async fn list_files(
        &self,
        pattern: String,
        after: Option<String>,
        limit: usize,
    ) -> ApiResult<ListedFiles> {
        let files = self.files().await?;
        let found = files.list(pattern, after, limit + 1).await?;
        let file = |path: String| {
            let document = files.document_of(&path);
            (path, document)
        };
        let page = ListPage::cut(found.paths.into_iter().map(file).collect(), limit);
        Ok(ListedFiles { page, is_cut: found.is_cut })
    }

    /// Returns the document of a file, and creates it if there is none.
    ///
    /// # Errors
    /// [`ErrorCode::Unprocessable`] for an unusable path, [`ErrorCode::NotFound`] for a missing
    /// file, [`ErrorCode::Unsupported`] if it is no text file or there is no workspace,
    /// [`ErrorCode::OtherServer`] if another one has it, [`ErrorCode::Unavailable`] if none has it
    /// now, [`ErrorCode::NotAllowed`] if it is guarded.
    pub async fn open_file(&self, path: &str) -> ApiResult<DocumentId> {
        Ok(self.files().await?.open(path, &self.principal).await?)
    }

    /// Returns the files of the workspace.
    async fn files(&self) -> ApiResult<&FileSync> {
        self.application.rooms.check_workspace_here().await?;
        self.application.files.as_ref().ok_or_else(|| {
            let message = "this server has no workspace, so files cannot be opened as documents";
            ApiError::new(ErrorCode::Unsupported, message)
        })
    }
}
