//! Tables with pipes.

use crate::tree::{Alignment, Inline, Table};

use super::escapes::Place;
use super::inlines::line_of;
use super::marked_text::MarkedText;
use super::output::Output;
use super::segments::{Content, Segment};

/// Writes a table. Rows with fewer cells than columns get empty ones.
pub fn write(output: &mut Output, table: &Table) {
    let rows = std::iter::once(&table.heading).chain(&table.rows);
    let columns = rows.clone().map(Vec::len).max().unwrap_or_default().max(table.columns.len());
    for (number, row) in rows.enumerate() {
        if number > 0 {
            output.new_line();
        }
        write_row(output, row, columns);
        if number == 0 {
            output.new_line();
            output.push("|");
            for column in 0..columns {
                output.push(match table.columns.get(column).copied().unwrap_or_default() {
                    Alignment::Unset => " --- |",
                    Alignment::Left => " :-- |",
                    Alignment::Center => " :-: |",
                    Alignment::Right => " --: |",
                });
            }
        }
    }
}

fn write_row(output: &mut Output, row: &[Vec<Inline>], columns: usize) {
    output.push("|");
    for column in 0..columns {
        output.push(" ");
        if let Some(content) = row.get(column) {
            let mut words = MarkedText::of(content);
            for segment in &mut words.segments {
                unmark_piped_code(segment);
                // Pipes end a cell, in code and in formulas too.
                if let Content::Code(markdown)
                | Content::Formula(markdown)
                | Content::Atom(markdown) = &mut segment.content
                {
                    *markdown = markdown.replace('|', "\\|");
                }
            }
            output.push_words(&line_of(words, "<br>"), Place::Cell);
        }
        output.push(" |");
    }
}

/// Makes words of code in which a backslash stands before a pipe: readers do not agree on what that
/// is in a cell.
fn unmark_piped_code(segment: &mut Segment) {
    if let Content::Code(code) = &mut segment.content
        && code.contains("\\|")
    {
        segment.content = Content::Text(std::mem::take(code));
    }
}
