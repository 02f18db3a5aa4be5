//! Words that are removed in one place and put in at another: one decision over both places.
//!
//! The halves of a move stay two changes while long paragraphs are cut (`split_paragraphs`); then
//! they become one hunk. It stands in the list where the words are put in, so that the changes that
//! put words in at one place keep their order.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use super::align::likeness;
use super::blocks::{BlockKind, blocks};
use super::draft::{DiffLimits, DraftPart, HunkDraft, HunkKind};
use super::words::{WordBag, WordNumbers, WordToken, bag, compare, count_words, weight};

/// Likeness from which on words that are put in are those that were removed.
pub(super) const SAME: f32 = 0.6;

/// Fewest words that count as moved, except blocks; fewer can be alike by chance.
pub(super) const FEWEST_WORDS: usize = 8;

/// Fewest words of a short list entry that counts as moved although a word of it changed.
const FEWEST_IN_ENTRY: usize = 3;

/// Most comparisons of two halves, so that the cost of a rewrite of a long text stays bounded.
const MOST_COMPARED: usize = 200_000;

/// Most additions of the same words that are looked at for one removal.
const MOST_EQUAL: usize = 16;

/// Most additions that are compared word by word with one removal.
const MOST_CANDIDATES: usize = 3;

/// Changes in order, in which the two halves of each move are hunks of kind `moved`.
pub(super) struct MoveHalves {
    pub hunks: Vec<HunkDraft>,
    /// Number of the move of each half, in the order of the hunks.
    moves: Vec<usize>,
}

impl MoveHalves {
    /// Finds the moves among `hunks`, which are in order and disjoint.
    pub fn of(hunks: Vec<HunkDraft>, limits: &DiffLimits) -> Self {
        let hunks = with_moved_ends_apart(hunks);
        let pairs = MoveSearch::of(&hunks, limits).pairs();
        let mut halves: HashMap<usize, (usize, usize)> = HashMap::new();
        for (number, pair) in pairs.iter().enumerate() {
            halves.insert(pair.gone, (number, pair.count));
            halves.insert(pair.come, (number, pair.count));
        }
        let (mut marked, mut moves) = (Vec::with_capacity(hunks.len()), Vec::new());
        let mut hunks = hunks.into_iter().enumerate();
        while let Some((index, hunk)) = hunks.next() {
            let Some(&(number, count)) = halves.get(&index) else {
                marked.push(hunk);
                continue;
            };
            let group = hunk.group;
            let rest = hunks.by_ref().take(count - 1).flat_map(|(_, it)| it.parts);
            let part = hunk.parts.into_iter().chain(rest).reduce(DraftPart::joined);
            let parts = part.into_iter().collect();
            let kind = Some(HunkKind::Moved);
            marked.push(HunkDraft { parts, explanation: None, kind, group });
            moves.push(number);
        }
        Self { hunks: marked, moves }
    }

    /// Returns the hunks with the halves of each move as one.
    pub fn joined(self) -> Vec<HunkDraft> {
        let mut numbers = self.moves.into_iter();
        let mut removals: HashMap<usize, DraftPart> = HashMap::new();
        let mut additions: HashMap<usize, usize> = HashMap::new();
        let mut joined: Vec<HunkDraft> = Vec::with_capacity(self.hunks.len());
        for mut hunk in self.hunks {
            if hunk.kind != Some(HunkKind::Moved) {
                joined.push(hunk);
                continue;
            }
            let Some(number) = numbers.next() else { continue };
            match hunk.parts.pop() {
                Some(part) if part.insert.is_empty() => match additions.get(&number) {
                    Some(&index) => joined[index].parts.push(part),
                    None => drop(removals.insert(number, part)),
                },
                part => {
                    hunk.parts = removals.remove(&number).into_iter().chain(part).collect();
                    additions.insert(number, joined.len());
                    joined.push(hunk);
                }
            }
        }
        joined
    }
}

