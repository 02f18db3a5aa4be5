//! Replacements in a file of the workspace: each must be unambiguous, and all apply or none.
//!
//! Models write `\n` for every kind of line end. So words are searched for without regard to line
//! ends, and new words get the line ends of the file ([`text_encoding`]). Blanks before line ends
//! may differ too, if only one passage then matches.

use schemars::JsonSchema;
use serde::Deserialize;

use copydesk_approvals::Preview;
use copydesk_document::diff::{DiffLimits, DraftPart};
use copydesk_document::quotation::{self, Folding, QuotationPlace};
use copydesk_document::utf16_len;
use copydesk_file_sync::text_encoding;
use copydesk_rooms::command::DocumentSnapshot;
use copydesk_workspace::{TextFile, Workspace};

use crate::pipeline::file_warnings;
use crate::{ActionPreview, ExecutionContext, ToolError, ToolResult};

/// One replacement.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Replacement {
    /// Exact text to replace, long enough to occur only once in the file.
    pub old_string: String,
    /// Replacement.
    pub new_string: String,
    /// `true`: replace every occurrence; otherwise there must be exactly one.
    #[serde(default)]
    pub replace_all: bool,
}

/// File before and after its replacements ([`apply_to_file`]).
#[derive(Debug)]
pub struct EditedFile {
    /// File before.
    pub old: TextFile,
    /// Text after.
    pub new: String,
    /// Number of occurrences that each edit replaced.
    pub counts: Vec<usize>,
    /// Sentences for the model about passages that read otherwise than it quoted them; often empty.
    pub note: String,
}

/// Applies edits to the present text of a file, without writing it.
pub fn apply_to_file(
    workspace: &Workspace,
    path: &str,
    edits: &[Replacement],
) -> ToolResult<EditedFile> {
    let old = workspace.read_if_exists(path)?;
    let old = old.ok_or_else(|| ToolError::Failed(format!("{path} does not exist")))?;
    let AppliedEdits { text: new, counts, note } =
        apply(&old.text, edits).map_err(ToolError::Failed)?;
    workspace.check(path, &new)?;
    Ok(EditedFile { old, new, counts, note })
}

impl EditedFile {
    /// Returns the preview of the edits with the warnings about them.
    pub fn preview(self, path: &str, shown: Preview, limits: &DiffLimits) -> ActionPreview {
        let Self { old, new, .. } = self;
        let warnings = file_warnings::of_change(path, &old.text, &new, &shown, limits);
        ActionPreview { preview: Preview { warnings, ..shown }, touched: Some(old.stamp) }
    }

    /// Returns the total number of replaced occurrences.
    pub fn count(&self) -> usize {
        self.counts.iter().sum()
    }
}

/// Writes the result of the edits, if the file is still the one that people were shown. Returns the
/// number of replaced occurrences, and a note for the model.
pub fn write(
    execution: &ExecutionContext,
    path: &str,
    edits: &[Replacement],
) -> ToolResult<(usize, String)> {
    let edited = apply_to_file(&execution.workspace, path, edits)?;
    let count = edited.count();
    let EditedFile { old, new, note, .. } = edited;
    let expected = execution.touched.as_deref().unwrap_or_default();
    if old.stamp != expected {
        let changed = copydesk_workspace::WorkspaceError::Changed { path: path.to_owned() };
        return Err(changed.into());
    }
    let written = execution.workspace.write(path, &new, expected)?;
    Ok((count, note + &written.note()))
}

/// Returns the text of a document after all edits, the number of replaced occurrences, and a note.
pub fn of_document(
    base: &DocumentSnapshot,
    edits: &[Replacement],
) -> ToolResult<(String, usize, String)> {
    let AppliedEdits { text, counts, note } =
        apply(&base.text.to_string(), edits).map_err(ToolError::Failed)?;
    Ok((text, counts.iter().sum(), note))
}

#[derive(Debug, Default, PartialEq)]
struct AppliedEdits {
    text: String,
    counts: Vec<usize>,
    /// Sentences for the model, each after a full stop.
    note: String,
}

