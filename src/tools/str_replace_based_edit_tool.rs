//! The text-editor tool that some models are trained on (`text_editor_20250728`), on documents instead of files.
//!
//! Names, inputs and the wording of its results follow Anthropic's published description of the tool.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::document::Text;
use crate::ids::DocumentId;
use crate::room::command::Reading;

use super::{Answer, Context, Effect, Ground, Prepared, Tool, ToolError, changes};

/// The path of the conversation's own document.
const OWN: &str = "/document.md";
/// Where other documents are.
const OTHERS: &str = "/documents/";

/// Edit as in a file.
pub struct StrReplaceBasedEditTool;

/// What the model gives.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Input {
    /// What to do.
    command: Command,
    /// `/document.md` is the current document, `/documents/ID.md` another one.
    #[expect(dead_code, reason = "read before the call is prepared, to find the room")]
    path: String,
    /// For `view`: first and last line, counted from 1; -1 stands for the end.
    view_range: Option<(i64, i64)>,
    /// For `str_replace`: the text to replace, word for word; it must occur exactly once.
    old_str: Option<String>,
    /// For `str_replace`: what stands there instead.
    new_str: Option<String>,
    /// For `insert`: the line after which to insert; 0 is the beginning.
    insert_line: Option<usize>,
    /// For `insert`: the text to insert.
    insert_text: Option<String>,
    /// For `create`: the complete new text.
    file_text: Option<String>,
}

/// What the tool can do.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Command {
    /// Read with line numbers.
    View,
    /// Replace a text that occurs once.
    StrReplace,
    /// Insert after a line.
    Insert,
    /// Replace everything.
    Create,
}

impl Tool for StrReplaceBasedEditTool {
    const NAME: &'static str = "str_replace_based_edit_tool";
    const DESCRIPTION: &'static str = "View and edit documents as text files: `view`, `str_replace`, `insert`, `create`. The current \
         document is `/document.md`, others are `/documents/ID.md`. Edits are proposed to people.";
    const WHEN: &'static str = "Use if you prefer to edit by replacing exact strings";
    const EFFECT: Effect = Effect::Proposes;
    const GROUND: Ground = Ground::Conversation;
    type Input = Input;

    async fn prepare(context: Context, input: Input) -> Result<Prepared, ToolError> {
        if matches!(input.command, Command::View) {
            return view(&context, input.view_range).await.map(Prepared::Answer);
        }
        let base = context.document()?;
        let old = base.text.to_string();
        let new = edited(&old, input).map_err(ToolError::Denied)?;
        changes::propose(base, Text::new(&new), None, Vec::new()).await.map(Prepared::Propose)
    }

    fn only_looks(input: &Value) -> bool {
        input.get("command").is_some_and(|command| command == "view")
    }

    fn target(input: &Value) -> Option<DocumentId> {
        let path = input.get("path")?.as_str()?;
        if path == OWN {
            return None;
        }
        // Any other path names a document that there is not, and is refused like one.
        let name = path.strip_prefix(OTHERS).unwrap_or(path);
        Some(DocumentId::from(name.strip_suffix(".md").unwrap_or(name)))
    }
}

async fn view(context: &Context, range: Option<(i64, i64)>) -> Result<Answer, ToolError> {
    let now = context.read_now().await?;
    let told = numbered(&now, range).map_err(ToolError::Denied)?;
    let text = format!("Viewed “{}”.", now.title);
    Ok(Answer { text, note: Some(told), now: Some(now), said: None })
}

/// As `cat -n` prints it, which is how models know the tool's answers.
fn numbered(reading: &Reading, range: Option<(i64, i64)>) -> Result<String, String> {
    let text = reading.text.to_string();
    let lines: Vec<&str> = text.split('\n').collect();
    let (first, last) = range.unwrap_or((1, -1));
    let last = if last == -1 { lines.len() } else { usize::try_from(last).unwrap_or(0) };
    let first = usize::try_from(first).unwrap_or(0);
    if first == 0 || first > last || last > lines.len() {
        return Err(format!(
            "Error: Invalid `view_range`: it should be within the lines of the file: [1, {}]",
            lines.len()
        ));
    }
    let mut told = String::new();
    for (index, line) in lines[first - 1..last].iter().enumerate() {
        // Writing to a string cannot fail.
        let _ = writeln!(told, "{:>6}\t{line}", first + index);
    }
    Ok(told)
}

