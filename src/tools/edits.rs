//! Replacements in a file of the workspace: each must be meant unambiguously, and all apply or none.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::room::command::Reading;
use crate::workspace::{File, Workspace};

use super::{Errand, ToolError, live};

/// One replacement.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Edit {
    /// The text to replace, exactly as it stands in the file, with enough around it to be there only once.
    pub old_string: String,
    /// The text that replaces it.
    pub new_string: String,
    /// Replace every occurrence; without it there must be exactly one.
    #[serde(default)]
    pub replace_all: bool,
}

/// A file before and after its replacements.
#[derive(Debug)]
pub struct Edited {
    /// Before.
    pub old: File,
    /// After.
    pub new: String,
    /// How many occurrences were replaced.
    pub count: usize,
}

/// Works out what edits make of a file as it is now.
pub fn look(workspace: &Workspace, path: &str, edits: &[Edit]) -> Result<Edited, ToolError> {
    let old = workspace.look(path)?;
    let old = old.ok_or_else(|| ToolError::Failed(format!("{path} does not exist")))?;
    let (new, count) = apply(&old.text, edits).map_err(ToolError::Failed)?;
    workspace.check(path, &new)?;
    Ok(Edited { old, new, count })
}

/// Writes what edits make of a file, if it is still the one people were shown.
pub fn write(errand: &Errand, path: &str, edits: &[Edit]) -> Result<usize, ToolError> {
    let Edited { old, new, count } = look(&errand.workspace, path, edits)?;
    let expected = errand.touched.as_deref().unwrap_or_default();
    if old.stamp != expected {
        let changed = crate::workspace::WorkspaceError::Changed { path: path.to_owned() };
        return Err(changed.into());
    }
    errand.workspace.write(path, &new, expected)?;
    Ok(count)
}

/// The text of a document after all edits, and how many occurrences were replaced. Line ends there are `\n`, whatever the
/// file has.
pub fn of_document(base: &Reading, edits: &[Edit]) -> Result<(String, usize), ToolError> {
    let plain = |text: &str| live::text(text).to_string();
    let edits: Vec<_> = edits
        .iter()
        .map(|edit| Edit {
            old_string: plain(&edit.old_string),
            new_string: plain(&edit.new_string),
            replace_all: edit.replace_all,
        })
        .collect();
    apply(&base.text.to_string(), &edits).map_err(ToolError::Failed)
}

/// The text after all edits, one after the other, and how many occurrences were replaced.
fn apply(text: &str, edits: &[Edit]) -> Result<(String, usize), String> {
    if edits.is_empty() {
        return Err("there is nothing to replace".to_owned());
    }
    let (mut now, mut count) = (text.to_owned(), 0);
    for (index, edit) in edits.iter().enumerate() {
        let which = if edits.len() == 1 { String::new() } else { format!("edit {}: ", index + 1) };
        let found = now.matches(edit.old_string.as_str()).count();
        if edit.old_string.is_empty() {
            return Err(format!("{which}old_string is empty"));
        }
        if edit.old_string == edit.new_string {
            return Err(format!("{which}old_string and new_string are the same"));
        }
        match found {
            0 => return Err(format!("{which}old_string is not in the file")),
            1 => {}
            _ if edit.replace_all => {}
            _ => {
                return Err(format!(
                    "{which}old_string is in the file {found} times; give more of the text around it, or set replace_all"
                ));
            }
        }
        now = now.replace(edit.old_string.as_str(), &edit.new_string);
        count += found;
    }
    if now == text {
        return Err("the edits cancel each other; the file would stay as it is".to_owned());
    }
    Ok((now, count))
}

/// `1 occurrence`, `2 occurrences`.
pub fn occurrences(count: usize) -> String {
    if count == 1 { "1 occurrence".to_owned() } else { format!("{count} occurrences") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(old: &str, new: &str) -> Edit {
        Edit { old_string: old.into(), new_string: new.into(), replace_all: false }
    }

    #[test]
    fn each_edit_works_on_what_the_one_before_left() {
        let edits = [edit("one", "two"), edit("two", "three")];
        assert_eq!(apply("one", &edits).unwrap(), ("three".into(), 2));
    }

    #[test]
    fn all_occurrences_are_replaced_only_if_that_is_said() {
        let all = Edit { replace_all: true, ..edit("a", "b") };
        assert_eq!(apply("a a a", &[all]).unwrap(), ("b b b".into(), 3));
        let refused = apply("a a a", &[edit("a", "b")]).unwrap_err();
        assert!(refused.starts_with("old_string is in the file 3 times"), "{refused}");
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
    fn line_ends_stay_as_they_are() {
        assert_eq!(apply("a\r\nb\r\n", &[edit("b", "c")]).unwrap().0, "a\r\nc\r\n");
    }
}
