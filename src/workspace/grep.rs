//! Which lines of which files match.

use std::io::Read as _;

use cap_std::fs::Metadata;
use grep_matcher::LineTerminator;
use grep_regex::RegexMatcherBuilder;
use grep_searcher::sinks::Lossy;
use grep_searcher::{BinaryDetection, SearcherBuilder};

use super::walk::{End, Entry, Flow};
use super::{Workspace, WorkspaceError, files, glob};

/// Lines one search answers with.
const MOST_LINES: usize = 250;
/// Characters of a line that are repeated.
const LINE_CHARS: usize = 300;
/// Bytes of a file that are searched.
pub const SEARCHED_BYTES: u64 = 8 * 1024 * 1024;
/// Bytes a compiled pattern may take.
const PATTERN_BYTES: usize = 1024 * 1024;

/// What to look for.
#[derive(Clone, Debug, Default)]
pub struct Grep {
    /// A regular expression, in linear time: no look-around, no back-references.
    pub pattern: String,
    /// The folder or file to search.
    pub from: String,
    /// Only files whose name or path below that folder matches.
    pub glob: Option<String>,
    /// Whether large and small letters are the same.
    pub ignore_case: bool,
}

/// The lines that were found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grepped {
    /// `path:line:text`, in the order of the files.
    pub lines: Vec<String>,
    /// There is more than was looked at or is answered.
    pub is_cut: bool,
    /// Files of which only the first [`SEARCHED_BYTES`] were looked at.
    pub partly: Vec<String>,
}

impl Workspace {
    /// The lines that match, but for those of files that are `hidden`, by their path from the workspace's top.
    pub fn grep(
        &self,
        wanted: &Grep,
        hidden: impl Fn(&str) -> bool,
    ) -> Result<Grepped, WorkspaceError> {
        let matcher = RegexMatcherBuilder::new()
            .case_insensitive(wanted.ignore_case)
            .size_limit(PATTERN_BYTES)
            // A line ends with `\n` or `\r\n`, and `$` stands before either.
            .crlf(true)
            .multi_line(true)
            .build(&wanted.pattern)
            .map_err(|error| WorkspaceError::Pattern { reason: error.to_string() })?;
        let only = wanted.glob.as_deref().map(glob::matcher).transpose()?;
        let mut searcher = SearcherBuilder::new()
            .binary_detection(BinaryDetection::quit(0))
            .line_terminator(LineTerminator::crlf())
            .build();
        let (mut lines, mut partly) = (Vec::new(), Vec::new());
        let mut visit = |entry: &Entry<'_>| {
            let name = entry.name.to_string_lossy();
            let is_meant = |only: &globset::GlobMatcher| {
                only.is_match(entry.below) || only.is_match(name.as_ref())
            };
            if !only.as_ref().is_none_or(is_meant) || hidden(entry.path) {
                return Flow::Go;
            }
            // A file that cannot be read has no lines.
            let Ok(file) = files::open(entry.folder, entry.name) else { return Flow::Go };
            let is_open = |it: &Metadata| it.is_file() && !self.is_closed(it);
            let Some(metadata) = file.metadata().ok().filter(is_open) else { return Flow::Go };
            let mut beginning = file.take(SEARCHED_BYTES);
            let add = |number: u64, line: &str| {
                lines.push(format!("{}:{number}:{}", entry.path, short(line)));
                Ok(lines.len() <= MOST_LINES)
            };
            searcher.search_reader(&matcher, &mut beginning, Lossy(add)).ok();
            // A binary file is not read so far.
            if beginning.limit() == 0 && metadata.len() > SEARCHED_BYTES {
                partly.push(entry.path.to_owned());
            }
            if lines.len() > MOST_LINES { Flow::Stop } else { Flow::Go }
        };
        let end = self.search(&wanted.from, &mut visit)?;
        let is_cut = end == End::Cut || lines.len() > MOST_LINES;
        lines.truncate(MOST_LINES);
        Ok(Grepped { lines, is_cut, partly })
    }

    /// Every file below a folder, or the one file.
    fn search(
        &self,
        from: &str,
        visit: &mut dyn FnMut(&Entry<'_>) -> Flow,
    ) -> Result<End, WorkspaceError> {
        match self.walk(from, visit) {
            Err(WorkspaceError::NotAFolder { .. }) => {
                let spot = self.spot(from, super::path::Missing::Refuse)?;
                let below = spot.name.to_string_lossy();
                visit(&Entry { path: from, below: &below, folder: &spot.folder, name: &spot.name });
                Ok(End::Complete)
            }
            walked => walked,
        }
    }
}

fn short(line: &str) -> String {
    let line = line.trim_end_matches(['\n', '\r']);
    match line.char_indices().nth(LINE_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}
