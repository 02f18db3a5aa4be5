//! Two parts of a sentence around a word that links them: `than`, `before`, `then`, `caused`.

use super::extract::Fact;
use super::kinds::MarkKind;
use super::lexicon::{Lexicon, NEGATION_AXIS, Role};
use super::moves::{are_alike, stem};
use super::reading::{CAPITAL, CLAUSE, Reading, START};
use super::side::{Change, Side, word_fact};

/// Tokens of a side up to which its parts are compared.
const MOST_TOKENS: usize = 80;
/// Words before the second side of a comparison.
const THAN: [&str; 4] = ["than", "als", "que", "qu"];
/// Words between what happens first and what happens later.
const THEN: &str = " then next afterwards thereafter subsequently later dann danach anschließend \
    daraufhin nachher hinterher später ensuite puis ";
/// Beginnings of verbs between a cause and its effect.
const CAUSES: [&str; 4] = ["caus", "trigger", "verursach", "provoqu"];

/// Result of the comparison of linked parts.
#[derive(Default)]
pub(crate) struct Turn {
    /// Both the parts and the word between them are turned, which is the same.
    pub is_same: bool,
    /// Parts that change places around the same word.
    pub change: Option<Change>,
}

/// The words of one part, by their first letters.
type Words<'a> = Vec<&'a str>;

struct Parts<'a> {
    link: usize,
    /// Words of the side that is compared, comes first or is the cause.
    first: Words<'a>,
    second: Words<'a>,
}

/// Compares the parts around links, and drops opposites that turned parts make good.
pub(crate) fn turn(old: &mut Side, new: &mut Side, lexicon: &Lexicon) -> Turn {
    let (before, after) = (old.reading, new.reading);
    let denials = |side: &Side| side.facts.iter().filter(|it| it.axis == NEGATION_AXIS).count();
    if before.tokens.len().max(after.tokens.len()) > MOST_TOKENS || denials(old) != denials(new) {
        return Turn::default();
    }
    let change = |kind, was: usize, now: usize| {
        let fact = |reading: &Reading, at| Some(word_fact(kind, at, reading.tokens.get(at)?));
        Some((fact(before, was), fact(after, now)))
    };
    if let (Some(was), Some(now)) = (compared(old, lexicon), compared(new, lexicon))
        && is_crossed(&was, &now)
    {
        let is_opposite = |it: &Fact, other: &Fact| {
            matches!(it.kind, MarkKind::Comparison | MarkKind::Order)
                && it.axis == other.axis
                && !it.is_same(other)
        };
        let flipped = |it: &&Fact| new.left.iter().any(|other| is_opposite(it, other));
        let axes: Vec<u16> = old.left.iter().filter(flipped).map(|it| it.axis).collect();
        if !axes.is_empty() {
            for left in [&mut old.left, &mut new.left] {
                left.retain(|it| !axes.contains(&it.axis));
            }
            return Turn { is_same: true, change: None };
        }
        let is_kept = (0..after.tokens.len()).any(|at| are_alike(before, was.link - 1, after, at));
        let change = change(MarkKind::Comparison, was.link, now.link).filter(|_| is_kept);
        return Turn { is_same: false, change };
    }
    if let (Some(was), Some(now)) = (timed(old, lexicon), timed(new, lexicon)) {
        let time = lexicon.axis("time");
        if is_crossed(&was, &now) {
            return Turn { is_same: false, change: change(MarkKind::Order, was.link, now.link) };
        }
        let is_turned = old.left.iter().any(|it| Some(it.axis) == time && it.token == was.link);
        let is_same = is_turned && meets(&was.first, &now.first) && meets(&was.second, &now.second);
        if is_same {
            for (left, link) in [(&mut old.left, was.link), (&mut new.left, now.link)] {
                left.retain(|it| Some(it.axis) != time || it.token != link);
            }
        }
        return Turn { is_same, change: None };
    }
    let causes = caused(before, lexicon).zip(caused(after, lexicon));
    let turned = causes.filter(|(was, now)| is_crossed(was, now));
    let change = turned.and_then(|(was, now)| change(MarkKind::Order, was.link, now.link));
    Turn { is_same: false, change }
}

fn meets(some: &Words, other: &Words) -> bool {
    some.iter().any(|word| other.contains(word))
}

