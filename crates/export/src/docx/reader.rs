//! Markdown as a [flow](super::flow), read event by event, each item with its place in the source.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, CowStr, Event, OffsetIter, Tag, TagEnd};

use super::super::markdown;
use super::flow::{
    Alignment, BOLD, CODE, CharStyle, FORMULA, FlowItem, FlowNames, FlowToken, ITALIC, ListKind,
    PICTURE, Paragraph, ParagraphKind, STRUCK, TableCell,
};
use super::reader_state::{OpenPicture, ReaderContext, ReaderState};

/// Most bytes that a character takes in Markdown, written as an entity or behind a backslash.
const LONGEST_CHARACTER: usize = 40;

/// Words or an item that were read and are not yet given out.
enum Pending<'a> {
    Words {
        text: Cow<'a, str>,
        /// Part of `text` that has been given out, in bytes.
        done: usize,
        /// Rest of their place in the source.
        place: Range<usize>,
        style: CharStyle,
    },
    Item(FlowToken),
}

/// Reader of one text.
pub(super) struct FlowReader<'a> {
    source: &'a str,
    /// Place of `source` in the text.
    offset: usize,
    /// Added to the identifiers of lists, so that those of two texts differ.
    apart: usize,
    names: &'a RefCell<FlowNames>,
    /// Events that are not yet read; `None` at the end.
    events: Option<OffsetIter<'a>>,
    pending: VecDeque<Pending<'a>>,
    /// Place of the last item that was given out.
    last_at: usize,
    /// Line of the source in which the last paragraph ended.
    line: Range<usize>,
    state: ReaderState,
}

impl<'a> FlowReader<'a> {
    /// Reads a text from `offset` on. `apart` distinguishes the lists of one text from those of
    /// another.
    pub fn new(text: &'a str, offset: usize, apart: usize, names: &'a RefCell<FlowNames>) -> Self {
        let source = text.get(offset..).unwrap_or_default();
        Self {
            source,
            offset,
            apart,
            names,
            events: Some(markdown::parser(source).into_offset_iter()),
            pending: VecDeque::new(),
            last_at: 0,
            line: 0..0,
            state: ReaderState::default(),
        }
    }

    fn read(&mut self, event: Event<'a>, range: &Range<usize>) {
        match event {
            Event::Start(tag) => self.start(tag, range),
            Event::End(tag) => self.finish(tag, range),
            Event::Text(text) if matches!(self.state.block, Some(ParagraphKind::Code(_))) => {
                self.lines(&text, range);
            }
            Event::Text(text) => self.text(text, range.clone(), 0),
            Event::Code(text) => {
                let marks = self.source.get(range.clone()).unwrap_or_default();
                let marks = marks.len() - marks.trim_start_matches('`').len();
                self.text(text, range.start + marks..range.end, CODE);
            }
            Event::InlineHtml(html) if html.starts_with("<!--") => {}
            Event::InlineHtml(html) if html.to_ascii_lowercase().starts_with("<br") => {
                self.text("\n".into(), range.clone(), 0);
            }
            Event::InlineHtml(html) => self.text(html, range.clone(), CODE),
            Event::InlineMath(_) | Event::DisplayMath(_) => {
                // Formulas stay as they were written.
                let written = self.source.get(range.clone()).unwrap_or_default();
                self.text(written.replace('\n', " ").into(), range.clone(), FORMULA);
            }
            Event::Html(html) => self.html(&html, range),
            Event::SoftBreak if markdown::is_end_without_blank(self.source, range) => {}
            Event::SoftBreak => self.text(" ".into(), range.clone(), 0),
            Event::HardBreak => self.text("\n".into(), range.clone(), 0),
            Event::TaskListMarker(done) => {
                self.text(if done { "☒ " } else { "☐ " }.into(), range.clone(), 0);
            }
            Event::FootnoteReference(name) => self.reference(&name, range),
            Event::Rule => {
                self.state.end = range.start;
                self.end_paragraph(ParagraphKind::Rule);
            }
        }
    }

    fn start(&mut self, tag: Tag, range: &Range<usize>) {
        match tag {
            Tag::Emphasis => self.state.look(ITALIC, None),
            Tag::Strong => self.state.look(BOLD, None),
            Tag::Strikethrough => self.state.look(STRUCK, None),
            Tag::Image { dest_url, .. } => {
                let link = self.names.borrow_mut().link(&dest_url);
                let (address, is_linked) = (dest_url.into_string(), link.is_some());
                self.state.pictures.push(OpenPicture { address, is_linked, is_empty: true });
                self.state.look(PICTURE, link);
            }
            Tag::Link { dest_url, .. } => {
                let link = self.names.borrow_mut().link(&dest_url);
                self.state.look(0, link);
            }
            Tag::Superscript | Tag::Subscript => self.state.look(0, None),
            Tag::TableCell => {}
            Tag::Paragraph if std::mem::take(&mut self.state.is_after_label) => {}
            block => {
                self.close();
                self.state.end = self.state.end.max(range.start);
                self.start_block(block, range);
            }
        }
    }

