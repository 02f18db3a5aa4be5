//! Queries of REST routes.

use copydesk_macros::wire;
use schemars::JsonSchema;

/// Query for a part of a list.
#[wire(Deserialize)]
pub struct ListPart {
    /// At most this many, 1 to 200; 50 if missing.
    #[schemars(range(min = 1, max = 200))]
    pub limit: Option<u32>,
    /// Value of `next` of the page before.
    pub cursor: Option<String>,
}

/// Longest time to wait for an end.
#[wire(Deserialize)]
pub struct WaitQuery {
    /// Answer once it is over, or after so many seconds, 0 to 60; 0 if missing.
    #[schemars(range(max = 60))]
    pub wait: Option<u64>,
}

/// Facts about an imported file besides its content.
#[wire(Deserialize)]
pub struct ImportQuery {
    /// Title of the document; missing: that of the file.
    pub title: Option<String>,
    /// Name of the file. Its extension says of which kind it is: `.docx`, `.md`, `.txt` or `.html`.
    /// Missing: `Content-Type` or the content says so.
    pub name: Option<String>,
}

/// Name of a file whose content is converted.
#[wire(Deserialize)]
pub struct ConvertQuery {
    /// Name of the file, if the body is one and no HTML. Its extension says of which kind it is.
    pub name: Option<String>,
}

/// Format of an exported document.
#[wire(Deserialize)]
pub struct ExportQuery {
    /// Format of the export.
    #[schemars(extend("enum" = ["md", "html", "docx", "criticmarkup", "json"]))]
    pub format: String,
}

/// Query for lines of an audit log.
#[wire(Deserialize)]
pub struct AuditQuery {
    /// Only those before this line.
    pub before: Option<u64>,
    /// At most this many, 1 to 500; 100 if missing.
    #[schemars(range(min = 1, max = 500))]
    pub limit: Option<u32>,
    /// Value of `next` of the page before; wins over `before`.
    pub cursor: Option<String>,
}

/// Query for a list of files.
#[wire(Deserialize)]
pub struct FileListQuery {
    /// Words that the path contains, in any order, whatever the case; all files without it.
    pub pattern: Option<String>,
    /// At most this many, 1 to 200; 50 if missing.
    #[schemars(range(min = 1, max = 200))]
    pub limit: Option<u32>,
    /// Value of `next` of the page before.
    pub cursor: Option<String>,
}

/// Query for a list of requests.
#[wire(Deserialize, camelCase)]
pub struct RequestListQuery {
    /// Only those of this document, or `desk`: those without one; missing: all that the person may
    /// see.
    pub document_id: Option<String>,
    /// `open` (the default): those that can still be decided. `ended`: the others, without those of
    /// private documents if no document is named.
    pub state: Option<String>,
    /// With `state=ended`, how they ended, with commas between: `approved`, `rejected`, `partly`,
    /// `expired`, `cancelled`, `failed`.
    pub status: Option<String>,
    /// At most this many, 1 to 200; 50 if missing.
    #[schemars(range(min = 1, max = 200))]
    pub limit: Option<u32>,
    /// Value of `next` of the page before.
    pub cursor: Option<String>,
}

/// Query for a part of a conversation of a session.
#[wire(Deserialize, camelCase)]
pub struct TranscriptQuery {
    /// The document it is about, with what everybody said there; missing: the work without a
    /// document.
    pub document_id: Option<String>,
    /// At most this many, 1 to 200; 50 if missing.
    #[schemars(range(min = 1, max = 200))]
    pub limit: Option<u32>,
    /// Value of `next` of the page before.
    pub cursor: Option<String>,
}

/// Content of a file, in the format that was asked for.
#[derive(JsonSchema)]
pub struct FileContent;
