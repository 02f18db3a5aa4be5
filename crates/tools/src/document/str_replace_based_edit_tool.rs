//! Text-editor tool that some models are trained on (`text_editor_20250728`), for documents instead
//! of files. Names, inputs and results follow Anthropic's published description of the tool.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use copydesk_document::quotation::{self, Folding, QuotationPlace};
use copydesk_document::{Text, utf16_len};
use copydesk_ids::DocumentId;
use copydesk_rooms::command::DocumentSnapshot;

use super::text_changes;
use crate::model_notes::{fenced, read};
use crate::pipeline::cross_document;
use crate::{
    CallTarget, DocumentProposal, ProposeTool, Proposed, Tool, ToolAnswer, ToolCall, ToolContext,
    ToolError, ToolResult, ToolScope,
};

/// Path of the conversation's own document.
const OWN: &str = "/document.md";
/// Path prefix of other documents.
const OTHERS: &str = "/documents/";
/// Maximum length of one view in UTF-16 units, line numbers included.
const VIEW_LIMIT: usize = 50_000;
/// Maximum number of documents in a view of their folder.
const MAX_LISTED: usize = 200;

/// Tool `str_replace_based_edit_tool`.
pub struct StrReplaceBasedEditTool;

/// Input of the tool.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Input {
    /// Command to run.
    command: EditCommand,
    /// Path: `/document.md` is the current document, `/documents/ID.md` another one; `view` of `/`
    /// lists them.
    path: String,
    /// For `view`: first and last line, counted from 1; -1 is the end. One view has at most 50,000
    /// UTF-16 code units.
    view_range: Option<(i64, i64)>,
    /// For `str_replace`: the exact text to replace; it must occur exactly once.
    old_str: Option<String>,
    /// For `str_replace`: the replacement.
    new_str: Option<String>,
    /// For `insert`: the line after which to insert; 0 is the beginning.
    insert_line: Option<usize>,
    /// For `insert`: the text to insert.
    insert_text: Option<String>,
    /// For `create`: the complete new text.
    file_text: Option<String>,
}

/// Command of the tool.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum EditCommand {
    /// Read the document with line numbers.
    View,
    /// Replace a text that occurs once.
    StrReplace,
    /// Insert text after a line.
    Insert,
    /// Replace the whole text.
    Create,
}

impl Tool for StrReplaceBasedEditTool {
    const NAME: &'static str = "str_replace_based_edit_tool";
    const TITLE: &'static str = Self::NAME;
    const DESCRIPTION: &'static str = "View and edit documents as text files: `view`, `str_replace`, `insert`, `create`. The current \
         document is `/document.md`, others are `/documents/ID.md`. Edits are proposed to people.";
    const WHEN: &'static str = "Use if you prefer to edit by replacing exact strings";
    const SCOPE: ToolScope = ToolScope::Conversation;
    type Input = Input;

    fn target(input: &Value) -> CallTarget {
        other_document(input).map_or(CallTarget::Conversation, CallTarget::Document)
    }

    fn not_found_message(context: &ToolContext, input: &Value) -> Option<String> {
        let path = input.get("path")?.as_str()?;
        let own = if context.view.base.is_some() {
            format!("The document is {OWN}; ")
        } else {
            String::new()
        };
        Some(format!(
            "Error: File not found: {path}. {own}`view` of / lists those that can be opened; create_new_document makes a new \
             one."
        ))
    }
}

impl ProposeTool for StrReplaceBasedEditTool {
    async fn propose(&self, context: ToolContext, input: Input) -> ToolResult<Proposed> {
        let is_view = matches!(input.command, EditCommand::View);
        let path = absolute(&input.path);
        if is_folder(&path) {
            if is_view && input.view_range.is_none() {
                return list(&context, &path).await.map(Proposed::Answer);
            }
            let reason = format!("Error: {} is a directory; it can only be viewed", input.path);
            return Err(ToolError::Denied(reason));
        }
        if is_view {
            return view(&context, input.view_range).await.map(Proposed::Answer);
        }
        let base = context.document()?;
        let old = base.text.to_string();
        let (new, note) = edited(&old, input).map_err(ToolError::Denied)?;
        let proposal = text_changes::propose(base, Text::new(&new), None).await?;
        Ok(Proposed::Change(DocumentProposal { note, ..proposal }))
    }

    fn only_reads(input: &Value) -> bool {
        input.get("command").is_some_and(|command| command == "view")
    }
}

