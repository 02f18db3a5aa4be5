//! Regions of the text in which a suggestion differs from what it was: whole paragraphs, so that
//! sentences are seen as a whole, and nothing beyond them.

use std::ops::Range;

use crate::{Hunk, HunkStatus};
use copydesk_document::{ChangeSet, Text, TextEdit, utf16_len};

/// UTF-16 units on each side of a change in which the ends of its paragraph are looked for.
const REACH: usize = 4_000;

/// Region of the text, in UTF-16 units, with the hunks and the changes that are in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ChangedRegion {
    /// Range in the text.
    pub range: Range<usize>,
    /// Places in the list of hunks: the pending ones in the region, and those in conflict that are
    /// written over.
    pub hunks: Vec<usize>,
    /// Changes that the suggestion makes here, in order.
    pub edits: Vec<TextEdit>,
    /// Places of those changes that the pending hunks do not make already.
    pub written: Vec<Range<usize>>,
}

/// Returns the parts of pending hunks in the order in which they are applied, each with the place
/// of its hunk in the list.
pub(super) fn pending_edits(hunks: &[Hunk]) -> Vec<(usize, TextEdit)> {
    let pending = hunks.iter().enumerate().filter(|(_, hunk)| hunk.status == HunkStatus::Pending);
    let mut parts: Vec<_> = pending
        .flat_map(|(index, hunk)| hunk.parts.iter().map(move |part| (index, part)))
        .collect();
    parts.sort_by_key(|(index, part)| (part.from, part.to, part.rank, *index));
    let edit = |(index, part): (usize, &crate::HunkPart)| {
        (index, TextEdit { from: part.from, to: part.to, insert: part.insert.clone() })
    };
    parts.into_iter().map(edit).collect()
}

/// Returns the regions in which `wanted` is not what the pending hunks make of the text.
pub(super) fn changed_regions(
    hunks: &[Hunk],
    wanted: &ChangeSet,
    text: &Text,
) -> Vec<ChangedRegion> {
    let present = pending_edits(hunks);
    let wanted: Vec<TextEdit> = wanted
        .changed_ranges()
        .map(|it| TextEdit { from: it.from_a, to: it.to_a, insert: it.insert.to_owned() })
        .collect();
    let known = joined(present.iter().map(|(_, edit)| edit));
    let (undone, written) = (only_left(&known, &wanted), only_left(&wanted, &known));
    let ranges = undone.iter().chain(&written).map(|it| paragraphs(text, it.clone())).collect();
    let mut own: Vec<Range<usize>> =
        hunks.iter().filter(|it| it.status == HunkStatus::Pending).map(extent).collect();
    own.extend(wanted.iter().map(|edit| edit.from..edit.to));
    let ranges = covering(ranges, &own);
    let region = |range: Range<usize>| {
        let in_range = |from: usize, to: usize| range.start <= from && to <= range.end;
        let mut indices: Vec<usize> = present
            .iter()
            .filter(|(_, edit)| in_range(edit.from, edit.to))
            .map(|(index, _)| *index)
            .collect();
        indices.sort_unstable();
        indices.dedup();
        let edits = wanted.iter().filter(|edit| in_range(edit.from, edit.to)).cloned().collect();
        let written = written.iter().filter(|it| in_range(it.start, it.end)).cloned().collect();
        ChangedRegion { range, hunks: indices, edits, written }
    };
    ranges.into_iter().map(region).collect()
}

/// Returns edits with those that touch each other as one, as change sets have them.
fn joined<'e>(edits: impl Iterator<Item = &'e TextEdit>) -> Vec<TextEdit> {
    let mut joined: Vec<TextEdit> = Vec::new();
    for edit in edits {
        match joined.last_mut() {
            Some(last) if edit.from <= last.to => {
                last.to = last.to.max(edit.to);
                last.insert.push_str(&edit.insert);
            }
            _ => joined.push(edit.clone()),
        }
    }
    joined
}

/// Returns the ranges of the edits of one list that are not in the other one.
fn only_left(left: &[TextEdit], right: &[TextEdit]) -> Vec<Range<usize>> {
    let is_known = |edit: &TextEdit| {
        let at = right.partition_point(|it| (it.from, it.to) < (edit.from, edit.to));
        right.get(at).is_some_and(|it| it == edit)
    };
    left.iter().filter(|edit| !is_known(edit)).map(|edit| edit.from..edit.to).collect()
}

/// Range from the first part of a hunk to the last, over words that are not its own too.
fn extent(hunk: &Hunk) -> Range<usize> {
    let from = hunk.parts.iter().map(|part| part.from).min().unwrap_or_default();
    from..hunk.parts.iter().map(|part| part.to).max().unwrap_or(from)
}

/// Joins ranges that overlap, and extends them so that each of `whole` is in one or touches none.
fn covering(mut ranges: Vec<Range<usize>>, whole: &[Range<usize>]) -> Vec<Range<usize>> {
    loop {
        ranges.sort_unstable_by_key(|range| (range.start, range.end));
        let mut apart: Vec<Range<usize>> = Vec::with_capacity(ranges.len());
        for range in ranges {
            match apart.last_mut() {
                Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
                _ => apart.push(range),
            }
        }
        let mut is_whole = true;
        for range in &mut apart {
            for it in whole {
                let touches = it.start <= range.end && range.start <= it.end;
                if touches && (it.start < range.start || it.end > range.end) {
                    *range = it.start.min(range.start)..it.end.max(range.end);
                    is_whole = false;
                }
            }
        }
        if is_whole {
            return apart;
        }
        ranges = apart;
    }
}

/// Returns the paragraphs that a range is in, or as much of them as is near.
fn paragraphs(text: &Text, range: Range<usize>) -> Range<usize> {
    let first = boundary(text, range.start.saturating_sub(REACH));
    let last = boundary(text, (range.end + REACH).min(text.len()));
    let before = text.slice(first..range.start).unwrap_or_default();
    let behind = text.slice(range.end..last).unwrap_or_default();
    let start = match before.rfind("\n\n") {
        Some(at) => range.start - utf16_len(&before[at + 2..]),
        None => first,
    };
    let end = behind.find("\n\n").map_or(last, |at| range.end + utf16_len(&behind[..at]));
    start..end
}

/// Returns a position that is not inside a character.
pub(super) fn boundary(text: &Text, at: usize) -> usize {
    if text.is_boundary(at) { at } else { at + 1 }
}
