//! Structures of a text, as a Markdown parser sees them.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use super::html::OpenTags;
use super::quotes::OpenQuotes;
use super::table::cells;
use super::{EntryTree, MarkPair, Structures, Table};
use crate::diff::blocks::{BlockKind, lead};

/// Returns the structures of a text.
pub(super) fn structures(text: &str) -> Structures {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_MATH
        | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS;
    let mut scan = StructureScan {
        text,
        found: Structures::default(),
        open: Vec::new(),
        tags: OpenTags::default(),
        quotes: OpenQuotes::default(),
        containers: Vec::new(),
    };
    for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
        scan.event(event, range);
    }
    scan.found
}

struct OpenElement {
    kind: ElementKind,
    range: Range<usize>,
    /// Range from the start of its first child to the end of its last one.
    inner: Option<Range<usize>>,
    /// Beginnings of the blocks in it, if it is a list entry; markers, if it is a list.
    below: Vec<Range<usize>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ElementKind {
    /// Emphasis, a link or a picture: marks around text.
    Marked,
    /// A block with a line before and one behind it, of which the text is no Markdown.
    Fenced,
    Heading,
    Paragraph,
    List,
    Entry,
    Table,
    Html,
    Other,
}

struct StructureScan<'a> {
    text: &'a str,
    found: Structures,
    open: Vec<OpenElement>,
    tags: OpenTags<'a>,
    quotes: OpenQuotes,
    /// Opening lines of containers, such as `::: note`.
    containers: Vec<Range<usize>>,
}

