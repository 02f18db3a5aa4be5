//! Mending of marks that would not be read: punctuation and code at their edges lose the mark.

use super::delimiters::{Pair, UnreadPair};
use super::flanking::CharacterClass;
use super::marked_text::MarkedText;
use super::segments::{Content, InlineMark, Segment};

/// Brackets and quotation marks that stay together when one of them loses a mark.
const PARTNERS: [(char, char); 16] = [
    ('(', ')'),
    ('[', ']'),
    ('{', '}'),
    ('"', '"'),
    ('\'', '\''),
    ('“', '”'),
    ('‘', '’'),
    ('„', '“'),
    ('«', '»'),
    ('»', '«'),
    ('「', '」'),
    ('『', '』'),
    ('（', '）'),
    ('【', '】'),
    ('《', '》'),
    ('〈', '〉'),
];

/// Part of a segment that loses a mark.
#[derive(Clone, Copy, Debug)]
struct Unmarked {
    segment: usize,
    mark: InlineMark,
    /// First byte of the segment's text.
    from: usize,
    /// Byte behind the last one.
    to: usize,
}

/// Mends some of the marks that are not read. A link within a mark whose edge is in the way is
/// isolated: marks end before it and begin anew in it. If it `is_last`, all of them go.
pub fn mend(words: &mut MarkedText, isolated: &mut [bool], unread: &[UnreadPair], is_last: bool) {
    let mut unmarked = Vec::new();
    if is_last {
        for it in unread {
            unmark_all(words, &it.pair, &[it.pair.mark], &mut unmarked);
        }
    } else {
        for it in unread.iter().filter(|it| !it.opens || !it.closes) {
            mend_edges(words, isolated, it, &mut unmarked);
        }
        if unread.iter().all(|it| it.opens && it.closes) {
            // Signs of two marks side by side: the weaker one goes.
            let weakest = [InlineMark::Emphasis, InlineMark::Strong, InlineMark::Strikethrough]
                .into_iter()
                .find_map(|mark| unread.iter().find(|it| it.pair.mark == mark));
            if let Some(it) = weakest {
                unmark_all(words, &it.pair, &[it.pair.mark], &mut unmarked);
            }
        }
    }
    words.segments = apply(std::mem::take(&mut words.segments), &unmarked);
    words.trim_marks();
}

fn unmark_all(words: &MarkedText, pair: &Pair, marks: &[InlineMark], unmarked: &mut Vec<Unmarked>) {
    for segment in pair.from..pair.to {
        for mark in marks {
            let to = length_of(&words.segments[segment]);
            unmarked.push(Unmarked { segment, mark: *mark, from: 0, to });
        }
    }
}

fn mend_edges(
    words: &MarkedText,
    isolated: &mut [bool],
    unread: &UnreadPair,
    unmarked: &mut Vec<Unmarked>,
) {
    let pair = &unread.pair;
    let is_edge = |at: &usize| matches!(words.segments[*at].content, Content::Edge { .. });
    let Some(first) = (pair.from..pair.to).find(|at| !is_edge(at)) else { return };
    let last = (first..pair.to).rev().find(|at| !is_edge(at)).unwrap_or(first);
    for (segment, is_front) in [(first, true), (last, false)] {
        if if is_front { unread.opens } else { unread.closes } {
            continue;
        }
        if let Some(link) = link_at_edge(words, pair, segment).filter(|link| !isolated[*link]) {
            isolated[link] = true;
            continue;
        }
        let Some((from, to)) = without_word(&words.segments[segment], is_front) else {
            // The sign of another mark is in the way.
            let inner = [InlineMark::Emphasis, InlineMark::Strong];
            let is_struck = pair.mark == InlineMark::Strikethrough;
            let others = if is_struck { &inner[..] } else { std::slice::from_ref(&pair.mark) };
            unmark_all(words, pair, others, unmarked);
            return;
        };
        unmarked.push(Unmarked { segment, mark: pair.mark, from, to });
        let other = if is_front { last } else { first };
        if let Some((from, to)) = partner(words, segment, (from, to), other, is_front) {
            unmarked.push(Unmarked { segment: other, mark: pair.mark, from, to });
        }
    }
}

