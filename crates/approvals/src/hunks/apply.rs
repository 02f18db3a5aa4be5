//! Conversion of accepted hunks into one change of the text, and its effect on the other hunks.

use std::ops::Range;

use crate::hunk::{Hunk, HunkPart, HunkStatus};
use crate::policy::Vote;
use crate::{
    ApprovalRequest, ApprovalRequirement, ClosedBy, CommittedUpdate, DecisionError,
    InvalidDecisionReason, Person, RebaseOutcome,
};
use copydesk_document::provenance::{FormerPlace, PlacementOrigin, WordPlacement};
use copydesk_document::{ChangeError, ChangeSet, Text, TextEdit, utf16_len};
use copydesk_ids::{HunkId, RuleId, Version};

pub(crate) struct DecidedBy {
    pub by: Person,
    pub at_ms: u64,
    pub rule: Option<RuleId>,
    pub wish: Option<RuleId>,
}

impl DecidedBy {
    pub fn closed(&self) -> ClosedBy {
        let (by, rule) = (Some(self.by.clone()), self.rule.clone());
        ClosedBy { by, at_ms: self.at_ms, rule, unasked: None }
    }

    /// Returns a vote; `under` is what it takes beyond what the request takes.
    pub fn vote(
        &self,
        text: Option<String>,
        seen: Option<String>,
        under: ApprovalRequirement,
    ) -> Vote {
        let (by, rule, wish) = (self.by.clone(), self.rule.clone(), self.wish.clone());
        Vote { by, at_ms: self.at_ms, text, seen, rule, wish, under }
    }
}

#[derive(Clone, Copy)]
pub(crate) struct AcceptKind<'a> {
    pub text: Option<&'a str>,
    pub force: bool,
    pub seen: Option<&'a str>,
}

pub(crate) struct HunkEdit {
    pub index: usize,
    pub rank: u32,
    pub edit: TextEdit,
    pub base: String,
    pub origin: Option<PlacementOrigin>,
}

#[derive(Default)]
pub(crate) struct AppliedHunks {
    /// Open hunks whose place is not the one the general rule gives.
    pub put: Vec<HunkId>,
    /// The same of hunks that are not open.
    pub displaced: Vec<HunkId>,
    pub placed: Vec<WordPlacement>,
}

/// Returns the edits that accepting a hunk makes; `None` if the text is not what it should be.
pub(crate) fn hunk_edits(
    hunks: &[Hunk],
    index: usize,
    taken: AcceptKind,
    text: &Text,
) -> Option<Vec<HunkEdit>> {
    let hunk = &hunks[index];
    if let Some(seen) = taken.seen
        && hunk.standing(text).ok()? != seen
    {
        return None;
    }
    if hunk.status == HunkStatus::Conflict && !taken.force {
        return None;
    }
    if let Some(insert) = taken.text.filter(|_| !hunk.is_moved()) {
        let standing = text.slice(hunk.range()).ok()?;
        // The text replaces what is between the parts too, so the person must know it.
        if taken.seen.is_none() && standing != hunk.base() {
            return None;
        }
        let edit =
            TextEdit { from: hunk.range().start, to: hunk.range().end, insert: insert.to_owned() };
        return Some(vec![HunkEdit {
            index,
            rank: hunk.parts.first().map_or(0, |part| part.rank),
            edit,
            base: standing,
            origin: Some(PlacementOrigin::Edited),
        }]);
    }
    let mut edits = Vec::with_capacity(hunk.parts.len());
    let (mut done, end) = (hunk.range().start, hunk.range().end);
    for (number, part) in hunk.parts.iter().enumerate() {
        // Parts in conflict reach outward and may overlap; nothing is replaced that was not seen.
        let (mut from, mut to) = (part.from.clamp(done, end), part.to.clamp(done, end));
        if part.is_insertion() {
            from = beside_words(hunks, (part.rank, index, number), part.from);
            to = from;
        }
        let base = text.slice(from..to).ok()?;
        if base != part.base && !taken.force {
            return None;
        }
        // A person's own words for a moved hunk come where its words are put in, and nowhere else.
        let own = taken.text.filter(|_| !part.insert.is_empty());
        let insert = own.unwrap_or(&part.insert).to_owned();
        let origin =
            Some(if own.is_some() { PlacementOrigin::Edited } else { PlacementOrigin::Proposed });
        let edit = TextEdit { from, to, insert };
        edits.push(HunkEdit { index, rank: part.rank, edit, base, origin });
        done = done.max(to);
    }
    Some(edits)
}

/// Returns the nearest place to insert words that is not inside words another part would replace. A
/// place can get inside: words that are deleted and typed again come in before the words to be
/// added in front of them.
fn beside_words(hunks: &[Hunk], this: (u32, usize, usize), at: usize) -> usize {
    let pending = hunks.iter().enumerate().filter(|(_, h)| h.status == HunkStatus::Pending);
    let parts = pending.flat_map(|(index, h)| {
        h.parts.iter().enumerate().map(move |(number, part)| ((part.rank, index, number), part))
    });
    let mut inside = parts.filter(|(_, part)| part.from < at && at < part.to);
    match inside.next() {
        Some((other, part)) if other < this => part.to,
        Some((_, part)) => part.from,
        None => at,
    }
}

/// Sorts edits by position and returns the hunks whose edits overlap, which cannot be applied
/// together: with force, a hunk in conflict reaches outward, perhaps over its neighbour.
pub(crate) fn in_order(edits: &mut [HunkEdit]) -> Vec<usize> {
    edits.sort_by_key(|e| (e.edit.from, e.edit.to, e.rank, e.index));
    let overlaps = edits.windows(2).filter(|pair| pair[1].edit.from < pair[0].edit.to);
    let mut indices: Vec<usize> =
        overlaps.flat_map(|pair| [pair[0].index, pair[1].index]).collect();
    indices.sort_unstable();
    indices.dedup();
    indices
}

