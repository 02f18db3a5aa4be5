//! Text of a document; the only place that converts between UTF-16 units and ropey's characters.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use ropey::Rope;
use ropey::str_utils::char_to_byte_idx;

use super::encoded_text::EncodingCache;

/// Changed range of a [`ChangeSet`](super::ChangeSet), in the old text (`a`) and in the new text
/// (`b`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChangedRange<'a> {
    /// Start in the old text.
    pub from_a: usize,
    /// End in the old text.
    pub to_a: usize,
    /// Start in the new text.
    pub from_b: usize,
    /// End in the new text.
    pub to_b: usize,
    /// Text of the new range.
    pub insert: &'a str,
}

/// A position that cannot be used with a [`Text`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PositionError {
    /// The range is reversed or reaches past the end.
    #[error("range {from}..{to} is outside the text of length {len}")]
    OutOfRange {
        /// Start of the requested range.
        from: usize,
        /// End of the requested range.
        to: usize,
        /// Length of the text.
        len: usize,
    },
    /// The position is between the two halves of a surrogate pair.
    #[error("position {at} is inside a character")]
    InsideCharacter {
        /// The position.
        at: usize,
    },
}

/// Text of a document: a rope with `\n` line breaks only. Cloning is cheap: clones share unchanged
/// parts.
#[derive(Clone, Debug, Default)]
pub struct Text {
    rope: Rope,
    /// Length in UTF-16 units; the rope would walk over its top nodes to compute it.
    len: usize,
    /// Range around the last change, where the next one is likely.
    near: BmpRange,
    /// Encoded form of exactly this text.
    pub(super) encoding: EncodingCache,
}

/// A range of text without surrogate pairs: in it, UTF-16 positions and character positions differ
/// by a constant.
#[derive(Clone, Copy, Debug, Default)]
struct BmpRange {
    from: usize,
    to: usize,
    /// Surrogate pairs before the range.
    pairs: usize,
}

impl Text {
    /// Creates a text with every `\r\n` and `\r` turned into `\n`, as CodeMirror does
    /// (`DefaultSplit` in codemirror/state `text.ts`).
    pub fn new(text: &str) -> Self {
        let rope = Rope::from_str(&normalize_breaks(text));
        Self { len: rope.len_utf16_cu(), rope, ..Self::default() }
    }

    /// Returns the length in UTF-16 units.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns `true` if there is no text at all.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns `true` if `at` is in the text and not inside a surrogate pair.
    pub fn is_boundary(&self, at: usize) -> bool {
        self.char_at(at).is_ok()
    }

    /// Returns the text of a range of UTF-16 units.
    pub fn slice(&self, range: Range<usize>) -> Result<String, PositionError> {
        let chars = self.chars_in(range.start, range.end)?;
        Ok(self.rope.slice(chars).to_string())
    }

    pub(super) fn chunks(&self) -> impl Iterator<Item = &str> {
        self.rope.chunks()
    }

    /// Replaces ranges, given in order and disjoint. All or nothing: every boundary is checked
    /// before the first change.
    pub(super) fn replace_all<'a>(
        &mut self,
        ranges: impl Iterator<Item = ChangedRange<'a>> + Clone,
    ) -> Result<(), PositionError> {
        // A single range is checked by `replace`.
        if ranges.clone().nth(1).is_some() {
            for range in ranges.clone() {
                self.chars_in(range.from_a, range.to_a)?;
            }
        }
        for range in ranges {
            let replaced = range.from_b..range.from_b + (range.to_a - range.from_a);
            self.replace(replaced, range.insert, range.to_b - range.from_b)?;
        }
        Ok(())
    }

    /// Replaces one range by `insert` of `units` units; fails if its boundaries are no positions in
    /// this text.
    pub(super) fn replace(
        &mut self,
        range: Range<usize>,
        insert: &str,
        units: usize,
    ) -> Result<(), PositionError> {
        if !self.near.holds(range.start) {
            self.move_near(range.start);
        }
        let chars = match self.near.chars(&range) {
            Some(chars) => chars,
            None => self.chars_in(range.start, range.end)?,
        };
        let at = chars.start;
        self.encoding.clear();
        if !chars.is_empty() {
            self.rope.remove(chars);
        }
        if !insert.is_empty() {
            self.rope.insert(at, insert);
        }
        self.len = self.len - range.len() + units;
        self.near.replace(range, insert, units);
        Ok(())
    }

    fn chars_in(&self, from: usize, to: usize) -> Result<Range<usize>, PositionError> {
        if from > to || to > self.len {
            return Err(PositionError::OutOfRange { from, to, len: self.len });
        }
        let start = self.char_at(from)?;
        Ok(start..if from == to { start } else { self.char_at(to)? })
    }

    fn char_at(&self, at: usize) -> Result<usize, PositionError> {
        if self.near.holds(at) {
            return Ok(at - self.near.pairs);
        }
        if at > self.len {
            return Err(PositionError::OutOfRange { from: at, to: at, len: self.len });
        }
        // Without surrogate pairs both lengths are equal, and so are both positions.
        if self.len == self.rope.len_chars() {
            return Ok(at);
        }
        // Ropey silently rounds a position inside a pair down, so convert it back and compare.
        let char = self.rope.utf16_cu_to_char(at);
        if self.rope.char_to_utf16_cu(char) == at {
            Ok(char)
        } else {
            Err(PositionError::InsideCharacter { at })
        }
    }

    /// Makes `near` a range that contains `at`, if `at` is a position in the text.
    fn move_near(&mut self, at: usize) {
        if at > self.len {
            return;
        }
        // Without surrogate pairs both kinds of position are equal: the usual case, and cheap to
        // detect.
        if self.len == self.rope.len_chars() {
            self.near = BmpRange { from: 0, to: self.len, pairs: 0 };
            return;
        }
        let char = self.rope.utf16_cu_to_char(at);
        let (chunk, _, chunk_char, _) = self.rope.chunk_at_char(char);
        let (before, after) = chunk.split_at(char_to_byte_idx(chunk, char - chunk_char));
        if after.starts_with(needs_pair) && self.rope.char_to_utf16_cu(char) != at {
            return;
        }
        // Only characters that need a pair begin with such a byte.
        let starts_pair = |byte: u8| byte >= 0xf0;
        let before =
            before.bytes().rposition(starts_pair).map_or(before, |byte| &before[byte + 4..]);
        let after = after.bytes().position(starts_pair).map_or(after, |byte| &after[..byte]);
        let (from, to) = (at - before.chars().count(), at + after.chars().count());
        self.near = BmpRange { from, to, pairs: at - char };
    }
}

