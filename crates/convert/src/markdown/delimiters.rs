//! Asterisks and tildes, read back as `CommonMark` reads them, to find marks that would not be read
//! as they were meant.

use std::collections::{BTreeMap, HashMap};

use super::flanking::CharacterClass::{Punctuation, Word};
use super::flanking::{CharacterClass, may_open};
use super::line::Line;
use super::segments::InlineMark;

/// Openers that are looked at for one closer. Marks that are meant are nested less deeply.
const DEEPEST_SEARCH: usize = 64;

/// Sign of a mark in a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delimiter {
    /// First byte.
    pub at: usize,
    /// Mark that it opens or closes; no link.
    pub mark: InlineMark,
}

/// Mark as it is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// Kind of the mark.
    pub mark: InlineMark,
    /// First byte of the opening sign.
    pub open_at: usize,
    /// First byte of the closing sign.
    pub close_at: usize,
    /// First segment in it.
    pub from: usize,
    /// First segment behind it.
    pub to: usize,
}

/// Mark that is not read as it is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnreadPair {
    /// The mark.
    pub pair: Pair,
    /// `true` if its opening sign opens something.
    pub opens: bool,
    /// `true` if its closing sign closes something.
    pub closes: bool,
}

/// Delimiters of one sign side by side, which are read as one.
#[derive(Debug)]
struct DelimiterRun {
    sign: u8,
    at: usize,
    length: usize,
    can_open: bool,
    can_close: bool,
    /// Signs at the left that have closed something.
    closed: usize,
    /// Signs that have done nothing yet.
    left: usize,
}

/// Way in which a reader takes the characters beside a mark.
#[derive(Clone, Copy, Debug)]
struct Reader {
    /// Kind of symbols: punctuation since version 0.31 of the specification.
    symbols: CharacterClass,
    /// `true` if the tildes of other marks are skipped, as GitHub's reader does.
    skips_tildes: bool,
}

/// Returns the marks that one of the readers in use does not read as they are meant.
pub fn unread_pairs(line: &Line, delimiters: &[Delimiter], pairs: &[Pair]) -> Vec<UnreadPair> {
    let is_struck = delimiters.iter().any(|delimiter| delimiter.mark == InlineMark::Strikethrough);
    let mut unread: BTreeMap<usize, UnreadPair> = BTreeMap::new();
    for symbols in [Word, Punctuation] {
        for skips_tildes in [false, true] {
            if skips_tildes && !is_struck {
                continue;
            }
            let mut runs = runs_of(line, delimiters, Reader { symbols, skips_tildes });
            let read = read_back(&mut runs, pairs);
            let run_at = |at: usize| {
                let next = runs.partition_point(|run| run.at <= at);
                next.checked_sub(1).map(|place| &runs[place])
            };
            for pair in pairs.iter().filter(|pair| pair.mark != InlineMark::Link) {
                let meant = (pair.close_at, pair.mark.sign().len());
                if read.get(&pair.open_at) != Some(&meant) {
                    let known = unread.entry(pair.open_at).or_insert(UnreadPair {
                        pair: *pair,
                        opens: true,
                        closes: true,
                    });
                    known.opens &= run_at(pair.open_at).is_some_and(|run| run.can_open);
                    known.closes &= run_at(pair.close_at).is_some_and(|run| run.can_close);
                }
            }
        }
    }
    unread.into_values().collect()
}

fn runs_of(line: &Line, delimiters: &[Delimiter], reader: Reader) -> Vec<DelimiterRun> {
    let mut runs: Vec<DelimiterRun> = Vec::new();
    for delimiter in delimiters {
        let sign = delimiter.mark.sign();
        let byte = sign.as_bytes().first().copied().unwrap_or_default();
        match runs.last_mut() {
            Some(run) if run.sign == byte && run.at + run.length == delimiter.at => {
                run.length += sign.len();
            }
            _ => runs.push(DelimiterRun {
                sign: byte,
                at: delimiter.at,
                length: sign.len(),
                can_open: false,
                can_close: false,
                closed: 0,
                left: 0,
            }),
        }
    }
    for run in &mut runs {
        let (from, to) = (run.at, run.at + run.length);
        let before = line.class_before(from, reader.skips_tildes).with_unclear(reader.symbols);
        let after = line.class_behind(to, reader.skips_tildes).with_unclear(reader.symbols);
        run.can_open = may_open(before, after);
        run.can_close = may_open(after, before);
        run.left = run.length;
    }
    runs
}

/// Pairs the runs as a reader does. Returns, for each opening sign by its first byte, the closing
/// sign and the length.
fn read_back(runs: &mut [DelimiterRun], pairs: &[Pair]) -> HashMap<usize, (usize, usize)> {
    let mut read = HashMap::new();
    let mut openers: Vec<usize> = Vec::new();
    let mut walls = link_walls(pairs).into_iter().peekable();
    let mut floors = vec![0];
    for closer in 0..runs.len() {
        while let Some((_, opens)) = walls.next_if(|(at, _)| *at < runs[closer].at) {
            // Marks do not cross the words of a link.
            if opens {
                floors.push(openers.len());
            } else if floors.len() > 1 {
                openers.truncate(floors.pop().unwrap_or_default());
            }
        }
        let floor = floors.last().copied().unwrap_or_default();
        while runs[closer].can_close && runs[closer].left > 0 {
            let lowest = floor.max(openers.len().saturating_sub(DEEPEST_SEARCH));
            let Some(place) = (lowest..openers.len())
                .rev()
                .find(|place| fit(&runs[openers[*place]], &runs[closer]))
            else {
                break;
            };
            openers.truncate(place + 1);
            let opener = openers[place];
            let length = if runs[opener].left >= 2 && runs[closer].left >= 2 { 2 } else { 1 };
            runs[opener].left -= length;
            let open_at = runs[opener].at + runs[opener].closed + runs[opener].left;
            read.insert(open_at, (runs[closer].at + runs[closer].closed, length));
            runs[closer].closed += length;
            runs[closer].left -= length;
            if runs[opener].left == 0 {
                openers.pop();
            }
        }
        if runs[closer].can_open && runs[closer].left > 0 {
            openers.push(closer);
        }
    }
    read
}

/// Returns where the words of links begin (`true`) and end, in order.
fn link_walls(pairs: &[Pair]) -> Vec<(usize, bool)> {
    let links = pairs.iter().filter(|pair| pair.mark == InlineMark::Link);
    let mut walls: Vec<_> =
        links.flat_map(|pair| [(pair.open_at, true), (pair.close_at, false)]).collect();
    walls.sort_unstable();
    walls
}

/// Returns whether the two can be the edges of one mark.
fn fit(opener: &DelimiterRun, closer: &DelimiterRun) -> bool {
    if opener.sign != closer.sign {
        return false;
    }
    if opener.sign == b'~' {
        return opener.length == closer.length;
    }
    let sum = opener.length + closer.length;
    let is_odd_sum = !sum.is_multiple_of(3)
        || (opener.length.is_multiple_of(3) && closer.length.is_multiple_of(3));
    !(opener.can_close || closer.can_open) || is_odd_sum
}
