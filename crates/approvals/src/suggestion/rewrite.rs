//! Takes over a suggestion as its writer has it now: the regions that changed are cut into hunks
//! again, and everything else stays as it is.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::Range;

use super::arrival::ArrivedSuggestion;
use super::changed_regions::{ChangedRegion, changed_regions, pending_edits};
use super::rebuilt_region::{PlacedPart, RebuiltRegion, rebuilt};
use crate::{ApprovalRequest, Hunk, HunkDraft, HunkPart, HunkStatus, SuggestedHunk};
use copydesk_document::diff::{DiffLimits, DraftPart};
use copydesk_document::{ChangeResult, ChangeSet, PositionError, Text, TextEdit};
use copydesk_ids::HunkId;

/// Inserted characters that are compared to find out which hunk was written on.
const COMPARED: usize = 400;

/// Hunks that a suggestion changed; see [`ApprovalRequest::rewrite`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RewrittenHunks {
    /// New hunks, those with other words, and those that are no longer being written.
    pub put: Vec<HunkId>,
    /// Hunks that are gone.
    pub drop: Vec<HunkId>,
    /// `true` if the list of hunks, or the order of their parts, is another one than before.
    pub is_relisted: bool,
}

/// Hunks of a region in order: those that stay, by their place in the list, and new ones.
pub(super) struct NewHunks {
    pub hunks: Vec<RegionHunk>,
    /// Hunks of the list whose place these take.
    pub replaced: BTreeSet<usize>,
}

pub(super) enum RegionHunk {
    Fixed(usize, Box<Hunk>),
    New(Box<Hunk>),
}

impl ApprovalRequest {
    /// Takes over a suggestion; `text` is the text of the request's version. The pending hunks then
    /// make exactly the change that is wanted. Hunks that were voted on, or are in conflict, stay
    /// unless their own words are written on. What is new counts as being written until
    /// `writing_until_ms`.
    ///
    /// # Errors
    /// [`ChangeError`](copydesk_document::ChangeError) if `wanted` does not fit the text; nothing
    /// has changed then.
    pub fn rewrite(
        &mut self,
        ArrivedSuggestion { wanted, overtaken }: ArrivedSuggestion,
        text: &Text,
        writing_until_ms: u64,
        limits: &DiffLimits,
    ) -> ChangeResult<RewrittenHunks> {
        wanted.apply(&mut text.clone())?;
        let before = listed(&self.hunks);
        let mut made = self.suggestion.as_ref().map_or(0, |it| it.hunks_made);
        let mut regions = vec![self.overtaken(overtaken, &mut made)];
        // One in conflict may be written over in several regions.
        let mut replaced = regions[0].replaced.clone();
        for mut region in changed_regions(&self.hunks, &wanted, text) {
            let written_over = self.in_conflict_at(&region.written);
            region.hunks.extend(written_over.filter(|it| !replaced.contains(it)));
            let hunks = self.rebuild(&region, text, &mut made, limits)?;
            replaced.extend(&hunks.replaced);
            regions.push(hunks);
        }
        self.forget_hash();
        let mut written: BTreeSet<HunkId> = self.list_anew(regions);
        let known = before.iter().map(|(id, _)| id.clone()).collect();
        self.join_neighbours(text, &known, &mut written)?;
        if let Some(suggestion) = &mut self.suggestion {
            suggestion.hunks_made = made;
        }
        self.raise_revision();
        let mut rewritten = RewrittenHunks::default();
        for hunk in &mut self.hunks {
            if written.contains(&hunk.id) {
                let writing_until_ms = Some(writing_until_ms);
                hunk.suggested = Some(SuggestedHunk { writing_until_ms, was_decided: false });
                rewritten.put.push(hunk.id.clone());
            } else if hunk.stop_writing() && hunk.status.is_open() {
                rewritten.put.push(hunk.id.clone());
            }
        }
        self.mark_hunks();
        let now = listed(&self.hunks);
        rewritten.is_relisted = before != now;
        let now: HashSet<_> = now.into_iter().map(|(id, _)| id).collect();
        let gone = before.into_iter().map(|(id, _)| id).filter(|id| !now.contains(id));
        rewritten.drop = gone.collect();
        Ok(rewritten)
    }

