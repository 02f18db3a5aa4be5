//! Search for the lines of files that match a regular expression.

use std::io::Read as _;

use cap_std::fs::Metadata;
use grep_matcher::LineTerminator;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{
    BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkContextKind, SinkMatch,
};
use ignore::types::{Types, TypesBuilder};

use super::walk::{WalkEnd, WalkEntry, WalkFlow};
use super::{Workspace, WorkspaceError, WorkspaceResult, files, glob};

/// Largest number of lines in one [`GrepResult`].
const MOST_LINES: usize = 250;
/// Largest number of characters of a line in a result.
const LINE_CHARS: usize = 300;
/// Number of bytes of a file that are searched.
pub const SEARCHED_BYTES: u64 = 8 * 1024 * 1024;
/// Largest size of a compiled pattern, in bytes.
const PATTERN_BYTES: usize = 1024 * 1024;
/// Separator between lines that do not follow each other, if lines around a match are shown.
const APART: &str = "--";

/// Parameters of [`Workspace::grep`].
#[derive(Clone, Debug, Default)]
pub struct GrepQuery {
    /// Regular expression that matches in linear time: no look-around, no back-references.
    pub pattern: String,
    /// Folder or file to search.
    pub from: String,
    /// Pattern for the name, or the path below that folder, of the files to search.
    pub glob: Option<String>,
    /// Type of the files to search, such as `rust`.
    pub kind: Option<String>,
    /// `true` to ignore letter case.
    pub ignore_case: bool,
    /// `true` if a match may span lines.
    pub multiline: bool,
    /// Form of the result.
    pub output: GrepOutput,
    /// Number of lines before and after each match to show.
    pub around: (usize, usize),
    /// Number of lines to skip, because an earlier result had them.
    pub offset: usize,
    /// Largest number of lines in the result, if fewer than the general limit.
    pub limit: Option<usize>,
}

/// Form of the lines in a [`GrepResult`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GrepOutput {
    /// `path:line:text` for matching lines, `path-line-text` for lines around a match.
    #[default]
    Lines,
    /// `path:text` for matching lines, `path-text` for lines around a match.
    Bare,
    /// `path` of each file with a match, once.
    Files,
    /// `path:count`, with the number of lines that match.
    Counts,
}

/// Result of [`Workspace::grep`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrepResult {
    /// Lines of the result, in the order of the files.
    pub lines: Vec<String>,
    /// `true` if there is more than was searched or is returned.
    pub is_cut: bool,
    /// Offset of the next lines, if there are more.
    pub next: Option<usize>,
    /// Files of which only the first [`SEARCHED_BYTES`] were searched.
    pub partly: Vec<String>,
}

impl Workspace {
    /// Finds the lines that match, except in files for whose path from the top `hidden` is true.
    pub fn grep(
        &self,
        query: &GrepQuery,
        hidden: impl Fn(&str) -> bool,
    ) -> WorkspaceResult<GrepResult> {
        let (matcher, mut searcher) = (matcher(query)?, searcher(query));
        let only = query.glob.as_deref().map(glob::matcher).transpose()?;
        let kinds = query.kind.as_deref().map(types).transpose()?;
        let mut page = GrepPage::of(query);
        let mut partly = Vec::new();
        let mut visit = |entry: &WalkEntry<'_>| {
            let name = entry.name.to_string_lossy();
            let is_meant = |only: &globset::GlobMatcher| {
                only.is_match(entry.below) || only.is_match(name.as_ref())
            };
            let is_of = |kinds: &Types| kinds.matched(name.as_ref(), false).is_whitelist();
            let is_left_out =
                !only.as_ref().is_none_or(is_meant) || !kinds.as_ref().is_none_or(is_of);
            if is_left_out || hidden(entry.path) {
                return WalkFlow::Go;
            }
            // A file that cannot be read has no lines.
            let Ok(file) = files::open(entry.folder, entry.name) else { return WalkFlow::Go };
            let is_open = |it: &Metadata| it.is_file() && !self.is_closed(it);
            let Some(metadata) = file.metadata().ok().filter(is_open) else { return WalkFlow::Go };
            let mut beginning = file.take(SEARCHED_BYTES);
            let mut lines =
                FileMatches { path: entry.path, query, page: &mut page, count: 0, is_apart: false };
            searcher.search_reader(&matcher, &mut beginning, &mut lines).ok();
            lines.close();
            // The search of a binary file stops before this point.
            if beginning.limit() == 0 && metadata.len() > SEARCHED_BYTES {
                partly.push(entry.path.to_owned());
            }
            if page.has_more() { WalkFlow::Stop } else { WalkFlow::Go }
        };
        let end = self.search(&query.from, &mut visit)?;
        let (is_cut, next) = (end == WalkEnd::Cut || page.has_more(), page.next());
        page.lines.truncate(page.limit);
        Ok(GrepResult { lines: page.lines, is_cut, next, partly })
    }

    /// Visits every file below a folder, or a single file.
    fn search(
        &self,
        from: &str,
        visit: &mut dyn FnMut(&WalkEntry<'_>) -> WalkFlow,
    ) -> WorkspaceResult<WalkEnd> {
        match self.walk(from, visit) {
            Err(WorkspaceError::NotAFolder { .. }) => {
                let spot = self.spot(from, super::resolved_path::MissingFolder::Refuse)?;
                let below = spot.name.to_string_lossy();
                visit(&WalkEntry {
                    path: from,
                    below: &below,
                    folder: &spot.folder,
                    name: &spot.name,
                });
                Ok(WalkEnd::Complete)
            }
            walked => walked,
        }
    }
}

