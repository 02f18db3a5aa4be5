//! The rules of rebase written again, slowly: every unit of text has a name, and nothing is mapped but by looking.

use copydesk::document::Edit;
use copydesk::review::{Hunk, HunkStatus};

/// One UTF-16 unit of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    pub unit: u16,
    /// Never used again.
    pub name: u64,
}

/// The text as named units.
#[derive(Clone, Debug, Default)]
pub struct Cells {
    pub cells: Vec<Cell>,
    next: u64,
}

impl Cells {
    pub fn new(text: &str) -> Self {
        let mut cells = Self::default();
        cells.apply(&[Edit { from: 0, to: 0, insert: text.to_owned() }]);
        cells
    }

    pub fn text(&self, from: usize, to: usize) -> String {
        let units: Vec<u16> = self.cells[from..to].iter().map(|c| c.unit).collect();
        String::from_utf16(&units).unwrap()
    }

    /// Makes disjoint edits in order; returns the units that went away.
    pub fn apply(&mut self, edits: &[Edit]) -> Vec<u64> {
        let (mut cells, mut gone, mut at) = (Vec::new(), Vec::new(), 0);
        for edit in edits {
            cells.extend_from_slice(&self.cells[at..edit.from]);
            gone.extend(self.cells[edit.from..edit.to].iter().map(|c| c.name));
            for unit in edit.insert.encode_utf16() {
                cells.push(Cell { unit, name: self.next });
                self.next += 1;
            }
            at = edit.to;
        }
        cells.extend_from_slice(&self.cells[at..]);
        self.cells = cells;
        gone
    }

    fn place(&self, name: u64) -> Option<usize> {
        self.cells.iter().position(|c| c.name == name)
    }
}

/// A part as the oracle sees it.
#[derive(Clone, Debug)]
struct Spot {
    /// The units it wants to replace.
    names: Vec<u64>,
    base: String,
    from: usize,
    to: usize,
    conflict: bool,
}

/// A hunk as the oracle sees it.
#[derive(Clone, Debug)]
pub struct Shadow {
    spots: Vec<Spot>,
    pub obsolete: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Side {
    Before,
    After,
}

impl Shadow {
    /// Watches a hunk whose positions are of this text.
    pub fn new(hunk: &Hunk, cells: &Cells) -> Self {
        let spot = |p: &copydesk::review::Part| Spot {
            names: cells.cells[p.from..p.to].iter().map(|c| c.name).collect(),
            base: p.base.clone(),
            from: p.from,
            to: p.to,
            conflict: p.conflict,
        };
        Self { spots: hunk.parts.iter().map(spot).collect(), obsolete: false }
    }

    /// The units it may remove without force.
    pub fn names(&self) -> impl Iterator<Item = u64> {
        self.spots.iter().flat_map(|s| s.names.iter().copied())
    }

    pub fn status(&self) -> HunkStatus {
        if self.obsolete {
            HunkStatus::Obsolete
        } else if self.spots.iter().any(|s| s.conflict) {
            HunkStatus::Conflict
        } else {
            HunkStatus::Pending
        }
    }

    pub fn ranges(&self) -> Vec<(usize, usize)> {
        self.spots.iter().map(|s| (s.from, s.to)).collect()
    }

    /// Takes edits into account that led to `after`.
    pub fn see(&mut self, edits: &[Edit], after: &Cells) {
        for spot in &mut self.spots {
            spot.see(edits, after);
        }
        let dead = |s: &Spot| if s.base.is_empty() { s.conflict } else { s.from == s.to };
        let had_words = self.spots.iter().any(|s| !s.base.is_empty());
        self.obsolete |= had_words && self.spots.iter().all(dead);
    }
}

impl Spot {
    fn see(&mut self, edits: &[Edit], after: &Cells) {
        if self.base.is_empty() {
            self.conflict |= edits.iter().any(|e| e.from < self.from && self.from < e.to);
            self.from = mapped(self.from, Side::After, edits);
            self.to = self.from;
            return;
        }
        if !self.conflict {
            let deleted = self.names.iter().any(|&name| after.place(name).is_none());
            let split =
                edits.iter().any(|e| e.from == e.to && self.from < e.from && e.from < self.to);
            if !deleted && !split {
                // The same units, wherever they are now.
                self.from = after.place(self.names[0]).unwrap();
                self.to = after.place(*self.names.last().unwrap()).unwrap() + 1;
                return;
            }
        }
        self.from = mapped(self.from, Side::Before, edits);
        self.to = mapped(self.to, Side::After, edits);
        self.conflict = after.text(self.from, self.to) != self.base;
        if !self.conflict {
            self.names = after.cells[self.from..self.to].iter().map(|c| c.name).collect();
        }
    }
}

/// Where a place is after edits that touch neither each other.
fn mapped(at: usize, side: Side, edits: &[Edit]) -> usize {
    let (mut grown, mut shrunk) = (0, 0);
    for edit in edits.iter().filter(|e| e.from <= at) {
        let insert = edit.insert.encode_utf16().count();
        let start = edit.from + grown - shrunk;
        let inserted_here = edit.from == at && edit.to == at;
        if inserted_here && side == Side::Before || edit.from == at && edit.to > at {
            return start;
        }
        if edit.from < at && at < edit.to {
            return if side == Side::Before { start } else { start + insert };
        }
        grown += insert;
        shrunk += edit.to - edit.from;
    }
    at + grown - shrunk
}