    /// Cuts a region into hunks beside those that were voted on, or without them if their words
    /// were written on.
    fn rebuild(
        &self,
        region: &ChangedRegion,
        text: &Text,
        made: &mut usize,
        limits: &DiffLimits,
    ) -> ChangeResult<NewHunks> {
        let pending = |it: &usize| self.hunks[*it].status == HunkStatus::Pending;
        let pending: Vec<usize> = region.hunks.iter().copied().filter(pending).collect();
        let only = |keep: &dyn Fn(&Hunk) -> bool| -> Vec<usize> {
            pending.iter().copied().filter(|it| keep(&self.hunks[*it])).collect()
        };
        let is_voted = |hunk: &Hunk| !hunk.votes.is_empty();
        let stays = |hunk: &Hunk| is_voted(hunk) || hunk.is_other_part(&region.written);
        let mut tries = vec![only(&stays), only(&is_voted), Vec::new()];
        tries.dedup();
        for fixed in &tries {
            let edits = self.fixed_edits(fixed);
            let Some(found) = rebuilt(region, edits, fixed.len(), text, limits)? else { continue };
            if let Some(hunks) = self.renewed(region, fixed, found, text, made)? {
                return Ok(hunks);
            }
        }
        // Cannot be cut: it is one change.
        let whole = RebuiltRegion::whole(region, text)?;
        let hunks = self.renewed(region, &[], whole, text, made)?;
        Ok(hunks.unwrap_or(NewHunks { hunks: Vec::new(), replaced: BTreeSet::new() }))
    }

    /// Returns the parts of hunks in the order in which they are applied.
    fn fixed_edits(&self, fixed: &[usize]) -> Vec<(PlacedPart, TextEdit)> {
        let hunks: Vec<Hunk> = fixed.iter().map(|&index| self.hunks[index].clone()).collect();
        let mut seen = BTreeMap::new();
        let edits = pending_edits(&hunks).into_iter();
        edits
            .map(|(hunk, edit)| {
                let number = seen.entry(hunk).and_modify(|it| *it += 1).or_insert(0);
                (PlacedPart { hunk, part: *number }, edit)
            })
            .collect()
    }

    /// Returns the new hunks of a region with their names; `None` if they would not make the change
    /// that is wanted.
    fn renewed(
        &self,
        region: &ChangedRegion,
        fixed: &[usize],
        found: RebuiltRegion,
        text: &Text,
        made: &mut usize,
    ) -> ChangeResult<Option<NewHunks>> {
        let RebuiltRegion { drafts, order } = found;
        let replaced: BTreeSet<usize> =
            region.hunks.iter().copied().filter(|it| !fixed.contains(it)).collect();
        let mut next = *made;
        let mut fresh = Vec::with_capacity(drafts.len());
        for draft in drafts {
            next += 1;
            fresh.push(Hunk::new(self.id(), next, draft, text)?);
        }
        let mut hunks: Vec<Hunk> = fixed.iter().map(|&index| self.hunks[index].clone()).collect();
        hunks.extend(fresh);
        set_ranks(&mut hunks, &order, fixed.len());
        if !makes(&hunks, &order, region, text)? {
            return Ok(None);
        }
        let fresh = hunks.split_off(fixed.len());
        let stay = fixed.iter().zip(hunks);
        let former: Vec<&Hunk> = replaced.iter().map(|&index| &self.hunks[index]).collect();
        let fresh = named_again(fresh, &former, self.id(), made);
        let mut listed: Vec<Option<RegionHunk>> =
            stay.map(|(&index, hunk)| Some(RegionHunk::Fixed(index, Box::new(hunk)))).collect();
        listed.extend(fresh.into_iter().map(|hunk| Some(RegionHunk::New(Box::new(hunk)))));
        let hunks = order.iter().filter_map(|part| listed[part.hunk].take()).collect();
        Ok(Some(NewHunks { hunks, replaced }))
    }

    /// Returns the hunks in conflict that touch one of these places.
    pub(super) fn in_conflict_at(&self, places: &[Range<usize>]) -> impl Iterator<Item = usize> {
        let is_touched = |hunk: &Hunk| places.iter().any(|it| touch(it, &hunk.range()));
        let hunks = self.hunks.iter().enumerate();
        hunks
            .filter(move |(_, hunk)| hunk.status == HunkStatus::Conflict && is_touched(hunk))
            .map(|(index, _)| index)
    }

