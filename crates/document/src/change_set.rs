//! [`ChangeSet`]: the difference between two texts, with CodeMirror's exact semantics.
//!
//! Ported from codemirror/state `src/change.ts` (MIT, by Marijn Haverbeke and others); functions
//! name theirs. Laws, for sets `A` and `B` that start at one text:
//!
//! - `A.compose(B.map(A, After)) == B.compose(A.map(B, Before))` in their effect on the text;
//! - `A.invert(text)` undoes `A`;
//! - adjacent changes stay apart: delete then insert maps positions unlike a replacement.

use std::ops::Range;

use super::text::{ChangedRange, PositionError, Text, normalize_breaks, utf16_len};

/// Limits on a [`ChangeSet`]; a client beyond them is refused, not served slowly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChangeLimits {
    /// Maximum number of sections of one change set.
    pub max_sections: usize,
    /// Maximum number of UTF-16 units inserted by one change set.
    pub max_inserted: usize,
    /// Maximum length, in UTF-16 units, of a text after a change that makes it longer.
    pub max_length: usize,
}

impl ChangeLimits {
    /// No limits beyond the maximum of the representation itself.
    pub const NONE: Self =
        Self { max_sections: usize::MAX, max_inserted: MAX_UNITS, max_length: MAX_UNITS };
}

/// Maximum length of a text: positions fit an `i32`, as in a browser's small integers.
pub(super) const MAX_UNITS: usize = i32::MAX as usize;

/// Reason why a [`ChangeSet`] was refused.
#[derive(Debug, thiserror::Error)]
pub enum ChangeError {
    /// The JSON is not that of a change set.
    #[error("expected {expected} at byte {at}")]
    Malformed {
        /// Byte offset into the JSON.
        at: usize,
        /// Expected content at this place.
        expected: &'static str,
    },
    /// A string is not text, for example half a surrogate pair.
    #[error("invalid string at byte {at}: {source}")]
    InvalidString {
        /// Byte offset into the JSON.
        at: usize,
        /// Error of `serde_json`.
        source: serde_json::Error,
    },
    /// A line contains a line break; lines must be separate strings.
    #[error("line break inside a line at byte {at}")]
    LineBreakInLine {
        /// Byte offset into the JSON.
        at: usize,
    },
    /// The form is one that CodeMirror never writes: an empty section, or two to be joined.
    #[error("section ending at byte {at} is empty or should be joined with the one before")]
    NotCanonical {
        /// Byte offset into the JSON.
        at: usize,
    },
    /// There are more sections than allowed.
    #[error("more than {max} sections")]
    TooManySections {
        /// The limit.
        max: usize,
    },
    /// There is more inserted text than allowed.
    #[error("more than {max} units inserted")]
    TooMuchInserted {
        /// The limit.
        max: usize,
    },
    /// The text would become too long.
    #[error("the text would be longer than {max} units")]
    TooLong {
        /// The limit.
        max: usize,
    },
    /// The change is for a text of another length.
    #[error("change for a text of length {change} used where the length is {text}")]
    LengthMismatch {
        /// Length of the text the change set is for.
        change: usize,
        /// Length of the text it was used with.
        text: usize,
    },
    /// A boundary of the change is no position in the text.
    #[error(transparent)]
    Position(#[from] PositionError),
}

/// Result of an operation on a [`ChangeSet`].
pub type ChangeResult<T> = Result<T, ChangeError>;

/// One replacement in a text: `[from, to)` becomes `insert`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextEdit {
    /// Start in UTF-16 units.
    pub from: usize,
    /// End in UTF-16 units; equal to `from` for an insertion.
    pub to: usize,
    /// New text; its line breaks are normalised.
    pub insert: String,
}

/// A change from one text to another, as sections over the whole old text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChangeSet {
    pub(super) sections: Vec<ChangeSection>,
    /// Inserted text of all sections, one after the other.
    pub(super) inserted: String,
}

