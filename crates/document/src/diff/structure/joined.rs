//! Join of the changes that share a structure.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use super::scan::{line_start, structures};
use super::seams::seams;
use super::touched::{ChangedPlace, ChangedPlaces, Side};
use super::{EntryTree, MarkPair, Structures, Table};
use crate::diff::draft::{DraftPart, HunkDraft, HunkKind};
use crate::diff::split_paragraphs::SplitContext;

/// Returns `hunks`, which turn the text of `place` into `new`, with those that share a structure as
/// one. Between the parts of a joined one, those of others would lie; so these join it too.
pub(in crate::diff) fn joined(
    place: SplitContext,
    new: &str,
    hunks: Vec<HunkDraft>,
) -> Vec<HunkDraft> {
    if hunks.len() < 2 {
        return hunks;
    }
    let old = in_context(place, place.old);
    let places = ChangedPlaces::of(&old, place.before.len(), &hunks);
    let mut groups = HunkGroups::of(hunks.len());
    let new = in_context(place, new);
    for (left, right) in seams(&old, &new, &places.all) {
        groups.join(left, right);
    }
    let binding = Binding { texts: [&old, &new], places: &places, groups: &mut groups };
    binding.bind(&structures(&old), &structures(&new), &hunks);
    if groups.are_single() {
        return hunks;
    }
    groups.close_over(&places);
    merged(hunks, &places, &mut groups)
}

/// Returns the parts of one change of `old`, in order, in runs that can be decided apart: a
/// structure is never in two of them.
pub fn part_groups(old: &str, parts: &[DraftPart]) -> Vec<Range<usize>> {
    let hunks: Vec<HunkDraft> = parts.iter().map(|it| vec![it.clone()].into()).collect();
    let mut groups = HunkGroups::of(hunks.len());
    let places = ChangedPlaces::of(old, 0, &hunks);
    let mut new = String::with_capacity(old.len());
    let mut at = 0;
    for (place, part) in places.all.iter().zip(parts) {
        new.push_str(&old[at..place.whole(Side::Old).start]);
        new.push_str(&part.insert);
        at = place.whole(Side::Old).end;
    }
    new.push_str(&old[at..]);
    let binding = Binding { texts: [old, &new], places: &places, groups: &mut groups };
    binding.bind(&structures(old), &structures(&new), &hunks);
    groups.close_over(&places);
    let roots: Vec<usize> = (0..parts.len()).map(|it| groups.root(it)).collect();
    let mut from = 0;
    let run = |same: &[usize]| {
        from += same.len();
        from - same.len()..from
    };
    roots.chunk_by(|a, b| a == b).map(run).collect()
}

fn in_context<'a>(place: SplitContext<'a>, text: &'a str) -> Cow<'a, str> {
    if place.before.is_empty() && place.after.is_empty() {
        Cow::Borrowed(text)
    } else {
        Cow::Owned([place.before, text, place.after].concat())
    }
}

struct HunkGroups {
    parents: Vec<usize>,
    joins: usize,
}

impl HunkGroups {
    fn of(count: usize) -> Self {
        Self { parents: (0..count).collect(), joins: 0 }
    }

    fn root(&mut self, mut index: usize) -> usize {
        while self.parents[index] != index {
            self.parents[index] = self.parents[self.parents[index]];
            index = self.parents[index];
        }
        index
    }

    fn join(&mut self, left: usize, right: usize) {
        let (left, right) = (self.root(left), self.root(right));
        if left != right {
            self.parents[left.max(right)] = left.min(right);
            self.joins += 1;
        }
    }

    fn join_all(&mut self, hunks: impl Iterator<Item = usize>) {
        let mut first = None;
        for hunk in hunks {
            self.join(*first.get_or_insert(hunk), hunk);
        }
    }

    fn are_single(&self) -> bool {
        self.joins == 0
    }

