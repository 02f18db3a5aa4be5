//! Footnotes of a page: references with numbers, and the notes at its end with links back.

use std::collections::HashMap;
use std::fmt::Write as _;

use super::super::markdown::note_key;

/// Footnotes in the order of their numbers.
#[derive(Default)]
pub(super) struct PageNotes {
    /// Places in `notes` by name.
    places: HashMap<String, usize>,
    notes: Vec<PageNote>,
}

#[derive(Default)]
struct PageNote {
    /// Number of references to it.
    references: usize,
    /// Content as HTML; notes of one name follow each other.
    content: String,
}

impl PageNotes {
    /// Returns the place of a note; one that was not named before gets the next number.
    pub fn place(&mut self, name: &str) -> usize {
        let next = self.notes.len();
        let place = *self.places.entry(note_key(name)).or_insert(next);
        if place == next {
            self.notes.push(PageNote::default());
        }
        place
    }

    /// Writes a reference.
    pub fn reference(&mut self, name: &str, out: &mut String) {
        let place = self.place(name);
        let note = &mut self.notes[place];
        note.references += 1;
        let (number, id) = (place + 1, reference_id(place, note.references));
        _ = write!(out, "<sup><a id=\"{id}\" href=\"#fn-{number}\">{number}</a></sup>");
    }

    /// Adds the content of a note.
    pub fn add(&mut self, place: usize, content: &str) {
        if let Some(note) = self.notes.get_mut(place) {
            note.content.push_str(content);
        }
    }

    /// Writes all notes, also those without a reference.
    pub fn write(&self, out: &mut String) {
        if self.notes.is_empty() {
            return;
        }
        out.push_str("<section class=\"footnotes\">\n<ol>\n");
        for (place, note) in self.notes.iter().enumerate() {
            _ = write!(out, "<li id=\"fn-{}\" dir=\"auto\">", place + 1);
            let content = note.content.trim_end();
            // The links stand in the last line of the note.
            let (content, end) =
                content.strip_suffix("</p>").map_or((content, ""), |content| (content, "</p>"));
            out.push_str(content);
            for count in 1..=note.references {
                _ = write!(out, " <a href=\"#{}\">↩</a>", reference_id(place, count));
            }
            out.push_str(end);
            out.push_str("</li>\n");
        }
        out.push_str("</ol>\n</section>\n");
    }
}

/// Returns the identifier of one of the references to a note, counted from 1.
fn reference_id(place: usize, count: usize) -> String {
    let number = place + 1;
    if count == 1 { format!("fnref-{number}") } else { format!("fnref-{number}-{count}") }
}
