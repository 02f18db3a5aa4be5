//! Previews beside the hunks: a unified diff, several of them, a command, or the plain input.

pub(crate) mod change_extent;
pub(crate) mod difflib;
pub(crate) mod preview_hash;
pub(crate) mod stored_preview;
pub(crate) mod updated_preview;

use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use similar::{Algorithm, DiffOp, capture_diff_slices_deadline};

use copydesk_document::diff::{DiffLimits, common_ends};
use copydesk_document::utf16_len;
use copydesk_macros::names;

use crate::preview::difflib::{EqualLines, MOST_STEPS, matching_blocks};
use crate::preview::stored_preview::StoredPreview;

/// Kind of a preview.
#[names(Deserialize, Serialize, wire, snake_case)]
pub enum PreviewKind {
    /// One text changes.
    Diff,
    /// One text changes in several steps.
    MultiDiff,
    /// A command would run.
    Command,
    /// Anything else: the input as JSON.
    Generic,
}

/// Warning about a preview.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "wire", derive(schemars::JsonSchema), schemars(rename = "Warning"))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "Warning"))]
pub struct PreviewWarning {
    /// Stable code for programs.
    pub code: String,
    /// Text for people.
    pub text: String,
}

/// Preview of a request besides its hunks; the fields are those of the tool approval protocol.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "StoredPreview", into = "StoredPreview")]
pub struct Preview {
    /// Kind of the preview.
    pub kind: PreviewKind,
    /// Facts about the call; the fields depend on `kind`.
    pub data: Value,
    /// Title of the document, or path of the file.
    pub file_path: Option<String>,
    /// Text before the change.
    pub original_content: Option<Arc<str>>,
    /// Text after the change.
    pub new_content: Option<Arc<str>>,
    /// Unified diff, line by line.
    pub diff_lines: Vec<String>,
    /// Warnings to show.
    pub warnings: Vec<PreviewWarning>,
}

/// One of the steps in which a text changes.
#[derive(Clone, Copy, Debug)]
pub struct PreviewStep<'a> {
    /// Piece of the text to replace.
    pub from: &'a str,
    /// Text that replaces it.
    pub to: &'a str,
    /// `true` if every occurrence is replaced.
    pub everywhere: bool,
    /// Number of occurrences replaced.
    pub occurrences: usize,
}

impl Preview {
    /// Returns the preview of a change of one text; `old` is `None` for a new file.
    pub fn diff(path: &str, old: Option<&str>, new: &str, limits: &DiffLimits) -> Self {
        let before = old.unwrap_or_default();
        let (old_lines, new_lines) = (lines(before), lines(new));
        Self {
            data: json!({
                "file_path": path,
                "is_new_file": old.is_none(),
                "original_lines": old_lines.len(),
                "new_lines": new_lines.len(),
            }),
            file_path: Some(path.to_owned()),
            original_content: Some(before.into()),
            new_content: Some(new.into()),
            diff_lines: unified(path, &old_lines, &new_lines, limits),
            ..Self::generic()
        }
        .of_kind(PreviewKind::Diff)
    }

