//! Footnotes: links to a place that links back.

use std::collections::{HashMap, HashSet};

use super::dom::{Dom, Id};
use super::style::Style;

/// Longest words of a reference, in characters, such as `[12]`.
const LONGEST_MARK: usize = 8;
/// Nodes that a raised link back has beside it at most.
const MOST_BESIDE: usize = 8;

/// Footnotes of a page.
#[derive(Debug, Default)]
pub struct Notes {
    /// Content of the note that an element refers to.
    references: HashMap<Id, Id>,
    /// Elements that hold references.
    around_references: HashSet<Id>,
    /// Elements that are notes, their links back, and lines before them.
    elsewhere: HashSet<Id>,
    /// Notes in the order of their first references, and the number of each.
    order: Vec<Id>,
    numbers: HashMap<Id, usize>,
    written: usize,
}

/// Facts about a page, looked up once each while its notes are found.
struct Search<'a> {
    dom: &'a Dom,
    /// Elements by their names.
    named: HashMap<&'a str, Id>,
    /// Links by the name that they lead to, in the order of the page.
    backs: HashMap<&'a str, Vec<Id>>,
    /// Place of each node in the order of the page.
    places: Vec<usize>,
    /// `true` for a note that links back to a name.
    answers: HashMap<(&'a str, Id), bool>,
    /// Elements beside which lines before notes were looked for.
    looked_beside: HashSet<Id>,
    /// `true` for an element that holds the paragraphs of one note of Google Docs.
    are_notes_of_docs: HashMap<Id, bool>,
}

impl Notes {
    /// Finds the notes of a page.
    pub fn find(dom: &Dom) -> Self {
        let (mut search, links) = Search::new(dom);
        let mut notes = Self::default();
        for link in links.iter().filter(|it| is_mark(dom, **it)) {
            notes.add(&mut search, *link);
        }
        notes
    }

    fn add(&mut self, search: &mut Search<'_>, link: Id) {
        let dom = search.dom;
        if self.elsewhere.contains(&link) {
            return;
        }
        let Some(target) = search.named.get(fragment(dom, link)).copied() else { return };
        let Some(note) = search.container(target) else { return };
        if note == link || dom.ancestors(link).any(|it| it == note) {
            return;
        }
        let around = || std::iter::once(link).chain(dom.ancestors(link).take(2));
        let anchors = around().flat_map(|it| [dom.value(it, "id"), dom.value(it, "name")]);
        let mut is_answered = false;
        for name in anchors.filter(|name| !name.is_empty()) {
            is_answered |= self.leave_out_backs(search, name, note);
        }
        if !is_answered {
            return;
        }
        self.elsewhere.insert(note);
        self.leave_out_beside(search, note);
        self.references.insert(link, note);
        let new = |it: &Id| self.around_references.insert(*it);
        dom.ancestors(link).take_while(new).for_each(drop);
    }

