//! Words of a paragraph in a row, each with the marks it carries, instead of marks within marks.
//!
//! In this form equal neighbours are one, marks without words are gone, and blanks at the edges of
//! a mark can lose it.

use crate::tree::Inline;

use super::change_edges;
use super::links;
use super::segments::{Content, InlineMark, Marks, Segment, Target};

/// Content of a paragraph, a heading or a cell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MarkedText {
    /// Words in a row.
    pub segments: Vec<Segment>,
    /// Links that [`Marks`] name.
    pub links: Vec<Target>,
}

impl MarkedText {
    /// Makes the row of some words, without blanks at its edges and those of its lines.
    pub fn of(content: &[Inline]) -> Self {
        let mut made = Self::default();
        made.add(content, Marks::default());
        made.trim_lines();
        made.trim_marks();
        made
    }

    /// Returns whether it has no words.
    pub fn is_blank(&self) -> bool {
        self.segments.iter().all(Segment::is_blank)
    }

    fn add(&mut self, content: &[Inline], marks: Marks) {
        for inline in content {
            let content = match inline {
                Inline::Text(text) => {
                    self.add_text(text, marks);
                    continue;
                }
                Inline::Emphasis(words) => {
                    self.add(words, marks.with(InlineMark::Emphasis));
                    continue;
                }
                Inline::Strong(words) => {
                    self.add(words, marks.with(InlineMark::Strong));
                    continue;
                }
                Inline::Strikethrough(words) => {
                    self.add(words, marks.with(InlineMark::Strikethrough));
                    continue;
                }
                Inline::Link { url, title, content } => {
                    self.add_link(url, title, content, marks);
                    continue;
                }
                Inline::Code(code) => {
                    self.add_code(code, marks);
                    continue;
                }
                Inline::Formula(tex) => {
                    self.add_formula(tex, marks);
                    continue;
                }
                Inline::Picture { url, title, description } => {
                    Content::Atom(links::picture(url, title, description))
                }
                Inline::Break => Content::Break,
                Inline::NoteReference(label) => {
                    Content::Atom(format!("[^{}]", links::note_label(label)))
                }
                Inline::ChangeStart(change) => Content::Edge { change: *change, is_start: true },
                Inline::ChangeEnd(change) => Content::Edge { change: *change, is_start: false },
            };
            self.segments.push(Segment { content, marks });
        }
    }

    /// Adds characters; those without a width on paper become blanks or go.
    fn add_text(&mut self, text: &str, marks: Marks) {
        let clean: String = text
            .chars()
            .filter_map(|sign| match sign {
                '\t' | '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}' => {
                    Some(' ')
                }
                sign => (!sign.is_control()).then_some(sign),
            })
            .collect();
        if clean.is_empty() {
            return;
        }
        if let Some(Segment { content: Content::Text(last), marks: same }) =
            self.segments.last_mut()
            && *same == marks
        {
            last.push_str(&clean);
            return;
        }
        self.segments.push(Segment { content: Content::Text(clean), marks });
    }

    fn add_code(&mut self, code: &str, marks: Marks) {
        let code = code.replace(['\n', '\r'], " ");
        if code.is_empty() {
            return;
        }
        if let Some(Segment { content: Content::Code(last), marks: same }) =
            self.segments.last_mut()
            && *same == marks
        {
            last.push_str(&code);
            return;
        }
        self.segments.push(Segment { content: Content::Code(code), marks });
    }

    /// Adds a formula, which becomes one with a formula before it: `$a$$b$` is read as neither.
    fn add_formula(&mut self, tex: &str, marks: Marks) {
        let tex = tex.split_whitespace().collect::<Vec<_>>().join(" ");
        if tex.is_empty() {
            return;
        }
        // The formula ends with its first dollar sign or with an escaped one.
        if tex.contains('$') || tex.ends_with('\\') {
            return self.add_code(&tex, marks);
        }
        if let Some(Segment { content: Content::Formula(last), .. }) = self.segments.last_mut() {
            last.push(' ');
            last.push_str(&tex);
            return;
        }
        self.segments.push(Segment { content: Content::Formula(tex), marks });
    }

