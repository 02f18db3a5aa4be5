//! Lists as browsers show them, wherever programs put the inner ones.

use crate::tree::{Block, Entry, Inline, List};

use super::dom::{Data, Id};
use super::flow::Flow;
use super::reader::{Context, Reader};

/// Lists that one element makes: more than one where its numbers jump.
#[derive(Debug, Default)]
struct Building {
    made: Vec<Block>,
    list: List,
}

impl Building {
    /// Adds an entry; it begins a new list if it does not go on with the last one.
    fn add(&mut self, number: Option<u64>, entry: Entry) {
        let count = self.list.entries.len() as u64;
        if count > 0 && self.list.start.map(|start| start.saturating_add(count)) != number {
            self.close();
        }
        if self.list.entries.is_empty() {
            self.list.start = number;
        }
        self.list.entries.push(entry);
    }

    fn close(&mut self) {
        let list = std::mem::take(&mut self.list);
        if !list.entries.is_empty() {
            self.made.push(Block::List(list));
        }
    }

    /// Adds blocks to the last entry. Inner lists without one are this list.
    fn add_to_last(&mut self, blocks: Vec<Block>) {
        for block in blocks {
            match (self.list.entries.last_mut(), block) {
                (Some(entry), block) => entry.blocks.push(block),
                (None, Block::List(list)) => self.list = list,
                (None, block) => {
                    self.list.entries.push(Entry { done: None, blocks: vec![block] });
                }
            }
        }
    }
}

impl Reader<'_> {
    /// Reads a list.
    pub fn list(&mut self, id: Id, context: Context, flow: &mut Flow) {
        let Some(mut inner) = context.nested() else { return self.children(id, context, flow) };
        inner.list_depth += 1;
        inner.is_task = false;
        let items = self.items(id);
        if self.has_levels(&items, inner.list_depth) {
            for item in items {
                match self.dom.name(item) {
                    "li" => self.leveled_entry(item, context, flow),
                    "ul" | "ol" => self.list(item, inner, flow),
                    _ => self.node(item, context, flow),
                }
            }
            return;
        }
        for block in self.lists(id, &items, inner) {
            flow.push(block);
        }
    }

    fn lists(&mut self, id: Id, items: &[Id], context: Context) -> Vec<Block> {
        let mut building = Building::default();
        let is_ordered = self.dom.name(id) == "ol";
        let is_reversed = self.dom.attribute(id, "reversed").is_some();
        let count = items.iter().filter(|it| self.dom.name(**it) == "li").count() as u64;
        let start = self.number(id, "start").unwrap_or(if is_reversed { count } else { 1 });
        let mut next = start;
        if is_ordered && self.has_letters(id) && count > 0 {
            self.report.decide("list with letters or Roman numbers");
        }
        for item in items {
            if self.found_notes.is_elsewhere(*item) {
                next = next.saturating_add(1);
                continue;
            }
            match (self.dom.name(*item), &self.dom.nodes[*item].data) {
                ("li", _) if self.is_left_out(*item) => {}
                ("li", _) => {
                    let mut entry = self.entry(*item, context);
                    let number = self.number(*item, "value").unwrap_or(next);
                    next = if is_reversed {
                        number.saturating_sub(1)
                    } else {
                        number.saturating_add(1)
                    };
                    if is_ordered && is_reversed {
                        self.report.decide("number as text");
                        prepend(&mut entry.blocks, &format!("{number}. "));
                    }
                    building.add(Some(number).filter(|_| is_ordered && !is_reversed), entry);
                }
                (_, Data::Text(text)) if text.trim().is_empty() => {}
                (_, Data::Comment(_)) => {}
                _ => {
                    let mut flow = Flow::default();
                    self.node(*item, context, &mut flow);
                    building.add_to_last(flow.finish(&self.links));
                }
            }
        }
        building.close();
        building.made
    }

    /// Returns what is in a list, without elements that only stand around entries.
    fn items(&self, id: Id) -> Vec<Id> {
        let mut items = Vec::new();
        for child in self.dom.children(id) {
            let name = self.dom.name(*child);
            let is_wrapper = self.dom.is_element(*child)
                && !matches!(name, "li" | "ul" | "ol" | "menu" | "dir")
                && self.dom.children(*child).iter().any(|it| self.dom.name(*it) == "li");
            if is_wrapper {
                items.extend(self.dom.children(*child));
            } else {
                items.push(*child);
            }
        }
        items
    }

    fn has_letters(&self, id: Id) -> bool {
        let style = super::style::Style::of(self.dom, id);
        let shown = style.get("list-style-type").unwrap_or_default().to_ascii_lowercase();
        matches!(self.dom.value(id, "type").trim(), "a" | "A" | "i" | "I")
            || ["alpha", "latin", "roman", "greek"].iter().any(|it| shown.ends_with(it))
    }

    pub fn number(&self, id: Id, attribute: &str) -> Option<u64> {
        self.dom.value(id, attribute).trim().parse().ok()
    }
}

/// Puts words before the first ones of an entry.
pub fn prepend(blocks: &mut Vec<Block>, words: &str) {
    let words = Inline::Text(words.to_owned());
    match blocks.first_mut() {
        Some(Block::Paragraph(content)) => content.insert(0, words),
        _ => blocks.insert(0, Block::Paragraph(vec![words])),
    }
}
