//! Sentences that belong to one decision: those that split, merge or change places, or that took
//! over the words of the sentence beside them.

use std::borrow::Cow;
use std::collections::HashMap;

use super::align::{UnitLists, UnitSwap, WordedUnit, bag_of, likeness};
use super::blocks::BlockKind;
use super::moves::{FEWEST_WORDS, SAME};
use super::words::{TokenKind, count_words, weight};

/// Least length, in bytes, of the words that a sentence takes over from its neighbour.
const TAKEN: usize = 5;

/// Fewest words of a phrase that stands for a whole sentence.
const FEWEST_IN_PHRASE: usize = 2;

/// Fewest words of a sentence that live on in another one; fewer can be alike by chance.
const FEWEST_LIVING_ON: usize = 4;

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
        let near = near.take_while(|it| are_near(sides, &covering(it, &swap)));
        let depends = |it: &UnitSwap| {
            let is_one = is_one_paragraph(sides, &covering(it, &swap));
            lives_on(sides, it, &swap)
                || (is_one || is_whole(it) || is_whole(&swap)) && takes_over(sides, it, &swap)
                || is_one && changes_place(sides, it, &swap)
        };
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

fn covering(first: &UnitSwap, last: &UnitSwap) -> UnitSwap {
    UnitSwap { old: first.old.start..last.old.end, new: first.new.start..last.new.end }
}

fn is_whole(swap: &UnitSwap) -> bool {
    swap.old.is_empty() || swap.new.is_empty()
}

/// Returns `true` if all units are sentences of one paragraph or of two that follow each other,
/// before and after: a sentence may be merged out of parts of both.
fn are_near(sides: UnitLists, swap: &UnitSwap) -> bool {
    let are_near = |list: &[WordedUnit]| {
        let block = |it: Option<&WordedUnit>| it.map_or(0, |it| it.unit.block);
        list.iter().all(|it| it.unit.kind == BlockKind::Prose)
            && block(list.last()) - block(list.first()) <= 1
    };
    are_near(&sides.old[swap.old.clone()]) && are_near(&sides.new[swap.new.clone()])
}

/// Returns `true` if all units are sentences of one paragraph, before and after.
fn is_one_paragraph(sides: UnitLists, swap: &UnitSwap) -> bool {
    let is_one = |list: &[WordedUnit]| {
        list.iter().all(|it| it.unit.kind == BlockKind::Prose)
            && list.first().map(|it| it.unit.block) == list.last().map(|it| it.unit.block)
    };
    is_one(&sides.old[swap.old.clone()]) && is_one(&sides.new[swap.new.clone()])
}

/// Returns `true` if words left one of two neighbours for the other, or if one of them became a
/// phrase of the other. The second may have one sentence between them that was removed or added.
fn takes_over(sides: UnitLists, left: &UnitSwap, right: &UnitSwap) -> bool {
    let apart = (right.old.start - left.old.end) + (right.new.start - left.new.end);
    if apart > 1 {
        return false;
    }
    let is_whole = is_whole(left) || is_whole(right);
    let (left, right) = (ExchangedWords::of(sides, left), ExchangedWords::of(sides, right));
    let is_phrase = |fits| left.is_phrase_of(&right, fits) || right.is_phrase_of(&left, fits);
    if apart == 1 {
        return is_phrase(has_all_words);
    }
    let moves = |gone: &[Cow<str>], come: &[Cow<str>]| {
        let shared = length(&shared(gone, come));
        let (least, most) = (length(gone).min(length(come)), length(gone).max(length(come)));
        shared >= TAKEN && 2 * shared >= least || is_whole && shared > 0 && 2 * shared >= most
    };
    moves(&left.gone, &right.come) || moves(&right.gone, &left.come) || is_phrase(is_of_its_length)
}

