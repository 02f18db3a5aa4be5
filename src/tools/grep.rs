//! Find lines in files of the workspace.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::review;
use crate::workspace::{Grep as Wanted, SEARCHED_BYTES};

use super::glob::{listed, tells_of_a_file};
use super::{Answer, Context, Effect, Ground, Prepared, Tool, ToolError, changes, desk};

/// Files that are named as searched in part.
const NAMED: usize = 5;

/// Which lines match.
pub struct Grep;

/// What the model gives.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// A regular expression, without look-around and back-references.
    pattern: String,
    /// The folder or file to search, from the workspace's top; all of it if missing.
    #[serde(default)]
    path: Option<String>,
    /// Only files whose name or path matches, such as `*.md`.
    #[serde(default)]
    glob: Option<String>,
    /// Whether large and small letters are the same.
    #[serde(default)]
    ignore_case: bool,
}

impl Tool for Grep {
    const NAME: &'static str = "Grep";
    const DESCRIPTION: &'static str = "Search for a regular expression in the files of the workspace. Each line of the answer is \
         `path:line:text`. Binary files and what .gitignore names are left out.";
    const WHEN: &'static str = "Use to find text in files";
    const EFFECT: Effect = Effect::Reads;
    const GROUND: Ground = Ground::Workspace;
    type Input = Input;

    async fn prepare(context: Context, input: Input) -> Result<Prepared, ToolError> {
        let workspace = context.workspace()?.clone();
        let Input { pattern, path, glob, ignore_case } = input;
        let from = path.unwrap_or_else(|| ".".to_owned());
        // Its answer has the words of files, and nobody is asked about each of them.
        let hidden = desk::hidden(&context, Self::NAME, review::Effect::Ask).await?;
        let (hides, is_hidden) = (!hidden.is_empty(), hidden.has(&from));
        let wanted = Wanted { pattern, from, glob, ignore_case };
        let found = move |_: &_| workspace.grep(&wanted, |path| hidden.has(path));
        let (lines, is_cut, partly) = match changes::blocking(found).await? {
            Ok(found) => (found.lines, found.is_cut, found.partly),
            Err(error) if is_hidden && tells_of_a_file(&error) => (Vec::new(), false, Vec::new()),
            Err(error) => return Err(error.into()),
        };
        let text = listed(lines, is_cut, "No matches found", hides) + &unsearched(&partly);
        Ok(Prepared::Answer(Answer { text, ..Answer::default() }))
    }
}

/// What was not searched of files that are too long; nothing, if there is none.
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
