//! The elements of a page from top to bottom, made into blocks.

use crate::tree::{Block, Inline, Note};

use super::block_names::is_block_name;
use super::dom::{Data, Id};
use super::flow::{Flow, Marks};
use super::reader::{Context, Reader};
use super::style::{Style, White};

/// Elements within elements that are read one by one. Deeper ones give their words.
const DEEPEST: usize = 350;

impl Reader<'_> {
    /// Returns the blocks of the page.
    pub fn document(&mut self) -> Vec<Block> {
        self.blocks_of(0, Context::default())
    }

    /// Returns the notes that the page refers to, in the order of their references.
    pub fn notes(&mut self) -> Vec<Note> {
        let mut made = Vec::new();
        // Notes can refer to notes.
        while let Some((label, id)) = self.found_notes.next_referred() {
            let blocks = self.blocks_of(id, Context { is_entry: true, ..Context::default() });
            made.push(Note { label, blocks });
        }
        made
    }

    /// Returns what is in an element as blocks.
    pub fn blocks_of(&mut self, id: Id, context: Context) -> Vec<Block> {
        let mut flow = Flow::default();
        self.children(id, context, &mut flow);
        flow.finish(&self.links)
    }

    /// Reads what is in an element.
    pub fn children(&mut self, id: Id, context: Context, flow: &mut Flow) {
        let mut is_marker = false;
        for child in self.dom.children(id) {
            if let Data::Comment(words) = &self.dom.nodes[*child].data {
                is_marker = context.is_entry && super::office::begins_marker(words, is_marker);
            } else if !is_marker {
                self.node(*child, context, flow);
            }
        }
    }

    /// Reads a node.
    pub fn node(&mut self, id: Id, context: Context, flow: &mut Flow) {
        match &self.dom.nodes[id].data {
            Data::Text(text) => flow.text(text, context.marks, context.white),
            Data::Element { .. } if self.depth >= DEEPEST => {
                flow.text(&self.dom.text(id), context.marks, context.white);
            }
            Data::Element { .. } => {
                self.depth += 1;
                self.element(id, context, flow);
                self.depth -= 1;
            }
            Data::Root | Data::Comment(_) => {}
        }
    }

    fn element(&mut self, id: Id, context: Context, flow: &mut Flow) {
        if self.found_notes.is_elsewhere(id) {
            return;
        }
        if let Some(label) = self.found_notes.refer(id) {
            let marks = Marks { code: false, ..context.marks };
            return flow.inline(Inline::NoteReference(label), marks);
        }
        if self.formula(id, context, flow) || self.is_left_out(id) {
            return;
        }
        let style = Style::of(self.dom, id);
        let context = self.context_within(id, style, context);
        if self.office(id, style, context, flow) || self.is_code_block(id, style, context, flow) {
            return;
        }
        let is_block = is_block_name(self.dom.name(id))
            || style.is("display", "block")
            || style.is("display", "table")
            || style.is("display", "list-item");
        if is_block && !style.is("display", "inline") {
            self.block(id, context, flow);
        } else if let Some(level) = self.heading_level(id) {
            self.heading(id, level, context, flow);
        } else {
            self.inline_element(id, context, flow);
        }
    }

    fn block(&mut self, id: Id, context: Context, flow: &mut Flow) {
        flow.end_line(&self.links);
        if let Some(level) = self.heading_level(id) {
            return self.heading(id, level, context, flow);
        }
        match self.dom.name(id) {
            "ul" | "ol" | "menu" | "dir" => self.list(id, context, flow),
            "li" => self.leveled_entry(id, context, flow),
            "table" => self.table(id, context, flow),
            "hr" => flow.push(Block::Rule),
            "blockquote" => self.quote(id, context, flow),
            _ => self.children(id, context, flow),
        }
        flow.end_line(&self.links);
    }

    /// Reads a quotation.
    pub fn quote(&mut self, id: Id, context: Context, flow: &mut Flow) {
        let Some(inner) = context.nested() else { return self.children(id, context, flow) };
        let blocks = self.blocks_of(id, inner);
        if !blocks.is_empty() {
            flow.push(Block::Quote(blocks));
        }
    }

    fn heading_level(&self, id: Id) -> Option<u8> {
        let name = self.dom.name(id);
        if let Some(level) = name.strip_prefix('h').and_then(|level| level.parse::<u8>().ok()) {
            return (1..=6).contains(&level).then_some(level);
        }
        if self.dom.is(id, "role", "heading") {
            let level = self.dom.value(id, "aria-level").trim().parse::<u8>().unwrap_or(2);
            return Some(level.clamp(1, 6));
        }
        super::office::heading_level(self.dom, id)
    }

    fn heading(&mut self, id: Id, level: u8, mut context: Context, flow: &mut Flow) {
        flow.end_line(&self.links);
        context.is_heading = true;
        context.marks.strong = false;
        for block in self.blocks_of(id, context) {
            flow.push(match block {
                Block::Paragraph(words) => Block::Heading { level, content: words },
                other => other,
            });
        }
    }

    /// Returns what holds for the words of an element.
    fn context_within(&self, id: Id, style: Style<'_>, mut context: Context) -> Context {
        let marks = &mut context.marks;
        match self.dom.name(id) {
            "b" | "strong" => marks.strong = true,
            "i" | "em" | "cite" | "dfn" | "var" => marks.emphasis = true,
            "s" | "strike" | "del" => marks.struck = style.is_struck().unwrap_or(true),
            "code" | "samp" | "kbd" | "tt" => marks.code = true,
            "textarea" => context.white = White::Kept,
            _ => {}
        }
        marks.strong = style.is_bold().unwrap_or(marks.strong) && !context.is_heading;
        marks.emphasis = style.is_italic().unwrap_or(marks.emphasis);
        marks.struck |= style.is_struck() == Some(true);
        context.white = style.white().unwrap_or(context.white);
        if self.dom.attribute(id, "nowrap").is_some() {
            context.white = White::Collapsed;
        }
        context
    }
}
