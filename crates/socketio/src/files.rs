//! Events about files of the workspace: list them, and open one as a document.

use copydesk_engine::api::Caller;
use copydesk_engine::ids::DocumentId;
use copydesk_protocol::convert;
use copydesk_protocol::files::{FileList, ListFiles};

use super::given;
use super::socket_error::SocketResult;

/// Maximum number of files in one answer.
const MOST_FILES: usize = 500;

/// Answers `workspace:files`: returns the files that can be opened.
///
/// # Errors
/// `unsupported` without a workspace, `not_allowed` for people who may not create documents,
/// `invalid_payload` for too long a pattern; see [`Caller::list_files`].
pub async fn list(caller: &Caller, payload: ListFiles) -> SocketResult<FileList> {
    let pattern = payload.pattern.unwrap_or_default();
    let listed = caller.list_files(pattern, None, MOST_FILES).await?;
    let is_cut = listed.is_cut || listed.page.more;
    let line = |(path, document)| convert::file_line(path, document);
    Ok(FileList { files: listed.page.items.into_iter().map(line).collect(), is_cut })
}

/// Returns the document of a file, and creates it if there is none.
///
/// # Errors
/// Those of [`Caller::open_file`], under their names in the protocol.
pub async fn document(caller: &Caller, path: String) -> SocketResult<DocumentId> {
    Ok(caller.open_file(given(path)).await?)
}
