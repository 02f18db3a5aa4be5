//! Marked words as a line of Markdown: where marks open and close.
//!
//! A line is written, its marks are read back ([`super::delimiters`]), and where one would not be
//! read as it was meant, punctuation or code at its edge loses the mark: `**Note:**read` becomes
//! `**Note**:read`. That is done until all are read as they were meant.

use super::delimiters::{Delimiter, Pair, unread_pairs};
use super::escapes;
use super::line::Line;
use super::links;
use super::marked_text::MarkedText;
use super::repairs::mend;
use super::segments::{Content, InlineMark, Marks, Segment};
use super::stretches::Stretches;

/// Times that marks are mended before those that are still not read are dropped.
const MOST_REPAIRS: usize = 24;

/// Line with what is needed to read its marks back.
#[derive(Debug, Default)]
struct Draft {
    line: Line,
    delimiters: Vec<Delimiter>,
    pairs: Vec<Pair>,
    /// Characters that end the code that is being written.
    code_end: String,
}

/// Writes marked words; `line_break` is what stands for a break.
pub fn line_of(mut words: MarkedText, line_break: &str) -> Line {
    let mut isolated = vec![false; words.links.len()];
    for attempt in 0.. {
        let draft = Draft::of(&words, &isolated, line_break);
        let unread = unread_pairs(&draft.line, &draft.delimiters, &draft.pairs);
        if unread.is_empty() {
            return draft.line;
        }
        mend(&mut words, &mut isolated, &unread, attempt >= MOST_REPAIRS);
    }
    Line::default()
}

impl Draft {
    fn of(words: &MarkedText, isolated: &[bool], line_break: &str) -> Self {
        let stretches = Stretches::of(&words.segments);
        let mut draft = Self::default();
        let mut open: Vec<usize> = Vec::new();
        for at in 0..=words.segments.len() {
            let marks = words.segments.get(at).map(|segment| segment.marks).unwrap_or_default();
            let before = at.checked_sub(1).map(|at| words.segments[at].marks).unwrap_or_default();
            let is_wall = before.link() != marks.link()
                && [before, marks].iter().filter_map(|it| it.link()).any(|link| isolated[link]);
            draft.close(&mut open, before, marks, is_wall, words, at);
            let Some(segment) = words.segments.get(at) else { break };
            draft.open(&mut open, marks, &stretches, isolated, at);
            if let Content::Code(code) = &segment.content {
                draft.add_code(code, &words.segments, at);
            } else {
                draft.add(segment, line_break);
            }
        }
        draft
    }

    /// Closes the marks that end before a segment, and those that opened inside of them.
    fn close(
        &mut self,
        open: &mut Vec<usize>,
        before: Marks,
        marks: Marks,
        is_wall: bool,
        words: &MarkedText,
        at: usize,
    ) {
        let ends = |pair: &usize| is_wall || !marks.continues(before, self.pairs[*pair].mark);
        let Some(first) = open.iter().position(ends) else { return };
        for pair in open.drain(first..).rev().collect::<Vec<_>>() {
            let mark = self.pairs[pair].mark;
            self.pairs[pair].close_at = self.line.text.len();
            self.pairs[pair].to = at;
            if mark == InlineMark::Link {
                self.line.link_words.push((self.pairs[pair].open_at, self.line.text.len()));
                let target = before.link().map(|link| &words.links[link]);
                self.syntax(
                    &target.map(|it| links::after_words(&it.url, &it.title)).unwrap_or_default(),
                );
            } else {
                self.delimiters.push(Delimiter { at: self.line.text.len(), mark });
                self.syntax(mark.sign());
            }
        }
    }

    /// Opens the marks of a segment that are not open, the longest first.
    fn open(
        &mut self,
        open: &mut Vec<usize>,
        marks: Marks,
        stretches: &Stretches,
        isolated: &[bool],
        at: usize,
    ) {
        let is_isolated = marks.link().is_some_and(|link| isolated[link]);
        let mut needed: Vec<InlineMark> = InlineMark::ALL
            .into_iter()
            .filter(|mark| marks.has(*mark))
            .filter(|mark| !open.iter().any(|pair| self.pairs[*pair].mark == *mark))
            .collect();
        needed.sort_by_key(|mark| {
            let is_outermost = *mark == InlineMark::Link && is_isolated;
            (!is_outermost, std::cmp::Reverse(stretches.end(*mark, at)))
        });
        for mark in needed {
            open.push(self.pairs.len());
            let open_at = self.line.text.len();
            self.pairs.push(Pair { mark, open_at, close_at: open_at, from: at, to: at });
            if mark == InlineMark::Link {
                self.syntax("[");
            } else {
                self.delimiters.push(Delimiter { at: open_at, mark });
                self.syntax(mark.sign());
            }
        }
    }

    fn add(&mut self, segment: &Segment, line_break: &str) {
        match &segment.content {
            Content::Text(text) => {
                let rest = self.after_formula(text);
                self.line.text.push_str(rest);
                self.line.is_literal.resize(self.line.text.len(), true);
            }
            Content::Code(code) | Content::Atom(code) => self.syntax(code),
            Content::Formula(tex) => self.syntax(&format!("${tex}$")),
            Content::Break => self.syntax(line_break),
            Content::Edge { change, is_start } => {
                self.line.edges.push((*change, *is_start, self.line.text.len()));
            }
        }
    }

    /// Writes code. Code with nothing but edges of changes in between is one stretch of code.
    fn add_code(&mut self, code: &str, segments: &[Segment], at: usize) {
        let marks = segments[at].marks;
        let belongs = |segment: &&Segment| {
            segment.marks == marks
                && matches!(segment.content, Content::Code(_) | Content::Edge { .. })
        };
        let is_code = |segment: &Segment| matches!(segment.content, Content::Code(_));
        let is_first = !segments[..at].iter().rev().take_while(belongs).any(is_code);
        let rest = || segments[at..].iter().take_while(belongs).filter_map(code_in);
        if is_first {
            let whole: String = rest().collect();
            let (fence, pad) = escapes::code_fence(&whole);
            self.code_end = format!("{pad}{fence}");
            self.syntax(&format!("{fence}{pad}"));
        }
        self.syntax(code);
        if rest().nth(1).is_none() {
            let end = std::mem::take(&mut self.code_end);
            self.syntax(&end);
        }
    }

    /// Writes a digit that follows a formula as an entity: `$x$2` is no formula. Returns the rest.
    fn after_formula<'a>(&mut self, text: &'a str) -> &'a str {
        let is_after = self.line.text.ends_with('$') && self.line.is_literal.last() == Some(&false);
        match text.chars().next().filter(char::is_ascii_digit) {
            Some(digit) if is_after => {
                self.syntax(&format!("&#{};", u32::from(digit)));
                &text[1..]
            }
            _ => text,
        }
    }

    fn syntax(&mut self, markdown: &str) {
        self.line.text.push_str(markdown);
        self.line.is_literal.resize(self.line.text.len(), false);
    }
}

fn code_in(segment: &Segment) -> Option<&str> {
    match &segment.content {
        Content::Code(code) => Some(code),
        _ => None,
    }
}
