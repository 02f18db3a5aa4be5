//! Changes after which a block would begin in the middle of a line.

use super::touched::ChangedPlace;
use crate::diff::blocks::begins_block;

/// Changes at one place that are looked at for a block.
const MOST_AT_ONE_PLACE: usize = 64;

/// Returns pairs of changes, by their indices, of which one without the other would put a list
/// entry, a row, a heading or another block beside other text.
pub(super) fn seams(old: &str, new: &str, places: &[ChangedPlace]) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    let mut first = 0;
    while first < places.len() {
        let mut run = PlaceRun { old, new, places, first, last: first };
        loop {
            if run.is_bad_before() && run.touches_before() {
                run.first -= 1;
                pairs.push((places[run.first].hunk, places[run.first + 1].hunk));
            } else if run.is_bad_behind() && run.touches_behind() {
                run.last += 1;
                pairs.push((places[run.last - 1].hunk, places[run.last].hunk));
            } else {
                break;
            }
        }
        first = run.last + 1;
    }
    pairs
}

/// Places that touch, accepted without the others.
struct PlaceRun<'a> {
    old: &'a str,
    new: &'a str,
    places: &'a [ChangedPlace],
    first: usize,
    last: usize,
}

impl PlaceRun<'_> {
    fn touches_before(&self) -> bool {
        self.first > 0 && self.places[self.first - 1].old.end == self.places[self.first].old.start
    }

    fn touches_behind(&self) -> bool {
        let next = self.places.get(self.last + 1);
        next.is_some_and(|it| it.old.start == self.places[self.last].old.end)
    }

    /// Returns the text that is put in.
    fn inserted(&self) -> &str {
        &self.new[self.places[self.first].new.start..self.places[self.last].new.end]
    }

    fn before(&self) -> &str {
        &self.old[..self.places[self.first].old.start]
    }

    fn behind(&self) -> &str {
        &self.old[self.places[self.last].old.end..]
    }

    /// Returns `true` if a block is put in behind text that does not end its line.
    fn is_bad_before(&self) -> bool {
        begins_line(self.new, self.places[self.first].new.start)
            && !ends_line(self.before())
            && begins_block(self.inserted())
    }

    /// Returns `true` if the text behind is a block, or a block is put in there, and what is before
    /// it does not end its line any more.
    fn is_bad_behind(&self) -> bool {
        let before = if self.inserted().is_empty() { self.before() } else { self.inserted() };
        begins_line(self.old, self.places[self.last].old.end)
            && !ends_line(before)
            && (begins_block(self.behind()) || self.puts_block_behind())
    }

    /// Returns `true` if other changes put a block in at the end of these.
    fn puts_block_behind(&self) -> bool {
        let at = self.places[self.last].old.end;
        let others = self.places[self.last + 1..].iter().take(MOST_AT_ONE_PLACE);
        let mut here = others.take_while(|it| it.old.is_empty() && it.old.start == at);
        here.any(|it| {
            begins_line(self.new, it.new.start) && begins_block(&self.new[it.new.clone()])
        })
    }
}

fn ends_line(text: &str) -> bool {
    text.is_empty() || text.ends_with('\n')
}

fn begins_line(text: &str, at: usize) -> bool {
    ends_line(&text[..at])
}
