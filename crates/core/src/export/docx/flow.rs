//! Markdown as a sequence of characters and ends of paragraphs, each with its place in the source.

use std::collections::HashMap;
use std::ops::Range;

pub(super) use pulldown_cmark::Alignment;
use pulldown_cmark::{Event, Parser, Tag, TagEnd};

use super::super::html;

/// Style of a character.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct CharStyle {
    /// Sum of [`BOLD`], [`ITALIC`], [`STRUCK`] and [`CODE`].
    pub style: u8,
    /// Address of its link, by number in [`LinkTargets`].
    pub link: Option<usize>,
}

pub(super) const BOLD: u8 = 1;
pub(super) const ITALIC: u8 = 2;
pub(super) const STRUCK: u8 = 4;
pub(super) const CODE: u8 = 8;

/// Kind of a paragraph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ParagraphKind {
    Body,
    /// Heading of level 1 to 6.
    Heading(u8),
    Quote,
    /// One line of code.
    Code,
    /// First paragraph of a list item; levels count from 0.
    Item(ListKind, u8),
    /// Further paragraph of a list item.
    More(u8),
    Rule,
    Cell(TableCell),
}

impl ParagraphKind {
    pub fn cell(self) -> Option<TableCell> {
        match self {
            Self::Cell(cell) => Some(cell),
            _ => None,
        }
    }
}

/// Cell of a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TableCell {
    /// Column, counted from 0.
    pub column: usize,
    /// Number of columns of its row.
    pub columns: usize,
    /// `true` in the heading row.
    pub is_head: bool,
    pub alignment: Alignment,
}

impl Eq for TableCell {}

impl TableCell {
    /// Returns the column and the number of columns.
    pub fn place(self) -> (usize, usize) {
        (self.column, self.columns)
    }
}

/// Kind of a list.
#[derive(Clone, Copy, Debug)]
pub(super) enum ListKind {
    Bullets,
    /// Numbered list. Its place in the source (`id`) distinguishes it from other lists, which count
    /// anew.
    Numbers {
        id: usize,
        start: u64,
    },
}

/// Ignores the place of a list, because it moves with the text before the list.
impl PartialEq for ListKind {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Bullets, Self::Bullets) => true,
            (Self::Numbers { start, .. }, Self::Numbers { start: theirs, .. }) => start == theirs,
            (Self::Bullets, Self::Numbers { .. }) | (Self::Numbers { .. }, Self::Bullets) => false,
        }
    }
}

impl Eq for ListKind {}

/// Item of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FlowItem {
    /// Character; `
    /// ` breaks the line within a paragraph.
    Char(char, CharStyle),
    /// End of a paragraph.
    End(ParagraphKind),
}

/// Item and the byte of the source it comes from. Places never decrease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FlowToken {
    pub at: usize,
    pub glyph: FlowItem,
}

/// Addresses of links.
#[derive(Debug, Default)]
pub(super) struct LinkTargets {
    known: HashMap<String, usize>,
    /// Addresses in the order of their first use.
    pub addresses: Vec<String>,
}

impl LinkTargets {
    /// Returns the number of an address; `None` for a scheme that is not safe to link.
    fn number(&mut self, address: &str) -> Option<usize> {
        let scheme = address.split_once(':').map(|(scheme, _)| scheme.to_ascii_lowercase());
        if !matches!(scheme.as_deref(), Some("http" | "https" | "mailto")) {
            return None;
        }
        let Self { known, addresses } = self;
        Some(*known.entry(address.to_owned()).or_insert_with(|| {
            addresses.push(address.to_owned());
            addresses.len() - 1
        }))
    }
}

/// Block that encloses the reader's place.
enum ReaderContext {
    Quote,
    List(ListKind),
    Item { is_new: bool },
}

impl ReaderContext {
    fn list(&self) -> Option<ListKind> {
        match self {
            Self::List(list) => Some(*list),
            Self::Quote | Self::Item { .. } => None,
        }
    }
}

