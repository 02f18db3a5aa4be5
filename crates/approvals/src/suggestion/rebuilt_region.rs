//! Hunks of one region, cut again after its suggestion was written on.

use std::ops::Range;

use super::changed_regions::{ChangedRegion, boundary};
use crate::HunkDraft;
use copydesk_document::diff::{DiffLimits, DraftPart, diff_between};
use copydesk_document::{ChangeResult, ChangeSet, Text, TextEdit, utf16_len};

/// UTF-16 units of text around a region that are looked at for marks.
const AROUND: usize = 1_000;

/// Part of a hunk in the order in which parts are applied.
#[derive(Clone, Debug)]
pub(super) struct PlacedPart {
    /// Number of the hunk, of those that stay first.
    pub hunk: usize,
    /// Number of the part within it.
    pub part: usize,
}

/// New hunks of a region, in positions of the whole text.
pub(super) struct RebuiltRegion {
    /// Hunks in order.
    pub drafts: Vec<HunkDraft>,
    /// All parts of the fixed hunks (by place in the list that was given) and of the new ones
    /// (numbered behind those), in the order in which they are applied.
    pub order: Vec<PlacedPart>,
}

/// Edit of a hunk that stays as it is: where it is in the text, and in the text with all of them.
struct FixedEdit {
    part: PlacedPart,
    edit: TextEdit,
    with: Range<usize>,
}

/// Cuts what a region is to become into hunks, beside hunks that stay; `fixed` holds the parts of
/// these, in the order in which they are applied. `None` if one of them does not stay as it is.
pub(super) fn rebuilt(
    region: &ChangedRegion,
    fixed: Vec<(PlacedPart, TextEdit)>,
    first_new: usize,
    text: &Text,
    limits: &DiffLimits,
) -> ChangeResult<Option<RebuiltRegion>> {
    let Range { start, end } = region.range;
    let stands = Text::new(&text.slice(start..end)?);
    let shifted = |edit: &TextEdit| TextEdit {
        from: edit.from - start,
        to: edit.to - start,
        insert: edit.insert.clone(),
    };
    let (mut grown, mut shrunk) = (0, 0);
    let fixed = fixed.into_iter().map(|(part, edit)| {
        let edit = shifted(&edit);
        let from = edit.from + grown - shrunk;
        let len = utf16_len(&edit.insert);
        (grown, shrunk) = (grown + len, shrunk + edit.to - edit.from);
        FixedEdit { part, edit, with: from..from + len }
    });
    let fixed: Vec<_> = fixed.collect();
    let base = applied(&stands, fixed.iter().map(|it| &it.edit))?;
    let wanted: Vec<_> = region.edits.iter().map(shifted).collect();
    let wanted = applied(&stands, wanted.iter())?;
    let before = text.slice(boundary(text, start.saturating_sub(AROUND))..start)?;
    let behind = text.slice(end..boundary(text, (end + AROUND).min(text.len())))?;
    let drafts = diff_between(&before, (&base, &wanted), &behind, limits);
    Ok(placed(drafts, &fixed, &Text::new(&base), first_new, start))
}

fn applied<'e>(stands: &Text, edits: impl Iterator<Item = &'e TextEdit>) -> ChangeResult<String> {
    let mut text = stands.clone();
    ChangeSet::of(stands.len(), edits)?.apply(&mut text)?;
    Ok(text.to_string())
}

/// Moves drafts from the text with the fixed edits to the text without them.
fn placed(
    mut drafts: Vec<HunkDraft>,
    fixed: &[FixedEdit],
    base: &Text,
    first_new: usize,
    start: usize,
) -> Option<RebuiltRegion> {
    let mut order: Vec<([usize; 3], PlacedPart)> = Vec::new();
    for (number, draft) in drafts.iter_mut().enumerate() {
        for (index, part) in draft.parts.iter_mut().enumerate() {
            let behind = place(part, fixed, base)?;
            part.from += start;
            part.to += start;
            // Behind as many of the fixed edits, and by their place between two of them.
            let key = [2 * behind, part.from, part.to];
            order.push((key, PlacedPart { hunk: first_new + number, part: index }));
        }
    }
    // Stable: what is put in at one place is in the order of the hunks.
    let of_fixed = fixed.iter().enumerate();
    order.extend(of_fixed.map(|(number, it)| ([2 * number + 1, 0, 0], it.part.clone())));
    order.sort_by_key(|(key, _)| *key);
    Some(RebuiltRegion { drafts, order: order.into_iter().map(|(_, part)| part).collect() })
}

/// Moves a part, and returns the number of fixed edits that it is behind; `None` if it changes the
/// words of one of them.
fn place(part: &mut DraftPart, fixed: &[FixedEdit], base: &Text) -> Option<usize> {
    let (mut behind, mut grown, mut shrunk) = (0, 0, 0);
    let is_insertion = part.from == part.to;
    for it in fixed {
        if is_insertion && it.with.start < part.from && part.from < it.with.end {
            slide(part, &it.with, base)?;
        }
        let is_empty = it.with.is_empty();
        let comes_first =
            it.with.end < part.from || it.with.end == part.from && !(is_empty && is_insertion);
        if comes_first {
            behind += 1;
            grown += it.with.len();
            shrunk += it.edit.to - it.edit.from;
        } else if part.to > it.with.start {
            return None;
        }
    }
    part.from = part.from + shrunk - grown;
    part.to = part.to + shrunk - grown;
    Some(behind)
}

/// Moves an insertion in front of the fixed words that it is in, or behind them, if the result
/// reads the same: the space of a new sentence may be that of the next one.
fn slide(part: &mut DraftPart, with: &Range<usize>, base: &Text) -> Option<()> {
    let lead = base.slice(with.start..part.from).ok()?;
    let tail = base.slice(part.from..with.end).ok()?;
    if let Some(words) = part.insert.strip_suffix(&lead) {
        (part.insert, part.from) = ([&lead, words].concat(), with.start);
    } else {
        let words = part.insert.strip_prefix(&tail)?;
        (part.insert, part.from) = ([words, &tail].concat(), with.end);
    }
    part.to = part.from;
    Some(())
}