fn apply(content: &str, edits: &[Replacement]) -> Result<AppliedEdits, String> {
    if edits.is_empty() {
        return Err("there is nothing to replace".to_owned());
    }
    let mut done = AppliedEdits { text: content.to_owned(), ..AppliedEdits::default() };
    for (index, edit) in edits.iter().enumerate() {
        let which = if edits.len() == 1 { String::new() } else { format!("edit {}: ", index + 1) };
        let (new, found, note) =
            replace(&done.text, edit).map_err(|why| format!("{which}{why}"))?;
        done.text = new;
        done.counts.push(found);
        done.note.extend(note.map(|note| format!(". {which}{note}")));
    }
    if done.text == content {
        return Err("the edits cancel each other; the file would stay as it is".to_owned());
    }
    Ok(done)
}

/// Applies one edit. Returns the text, the number of occurrences, and a note if the passage reads
/// otherwise than it was quoted.
fn replace(content: &str, edit: &Replacement) -> Result<(String, usize, Option<String>), String> {
    let plain = |text: &str| text_encoding::read(text).to_string();
    let (old, new) = (plain(&edit.old_string), plain(&edit.new_string));
    if old.is_empty() {
        return Err("old_string is empty".to_owned());
    }
    if edit.old_string == edit.new_string {
        return Err("old_string and new_string are the same".to_owned());
    }
    if old == new {
        return Err(
            "old_string and new_string differ in line ends only, which stay as the file has them"
                .to_owned(),
        );
    }
    let text = plain(content);
    let found = text.matches(&old).count();
    match found {
        0 => return look_alike(content, &text, &old, &new),
        1 => {}
        _ if edit.replace_all => {}
        _ => {
            return Err(format!(
                "old_string is in the file {found} times ({}); give more of the text around it, or set replace_all",
                quotation::lines(&text, text.match_indices(&old).map(|(at, _)| at))
            ));
        }
    }
    let after = text.replace(&old, &new);
    Ok((text_encoding::replaced(content, &after, parts(&text, &old, &new)), found, None))
}

/// Applies one edit to the only passage that differs from the quoted one in blanks before line
/// ends.
fn look_alike(
    content: &str,
    text: &str,
    old: &str,
    new: &str,
) -> Result<(String, usize, Option<String>), String> {
    let QuotationPlace::Alike(range) = quotation::find(text, old, Folding::LineEnds) else {
        let hint = quotation::hint(text, 0..text.len(), old, Folding::LineEnds);
        let hint = if hint.is_empty() { hint } else { format!(". {hint}") };
        return Err(format!("old_string is not in the file{hint}"));
    };
    let found = &text[range.clone()];
    let insert = quotation::rewritten(found, old, new, Folding::LineEnds);
    let after = [&text[..range.start], &insert, &text[range.end..]].concat();
    let from = utf16_len(&text[..range.start]);
    let to = from + utf16_len(found);
    let note = quotation::found_alike(found, Folding::LineEnds);
    let part = DraftPart { from, to, base: found.to_owned(), insert };
    Ok((text_encoding::replaced(content, &after, [part]), 1, Some(note)))
}

fn parts(text: &str, old: &str, new: &str) -> impl Iterator<Item = DraftPart> {
    let len = utf16_len(old);
    let (mut byte, mut unit) = (0, 0);
    text.match_indices(old).map(move |(at, base)| {
        let from = unit + utf16_len(&text[byte..at]);
        (byte, unit) = (at + base.len(), from + len);
        DraftPart { from, to: unit, base: base.to_owned(), insert: new.to_owned() }
    })
}