    /// Puts the hunks of the regions into the list, and returns those that are new or have other
    /// words.
    fn list_anew(&mut self, regions: Vec<NewHunks>) -> BTreeSet<HunkId> {
        let mut former: Vec<Option<Hunk>> = self.hunks.drain(..).map(Some).collect();
        let mut groups = former.iter().flatten().filter_map(|hunk| hunk.group).max().unwrap_or(0);
        let (mut written, mut listed) = (BTreeSet::new(), Vec::new());
        for NewHunks { hunks, replaced } in regions {
            let known: BTreeMap<HunkId, Hunk> = replaced
                .iter()
                .filter_map(|&index| former[index].take())
                .map(|hunk| (hunk.id.clone(), hunk))
                .collect();
            let mut region = Vec::with_capacity(hunks.len());
            for hunk in hunks {
                match hunk {
                    RegionHunk::Fixed(index, hunk) => {
                        former[index] = None;
                        region.push(*hunk);
                    }
                    RegionHunk::New(hunk) => region.push(match known.get(&hunk.id) {
                        Some(same) if is_same(same, &hunk) => kept(same, &hunk),
                        other => {
                            written.insert(hunk.id.clone());
                            let of = other.and_then(|it| it.split_of.clone());
                            Hunk { group: other.and_then(|it| it.group), split_of: of, ..*hunk }
                        }
                    }),
                }
            }
            number_paragraphs(&mut region, &mut groups);
            listed.extend(region);
        }
        let mut all: Vec<Hunk> = former.into_iter().flatten().collect();
        all.extend(listed);
        all.sort_by_key(|hunk| {
            let parts =
                if hunk.status == HunkStatus::Accepted { &hunk.inverse } else { &hunk.parts };
            parts.first().map_or(0, |part| part.from)
        });
        let is_written = |hunk: &&Hunk| written.contains(&hunk.id);
        let split: BTreeSet<_> =
            all.iter().filter(is_written).filter_map(|hunk| hunk.split_of.clone()).collect();
        // What is between the parts is not what it was when the hunk was split.
        for hunk in
            all.iter_mut().filter(|it| it.split_of.as_ref().is_some_and(|of| split.contains(of)))
        {
            hunk.split_gap = None;
        }
        self.hunks = all;
        written
    }
}

/// Returns the hunks in order, with the numbers of those of their parts that have one.
fn listed(hunks: &[Hunk]) -> Vec<(HunkId, Vec<u32>)> {
    let ranks = |hunk: &Hunk| {
        let ranks = hunk.parts.iter().map(|part| part.rank);
        if ranks.clone().any(|rank| rank > 0) { ranks.collect() } else { Vec::new() }
    };
    hunks.iter().map(|hunk| (hunk.id.clone(), ranks(hunk))).collect()
}

impl Hunk {
    /// Returns `true` for a part of a split hunk that none of these places touches.
    fn is_other_part(&self, written: &[Range<usize>]) -> bool {
        self.split_of.is_some() && !written.iter().any(|it| touch(it, &self.range()))
    }
}

fn touch(left: &Range<usize>, right: &Range<usize>) -> bool {
    left.start <= right.end && right.start <= left.end
}

fn is_same(former: &Hunk, new: &Hunk) -> bool {
    former.status == HunkStatus::Pending && former.kind == new.kind && make_same_change(former, new)
}

/// Returns `true` if two hunks change the same words of the text to the same.
pub(super) fn make_same_change(left: &Hunk, right: &Hunk) -> bool {
    let words = |it: &HunkPart| (it.from, it.to, it.base.clone(), it.insert.clone());
    left.parts.iter().map(words).eq(right.parts.iter().map(words))
}

/// Returns a hunk as it was, at the place among others that it has now.
fn kept(former: &Hunk, new: &Hunk) -> Hunk {
    Hunk { parts: new.parts.clone(), ..former.clone() }
}

/// Numbers the paragraphs of hunks that have no number yet.
fn number_paragraphs(hunks: &mut [Hunk], last: &mut u32) {
    let is_beside = |left: &Hunk, right: &Hunk| {
        let near = &right.around.0;
        let between = right.range().start.saturating_sub(left.range().end);
        let start = near.char_indices().rev().map(|(at, _)| at).take(between).last();
        !near[start.unwrap_or(near.len())..].contains('\n') && between <= near.len()
    };
    let mut from = 0;
    while from < hunks.len() {
        let more = hunks[from..].windows(2).take_while(|pair| is_beside(&pair[0], &pair[1]));
        let to = from + 1 + more.count();
        let known = hunks[from..to].iter().find_map(|hunk| hunk.group);
        let group = known.unwrap_or_else(|| {
            *last += 1;
            *last
        });
        for hunk in &mut hunks[from..to] {
            hunk.group.get_or_insert(group);
        }
        from = to;
    }
}

/// Gives parts that are put in at one place a number, if the order of the hunks does not say which
/// comes first. `fixed` is the number of hunks that stay.
fn set_ranks(hunks: &mut [Hunk], order: &[PlacedPart], fixed: usize) {
    let mut listed = vec![usize::MAX; hunks.len()];
    for (number, part) in order.iter().enumerate().rev() {
        listed[part.hunk] = number;
    }
    let place = |part: &PlacedPart| {
        let HunkPart { from, to, .. } = &hunks[part.hunk].parts[part.part];
        (*from, *to)
    };
    let is_told = order.is_sorted_by(|a, b| {
        place(a) < place(b) || place(a) == place(b) && listed[a.hunk] <= listed[b.hunk]
    });
    let ranked = hunks[..fixed].iter().flat_map(|hunk| &hunk.parts).any(|part| part.rank > 0);
    let is_moved = hunks.iter().any(Hunk::is_moved);
    if is_told && !ranked && !is_moved {
        return;
    }
    for (part, rank) in order.iter().zip(1..) {
        hunks[part.hunk].parts[part.part].rank = rank;
    }
}

