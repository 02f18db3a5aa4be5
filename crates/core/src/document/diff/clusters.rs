//! Sentences that belong to one decision: those that split, merge or change places, or that took
//! over the words of the sentence beside them.

use std::collections::HashMap;

use super::align::{UnitLists, UnitSwap, WordedUnit, bag_of, common, likeness};
use super::blocks::BlockKind;
use super::moves::{FEWEST_WORDS, SAME};
use super::words::{WordBag, count_words, weight};

/// Least weight, in bytes, of the words that a sentence takes over from its neighbour.
const TAKEN: u32 = 5;

/// Most sentences that a swap may reach over.
const REACH: usize = 4;

/// Most changes between the halves of a move that changes words too.
const NEAR: usize = 8;

/// Returns the changes of the sentences of `sides` in order, those that belong together as one.
pub(super) fn clusters(sides: UnitLists, swaps: Vec<UnitSwap>) -> Vec<UnitSwap> {
    let moving = moving(sides, &swaps);
    let mut clusters: Vec<UnitSwap> = Vec::with_capacity(swaps.len());
    for (mut swap, moves) in swaps.into_iter().zip(moving) {
        // What is only moved is found later, and nothing else depends on it.
        if moves {
            clusters.push(swap);
            continue;
        }
        let near = clusters.iter().rev();
        let near = near.take_while(|it| swap.old.start - it.old.end <= REACH).take(REACH);
        let near = near.take_while(|it| is_one_paragraph(sides, &covering(it, &swap)));
        let depends =
            |it: &UnitSwap| takes_over(sides, it, &swap) || changes_place(sides, it, &swap);
        let reach = near.enumerate().filter(|(_, it)| depends(it)).last();
        if let Some((index, _)) = reach {
            let first = clusters.len() - 1 - index;
            swap = covering(&clusters[first], &swap);
            clusters.truncate(first);
        }
        clusters.push(swap);
    }
    clusters
}

/// Returns for each change whether it is half of a move: units are removed that are added near by,
/// or anywhere in the same words.
fn moving(sides: UnitLists, swaps: &[UnitSwap]) -> Vec<bool> {
    let half = |swap: &UnitSwap| {
        let (units, text) = match (swap.old.is_empty(), swap.new.is_empty()) {
            (false, true) => (&sides.old[swap.old.clone()], sides.old_text),
            (true, false) => (&sides.new[swap.new.clone()], sides.new_text),
            _ => return None,
        };
        let words: usize = units.iter().map(|it| count_words(&it.tokens)).sum();
        let (first, last) = (units.first()?, units.last()?);
        (words >= FEWEST_WORDS).then(|| &text[first.unit.range.start..last.body_end])
    };
    let halves: Vec<Option<&str>> = swaps.iter().map(half).collect();
    let mut sides_of: HashMap<&str, [bool; 2]> = HashMap::new();
    for (swap, text) in swaps.iter().zip(&halves) {
        let Some(text) = text else { continue };
        sides_of.entry(text).or_default()[usize::from(swap.old.is_empty())] = true;
    }
    let is_moved = |index: usize| {
        let Some(text) = halves[index] else { return false };
        let near = index.saturating_sub(NEAR)..(index + NEAR + 1).min(swaps.len());
        sides_of[text] == [true; 2]
            || near.into_iter().any(|other| {
                halves[other].is_some() && changes_place(sides, &swaps[index], &swaps[other])
            })
    };
    (0..swaps.len()).map(is_moved).collect()
}

/// Returns one change that covers all from `first` to `last`.
fn covering(first: &UnitSwap, last: &UnitSwap) -> UnitSwap {
    UnitSwap { old: first.old.start..last.old.end, new: first.new.start..last.new.end }
}

/// Returns `true` if all units are sentences of one paragraph, before and after.
fn is_one_paragraph(sides: UnitLists, swap: &UnitSwap) -> bool {
    let is_one = |list: &[WordedUnit]| {
        list.iter().all(|it| it.unit.kind == BlockKind::Prose)
            && list.first().map(|it| it.unit.block) == list.last().map(|it| it.unit.block)
    };
    is_one(&sides.old[swap.old.clone()]) && is_one(&sides.new[swap.new.clone()])
}

/// Returns `true` if words left one of two neighbours for the other.
fn takes_over(sides: UnitLists, left: &UnitSwap, right: &UnitSwap) -> bool {
    if left.old.end != right.old.start || left.new.end != right.new.start {
        return false;
    }
    let ((left_gone, left_come), (right_gone, right_come)) =
        (exchanged(sides, left), exchanged(sides, right));
    let moves = |gone: &[(u32, u32)], come: &[(u32, u32)]| {
        let shared = common(gone, come, |_| ());
        shared >= TAKEN && 2 * shared >= weight(gone).min(weight(come))
    };
    moves(&left_gone, &right_come) || moves(&right_gone, &left_come)
}

/// Returns `true` if a sentence removed in one of two places was added in the other.
fn changes_place(sides: UnitLists, left: &UnitSwap, right: &UnitSwap) -> bool {
    let (gone, come) = match (left, right) {
        (UnitSwap { old, new: empty }, UnitSwap { old: nothing, new })
        | (UnitSwap { old: nothing, new }, UnitSwap { old, new: empty })
            if empty.is_empty() && nothing.is_empty() =>
        {
            (&sides.old[old.clone()], &sides.new[new.clone()])
        }
        _ => return false,
    };
    let (gone, come) = (bag_of(gone), bag_of(come));
    likeness(&gone, &come, weight(&gone) + weight(&come)) >= SAME
}

/// Returns the words that a change takes away and those that it brings.
fn exchanged(sides: UnitLists, swap: &UnitSwap) -> (WordBag, WordBag) {
    let (old, new) = (bag_of(&sides.old[swap.old.clone()]), bag_of(&sides.new[swap.new.clone()]));
    let mut stay = Vec::new();
    common(&old, &new, |word| stay.push(word));
    let without = |bag: WordBag| {
        let mut stay = stay.iter().peekable();
        let is_gone = |(word, _): &(u32, u32)| stay.next_if(|it| *it == word).is_none();
        bag.into_iter().filter(is_gone).collect::<WordBag>()
    };
    (without(old), without(new))
}