/// Section of a change set: `len` units of the old text are kept (`ins == KEEP`) or replaced by
/// `ins` units, which take `bytes` bytes of the inserted text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ChangeSection {
    pub len: u32,
    pub ins: i32,
    pub bytes: u32,
}

/// Value of `ins` in a section that is kept.
pub(super) const KEEP: i32 = -1;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum SectionJoin {
    /// Joined only if both keep, both only delete, or both only insert.
    Alike,
    /// Joined always: both are pieces of one replacement.
    Always,
}

impl ChangeSet {
    /// Returns the set that changes nothing in a text of `len` units.
    pub fn identity(len: usize) -> Self {
        let mut set = Self::default();
        set.keep(len);
        set
    }

    /// Returns the set that makes all `edits`, whose positions are all of one text of `len` units
    /// (`ChangeSet.of`).
    pub fn of<'a>(len: usize, edits: impl IntoIterator<Item = &'a TextEdit>) -> ChangeResult<Self> {
        let mut total = None;
        let (mut set, mut pos) = (Self::default(), 0);
        for TextEdit { from, to, insert } in edits {
            let (from, to, insert) = (*from, *to, normalize_breaks(insert));
            if from > to || to > len {
                return Err(PositionError::OutOfRange { from, to, len }.into());
            }
            if from == to && insert.is_empty() {
                continue;
            }
            if from < pos {
                total = Some(std::mem::take(&mut set).joined(total, pos, len)?);
                pos = 0;
            }
            set.keep(from - pos);
            set.change(to - from, &insert, SectionJoin::Alike);
            pos = to;
        }
        match total {
            Some(total) if set.sections.is_empty() => Ok(total),
            total => set.joined(total, pos, len),
        }
    }

    /// Returns the length of the text before the change.
    pub fn len(&self) -> usize {
        self.sections.iter().map(|section| section.len as usize).sum()
    }

    /// Returns the length of the text after the change.
    pub fn new_len(&self) -> usize {
        self.sections.iter().map(|section| section.new_len() as usize).sum()
    }

    pub(super) fn inserted_units(&self) -> usize {
        self.sections.iter().map(|section| usize::try_from(section.ins).unwrap_or(0)).sum()
    }

    /// Returns `true` if nothing changes, whatever the length (`ChangeDesc.empty`).
    pub fn is_empty(&self) -> bool {
        match self.sections.as_slice() {
            [] => true,
            [only] => only.ins == KEEP,
            _ => false,
        }
    }

    /// Applies the change to `text` (`ChangeSet.apply`).
    ///
    /// # Errors
    /// [`ChangeError`] if the length or a boundary does not fit; the text is then unchanged.
    pub fn apply(&self, text: &mut Text) -> ChangeResult<()> {
        self.starts_from(text.len())?;
        Ok(text.replace_all(self.changed_ranges())?)
    }

    /// Applies the change as [`Self::apply`] does, unless the text would grow past the limit.
    pub(super) fn apply_within(&self, text: &mut Text, limits: &ChangeLimits) -> ChangeResult<()> {
        let new_len = self.new_len();
        if new_len > limits.max_length && new_len > text.len() {
            return Err(ChangeError::TooLong { max: limits.max_length });
        }
        self.apply(text)
    }

    /// Returns the set that turns the changed text back into `before` (`ChangeSet.invert`).
    pub fn invert(&self, before: &Text) -> ChangeResult<Self> {
        self.starts_from(before.len())?;
        let (mut sections, mut inserted) = (Vec::with_capacity(self.sections.len()), String::new());
        let mut pos = 0;
        for &ChangeSection { len, ins, bytes } in &self.sections {
            let end = pos + len as usize;
            sections.push(if ins == KEEP {
                ChangeSection { len, ins, bytes }
            } else {
                let deleted = before.slice(pos..end)?;
                inserted.push_str(&deleted);
                ChangeSection {
                    len: ins.cast_unsigned(),
                    ins: len.cast_signed(),
                    bytes: deleted.len() as u32,
                }
            });
            pos = end;
        }
        Ok(Self { sections, inserted })
    }

    /// Returns the changed ranges of the old text, from left to right, adjacent changes apart
    /// (`iterChangedRanges` with `individual`).
    pub fn changed_sections(&self) -> impl Iterator<Item = Range<usize>> + Clone {
        let sections = self.sections.iter().scan(0, |pos, section| {
            let from = *pos;
            *pos += section.len as usize;
            Some((section.ins != KEEP, from..*pos))
        });
        sections.filter_map(|(changed, range)| changed.then_some(range))
    }

    /// Returns the changed ranges from left to right; adjacent changes are reported as one
    /// (`iterChanges`).
    pub fn changed_ranges(&self) -> impl Iterator<Item = ChangedRange<'_>> + Clone {
        let (mut sections, mut inserted) = (self.sections.as_slice(), self.inserted.as_str());
        let (mut pos_a, mut pos_b) = (0, 0);
        std::iter::from_fn(move || {
            let (from_a, from_b, mut bytes) = loop {
                let (section, rest) = sections.split_first()?;
                if section.ins != KEEP {
                    break (pos_a, pos_b, 0);
                }
                sections = rest;
                pos_a += section.len as usize;
                pos_b += section.len as usize;
            };
            while let Some((section, rest)) = sections.split_first().filter(|(s, _)| s.ins != KEEP)
            {
                sections = rest;
                pos_a += section.len as usize;
                pos_b += section.new_len() as usize;
                bytes += section.bytes as usize;
            }
            let (insert, rest) = inserted.split_at(bytes);
            inserted = rest;
            Some(ChangedRange { from_a, to_a: pos_a, from_b, to_b: pos_b, insert })
        })
    }

    pub(super) fn starts_from(&self, text: usize) -> ChangeResult<()> {
        let change = self.len();
        if change == text { Ok(()) } else { Err(ChangeError::LengthMismatch { change, text }) }
    }

    /// Adds a range that is kept (`addSection` with -1).
    pub(super) fn keep(&mut self, len: usize) {
        if len > 0 {
            self.add(ChangeSection { len: len as u32, ins: KEEP, bytes: 0 }, SectionJoin::Alike);
        }
    }

    /// Adds a change of `len` units to the text `insert` (`addSection` and `addInsert`).
    pub(super) fn change(&mut self, len: usize, insert: &str, join: SectionJoin) {
        let units = utf16_len(insert) as u32;
        self.change_measured(len as u32, units.cast_signed(), insert, join);
    }

    /// Adds a change as [`Self::change`] does, where the length of `insert` in UTF-16 units, `ins`,
    /// is known.
    pub(super) fn change_measured(&mut self, len: u32, ins: i32, insert: &str, join: SectionJoin) {
        if len > 0 || ins > 0 {
            self.inserted.push_str(insert);
            self.add(ChangeSection { len, ins, bytes: insert.len() as u32 }, join);
        }
    }

    fn add(&mut self, new: ChangeSection, join: SectionJoin) {
        match self.sections.last_mut() {
            Some(last) if new.ins == KEEP && last.ins == KEEP => last.len += new.len,
            Some(last) if join == SectionJoin::Always || last.is_alike(new) => {
                last.len += new.len;
                last.ins += new.ins;
                last.bytes += new.bytes;
            }
            _ => self.sections.push(new),
        }
    }

    /// Completes the set, which reaches `pos`, and puts it after `total`, which starts at the same
    /// text (`flush` in `ChangeSet.of`).
    fn joined(mut self, total: Option<Self>, pos: usize, len: usize) -> ChangeResult<Self> {
        self.keep(len - pos);
        match total {
            None => Ok(self),
            Some(total) => total.compose(&self.map(&total, super::MapOrder::After)?),
        }
    }
}