    /// Joins the changes that have a place between the first and the last place of a set.
    fn close_over(&mut self, places: &ChangedPlaces) {
        loop {
            let before = self.joins;
            let mut ends: HashMap<usize, (usize, usize)> = HashMap::new();
            for (at, place) in (0..).zip(&places.all) {
                let root = self.root(place.hunk);
                let end = ends.entry(root).or_insert((place.hunk, at));
                // A single change may have others between its places: words that move.
                if end.0 != place.hunk {
                    end.0 = usize::MAX;
                }
                end.1 = at;
            }
            let mut open: Option<(usize, usize)> = None;
            for (at, place) in (0..).zip(&places.all) {
                let (hunk, last) = ends[&self.first_root(&ends, place.hunk)];
                let reach = if hunk == usize::MAX { last } else { at };
                open = match open {
                    Some((first, end)) if at <= end => {
                        self.join(first, place.hunk);
                        Some((first, end.max(reach)))
                    }
                    _ => Some((place.hunk, reach)),
                };
            }
            if self.joins == before {
                return;
            }
        }
    }

    /// Returns the root that a change had when `ends` were found.
    fn first_root(&mut self, ends: &HashMap<usize, (usize, usize)>, hunk: usize) -> usize {
        let mut index = hunk;
        while !ends.contains_key(&index) {
            index = self.parents[index];
        }
        index
    }
}

/// Returns the hunks, those of a set as one with the parts of all.
fn merged(
    hunks: Vec<HunkDraft>,
    places: &ChangedPlaces,
    groups: &mut HunkGroups,
) -> Vec<HunkDraft> {
    let mut sizes: HashMap<usize, usize> = HashMap::new();
    for index in 0..hunks.len() {
        *sizes.entry(groups.root(index)).or_default() += 1;
    }
    let mut parts: HashMap<usize, Vec<DraftPart>> = HashMap::new();
    for place in &places.all {
        let root = groups.root(place.hunk);
        if sizes[&root] < 2 {
            continue;
        }
        let (parts, part) = (parts.entry(root).or_default(), &hunks[place.hunk].parts[place.part]);
        match parts.last_mut().filter(|last| last.to == part.from) {
            Some(last) => {
                last.to = part.to;
                last.base.push_str(&part.base);
                last.insert.push_str(&part.insert);
            }
            None => parts.push(part.clone()),
        }
    }
    let mut merged = Vec::with_capacity(sizes.len());
    for (index, hunk) in (0..).zip(hunks) {
        let root = groups.root(index);
        if sizes[&root] < 2 {
            merged.push(hunk);
        } else if let Some(mut parts) = parts.remove(&root) {
            // What one change removed and the other one put in again.
            parts.retain(|part| part.base != part.insert);
            merged.push(HunkDraft { parts, kind: Some(HunkKind::Rewrite), ..hunk });
        }
    }
    merged.retain(|hunk| !hunk.parts.is_empty());
    merged
}

struct Binding<'a> {
    texts: [&'a str; 2],
    places: &'a ChangedPlaces,
    groups: &'a mut HunkGroups,
}

