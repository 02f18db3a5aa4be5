//! Cells of a table row.

use std::ops::Range;

/// Returns the cells of the first line of a text, in bytes, without the bars around them.
pub(in crate::diff) fn cells(text: &str) -> Vec<Range<usize>> {
    let line = text.lines().next().unwrap_or_default().trim_end();
    let start = line.len() - line.trim_start().len();
    let mut cells = Vec::new();
    let first = start + usize::from(line[start..].starts_with('|'));
    let (mut from, mut is_escaped) = (first, false);
    for (at, c) in line.char_indices().skip_while(|(at, _)| *at < first) {
        if c == '|' && !is_escaped {
            cells.push(from..at);
            from = at + 1;
        }
        is_escaped = c == '\\' && !is_escaped;
    }
    if from < line.len() {
        cells.push(from..line.len());
    }
    cells
}