/// Takes a first or last part that only removes words, or only puts them in, out of its hunk, if
/// the same words are put in, or removed, by a hunk or such a part elsewhere.
fn with_moved_ends_apart(hunks: Vec<HunkDraft>) -> Vec<HunkDraft> {
    // A word has at least one byte.
    let is_long = |text: &str| text.len() >= FEWEST_WORDS;
    let (mut removed, mut added) = (HashSet::new(), HashSet::new());
    for part in hunks.iter().flat_map(ends) {
        if part.insert.is_empty() && is_long(&part.base) {
            removed.insert(part.base.trim().to_owned());
        } else if part.base.is_empty() && is_long(&part.insert) {
            added.insert(part.insert.trim().to_owned());
        }
    }
    let moves = |part: &DraftPart| {
        let (words, elsewhere) =
            if part.insert.is_empty() { (&part.base, &added) } else { (&part.insert, &removed) };
        (part.insert.is_empty() || part.base.is_empty())
            && elsewhere.contains(words.trim())
            && count_words(&WordNumbers::default().tokens(words, 0..words.len())) >= FEWEST_WORDS
    };
    let mut apart = Vec::with_capacity(hunks.len());
    for mut hunk in hunks {
        let alone =
            |part| HunkDraft { parts: vec![part], kind: Some(HunkKind::Rewrite), ..hunk.clone() };
        let is_first = hunk.parts.len() > 1 && moves(&hunk.parts[0]);
        let first = is_first.then(|| alone(hunk.parts[0].clone()));
        let last = hunk
            .parts
            .last()
            .filter(|last| hunk.parts.len() > 1 + usize::from(is_first) && moves(last));
        let last = last.map(|last| alone(last.clone()));
        if first.is_some() {
            hunk.parts.remove(0);
        }
        if last.is_some() {
            hunk.parts.pop();
        }
        apart.extend(first.into_iter().chain([hunk]).chain(last));
    }
    apart
}

fn ends(hunk: &HunkDraft) -> impl Iterator<Item = &DraftPart> {
    hunk.parts.first().into_iter().chain(hunk.parts.last())
}

/// `count` neighbours from `gone` on are removed, and as many from `come` on put in.
struct MovedRun {
    gone: usize,
    come: usize,
    count: usize,
}

/// A change that only removes words, or only puts them in.
struct MoveHalf<'a> {
    text: &'a str,
    tokens: Vec<WordToken>,
    bag: WordBag,
    weight: u32,
    words: usize,
    /// Kind of the block, if the text is one or more of them and not a part of one.
    block: Option<BlockKind>,
}

struct MoveSearch<'a> {
    hunks: &'a [HunkDraft],
    limits: &'a DiffLimits,
    /// By the index of the hunk.
    removed: HashMap<usize, MoveHalf<'a>>,
    added: BTreeMap<usize, MoveHalf<'a>>,
}

impl<'a> MoveSearch<'a> {
    fn of(hunks: &'a [HunkDraft], limits: &'a DiffLimits) -> Self {
        let mut numbers = WordNumbers::default();
        let (mut removed, mut added) = (HashMap::new(), BTreeMap::new());
        for (index, hunk) in hunks.iter().enumerate() {
            let [part] = hunk.parts.as_slice() else { continue };
            if part.insert.is_empty() {
                removed.insert(index, MoveHalf::of(&part.base, &mut numbers));
            } else if part.base.is_empty() {
                added.insert(index, MoveHalf::of(&part.insert, &mut numbers));
            }
        }
        Self { hunks, limits, removed, added }
    }

    /// Returns the moves; no hunk is in two of them.
    fn pairs(&mut self) -> Vec<MovedRun> {
        if self.removed.is_empty() || self.added.is_empty() {
            return Vec::new();
        }
        let mut pairs = Vec::new();
        let mut places: HashMap<&str, VecDeque<usize>> = HashMap::new();
        for (index, half) in &self.added {
            places.entry(half.text.trim()).or_default().push_back(*index);
        }
        for gone in 0..self.hunks.len() {
            let Some(half) = self.long(gone) else { continue };
            let Some(equal) = places.get_mut(half.text.trim()) else { continue };
            while equal.front().is_some_and(|come| !self.added.contains_key(come)) {
                equal.pop_front();
            }
            let mut free = equal
                .iter()
                .take(MOST_EQUAL)
                .filter(|come| self.added.get(come).is_some_and(|it| it.can_equal(half)));
            if let Some(&come) = free.find(|come| self.is_apart(gone, **come)) {
                pairs.push(self.run(gone, come));
            }
        }
        let mut budget = MOST_COMPARED;
        for gone in 0..self.hunks.len() {
            if let Some(come) = self.destination(gone, &mut budget) {
                pairs.push(self.run(gone, come));
            }
        }
        pairs
    }