/// Returns `true` if a sentence is removed and most of its words are put into another one that is
/// rewritten, or the reverse, with other changes between them.
fn lives_on(sides: UnitLists, left: &UnitSwap, right: &UnitSwap) -> bool {
    let replaces = |it: &UnitSwap| !it.old.is_empty() && !it.new.is_empty();
    let (whole, rewritten) = match (replaces(left), replaces(right)) {
        (false, true) => (left, right),
        (true, false) => (right, left),
        _ => return false,
    };
    let is_removed = whole.new.is_empty();
    let (whole, other) = (ExchangedWords::of(sides, whole), ExchangedWords::of(sides, rewritten));
    let (words, elsewhere) =
        if is_removed { (whole.gone, other.come) } else { (whole.come, other.gone) };
    let shared = shared(&words, &elsewhere);
    shared.len() >= FEWEST_LIVING_ON && length(&shared) as f32 >= SAME * length(&words) as f32
}

/// Returns `true` if a phrase is about as long as the sentence that it stands for.
fn is_of_its_length(whole: &[Cow<str>], phrase: &[Cow<str>]) -> bool {
    let (whole, size) = (length(whole), length(phrase));
    phrase.len() >= FEWEST_IN_PHRASE && 2 * size >= whole && 2 * whole >= size
}

/// Returns `true` if all words of a phrase are in the sentence.
fn has_all_words(whole: &[Cow<str>], phrase: &[Cow<str>]) -> bool {
    phrase.len() >= FEWEST_IN_PHRASE
        && length(phrase) >= TAKEN
        && shared(phrase, whole).len() == phrase.len()
}

/// Test if the words of a sentence became those of a phrase.
type PhraseTest = fn(&[Cow<str>], &[Cow<str>]) -> bool;

/// Words that a change takes away, and those that it brings, sorted and in lower case.
struct ExchangedWords<'a> {
    gone: Vec<Cow<'a, str>>,
    come: Vec<Cow<'a, str>>,
    /// The change replaces a sentence: it neither removes nor adds one.
    replaces: bool,
}

impl<'a> ExchangedWords<'a> {
    fn of(sides: UnitLists<'a>, swap: &UnitSwap) -> Self {
        let (old, new) = swap.units(sides);
        let (old, new) = (words_of(sides.old_text, old), words_of(sides.new_text, new));
        let stay = shared(&old, &new);
        let without = |words: Vec<Cow<'a, str>>| {
            let mut stay = stay.iter().peekable();
            words.into_iter().filter(|word| stay.next_if(|it| *it == word).is_none()).collect()
        };
        let replaces = !swap.old.is_empty() && !swap.new.is_empty();
        Self { gone: without(old), come: without(new), replaces }
    }

    /// Returns `true` if a removed sentence became a phrase that the other one gained, or an added
    /// one was such a phrase; `fits` compares the words of the sentence with those of the phrase.
    fn is_phrase_of(&self, other: &Self, fits: PhraseTest) -> bool {
        !self.replaces
            && other.replaces
            && (self.come.is_empty() && other.gone.is_empty() && fits(&self.gone, &other.come)
                || self.gone.is_empty() && other.come.is_empty() && fits(&self.come, &other.gone))
    }
}

/// Returns the words of units, sorted. The first word of a sentence is a capital one elsewhere, so
/// all are in lower case.
fn words_of<'a>(text: &'a str, units: &[WordedUnit]) -> Vec<Cow<'a, str>> {
    let tokens = units.iter().flat_map(|it| &it.tokens);
    let words = tokens.filter(|it| it.stuff == TokenKind::Word).map(|it| {
        let word = &text[it.range.clone()];
        if word.contains(char::is_uppercase) {
            Cow::Owned(word.to_lowercase())
        } else {
            Cow::Borrowed(word)
        }
    });
    let mut words: Vec<_> = words.collect();
    words.sort_unstable();
    words
}

fn shared<'a>(left: &[Cow<'a, str>], right: &[Cow<'a, str>]) -> Vec<Cow<'a, str>> {
    let mut right = right.iter().peekable();
    let is_in_both = |word: &&Cow<'a, str>| {
        while right.next_if(|it| it < word).is_some() {}
        right.next_if(|it| it == word).is_some()
    };
    left.iter().filter(is_in_both).cloned().collect()
}

fn length(words: &[Cow<str>]) -> usize {
    words.iter().map(|it| it.len()).sum()
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
