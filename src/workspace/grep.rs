//! Which lines of which files match.

use std::io::Read as _;

use cap_std::fs::Metadata;
use grep_matcher::LineTerminator;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{
    BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkContextKind, SinkMatch,
};
use ignore::types::{Types, TypesBuilder};

use super::walk::{WalkEnd, WalkEntry, WalkFlow};
use super::{Workspace, WorkspaceError, files, glob};

/// Lines one search answers with.
const MOST_LINES: usize = 250;
/// Characters of a line that are repeated.
const LINE_CHARS: usize = 300;
/// Bytes of a file that are searched.
pub const SEARCHED_BYTES: u64 = 8 * 1024 * 1024;
/// Bytes a compiled pattern may take.
const PATTERN_BYTES: usize = 1024 * 1024;
/// What stands between lines that do not follow each other, where the lines around a match are shown.
const APART: &str = "--";

/// What to look for.
#[derive(Clone, Debug, Default)]
pub struct GrepQuery {
    /// A regular expression, in linear time: no look-around, no back-references.
    pub pattern: String,
    /// The folder or file to search.
    pub from: String,
    /// Only files whose name or path below that folder matches.
    pub glob: Option<String>,
    /// Only files of this type, such as `rust`.
    pub kind: Option<String>,
    /// Whether large and small letters are the same.
    pub ignore_case: bool,
    /// Whether a match may go over line ends.
    pub multiline: bool,
    /// What is told of each match.
    pub told: GrepOutput,
    /// Lines before and after each match that are told too.
    pub around: (usize, usize),
    /// Lines that were answered before.
    pub offset: usize,
    /// Lines to answer with, if fewer than the most there are.
    pub limit: Option<usize>,
}

/// What is told of what was found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GrepOutput {
    /// `path:line:text`; of lines around a match `path-line-text`.
    #[default]
    Lines,
    /// The same without the number of the line.
    Bare,
    /// Each file with a match, once.
    Files,
    /// `path:count`: how many lines match.
    Counts,
}

/// The lines that were found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrepResult {
    /// One for each, in the order of the files.
    pub lines: Vec<String>,
    /// There is more than was looked at or is answered.
    pub is_cut: bool,
    /// Where there is more to answer with: the offset that begins there.
    pub next: Option<usize>,
    /// Files of which only the first [`SEARCHED_BYTES`] were looked at.
    pub partly: Vec<String>,
}

impl Workspace {
    /// The lines that match, but for those of files that are `hidden`, by their path from the workspace's top.
    pub fn grep(
        &self,
        wanted: &GrepQuery,
        hidden: impl Fn(&str) -> bool,
    ) -> Result<GrepResult, WorkspaceError> {
        let (matcher, mut searcher) = (matcher(wanted)?, searcher(wanted));
        let only = wanted.glob.as_deref().map(glob::matcher).transpose()?;
        let kinds = wanted.kind.as_deref().map(types).transpose()?;
        let mut page = GrepPage::of(wanted);
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
            let mut lines = FileMatches {
                path: entry.path,
                wanted,
                page: &mut page,
                count: 0,
                is_apart: false,
            };
            searcher.search_reader(&matcher, &mut beginning, &mut lines).ok();
            lines.close();
            // A binary file is not read so far.
            if beginning.limit() == 0 && metadata.len() > SEARCHED_BYTES {
                partly.push(entry.path.to_owned());
            }
            if page.has_more() { WalkFlow::Stop } else { WalkFlow::Go }
        };
        let end = self.search(&wanted.from, &mut visit)?;
        let (is_cut, next) = (end == WalkEnd::Cut || page.has_more(), page.next());
        page.lines.truncate(page.limit);
        Ok(GrepResult { lines: page.lines, is_cut, next, partly })
    }

    /// Every file below a folder, or the one file.
    fn search(
        &self,
        from: &str,
        visit: &mut dyn FnMut(&WalkEntry<'_>) -> WalkFlow,
    ) -> Result<WalkEnd, WorkspaceError> {
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

fn matcher(wanted: &GrepQuery) -> Result<RegexMatcher, WorkspaceError> {
    let mut builder = RegexMatcherBuilder::new();
    builder
        .case_insensitive(wanted.ignore_case)
        .size_limit(PATTERN_BYTES)
        // A line ends with `\n` or `\r\n`, and `$` stands before either.
        .crlf(true)
        .multi_line(true);
    if wanted.multiline {
        builder.line_terminator(None).dot_matches_new_line(true);
    }
    let built = builder.build(&wanted.pattern);
    built.map_err(|error| WorkspaceError::Pattern { reason: error.to_string() })
}

fn searcher(wanted: &GrepQuery) -> Searcher {
    let (before, after) = wanted.around;
    SearcherBuilder::new()
        .binary_detection(BinaryDetection::quit(0))
        .line_terminator(LineTerminator::crlf())
        .multi_line(wanted.multiline)
        // More would not be answered.
        .before_context(before.min(MOST_LINES))
        .after_context(after.min(MOST_LINES))
        .build()
}

/// The files of a type, as ripgrep knows them.
fn types(kind: &str) -> Result<Types, WorkspaceError> {
    let built = TypesBuilder::new().add_defaults().select(kind).build();
    built.map_err(|error| WorkspaceError::Pattern { reason: error.to_string() })
}

/// The lines of an answer, of which some were given before.
struct GrepPage {
    offset: usize,
    limit: usize,
    passed: usize,
    /// One more than the limit, if there is more.
    lines: Vec<String>,
}

impl GrepPage {
    fn of(wanted: &GrepQuery) -> Self {
        // None at all would be no step.
        let limit = wanted.limit.filter(|it| *it > 0).unwrap_or(MOST_LINES).min(MOST_LINES);
        Self { offset: wanted.offset, limit, passed: 0, lines: Vec::new() }
    }

    /// Whether another line is wanted after this one.
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
        // The offset is whatever somebody asked for.
        self.has_more().then(|| self.offset.saturating_add(self.limit))
    }
}

/// What is told of one file.
struct FileMatches<'a> {
    path: &'a str,
    wanted: &'a GrepQuery,
    page: &'a mut GrepPage,
    /// Lines that match.
    count: usize,
    /// Whether the next line does not follow the one before.
    is_apart: bool,
}

impl FileMatches<'_> {
    fn add(&mut self, mark: char, number: u64, line: &[u8]) -> bool {
        let (path, told) = (self.path, self.wanted.told);
        if std::mem::take(&mut self.is_apart) && self.shows_around() {
            self.page.add(|| APART.to_owned());
        }
        self.page.add(|| {
            let line = String::from_utf8_lossy(line);
            match told {
                GrepOutput::Bare => format!("{path}{mark}{}", short(&line)),
                _ => format!("{path}{mark}{number}{mark}{}", short(&line)),
            }
        })
    }

    fn shows_around(&self) -> bool {
        self.wanted.around != (0, 0)
            && matches!(self.wanted.told, GrepOutput::Lines | GrepOutput::Bare)
    }

    /// The file was searched.
    fn close(self) {
        let (path, count) = (self.path, self.count);
        if count > 0 && self.wanted.told == GrepOutput::Counts {
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
            let goes_on = match self.wanted.told {
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
