//! An oracle for the rebase of hunks. It implements the same rules again, slowly and by unit
//! identifiers, and shares no code with the core.

use copydesk_approvals::{Hunk, HunkPart, HunkStatus};
use copydesk_document::Text;

use crate::reference_document::{ReferenceUpdate, UnitId};

/// A part of a hunk as the oracle computes it.
#[derive(Clone, Debug)]
struct PartOracle {
    /// The units it replaces. They are not known once it was in conflict, until the text is back.
    units: Vec<UnitId>,
    base: String,
    from: usize,
    to: usize,
    conflict: bool,
}

/// An open hunk as the oracle computes it.
#[derive(Clone, Debug)]
pub struct HunkOracle {
    parts: Vec<PartOracle>,
    obsolete: bool,
}

/// The side on which a mapped position stays when text is inserted at it.
#[derive(Clone, Copy, PartialEq)]
pub enum MapSide {
    Before,
    After,
}

impl HunkOracle {
    /// Creates the oracle of a hunk whose positions are in the text of these units.
    pub fn new(hunk: &Hunk, units: &[UnitId]) -> Self {
        let part = |part: &HunkPart| PartOracle {
            units: units[part.from..part.to].to_vec(),
            base: part.base.clone(),
            from: part.from,
            to: part.to,
            conflict: part.conflict,
        };
        Self { parts: hunk.parts.iter().map(part).collect(), obsolete: false }
    }

    /// Returns whether a hunk is as the oracle computes it.
    pub fn matches(&self, hunk: &Hunk) -> bool {
        let parts = self.parts.iter().map(|it| (it.from, it.to, it.conflict));
        hunk.status == self.status()
            && parts.eq(hunk.parts.iter().map(|it| (it.from, it.to, it.conflict)))
    }

    fn status(&self) -> HunkStatus {
        if self.obsolete {
            HunkStatus::Obsolete
        } else if self.parts.iter().any(|part| part.conflict) {
            HunkStatus::Conflict
        } else {
            HunkStatus::Pending
        }
    }

    /// Applies an update that led to the text of these units.
    pub fn apply(&mut self, update: &ReferenceUpdate, units: &[UnitId]) {
        for part in &mut self.parts {
            part.apply(&update.sections, update, units);
        }
        let is_obsolete = |part: &PartOracle| {
            if part.base.is_empty() { part.conflict } else { part.from == part.to }
        };
        let had_text = self.parts.iter().any(|part| !part.base.is_empty());
        self.obsolete |= had_text && self.parts.iter().all(is_obsolete);
    }
}

impl PartOracle {
    fn apply(
        &mut self,
        edits: &[(usize, usize, usize)],
        update: &ReferenceUpdate,
        units: &[UnitId],
    ) {
        if self.base.is_empty() {
            self.conflict |= edits.iter().any(|(from, to, _)| *from < self.from && self.from < *to);
            self.from = map_position(self.from, MapSide::After, edits);
            self.to = self.from;
            return;
        }
        if !self.conflict {
            let (from, to) = (
                map_position(self.from, MapSide::After, edits),
                map_position(self.to, MapSide::Before, edits),
            );
            // The same units are beside each other, wherever they are now.
            if from <= to && units[from..to] == self.units {
                (self.from, self.to) = (from, to);
                return;
            }
        }
        self.from = map_position(self.from, MapSide::Before, edits);
        self.to = map_position(self.to, MapSide::After, edits);
        self.conflict = slice(&update.after, self.from, self.to) != self.base;
        if !self.conflict {
            self.units = units[self.from..self.to].to_vec();
        }
    }
}

fn slice(text: &Text, from: usize, to: usize) -> String {
    text.slice(from..to).unwrap_or_default()
}

/// Maps a position over edits.
pub fn map_position(at: usize, side: MapSide, edits: &[(usize, usize, usize)]) -> usize {
    let (mut grown, mut shrunk) = (0, 0);
    for (from, to, insert) in edits.iter().filter(|(from, ..)| *from <= at) {
        let start = from + grown - shrunk;
        let inserted_here = *from == at && *to == at;
        if inserted_here && side == MapSide::Before || *from == at && *to > at {
            return start;
        }
        if *from < at && at < *to {
            return if side == MapSide::Before { start } else { start + insert };
        }
        grown += insert;
        shrunk += to - from;
    }
    at + grown - shrunk
}