/// Returns the link of an edge of a mark that goes on beyond the link.
fn link_at_edge(words: &MarkedText, pair: &Pair, segment: usize) -> Option<usize> {
    let link = words.segments[segment].marks.link()?;
    let others = words.segments[pair.from..pair.to].iter();
    let is_part = others.clone().any(|it| it.marks.link() != Some(link));
    let is_whole = |at: Option<usize>| {
        at.and_then(|at| words.segments.get(at)).is_none_or(|it| it.marks.link() != Some(link))
    };
    let covers = is_whole(pair.from.checked_sub(1)) && is_whole(Some(pair.to));
    (is_part || covers).then_some(link)
}

/// Returns the part at an edge of a segment that is no letter or digit: all of an atom, of a text
/// the signs before the first word or behind the last one. Nothing if a word is at the edge.
fn without_word(segment: &Segment, is_front: bool) -> Option<(usize, usize)> {
    let Content::Text(text) = &segment.content else { return Some((0, 0)) };
    let is_word = |sign: &char| CharacterClass::of(Some(*sign)) == CharacterClass::Word;
    let range = if is_front {
        (0, text.find(|sign| is_word(&sign)).unwrap_or(text.len()))
    } else {
        let last = text.char_indices().rev().find(|(_, sign)| is_word(sign));
        (last.map_or(0, |(at, sign)| at + sign.len_utf8()), text.len())
    };
    (range.0 < range.1).then_some(range)
}

/// Returns the bracket at the other edge of a mark whose partner loses the mark.
fn partner(
    words: &MarkedText,
    segment: usize,
    (from, to): (usize, usize),
    other: usize,
    is_front: bool,
) -> Option<(usize, usize)> {
    let (Content::Text(text), Content::Text(far)) =
        (&words.segments[segment].content, &words.segments[other].content)
    else {
        return None;
    };
    let lost = &text[from..to];
    if is_front {
        let far = far.trim_end_matches(|sign: char| ".,;:!?。，、".contains(sign));
        let close = far.chars().next_back()?;
        let is_pair = PARTNERS.iter().any(|(open, it)| *it == close && lost.contains(*open));
        let at = far.len() - close.len_utf8();
        (is_pair && (other != segment || at >= to)).then(|| (at, length_of(&words.segments[other])))
    } else {
        let open = far.chars().next()?;
        let is_pair = PARTNERS.iter().any(|(it, close)| *it == open && lost.contains(*close));
        (is_pair && (other != segment || open.len_utf8() <= from)).then_some((0, open.len_utf8()))
    }
}

fn length_of(segment: &Segment) -> usize {
    if let Content::Text(text) = &segment.content { text.len() } else { 0 }
}

/// Takes the marks away; a segment that loses one in part becomes several.
fn apply(segments: Vec<Segment>, unmarked: &[Unmarked]) -> Vec<Segment> {
    let mut sorted = unmarked.to_vec();
    sorted.sort_by_key(|it| it.segment);
    let mut rest = sorted.as_slice();
    let mut made = Vec::with_capacity(segments.len() + unmarked.len());
    for (at, segment) in segments.into_iter().enumerate() {
        let count = rest.partition_point(|it| it.segment <= at);
        let (here, behind) = rest.split_at(count);
        rest = behind;
        if here.is_empty() {
            made.push(segment);
        } else {
            divide(segment, here, &mut made);
        }
    }
    made
}

fn divide(segment: Segment, unmarked: &[Unmarked], into: &mut Vec<Segment>) {
    let Content::Text(text) = &segment.content else {
        let mut segment = segment;
        for it in unmarked {
            segment.marks.remove(it.mark);
        }
        return into.push(segment);
    };
    let mut cuts: Vec<usize> = unmarked.iter().flat_map(|it| [it.from, it.to]).collect();
    cuts.extend([0, text.len()]);
    cuts.sort_unstable();
    cuts.dedup();
    for two in cuts.windows(2) {
        let mut marks = segment.marks;
        for it in unmarked.iter().filter(|it| it.from <= two[0] && two[1] <= it.to) {
            marks.remove(it.mark);
        }
        into.push(Segment { content: Content::Text(text[two[0]..two[1]].to_owned()), marks });
    }
}
