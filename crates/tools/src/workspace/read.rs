//! Tool that reads a text file of the workspace.

use std::ops::Range;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use copydesk_document::utf16_len;

use crate::document::text_changes;
use crate::model_notes::read_alone;
use crate::{
    CallTarget, ProgramOffer, ReadTool, Tool, ToolAnswer, ToolContext, ToolResult, ToolScope,
    WordsRead,
};

/// Maximum length of one answer, in characters.
const ANSWER_CHARS: usize = 100_000;

/// Tool `Read`.
pub struct ReadFile;

/// Input of the tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// File, relative to the workspace.
    file_path: String,
    /// First line to read, counted from 1; missing: the beginning.
    #[serde(default)]
    offset: Option<usize>,
    /// Number of lines to read; missing: all.
    #[serde(default)]
    limit: Option<usize>,
    /// First character of the first line to read, counted from 1; for lines that are too long for
    /// one answer.
    #[serde(default)]
    column: Option<usize>,
}

impl Tool for ReadFile {
    const NAME: &'static str = "Read";
    const TITLE: &'static str = "Read";
    const RULE_TITLE: &'static str = "Read a file";
    const DESCRIPTION: &'static str = "Read a text file of the workspace. The answer is the file's content as it is; for a long \
         file name the lines you need.";
    const WHEN: &'static str = "Use to read a file of the workspace";
    const SCOPE: ToolScope = ToolScope::Workspace;
    const PROGRAM: Option<ProgramOffer> =
        Some(ProgramOffer { noun: "Read", ..ProgramOffer::new("atlas_read", "Read a file") });
    type Input = Input;

    fn target(input: &Value) -> CallTarget {
        CallTarget::file_path(input)
    }
}

impl ReadTool for ReadFile {
    const READS: WordsRead = WordsRead::OfFile;

    async fn read(&self, context: ToolContext, input: Input) -> ToolResult<ToolAnswer> {
        let workspace = context.workspace()?.clone();
        let Input { file_path, offset, limit, column } = input;
        let from =
            ReadStart { line: offset.unwrap_or(1).max(1), column: column.unwrap_or(1).max(1) };
        // An answer without any line would make no progress.
        let limit = limit.unwrap_or(usize::MAX).max(1);
        if context.open_file.is_some() {
            let now = context.read_now().await?;
            let whole = now.text.to_string();
            let FilePart { text, shown } = part(&whole, from, limit);
            let units = |at| utf16_len(&whole[..at]);
            let unread = read_alone(&context, &now, (units(shown.start), units(shown.end)));
            let answer = ToolAnswer { text, now: Some(now), unread, ..ToolAnswer::default() };
            return Ok(answer);
        }
        let file = text_changes::blocking(move |_| workspace.read(&file_path)).await??;
        let text = part(&file.text, from, limit).text;
        Ok(ToolAnswer { text, ..ToolAnswer::default() })
    }
}

const BEGINNING: ReadStart = ReadStart { line: 1, column: 1 };

/// Start of reading; line and column are counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ReadStart {
    line: usize,
    column: usize,
}

struct FilePart {
    text: String,
    /// Range of the words in the file, in bytes.
    shown: Range<usize>,
}

/// Returns at most `limit` lines from `from` on, unchanged: whole lines, if at least one is short
/// enough for an answer. The text says what is left out and where to read on, which is always
/// further on.
fn part(text: &str, from: ReadStart, limit: usize) -> FilePart {
    let begins: usize = text.split_inclusive('\n').take(from.line - 1).map(str::len).sum();
    let line = text[begins..].split_inclusive('\n').next().unwrap_or_default();
    let rest = match line.char_indices().nth(from.column - 1) {
        Some((at, _)) => &text[begins + at..],
        None if line.is_empty() => "",
        // The line is shorter than `column`.
        None => return part(text, ReadStart { line: from.line + 1, column: 1 }, limit),
    };
    let at = text.len() - rest.len();
    if rest.is_empty() && from != BEGINNING {
        let text = match text.split_inclusive('\n').count() {
            0 => "[nothing is there; the file is empty]".to_owned(),
            lines => format!("[nothing is there; the file ends with line {lines}]"),
        };
        return FilePart { text, shown: at..at };
    }
    let length: usize = rest.split_inclusive('\n').take(limit).map(str::len).sum();
    let mut part = &rest[..length];
    if let Some((end, _)) = part.char_indices().nth(ANSWER_CHARS) {
        part = &part[..part[..end].rfind('\n').map_or(end, |at| at + 1)];
    }
    let text = match &rest[part.len()..] {
        "" => part.to_owned(),
        left => going_on(part, left, from),
    };
    FilePart { text, shown: at..at + part.len() }
}