    /// Leaves out the links of a note back to a name. Returns whether there are any.
    fn leave_out_backs<'a>(&mut self, search: &mut Search<'a>, name: &'a str, note: Id) -> bool {
        if let Some(known) = search.answers.get(&(name, note)) {
            return *known;
        }
        let dom = search.dom;
        let links = search.links_back(name, note);
        for back in links {
            let raised = dom.nodes[*back].parent.filter(|it| {
                dom.name(*it) == "sup"
                    && dom.children(*it).len() <= MOST_BESIDE
                    && dom.words(*it) == dom.words(*back)
            });
            self.elsewhere.extend([Some(*back), raised].into_iter().flatten());
        }
        let is_answered = !links.is_empty();
        search.answers.insert((name, note), is_answered);
        is_answered
    }

    /// Leaves out the line and the heading before the notes.
    fn leave_out_beside(&mut self, search: &mut Search<'_>, note: Id) {
        let dom = search.dom;
        for around in std::iter::once(note).chain(dom.ancestors(note).take(2)) {
            if !search.looked_beside.insert(around) {
                continue;
            }
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

    /// Returns whether an element refers to a note, or holds one that does.
    pub fn has_reference(&self, id: Id) -> bool {
        self.references.contains_key(&id) || self.around_references.contains(&id)
    }

    /// Returns the label of the note that an element refers to.
    pub fn refer(&mut self, id: Id) -> Option<String> {
        let note = *self.references.get(&id)?;
        let next = self.order.len() + 1;
        let number = *self.numbers.entry(note).or_insert(next);
        if number == next {
            self.order.push(note);
        }
        Some(number.to_string())
    }

    /// Returns the label and the element of the next note that is referred to.
    pub fn next_referred(&mut self) -> Option<(String, Id)> {
        let id = *self.order.get(self.written)?;
        self.written += 1;
        Some((self.written.to_string(), id))
    }
}

impl<'a> Search<'a> {
    /// Looks through a page. Returns its links to places in it, too.
    fn new(dom: &'a Dom) -> (Self, Vec<Id>) {
        let mut named: HashMap<&str, Id> = HashMap::new();
        let mut backs: HashMap<&str, Vec<Id>> = HashMap::new();
        let mut places = vec![0; dom.nodes.len()];
        let mut links = Vec::new();
        for (place, id) in dom.within(0).enumerate() {
            places[id] = place;
            for name in [dom.value(id, "id"), dom.value(id, "name")] {
                if !name.is_empty() {
                    named.entry(name).or_insert(id);
                }
            }
            if dom.name(id) == "a" && !fragment(dom, id).is_empty() {
                links.push(id);
                backs.entry(fragment(dom, id)).or_default().push(id);
            }
        }
        let (answers, looked_beside, are_notes_of_docs) = Default::default();
        let search = Self { dom, named, backs, places, answers, looked_beside, are_notes_of_docs };
        (search, links)
    }

    /// Returns the links to a name that are in an element.
    fn links_back(&self, name: &str, within: Id) -> &[Id] {
        let links = self.backs.get(name).map(Vec::as_slice).unwrap_or_default();
        let from = links.partition_point(|it| self.places[*it] <= self.places[within]);
        let is_inside = |it: &&Id| self.dom.ancestors(**it).any(|around| around == within);
        let count = links[from..].iter().take_while(is_inside).count();
        &links[from..from + count]
    }

    /// Returns the element that holds a note, around the place that a reference leads to.
    fn container(&mut self, target: Id) -> Option<Id> {
        let dom = self.dom;
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
        let paragraph = around()
            .find(|it| matches!(dom.name(*it), "p" | "div" | "dd" | "aside" | "section"))?;
        // Google Docs puts the paragraphs of each note into an element of their own.
        let outer = dom.nodes[paragraph].parent.filter(|it| {
            dom.name(*it) == "div"
                && dom.name(paragraph) == "p"
                && *self.are_notes_of_docs.entry(*it).or_insert_with(|| is_note_of_docs(dom, *it))
        });
        Some(outer.unwrap_or(paragraph))
    }
}

/// Returns whether an element holds nothing but the paragraphs of one note of Google Docs.
fn is_note_of_docs(dom: &Dom, id: Id) -> bool {
    let leads_back = |it: &Id| fragment(dom, *it).contains("ftnt_ref");
    dom.children(id).iter().all(|it| dom.name(*it) == "p" || !dom.is_element(*it))
        && dom.within(id).filter(leads_back).take(2).count() == 1
}

/// Returns what follows `#` in the address of a link.
fn fragment(dom: &Dom, id: Id) -> &str {
    dom.value(id, "href").split_once('#').map(|(_, fragment)| fragment).unwrap_or_default()
}

/// Returns whether the words of a link are the mark of a note.
fn is_mark(dom: &Dom, id: Id) -> bool {
    let words = dom.first_words(id, LONGEST_MARK + 1);
    let mark = words.trim_matches(['[', ']', '(', ')', ' ']);
    let is_number = !mark.is_empty() && mark.chars().all(|sign| sign.is_ascii_digit());
    let is_short = words.chars().count() <= LONGEST_MARK;
    let is_sign = !mark.is_empty()
        && mark.chars().count() <= 3
        && !mark.starts_with(['↑', '↩', '^'])
        && !mark.contains('\u{fe0e}');
    is_short && (is_number || is_sign || mark.starts_with("note "))
}

fn is_before_notes(dom: &Dom, id: Id) -> bool {
    dom.name(id) == "hr"
        || dom.value(id, "id").ends_with("footnote-label")
        || (dom.name(id) == "br" && dom.is(id, "clear", "all"))
}
