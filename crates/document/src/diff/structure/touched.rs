//! Places of changes in both texts, and the changes at a place.

use std::ops::Range;

use crate::diff::draft::HunkDraft;
use crate::diff::passages::common_ends;

/// A place of a change, in bytes of both texts, without what is equal at its ends.
#[derive(Clone, Debug)]
pub(super) struct ChangedPlace {
    pub hunk: usize,
    /// Index of the part in its hunk.
    pub part: usize,
    /// Ranges of the part in both texts, with what is equal at its ends.
    whole: [Range<usize>; 2],
    pub old: Range<usize>,
    pub new: Range<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Old,
    New,
}

/// Places of all changes, in order.
pub(super) struct ChangedPlaces {
    pub all: Vec<ChangedPlace>,
}

impl ChangedPlaces {
    /// Finds the parts of `hunks`, which change `old` behind the first `offset` bytes.
    pub fn of(old: &str, offset: usize, hunks: &[HunkDraft]) -> Self {
        let mut parts: Vec<_> = (0..)
            .zip(hunks)
            .flat_map(|(hunk, it)| (0..).zip(&it.parts).map(move |(part, it)| (hunk, part, it)))
            .collect();
        parts.sort_by_key(|(.., part)| (part.from, part.to));
        let (mut unit, mut byte, mut grown) = (0, offset, 0_isize);
        let mut all = Vec::with_capacity(parts.len());
        for (hunk, index, part) in parts {
            byte += bytes_of(&old[byte..], part.from.saturating_sub(unit));
            let (head, tail) = common_ends(&part.base, &part.insert);
            let start = byte.saturating_add_signed(grown);
            all.push(ChangedPlace {
                hunk,
                part: index,
                whole: [byte..byte + part.base.len(), start..start + part.insert.len()],
                old: byte + head..byte + part.base.len() - tail,
                new: start + head..start + part.insert.len() - tail,
            });
            grown += part.insert.len().cast_signed() - part.base.len().cast_signed();
            byte += part.base.len();
            unit = part.to;
        }
        Self { all }
    }

    /// Returns the places at which the text in `range` changes. Text that is put in beside a range
    /// does not change it, unless the range is `closed`.
    pub fn within(
        &self,
        side: Side,
        range: &Range<usize>,
        closed: bool,
    ) -> impl Iterator<Item = &ChangedPlace> {
        let first = self.all.partition_point(|it| it.on(side).end < range.start);
        let end = range.end;
        let range = range.clone();
        let touches = move |it: &&ChangedPlace| {
            let at = it.on(side);
            if closed && at.is_empty() {
                range.start <= at.start && at.start <= range.end
            } else {
                at.start < range.end && range.start < at.end
            }
        };
        self.all[first..].iter().take_while(move |it| it.on(side).start <= end).filter(touches)
    }

    /// Returns a place of the old text in the new one, or the reverse. Within a change it is as far
    /// behind its beginning, or at its end.
    pub fn mapped(&self, side: Side, at: usize) -> usize {
        let before = self.all.partition_point(|it| it.on(side).end <= at);
        if let Some(place) = self.all.get(before).filter(|it| it.on(side).start <= at) {
            let other = place.on(side.other());
            return (other.start + at - place.on(side).start).min(other.end);
        }
        let Some(last) = before.checked_sub(1).map(|index| &self.all[index]) else { return at };
        let (from, to) = match side {
            Side::Old => (last.old.end, last.new.end),
            Side::New => (last.new.end, last.old.end),
        };
        at - from + to
    }
}

impl ChangedPlace {
    pub fn on(&self, side: Side) -> &Range<usize> {
        match side {
            Side::Old => &self.old,
            Side::New => &self.new,
        }
    }

    /// Returns the range of the part, with what is equal at its ends.
    pub fn whole(&self, side: Side) -> &Range<usize> {
        &self.whole[side as usize]
    }

    /// Returns `true` if the text of one side is in a place that has none on the other.
    pub fn is_only_on(&self, side: Side) -> bool {
        match side {
            Side::Old => self.new.is_empty(),
            Side::New => self.old.is_empty(),
        }
    }
}

impl Side {
    pub fn other(self) -> Self {
        match self {
            Self::Old => Self::New,
            Self::New => Self::Old,
        }
    }
}

/// Returns the number of bytes of the first `units` UTF-16 units.
fn bytes_of(text: &str, units: usize) -> usize {
    if text.get(..units).is_some_and(str::is_ascii) {
        return units;
    }
    let mut passed = 0;
    let chars = text.char_indices().take_while(|(_, c)| {
        passed += c.len_utf16();
        passed <= units
    });
    chars.last().map_or(0, |(at, c)| at + c.len_utf8())
}
