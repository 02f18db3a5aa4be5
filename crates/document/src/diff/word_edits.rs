//! The words in which two texts differ, for an edit of the whole text that is applied at once.

use std::ops::Range;

use crate::utf16_len;

use super::draft::{DiffLimits, DraftPart};
use super::words::{WordNumbers, WordToken};
use super::{lcs, token_gaps};

/// Returns the edits that turn `old` into `new`, in order and disjoint, each of no more words than
/// differ: words that other people type meanwhile keep their place between the words that stay.
pub fn word_edits(old: &str, new: &str, limits: &DiffLimits) -> Vec<DraftPart> {
    let limits = &limits.for_texts(old, new);
    let old_lines: Vec<_> = old.split_inclusive('\n').collect();
    let new_lines: Vec<_> = new.split_inclusive('\n').collect();
    let (old_starts, new_starts) = (starts(&old_lines), starts(&new_lines));
    let mut edits = Vec::new();
    let (mut byte, mut unit) = (0, 0);
    for (o, n) in token_gaps(&old_lines, &new_lines, limits) {
        let gone = old_starts[o.start]..old_starts[o.end];
        let added = new_starts[n.start]..new_starts[n.end];
        for (gone, added) in words_that_differ((old, gone), (new, added), limits) {
            let base = &old[gone.clone()];
            let from = unit + utf16_len(&old[byte..gone.start]);
            (byte, unit) = (gone.end, from + utf16_len(base));
            let insert = new[added].to_owned();
            edits.push(DraftPart { from, to: unit, base: base.to_owned(), insert });
        }
    }
    edits
}

/// Returns the ranges of bytes in which two passages differ, word by word.
fn words_that_differ<'t>(
    (old, gone): (&'t str, Range<usize>),
    (new, added): (&'t str, Range<usize>),
    limits: &DiffLimits,
) -> Vec<(Range<usize>, Range<usize>)> {
    let mut numbers = WordNumbers::default();
    let mut words = |text: &'t str, range: &Range<usize>| numbers.tokens(text, range.clone());
    let (old_words, new_words) = (words(old, &gone), words(new, &added));
    let ids = |words: &[WordToken]| words.iter().map(|word| word.id).collect::<Vec<_>>();
    let bytes = |words: &[WordToken], range: &Range<usize>, end: usize| {
        let start = |index: usize| words.get(index).map_or(end, |word| word.range.start);
        start(range.start)..start(range.end)
    };
    lcs::gaps(&ids(&old_words), &ids(&new_words), limits)
        .iter()
        .map(|(o, n)| (bytes(&old_words, o, gone.end), bytes(&new_words, n, added.end)))
        .collect()
}

fn starts(pieces: &[&str]) -> Vec<usize> {
    let mut starts = vec![0];
    starts.extend(pieces.iter().scan(0, |end, piece| {
        *end += piece.len();
        Some(*end)
    }));
    starts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edits(old: &str, new: &str) -> Vec<(String, String)> {
        let edits = word_edits(old, new, &DiffLimits::default());
        let (mut made, mut at) = (String::new(), 0);
        let units: Vec<u16> = old.encode_utf16().collect();
        let slice = |range: Range<usize>| String::from_utf16(&units[range]).unwrap();
        for DraftPart { from, to, base, insert } in &edits {
            assert_eq!(&slice(*from..*to), base);
            made += &slice(at..*from);
            made += insert;
            at = *to;
        }
        assert_eq!(made + &slice(at..units.len()), new);
        edits.into_iter().map(|edit| (edit.base, edit.insert)).collect()
    }

    fn pairs<const N: usize>(pairs: [(&str, &str); N]) -> Vec<(String, String)> {
        pairs.map(|(base, insert)| (base.to_owned(), insert.to_owned())).to_vec()
    }

    #[test]
    fn only_the_words_that_differ_are_replaced_in_a_short_sentence_too() {
        assert_eq!(edits("start  end", "START  end"), pairs([("start", "START")]));
        assert_eq!(edits("start  end", "START  END"), pairs([("start", "START"), ("end", "END")]));
        assert_eq!(edits("start 日本 end", "start 日本 END"), pairs([("end", "END")]));
    }

    #[test]
    fn lines_that_stay_keep_their_place() {
        assert_eq!(edits("a\nb\nc\n", "a\nx\nb\nc\n"), pairs([("", "x\n")]));
        assert_eq!(edits("a\nb\n😀 c", "b\n😀 d"), pairs([("a\n", ""), ("c", "d")]));
        assert_eq!(edits("", "new"), pairs([("", "new")]));
        assert_eq!(edits("gone", ""), pairs([("gone", "")]));
        assert_eq!(edits("same", "same"), []);
    }

    #[test]
    fn edits_of_generated_texts_give_the_new_text() {
        let words = ["one", " ", "two", "  ", ".", "\n", "e\u{301}", "日本", "👍🏽", "\n\n"];
        for seed in 0..500 {
            let mut random = fastrand::Rng::with_seed(seed);
            let mut text = || -> String {
                (0..random.usize(0..40)).map(|_| words[random.usize(0..words.len())]).collect()
            };
            let (old, new) = (text(), text());
            edits(&old, &new);
        }
    }
}