struct FlowReader<'a> {
    source: &'a str,
    links: &'a mut LinkTargets,
    /// Added to the identifiers of lists, so that those of two texts differ.
    apart: usize,
    tokens: Vec<FlowToken>,
    around: Vec<ReaderContext>,
    /// Kind of the current paragraph, if it does not follow from [`Self::around`].
    block: Option<ParagraphKind>,
    looks: Vec<CharStyle>,
    /// Alignments of the columns of the table.
    columns: Vec<Alignment>,
    /// Column of the current cell.
    column: usize,
    is_head: bool,
    /// `true` if characters of the paragraph have been read.
    is_open: bool,
    /// End of the source that was read, in bytes.
    end: usize,
}

/// Reads a document. `apart` distinguishes the lists of one text from those of another.
pub(super) fn read(source: &str, apart: usize, links: &mut LinkTargets) -> Vec<FlowToken> {
    let mut reader = FlowReader {
        source,
        links,
        apart,
        tokens: Vec::with_capacity(source.len()),
        around: Vec::new(),
        block: None,
        looks: Vec::new(),
        columns: Vec::new(),
        column: 0,
        is_head: false,
        is_open: false,
        end: 0,
    };
    for (event, range) in Parser::new_ext(source, html::options()).into_offset_iter() {
        reader.read(event, range);
    }
    reader.close();
    reader.tokens
}