    /// Returns the preview of a change of one text in several steps.
    pub fn multi_diff(
        path: &str,
        old: &str,
        new: &str,
        steps: &[PreviewStep<'_>],
        limits: &DiffLimits,
    ) -> Self {
        let edits: Vec<Value> = steps
            .iter()
            .map(|&PreviewStep { from, to, everywhere, occurrences }| {
                json!({
                    "old_string": from,
                    "new_string": to,
                    "diff_lines": diff_lines(path, from, to, limits),
                    "replace_all": everywhere,
                    "occurrences": occurrences,
                })
            })
            .collect();
        let mut preview = Self::diff(path, Some(old), new, limits).of_kind(PreviewKind::MultiDiff);
        preview.data["edit_count"] = json!(edits.len());
        preview.data["edits"] = Value::from(edits);
        preview
    }

    /// Returns the preview of a command.
    pub fn command(command: &str, warnings: Vec<PreviewWarning>) -> Self {
        Self { data: json!({ "command": command }), warnings, ..Self::generic() }
            .of_kind(PreviewKind::Command)
    }

    /// Returns a preview that shows only the input.
    pub fn of_input(input: &Value) -> Self {
        Self { data: input.clone(), ..Self::generic() }
    }

    /// Returns an empty preview.
    pub fn generic() -> Self {
        Self {
            kind: PreviewKind::Generic,
            data: json!({}),
            file_path: None,
            original_content: None,
            new_content: None,
            diff_lines: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// Returns the size of the change in UTF-16 units: what is deleted and inserted between the
    /// first and the last difference, so never less than the smallest edit. `None`: the preview
    /// shows no text.
    pub(super) fn units(&self) -> Option<usize> {
        let new = self.new_content.as_deref()?;
        let old = self.original_content.as_deref().unwrap_or_default();
        Some(changed_units(old, new))
    }

    fn of_kind(self, kind: PreviewKind) -> Self {
        Self { kind, ..self }
    }
}

/// Returns the UTF-16 units deleted plus inserted, without the common start and end.
pub fn changed_units(old: &str, new: &str) -> usize {
    let (head, tail) = common_ends(old, new);
    let units = |text: &str| utf16_len(&text[head..text.len() - tail]);
    units(old) + units(new)
}

const CONTEXT: usize = 3;

/// Returns a unified diff as Python's `difflib.unified_diff` writes it for `splitlines()` and
/// `lineterm=""`. Where that would take too long, the diff is as correct but may be another one.
pub fn diff_lines(path: &str, old: &str, new: &str, limits: &DiffLimits) -> Vec<String> {
    unified(path, &lines(old), &lines(new), limits)
}

fn unified(path: &str, old: &[&str], new: &[&str], limits: &DiffLimits) -> Vec<String> {
    let ops = matching_blocks(old, new, MOST_STEPS).map_or_else(
        || capture_diff_slices_deadline(Algorithm::Myers, old, new, limits.deadline),
        |blocks| between(&blocks, old.len(), new.len()),
    );
    let mut out = Vec::new();
    for group in similar::group_diff_ops(ops, CONTEXT) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
        if out.is_empty() {
            out.push(format!("--- a/{path}"));
            out.push(format!("+++ b/{path}"));
        }
        let old_range = first.old_range().start..last.old_range().end;
        let new_range = first.new_range().start..last.new_range().end;
        out.push(format!("@@ -{} +{} @@", place(&old_range), place(&new_range)));
        for op in &group {
            push_lines(op, old, new, &mut out);
        }
    }
    out
}

fn between(blocks: &[EqualLines], old_len: usize, new_len: usize) -> Vec<DiffOp> {
    let mut ops = Vec::new();
    let (mut old_index, mut new_index) = (0, 0);
    let end = EqualLines { old: old_len, new: new_len, len: 0 };
    for &EqualLines { old, new, len } in blocks.iter().chain([&end]) {
        let (old_len, new_len) = (old - old_index, new - new_index);
        match (old_len, new_len) {
            (0, 0) => {}
            (_, 0) => ops.push(DiffOp::Delete { old_index, old_len, new_index }),
            (0, _) => ops.push(DiffOp::Insert { old_index, new_index, new_len }),
            _ => ops.push(DiffOp::Replace { old_index, old_len, new_index, new_len }),
        }
        if len > 0 {
            ops.push(DiffOp::Equal { old_index: old, new_index: new, len });
        }
        (old_index, new_index) = (old + len, new + len);
    }
    ops
}

fn push_lines(op: &DiffOp, old: &[&str], new: &[&str], out: &mut Vec<String>) {
    let (_, o, n) = op.as_tag_tuple();
    if let DiffOp::Equal { .. } = op {
        out.extend(old[o].iter().map(|line| format!(" {line}")));
    } else {
        out.extend(old[o].iter().map(|line| format!("-{line}")));
        out.extend(new[n].iter().map(|line| format!("+{line}")));
    }
}

/// Formats a range as difflib's `_format_range_unified`: an empty one by the line before it.
fn place(range: &Range<usize>) -> String {
    match range.len() {
        0 => format!("{},0", range.start),
        1 => format!("{}", range.start + 1),
        len => format!("{},{len}", range.start + 1),
    }
}

/// Splits as Python's `str.splitlines`, which splits at more than `\n`.
fn lines(text: &str) -> Vec<&str> {
    // No early exit, so that the compiler vectorizes the loop; most texts have only `\n`.
    let is_plain =
        !text.bytes().fold(false, |any, byte| any | (byte != b'\n' && may_end_line(byte)));
    if is_plain {
        return text.split_terminator('\n').collect();
    }
    let bytes = text.as_bytes();
    let (mut lines, mut start, mut at) = (Vec::new(), 0, 0);
    while let Some(step) = bytes[at..].iter().position(|&byte| may_end_line(byte)) {
        at += step;
        let end = line_end(&bytes[at..]);
        if end == 0 {
            at += 1;
            continue;
        }
        lines.push(&text[start..at]);
        at += end;
        start = at;
    }
    if start < text.len() {
        lines.push(&text[start..]);
    }
    lines
}

/// Returns `true` if a line end can begin with this byte: controls, and the first bytes of U+0085,
/// U+2028 and U+2029.
fn may_end_line(byte: u8) -> bool {
    byte < b' ' || byte == 0xc2 || byte == 0xe2
}

/// Returns the length in bytes of a line end at the start of `bytes`; 0: there is none.
fn line_end(bytes: &[u8]) -> usize {
    match bytes {
        [b'\r', b'\n', ..] | [0xc2, 0x85, ..] => 2,
        [b'\n'..=b'\r' | 0x1c..=0x1e, ..] => 1,
        [0xe2, 0x80, 0xa8 | 0xa9, ..] => 3,
        _ => 0,
    }
}