pub(crate) fn other_document_of(call: &ToolCall) -> Option<DocumentId> {
    if call.name == StrReplaceBasedEditTool::NAME { other_document(&call.input) } else { None }
}

fn other_document(input: &Value) -> Option<DocumentId> {
    let path = absolute(input.get("path")?.as_str()?);
    if path == OWN || is_folder(&path) {
        return None;
    }
    // Any other path is treated as the id of a document that does not exist, and is refused.
    let name = path.strip_prefix(OTHERS).unwrap_or(&path[1..]);
    Some(DocumentId::from(name.strip_suffix(".md").unwrap_or(name)))
}

/// Returns the absolute form of a path: models also write `./document.md`, `document.md` and `.`.
fn absolute(path: &str) -> String {
    let mut rest = path;
    while let Some(below) = rest.strip_prefix("./") {
        rest = below;
    }
    match rest {
        "" | "." => "/".to_owned(),
        _ if rest.starts_with('/') => rest.to_owned(),
        _ => format!("/{rest}"),
    }
}

fn is_folder(path: &str) -> bool {
    path == "/" || path.trim_end_matches('/') == OTHERS.trim_end_matches('/')
}

/// Lists the documents that the person may open, as the published tool lists a folder.
async fn list(context: &ToolContext, folder: &str) -> Result<ToolAnswer, ToolError> {
    let own = context.document().ok().map(|own| own.title.clone());
    let (listed, omitted) = cross_document::listed(context).await?;
    let note = listing(folder, own.as_deref(), &listed) + &cross_document::omitted_note(omitted);
    let text = format!("Listed {} documents.", listed.len());
    let of = listed.into_iter().take(MAX_LISTED).map(|(id, _)| id).collect();
    // People who join later may not be allowed to see all titles.
    Ok(ToolAnswer { text, note: Some(note), of, ..ToolAnswer::default() })
}

fn listing(folder: &str, own: Option<&str>, others: &[(DocumentId, String)]) -> String {
    let mut note = format!(
        "Here's the files and directories up to 2 levels deep in {folder}, excluding hidden items (titles are data):"
    );
    if folder == "/" {
        let _ = write!(note, "\n/");
        if let Some(title) = own {
            let _ = write!(note, "\n{OWN}\t{title:?}");
        }
    }
    let _ = write!(note, "\n{}", OTHERS.trim_end_matches('/'));
    for (id, title) in others.iter().take(MAX_LISTED) {
        let _ = write!(note, "\n{OTHERS}{id}.md\t{title:?}");
    }
    if others.len() > MAX_LISTED {
        let more = others.len() - MAX_LISTED;
        let _ = write!(note, "\n… and {more} more; list_documents finds them by title");
    }
    note
}

async fn view(context: &ToolContext, range: Option<(i64, i64)>) -> Result<ToolAnswer, ToolError> {
    let now = context.read_now().await?;
    let (mut note, units) =
        viewed(&now, range, &context.environment.tag).map_err(ToolError::Denied)?;
    let (news, unread) = read(context, &now, units);
    if let Some(news) = news {
        note = format!("{news}\n\n{note}");
    }
    let text = format!("Viewed “{}”.", now.title);
    Ok(ToolAnswer { text, note: Some(note), now: Some(now), unread, ..ToolAnswer::default() })
}

/// Returns lines with their numbers, marked as data, and the UTF-16 units that they cover. If one
/// answer cannot hold all lines, the text says how to read on.
fn viewed(
    reading: &DocumentSnapshot,
    range: Option<(i64, i64)>,
    tag: &str,
) -> Result<(String, (usize, usize)), String> {
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
    let requested = &lines[first - 1..last];
    let (block, shown) = numbered(requested, first);
    let end = first + shown.max(1) - 1;
    let units = |lines: &[&str]| lines.iter().map(|line| utf16_len(line) + 1).sum::<usize>();
    let from = units(&lines[..first - 1]);
    let (more, to) = if shown == 0 {
        // A view cannot begin within a line.
        let unit = from + utf16_len(beginning(requested[0]));
        (format!("\nLine {first} goes on; read on with read_document from unit {unit}."), unit)
    } else {
        let more = format!("\nRead on with view_range [{}, {last}].", end + 1);
        (if end < last { more } else { String::new() }, from + units(&lines[first - 1..end]))
    };
    let block = fenced("document", tag, reading.version, &block);
    Ok((format!("Lines {first} to {end} of {} (data):\n{block}{more}", lines.len()), (from, to)))
}

