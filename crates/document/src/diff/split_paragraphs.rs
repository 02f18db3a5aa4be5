//! Splitting of long added or removed paragraphs at the ends of sentences into pieces that can be
//! accepted one at a time.
//!
//! A piece brings the space that separates it on one side only, so that all pieces together are
//! exactly the proposed text: its pieces begin with their space where a paragraph is before it, and
//! end with it where one is behind it. Whichever pieces are accepted, no words are glued together,
//! and headings, lists and code keep their form. Where neither neighbour is a paragraph, the new
//! one stays whole.

use std::ops::Range;

use super::align::WordedUnit;
use super::blocks::{BlockKind, TextBlock, blocks, units};
use super::draft::{DraftPart, HunkDraft, HunkKind};
use super::split_points::{self, LONGEST, at_sentence_marks};
use super::words::WordNumbers;
use crate::utf16_len;

/// Side on which pieces carry the space between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SpaceSide {
    /// Pieces begin with the space and continue the text before.
    Lead,
    /// Pieces end with the space and are continued by the text behind.
    Tail,
}

/// Document in which the changes are made: `before` + `old` + `after`.
#[derive(Clone, Copy)]
pub(super) struct SplitContext<'a> {
    pub before: &'a str,
    pub old: &'a str,
    pub after: &'a str,
}

/// Returns `hunks`, changes of `old` in order, with long new paragraphs in pieces.
pub(super) fn cut(place: SplitContext, hunks: Vec<HunkDraft>) -> Vec<HunkDraft> {
    if !hunks.iter().any(is_long) {
        return hunks;
    }
    let page = SplitText::of(place, &hunks);
    let mut cut = Vec::with_capacity(hunks.len());
    // Additions at one place are neighbours, so they are handled together.
    for run in hunks.chunk_by(|a, b| is_added(a) && is_added(b) && a.parts[0].to == b.parts[0].to) {
        match run.iter().any(is_long).then(|| page.in_pieces(run)).flatten() {
            Some(pieces) => cut.extend(pieces),
            None => cut.extend_from_slice(run),
        }
    }
    cut
}

/// Returns `hunks` in order, with long removed paragraphs in pieces: in the reverse change, from
/// `new`, they are additions.
pub(super) fn cut_removed(place: SplitContext, new: &str, hunks: Vec<HunkDraft>) -> Vec<HunkDraft> {
    let back = turned_back(&hunks);
    if back.iter().any(is_long) {
        turned_back(&cut(SplitContext { old: new, ..place }, back))
    } else {
        hunks
    }
}

fn turned_back(hunks: &[HunkDraft]) -> Vec<HunkDraft> {
    let (mut gone, mut come) = (0, 0);
    let mut back = |part: &DraftPart| {
        let from = part.from + come - gone;
        gone += part.to - part.from;
        let inserted = utf16_len(&part.insert);
        come += inserted;
        let (base, insert) = (part.insert.clone(), part.base.clone());
        DraftPart { from, to: from + inserted, base, insert }
    };
    let turned = |hunk: &HunkDraft| HunkDraft {
        parts: hunk.parts.iter().map(&mut back).collect(),
        ..hunk.clone()
    };
    hunks.iter().map(turned).collect()
}

/// Returns `true` if a change only adds words, at one place. Words that move are one decision, so
/// they do not count.
fn is_added(hunk: &HunkDraft) -> bool {
    hunk.kind != Some(HunkKind::Moved)
        && matches!(hunk.parts.as_slice(), [part] if part.base.is_empty())
}

fn is_long(hunk: &HunkDraft) -> bool {
    is_added(hunk) && split_points::is_long(&hunk.parts[0].insert)
}

struct SplitText {
    text: String,
    blocks: Vec<TextBlock>,
    /// Part of the text that may be changed.
    range: Range<usize>,
    /// Replaced ranges and their replacements, in order.
    parts: Vec<(Range<usize>, DraftPart)>,
}

impl SplitText {
    fn of(SplitContext { before, old, after }: SplitContext, hunks: &[HunkDraft]) -> Self {
        let (mut unit, mut byte) = (0, before.len());
        let text = [before, old, after].concat();
        let mut at = |to: usize| {
            while unit < to {
                let Some(c) = text[byte..].chars().next() else { break };
                unit += c.len_utf16();
                byte += c.len_utf8();
            }
            byte
        };
        let parts = hunks.iter().flat_map(|hunk| &hunk.parts);
        let parts = parts.map(|part| (at(part.from)..at(part.to), part.clone())).collect();
        let range = before.len()..before.len() + old.len();
        Self { blocks: blocks(&text), text, range, parts }
    }