/// Returns `true` if the hunks, applied as an acceptance of all does, make the wanted change.
fn makes(
    hunks: &[Hunk],
    order: &[PlacedPart],
    region: &ChangedRegion,
    text: &Text,
) -> ChangeResult<bool> {
    let mut edits: Vec<TextEdit> = order
        .iter()
        .map(|placed| {
            let HunkPart { from, to, insert, .. } = &hunks[placed.hunk].parts[placed.part];
            let start = region.range.start;
            TextEdit { from: from - start, to: to - start, insert: insert.clone() }
        })
        .collect();
    edits.sort_by_key(|edit| (edit.from, edit.to));
    if edits.windows(2).any(|pair| pair[1].from < pair[0].to) {
        return Ok(false);
    }
    let stands = Text::new(&text.slice(region.range.clone())?);
    let mut made = stands.clone();
    ChangeSet::of(stands.len(), &edits)?.apply(&mut made)?;
    Ok(made == region.wanted(&stands)?)
}

/// Gives new hunks the names of those that they go on, and new names to the others.
pub(super) fn named_again(
    mut fresh: Vec<Hunk>,
    former: &[&Hunk],
    request: &copydesk_ids::RequestId,
    made: &mut usize,
) -> Vec<Hunk> {
    let mut alike: Vec<(usize, usize, usize)> = Vec::new();
    for (new, hunk) in fresh.iter().enumerate() {
        let range = hunk.range();
        for (old, other) in former.iter().enumerate() {
            // Votes and decisions were for other words.
            let is_open = other.votes.is_empty() && !other.was_decided();
            if is_open && touch(&range, &other.range()) {
                let likeness = likeness(hunk, other);
                alike.extend((likeness > 0).then_some((likeness, new, old)));
            }
        }
    }
    alike.sort_by_key(|(likeness, new, old)| (std::cmp::Reverse(*likeness), *new, *old));
    let (mut named, mut taken) = (BTreeMap::new(), BTreeSet::new());
    for (_, new, old) in alike {
        if !named.contains_key(&new) && taken.insert(old) {
            named.insert(new, old);
        }
    }
    for (number, hunk) in fresh.iter_mut().enumerate() {
        hunk.id = if let Some(&old) = named.get(&number) {
            hunk.deferred_by.clone_from(&former[old].deferred_by);
            former[old].id.clone()
        } else {
            *made += 1;
            HunkId::from(format!("{request}.{made}"))
        };
    }
    fresh
}

/// Returns how much two hunks have in common: words that both replace, and words that both insert
/// at one place; 0 if no part touches one of the other.
fn likeness(a: &Hunk, b: &Hunk) -> usize {
    let mut likeness = 0;
    for part in &a.parts {
        for other in b.parts.iter().filter(|it| it.from <= part.to && part.from <= it.to) {
            let replaced = part.to.min(other.to) - part.from.max(other.from);
            let (new, old) = (part.insert.chars(), other.insert.chars());
            let pairs = new.clone().zip(old.clone()).take(COMPARED);
            let start = pairs.take_while(|(a, b)| a == b).count();
            let pairs = new.rev().zip(old.rev()).take(COMPARED);
            let end = pairs.take_while(|(a, b)| a == b).count();
            likeness += 1 + 2 * replaced + start.max(end);
        }
    }
    likeness
}

impl ChangedRegion {
    /// Returns the text that the suggestion makes of the region.
    fn wanted(&self, stands: &Text) -> ChangeResult<Text> {
        let start = self.range.start;
        let edits: Vec<_> = self
            .edits
            .iter()
            .map(|edit| TextEdit {
                from: edit.from - start,
                to: edit.to - start,
                insert: edit.insert.clone(),
            })
            .collect();
        let mut wanted = stands.clone();
        ChangeSet::of(stands.len(), &edits)?.apply(&mut wanted)?;
        Ok(wanted)
    }
}

impl RebuiltRegion {
    /// Returns the changes of a region as one hunk.
    pub(super) fn whole(region: &ChangedRegion, text: &Text) -> Result<Self, PositionError> {
        let mut parts = Vec::with_capacity(region.edits.len());
        for TextEdit { from, to, insert } in &region.edits {
            let base = text.slice(*from..*to)?;
            if base != *insert {
                parts.push(DraftPart { from: *from, to: *to, base, insert: insert.clone() });
            }
        }
        let order = (0..parts.len()).map(|part| PlacedPart { hunk: 0, part }).collect();
        let drafts = if parts.is_empty() { Vec::new() } else { vec![HunkDraft::from(parts)] };
        Ok(Self { drafts, order })
    }
}
