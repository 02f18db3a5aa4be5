//! Tool that finds lines in files of the workspace.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;

use copydesk_approvals as approvals;
use copydesk_workspace::{GrepOutput, GrepQuery, GrepResult, SEARCHED_BYTES};

use super::glob::{LESS, listed, tells_of_a_file};
use crate::document::text_changes;
use crate::pipeline::inbox_approval;
use crate::{
    ProgramOffer, ReadTool, Tool, ToolAnswer, ToolContext, ToolResult, ToolScope, WordsRead,
};

/// Maximum number of names of files that were searched in part.
const NAMED: usize = 5;

/// Tool `Grep`.
pub struct GrepTool;

/// Input of the tool. Besides the names of this server it may use those of Claude Code's Grep,
/// which models know.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Regular expression, without look-around and back-references.
    pattern: String,
    /// Folder or file to search, relative to the workspace; missing: the whole workspace.
    #[serde(default)]
    path: Option<String>,
    /// Pattern that file names or paths match, such as `*.md`; missing: all files.
    #[serde(default)]
    glob: Option<String>,
    /// File type, such as `js`, `py` or `rust`; missing: all types.
    #[serde(default, rename = "type")]
    kind: Option<String>,
    /// `true`: upper and lower case are equal.
    #[serde(default, alias = "-i")]
    ignore_case: bool,
    /// `true`: matches may span lines, and `.` matches line ends.
    #[serde(default)]
    multiline: bool,
    /// Matching lines (`content`), the files that have some, or the count for each file; missing:
    /// `content`.
    #[serde(default)]
    output_mode: OutputMode,
    /// Line numbers; missing: `true`.
    #[serde(default = "yes", rename = "-n")]
    numbers: bool,
    /// Number of lines before each match.
    #[serde(default, rename = "-B")]
    before: usize,
    /// Number of lines after each match.
    #[serde(default, rename = "-A")]
    after: usize,
    /// Number of lines before and after each match.
    #[serde(default, rename = "-C", alias = "context")]
    around: usize,
    /// Maximum number of lines in the answer, at most 250.
    #[serde(default)]
    head_limit: Option<usize>,
    /// Number of lines of the answer to skip.
    #[serde(default)]
    offset: usize,
}

/// Form in which matches are reported.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum OutputMode {
    #[default]
    Content,
    FilesWithMatches,
    Count,
}

fn yes() -> bool {
    true
}

impl Input {
    fn into_query(self) -> GrepQuery {
        let output = match self.output_mode {
            OutputMode::Content if self.numbers => GrepOutput::Lines,
            OutputMode::Content => GrepOutput::Bare,
            OutputMode::FilesWithMatches => GrepOutput::Files,
            OutputMode::Count => GrepOutput::Counts,
        };
        GrepQuery {
            pattern: self.pattern,
            from: self.path.unwrap_or_else(|| ".".to_owned()),
            glob: self.glob,
            kind: self.kind,
            ignore_case: self.ignore_case,
            multiline: self.multiline,
            output,
            around: (self.before.max(self.around), self.after.max(self.around)),
            offset: self.offset,
            limit: self.head_limit,
        }
    }
}

impl Tool for GrepTool {
    const NAME: &'static str = "Grep";
    const TITLE: &'static str = "Search in files";
    const DESCRIPTION: &'static str = "Search for a regular expression in the files of the workspace. Each line of the answer is \
         `path:line:text`, unless `output_mode` says otherwise. Binary files and what .gitignore names are left out.";
    const WHEN: &'static str = "Use to find text in files";
    const SCOPE: ToolScope = ToolScope::Workspace;
    const PROGRAM: Option<ProgramOffer> =
        Some(ProgramOffer { noun: "Grep", ..ProgramOffer::new("atlas_grep", "Search in files") });
    type Input = Input;
}

impl ReadTool for GrepTool {
    const READS: WordsRead = WordsRead::OfManyFiles;

    async fn read(&self, context: ToolContext, input: Input) -> ToolResult<ToolAnswer> {
        let workspace = context.workspace()?.clone();
        let (pages, passed) = (input.head_limit.is_some() || input.offset > 0, input.offset);
        let query = input.into_query();
        // The answer contains words of files, and people are not asked about each of them.
        let hidden =
            inbox_approval::hidden(&context, Self::NAME, approvals::RuleEffect::Ask).await?;
        let unseen = Arc::clone(&context.environment.unseen_files);
        let hides = !hidden.is_empty() || !unseen.is_empty();
        // A file with several names may be hidden under another one.
        let linked = workspace.clone();
        let is_left_out = move |path: &str| {
            hidden.has(path)
                || unseen.iter().any(|file| file == path)
                || (hides && linked.has_other_names(path))
        };
        let is_hidden = is_left_out(&query.from);
        let found = move |_: &_| workspace.grep(&query, |path| is_left_out(path));
        let (lines, more, partly) = match text_changes::blocking(found).await? {
            Ok(GrepResult { lines, is_cut, next, partly }) => {
                let more = is_cut.then(|| more(next.filter(|_| pages)));
                (lines, more, partly)
            }
            Err(error) if is_hidden && tells_of_a_file(&error) => (Vec::new(), None, Vec::new()),
            Err(error) => return Err(error.into()),
        };
        let nothing = if passed == 0 { "No matches found" } else { "No more matches found" };
        let text = listed(lines, more.as_deref(), nothing, hides) + &unsearched(&partly);
        Ok(ToolAnswer { text, ..ToolAnswer::default() })
    }
}

/// Returns the line that says how to get the rest of an answer, with the next offset for callers
/// that ask page by page.
fn more(next: Option<usize>) -> String {
    match next {
        Some(next) => format!("[there is more; go on with offset {next}]"),
        None => LESS.to_owned(),
    }
}

/// Returns the note about files that are too long to be searched completely; empty if none are.
fn unsearched(partly: &[String]) -> String {
    if partly.is_empty() {
        return String::new();
    }
    let named = partly.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    let more = partly.len().saturating_sub(NAMED);
    let more = if more == 0 { String::new() } else { format!(" and {more} more files") };
    format!("\n[only the first {} MiB were searched of {named}{more}]", SEARCHED_BYTES >> 20)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_were_searched_in_part_are_named() {
        let names = |count: usize| (0..count).map(|it| format!("{it}.log")).collect::<Vec<_>>();
        assert_eq!(unsearched(&[]), "");
        assert_eq!(unsearched(&names(1)), "\n[only the first 8 MiB were searched of 0.log]");
        let many = "\n[only the first 8 MiB were searched of 0.log, 1.log, 2.log, 3.log, 4.log and 2 more files]";
        assert_eq!(unsearched(&names(7)), many);
    }
}