    /// Returns additions at one place with the long ones in pieces; `None` if none can be cut.
    fn in_pieces(&self, run: &[HunkDraft]) -> Option<Vec<HunkDraft>> {
        let first = &run.first()?.parts[0];
        let at = self.parts.iter().find(|(_, part)| part == first)?.0.start;
        let texts: Vec<&str> = run.iter().map(|hunk| hunk.parts[0].insert.as_str()).collect();
        // Words that move to this place too would change places with additions that lead.
        let are_alone = self.parts.iter().filter(|(it, _)| *it == (at..at)).count() == run.len();
        let lead = self.leading(at, &texts).filter(|(back, _)| *back == 0 || are_alone);
        let lead = lead.map(|(back, texts)| {
            let may = |k: usize| {
                self.goes_on_before(at - back) && texts[..k].iter().all(|it| is_prose(it))
            };
            (
                first.from - utf16_len(&self.text[at - back..at]),
                pieces(&texts, SpaceSide::Lead, may),
            )
        });
        let borrowed = || texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let tail = self.may_lead_in(at).then(|| {
            let may = |k: usize| {
                self.goes_on_behind(at)
                    && texts[k].starts_with(|c: char| !c.is_whitespace())
                    && texts[k + 1..].iter().all(|it| is_prose(it))
            };
            (first.from, pieces(&borrowed(), SpaceSide::Tail, may))
        });
        let most = [lead, tail].into_iter().flatten().max_by_key(|(_, pieces)| pieces.len())?;
        let (from, pieces) = most;
        if pieces.len() == run.len() {
            return None;
        }
        let hunk = |(index, insert): (usize, String)| {
            let part = DraftPart { from, to: from, base: String::new(), insert };
            let HunkDraft { kind, group, .. } = run[index];
            HunkDraft { kind, group, ..HunkDraft::from(vec![part]) }
        };
        Some(pieces.into_iter().map(hunk).collect())
    }

    /// Returns the additions so that each begins with its space, and the number of bytes by which
    /// they move to the left. They move only where the same space is before them as behind each of
    /// them, by one such space.
    fn leading(&self, at: usize, texts: &[&str]) -> Option<(usize, Vec<String>)> {
        let behind = &self.text[at..];
        let ends_here = behind.is_empty() || behind.starts_with(char::is_whitespace);
        if ends_here && texts.iter().all(|text| text.trim_end() == *text) {
            return Some((0, texts.iter().map(|text| (*text).to_owned()).collect()));
        }
        let first = texts.first()?;
        let gap = &first[first.trim_end().len()..];
        let start = at.checked_sub(gap.len()).filter(|start| *start >= self.range.start)?;
        let is_free =
            |(range, _): &(Range<usize>, DraftPart)| range.end <= start || range.start >= at;
        let fits = |text: &&str| {
            text.strip_suffix(gap).is_some_and(|body| body.trim() == body && !body.is_empty())
        };
        let moves = !gap.is_empty()
            && self.text[..at].ends_with(gap)
            && self.parts.iter().all(is_free)
            && texts.iter().all(fits);
        let turned = |text: &&str| format!("{gap}{}", text.trim_end());
        moves.then(|| (gap.len(), texts.iter().map(turned).collect()))
    }

    /// Returns `true` if `at` is at the beginning of a line or behind a space.
    fn may_lead_in(&self, at: usize) -> bool {
        at == 0 || self.text[..at].ends_with(char::is_whitespace)
    }

    /// Returns `true` if the text before `at` is a paragraph that a sentence can be added to, also
    /// when other changes delete words.
    fn goes_on_before(&self, mut at: usize) -> bool {
        loop {
            let before = &self.text[..at];
            if before.trim_end() != before || !self.is_prose_at(at.wrapping_sub(1)) {
                return false;
            }
            match self.deleted_at(|range| range.end == at) {
                Some((_, part)) if !part.insert.is_empty() && !is_prose(&part.insert) => {
                    return false;
                }
                Some((range, _)) => at = range.start,
                None => return true,
            }
        }
    }

    /// Returns `true` if a sentence can be added before the text from `at` on, also when other
    /// changes delete words.
    fn goes_on_behind(&self, mut at: usize) -> bool {
        loop {
            let rest = &self.text[at..];
            let block = self.block_at(at);
            let is_space = rest.starts_with(char::is_whitespace)
                && block.is_some_and(|block| block.kind != BlockKind::Code);
            if !rest.is_empty() && !is_space && !self.is_prose_at(at) {
                return false;
            }
            match self.deleted_at(|range| range.start == at) {
                Some((_, part)) if !part.insert.is_empty() && !is_prose(&part.insert) => {
                    return false;
                }
                Some((range, _)) => at = range.end,
                None => return true,
            }
        }
    }

    /// Returns the change that deletes the words in such a range.
    fn deleted_at(&self, at: impl Fn(&Range<usize>) -> bool) -> Option<&(Range<usize>, DraftPart)> {
        self.parts.iter().find(|(range, _)| at(range) && !range.is_empty())
    }

    fn block_at(&self, byte: usize) -> Option<&TextBlock> {
        self.blocks.get(self.blocks.partition_point(|block| block.range.end <= byte))
    }