impl ChangeSection {
    /// Returns the length in the new text.
    pub fn new_len(self) -> u32 {
        if self.ins == KEEP { self.len } else { self.ins.cast_unsigned() }
    }

    /// Returns `true` if both sections only delete, or both only insert.
    pub(super) fn is_alike(self, other: Self) -> bool {
        self.ins == other.ins && other.ins <= 0 || self.len == 0 && other.len == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(from: usize, to: usize, insert: &str) -> TextEdit {
        TextEdit { from, to, insert: insert.into() }
    }

    fn applied(text: &str, edits: &[TextEdit]) -> String {
        let mut text = Text::new(text);
        ChangeSet::of(text.len(), edits).unwrap().apply(&mut text).unwrap();
        text.to_string()
    }

    #[test]
    fn edits_of_one_text_are_made_together() {
        assert_eq!(
            applied("hello world", &[edit(0, 5, "HELLO"), edit(6, 6, "big ")]),
            "HELLO big world"
        );
    }

    #[test]
    fn edits_need_not_be_sorted() {
        assert_eq!(
            applied("hello world", &[edit(6, 6, "big "), edit(0, 5, "HELLO")]),
            "HELLO big world"
        );
        assert_eq!(applied("abc", &[edit(1, 2, ""), edit(1, 2, "X")]), "aXc");
    }

    #[test]
    fn deleting_and_then_inserting_stay_two_sections() {
        let set = ChangeSet::of(4, &[edit(1, 3, ""), edit(3, 3, "xy")]).unwrap();
        assert_eq!(set.to_json(), r#"[1,[2],[0,"xy"],1]"#);
        assert_eq!(set.changed_ranges().count(), 1);
    }

    #[test]
    fn line_breaks_of_insertions_are_normalised() {
        let set = ChangeSet::of(0, &[edit(0, 0, "a\r\nb\rc")]).unwrap();
        assert_eq!((set.to_json(), set.new_len()), (r#"[[0,"a","b","c"]]"#.into(), 5));
    }

    #[test]
    fn a_set_for_another_length_is_not_applied() {
        let error = ChangeSet::identity(3).apply(&mut Text::new("ab")).unwrap_err();
        assert!(matches!(error, ChangeError::LengthMismatch { change: 3, text: 2 }), "{error}");
    }

    #[test]
    fn a_set_that_splits_a_character_changes_nothing() {
        let mut text = Text::new("ab😀cd");
        let set = ChangeSet::of(6, &[edit(0, 1, "X"), edit(3, 4, "")]).unwrap();
        let error = set.apply(&mut text).unwrap_err();
        assert!(
            matches!(error, ChangeError::Position(PositionError::InsideCharacter { at: 3 })),
            "{error}"
        );
        assert_eq!(text.to_string(), "ab😀cd");
    }

    #[test]
    fn the_inverse_restores_the_text() {
        let before = Text::new("one 😀 two\nthree");
        let set =
            ChangeSet::of(before.len(), &[edit(0, 3, "1"), edit(4, 6, "🎉🎉"), edit(10, 11, "")])
                .unwrap();
        let mut text = before.clone();
        set.apply(&mut text).unwrap();
        set.invert(&before).unwrap().apply(&mut text).unwrap();
        assert_eq!(text, before);
    }

    #[test]
    fn changed_ranges_carry_both_positions_and_the_new_text() {
        let set = ChangeSet::of(10, &[edit(1, 3, "abc"), edit(8, 8, "é")]).unwrap();
        let ranges: Vec<_> = set.changed_ranges().collect();
        assert_eq!(
            ranges[0],
            ChangedRange { from_a: 1, to_a: 3, from_b: 1, to_b: 4, insert: "abc" }
        );
        assert_eq!(
            ranges[1],
            ChangedRange { from_a: 8, to_a: 8, from_b: 9, to_b: 10, insert: "é" }
        );
    }
}