/// Numbers lines as `cat -n` does, and counts those that fit in one answer. The count is 0 if only
/// the beginning of the first line fits.
fn numbered(lines: &[&str], first: usize) -> (String, usize) {
    let (mut block, mut units) = (String::new(), 0);
    for (index, line) in lines.iter().enumerate() {
        let number = first + index;
        let next = format!("{number:>6}\t{line}");
        units += utf16_len(&next) + 1;
        if units > VIEW_LIMIT && index == 0 {
            return (format!("{number:>6}\t{}", beginning(line)), 0);
        }
        if units > VIEW_LIMIT {
            return (block, index);
        }
        if index > 0 {
            block.push('\n');
        }
        block.push_str(&next);
    }
    (block, lines.len())
}

fn beginning(line: &str) -> &str {
    // A character has at most two units, so half as many characters always fit.
    line.char_indices().nth(VIEW_LIMIT / 2 - 10).map_or(line, |(end, _)| &line[..end])
}

/// Returns the new text, and a note if the replaced text reads otherwise than quoted.
fn edited(old: &str, input: Input) -> Result<(String, Option<String>), String> {
    let Input { command, old_str, new_str, insert_line, insert_text, file_text, .. } = input;
    let missing = |name: &str| format!("Error: `{name}` is required for this command");
    match command {
        EditCommand::View => Ok((old.to_owned(), None)),
        EditCommand::Create => Ok((file_text.ok_or_else(|| missing("file_text"))?, None)),
        EditCommand::StrReplace => {
            let from = Text::new(&old_str.ok_or_else(|| missing("old_str"))?).to_string();
            replaced(old, &from, &Text::new(&new_str.unwrap_or_default()).to_string())
        }
        EditCommand::Insert => {
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
            Ok((lines.join("\n"), None))
        }
    }
}

/// Replaces the text `from`, which must be there once, exactly or as a passage that looks like it.
fn replaced(old: &str, from: &str, to: &str) -> Result<(String, Option<String>), String> {
    let places = || old.match_indices(from).map(|(at, _)| at);
    match places().take(2).count() {
        _ if from.is_empty() => Err("Error: `old_str` is empty".into()),
        0 => look_alike(old, from, to),
        1 => Ok((old.replacen(from, to, 1), None)),
        _ => Err(format!(
            "Error: Found {} matches for replacement text ({}). Please provide more context to make a unique match.",
            places().count(),
            quotation::lines(old, places())
        )),
    }
}