    fn is_prose_at(&self, byte: usize) -> bool {
        let block = self.block_at(byte).filter(|block| block.kind == BlockKind::Prose);
        block.is_some_and(|block| is_prose(&self.text[block.range.clone()]))
    }
}

/// Returns each text, or its pieces if it is long and `may` permits to cut it, with the index of
/// the text.
fn pieces(texts: &[String], style: SpaceSide, may: impl Fn(usize) -> bool) -> Vec<(usize, String)> {
    let mut pieces = Vec::with_capacity(texts.len());
    for (k, text) in texts.iter().enumerate() {
        let ends = if utf16_len(text) > LONGEST && is_prose(text) && may(k) {
            ends(text, style)
        } else {
            Vec::new()
        };
        let mut from = 0;
        for to in ends.into_iter().chain([text.len()]) {
            pieces.push((k, text[from..to].to_owned()));
            from = to;
        }
    }
    pieces
}

/// Returns the places to cut a paragraph, in bytes: the last good place before a piece would get
/// too long.
fn ends(text: &str, style: SpaceSide) -> Vec<usize> {
    let mut ends = Vec::new();
    let (mut from, mut good) = (0, None);
    let mut open = OpenMarks::default();
    let sentences = sentences(text);
    for range in &sentences[..sentences.len().saturating_sub(1)] {
        let (sentence, end) = (&text[range.clone()], range.end);
        // A sentence that would not fit any more goes to the next piece.
        if let Some(last) = good.filter(|_| utf16_len(text[from..end].trim_end()) > LONGEST) {
            ends.push(last);
            (from, good) = (last, None);
        }
        open.read(sentence);
        let body = end - (sentence.len() - sentence.trim_end().len());
        let at = if style == SpaceSide::Lead { body } else { end };
        if open.is_nothing() && is_seam(&text[..body], &text[body..end], &text[end..]) && at > from
        {
            good = Some(at);
        }
    }
    if let Some(last) = good.filter(|_| utf16_len(text[from..].trim()) > LONGEST) {
        ends.push(last);
    }
    ends
}

/// Returns the sentences of a paragraph, the very long ones cut wherever one may have ended.
fn sentences(text: &str) -> Vec<Range<usize>> {
    let mut words = WordNumbers::default();
    let mut sentences = Vec::new();
    for unit in units(text, &blocks(text), 0) {
        if split_points::is_long(&text[unit.range.clone()]) {
            let long = [WordedUnit::new(words.tokens(text, unit.range.clone()), unit)];
            sentences.extend(at_sentence_marks(text, &long).into_iter().map(|it| it.unit.range));
        } else {
            sentences.push(unit.range);
        }
    }
    sentences
}

/// Returns `true` if a paragraph can be cut between two sentences with this space between them.
fn is_seam(before: &str, space: &str, behind: &str) -> bool {
    let is_wide = |c: Option<char>| c.is_some_and(|c| !c.is_ascii() && !c.is_whitespace());
    let apart =
        !space.is_empty() || is_wide(before.chars().next_back()) && is_wide(behind.chars().next());
    // The text behind may come to be at the beginning of a line.
    apart && is_prose(behind)
}

/// Marks that are open so far: a piece should not contain half a quotation, or half of a bold
/// passage.
#[derive(Default)]
struct OpenMarks<'a> {
    /// Marks that close what they open, such as `**`.
    marks: Vec<&'a str>,
    /// Number of opening brackets; `closed` counts the closing ones.
    opened: usize,
    closed: usize,
}

impl<'a> OpenMarks<'a> {
    fn read(&mut self, text: &'a str) {
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            let alike = rest.len() - rest.trim_start_matches(c).len();
            let (run, more) = rest.split_at(alike);
            rest = more;
            let count = run.chars().count();
            match c {
                '`' | '*' | '_' | '~' | '"' | '$' => {
                    match self.marks.iter().position(|it| *it == run) {
                        Some(index) => drop(self.marks.remove(index)),
                        None => self.marks.push(run),
                    }
                }
                '(' | '[' | '{' | '“' | '«' | '„' => self.opened += count,
                ')' | ']' | '}' | '”' | '»' => self.closed += count,
                _ => {}
            }
        }
    }

    fn is_nothing(&self) -> bool {
        self.opened == self.closed && self.marks.is_empty()
    }
}

/// Returns `true` if a text is one paragraph and nothing else.
fn is_prose(text: &str) -> bool {
    let text = text.trim_matches('\n');
    let is_plain = |line: &str| {
        let special = ['>', '<', '[', ':', '|', '$', '\\', '\t'];
        !line.starts_with(special) && !line.starts_with("    ")
    };
    matches!(blocks(text).as_slice(), [TextBlock { kind: BlockKind::Prose, .. }])
        && !text.trim().is_empty()
        && text.lines().all(is_plain)
}

#[cfg(test)]
mod tests;