impl BmpRange {
    fn holds(self, at: usize) -> bool {
        (self.from..=self.to).contains(&at)
    }

    fn chars(self, range: &Range<usize>) -> Option<Range<usize>> {
        let inside = self.from <= range.start && range.start <= range.end && range.end <= self.to;
        inside.then(|| range.start - self.pairs..range.end - self.pairs)
    }

    fn replace(&mut self, range: Range<usize>, insert: &str, units: usize) {
        // Equal numbers of units and bytes mean ASCII.
        if units < insert.len() && insert.contains(needs_pair) {
            self.to = range.start;
        } else {
            let rest = self.to.saturating_sub(range.end);
            self.to = range.start + units + rest;
        }
    }
}

fn needs_pair(char: char) -> bool {
    char > '\u{ffff}'
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        self.rope == other.rope
    }
}

impl Eq for Text {}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.rope.chunks().try_for_each(|chunk| f.write_str(chunk))
    }
}

/// Returns the length of a string in UTF-16 units.
pub fn utf16_len(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.chars().map(char::len_utf16).sum() }
}

/// Returns the text with `\n` for every line break.
pub(super) fn normalize_breaks(text: &str) -> Cow<'_, str> {
    if text.contains('\r') {
        Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n"))
    } else {
        Cow::Borrowed(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_break_becomes_one_unit() {
        let text = Text::new("a\r\nb\rc\u{2028}d\n");
        assert_eq!(text.to_string(), "a\nb\nc\u{2028}d\n");
        assert_eq!(text.len(), 8);
    }

    #[test]
    fn positions_inside_a_surrogate_pair_are_no_boundaries() {
        let text = Text::new("a😀b");
        let boundaries: Vec<usize> = (0..6).filter(|&at| text.is_boundary(at)).collect();
        assert_eq!(boundaries, [0, 1, 3, 4]);
        assert_eq!(text.slice(1..3).unwrap(), "😀");
        assert_eq!(text.slice(2..3), Err(PositionError::InsideCharacter { at: 2 }));
    }

    #[test]
    #[expect(clippy::reversed_empty_ranges, reason = "a reversed range is what is tested")]
    fn ranges_outside_the_text_are_refused() {
        let text = Text::new("abc");
        assert_eq!(text.slice(1..4), Err(PositionError::OutOfRange { from: 1, to: 4, len: 3 }));
        assert_eq!(text.slice(2..1), Err(PositionError::OutOfRange { from: 2, to: 1, len: 3 }));
        assert_eq!(text.slice(3..3).unwrap(), "");
    }

    #[test]
    fn lengths_count_utf16_units() {
        let text = Text::new("👨‍👩‍👧 né");
        assert_eq!(text.len(), 11);
        assert_eq!(utf16_len("👨‍👩‍👧 né"), 11);
    }

    #[test]
    fn the_hash_is_that_of_the_normalised_text() {
        assert_eq!(Text::new("a\r\nb").hash(), Text::new("a\nb").hash());
        assert_eq!(
            Text::new("abc").hash(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }

    /// A text as a browser holds it.
    fn units(text: &str) -> Vec<u16> {
        text.encode_utf16().collect()
    }

    #[test]
    fn random_replacements_agree_with_a_list_of_units() {
        for seed in 0..200 {
            let mut random = fastrand::Rng::with_seed(seed);
            let mut text = Text::new("a😀b");
            let mut model = units("a😀b");
            for _ in 0..200 {
                let len = model.len();
                let near = random.usize(..=len);
                let from = if random.bool() { near } else { near.min(random.usize(..=len)) };
                let to = (from + random.usize(..4)).min(len);
                let insert = ["", "x", "é漢", "😀", "a𝒜b", "plain text\n"][random.usize(..6)];
                let mut changed = model.clone();
                changed.splice(from..to, units(insert));
                let splits = |at: usize| at < len && (0xdc00..0xe000).contains(&model[at]);
                let replaced = text.replace(from..to, insert, utf16_len(insert));
                if splits(from) || splits(to) {
                    assert!(replaced.is_err(), "seed {seed}: {from}..{to} splits a pair");
                } else {
                    replaced.unwrap();
                    model = changed;
                }
                assert_eq!(units(&text.to_string()), model, "seed {seed}: {from}..{to} {insert:?}");
                assert_eq!(text.len(), model.len(), "seed {seed}");
            }
        }
    }
}
