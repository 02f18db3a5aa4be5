//! Kinds of characters beside marks, which decide whether asterisks and tildes open or close.

/// Kind of a character, as `CommonMark` tells them apart beside a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CharacterClass {
    /// Blank, or the edge of the text.
    Blank,
    /// Punctuation in every version of the specification.
    Punctuation,
    /// Letter or digit.
    Word,
    /// Symbol, which counts as punctuation since 0.31 only, or a character of no width.
    Unclear,
}

use CharacterClass::{Blank, Punctuation, Unclear, Word};

impl CharacterClass {
    /// Returns the kind of a character; nothing is the edge of the text.
    pub fn of(sign: Option<char>) -> Self {
        let Some(sign) = sign else { return Blank };
        if sign.is_whitespace() {
            Blank
        } else if sign.is_ascii_punctuation() || is_punctuation(sign) {
            Punctuation
        } else if sign.is_alphanumeric() && !is_letter_like_symbol(sign) {
            Word
        } else {
            Unclear
        }
    }

    /// Returns the kind for a reader to which an unclear character is of the given kind.
    pub fn with_unclear(self, unclear: Self) -> Self {
        if self == Unclear { unclear } else { self }
    }
}

/// Returns whether a mark that stands between the two opens in some reader.
pub fn may_open(before: CharacterClass, after: CharacterClass) -> bool {
    match after {
        Blank => false,
        Word | Unclear => true,
        Punctuation => before != Word,
    }
}

/// Returns whether an underscore that stands between the two opens in some reader: within a word it
/// does not.
pub fn underscore_may_open(before: CharacterClass, after: CharacterClass) -> bool {
    may_open(before, after) && before != Word
}

/// Returns whether a character is punctuation (general category P) beyond ASCII. The blocks that
/// texts have are listed, the rest counts as unclear, which is safe.
fn is_punctuation(sign: char) -> bool {
    matches!(sign,
        '\u{a1}' | '\u{a7}' | '\u{ab}' | '\u{b6}' | '\u{b7}' | '\u{bb}' | '\u{bf}'
        | '\u{2010}'..='\u{2027}'
        | '\u{2030}'..='\u{2043}'
        | '\u{3001}'..='\u{3003}'
        | '\u{3008}'..='\u{3011}'
        | '\u{3014}'..='\u{301f}'
        | '\u{ff01}'..='\u{ff03}'
        | '\u{ff05}'..='\u{ff0a}'
        | '\u{ff0c}'..='\u{ff0f}'
        | '\u{ff1a}' | '\u{ff1b}' | '\u{ff1f}')
}

/// Returns whether a symbol counts as a letter for Rust, such as a letter in a circle.
fn is_letter_like_symbol(sign: char) -> bool {
    matches!(sign, '\u{24b6}'..='\u{24e9}' | '\u{1f130}'..='\u{1f189}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_have_the_kinds_that_marks_need() {
        let of = |sign| CharacterClass::of(Some(sign));
        assert!([' ', '\n', '\u{a0}', '\u{3000}'].map(of).iter().all(|it| *it == Blank));
        assert!(['*', '「', '：', '“', '«'].map(of).iter().all(|it| *it == Punctuation));
        assert!(['a', 'é', '注', '7', 'ß'].map(of).iter().all(|it| *it == Word));
        assert!(['€', '→', '🙂', '\u{200d}', 'Ⓐ'].map(of).iter().all(|it| *it == Unclear));
        assert_eq!(CharacterClass::of(None), Blank);
    }

    #[test]
    fn a_mark_opens_before_a_word_and_before_punctuation_only_after_no_word() {
        assert!(may_open(Word, Word) && may_open(Blank, Punctuation));
        assert!(may_open(Word, Unclear) && !may_open(Word, Punctuation) && !may_open(Word, Blank));
        assert!(!underscore_may_open(Word, Word) && underscore_may_open(Unclear, Word));
    }
}