/// Formats a count: `1 occurrence`, `2 occurrences`.
pub fn occurrences(count: usize) -> String {
    if count == 1 { "1 occurrence".to_owned() } else { format!("{count} occurrences") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(old: &str, new: &str) -> Replacement {
        Replacement { old_string: old.into(), new_string: new.into(), replace_all: false }
    }

    #[test]
    fn each_edit_works_on_what_the_one_before_left() {
        let edits = [edit("one", "two"), edit("two", "three")];
        let done = apply("one", &edits).unwrap();
        assert_eq!((done.text.as_str(), done.counts), ("three", vec![1, 1]));
    }

    #[test]
    fn all_occurrences_are_replaced_only_if_that_is_said() {
        let all = Replacement { replace_all: true, ..edit("a", "b") };
        let done = apply("a a a", &[all]).unwrap();
        assert_eq!((done.text.as_str(), done.counts), ("b b b", vec![3]));
        let refused = apply("a a\na", &[edit("a", "b")]).unwrap_err();
        assert!(refused.starts_with("old_string is in the file 3 times (lines 1, 2)"), "{refused}");
    }

    #[test]
    fn what_is_not_there_or_changes_nothing_is_refused() {
        let cases = [
            (vec![edit("x", "y")], "old_string is not in the file"),
            (vec![edit("", "y")], "old_string is empty"),
            (vec![edit("a", "a")], "old_string and new_string are the same"),
            (vec![], "there is nothing to replace"),
            (vec![edit("a", "b"), edit("x", "y")], "edit 2: old_string is not in the file"),
            (
                vec![edit("a", "b"), edit("b", "a")],
                "the edits cancel each other; the file would stay as it is",
            ),
        ];
        for (edits, words) in cases {
            assert_eq!(apply("a", &edits).unwrap_err(), words);
        }
    }

    #[test]
    fn words_are_found_and_written_with_the_line_ends_of_the_file() {
        let cases = [
            ("a\r\nb\r\n", edit("b", "c"), "a\r\nc\r\n"),
            ("one\r\ntwo\r\n", edit("one\ntwo", "1\n2\n3"), "1\r\n2\r\n3\r\n"),
            ("one\r\ntwo\r\n", edit("two", "x\ny"), "one\r\nx\r\ny\r\n"),
            ("one\r\ntwo\r\n", edit("one\r\ntwo", "x\r\ny"), "x\r\ny\r\n"),
            ("one\ntwo\n", edit("one\r\ntwo", "x\r\ny"), "x\ny\n"),
            ("\u{feff}one\r\n", edit("\u{feff}one", "😀"), "\u{feff}😀\r\n"),
            ("😀\rone\ntwo\r\nthree", edit("one\ntwo\nthree", "1\n2\n3"), "😀\r1\n2\r\n3"),
            ("a\rx\nb", edit("x", ""), "a\n\nb"),
        ];
        for (content, edit, expected) in cases {
            assert_eq!(apply(content, &[edit]).unwrap().text, expected, "{content:?}");
        }
        let all = Replacement { replace_all: true, ..edit("a\nb", "c\nd") };
        let done = apply("a\r\nb\na\nb", &[all]).unwrap();
        assert_eq!((done.text.as_str(), done.counts), ("c\r\nd\nc\nd", vec![2]));
        let refused = apply("a\r\n", &[edit("a\r\n", "a\n")]).unwrap_err();
        assert!(refused.contains("differ in line ends only"), "{refused}");
    }

    #[test]
    fn blanks_before_line_ends_may_differ_and_stay_as_the_file_has_them() {
        let done = apply("a:  \r\n\tb\r\n", &[edit("a:\n\tb", "a:\n\tc")]).unwrap();
        assert_eq!(done.text, "a:  \r\n\tc\r\n");
        assert!(done.note.starts_with(". The quoted text differs"), "{}", done.note);
        let refused = apply("a: \nb\na:  \nb\n", &[edit("a:\nb", "c")]).unwrap_err();
        assert!(refused.contains("2 passages look like it (lines 1, 3)"), "{refused}");
        for (content, old) in
            [("say(“x”)", "say(\"x\")"), ("\tgo()", "    go()"), ("a – b", "a - b")]
        {
            let refused = apply(content, &[edit(old, "y")]).unwrap_err();
            assert!(refused.contains("line 1, reads"), "{refused}");
        }
        let all = Replacement { replace_all: true, ..edit("a:\nb", "c") };
        assert!(apply("a: \nb\na:  \nb\n", &[all]).is_err());
    }

    #[test]
    fn what_is_shown_is_what_is_written_and_another_file_is_not_touched() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        let workspace = Workspace::open(folder.path(), &[]).unwrap();
        std::fs::write(&path, "one\r\ntwo\nthree\r\n").unwrap();
        let edits = [edit("two\nthree", "2\n3\n4")];
        let edited = apply_to_file(&workspace, "a.txt", &edits).unwrap();
        let execution = ExecutionContext {
            workspace: workspace.clone(),
            touched: Some(edited.old.stamp),
            request: "req_1".into(),
            cancel: tokio_util::sync::CancellationToken::new(),
        };
        // Equal words with other line ends are another file.
        std::fs::write(&path, "one\r\ntwo\r\nthree\r\n").unwrap();
        assert!(
            write(&execution, "a.txt", &edits).unwrap_err().to_string().contains("changed since")
        );
        std::fs::write(&path, "one\r\ntwo\nthree\r\n").unwrap();
        write(&execution, "a.txt", &edits).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), edited.new);
        assert_eq!(edited.new, "one\r\n2\n3\n4\r\n");
    }
}
