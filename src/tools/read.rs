//! Read a text file of the workspace.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{Answer, Context, Effect, Ground, Prepared, Tool, ToolError, changes, named_file};

/// Characters of a file that one call answers with.
const ANSWER_CHARS: usize = 100_000;

/// Look into a file.
pub struct Read;

/// What the model gives.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The file, from the workspace's top.
    file_path: String,
    /// The first line to read, counted from 1; from the beginning if missing.
    #[serde(default)]
    offset: Option<usize>,
    /// How many lines to read; all if missing.
    #[serde(default)]
    limit: Option<usize>,
}

impl Tool for Read {
    const NAME: &'static str = "Read";
    const DESCRIPTION: &'static str = "Read a text file of the workspace. The answer is the file's content as it is; for a long \
         file name the lines you need.";
    const WHEN: &'static str = "Use to read a file of the workspace";
    const EFFECT: Effect = Effect::Reads;
    const GROUND: Ground = Ground::Workspace;
    type Input = Input;

    fn file(input: &Value) -> Option<String> {
        named_file(input)
    }

    async fn prepare(context: Context, input: Input) -> Result<Prepared, ToolError> {
        let workspace = context.workspace()?.clone();
        let Input { file_path, offset, limit } = input;
        let (first, limit) = (offset.unwrap_or(1).max(1), limit.unwrap_or(usize::MAX));
        if context.live.is_some() {
            let now = context.read_now().await?;
            let text = part(&now.text.to_string(), first, limit);
            return Ok(Prepared::Answer(Answer { text, now: Some(now), ..Answer::default() }));
        }
        let file = changes::blocking(move |_| workspace.read(&file_path)).await??;
        let text = part(&file.text, first, limit);
        Ok(Prepared::Answer(Answer { text, ..Answer::default() }))
    }
}

/// So many lines from line `first` on, as they stand; what is left out is said.
fn part(text: &str, first: usize, limit: usize) -> String {
    let mut part: String = text.split_inclusive('\n').skip(first - 1).take(limit).collect();
    if let Some((end, _)) = part.char_indices().nth(ANSWER_CHARS) {
        part.truncate(end);
    }
    let begins: usize = text.split_inclusive('\n').take(first - 1).map(str::len).sum();
    let left = &text[begins + part.len()..];
    if left.is_empty() {
        return part;
    }
    let next = first + part.matches('\n').count();
    let lines = left.split_inclusive('\n').count();
    format!("{part}\n[{lines} more lines; read on with offset {next}]")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_as_it_is() {
        assert_eq!(part("one\r\ntwo", 1, usize::MAX), "one\r\ntwo");
        assert_eq!(part("", 1, usize::MAX), "");
    }

    #[test]
    fn what_is_left_out_is_said() {
        let text = "1\n2\n3\n4\n";
        assert_eq!(part(text, 2, 2), "2\n3\n\n[1 more lines; read on with offset 4]");
        assert_eq!(part(text, 9, 2), "");
        let long = "é".repeat(ANSWER_CHARS + 5);
        assert!(part(&long, 1, 1).ends_with("[1 more lines; read on with offset 1]"));
    }
}