impl Binding<'_> {
    fn bind(mut self, old: &Structures, new: &Structures, hunks: &[HunkDraft]) {
        self.pairs(&old.pairs, &new.pairs);
        self.tables(&old.tables, &new.tables);
        for (side, it) in [(Side::Old, old), (Side::New, new)] {
            for entry in &it.entries {
                self.entry(side, entry);
            }
        }
        let moves = |hunk: usize| hunks[hunk].kind == Some(HunkKind::Moved);
        for markers in &old.lists {
            self.list(markers, moves);
        }
    }

    /// Joins the changes that touch the marks of a pair, or of pairs that have a mark in common.
    fn pairs(&mut self, old: &[MarkPair], new: &[MarkPair]) {
        let mut seen = [vec![false; old.len()], vec![false; new.len()]];
        let lists = [old, new];
        let marks = lists.map(marks_in_order);
        for side in [Side::Old, Side::New] {
            for (index, pair) in (0..).zip(lists[side as usize]) {
                if seen[side as usize][index] || !self.is_touched(side, pair) {
                    continue;
                }
                let mut open = vec![(side, index)];
                let mut hunks = Vec::new();
                while let Some((side, index)) = open.pop() {
                    if std::mem::replace(&mut seen[side as usize][index], true) {
                        continue;
                    }
                    let pair = &lists[side as usize][index];
                    let found = self.hunks_of(side, pair);
                    for at in found.stay {
                        let at = self.places.mapped(side, at);
                        let marks = &marks[side.other() as usize];
                        let before = marks.partition_point(|(mark, _)| mark.start <= at);
                        let mark = before.checked_sub(1).map(|it| &marks[it]);
                        let mark = mark.filter(|(mark, _)| at < mark.end);
                        open.extend(mark.map(|(_, pair)| (side.other(), *pair)));
                    }
                    hunks.extend(found.touch);
                }
                self.groups.join_all(hunks.into_iter());
            }
        }
    }

    fn is_touched(&self, side: Side, pair: &MarkPair) -> bool {
        pair.marks.iter().any(|it| self.places.within(side, it, false).next().is_some())
    }

    fn hunks_of(&self, side: Side, pair: &MarkPair) -> PairHunks {
        let mut found = PairHunks::default();
        for mark in &pair.marks {
            let before = found.touch.len();
            found.touch.extend(self.places.within(side, mark, false).map(|it| it.hunk));
            if found.touch.len() == before {
                found.stay.push(mark.start);
            }
        }
        if !found.touch.is_empty()
            && let Some(content) = &pair.content
        {
            found.touch.extend(self.places.within(side, content, true).map(|it| it.hunk));
        }
        found
    }

    /// Joins all changes of tables that come, go, split, merge, or get other columns.
    fn tables(&mut self, old: &[Table], new: &[Table]) {
        for (side, own, others) in [(Side::Old, old, new), (Side::New, new, old)] {
            for table in own {
                let places = [table.rule, table.range.start, table.range.end - 1];
                let stay = places.into_iter().filter(|at| !self.is_only_on(side, *at));
                let counterparts: Vec<_> = stay.map(|at| self.table_at(side, at, others)).collect();
                let is_one = counterparts.iter().all(|it| *it == counterparts[0]);
                let keeps = |other: &Table| {
                    table.keeps_columns(other) && self.keeps_together(side, table, other)
                };
                // Its first two lines make it a table.
                let is_kept = !self.is_only_on(side, table.range.start)
                    && !self.is_only_on(side, table.rule)
                    && counterparts[0].is_some_and(|it| keeps(&others[it]));
                if is_one && is_kept {
                    continue;
                }
                let after = counterparts.iter().flatten().flat_map(|index| {
                    self.places.within(side.other(), &others[*index].range, false)
                });
                let before = self.places.within(side, &table.range, false);
                let hunks: Vec<_> = before.chain(after).map(|it| it.hunk).collect();
                self.groups.join_all(hunks.into_iter());
            }
        }
    }

    /// Returns `true` if all that is removed or added between two rows is rows of the other table:
    /// other text would stand between them without the change.
    fn keeps_together(&self, side: Side, table: &Table, other: &Table) -> bool {
        let other_side = side.other();
        let mut between = self.places.within(side, &table.range, false);
        between.all(|it| {
            let text = it.on(other_side);
            let is_row = other.range.start <= text.start && text.end <= other.range.end;
            is_row || !it.is_only_on(other_side)
        })
    }

    /// Returns `true` if the text at a place is removed, or added.
    fn is_only_on(&self, side: Side, at: usize) -> bool {
        let first = at..at + 1;
        let mut around = self.places.within(side, &first, false);
        around.any(|it| it.is_only_on(side))
    }

    /// Returns the table in the other text at a place of this one.
    fn table_at(&self, side: Side, at: usize, others: &[Table]) -> Option<usize> {
        let at = self.places.mapped(side, at);
        let before = others.partition_point(|it| it.range.start <= at);
        before.checked_sub(1).filter(|index| at <= others[*index].range.end)
    }

    /// Joins the changes of an entry and of what is below it, if one of them removes, adds or
    /// wholly replaces the text of the entry, puts it on another level, or puts another entry
    /// between it and what is below it.
    fn entry(&mut self, side: Side, entry: &EntryTree) {
        let covers = |it: &ChangedPlace| {
            let words = it.whole(side);
            words.start <= entry.text.start && entry.text.end <= words.end
        };
        let lead = line_start(self.texts[side as usize], entry.range.start)..entry.text.start;
        let before_lead = lead.start.saturating_sub(1)..lead.end;
        let is_parted = self.places.within(side, &entry.text, false).any(covers)
            || self.places.within(side, &before_lead, true).any(|it| self.shifts(side, it, &lead))
            || self.places.within(side, &entry.range, true).any(|it| self.parts(side, it, entry));
        if is_parted {
            let within: Vec<_> =
                self.places.within(side, &entry.range, false).map(|it| it.hunk).collect();
            self.groups.join_all(within.into_iter());
        }
    }

    /// Returns `true` if a change gives the line of an entry another beginning. `lead` is what
    /// stands before the text of the entry.
    fn shifts(&self, side: Side, place: &ChangedPlace, lead: &Range<usize>) -> bool {
        let other = side.other();
        if place.on(side).end > lead.start {
            return place.on(side).start < lead.end;
        }
        let before = &self.texts[other as usize][..place.on(other).end];
        place.on(side).end == lead.start && !before.is_empty() && !before.ends_with('\n')
    }

    /// Returns `true` if a change puts a line of the same level or one further out between an entry
    /// and the last line below it.
    fn parts(&self, side: Side, place: &ChangedPlace, entry: &EntryTree) -> bool {
        if place.on(side).start <= entry.text.end || entry.range.end <= place.on(side).end {
            return false;
        }
        let text = self.texts[side as usize];
        let level = indent(&text[line_start(text, entry.range.start)..]);
        let other = self.texts[side.other() as usize];
        let put_in = place.whole(side.other());
        let begins = line_start(other, put_in.start) == put_in.start;
        let lines = other[put_in.clone()].lines().skip(usize::from(!begins));
        lines.into_iter().any(|line| !line.trim().is_empty() && indent(line) <= level)
    }

    /// Joins the changes that remove all entries of a list.
    fn list(&mut self, markers: &[Range<usize>], moves: impl Fn(usize) -> bool) {
        let mut hunks = Vec::with_capacity(markers.len());
        for marker in markers {
            let mut over = self.places.within(Side::Old, marker, false);
            match over.find(|it| it.is_only_on(Side::Old) && !moves(it.hunk)) {
                Some(place) => hunks.push(place.hunk),
                None => return,
            }
        }
        self.groups.join_all(hunks.into_iter());
    }
}

/// Changes that touch a pair.
#[derive(Default)]
struct PairHunks {
    touch: Vec<usize>,
    /// Beginnings of the marks that nothing touches.
    stay: Vec<usize>,
}

/// Returns the bytes of the blanks that a line begins with.
fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches([' ', '\t']).len()
}

/// Returns the marks of all pairs in the order of the text, with the index of the pair.
fn marks_in_order(pairs: &[MarkPair]) -> Vec<(Range<usize>, usize)> {
    let marks = (0..).zip(pairs);
    let mut marks: Vec<_> =
        marks.flat_map(|(index, it)| it.marks.iter().map(move |it| (it.clone(), index))).collect();
    marks.sort_unstable_by_key(|(mark, _)| mark.start);
    marks
}
