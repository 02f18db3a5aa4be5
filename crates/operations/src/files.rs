//! Text files of the workspace: list them, and open one as a document.

use copydesk_api::{ApiResult, Caller};
use copydesk_ids::permissions::Action::Create;
use copydesk_operation_table::{OnServer, Operation, operation, transport_handled};
use copydesk_protocol::files::{FileList, ListFiles};
use copydesk_protocol::queries::FileListQuery;
use copydesk_protocol::rest::{FilePage, OpenFile};
use copydesk_protocol::server::CreatedDocument;
use copydesk_protocol_conversion as wire;

/// Maximum number of files in one answer.
const MOST_FILES: usize = 500;

/// Operations of this file.
#[rustfmt::skip]
pub(crate) fn operations() -> Vec<Operation> {
    vec![
        operation("Text files of the workspace that can be opened as documents", OnServer(Create), list).event("workspace:files").only_reads(),
        transport_handled::<_, FileListQuery, FilePage>("Text files of the workspace that can be opened as documents", OnServer(Create)).get("/files", "listFiles"),
        operation("Open a file as a document, which is created if there is none yet", OnServer(Create), open).post("/files", "openFile"),
    ]
}

async fn list(caller: Caller, (): (), input: ListFiles) -> ApiResult<FileList> {
    let listed = caller.list_files(input.pattern.unwrap_or_default(), None, MOST_FILES).await?;
    let is_cut = listed.is_cut || listed.page.more;
    let line = |(path, document)| wire::file_line(path, document);
    Ok(FileList { files: listed.page.items.into_iter().map(line).collect(), is_cut })
}

async fn open(caller: Caller, (): (), input: OpenFile) -> ApiResult<CreatedDocument> {
    let document = caller.open_file(&input.path).await?;
    Ok(wire::created(caller.content(&document).await?))
}