impl StructureScan<'_> {
    fn event(&mut self, event: Event, range: Range<usize>) {
        if !matches!(event, Event::End(_))
            && let Some(parent) = self.open.last_mut()
        {
            let inner = parent.inner.get_or_insert(range.clone());
            inner.end = inner.end.max(range.end);
        }
        match event {
            Event::Start(tag) => self.start(&tag, range),
            Event::End(tag) => self.end(tag),
            Event::Text(_) => {
                let is_code = self.open.last().is_some_and(|it| it.kind == ElementKind::Fenced);
                if !is_code {
                    self.quotes.read(self.text, range, &mut self.found.pairs);
                }
            }
            Event::Code(_) => self.run_of('`', &range, false),
            Event::InlineMath(_) => self.run_of('$', &range, false),
            Event::DisplayMath(_) => self.run_of('$', &range, true),
            Event::InlineHtml(_) => {
                self.tags.read(self.text, range, &mut self.found.pairs);
            }
            _ => {}
        }
    }

    fn start(&mut self, tag: &Tag, range: Range<usize>) {
        let kind = match tag {
            Tag::Emphasis
            | Tag::Strong
            | Tag::Strikethrough
            | Tag::Link { .. }
            | Tag::Image { .. } => ElementKind::Marked,
            Tag::CodeBlock(CodeBlockKind::Fenced(_)) | Tag::MetadataBlock(_) => ElementKind::Fenced,
            Tag::Heading { .. } => ElementKind::Heading,
            Tag::Paragraph => ElementKind::Paragraph,
            Tag::List(_) => ElementKind::List,
            Tag::Item => ElementKind::Entry,
            Tag::Table(_) => ElementKind::Table,
            Tag::HtmlBlock => ElementKind::Html,
            _ => ElementKind::Other,
        };
        if kind == ElementKind::Entry {
            self.begin_entry(&range);
        } else if !matches!(kind, ElementKind::List | ElementKind::Marked | ElementKind::Other)
            && let Some(entry) = self.open.last_mut().filter(|it| it.kind == ElementKind::Entry)
            && range.start > line_end(self.text, entry.range.start)
        {
            let start = line_start(self.text, range.start);
            entry.below.push(start..range.start + width(self.text, range.start));
        }
        self.open.push(OpenElement { kind, range, inner: None, below: Vec::new() });
    }

    /// Notes an entry below the entry around its list, and in the outermost list.
    fn begin_entry(&mut self, range: &Range<usize>) {
        let start = line_start(self.text, range.start);
        let mark = start.min(range.start)..marker_end(self.text, range);
        let mut around = self.open.iter_mut().rev();
        let list = around.next();
        match around.find(|it| it.kind == ElementKind::Entry) {
            Some(entry) => entry.below.push(mark),
            None => drop(list.map(|list| list.below.push(mark))),
        }
    }

    fn end(&mut self, tag: TagEnd) {
        let Some(element) = self.open.pop() else { return };
        let OpenElement { kind, range, inner, below } = element;
        match kind {
            ElementKind::Marked => {
                let inner = inner.unwrap_or(range.end..range.end);
                let marks = vec![range.start..inner.start, inner.end..range.end];
                self.pair(marks, None);
            }
            ElementKind::Fenced => self.fenced(&range),
            ElementKind::Heading => self.heading(range, inner),
            ElementKind::Paragraph => self.containers(&range),
            ElementKind::List if !below.is_empty() => self.found.lists.push(below),
            ElementKind::Entry if !below.is_empty() => {
                let end = line_end(self.text, range.start);
                let marks = lead(&self.text[range.start..end], BlockKind::Entry);
                let text = (range.start + marks).max(marker_end(self.text, &range))..end;
                // The line end behind it may go with what follows.
                let length = self.text[range.clone()].trim_end().len();
                let range = range.start..range.start + length;
                self.found.entries.push(EntryTree { text, range });
            }
            ElementKind::Table => {
                let text = &self.text[range.clone()];
                let columns = cells(text).into_iter().map(|it| text[it].trim().to_owned());
                let columns = columns.collect();
                let rule = (line_end(self.text, range.start) + 1).min(range.end);
                self.found.tables.push(Table { range, rule, columns });
            }
            ElementKind::Html => self.tags.read(self.text, range, &mut self.found.pairs),
            ElementKind::List | ElementKind::Entry | ElementKind::Other => {}
        }
        if matches!(tag, TagEnd::Paragraph | TagEnd::Heading(_) | TagEnd::TableCell | TagEnd::Item)
        {
            self.quotes.clear();
        }
    }

    fn pair(&mut self, mut marks: Vec<Range<usize>>, content: Option<Range<usize>>) {
        marks.retain(|it| !it.is_empty());
        if !marks.is_empty() {
            self.found.pairs.push(MarkPair { marks, content });
        }
    }

    /// Adds text between two runs of a character, such as backticks.
    fn run_of(&mut self, mark: char, range: &Range<usize>, with_content: bool) {
        let text = &self.text[range.clone()];
        let count = text.len() - text.trim_start_matches(mark).len();
        if 2 * count <= text.len() {
            let marks = vec![range.start..range.start + count, range.end - count..range.end];
            self.pair(marks, with_content.then(|| range.clone()));
        }
    }

    /// Adds the fences of a block. One that is never closed has the first one only.
    fn fenced(&mut self, range: &Range<usize>) {
        let text = self.text[range.clone()].trim_end();
        let first = text.lines().next().unwrap_or_default();
        let Some(mark) = first.chars().next() else { return };
        let run = |line: &str| line.len() - line.trim_start_matches(mark).len();
        let opening = range.start..range.start + run(first);
        let start = text.rfind('\n').map_or(0, |at| at + 1);
        let last = text[start..].trim_start_matches([' ', '\t', '>']);
        let begin = range.start + text.len() - last.len();
        let is_closed = start > 0 && (last.starts_with(mark) || last == "...");
        let closing = is_closed.then(|| begin..range.start + text.len());
        self.pair(std::iter::once(opening).chain(closing).collect(), Some(range.clone()));
    }

    /// Adds the underline of a heading.
    fn heading(&mut self, range: Range<usize>, inner: Option<Range<usize>>) {
        if self.text[range.clone()].starts_with('#') {
            return;
        }
        let end = range.start + self.text[range.clone()].trim_end().len();
        let start = inner.map_or(range.start, |it| it.end.min(end));
        let start = end - self.text[start..end].trim_start().len();
        self.pair(std::iter::once(start..end).collect(), Some(range));
    }

    /// Adds the containers that lines of a paragraph open or close.
    fn containers(&mut self, range: &Range<usize>) {
        if !self.text[range.clone()].contains(":::") {
            return;
        }
        let mut at = range.start;
        for line in self.text[range.clone()].split_inclusive('\n') {
            let body = line.trim();
            let start = at + line.len() - line.trim_start().len();
            at += line.len();
            if !body.starts_with(":::") {
                continue;
            }
            let mark = start..start + body.len();
            if body.bytes().all(|it| it == b':') {
                if let Some(open) = self.containers.pop() {
                    self.pair(vec![open, mark], None);
                }
            } else {
                self.containers.push(mark);
            }
        }
    }
}

/// Returns the beginning of the line of a place.
pub(super) fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |before| before + 1)
}

fn line_end(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |behind| at + behind)
}

fn width(text: &str, at: usize) -> usize {
    text[at..].chars().next().map_or(0, char::len_utf8)
}

/// Returns the end of the bullet or number of an entry.
fn marker_end(text: &str, entry: &Range<usize>) -> usize {
    let blank = |c: char| c.is_whitespace();
    text[entry.clone()].find(blank).map_or(entry.end, |length| entry.start + length)
}
