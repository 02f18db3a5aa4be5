//! Paragraphs that became lists, and lists that became paragraphs.

use std::ops::Range;

use super::align::{UnitLists, WordedUnit, bag_of, in_blocks, likeness};
use super::blocks::BlockKind;
use super::lcs::Gap;

/// Likeness from which on a list counts as the paragraph that it replaces.
const SAME_WORDS: f32 = 0.5;

/// Most units on either side of a difference in which a reshaped paragraph is looked for, so that
/// the cost of a rewrite of a long text stays bounded.
const MOST_SEARCHED: usize = 64;

/// Returns `true` if one paragraph became a list of the same words, or a list one paragraph. With
/// some of its lines accepted and others not, the text would be half of each.
pub(super) fn is_reshaped(old: &[WordedUnit], new: &[WordedUnit]) -> bool {
    let items = |list: &[WordedUnit]| list.iter().filter(|s| s.unit.kind.is_whole()).count();
    let blocks = |list: &[WordedUnit]| list.chunk_by(|a, b| a.unit.block == b.unit.block).count();
    let is_code = |s: &WordedUnit| s.unit.kind == BlockKind::Code;
    let becomes = |paragraph: &[WordedUnit], list: &[WordedUnit]| {
        let (items_before, items_after) = (items(paragraph), items(list));
        // The list may keep an introduction.
        blocks(paragraph) == 1
            && items_before == 0
            && items_after >= 2
            && blocks(list) <= items_after + 1
    };
    !old.iter().chain(new).any(is_code)
        && (becomes(old, new) || becomes(new, old))
        && alike(old, new) >= SAME_WORDS
}

/// Cuts a difference around each paragraph in it that became a list, or the reverse.
pub(super) fn reshaped_apart(sides: UnitLists, (o, n): Gap) -> Vec<Gap> {
    let mut gaps = Vec::new();
    let mut rest = (o, n);
    while let Some((o, n)) = reshaped_within(sides, &rest) {
        let before = (rest.0.start..o.start, rest.1.start..n.start);
        rest = (o.end..rest.0.end, n.end..rest.1.end);
        gaps.extend([before, (o, n)]);
    }
    gaps.push(rest);
    gaps.retain(|(o, n)| !o.is_empty() || !n.is_empty());
    gaps
}

fn reshaped_within(sides: UnitLists, (o, n): &Gap) -> Option<Gap> {
    if o.is_empty() || n.is_empty() || o.len().max(n.len()) > MOST_SEARCHED {
        return None;
    }
    let (old_lists, new_lists) = (lists(sides.old, o), lists(sides.new, n));
    // A list on both sides is the same one.
    if old_lists.is_empty() == new_lists.is_empty() {
        return None;
    }
    let pairs = |old: Vec<Range<usize>>, new: Vec<Range<usize>>| {
        old.into_iter().flat_map(move |o| new.clone().into_iter().map(move |n| (o.clone(), n)))
    };
    let becomes_list = pairs(in_blocks(sides.old, o.clone()), new_lists);
    let found = becomes_list.chain(pairs(old_lists, in_blocks(sides.new, n.clone())));
    let rated = found.filter_map(|(o, n)| {
        let (old, new) = (&sides.old[o.clone()], &sides.new[n.clone()]);
        is_reshaped(old, new).then(|| (alike(old, new), (o, n)))
    });
    rated.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, gap)| gap)
}

/// Returns the lists in a run of units: each alone, and each with the paragraph before it.
fn lists(units: &[WordedUnit], run: &Range<usize>) -> Vec<Range<usize>> {
    let is_item = |it: &WordedUnit| it.unit.kind.is_whole() && it.unit.kind != BlockKind::Heading;
    let blocks = in_blocks(units, run.clone());
    let mut lists = Vec::new();
    let mut at = 0;
    while at < blocks.len() {
        let items = blocks[at..].iter().take_while(|it| is_item(&units[it.start])).count();
        if items >= 2 {
            let list = blocks[at].start..blocks[at + items - 1].end;
            if let Some(introduction) = at.checked_sub(1).map(|before| &blocks[before]) {
                lists.push(introduction.start..list.end);
            }
            lists.push(list);
        }
        at += items.max(1);
    }
    lists
}

fn alike(old: &[WordedUnit], new: &[WordedUnit]) -> f32 {
    let weight = |list: &[WordedUnit]| list.iter().map(|it| it.weight).sum::<u32>();
    likeness(&bag_of(old), &bag_of(new), weight(old) + weight(new))
}