fn matcher(query: &GrepQuery) -> WorkspaceResult<RegexMatcher> {
    let mut builder = RegexMatcherBuilder::new();
    builder
        .case_insensitive(query.ignore_case)
        .size_limit(PATTERN_BYTES)
        // A line ends with `\n` or `\r\n`, and `$` matches before either.
        .crlf(true)
        .multi_line(true);
    if query.multiline {
        builder.line_terminator(None).dot_matches_new_line(true);
    }
    let built = builder.build(&query.pattern);
    built.map_err(|error| WorkspaceError::Pattern { reason: error.to_string() })
}

fn searcher(query: &GrepQuery) -> Searcher {
    let (before, after) = query.around;
    SearcherBuilder::new()
        .binary_detection(BinaryDetection::quit(0))
        .line_terminator(LineTerminator::crlf())
        .multi_line(query.multiline)
        // More lines would not be returned.
        .before_context(before.min(MOST_LINES))
        .after_context(after.min(MOST_LINES))
        .build()
}

/// Returns the matcher for the files of a type, as ripgrep defines it.
fn types(kind: &str) -> WorkspaceResult<Types> {
    let built = TypesBuilder::new().add_defaults().select(kind).build();
    built.map_err(|error| WorkspaceError::Pattern { reason: error.to_string() })
}

/// Lines of a [`GrepResult`], after those of earlier results.
struct GrepPage {
    offset: usize,
    limit: usize,
    passed: usize,
    /// Lines so far; one more than the limit if there are more.
    lines: Vec<String>,
}

impl GrepPage {
    fn of(query: &GrepQuery) -> Self {
        // A limit of 0 would never make progress.
        let limit = query.limit.filter(|it| *it > 0).unwrap_or(MOST_LINES).min(MOST_LINES);
        Self { offset: query.offset, limit, passed: 0, lines: Vec::new() }
    }

    /// Adds a line, and returns `true` if another one is wanted.
    fn add(&mut self, line: impl FnOnce() -> String) -> bool {
        if self.passed < self.offset {
            self.passed += 1;
        } else if !self.has_more() {
            self.lines.push(line());
        }
        !self.has_more()
    }

    fn is_begun(&self) -> bool {
        self.passed > 0 || !self.lines.is_empty()
    }

    fn has_more(&self) -> bool {
        self.lines.len() > self.limit
    }

    fn next(&self) -> Option<usize> {
        // The offset can be any number from the request.
        self.has_more().then(|| self.offset.saturating_add(self.limit))
    }
}

struct FileMatches<'a> {
    path: &'a str,
    query: &'a GrepQuery,
    page: &'a mut GrepPage,
    count: usize,
    /// `true` if the next line does not follow the one before.
    is_apart: bool,
}

impl FileMatches<'_> {
    fn add(&mut self, mark: char, number: u64, line: &[u8]) -> bool {
        let (path, output) = (self.path, self.query.output);
        if std::mem::take(&mut self.is_apart) && self.shows_around() {
            self.page.add(|| APART.to_owned());
        }
        self.page.add(|| {
            let line = String::from_utf8_lossy(line);
            match output {
                GrepOutput::Bare => format!("{path}{mark}{}", short(&line)),
                _ => format!("{path}{mark}{number}{mark}{}", short(&line)),
            }
        })
    }

    fn shows_around(&self) -> bool {
        self.query.around != (0, 0)
            && matches!(self.query.output, GrepOutput::Lines | GrepOutput::Bare)
    }

    fn close(self) {
        let (path, count) = (self.path, self.count);
        if count > 0 && self.query.output == GrepOutput::Counts {
            self.page.add(|| format!("{path}:{count}"));
        }
    }
}

impl Sink for &mut FileMatches<'_> {
    type Error = std::io::Error;

    fn begin(&mut self, _: &Searcher) -> Result<bool, Self::Error> {
        self.is_apart = self.page.is_begun();
        Ok(true)
    }

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, Self::Error> {
        let first = found.line_number().unwrap_or_default();
        for (number, line) in (first..).zip(found.lines()) {
            self.count += 1;
            let goes_on = match self.query.output {
                GrepOutput::Lines | GrepOutput::Bare => self.add(':', number, line),
                GrepOutput::Counts => true,
                GrepOutput::Files => {
                    let path = self.path;
                    self.page.add(|| path.to_owned());
                    false
                }
            };
            if !goes_on {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, around: &SinkContext<'_>) -> Result<bool, Self::Error> {
        if *around.kind() == SinkContextKind::Other || !self.shows_around() {
            return Ok(true);
        }
        Ok(self.add('-', around.line_number().unwrap_or_default(), around.bytes()))
    }

    fn context_break(&mut self, _: &Searcher) -> Result<bool, Self::Error> {
        self.is_apart |= self.count > 0;
        Ok(true)
    }
}

fn short(line: &str) -> String {
    let line = line.trim_end_matches(['\n', '\r']);
    match line.char_indices().nth(LINE_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}
