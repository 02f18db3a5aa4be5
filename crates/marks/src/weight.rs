//! The weight of what is left: facts that count on their own, against another one, or not at all.

use std::collections::HashSet;

use super::extract::{DATE, Fact, NAME, NUMBER, bare};
use super::kinds::{MOST_MARKS, MarkKind};
use super::lexicon::{Lexicon, NEGATION_AXIS, Role, Strength, WordEntry};
use super::moves;
use super::names::name_stem;
use super::reading::{ALL_CAPITALS, CLAUSE, IN_PARENTHESES, Reading, START, Token, hash};
use super::side::{MOST_COMPARED, Side, own_words};

/// Words of a term before its letters in parentheses.
const LONGEST_TERM: usize = 8;

/// Makes names weak that the other side has somewhere else, in another form or in part.
pub(crate) fn weaken_names(side: &mut Side, other: &Reading) {
    if !side.left.iter().any(|fact| fact.axis == NAME) {
        return;
    }
    let stem = |token: &Token| hash(bare(name_stem(other.word(token))).as_bytes());
    let words: HashSet<u64> = other.tokens.iter().map(stem).collect();
    let is_near = |fact: &Fact, near: &Fact| {
        near.axis == NAME
            && near.token.abs_diff(fact.token) == 1
            && (near.is_joined || fact.is_joined)
    };
    // `World Health Organization (WHO)`, `WHO`
    let is_short = |at: &usize| {
        let token = side.reading.tokens.get(*at);
        token.is_some_and(|it| {
            it.has(IN_PARENTHESES) && it.has(ALL_CAPITALS) && words.contains(&it.hash)
        })
    };
    // `WHO (World Health Organization)`
    let is_spelled = |fact: &Fact| {
        let tokens = side.reading.tokens.get(fact.token..fact.token + 2);
        tokens.is_some_and(|it| it[0].has(ALL_CAPITALS) && it[1].has(IN_PARENTHESES))
    };
    let is_compared = side.facts.len().max(other.tokens.len()) <= MOST_COMPARED;
    for fact in side.left.iter_mut().filter(|fact| fact.axis == NAME && !fact.is_hidden) {
        let word = side.reading.tokens.get(fact.token).map_or("", |it| side.reading.word(it));
        let is_part = |token: &Token| {
            let other = other.word(token);
            token.is_word()
                && word.len() > 3
                && other.len() > 3
                && (other.contains(word) || word.contains(other))
        };
        let is_written = || other.tokens.iter().any(is_part);
        let is_known_in_part =
            || side.facts.iter().any(|near| is_near(fact, near) && words.contains(&near.value));
        if words.contains(&fact.value)
            || (is_compared && (is_written() || is_known_in_part()))
            || (fact.end..fact.end + LONGEST_TERM).any(|at| is_short(&at))
            || is_spelled(fact)
        {
            fact.strength = fact.strength.min(Strength::Polar);
        }
    }
}

/// Makes facts weak that the other side has too, less often.
pub(crate) fn weaken_repeated(left: &mut [Fact], others: &[Fact]) {
    for fact in left.iter_mut().filter(|fact| {
        (matches!(fact.axis, NUMBER | DATE) || fact.axis > NEGATION_AXIS) && !fact.is_hidden
    }) {
        if others.iter().take(MOST_COMPARED).any(|other| other.is_same(fact)) {
            fact.strength = fact.strength.min(Strength::Polar);
        }
    }
}

/// Makes words weak that belong to a word which the other side does not have: it may say the same
/// in other words.
pub(crate) fn weaken_unattached(side: &mut Side, other: &Side, lexicon: &Lexicon) {
    let (own, others) = (side.reading, other.reading);
    // `neither A nor B` is `no A and no B`.
    let denies_both = |it: &&Fact| {
        let word = others.tokens.get(it.token).map_or("", |token| others.word(token));
        it.axis == NEGATION_AXIS && moves::NEITHER.contains(&word)
    };
    if other.facts.iter().any(|it| denies_both(&it)) {
        for fact in side.left.iter_mut().filter(|it| it.axis == NEGATION_AXIS) {
            fact.strength = fact.strength.min(Strength::Polar);
        }
    }
    let source = lexicon.axis("source");
    let is_source = |it: &&Fact| Some(it.axis) == source;
    // `she believes that …` is `according to her, …`.
    if other.facts.iter().any(|it| is_source(&it) && it.strength == Strength::Strong) {
        let said: Vec<usize> = side.facts.iter().filter(is_source).map(|it| it.token).collect();
        let is_said = |it: &&mut Fact| it.kind == MarkKind::Modality && said.contains(&it.token);
        for fact in side.left.iter_mut().filter(is_said) {
            fact.strength = fact.strength.min(Strength::Polar);
        }
    }
    let strong = |it: &&mut Fact| !it.is_exact && it.strength == Strength::Strong;
    for fact in side.left.iter_mut().filter(strong).take(MOST_MARKS) {
        // `According to the union, …` belongs to the whole sentence.
        let Some(word) = moves::scope(own, fact, lexicon).filter(|_| Some(fact.axis) != source)
        else {
            continue;
        };
        let token = &own.tokens[word];
        let means = |token: &Token, reading: &Reading| {
            lexicon.word(reading, token).filter(|node| node.has_meaning())
        };
        let meaning = means(token, own);
        let is_there = (0..others.tokens.len().min(MOST_COMPARED)).any(|at| {
            let other = &others.tokens[at];
            moves::are_alike(own, word, others, at)
                || lexicon.lemma(token).is_some_and(|lemma| lexicon.lemma(other) == Some(lemma))
                || meaning
                    .is_some_and(|it| means(other, others).is_some_and(|that| it.shares(that)))
        });
        if !is_there {
            fact.strength = fact.strength.min(Strength::Polar);
        }
    }
}

