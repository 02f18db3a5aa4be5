//! Footnotes: links to a place that links back.

use std::collections::{HashMap, HashSet};

use super::dom::{Dom, Id};
use super::style::Style;

/// Longest words of a reference, in characters, such as `[12]`.
const LONGEST_MARK: usize = 8;

/// Footnotes of a page.
#[derive(Debug, Default)]
pub struct Notes {
    /// Content of the note that an element refers to.
    references: HashMap<Id, Id>,
    /// Elements that are notes, their links back, and lines before them.
    elsewhere: HashSet<Id>,
    /// Notes in the order of their first references.
    order: Vec<Id>,
    written: usize,
}

impl Notes {
    /// Finds the notes of a page.
    pub fn find(dom: &Dom) -> Self {
        let mut named: HashMap<&str, Id> = HashMap::new();
        let mut links = Vec::new();
        for id in dom.within(0) {
            for name in [dom.value(id, "id"), dom.value(id, "name")] {
                if !name.is_empty() {
                    named.entry(name).or_insert(id);
                }
            }
            if dom.name(id) == "a" && !fragment(dom, id).is_empty() {
                links.push(id);
            }
        }
        // Places that link back, by the name that they lead to.
        let mut backs: HashMap<&str, Vec<Id>> = HashMap::new();
        for link in &links {
            backs.entry(fragment(dom, *link)).or_default().push(*link);
        }
        let mut notes = Self::default();
        for link in links.iter().filter(|it| is_mark(dom, **it)) {
            notes.add(dom, *link, &named, &backs);
        }
        notes
    }

    fn add(
        &mut self,
        dom: &Dom,
        link: Id,
        named: &HashMap<&str, Id>,
        backs: &HashMap<&str, Vec<Id>>,
    ) {
        if self.elsewhere.contains(&link) {
            return;
        }
        let Some(target) = named.get(fragment(dom, link)).copied() else { return };
        let Some(note) = container(dom, target) else { return };
        if note == link || dom.ancestors(link).any(|it| it == note) {
            return;
        }
        let around = || std::iter::once(link).chain(dom.ancestors(link).take(2));
        let anchors = around().flat_map(|it| [dom.value(it, "id"), dom.value(it, "name")]);
        let back: Vec<Id> = anchors
            .filter(|name| !name.is_empty())
            .filter_map(|name| backs.get(name))
            .flatten()
            .copied()
            .filter(|back| dom.ancestors(*back).any(|it| it == note))
            .collect();
        if back.is_empty() {
            return;
        }
        for back in back {
            let raised = dom.nodes[back]
                .parent
                .filter(|it| dom.name(*it) == "sup" && dom.words(*it) == dom.words(back));
            self.elsewhere.extend([Some(back), raised].into_iter().flatten());
        }
        self.elsewhere.insert(note);
        self.leave_out_beside(dom, note);
        self.references.insert(link, note);
    }

    /// Leaves out the line and the heading before the notes.
    fn leave_out_beside(&mut self, dom: &Dom, note: Id) {
        for around in std::iter::once(note).chain(dom.ancestors(note).take(2)) {
            let mut beside = dom.sibling(around, -1);
            for _ in 0..2 {
                let Some(it) = beside.filter(|it| is_before_notes(dom, *it)) else { break };
                self.elsewhere.insert(it);
                beside = dom.sibling(it, -1);
            }
        }
    }

    /// Returns whether an element is read as part of a note, or not at all.
    pub fn is_elsewhere(&self, id: Id) -> bool {
        self.elsewhere.contains(&id)
    }

    /// Returns whether an element refers to a note.
    pub fn is_reference(&self, id: Id) -> bool {
        self.references.contains_key(&id)
    }

    /// Returns the label of the note that an element refers to.
    pub fn refer(&mut self, id: Id) -> Option<String> {
        let note = *self.references.get(&id)?;
        let at = self.order.iter().position(|it| *it == note).unwrap_or_else(|| {
            self.order.push(note);
            self.order.len() - 1
        });
        Some((at + 1).to_string())
    }

    /// Returns the label and the element of the next note that is referred to.
    pub fn next_referred(&mut self) -> Option<(String, Id)> {
        let id = *self.order.get(self.written)?;
        self.written += 1;
        Some((self.written.to_string(), id))
    }
}

/// Returns what follows `#` in the address of a link.
fn fragment(dom: &Dom, id: Id) -> &str {
    dom.value(id, "href").split_once('#').map(|(_, fragment)| fragment).unwrap_or_default()
}

/// Returns whether the words of a link are the mark of a note.
fn is_mark(dom: &Dom, id: Id) -> bool {
    let words = dom.words(id);
    let mark = words.trim_matches(['[', ']', '(', ')', ' ']);
    let is_number = !mark.is_empty() && mark.chars().all(|sign| sign.is_ascii_digit());
    let is_short = words.chars().count() <= LONGEST_MARK;
    let is_sign = !mark.is_empty()
        && mark.chars().count() <= 3
        && !mark.starts_with(['↑', '↩', '^'])
        && !mark.contains('\u{fe0e}');
    is_short && (is_number || is_sign || mark.starts_with("note "))
}

/// Returns the element that holds a note, around the place that a reference leads to.
fn container(dom: &Dom, target: Id) -> Option<Id> {
    let is_note = |it: &Id| {
        let style = Style::of(dom, *it);
        dom.name(*it) == "li"
            || style.is("mso-element", "footnote") && !style.is("mso-element", "footnote-")
            || style.is("mso-element", "endnote") && !style.is("mso-element", "endnote-")
    };
    let around = || std::iter::once(target).chain(dom.ancestors(target).take(6));
    if let Some(note) = around().find(is_note) {
        return Some(note);
    }
    let paragraph =
        around().find(|it| matches!(dom.name(*it), "p" | "div" | "dd" | "aside" | "section"))?;
    // Google Docs puts the paragraphs of each note into an element of their own.
    let outer = dom.nodes[paragraph].parent.filter(|it| {
        dom.name(*it) == "div"
            && dom.name(paragraph) == "p"
            && dom.children(*it).iter().all(|it| dom.name(*it) == "p" || !dom.is_element(*it))
            && dom.within(*it).filter(|it| fragment(dom, *it).contains("ftnt_ref")).count() == 1
    });
    Some(outer.unwrap_or(paragraph))
}

fn is_before_notes(dom: &Dom, id: Id) -> bool {
    dom.name(id) == "hr"
        || dom.value(id, "id").ends_with("footnote-label")
        || (dom.name(id) == "br" && dom.is(id, "clear", "all"))
}