fn going_on(part: &str, left: &str, from: ReadStart) -> String {
    let next = from.line + part.matches('\n').count();
    let lines = left.split_inclusive('\n').count();
    if part.is_empty() || part.ends_with('\n') {
        return format!("{part}\n[{lines} more lines; read on with offset {next}]");
    }
    // Only skipped characters stand before the start in this line.
    let column = from.column + part.chars().count();
    let after = match lines - 1 {
        0 => String::new(),
        lines => format!(", and {lines} more lines follow"),
    };
    format!("{part}\n[line {next} goes on{after}; read on with offset {next} and column {column}]")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str, line: usize, limit: usize) -> String {
        part(text, ReadStart { line, column: 1 }, limit).text
    }

    fn from(text: &str, line: usize, column: usize, limit: usize) -> String {
        part(text, ReadStart { line, column }, limit).text
    }

    #[test]
    fn a_file_is_read_as_it_is() {
        assert_eq!(lines("one\r\ntwo", 1, usize::MAX), "one\r\ntwo");
        assert_eq!(lines("", 1, usize::MAX), "");
        assert_eq!(from("one\ntwo\n", 1, 3, 2), "e\ntwo\n");
        assert_eq!(
            from("one\ntwo\nthree", 1, 9, 1),
            "two\n\n[1 more lines; read on with offset 3]"
        );
    }

    #[test]
    fn what_is_left_out_is_said() {
        let text = "1\n2\n3\n4\n";
        assert_eq!(lines(text, 2, 2), "2\n3\n\n[1 more lines; read on with offset 4]");
        let long = "é".repeat(ANSWER_CHARS + 5);
        let on =
            format!("\n[line 1 goes on; read on with offset 1 and column {}]", ANSWER_CHARS + 1);
        assert!(lines(&long, 1, 1).ends_with(&on));
        let more = lines(&format!("{long}\nb\nc"), 1, 9);
        assert!(
            more.contains("[line 1 goes on, and 2 more lines follow; read on"),
            "{}",
            &more[200_000..]
        );
    }

    #[test]
    fn who_reads_past_the_end_is_told_where_that_is() {
        let past_end = |lines| format!("[nothing is there; the file ends with line {lines}]");
        assert_eq!(lines("1\n2\n3\n4\n", 9, 2), past_end(4));
        assert_eq!(lines("1\n2\n3\n4\n", 5, 2), past_end(4));
        assert_eq!(from("one\ntwo", 2, 9, 1), past_end(2));
        assert_eq!(lines("", 2, 1), "[nothing is there; the file is empty]");
        assert_eq!(lines("", 1, 1), "", "an empty file has nothing to read, and no more");
    }

    #[test]
    fn what_was_shown_is_known() {
        let shown =
            |line, column, limit| part("né\ntwo\nthree", ReadStart { line, column }, limit).shown;
        assert_eq!((shown(1, 1, 1), shown(2, 1, usize::MAX)), (0..4, 4..13));
        assert_eq!((shown(1, 2, 2), shown(9, 1, 1), shown(1, 9, 1)), (1..8, 13..13, 4..8));
    }

    #[test]
    fn reading_on_as_told_reads_everything_and_nothing_twice() {
        let long = "xé".repeat(ANSWER_CHARS);
        for text in [
            format!("a\n{long}\nb\n{long}"),
            "line\n".repeat(ANSWER_CHARS),
            format!("{}\n{long}", "y".repeat(ANSWER_CHARS)),
        ] {
            let (mut read, mut from) = (String::new(), BEGINNING);
            loop {
                let answer = part(&text, from, usize::MAX).text;
                let Some((words, on)) = answer.rsplit_once("\n[") else {
                    read.push_str(&answer);
                    break;
                };
                read.push_str(words);
                let (_, on) = on.split_once("offset ").expect("it says where to read on");
                let on = on.trim_end_matches(']');
                let (line, column) = on.split_once(" and column ").unwrap_or((on, "1"));
                let next =
                    ReadStart { line: line.parse().unwrap(), column: column.parse().unwrap() };
                assert!((next.line, next.column) > (from.line, from.column), "{next:?}");
                from = next;
            }
            assert!(read == text);
        }
    }
}
