//! Anchors of threads, and how they move over one committed update at a time.
//!
//! An anchor moves like a hunk: words typed at its edges stay outside. Where an update replaces all
//! of its words, it moves to what the update inserts. Where an update deletes them and inserts them
//! elsewhere, it goes with them. Only deletion makes it orphaned. It then covers the place where
//! its words were, with whatever is typed there, until an update inserts its words there again.

use std::cell::OnceCell;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use copydesk_document::{ChangeSet, ChangedRange, InsertSide, PositionIndex, Text, utf16_len};

use crate::thread::CommentThread;

/// Longest quotation, in UTF-16 units.
pub const LONGEST_QUOTE: usize = 1_000;
/// Longest inserted text, in bytes, in which the words of an anchor are searched.
const LONGEST_SEARCH: usize = 256 * 1024;
/// Length in UTF-16 units from which words that an update inserts elsewhere are the deleted ones,
/// whatever else was deleted and inserted.
const LONG_ENOUGH: usize = 12;

/// Passage of a [`CommentThread`], in UTF-16 units of the thread's version.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommentAnchor {
    /// First unit.
    pub from: usize,
    /// End, exclusive. Equal to `from` for a change that only inserts.
    pub to: usize,
    /// `true` if the words were deleted; the range is then the place where they were.
    #[serde(rename = "orphaned", default, skip_serializing_if = "std::ops::Not::not")]
    pub is_orphaned: bool,
    /// Words of the passage since they were edited, as far as they are no longer than a quotation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub words: Option<String>,
    /// Units that were deleted before the words together with them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<usize>,
}

/// Passage that a change takes to another place, in positions before the change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MovedPassage {
    /// First removed unit.
    pub from: usize,
    /// End of what is removed, exclusive.
    pub to: usize,
    /// Place where its words, perhaps changed, are inserted.
    pub at: usize,
}

/// Effect of an [`AnchorUpdate`] on a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnchorMove {
    /// The thread is unchanged, or its positions are those to which the edges of its anchor map:
    /// `from` after what is inserted there, `to` before it.
    Mapped,
    /// The anchor is elsewhere, or its status is another one.
    Changed,
}

/// One committed [`ChangeSet`], prepared for moving the anchors of many threads.
#[derive(Debug)]
pub struct AnchorUpdate<'a> {
    change: PositionIndex<'a>,
    after: &'a Text,
    origin: Option<&'a str>,
    moves: &'a [MovedPassage],
    ranges: OnceCell<Vec<ChangedRange<'a>>>,
}

impl<'a> AnchorUpdate<'a> {
    /// Prepares an update that led to `after`; `origin` is the request that it came from, `moves`
    /// are the passages that it is known to take elsewhere.
    pub fn new(
        change: &'a ChangeSet,
        after: &'a Text,
        origin: Option<&'a str>,
        moves: &'a [MovedPassage],
    ) -> Self {
        Self { change: change.index(), after, origin, moves, ranges: OnceCell::new() }
    }

    /// Returns all changed ranges, adjacent changes as one.
    fn ranges(&self) -> &[ChangedRange<'a>] {
        self.ranges.get_or_init(|| self.change.change().changed_ranges().collect())
    }

    /// Returns the changed ranges of the text before that touch `[from, to]`.
    fn touching(&self, from: usize, to: usize) -> &[ChangedRange<'a>] {
        let ranges = self.ranges();
        let first = ranges.partition_point(|range| range.to_a < from);
        let count = ranges[first..].partition_point(|range| range.from_a <= to);
        &ranges[first..first + count]
    }
}

impl CommentThread {
    /// Moves the thread over one update to the next version.
    pub fn follow(&mut self, update: &AnchorUpdate<'_>) -> AnchorMove {
        self.version = self.version.next();
        let is_own = update.origin.is_some_and(|request| self.is_about(request));
        match &mut self.anchor {
            Some(anchor) => anchor.follow(&self.content.quote, is_own, update),
            None => AnchorMove::Mapped,
        }
    }
}

impl CommentAnchor {
    /// Returns the anchor of a passage.
    pub fn new(from: usize, to: usize) -> Self {
        Self { from, to, ..Self::default() }
    }

    /// Moves the anchor over one update. `quote` are the words it had at first; `is_own` says that
    /// the update comes from the request that the thread is about.
    pub fn follow(&mut self, quote: &str, is_own: bool, update: &AnchorUpdate<'_>) -> AnchorMove {
        if self.is_orphaned {
            return self.return_from_deletion(quote, update);
        }
        let (old_from, old_to) = (self.from, self.to);
        self.from = update.change.map_pos(old_from, InsertSide::After);
        self.to = update.change.map_pos(old_to, InsertSide::Before).max(self.from);
        if self.from < self.to {
            if update.change.changes_inside(old_from, old_to) {
                self.note_words(quote, update.after);
            }
            return AnchorMove::Mapped;
        }
        let insertion = |range: &&ChangedRange<'_>| !range.insert.is_empty();
        if old_from == old_to {
            // A change that only inserts: its words come with its acceptance.
            let touching = update.touching(old_from, old_to).iter().find(insertion);
            return match touching.filter(|_| is_own) {
                Some(range) => self.take_place(quote, range, 0, update.after),
                None => AnchorMove::Mapped,
            };
        }
        // All words are gone, so one changed range covers them.
        let covering = update.touching(old_from, old_to);
        let Some(covering) = covering.iter().find(|it| it.from_a <= old_from && old_to <= it.to_a)
        else {
            return AnchorMove::Mapped;
        };
        let offset = old_from - covering.from_a;
        if !covering.insert.is_empty() {
            return self.take_place(quote, covering, offset, update.after);
        }
        if let Some(range) = self.place_elsewhere(quote, covering, offset, update) {
            return self.take_place(quote, range, offset, update.after);
        }
        self.is_orphaned = !is_own;
        self.offset = (!is_own && offset > 0).then_some(offset);
        AnchorMove::Changed
    }

