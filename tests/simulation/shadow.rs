//! The rules of rebase written again, slowly and by names: nothing is mapped that was not looked
//! at.

use copydesk::approvals::{Hunk, HunkPart, HunkStatus};
use copydesk::document::Text;

use crate::ledger::{Entry, Name};

/// A part as the oracle sees it.
#[derive(Clone, Debug)]
struct Spot {
    /// The units it wants to replace; unknown once it was in conflict, until the words are back.
    names: Vec<Name>,
    base: String,
    from: usize,
    to: usize,
    conflict: bool,
}

/// An open hunk as the oracle sees it.
#[derive(Clone, Debug)]
pub struct Shadow {
    spots: Vec<Spot>,
    obsolete: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Side {
    Before,
    After,
}

impl Shadow {
    /// Watches a hunk whose positions are of the text with these names.
    pub fn new(hunk: &Hunk, names: &[Name]) -> Self {
        let spot = |part: &HunkPart| Spot {
            names: names[part.from..part.to].to_vec(),
            base: part.base.clone(),
            from: part.from,
            to: part.to,
            conflict: part.conflict,
        };
        Self { spots: hunk.parts.iter().map(spot).collect(), obsolete: false }
    }

    /// Whether a hunk is what it should be.
    pub fn agrees(&self, hunk: &Hunk) -> bool {
        let spots = self.spots.iter().map(|it| (it.from, it.to, it.conflict));
        hunk.status == self.status()
            && spots.eq(hunk.parts.iter().map(|it| (it.from, it.to, it.conflict)))
    }

    fn status(&self) -> HunkStatus {
        if self.obsolete {
            HunkStatus::Obsolete
        } else if self.spots.iter().any(|spot| spot.conflict) {
            HunkStatus::Conflict
        } else {
            HunkStatus::Pending
        }
    }

    /// Takes an update into account that led to the text with these names.
    pub fn see(&mut self, entry: &Entry, names: &[Name]) {
        for spot in &mut self.spots {
            spot.see(&entry.sections, entry, names);
        }
        let dead =
            |spot: &Spot| if spot.base.is_empty() { spot.conflict } else { spot.from == spot.to };
        let had_words = self.spots.iter().any(|spot| !spot.base.is_empty());
        self.obsolete |= had_words && self.spots.iter().all(dead);
    }
}

impl Spot {
    fn see(&mut self, edits: &[(usize, usize, usize)], entry: &Entry, names: &[Name]) {
        if self.base.is_empty() {
            self.conflict |= edits.iter().any(|(from, to, _)| *from < self.from && self.from < *to);
            self.from = mapped(self.from, Side::After, edits);
            self.to = self.from;
            return;
        }
        if !self.conflict {
            let (from, to) =
                (mapped(self.from, Side::After, edits), mapped(self.to, Side::Before, edits));
            // The same units beside each other, wherever they are now.
            if from <= to && names[from..to] == self.names {
                (self.from, self.to) = (from, to);
                return;
            }
        }
        self.from = mapped(self.from, Side::Before, edits);
        self.to = mapped(self.to, Side::After, edits);
        self.conflict = slice(&entry.after, self.from, self.to) != self.base;
        if !self.conflict {
            self.names = names[self.from..self.to].to_vec();
        }
    }
}

fn slice(text: &Text, from: usize, to: usize) -> String {
    text.slice(from..to).unwrap_or_default()
}

/// Where a place is after edits.
fn mapped(at: usize, side: Side, edits: &[(usize, usize, usize)]) -> usize {
    let (mut grown, mut shrunk) = (0, 0);
    for (from, to, insert) in edits.iter().filter(|(from, ..)| *from <= at) {
        let start = from + grown - shrunk;
        let inserted_here = *from == at && *to == at;
        if inserted_here && side == Side::Before || *from == at && *to > at {
            return start;
        }
        if *from < at && at < *to {
            return if side == Side::Before { start } else { start + insert };
        }
        grown += insert;
        shrunk += to - from;
    }
    at + grown - shrunk
}
