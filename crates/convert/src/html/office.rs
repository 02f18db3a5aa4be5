//! Elements and styles that Word and Outlook write in their own way.

use crate::tree::{Block, Entry};

use super::dom::{Data, Dom, Id};
use super::flow::Flow;
use super::leveled::LeveledEntry;
use super::lists::prepend;
use super::reader::{Context, Reader};
use super::style::{Style, White};

/// Nodes at the beginning of an entry in which its marker is.
const MARKER_NODES: usize = 100;

/// Returns whether the marker of an entry follows a comment, which it also does if it did before.
pub fn begins_marker(comment: &str, before: bool) -> bool {
    let comment = comment.trim();
    if comment.starts_with("[if !supportLists]") {
        return true;
    }
    before && !comment.contains("[endif]")
}

/// Returns the level of a heading of Word that is a paragraph.
pub fn heading_level(dom: &Dom, id: Id) -> Option<u8> {
    if !matches!(dom.name(id), "p" | "div") {
        return None;
    }
    if dom
        .has_class(id, &["MsoTitle", "MsoTitleCxSpFirst", "MsoTitleCxSpMiddle", "MsoTitleCxSpLast"])
    {
        return Some(1);
    }
    if let Some(level) = dom.classes(id).find_map(|it| it.strip_prefix("MsoHeading")) {
        return Some(level.parse::<u8>().unwrap_or(1).clamp(1, 6));
    }
    let level = Style::of(dom, id).get("mso-outline-level")?.parse::<u8>().ok()?;
    (1..=6).contains(&level).then_some(level)
}

/// Marker of an entry as Word shows it.
enum Marker {
    Bullet,
    Number(u64),
    /// Letters or Roman numbers.
    Letter,
    /// Anything else, which stays as words.
    Words(String),
}

impl Reader<'_> {
    /// Reads an element if it is one of Word's.
    pub fn office(&mut self, id: Id, style: Style<'_>, context: Context, flow: &mut Flow) -> bool {
        let Some(list) = style.get("mso-list") else {
            if self.dom.has_class(id, &["MsoQuote", "MsoIntenseQuote"]) {
                self.word_quote(id, context, flow);
                return true;
            }
            return false;
        };
        let list = list.to_ascii_lowercase();
        if list.starts_with("ignore") {
            if !context.is_entry {
                let words = self.dom.text(id);
                let words = words.trim_matches(super::flow::is_unseen);
                flow.text(&format!("{words} "), context.marks, White::Collapsed);
            }
            return true;
        }
        let level = list.split_whitespace().find_map(|it| it.strip_prefix("level")?.parse().ok());
        if list.starts_with("none") || self.dom.name(id) != "p" && self.dom.name(id) != "div" {
            return false;
        }
        self.word_entry(id, level.unwrap_or(1), context, flow);
        true
    }

    fn word_entry(&mut self, id: Id, level: usize, context: Context, flow: &mut Flow) {
        flow.end_line(&self.links);
        let level = level.clamp(1, 12);
        let mut inner = context;
        inner.is_entry = true;
        let mut blocks = self.blocks_of(id, inner);
        let marker = self.marker(id);
        if blocks.is_empty() {
            return;
        }
        let number = match marker_of(&marker) {
            Marker::Bullet => None,
            Marker::Number(number) => Some(number),
            Marker::Letter => {
                self.report.decide("list with letters or Roman numbers");
                Some(flow.leveled.next_number(level))
            }
            Marker::Words(words) => {
                self.report.decide("number as text");
                prepend(&mut blocks, &format!("{words} "));
                None
            }
        };
        flow.leveled.0.push(LeveledEntry { level, number, entry: Entry { done: None, blocks } });
    }

    /// Returns the words of the marker of an entry.
    fn marker(&self, id: Id) -> String {
        let dom = self.dom;
        let mut words = String::new();
        for node in dom.within(id).take(MARKER_NODES) {
            if Style::of(dom, node).is("mso-list", "ignore") {
                words.push_str(&dom.text(node));
                break;
            }
        }
        if words.is_empty() {
            let mut is_marker = false;
            for node in dom.within(id).take(MARKER_NODES) {
                match &dom.nodes[node].data {
                    Data::Comment(comment) => is_marker = begins_marker(comment, is_marker),
                    Data::Text(text) if is_marker => words.push_str(text),
                    _ => {}
                }
            }
        }
        words.trim_matches(super::flow::is_unseen).to_owned()
    }

    fn word_quote(&mut self, id: Id, context: Context, flow: &mut Flow) {
        flow.end_line(&self.links);
        let Some(inner) = context.nested() else { return self.children(id, context, flow) };
        let blocks = self.blocks_of(id, inner);
        flow.end_leveled();
        let goes_on = self.dom.sibling(id, -1);
        let goes_on =
            goes_on.is_some_and(|it| self.dom.has_class(it, &["MsoQuote", "MsoIntenseQuote"]));
        match flow.blocks.last_mut() {
            Some(Block::Quote(known)) if goes_on => known.extend(blocks),
            _ if blocks.is_empty() => {}
            _ => flow.push(Block::Quote(blocks)),
        }
    }
}

fn marker_of(marker: &str) -> Marker {
    let inner = marker.trim_matches(['(', ')', '.', ' ']);
    let is_ended = marker.ends_with(['.', ')']);
    if let Ok(number) = inner.parse::<u64>() {
        return Marker::Number(number);
    }
    if !marker.chars().any(char::is_alphanumeric) || (!is_ended && marker.chars().count() == 1) {
        return Marker::Bullet;
    }
    let is_roman = inner.chars().all(|sign| "ivxlcdm".contains(sign.to_ascii_lowercase()));
    let is_letter = inner.chars().count() == 1 && inner.chars().all(char::is_alphabetic);
    if is_ended && (is_roman || is_letter) {
        return Marker::Letter;
    }
    Marker::Words(marker.to_owned())
}