    /// Looks for the words of an orphaned anchor in what an update inserts at its place.
    fn return_from_deletion(&mut self, quote: &str, update: &AnchorUpdate<'_>) -> AnchorMove {
        let touching = update.touching(self.from, self.to);
        let found = touching.iter().find_map(|range| {
            Some((range, self.find_words(quote, range.insert, self.offset.unwrap_or(0))?))
        });
        let Some((range, found)) = found else {
            // Outward, so that what is inserted there touches it.
            self.from = update.change.map_pos(self.from, InsertSide::Before);
            self.to = update.change.map_pos(self.to, InsertSide::After);
            return AnchorMove::Mapped;
        };
        let (from, to) = (range.from_b + found.start, range.from_b + found.end);
        *self = Self { words: self.words.take(), ..Self::new(from, to) };
        AnchorMove::Changed
    }

    /// Puts the anchor on its words in an inserted text, or on all of that text.
    fn take_place(
        &mut self,
        quote: &str,
        range: &ChangedRange<'_>,
        offset: usize,
        after: &Text,
    ) -> AnchorMove {
        let found = self.find_words(quote, range.insert, offset);
        (self.from, self.to) = match &found {
            Some(found) => (range.from_b + found.start, range.from_b + found.end),
            None => (range.from_b, range.to_b),
        };
        self.note_words(quote, after);
        AnchorMove::Changed
    }

    /// Returns what an update inserts in another place for the removed range `gone`, in which the
    /// anchor began at `offset`.
    fn place_elsewhere<'u, 'a>(
        &self,
        quote: &str,
        gone: &ChangedRange<'_>,
        offset: usize,
        update: &'u AnchorUpdate<'a>,
    ) -> Option<&'u ChangedRange<'a>> {
        let from = gone.from_a + offset;
        let known = update.moves.iter().find(|it| it.from <= from && from < it.to);
        let known = known.and_then(|it| {
            update.touching(it.at, it.at).iter().find(|range| !range.insert.is_empty())
        });
        let is_here = |range: &&ChangedRange<'_>| {
            let found = self.find_words(quote, range.insert, offset);
            found.is_some_and(|found| {
                let is_all = found.len() == range.to_b - range.from_b;
                let is_whole = range.to_b - range.from_b == gone.to_a - gone.from_a;
                is_all || found.len() >= LONG_ENOUGH || is_whole && found.start == offset
            })
        };
        known.or_else(|| update.ranges().iter().find(is_here))
    }

    /// Returns the words that the passage may be recognised by. Edited ones that are less than half
    /// as long as the quotation are a rest of it.
    fn all_words<'a>(&'a self, quote: &'a str) -> impl Iterator<Item = &'a str> {
        let is_rest = |words: &&str| 2 * utf16_len(words) < utf16_len(quote);
        let edited = self.words.as_deref().filter(|words| !is_rest(words));
        [quote].into_iter().chain(edited).filter(|words| !words.is_empty())
    }

    /// Returns the range of the words in `text`, in UTF-16 units: the one nearest to `near`.
    fn find_words(&self, quote: &str, text: &str, near: usize) -> Option<Range<usize>> {
        if text.len() > LONGEST_SEARCH {
            return None;
        }
        self.all_words(quote).find_map(|words| {
            // Occurrences may overlap, and the search finds only the first of those.
            if reads_at(text, near, words) {
                return Some(near..near + utf16_len(words));
            }
            let (mut at, mut units) = (0, 0);
            let starts = text.match_indices(words).map(|(byte, _)| {
                units += utf16_len(&text[at..byte]);
                at = byte;
                units
            });
            let start = starts.min_by_key(|start| start.abs_diff(near))?;
            Some(start..start + utf16_len(words))
        })
    }

    fn note_words(&mut self, quote: &str, after: &Text) {
        let is_short = self.to - self.from <= LONGEST_QUOTE;
        let words = is_short.then(|| after.slice(self.from..self.to).ok()).flatten();
        self.words = words.filter(|words| words != quote);
    }
}

/// Returns `true` if `text` has these words at a position in UTF-16 units.
fn reads_at(text: &str, position: usize, words: &str) -> bool {
    let mut units = 0;
    let mut places = text.char_indices().map(|(byte, c)| {
        let place = (units, byte);
        units += c.len_utf16();
        place
    });
    let found = places.find(|(units, _)| *units >= position);
    found.is_some_and(|(units, byte)| units == position && text[byte..].starts_with(words))
}
