//! Places to cut long text, so that each change stays readable.

use std::ops::Range;

use super::align::WordedUnit;
use super::blocks::{BlockKind, DiffUnit};
use super::words::{TokenKind, TokenSwap, WordToken};
use crate::utf16_len;

/// Maximum number of UTF-16 units of a change of prose: about the length of a readable paragraph.
pub(super) const LONGEST: usize = 1_200;

/// Average length of the pieces of a replacement; each end may move by a quarter of it.
const AIM: usize = LONGEST * 2 / 3;

/// Minimum average length of pieces; smaller ones would be useless.
const SCRAP: usize = AIM / 4;

const SENTENCE_MARKS: &[char] = &['.', '!', '?', '…', '。', '！', '？', '।', '။', '؟'];
const CLAUSE_MARKS: &[char] = &[',', ';', ':', '–', '—', '，', '、', '；', '：', '،', '؛'];
const CLOSERS: &[char] =
    &['"', '\'', ')', ']', '}', '”', '’', '»', '」', '』', '）', '*', '_', '`'];

/// Number of tokens searched before a place for the mark that a sentence ends with.
const MOST_CLOSERS: usize = 8;

/// Quality of a place for a cut; the best comes last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum SplitPoint {
    /// Between two words of a script that sets no spaces.
    Words,
    Space,
    Clause,
    Sentence,
}

/// Returns `true` if a passage is too long for one change.
pub(super) fn is_long(text: &str) -> bool {
    // There are never fewer bytes than units, so short texts need no counting.
    text.len() > LONGEST && utf16_len(text) > LONGEST
}

/// Returns `true` if this is a sentence too long for one change.
pub(super) fn is_long_sentence(text: &str, sentence: &WordedUnit) -> bool {
    sentence.unit.kind == BlockKind::Prose && is_long(&text[sentence.unit.range.clone()])
}

/// Returns the sentences, with prose cut wherever a sentence may have ended, also where the next
/// one begins in lower case.
pub(super) fn at_sentence_marks(text: &str, sentences: &[WordedUnit]) -> Vec<WordedUnit> {
    let mut pieces = Vec::with_capacity(sentences.len());
    for WordedUnit { unit, tokens, .. } in sentences {
        let is_end = |at: &usize| seam(text, tokens, *at) == Some(SplitPoint::Sentence);
        let ends = (1..tokens.len()).filter(|at| unit.kind == BlockKind::Prose && is_end(at));
        let mut from = 0;
        for to in ends.chain([tokens.len()]) {
            let start = tokens.get(from).map_or(unit.range.start, |token| token.range.start);
            let end = tokens.get(to).map_or(unit.range.end, |token| token.range.start);
            let unit = DiffUnit { range: start..end, ..unit.clone() };
            pieces.push(WordedUnit::new(tokens[from..to].to_vec(), unit));
            from = to;
        }
    }
    pieces
}

/// Cuts a replacement into pieces of readable length, both sides at corresponding places. A side
/// that is short beside the other one stays whole, in the first piece.
pub(super) fn evenly(
    old: (&str, &[WordToken]),
    new: (&str, &[WordToken]),
    swap: &TokenSwap,
) -> Vec<TokenSwap> {
    let count = size(old, &swap.old).max(size(new, &swap.new));
    let count = if count > LONGEST { count.div_ceil(AIM) } else { 1 };
    let (left, right) = (cuts(old, &swap.old, count), cuts(new, &swap.new, count));
    let mut from = (swap.old.start, swap.new.start);
    let mut pieces = Vec::with_capacity(count);
    for to in left.into_iter().zip(right).chain([(swap.old.end, swap.new.end)]) {
        if to != from {
            pieces.push(TokenSwap { old: from.0..to.0, new: from.1..to.1 });
        }
        from = to;
    }
    pieces
}

/// Returns the length of a run of tokens in UTF-16 units.
pub(super) fn size((text, tokens): (&str, &[WordToken]), run: &Range<usize>) -> usize {
    tokens[run.clone()].iter().map(|token| utf16_len(&text[token.range.clone()])).sum()
}

/// Returns the places to cut a run into `count` pieces: near the even places, at the best split
/// point. Where there is none, a piece is empty.
fn cuts((text, tokens): (&str, &[WordToken]), run: &Range<usize>, count: usize) -> Vec<usize> {
    let all = size((text, tokens), run);
    if all < SCRAP * count {
        return vec![run.end; count - 1];
    }
    let mut cuts = Vec::with_capacity(count);
    let (mut at, mut passed, mut last) = (run.start, 0, run.start);
    for number in 1..count {
        let (even, reach) = (all * number / count, all / count / 4);
        let mut best = None;
        while at < run.end && passed <= even + reach {
            if passed + reach >= even && at > last {
                let found = seam(text, tokens, at);
                let rank = found.map(|seam| (seam, std::cmp::Reverse(passed.abs_diff(even)), at));
                best = best.max(rank);
            }
            passed += size((text, tokens), &(at..at + 1));
            at += 1;
        }
        last = best.map_or(last, |(_, _, at)| at);
        cuts.push(last);
    }
    cuts
}

/// Returns the kind of split point before a token.
fn seam(text: &str, tokens: &[WordToken], at: usize) -> Option<SplitPoint> {
    let (before, next) = (tokens.get(at.checked_sub(1)?)?, tokens.get(at)?);
    let piece = |token: &WordToken| &text[token.range.clone()];
    if next.stuff == TokenKind::Space {
        return None;
    }
    let is_space = before.stuff == TokenKind::Space;
    // A mark at the beginning of a line may have a meaning in Markdown.
    if is_space && piece(before).contains('\n') && next.stuff != TokenKind::Word {
        return None;
    }
    // The limit bounds the cost for a text that has only such marks.
    let mut behind = tokens[..at - usize::from(is_space)].iter().rev().take(MOST_CLOSERS);
    let mark = behind.find(|token| !piece(token).chars().all(|c| CLOSERS.contains(&c)));
    let mark = mark.filter(|token| token.stuff == TokenKind::Mark).map_or("", |token| piece(token));
    let is_wide = !mark.is_ascii() && !mark.ends_with(['…', '–', '—']);
    let is_closed = !piece(next).chars().all(|c| CLOSERS.contains(&c) || !c.is_alphanumeric());
    if mark.ends_with(SENTENCE_MARKS) && (is_space || is_wide && is_closed) {
        Some(SplitPoint::Sentence)
    } else if mark.ends_with(CLAUSE_MARKS) && (is_space || is_wide && is_closed) {
        Some(SplitPoint::Clause)
    } else if is_space {
        Some(SplitPoint::Space)
    } else {
        let words = before.stuff == TokenKind::Word && next.stuff == TokenKind::Word;
        words.then_some(SplitPoint::Words)
    }
}

#[cfg(test)]
mod tests;