pub(crate) fn change_of(
    edits: &[HunkEdit],
    text: &Text,
) -> Result<Option<ChangeSet>, DecisionError> {
    let misfit = |_: ChangeError| DecisionError::InvalidDecision {
        reason: InvalidDecisionReason::DoesNotFit,
    };
    let real = edits.iter().filter(|e| e.edit.insert != e.base);
    let change = ChangeSet::of(text.len(), real.map(|e| &e.edit)).map_err(misfit)?;
    Ok(Some(change).filter(|change| !change.is_empty()))
}

impl ApprovalRequest {
    /// Takes over sorted edits and their change ([`change_of`]): maps the other hunks over it and
    /// stores the parts that would undo it. `text` is the text before the change.
    pub(crate) fn apply(
        &mut self,
        edits: &[HunkEdit],
        changes: Option<&ChangeSet>,
        text: &Text,
    ) -> AppliedHunks {
        let before = self.version;
        let mut applied = AppliedHunks::default();
        if let Some(change) = changes {
            applied = self.rebase_siblings(edits, &CommittedUpdate::from(change, text));
            self.version = self.version.next();
        }
        // Total inserted and deleted so far, for the place of each edit in the new text.
        let (mut grown, mut shrunk) = (0, 0);
        for HunkEdit { index, rank, edit, base, origin } in edits {
            let from = edit.from + grown - shrunk;
            let len = utf16_len(&edit.insert);
            let to = from + len;
            (grown, shrunk) = (grown + len, shrunk + edit.to - edit.from);
            if let Some(origin) = origin.clone().filter(|_| edit.insert != *base) {
                let hunk = &self.hunks[*index];
                let moved = hunk.is_moved().then(|| former_place(edits, *index, edit, before));
                let id = Some(hunk.id.clone());
                applied.placed.push(match moved.flatten() {
                    Some((words, former)) => WordPlacement {
                        from: from + words.start,
                        to: from + words.end,
                        hunk: id,
                        origin: PlacementOrigin::Stood(former),
                    },
                    None => WordPlacement { from, to, hunk: id, origin },
                });
            }
            let (base, insert) = (edit.insert.clone(), base.clone());
            let stood = Some(FormerPlace { version: before, at: edit.from });
            let part = HunkPart { from, to, base, insert, conflict: false, stood, rank: *rank };
            self.hunks[*index].inverse.push(part);
        }
        applied
    }

    /// Maps the other hunks over a change made of accepted ones. Insertions keep their order in the
    /// proposal, whichever hunk is accepted first.
    pub(crate) fn rebase_siblings(
        &mut self,
        edits: &[HunkEdit],
        update: &CommittedUpdate,
    ) -> AppliedHunks {
        let mut accepted = vec![false; self.hunks.len()];
        for edit in edits {
            accepted[edit.index] = true;
        }
        let mut applied = AppliedHunks::default();
        let others = self.hunks.iter_mut().enumerate().filter(|&(index, _)| !accepted[index]);
        for (index, hunk) in others {
            let parts = hunk.parts_to_map().iter().enumerate();
            let kept = parts.filter_map(|(number, part)| {
                Some((number, place_among(part, index, edits)?, part.conflict))
            });
            let kept: Vec<_> = kept.collect();
            let mut moved = hunk.rebase_over(update) == RebaseOutcome::Changed;
            for (number, at, conflict) in kept {
                let part = &mut hunk.parts_to_map()[number];
                moved |= part.from != at || part.conflict != conflict;
                (part.from, part.to, part.conflict) = (at, at, conflict);
            }
            hunk.update_conflict_status();
            if moved {
                let is_open = hunk.status.is_open();
                let list = if is_open { &mut applied.put } else { &mut applied.displaced };
                list.push(hunk.id.clone());
            }
        }
        applied
    }
}

/// Returns the words that a moved hunk takes from another place unchanged, as units of what is
/// inserted, and where they stood: moving words does not make them the AI's.
fn former_place(
    edits: &[HunkEdit],
    index: usize,
    edit: &TextEdit,
    version: Version,
) -> Option<(Range<usize>, FormerPlace)> {
    let removal = edits.iter().find(|it| it.index == index && it.edit.insert.is_empty())?;
    let words = edit.insert.trim();
    if words.is_empty() || removal.base.trim() != words {
        return None;
    }
    let lead = |text: &str| utf16_len(&text[..text.len() - text.trim_start().len()]);
    let start = lead(&edit.insert);
    let at = removal.edit.from + lead(&removal.base);
    Some((start..start + utf16_len(words), FormerPlace { version, at }))
}

/// Returns the place of an insertion beside `edits`; `None` if an edit removes the place.
fn place_among(part: &HunkPart, index: usize, edits: &[HunkEdit]) -> Option<usize> {
    let at = part.from;
    if !part.is_insertion() || edits.iter().any(|e| e.edit.from < at && at < e.edit.to) {
        return None;
    }
    let comes_first = |e: &&HunkEdit| {
        let added_here = e.edit.from == at && e.edit.to == at;
        if added_here { (e.rank, e.index) < (part.rank, index) } else { e.edit.to <= at }
    };
    let (mut grown, mut shrunk) = (0, 0);
    for HunkEdit { edit, .. } in edits.iter().filter(comes_first) {
        grown += utf16_len(&edit.insert);
        shrunk += edit.to - edit.from;
    }
    Some(at + grown - shrunk)
}