    fn start_block(&mut self, tag: Tag, range: &Range<usize>) {
        match tag {
            Tag::Heading { level, .. } => {
                self.state.block = Some(ParagraphKind::Heading(level as u8));
            }
            Tag::CodeBlock(CodeBlockKind::Fenced(info)) => {
                let language = self.names.borrow_mut().language(&info);
                self.state.block = Some(ParagraphKind::Code(language));
            }
            Tag::CodeBlock(CodeBlockKind::Indented) => {
                self.state.block = Some(ParagraphKind::Code(None));
            }
            Tag::HtmlBlock => {
                self.state.comments.begin(self.source, range);
                self.state.block = Some(ParagraphKind::Code(None));
            }
            Tag::BlockQuote(_) => self.state.around.push(ReaderContext::Quote),
            Tag::List(None) => self.state.around.push(ReaderContext::List(ListKind::Bullets)),
            Tag::List(Some(start)) => {
                let id = (self.apart + self.offset + range.start) as u32;
                let start = u32::try_from(start).unwrap_or(u32::MAX);
                self.state.around.push(ReaderContext::List(ListKind::Numbers { id, start }));
            }
            Tag::Item => self.state.around.push(ReaderContext::Item { is_new: true }),
            Tag::FootnoteDefinition(name) => self.start_note(&name, range),
            Tag::Table(alignments) => self.state.columns = alignments,
            Tag::TableHead => {
                self.state.look(BOLD, None);
                (self.state.is_head, self.state.column) = (true, 0);
            }
            Tag::TableRow => (self.state.is_head, self.state.column) = (false, 0),
            _ => {}
        }
    }

    fn finish(&mut self, tag: TagEnd, range: &Range<usize>) {
        match tag {
            TagEnd::Image => self.end_picture(range),
            TagEnd::Emphasis
            | TagEnd::Strong
            | TagEnd::Strikethrough
            | TagEnd::Link
            | TagEnd::Superscript
            | TagEnd::Subscript => {
                self.state.looks.pop();
                self.state.end = range.end;
            }
            TagEnd::TableCell => self.end_cell(range.end),
            TagEnd::TableHead => _ = self.state.looks.pop(),
            TagEnd::TableRow => {}
            TagEnd::Heading(level) => {
                // An empty heading is a heading.
                self.end_paragraph(ParagraphKind::Heading(level as u8));
                self.state.block = None;
            }
            TagEnd::Item => {
                self.close();
                if matches!(self.state.around.last(), Some(ReaderContext::Item { is_new: true })) {
                    self.end_paragraph(ParagraphKind::Text);
                }
                self.state.around.pop();
            }
            TagEnd::FootnoteDefinition => {
                self.close();
                self.state.around.pop_if(|around| matches!(around, ReaderContext::Note(_)));
                self.state.note = self.state.around.iter().rev().find_map(ReaderContext::note);
            }
            TagEnd::BlockQuote(_) | TagEnd::List(_) => {
                self.close();
                self.state.around.pop();
            }
            _ => {
                self.close();
                self.state.block = None;
            }
        }
    }

    /// Adds words of a paragraph, with the style here and `style`.
    fn text(&mut self, text: CowStr<'a>, place: Range<usize>, style: u8) {
        let text = match text {
            CowStr::Borrowed(text) => Cow::Borrowed(text),
            other => Cow::Owned(other.into_string()),
        };
        self.words(text, place, style);
    }

    fn words(&mut self, text: Cow<'a, str>, place: Range<usize>, style: u8) {
        if let Some(picture) = self.state.pictures.last_mut() {
            picture.is_empty &= text.is_empty();
        }
        let style = self.state.style(style);
        self.state.is_open = true;
        self.state.end = self.state.end.max(place.end);
        self.pending.push_back(Pending::Words { text, done: 0, place, style });
    }

    /// Adds lines of code: each is a paragraph.
    fn lines(&mut self, text: &str, range: &Range<usize>) {
        let kind = self.state.block.unwrap_or_default();
        let mut at = range.start;
        for line in text.split_inclusive('\n') {
            let words = line.trim_end_matches('\n');
            self.words(words.to_owned().into(), at..at + words.len(), 0);
            at = (at + line.len()).min(range.end);
            if line.ends_with('\n') {
                self.end_paragraph(kind);
            }
        }
    }

    /// Adds lines of HTML, without comments. A line with nothing but comments is none.
    fn html(&mut self, html: &str, range: &Range<usize>) {
        let mut at = range.start;
        for line in html.split_inclusive('\n') {
            let visible = self.state.comments.visible(line, at);
            let is_whole = visible.len() == 1 && visible[0] == (0..line.len());
            for part in visible {
                let words = line[part.clone()].trim_end_matches('\n');
                if is_whole || !words.trim().is_empty() {
                    let place = at + part.start..at + part.start + words.len();
                    self.words(words.to_owned().into(), place, 0);
                }
            }
            at += line.len();
            if line.ends_with('\n') {
                self.close();
            }
        }
    }

