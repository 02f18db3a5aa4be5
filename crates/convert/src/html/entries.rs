//! Entries of lists: tasks, and levels that programs give as numbers.

use crate::tree::{Block, Entry, Inline};

use super::dom::{Data, Id};
use super::flow::Flow;
use super::leveled::LeveledEntry;
use super::reader::{Context, Reader};

impl Reader<'_> {
    /// Returns an entry of a list.
    pub fn entry(&mut self, id: Id, mut context: Context) -> Entry {
        let mut done = self.task(id);
        context.is_task = done.is_some();
        context.is_entry = true;
        let mut blocks = self.blocks_of(id, context);
        if done.is_none() && self.is_of_notion {
            done = take_brackets(&mut blocks);
        }
        Entry { done, blocks }
    }

    /// Returns whether an entry is a task that is done.
    fn task(&self, id: Id) -> Option<bool> {
        let dom = self.dom;
        if dom.is(id, "role", "checkbox") || dom.is(id, "role", "menuitemcheckbox") {
            return Some(dom.is(id, "aria-checked", "true"));
        }
        match dom.value(id, "data-list") {
            "checked" => return Some(true),
            "unchecked" => return Some(false),
            _ => {}
        }
        if let Some(checked) = dom.attribute(id, "data-checked") {
            return Some(matches!(checked, "" | "true" | "checked"));
        }
        self.box_of(id, 0)
    }

    /// Returns whether the box that an entry begins with is ticked.
    fn box_of(&self, id: Id, depth: usize) -> Option<bool> {
        let dom = self.dom;
        for child in dom.children(id) {
            if let Data::Text(text) = &dom.nodes[*child].data
                && !text.trim().is_empty()
            {
                return None;
            }
            if dom.name(*child) == "input" && dom.is(*child, "type", "checkbox") {
                return Some(dom.attribute(*child, "checked").is_some());
            }
            if dom.is(*child, "role", "checkbox") {
                return Some(dom.is(*child, "aria-checked", "true"));
            }
            if dom.has_class(*child, &["checkbox-on"]) {
                return Some(true);
            }
            if dom.has_class(*child, &["checkbox-off"]) {
                return Some(false);
            }
            let is_list = matches!(dom.name(*child), "ul" | "ol" | "li");
            if depth < 6 && dom.is_element(*child) && !is_list {
                if let Some(done) = self.box_of(*child, depth + 1) {
                    return Some(done);
                }
                if dom.has_words(*child) {
                    return None;
                }
            }
        }
        None
    }

    /// Returns whether the levels of entries are in their attributes and not in lists.
    pub fn has_levels(&self, items: &[Id], depth: usize) -> bool {
        let entries = items.iter().filter(|it| self.dom.name(**it) == "li");
        entries.into_iter().any(|it| {
            self.dom.attribute(*it, "data-aria-level").is_some()
                || self.dom.attribute(*it, "data-list").is_some()
                || self.level(*it).is_some_and(|level| level != depth)
        })
    }

    /// Returns the level that an entry names.
    fn level(&self, id: Id) -> Option<usize> {
        let named = ["data-aria-level", "aria-level"];
        let level = named.iter().find_map(|it| self.number(id, it));
        let indented = self.dom.classes(id).find_map(|it| it.strip_prefix("ql-indent-"));
        let indented = indented.and_then(|it| it.parse::<u64>().ok());
        let level = level.or_else(|| indented.map(|it| it.saturating_add(1)))?;
        usize::try_from(level.clamp(1, 20)).ok()
    }

    /// Reads an entry whose level is a number, or that stands in no list.
    pub fn leveled_entry(&mut self, id: Id, context: Context, flow: &mut Flow) {
        flow.end_line(&self.links);
        if self.found_notes.is_elsewhere(id) || self.is_left_out(id) {
            return;
        }
        let level = self.level(id).unwrap_or(if self.dom.attribute(id, "data-list").is_some() {
            1
        } else {
            context.list_depth + 1
        });
        let Some(mut inner) = context.nested() else { return self.children(id, context, flow) };
        inner.list_depth = level;
        let parent = self.dom.nodes[id].parent.filter(|it| self.dom.name(*it) == "ol");
        let is_ordered = match self.dom.value(id, "data-list") {
            "" => parent.is_some(),
            kind => kind == "ordered",
        };
        let is_first = |list: &Id| {
            let before = &self.dom.children(*list)[..self.dom.nodes[id].at];
            before.iter().rev().all(|it| self.dom.name(*it) != "li")
        };
        let start = parent.filter(is_first).and_then(|it| self.number(it, "start"));
        let number = is_ordered.then(|| {
            let stated = self.number(id, "value").or(start);
            stated.unwrap_or_else(|| flow.leveled.next_number(level))
        });
        let entry = self.entry(id, inner);
        flow.leveled.0.push(LeveledEntry { level, number, entry });
    }
}

/// Takes `[ ]` or `[x]` off the beginning of an entry.
fn take_brackets(blocks: &mut [Block]) -> Option<bool> {
    let Some(Block::Paragraph(content)) = blocks.first_mut() else { return None };
    let Some(Inline::Text(words)) = content.first_mut() else { return None };
    let done = match words.get(..3)? {
        "[ ]" => false,
        "[x]" | "[X]" => true,
        _ => return None,
    };
    *words = words[3..].trim_start().to_owned();
    Some(done)
}
