//! Words, the white space between them, and the differences between two sentences in them.

use std::collections::HashMap;
use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::draft::DiffLimits;
use super::lcs::gaps;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    Word,
    Space,
    Mark,
}

/// A word, a run of blank space or a punctuation mark; never cuts a word or a grapheme.
#[derive(Clone, Debug)]
pub(super) struct WordToken {
    /// Bytes in the text.
    pub range: Range<usize>,
    /// Number of the word; equal words have equal numbers, in both texts.
    pub id: u32,
    pub stuff: TokenKind,
}

/// Numbers for words, so that comparing them is cheap.
#[derive(Default)]
pub(super) struct WordNumbers<'a> {
    ids: HashMap<&'a str, u32>,
}

impl<'a> WordNumbers<'a> {
    pub fn id(&mut self, piece: &'a str) -> u32 {
        let next = self.ids.len() as u32;
        *self.ids.entry(piece).or_insert(next)
    }

    pub fn tokens(&mut self, text: &'a str, range: Range<usize>) -> Vec<WordToken> {
        let mut tokens = Vec::new();
        cut(&text[range.clone()], |from, to| {
            let range = range.start + from..range.start + to;
            let piece = &text[range.clone()];
            tokens.push(WordToken { id: self.id(piece), stuff: stuff(piece), range });
        });
        tokens
    }
}

fn stuff(piece: &str) -> TokenKind {
    if piece.chars().all(char::is_whitespace) {
        TokenKind::Space
    } else if piece.chars().any(char::is_alphanumeric) {
        TokenKind::Word
    } else {
        TokenKind::Mark
    }
}

/// Calls `give` for each token of `text`: the word boundaries of UAX 29 that are also grapheme
/// boundaries.
fn cut(text: &str, mut give: impl FnMut(usize, usize)) {
    let mut from = 0;
    if text.is_ascii() {
        // Every ASCII character is a grapheme of its own, except CR LF, which is one word as well.
        for word in text.split_word_bounds() {
            give(from, from + word.len());
            from += word.len();
        }
        return;
    }
    let mut graphemes = text.grapheme_indices(true).map(|(at, _)| at).peekable();
    let mut at = 0;
    for word in text.split_word_bounds() {
        at += word.len();
        while graphemes.peek().is_some_and(|&start| start < at) {
            graphemes.next();
        }
        if graphemes.peek().is_none_or(|&start| start == at) {
            give(from, at);
            from = at;
        }
    }
}

/// Numbers and sizes of words, sorted, without white space.
pub(super) type WordBag = Vec<(u32, u32)>;

/// Returns the words of tokens in no order.
pub(super) fn bag(tokens: &[WordToken]) -> WordBag {
    let solid = tokens.iter().filter(|it| it.stuff != TokenKind::Space);
    let mut bag: WordBag = solid.map(|it| (it.id, it.range.len() as u32)).collect();
    bag.sort_unstable();
    bag
}

/// Returns the size of words, in bytes.
pub(super) fn weight(bag: &[(u32, u32)]) -> u32 {
    bag.iter().map(|(_, weight)| weight).sum()
}

/// Counts the words among tokens.
pub(super) fn count_words(tokens: &[WordToken]) -> usize {
    tokens.iter().filter(|it| it.stuff == TokenKind::Word).count()
}

/// A run of tokens replaced by another run; either may be empty. Indices into the two token lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TokenSwap {
    pub old: Range<usize>,
    pub new: Range<usize>,
}

pub(super) struct SentenceComparison {
    pub swaps: Vec<TokenSwap>,
    /// Likeness from 0 (nothing in common) to 1 (equal), by the letters that stay; white space does
    /// not count.
    pub likeness: f64,
}

pub(super) fn compare(
    old: &[WordToken],
    new: &[WordToken],
    texts: (&str, &str),
    limits: &DiffLimits,
) -> SentenceComparison {
    let ids = |tokens: &[WordToken]| tokens.iter().map(|t| t.id).collect::<Vec<_>>();
    let gaps = gaps(&ids(old), &ids(new), limits).into_iter();
    let mut swaps: Vec<_> = gaps.map(|(old, new)| TokenSwap { old, new }).collect();
    let replaced: usize = swaps.iter().map(|s| letters(&old[s.old.clone()])).sum();
    let kept = letters(old) - replaced;
    let credit: f64 =
        swaps.iter().map(|s| spelling(&old[s.old.clone()], &new[s.new.clone()], texts)).sum();
    slide(&mut swaps, old, new);
    let all = letters(old) + letters(new);
    let likeness = if all == 0 { 1.0 } else { 2.0 * (kept as f64 + credit) / all as f64 };
    SentenceComparison { swaps, likeness }
}

/// Counts the bytes that are not white space.
fn letters(tokens: &[WordToken]) -> usize {
    tokens.iter().filter(|t| t.stuff != TokenKind::Space).map(|t| t.range.len()).sum()
}

/// Counts the letters that stay although the word changed, as in a corrected spelling.
fn spelling(old: &[WordToken], new: &[WordToken], (old_text, new_text): (&str, &str)) -> f64 {
    let words = |tokens: &[WordToken]| tokens.iter().filter(|t| t.stuff == TokenKind::Word).count();
    if words(old) != words(new) {
        return 0.0;
    }
    let pick = |t: &&WordToken| t.stuff == TokenKind::Word;
    old.iter()
        .filter(pick)
        .zip(new.iter().filter(pick))
        .map(|(o, n)| shared_letters(&old_text[o.range.clone()], &new_text[n.range.clone()]) as f64)
        .sum()
}

/// Returns `true` if one word looks like a misspelling of the other.
pub(super) fn is_spelling(old: &str, new: &str) -> bool {
    2 * shared_letters(old, new) >= old.len().max(new.len())
}

/// Counts the bytes of the common start and end of two words.
fn shared_letters(old: &str, new: &str) -> usize {
    let head = old.bytes().zip(new.bytes()).take_while(|(o, n)| o == n).count();
    let rest = old.len().min(new.len()) - head;
    let tail =
        old.bytes().rev().zip(new.bytes().rev()).take(rest).take_while(|(o, n)| o == n).count();
    head + tail
}

/// Moves added or removed words over an equal space, so that they read as `word␣` and not as
/// `␣word`.
fn slide(swaps: &mut [TokenSwap], old: &[WordToken], new: &[WordToken]) {
    for index in 0..swaps.len() {
        let limit = swaps.get(index + 1).map_or(old.len(), |next| next.old.start);
        let swap = &mut swaps[index];
        let (run, tokens) = match (swap.old.is_empty(), swap.new.is_empty()) {
            (true, false) => (swap.new.clone(), new),
            (false, true) => (swap.old.clone(), old),
            _ => continue,
        };
        let first = &tokens[run.start];
        let follows = swap.old.end < limit && old[swap.old.end].id == first.id;
        if first.stuff == TokenKind::Space && follows {
            *swap = TokenSwap {
                old: swap.old.start + 1..swap.old.end + 1,
                new: swap.new.start + 1..swap.new.end + 1,
            };
        }
    }
}
