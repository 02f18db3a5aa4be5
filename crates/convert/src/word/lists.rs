//! Lists that are open while the paragraphs of a document are read.

use crate::Report;
use crate::tree::{Block, Entry, List};

use super::numbering::{Label, ListPlace};

/// Difference of indentations that people do not see, in twentieths of a point.
const TOLERANCE: i32 = 100;

/// List whose next entry may come.
#[derive(Debug)]
struct OpenList {
    list: List,
    place: ListPlace,
    /// Number of the next entry, if it has numbers.
    next: Option<u64>,
}

/// Blocks that are being made: those that are complete, and the open lists at their end.
#[derive(Debug, Default)]
pub(super) struct BlockBuilder {
    out: Vec<Block>,
    /// Open lists; each is in the last entry of the one before.
    open: Vec<OpenList>,
}

impl BlockBuilder {
    /// Returns all blocks.
    pub fn finish(mut self) -> Vec<Block> {
        self.close_lists(0);
        self.out
    }

    /// Returns where the next block belongs.
    pub fn target(&mut self) -> &mut Vec<Block> {
        match self.open.last_mut() {
            Some(open) => {
                if open.list.entries.is_empty() {
                    open.list.entries.push(Entry::default());
                }
                let last = open.list.entries.len() - 1;
                &mut open.list.entries[last].blocks
            }
            None => &mut self.out,
        }
    }

    /// Closes all lists.
    pub fn leave_lists(&mut self) {
        self.close_lists(0);
    }

    /// Closes lists until what has this indentation belongs to the last open entry, or to none.
    pub fn leave_lists_right_of(&mut self, indent: i32) {
        let keep = self.open.iter().rposition(|open| open.place.indent <= indent + TOLERANCE);
        self.close_lists(keep.filter(|_| indent > 0).map_or(0, |last| last + 1));
    }

    /// Closes lists below a level, so that the last open entry is of that level.
    pub fn leave_lists_below(&mut self, place: &ListPlace) {
        let keep = self.open.iter().rposition(|open| open.place.level <= place.level);
        self.close_lists(keep.map_or(0, |last| last + 1));
    }

    /// Begins an entry, whose blocks come next.
    pub fn begin_entry(&mut self, place: ListPlace, done: Option<bool>, report: &mut Report) {
        let keep = self.kept_for(&place);
        let has_siblings = self.open[..keep].last().is_some_and(|it| is_beside(&it.place, &place));
        match self.open.get_mut(keep) {
            // After deeper entries without one of this level before, it is beside them.
            Some(deeper) if !has_siblings && goes_on_left_of(deeper, &place) => {
                deeper.place = place.clone();
                self.close_lists(keep + 1);
            }
            _ => self.close_lists(keep),
        }
        let number = match place.label {
            Label::Number { value, is_plain } => {
                if !is_plain {
                    report.decide("list with letters or Roman numbers");
                }
                Some(value)
            }
            _ => None,
        };
        let goes_on = self
            .open
            .last()
            .is_some_and(|open| is_beside(&open.place, &place) && open.next == number);
        if !goes_on {
            if self.open.last().is_some_and(|open| is_beside(&open.place, &place)) {
                self.close_lists(self.open.len() - 1);
            }
            let list = List { start: number, loose: false, entries: Vec::new() };
            self.open.push(OpenList { list, place, next: number });
        }
        if let Some(open) = self.open.last_mut() {
            open.next = number.map(|number| number.saturating_add(1));
            open.list.entries.push(Entry { done, blocks: Vec::new() });
        }
    }

    /// Returns how many open lists stay open for an entry at this place: those that it is in, and
    /// the one that it may be an entry of.
    fn kept_for(&self, place: &ListPlace) -> usize {
        let same = self.open.iter().rposition(|open| {
            open.place.definition == place.definition && open.place.level <= place.level
        });
        if let Some(same) = same
            && self.open[same].place.level == place.level
        {
            return same + 1;
        }
        // Between levels of one list, others may stand that are further left or right.
        let around = self.open.iter().rposition(|open| {
            open.place.indent <= place.indent + TOLERANCE
                && (open.place.definition != place.definition || open.place.level <= place.level)
        });
        let inner = self.open.iter().position(|open| {
            open.place.definition == place.definition && open.place.level > place.level
        });
        let keep = same.max(around).map_or(0, |last| last + 1);
        inner.map_or(keep, |inner| keep.min(inner))
    }

    /// Closes lists until only so many are open.
    fn close_lists(&mut self, keep: usize) {
        while self.open.len() > keep {
            let Some(closed) = self.open.pop() else { return };
            self.target().push(Block::List(closed.list));
        }
    }
}

/// Returns whether an entry with a bullet goes on with a deeper list of its own definition.
fn goes_on_left_of(open: &OpenList, place: &ListPlace) -> bool {
    place.label == Label::Bullet
        && open.place.definition == place.definition
        && open.list.start.is_none()
        && open.place.level > place.level
}

/// Returns whether an entry stands beside those of a list, and not within one of them.
fn is_beside(open: &ListPlace, place: &ListPlace) -> bool {
    if open.definition == place.definition {
        return open.level == place.level;
    }
    (open.indent - place.indent).abs() <= TOLERANCE
}