    fn reference(&mut self, name: &str, range: &Range<usize>) {
        let note = self.names.borrow().note(name).filter(|_| self.state.note.is_none());
        match note {
            Some(note) => {
                let glyph = FlowItem::Note(note, self.state.style(0));
                self.push(range.start, glyph);
                self.state.is_open = true;
                self.state.end = self.state.end.max(range.end);
            }
            // Word has no notes in notes.
            None => self.text(format!("[^{name}]").into(), range.clone(), 0),
        }
    }

    /// Begins a footnote. One without a reference stays in the text, with its label.
    fn start_note(&mut self, name: &str, range: &Range<usize>) {
        let note = self.names.borrow().note(name);
        if let Some(note) = note {
            self.state.around.push(ReaderContext::Note(note));
            self.state.note = Some(note);
            return;
        }
        let label = format!("[^{name}]: ");
        let end = range.end.min(range.start + label.len());
        self.text(label.into(), range.start..end, 0);
        self.state.is_after_label = true;
    }

    fn end_picture(&mut self, range: &Range<usize>) {
        if let Some(picture) = self.state.pictures.pop() {
            let last = range.end.saturating_sub(1)..range.end;
            // The address can be seen where it cannot be followed.
            match (picture.is_linked, picture.is_empty) {
                (true, false) => {}
                (_, true) => self.text(picture.address.into(), last, 0),
                (false, false) => self.text(format!(" ({})", picture.address).into(), last, 0),
            }
        }
        self.state.looks.pop();
        self.state.end = range.end;
    }

    /// Ends the paragraph, if one is being read.
    fn close(&mut self) {
        if self.state.is_open {
            self.end_paragraph(self.state.block.unwrap_or_default());
        }
    }

    /// Ends a cell, which may be empty.
    fn end_cell(&mut self, at: usize) {
        let ReaderState { column, ref columns, is_head, .. } = self.state;
        let alignment = columns.get(column as usize).copied().unwrap_or(Alignment::None);
        let columns = columns.len() as u32;
        let cell = TableCell { column, columns, is_head, alignment };
        self.state.column += 1;
        self.state.end = self.state.end.max(at);
        let paragraph = Paragraph {
            kind: ParagraphKind::Cell(cell),
            note: self.state.note,
            ..Paragraph::default()
        };
        self.push(at, FlowItem::End(paragraph));
        self.state.is_open = false;
    }

    /// Ends a paragraph. The end has the place of the line end after its last character: that
    /// changes only with the line end itself.
    fn end_paragraph(&mut self, kind: ParagraphKind) {
        self.state.is_after_label = false;
        let end = self.state.end;
        // A line in which many paragraphs end is searched once.
        if !self.line.contains(&end) {
            let rest = self.source.get(end..).unwrap_or_default();
            self.line = end..end + rest.find('\n').unwrap_or(rest.len());
        }
        let paragraph = self.state.paragraph(kind);
        self.push(self.line.end, FlowItem::End(paragraph));
        self.state.is_open = false;
        for around in &mut self.state.around {
            if let ReaderContext::Item { is_new } = around {
                *is_new = false;
            }
        }
    }

    fn push(&mut self, at: usize, glyph: FlowItem) {
        self.pending.push_back(Pending::Item(FlowToken { at: at + self.offset, glyph }));
    }

    /// Takes the next item of what is pending.
    fn take(&mut self) -> Option<FlowToken> {
        loop {
            match self.pending.front_mut()? {
                Pending::Item(token) => {
                    let token = *token;
                    self.pending.pop_front();
                    return Some(token);
                }
                Pending::Words { text, done, place, style } => {
                    let Some(c) = text.get(*done..).and_then(|rest| rest.chars().next()) else {
                        self.pending.pop_front();
                        continue;
                    };
                    *done += c.len_utf8();
                    let at = find(self.source, place, c) + self.offset;
                    return Some(FlowToken { at, glyph: FlowItem::Char(c, *style) });
                }
            }
        }
    }
}

impl Iterator for FlowReader<'_> {
    type Item = FlowToken;

    fn next(&mut self) -> Option<FlowToken> {
        loop {
            if let Some(token) = self.take() {
                self.last_at = self.last_at.max(token.at);
                return Some(FlowToken { at: self.last_at, ..token });
            }
            if let Some((event, range)) = self.events.as_mut()?.next() {
                self.read(event, &range);
            } else {
                self.events = None;
                self.close();
            }
        }
    }
}

/// Returns the place of the next character of some words, of whose source `place` is left, and
/// moves `place` behind it. Words can differ from their source: by backslashes, entities and line
/// ends.
fn find(source: &str, place: &mut Range<usize>, c: char) -> usize {
    let rest = source.get(place.clone()).unwrap_or_default();
    let near = rest.char_indices().take_while(|(at, _)| *at < LONGEST_CHARACTER);
    let is_it = |written: char| written == c || (c == ' ' && written == '\n');
    match near.into_iter().find(|(_, written)| is_it(*written)) {
        Some((at, written)) => {
            let found = place.start + at;
            place.start = found + written.len_utf8();
            found
        }
        None => place.start.min(place.end.saturating_sub(1)),
    }
}