/// Returns `true` if what was the first part is the second one now, and the other way around.
fn is_crossed(was: &Parts, now: &Parts) -> bool {
    meets(&was.first, &now.second)
        && meets(&was.second, &now.first)
        && !(meets(&was.first, &now.first) && meets(&was.second, &now.second))
}

/// Returns the words of a sentence after a link and all others, without those that are in both.
fn parts<'a>(reading: &'a Reading, link: usize, end: usize, lexicon: &Lexicon) -> Parts<'a> {
    let word = reading.word(&reading.tokens[link]);
    let is_content = |at: &usize| {
        let token = &reading.tokens[*at];
        lexicon.word(reading, token).is_none_or(|node| {
            node.is(Role::Number)
                || node.is(Role::Month)
                || !(node.is(Role::Function) || node.is(Role::Preposition))
        }) && reading.word(token).len() > 2
    };
    let is_end = |at: &usize| reading.tokens[*at].has(CLAUSE | START);
    let length = reading.tokens.len();
    let mut clause = (end + 1..length).find(is_end).unwrap_or(length);
    let mut start = end;
    let is_joint = |at: &usize| {
        let node = lexicon.word(reading, &reading.tokens[*at]);
        is_end(at) || node.is_some_and(|node| node.is(Role::Coordinator))
    };
    if is_then(word) {
        // `and start then` is one part.
        start = (0..=link).rev().find(is_joint).unwrap_or(end);
    } else if matches!(word, "nach" | "vor") {
        // What stands behind the noun is said of the other part: `nach der Messung sank er`.
        clause =
            (end..clause).find(|at| reading.tokens[*at].has(CAPITAL)).map_or(clause, |it| it + 1);
    }
    let words = |places: &mut dyn Iterator<Item = usize>| -> Words<'a> {
        places.filter(is_content).map(|at| stem(reading, at)).collect()
    };
    let first = words(&mut (0..start.min(link)).chain(clause..length));
    let second = words(&mut (start..clause).filter(|at| *at != link));
    let without = |some: &Words<'a>, other: &Words<'a>| -> Words<'a> {
        some.iter().filter(|word| !other.contains(word)).copied().collect()
    };
    Parts { link, first: without(&first, &second), second: without(&second, &first) }
}

fn is_then(word: &str) -> bool {
    THEN.contains(&[" ", word, " "].concat())
}

/// Returns the parts around `than`.
fn compared<'a>(side: &Side<'a>, lexicon: &Lexicon) -> Option<Parts<'a>> {
    let reading = side.reading;
    let is_than = |at: &usize| THAN.contains(&reading.word(&reading.tokens[*at]));
    let link = (1..reading.tokens.len()).find(is_than)?;
    let is_near = |it: &Fact| it.kind == MarkKind::Comparison && it.token + 4 >= link;
    let is_compared =
        reading.word(&reading.tokens[link]) == "than" || side.facts.iter().any(is_near);
    is_compared.then(|| parts(reading, link, link + 1, lexicon))
}

/// Returns the parts around the only word of time, the earlier one first.
fn timed<'a>(side: &Side<'a>, lexicon: &Lexicon) -> Option<Parts<'a>> {
    let axis = lexicon.axis("time")?;
    let (before, after) = (lexicon.bit("time", "before"), lexicon.bit("time", "after"));
    let is_time = |it: &&Fact| it.axis == axis && it.value & (before | after) > 0;
    let mut facts = side.facts.iter().filter(is_time);
    let (fact, None) = (facts.next()?, facts.next()) else { return None };
    let word = side.reading.word(side.reading.tokens.get(fact.token)?);
    let mut parts = parts(side.reading, fact.token, fact.end, lexicon);
    if fact.value & after > 0 && !is_then(word) {
        std::mem::swap(&mut parts.first, &mut parts.second);
    }
    Some(parts)
}

/// Returns a cause and its effect around the verb.
fn caused<'a>(reading: &'a Reading, lexicon: &Lexicon) -> Option<Parts<'a>> {
    let is_cause = |at: &usize| {
        let word = reading.word(&reading.tokens[*at]);
        CAUSES.iter().any(|it| word.starts_with(it))
    };
    let link = (1..reading.tokens.len()).find(is_cause)?;
    let mut parts = parts(reading, link, link + 1, lexicon);
    let next = reading.tokens.get(link + 1).and_then(|token| lexicon.word(reading, token));
    if next.is_some_and(|node| node.is(Role::Agent)) {
        std::mem::swap(&mut parts.first, &mut parts.second);
    }
    Some(parts)
}