impl FlowReader<'_> {
    fn read(&mut self, event: Event, range: Range<usize>) {
        match event {
            Event::Start(tag) => self.start(tag, &range),
            Event::End(tag) => self.finish(tag, &range),
            Event::Text(text) if self.block == Some(ParagraphKind::Code) => {
                self.lines(&text, &range);
            }
            Event::Text(text) => self.text(&text, &range, 0),
            Event::Code(text) => self.text(&text, &(range.start + 1..range.end), CODE),
            Event::InlineHtml(html) if html.to_ascii_lowercase().starts_with("<br") => {
                self.text("\n", &range, 0);
            }
            Event::InlineHtml(html) | Event::InlineMath(html) | Event::DisplayMath(html) => {
                self.text(&html, &range, CODE);
            }
            Event::Html(html) => self.lines(&html, &range),
            Event::SoftBreak => self.text(" ", &range, 0),
            Event::HardBreak => self.text("\n", &range, 0),
            Event::TaskListMarker(done) => self.text(html::task(done), &range, 0),
            Event::FootnoteReference(name) => self.text(&format!("[^{name}]"), &range, 0),
            Event::Rule => {
                self.end = range.start;
                self.end_paragraph(ParagraphKind::Rule);
            }
        }
    }

    fn start(&mut self, tag: Tag, range: &Range<usize>) {
        match tag {
            // Of an image only its description is exported.
            Tag::Emphasis | Tag::Image { .. } => self.look(ITALIC, None),
            Tag::Strong => self.look(BOLD, None),
            Tag::Strikethrough => self.look(STRUCK, None),
            Tag::Link { dest_url, .. } => {
                let link = self.links.number(&dest_url);
                self.look(0, link);
            }
            Tag::Superscript | Tag::Subscript => self.look(0, None),
            Tag::TableCell => {}
            block => {
                self.close();
                self.end = self.end.max(range.start);
                self.start_block(block, range);
            }
        }
    }

    fn start_block(&mut self, tag: Tag, range: &Range<usize>) {
        match tag {
            Tag::Heading { level, .. } => self.block = Some(ParagraphKind::Heading(level as u8)),
            Tag::CodeBlock(_) | Tag::HtmlBlock => self.block = Some(ParagraphKind::Code),
            Tag::BlockQuote(_) => self.around.push(ReaderContext::Quote),
            Tag::List(None) => self.around.push(ReaderContext::List(ListKind::Bullets)),
            Tag::List(Some(start)) => {
                let id = self.apart + range.start;
                self.around.push(ReaderContext::List(ListKind::Numbers { id, start }));
            }
            Tag::Item => self.around.push(ReaderContext::Item { is_new: true }),
            Tag::Table(alignments) => self.columns = alignments,
            Tag::TableHead => {
                self.look(BOLD, None);
                (self.is_head, self.column) = (true, 0);
            }
            Tag::TableRow => (self.is_head, self.column) = (false, 0),
            _ => {}
        }
    }

    fn finish(&mut self, tag: TagEnd, range: &Range<usize>) {
        match tag {
            TagEnd::Emphasis
            | TagEnd::Strong
            | TagEnd::Strikethrough
            | TagEnd::Link
            | TagEnd::Image
            | TagEnd::Superscript
            | TagEnd::Subscript => {
                self.looks.pop();
                self.end = range.end;
            }
            TagEnd::TableCell => self.end_cell(range.end),
            TagEnd::TableHead => _ = self.looks.pop(),
            TagEnd::TableRow => {}
            TagEnd::Heading(level) => {
                // An empty heading is a heading.
                self.end_paragraph(ParagraphKind::Heading(level as u8));
                self.block = None;
            }
            TagEnd::Item => {
                self.close();
                if matches!(self.around.last(), Some(ReaderContext::Item { is_new: true })) {
                    self.end_paragraph(self.paragraph());
                }
                self.around.pop();
            }
            TagEnd::BlockQuote(_) | TagEnd::List(_) => {
                self.close();
                self.around.pop();
            }
            _ => {
                self.close();
                self.block = None;
            }
        }
    }

    /// Enters a style within the current one: both apply.
    fn look(&mut self, style: u8, link: Option<usize>) {
        let around = self.looks.last().copied().unwrap_or_default();
        self.looks.push(CharStyle { style: around.style | style, link: link.or(around.link) });
    }

    /// Adds characters of a paragraph. Text that differs from its source, such as `&amp;`, covers
    /// all of its source.
    fn text(&mut self, text: &str, range: &Range<usize>, style: u8) {
        let mut look = self.looks.last().copied().unwrap_or_default();
        look.style |= style;
        let last = range.end.saturating_sub(1).max(range.start);
        for (offset, c) in text.char_indices() {
            self.push((range.start + offset).min(last), FlowItem::Char(c, look));
        }
        self.is_open = true;
        self.end = self.end.max(range.end);
    }

    /// Adds lines of code: each is a paragraph.
    fn lines(&mut self, text: &str, range: &Range<usize>) {
        let mut at = range.start;
        for line in text.split_inclusive('\n') {
            let words = line.trim_end_matches('\n');
            self.text(words, &(at..at + words.len()), 0);
            at = (at + line.len()).min(range.end);
            if line.ends_with('\n') {
                self.end_paragraph(ParagraphKind::Code);
            }
        }
    }

    /// Ends the paragraph, if one is being read.
    fn close(&mut self) {
        if self.is_open {
            self.end_paragraph(self.block.unwrap_or_else(|| self.paragraph()));
        }
    }

    /// Ends a cell, which may be empty.
    fn end_cell(&mut self, at: usize) {
        let columns = self.columns.len();
        let alignment = self.columns.get(self.column).copied().unwrap_or(Alignment::None);
        let cell = TableCell { column: self.column, columns, is_head: self.is_head, alignment };
        self.column += 1;
        self.end = self.end.max(at);
        self.push(at, FlowItem::End(ParagraphKind::Cell(cell)));
        self.is_open = false;
    }

    /// Ends a paragraph. The end has the place of the line end after its last character: that
    /// changes only with the line end itself.
    fn end_paragraph(&mut self, paragraph: ParagraphKind) {
        let rest = self.source.get(self.end..).unwrap_or_default();
        let at = self.end + rest.find('\n').unwrap_or(rest.len());
        self.push(at, FlowItem::End(paragraph));
        self.is_open = false;
        for around in &mut self.around {
            if let ReaderContext::Item { is_new } = around {
                *is_new = false;
            }
        }
    }

    fn push(&mut self, at: usize, glyph: FlowItem) {
        let before = self.tokens.last().map_or(0, |token| token.at);
        self.tokens.push(FlowToken { at: at.max(before), glyph });
    }

    /// Returns the kind of a paragraph here, from the blocks around it.
    fn paragraph(&self) -> ParagraphKind {
        let lists: Vec<ListKind> = self.around.iter().filter_map(ReaderContext::list).collect();
        let level = lists.len().saturating_sub(1).min(8) as u8;
        match (self.around.last(), lists.last()) {
            (Some(ReaderContext::Item { is_new: true }), Some(list)) => {
                ParagraphKind::Item(*list, level)
            }
            (Some(ReaderContext::Item { .. }), _) => ParagraphKind::More(level),
            (Some(ReaderContext::Quote), _) => ParagraphKind::Quote,
            _ => ParagraphKind::Body,
        }
    }
}
