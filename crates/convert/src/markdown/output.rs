//! Text that grows, with what stands before each line of nested blocks.

use super::ChangeEdge;
use super::escapes::{self, Place};
use super::line::Line;

/// Markdown that is being written.
#[derive(Debug, Default)]
pub struct Output {
    text: String,
    edges: Vec<ChangeEdge>,
    /// Characters before each line: `> ` of quotations, blanks in lists.
    prefix: String,
    is_line_start: bool,
}

impl Output {
    /// Returns the text and the edges of changes in it.
    pub fn finish(self) -> (String, Vec<ChangeEdge>) {
        (self.text, self.edges)
    }

    /// Begins a line.
    pub fn new_line(&mut self) {
        self.text.push('\n');
        self.is_line_start = true;
    }

    /// Writes an empty line and begins the next one.
    pub fn blank_line(&mut self) {
        self.new_line();
        self.text.push_str(self.prefix.trim_end());
        self.new_line();
    }

    /// Writes characters in the current line.
    pub fn push(&mut self, markdown: &str) {
        if self.is_line_start && !markdown.is_empty() {
            self.text.push_str(&self.prefix);
            self.is_line_start = false;
        }
        self.text.push_str(markdown);
    }

    /// Writes lines exactly as they are.
    pub fn push_lines(&mut self, lines: &str) {
        for (number, line) in lines.split('\n').enumerate() {
            if number > 0 {
                self.end_code_line();
            }
            self.push(line);
        }
    }

    /// Begins a line after one of code, which may be empty.
    pub fn end_code_line(&mut self) {
        if self.is_line_start {
            self.text.push_str(self.prefix.trim_end());
        }
        self.new_line();
    }

    /// Writes a line of words.
    pub fn push_words(&mut self, line: &Line, place: Place) {
        let mut from = 0;
        let mut edges = line.edges.iter().peekable();
        let escapes = escapes::needed(line, place);
        let breaks = line.text.match_indices('\n').map(|(at, _)| at);
        let mut stops: Vec<(usize, bool)> = escapes.into_iter().map(|at| (at, true)).collect();
        stops.extend(breaks.map(|at| (at, false)));
        stops.sort_unstable();
        stops.push((line.text.len(), false));
        for (at, is_escape) in stops {
            while let Some((change, is_start, edge)) = edges.next_if(|edge| edge.2 <= at) {
                self.push(&line.text[from..*edge]);
                from = *edge;
                self.edge(*change, *is_start);
            }
            self.push(&line.text[from..at]);
            from = at;
            if is_escape {
                self.push("\\");
            } else if at < line.text.len() {
                self.new_line();
                from = at + 1;
            }
        }
    }

    /// Notes the place of the edge of a change.
    pub fn edge(&mut self, change: usize, is_start: bool) {
        if self.is_line_start {
            self.text.push_str(&self.prefix);
            self.is_line_start = false;
        }
        self.edges.push(ChangeEdge { change, is_start, at: self.text.len() });
    }

    /// Writes something whose lines stand behind a prefix. `first` is written once before it.
    pub fn nested(&mut self, first: &str, prefix: &str, write: impl FnOnce(&mut Self)) {
        self.push(first);
        let length = self.prefix.len();
        self.prefix.push_str(prefix);
        write(self);
        self.prefix.truncate(length);
    }
}