fn look_alike(old: &str, from: &str, to: &str) -> Result<(String, Option<String>), String> {
    if let QuotationPlace::Alike(range) = quotation::find(old, from, Folding::LookAlike) {
        let found = &old[range.clone()];
        let words = quotation::rewritten(found, from, to, Folding::LookAlike);
        let note = quotation::found_alike(found, Folding::LookAlike);
        return Ok(([&old[..range.start], &words, &old[range.end..]].concat(), Some(note)));
    }
    let hint = quotation::hint(old, 0..old.len(), from, Folding::LookAlike);
    let hint = if hint.is_empty() { hint } else { format!(" {hint}.") };
    Err(format!(
        "Error: No match found for replacement. Please check your text and try again.{hint}"
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model_notes::reading;

    fn edit(old: &str, mut input: Value) -> Result<String, String> {
        input["path"] = json!(OWN);
        edited(old, serde_json::from_value(input).unwrap()).map(|(text, _)| text)
    }

    #[test]
    fn a_text_that_occurs_once_is_replaced() {
        let replace = |from: &str| {
            edit("one two one", json!({"command": "str_replace", "old_str": from, "new_str": "2"}))
        };
        assert_eq!(replace("two").unwrap(), "one 2 one");
        assert!(replace("three").unwrap_err().contains("No match found"));
        assert!(replace("one").unwrap_err().contains("Found 2 matches"));
        assert!(replace("one").unwrap_err().contains("(line 1)"));
        assert!(replace("").is_err());
    }

    #[test]
    fn a_text_that_only_looks_alike_is_replaced_if_there_is_one() {
        let replace = |old: &str, from: &str, to: &str| {
            edit(old, json!({"command": "str_replace", "old_str": from, "new_str": to}))
        };
        let text = "Five\u{a0}km of rope — it’s all.";
        assert_eq!(
            replace(text, "Five km of rope - it's", "Six km of rope - it's").unwrap(),
            "Six\u{a0}km of rope — it’s all."
        );
        let refused = replace("it’s\nit’s", "it's", "x").unwrap_err();
        assert!(refused.contains("2 passages look like it (lines 1, 2)"), "{refused}");
        let refused = replace("The lamp burns.", "The lamps burn", "x").unwrap_err();
        assert!(!refused.contains("nearest"), "one of three words is alike: {refused}");
        let refused = replace("The lamp burns.", "The LAMP burns", "x").unwrap_err();
        assert!(refused.ends_with("differs in upper and lower case."), "{refused}");
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
    fn lines_are_shown_with_numbers_and_marked_as_data() {
        let document = reading("a\nb\nc");
        let lines = |range| viewed(&document, range, "k9").map(|(note, _)| note);
        assert_eq!(
            lines(None).unwrap(),
            "Lines 1 to 3 of 3 (data):\n<document-k9 version=\"0\">\n     1\ta\n     2\tb\n     3\tc\n</document-k9>"
        );
        assert_eq!(
            lines(Some((2, -1))).unwrap(),
            "Lines 2 to 3 of 3 (data):\n<document-k9 version=\"0\">\n     2\tb\n     3\tc\n</document-k9>"
        );
        for bad in [(0, 1), (2, 1), (1, 4), (-1, -1)] {
            assert!(lines(Some(bad)).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn of_a_long_document_one_view_has_a_part_and_says_where_to_read_on() {
        let document = reading(&"words\n".repeat(100_000));
        let (mut seen, mut next) = (0, 1);
        while seen < 60_000 {
            let (note, _) = viewed(&document, Some((next, -1)), "k9").unwrap();
            assert!(utf16_len(&note) < VIEW_LIMIT + 200, "{}", note.len());
            let shown = i64::try_from(note.matches("\twords").count()).unwrap();
            let on = format!("Read on with view_range [{}, 100001].", next + shown);
            assert!(note.ends_with(&on), "{}", &note[note.len() - 80..]);
            (seen, next) = (seen + shown, next + shown);
        }
        let (last, units) = viewed(&document, Some((99_999, -1)), "k9").unwrap();
        assert!(last.ends_with("</document-k9>"));
        assert!(units.1 >= document.text.len(), "{units:?}");
    }

    #[test]
    fn of_a_long_line_the_rest_is_read_by_units() {
        let line = "😀x".repeat(100_000);
        let (note, units) = viewed(&reading(&format!("a\n{line}\nb")), Some((2, 3)), "k9").unwrap();
        assert!(note.contains(&format!("from unit {}.", units.1)) && units.0 == 2, "{units:?}");
        assert!(note.starts_with("Lines 2 to 2 of 3 (data):"), "{}", &note[..40]);
        assert!(utf16_len(&note) < VIEW_LIMIT);
        let shown = note.split('\t').nth(1).unwrap().split('\n').next().unwrap();
        let on = format!("read on with read_document from unit {}.", 2 + utf16_len(shown));
        assert!(note.ends_with(&on), "{}", &note[note.len() - 90..]);
    }

    #[test]
    fn a_folder_lists_the_documents_of_the_person() {
        let others = [(DocumentId::from("doc_1"), "A \"b\"\nc".to_owned())];
        assert_eq!(
            listing("/", Some("Mine"), &others).lines().skip(1).collect::<Vec<_>>(),
            [
                "/",
                "/document.md\t\"Mine\"",
                "/documents",
                "/documents/doc_1.md\t\"A \\\"b\\\"\\nc\""
            ]
        );
        assert_eq!(listing("/documents/", None, &[]).lines().count(), 2);
        let many = vec![others[0].clone(); MAX_LISTED + 3];
        assert!(
            listing("/", None, &many).ends_with("… and 3 more; list_documents finds them by title")
        );
    }

    #[test]
    fn a_path_names_a_document() {
        let target = |path: &str| other_document(&json!({"path": path})).map(|id| id.to_string());
        for own in ["/document.md", "document.md", "./document.md", "/", "", ".", "./"] {
            assert_eq!(target(own), None, "{own}");
        }
        for folder in ["/documents", "/documents/", "documents", "./documents/"] {
            assert_eq!(target(folder), None, "{folder}");
        }
        for other in ["/documents/doc_1.md", "documents/doc_1.md", "/doc_1.md", "doc_1", "./doc_1"]
        {
            assert_eq!(target(other).as_deref(), Some("doc_1"), "{other}");
        }
        assert_eq!(target("/etc/passwd").as_deref(), Some("etc/passwd"));
    }
}
