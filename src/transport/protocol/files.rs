//! Files of the workspace that are documents: which there are, and how a document stands with its file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
#[cfg(test)]
use ts_rs::TS;

/// `workspace:files`
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(TS), ts(optional_fields))]
pub struct ListFiles {
    /// Words that the path contains, in any order, whatever the case; all files without it.
    pub pattern: Option<String>,
}

/// The ack of `workspace:files`: text files that can be opened, sorted; what is ignored is left out.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "camelCase")]
pub struct FileList {
    /// From the workspace's top.
    pub files: Vec<FileLine>,
    /// There are more than are told.
    pub is_cut: bool,
}

/// A file that can be opened.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct FileLine {
    /// From the workspace's top.
    pub path: String,
    /// The document that it is already.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub document_id: Option<String>,
}

/// How a document stands with the file that it is.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS), ts(optional_fields))]
pub struct FileState {
    /// From the workspace's top.
    pub path: String,
    /// `saved`: the file has the text of `version`; `missing`: it is gone, and made again when somebody writes; `failed`:
    /// it cannot be read or written.
    pub status: String,
    /// The newest version that the file has.
    pub version: u64,
    /// Why it failed, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// `document:file`: the document was written to its file, the file is gone, or changes of it came in.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct DocumentFile {
    /// The document.
    pub document_id: String,
    /// How both stand now.
    pub file: FileState,
    /// Somebody changed the file, and this came of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub merged: Option<FileMerged>,
}

/// What came of changes in a file: most are in the text, as updates by `disk`.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct FileMerged {
    /// Those that are not, because people had changed the same words: theirs stay, and replace the file's.
    pub kept: Vec<FileConflict>,
}

/// Words that people and somebody else changed at the same time.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct FileConflict {
    /// What both had read.
    pub base: String,
    /// What stood in the file.
    pub disk: String,
    /// What people wrote, and what stays.
    pub kept: String,
}
