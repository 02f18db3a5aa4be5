//! Events about files of the workspace: list them, and open one as a document.

use crate::ids::DocumentId;
use crate::transport::protocol::convert;
use crate::transport::protocol::files::{FileList, ListFiles};

use super::socket_error::SocketResult;
use super::{SocketConnection, given};

/// Maximum number of files in one answer.
const MOST_FILES: usize = 500;

pub(crate) async fn list(
    connection: &mut SocketConnection,
    payload: ListFiles,
) -> SocketResult<FileList> {
    let pattern = payload.pattern.unwrap_or_default();
    let listed = connection.caller.list_files(pattern, None, MOST_FILES).await?;
    let is_cut = listed.is_cut || listed.page.more;
    let line = |(path, document)| convert::file_line(path, document);
    Ok(FileList { files: listed.page.items.into_iter().map(line).collect(), is_cut })
}

/// Returns the document of a file, and creates it if there is none.
pub(crate) async fn document(
    connection: &SocketConnection,
    path: String,
) -> SocketResult<DocumentId> {
    Ok(connection.caller.open_file(given(path)).await?)
}