    /// Returns a removal that is long enough to be a move.
    fn long(&self, gone: usize) -> Option<&MoveHalf<'a>> {
        self.removed.get(&gone).filter(|it| it.may_move())
    }

    /// Returns the addition that is most like a removal, if it is long and alike enough.
    fn destination(&self, gone: usize, budget: &mut usize) -> Option<usize> {
        let half = self.long(gone)?;
        *budget = budget.checked_sub(self.added.len())?;
        let added =
            self.added.iter().filter(|(come, it)| it.can_be(half) && self.is_apart(gone, **come));
        let rated = added.map(|(come, it)| (half.likeness(it), *come, it));
        let mut rated: Vec<_> = rated.filter(|(rate, ..)| *rate >= SAME).collect();
        rated.sort_by(|a, b| b.0.total_cmp(&a.0));
        let is_same = |it: &&(f32, usize, &MoveHalf)| half.is_same(it.2, self.limits);
        rated.iter().take(MOST_CANDIDATES).find(is_same).map(|(_, come, _)| *come)
    }

    /// Returns `true` if unchanged words are between two changes; otherwise words are replaced in
    /// their place.
    fn is_apart(&self, gone: usize, come: usize) -> bool {
        let (gone, come) = (&self.hunks[gone].parts[0], &self.hunks[come].parts[0]);
        come.from < gone.from || gone.to < come.from
    }

    /// Returns the move of a removal with the neighbours that move along, and takes them.
    fn run(&mut self, mut gone: usize, mut come: usize) -> MovedRun {
        let mut count = 1;
        while let (Some(before_gone), Some(before_come)) =
            (gone.checked_sub(1), come.checked_sub(1))
            && self.goes_along((before_gone, gone), (before_come, come))
        {
            (gone, come, count) = (before_gone, before_come, count + 1);
        }
        while self.goes_along((gone + count, gone + count - 1), (come + count, come + count - 1)) {
            count += 1;
        }
        for index in 0..count {
            self.removed.remove(&(gone + index));
            self.added.remove(&(come + index));
        }
        MovedRun { gone, come, count }
    }

    /// Returns `true` if neighbours of the halves of a move are halves of one too, even if short.
    fn goes_along(&self, gone: (usize, usize), come: (usize, usize)) -> bool {
        let (Some(removed), Some(added)) = (self.removed.get(&gone.0), self.added.get(&come.0))
        else {
            return false;
        };
        let touch = |(a, b): (usize, usize)| {
            let (left, right) = (&self.hunks[a.min(b)].parts[0], &self.hunks[a.max(b)].parts[0]);
            left.to == right.from
        };
        touch(gone)
            && touch(come)
            && self.is_apart(gone.0, come.0)
            && removed.is_same(added, self.limits)
    }
}

impl<'a> MoveHalf<'a> {
    fn of(text: &'a str, numbers: &mut WordNumbers<'a>) -> Self {
        let tokens = numbers.tokens(text, 0..text.len());
        let bag = bag(&tokens);
        let (weight, words) = (weight(&bag), count_words(&tokens));
        Self { text, tokens, bag, weight, words, block: whole_block(text) }
    }

    /// Returns `true` if words are enough, or a block, so that they may have moved.
    fn may_move(&self) -> bool {
        self.words >= FEWEST_WORDS || self.words > 0 && self.block.is_some()
    }

    /// Returns `true` if a removed half may be put in, in the same words, as this one.
    fn can_equal(&self, removed: &Self) -> bool {
        removed.words >= FEWEST_WORDS || self.block.is_some()
    }

    /// Returns `true` if a removed half may be put in, in other words, as this one.
    fn can_be(&self, removed: &Self) -> bool {
        let is_entry =
            |half: &Self| half.block == Some(BlockKind::Entry) && half.words >= FEWEST_IN_ENTRY;
        self.words.min(removed.words) >= FEWEST_WORDS || is_entry(self) && is_entry(removed)
    }

    fn is_equal(&self, other: &Self) -> bool {
        self.weight == other.weight && self.text.trim() == other.text.trim()
    }

    /// Returns the likeness, 0 to 1, by the words in any order.
    fn likeness(&self, other: &Self) -> f32 {
        let (all, least) = (self.weight + other.weight, self.weight.min(other.weight));
        // Fewer words cannot be so much alike.
        if 2.0 * (least as f32) < SAME * all as f32 {
            return 0.0;
        }
        likeness(&self.bag, &other.bag, all)
    }

    /// Returns `true` if the same words are in the same order.
    fn is_same(&self, other: &Self, limits: &DiffLimits) -> bool {
        self.is_equal(other)
            || self.likeness(other) >= SAME
                && compare(&self.tokens, &other.tokens, (self.text, other.text), limits).likeness
                    >= f64::from(SAME)
    }
}

/// Returns the kind of the first block of a text that begins or ends at the border of a block.
fn whole_block(text: &str) -> Option<BlockKind> {
    let body = text.trim_start_matches('\n');
    let first = blocks(body).first()?.kind;
    let is_apart = body.len() < text.len() || text.ends_with('\n');
    (is_apart || matches!(first, BlockKind::Entry | BlockKind::Heading)).then_some(first)
}
