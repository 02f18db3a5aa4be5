//! Search for files by a pattern for their paths.

use globset::{GlobBuilder, GlobMatcher};

use super::walk::{WalkEnd, WalkEntry, WalkFlow};
use super::{Workspace, WorkspaceError, WorkspaceResult};

/// Largest number of paths in one [`GlobResult`].
const MOST_NAMES: usize = 1_000;

/// Result of [`Workspace::glob`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GlobResult {
    /// Paths from the workspace's top, sorted.
    pub paths: Vec<String>,
    /// `true` if more files exist than were searched or are returned.
    pub is_cut: bool,
}

impl Workspace {
    /// Finds the files below the folder `from` whose path from there matches `pattern`. Files are
    /// left out if `hidden` is true for their path from the workspace's top.
    ///
    /// # Errors
    /// [`WorkspaceError::Pattern`] or [`WorkspaceError::Outside`] for a wrong pattern.
    pub fn glob(
        &self,
        pattern: &str,
        from: &str,
        hidden: impl Fn(&str) -> bool,
    ) -> WorkspaceResult<GlobResult> {
        let matcher = matcher(pattern)?;
        let is_meant = |entry: &WalkEntry<'_>| matcher.is_match(entry.below) && !hidden(entry.path);
        self.find(from, MOST_NAMES, is_meant)
    }

    /// Returns the first `most` files below a folder that are meant.
    pub(super) fn find(
        &self,
        from: &str,
        most: usize,
        is_meant: impl Fn(&WalkEntry<'_>) -> bool,
    ) -> WorkspaceResult<GlobResult> {
        let mut paths = Vec::new();
        let mut more = false;
        let end = self.walk(from, &mut |entry| {
            if !is_meant(entry) {
                return WalkFlow::Go;
            }
            if paths.len() == most {
                more = true;
                return WalkFlow::Stop;
            }
            paths.push(entry.path.to_owned());
            WalkFlow::Go
        })?;
        Ok(GlobResult { paths, is_cut: more || end == WalkEnd::Cut })
    }
}

/// Compiles a pattern: `*` stays within a name, `**` crosses folders. A pattern that leads outside
/// is refused: finding nothing would suggest that nothing is there.
pub(super) fn matcher(pattern: &str) -> WorkspaceResult<GlobMatcher> {
    let mut names = pattern.split(['/', '{', ',', '}']);
    if pattern.starts_with(['/', '~']) || names.any(|name| name == "..") {
        return Err(WorkspaceError::Outside { path: pattern.to_owned() });
    }
    let mut pattern = pattern;
    while let Some(rest) = pattern.strip_prefix("./") {
        pattern = rest.trim_start_matches('/');
    }
    let glob = GlobBuilder::new(pattern).literal_separator(true).build();
    let glob = glob.map_err(|error| WorkspaceError::Pattern { reason: error.to_string() })?;
    Ok(glob.compile_matcher())
}
