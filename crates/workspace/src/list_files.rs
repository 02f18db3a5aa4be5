//! List of the text files that can be opened, by a part of their path.

use std::io::Read as _;

use cap_std::fs::Dir;

use super::path_names::check_guarded;
use super::walk::WalkEntry;
use super::{GlobResult, LARGEST_FILE, Workspace, WorkspaceResult, files};

/// Number of bytes that are checked to recognise a text file.
const SNIFFED: u64 = 512;

impl Workspace {
    /// Lists the text files whose path contains each word of `pattern`, letter case aside: at most
    /// `most`, after the path `after`, except ignored, guarded and too long ones.
    pub fn texts(
        &self,
        pattern: &str,
        after: Option<&str>,
        most: usize,
    ) -> WorkspaceResult<GlobResult> {
        let words: Vec<String> =
            pattern.to_lowercase().split_whitespace().map(Into::into).collect();
        self.find("", most, |entry| {
            let path = entry.path.to_lowercase();
            after.is_none_or(|after| in_order(entry.path).gt(in_order(after)))
                && words.iter().all(|word| path.contains(word.as_str()))
                && is_text(self, entry)
        })
    }
}

/// Returns the key for the position of a path in a walk: folder by folder, `a/b` before `a.b`.
fn in_order(path: &str) -> impl Iterator<Item = &str> {
    path.split('/')
}

/// Returns `true` if a file looks like text. A file that is opened is checked completely.
fn is_text(workspace: &Workspace, entry: &WalkEntry<'_>) -> bool {
    let WalkEntry { path, folder, name, .. } = entry;
    // A file whose name is not text cannot be requested.
    name.to_str().is_some()
        && check_guarded(path).is_ok()
        && begins_as_text(workspace, folder, name).unwrap_or(false)
}

fn begins_as_text(
    workspace: &Workspace,
    folder: &Dir,
    name: &std::ffi::OsStr,
) -> std::io::Result<bool> {
    let file = files::open(folder, name)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() || metadata.len() > LARGEST_FILE || workspace.is_closed(&metadata) {
        return Ok(false);
    }
    let mut beginning = Vec::new();
    file.take(SNIFFED).read_to_end(&mut beginning)?;
    Ok(!beginning.contains(&0)
        // The last character may have been cut in two.
        && std::str::from_utf8(&beginning).map_or_else(|error| error.error_len().is_none(), |_| true))
}