    /// Adds a link; one within another one is only its words, as in HTML.
    fn add_link(&mut self, url: &str, title: &str, content: &[Inline], marks: Marks) {
        if url.is_empty() || marks.link().is_some() {
            return self.add(content, marks);
        }
        if let [Inline::Text(words)] = content
            && title.is_empty()
            && let Some(address) = links::as_words(url, words)
        {
            self.segments.push(Segment { content: Content::Atom(address), marks });
            return;
        }
        let target = Target { url: url.to_owned(), title: title.to_owned() };
        if self.links.last() != Some(&target) {
            self.links.push(target);
        }
        self.add(content, marks.in_link(self.links.len() - 1));
    }

    /// Removes blanks at the ends of lines, which Markdown does not keep, and breaks at the ends
    /// of the text.
    fn trim_lines(&mut self) {
        trim_line_starts(self.segments.iter_mut(), |text| text.trim_start_matches(' ').len(), true);
        trim_line_starts(
            self.segments.iter_mut().rev(),
            |text| text.trim_end_matches(' ').len(),
            false,
        );
        self.segments
            .retain(|segment| !matches!(&segment.content, Content::Text(t) if t.is_empty()));
    }

    /// Takes marks from blanks and breaks at their edges: `**bold **` is not read as bold.
    pub fn trim_marks(&mut self) {
        self.segments = self.segments.drain(..).flat_map(without_outer_blanks).collect();
        for mark in InlineMark::ALL {
            trim_mark_starts(self.segments.iter_mut(), mark);
            trim_mark_starts(self.segments.iter_mut().rev(), mark);
        }
        change_edges::mark_edges(&mut self.segments);
    }
}

/// Takes a mark from the blanks that it begins with, in the order of the iterator.
fn trim_mark_starts<'a>(segments: impl Iterator<Item = &'a mut Segment>, mark: InlineMark) {
    let mut is_inside = false;
    let mut before = Marks::default();
    for segment in segments.filter(|segment| !segment.is_edge()) {
        is_inside = is_inside && segment.marks.continues(before, mark);
        before = segment.marks;
        if segment.is_blank() && !is_inside {
            segment.marks.remove(mark);
        }
        is_inside = segment.marks.has(mark);
    }
}

/// Removes blanks after breaks and at the beginning, in the order of the iterator. `keep` returns
/// the bytes that remain of a text; `is_front` says that the front is cut.
fn trim_line_starts<'a>(
    segments: impl Iterator<Item = &'a mut Segment>,
    keep: impl Fn(&str) -> usize,
    is_front: bool,
) {
    let mut is_line_start = true;
    let mut is_text_start = true;
    for segment in segments {
        match &mut segment.content {
            Content::Text(text) if is_line_start => {
                let kept = keep(text);
                if is_front {
                    text.drain(..text.len() - kept);
                } else {
                    text.truncate(kept);
                }
                is_line_start = text.is_empty();
                is_text_start = is_text_start && is_line_start;
            }
            Content::Break if is_text_start => segment.content = Content::Text(String::new()),
            Content::Break => is_line_start = true,
            Content::Edge { .. } => {}
            _ => {
                is_line_start = false;
                is_text_start = false;
            }
        }
    }
}

/// Divides a text into the blanks before it, the rest, and the blanks after it.
fn without_outer_blanks(segment: Segment) -> Vec<Segment> {
    let Content::Text(text) = &segment.content else { return vec![segment] };
    let start = text.len() - text.trim_start().len();
    let end = text.trim_end().len().max(start);
    if start == 0 && end == text.len() {
        return vec![segment];
    }
    [&text[..start], &text[start..end], &text[end..]]
        .into_iter()
        .filter(|part| !part.is_empty())
        .map(|part| Segment { content: Content::Text(part.to_owned()), marks: segment.marks })
        .collect()
}