fn edited(old: &str, input: Input) -> Result<String, String> {
    let Input { command, old_str, new_str, insert_line, insert_text, file_text, .. } = input;
    let missing = |name: &str| format!("Error: `{name}` is required for this command");
    match command {
        Command::View => Ok(old.to_owned()),
        Command::Create => file_text.ok_or_else(|| missing("file_text")),
        Command::StrReplace => {
            let from = Text::new(&old_str.ok_or_else(|| missing("old_str"))?).to_string();
            match old.matches(&from).take(2).count() {
                _ if from.is_empty() => Err("Error: `old_str` is empty".into()),
                0 => Err(
                    "Error: No match found for replacement. Please check your text and try again."
                        .into(),
                ),
                1 => Ok(old.replacen(&from, &new_str.unwrap_or_default(), 1)),
                _ => Err(format!(
                    "Error: Found {} matches for replacement text. Please provide more context to make a unique match.",
                    old.matches(&from).count()
                )),
            }
        }
        Command::Insert => {
            let after = insert_line.ok_or_else(|| missing("insert_line"))?;
            let text = insert_text.or(new_str).ok_or_else(|| missing("insert_text"))?;
            let mut lines: Vec<&str> = old.split('\n').collect();
            if after > lines.len() {
                return Err(format!(
                    "Error: Invalid `insert_line`: it should be within the lines of the file: [0, {}]",
                    lines.len()
                ));
            }
            lines.insert(after, text.strip_suffix('\n').unwrap_or(&text));
            Ok(lines.join("\n"))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tools::told::reading;

    fn edit(old: &str, mut input: Value) -> Result<String, String> {
        input["path"] = json!(OWN);
        edited(old, serde_json::from_value(input).unwrap())
    }

    #[test]
    fn a_text_that_occurs_once_is_replaced() {
        let replace = |from: &str| {
            edit("one two one", json!({"command": "str_replace", "old_str": from, "new_str": "2"}))
        };
        assert_eq!(replace("two").unwrap(), "one 2 one");
        assert!(replace("three").unwrap_err().contains("No match found"));
        assert!(replace("one").unwrap_err().contains("Found 2 matches"));
        assert!(replace("").is_err());
    }

    #[test]
    fn lines_are_inserted_after_a_line() {
        let insert = |line: usize| {
            edit("a\nb", json!({"command": "insert", "insert_line": line, "insert_text": "x\n"}))
        };
        assert_eq!(insert(0).unwrap(), "x\na\nb");
        assert_eq!(insert(1).unwrap(), "a\nx\nb");
        assert_eq!(insert(2).unwrap(), "a\nb\nx");
        assert!(insert(3).unwrap_err().contains("[0, 2]"));
    }

    #[test]
    fn lines_are_shown_with_numbers() {
        let document = reading("a\nb\nc");
        assert_eq!(numbered(&document, None).unwrap(), "     1\ta\n     2\tb\n     3\tc\n");
        assert_eq!(numbered(&document, Some((2, -1))).unwrap(), "     2\tb\n     3\tc\n");
        for bad in [(0, 1), (2, 1), (1, 4), (-1, -1)] {
            assert!(numbered(&document, Some(bad)).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_path_names_a_document() {
        let target = |path: &str| {
            StrReplaceBasedEditTool::target(&json!({"path": path})).map(|id| id.to_string())
        };
        assert_eq!(target("/document.md"), None);
        assert_eq!(target("/documents/doc_1.md").as_deref(), Some("doc_1"));
        assert_eq!(target("/etc/passwd").as_deref(), Some("/etc/passwd"));
    }
}