/// Drops words that the other side has with one letter wrong.
pub(crate) fn forget_misspelled(
    left: &mut Vec<Fact>,
    own: &Reading,
    other: &Reading,
    lexicon: &Lexicon,
) {
    if left.len() > MOST_COMPARED || left.iter().all(|fact| fact.is_exact) {
        return;
    }
    let words = own_words(other, own);
    left.retain(|fact| {
        let word = own.tokens.get(fact.token).map_or("", |token| own.word(token));
        let is_near = |(_, token): &(usize, &Token)| {
            lexicon.word(other, token).is_none() && is_misspelled(word, other.word(token))
        };
        fact.is_exact || word.len() < 4 || !words.iter().any(is_near)
    });
}

/// Returns `true` for two words with one letter more, less, other, or two in another order.
fn is_misspelled(first: &str, second: &str) -> bool {
    let (a, b) = (first.as_bytes(), second.as_bytes());
    if a.len().abs_diff(b.len()) > 1 {
        return false;
    }
    let start = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let (a, b) = (a.get(start..).unwrap_or_default(), b.get(start..).unwrap_or_default());
    let end = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[..a.len() - end.min(a.len())], &b[..b.len() - end.min(b.len())]);
    let is_turned = matches!((a, b), ([a, b], [c, d]) if a == d && b == c);
    is_turned || a.len().max(b.len()) <= 1
}

/// Makes a word of duty or permission strong if the words around it are on the other side too: `it
/// can fail`, `it fails`. Instructions are written with and without it.
pub(crate) fn strengthen_modals(
    left: &mut [Fact],
    own: &Reading,
    other: &Reading,
    lexicon: &Lexicon,
) {
    let source = lexicon.axis("source");
    // `Lesen Sie …`, `lisez …`
    let is_request = other.tokens.windows(2).take(MOST_COMPARED).any(|pair| {
        let is_verb = pair[0].has(START | CLAUSE);
        let (first, second) = (other.word(&pair[0]), other.word(&pair[1]));
        is_verb && (second == "sie" || first.ends_with("ez") || (first, second) == ("ne", "pas"))
    });
    for fact in left.iter_mut().filter(|it| it.kind == MarkKind::Modality).take(MOST_MARKS) {
        let is_source = Some(fact.axis) == source && fact.strength == Strength::Polar;
        if (fact.strength != Strength::Bound || is_request) && !is_source {
            continue;
        }
        let is_content = |at: &usize| {
            own.tokens.get(*at).is_some_and(|token| {
                let is_plain = |node: &WordEntry| node.is(Role::Function) || node.is(Role::Title);
                token.is_word() && !lexicon.word(own, token).is_some_and(is_plain)
            })
        };
        let before = (fact.token.saturating_sub(2)..fact.token).rev().find(is_content);
        let after = (fact.end..fact.end + 3).find(is_content);
        let place = |at: usize| {
            (0..other.tokens.len().min(MOST_COMPARED))
                .find(|it| moves::are_alike(own, at, other, *it))
        };
        if is_source {
            // Who says it is gone, what is said stays.
            let is_gone = before.is_some_and(|it| place(it).is_none());
            if is_gone && after.is_some_and(|it| place(it).is_some()) {
                fact.strength = Strength::Strong;
            }
            continue;
        }
        let before = before.or_else(|| fact.token.checked_sub(1));
        if let (Some(before), Some(after)) = (before.and_then(place), after.and_then(place))
            && before < after
            && after <= before + 3
        {
            fact.strength = Strength::Strong;
        }
    }
}

/// Keeps the facts that are a change: strong ones, and others against their counterparts.
pub(crate) fn keep_meaningful(old: &mut Vec<Fact>, new: &mut Vec<Fact>) {
    let strengths = |facts: &[Fact]| {
        let mut strengths: Vec<(u16, Strength)> =
            facts.iter().map(|fact| (fact.axis, fact.strength)).collect();
        strengths.sort_unstable();
        strengths.dedup();
        strengths
    };
    let (olds, news) = (strengths(old), strengths(new));
    let keep = |fact: &Fact, others: &[(u16, Strength)]| match fact.strength {
        Strength::Strong => true,
        least => others.iter().any(|(axis, strength)| {
            *axis == fact.axis
                && *strength
                    >= if least == Strength::Faint { Strength::Strong } else { Strength::Polar }
        }),
    };
    old.retain(|fact| keep(fact, &news));
    new.retain(|fact| keep(fact, &olds));
}
