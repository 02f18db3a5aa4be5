//! The comparison of facts: those that both sides have cancel each other, the rest become marks.

use super::extract::{Fact, NAME, NUMBER, number_value};
use super::kinds::{MOST_CHARS, MOST_MARKS, Mark, MarkKind, ORDERED_BYTES};
use super::lexicon::{FactPattern, Lexicon, NEGATION_AXIS, Role};
use super::links;
use super::moves;
use super::reading::{Reading, Token};
use super::side::{Change, MOST_COMPARED, Side, own_words, word_fact};
use super::weight::{
    forget_misspelled, keep_meaningful, strengthen_modals, weaken_names, weaken_repeated,
    weaken_unattached,
};

/// Tokens within which two negations cancel each other.
const DOUBLE_NEGATION: usize = 3;
/// Letters after `un` in words in which it denies nothing, such as `under` and `unit`.
const NO_DENIAL: [&str; 12] =
    ["der", "ter", "it", "iv", "if", "iq", "til", "less", "gef", "gar", "fall", "mitt"];
/// Beginnings of words that look like the opposite of another one and are not.
const UNDOING: [&str; 11] = [
    "unplug", "unpack", "undoubt", "unfold", "unload", "unwrap", "entpack", "entfalt", "démontr",
    "dépass", "déplac",
];
/// Tokens between the numbers of an amount in two units.
const MOST_AMOUNT_TOKENS: usize = 3;
/// Tokens between a negation and the bound that it turns into its opposite.
const BOUND_NEGATION: usize = 3;

pub(crate) fn marks(
    before: &Reading,
    old: Vec<Fact>,
    after: &Reading,
    new: Vec<Fact>,
    lexicon: &Lexicon,
) -> Vec<Mark> {
    let mut old = Side { reading: before, facts: old, left: Vec::new() };
    let mut new = Side { reading: after, facts: new, left: Vec::new() };
    cancel_equal(&mut old, &mut new);
    cancel_overlapping(&mut old, &mut new);
    cancel_amounts(&mut old.left, &mut new.left);
    let mut changes = Vec::new();
    if !old.left.is_empty() || !new.left.is_empty() || before.tokens.len() != after.tokens.len() {
        for (side, other) in [(&mut old, after), (&mut new, before)] {
            side.forget_quoted();
            weaken_names(side, other);
        }
        for (left, other) in [(&mut old.left, &new.facts), (&mut new.left, &old.facts)] {
            weaken_repeated(left, other);
        }
    }
    opposites(&mut old, &mut new, lexicon, &mut changes);
    let turn = links::turn(&mut old, &mut new, lexicon);
    weaken_unattached(&mut old, &new, lexicon);
    weaken_unattached(&mut new, &old, lexicon);
    if !old.left.is_empty() && !new.left.is_empty() {
        cancel_equivalents(&mut old, &mut new, lexicon);
    }
    cancel_negations(&mut old.left, &mut new.left, lexicon);
    cancel_denied(&mut old, &new, lexicon);
    cancel_denied(&mut new, &old, lexicon);
    forget_misspelled(&mut old.left, before, after, lexicon);
    forget_misspelled(&mut new.left, after, before, lexicon);
    strengthen_modals(&mut old.left, before, after, lexicon);
    strengthen_modals(&mut new.left, after, before, lexicon);
    keep_meaningful(&mut old.left, &mut new.left);
    pair(&old, &new, &mut changes);
    if before.source.len().max(after.source.len()) <= ORDERED_BYTES && !turn.is_same {
        moves::add(&old, &new, lexicon, &mut changes);
    }
    if changes.is_empty() {
        changes.extend(turn.change);
    }
    changes
        .sort_by_key(|(was, now)| was.as_ref().or(now.as_ref()).map_or(0, |fact| fact.place.start));
    let marks = changes
        .iter()
        .take(MOST_MARKS)
        .map(|(was, now)| mark(before, was.as_ref(), after, now.as_ref()));
    marks.collect()
}

/// Returns the mark of a change, in the words of the texts.
fn mark(before: &Reading, was: Option<&Fact>, after: &Reading, now: Option<&Fact>) -> Mark {
    let text = |reading: &Reading, fact: Option<&Fact>| {
        let place = fact.map(|fact| fact.place.clone());
        let words = place.and_then(|place| reading.source.get(place)).unwrap_or_default();
        words.chars().take(MOST_CHARS).collect()
    };
    let kind = now.or(was).map_or(MarkKind::Name, |fact| fact.kind);
    Mark { kind, was: text(before, was), now: text(after, now) }
}

/// Fills both lists of facts that are left, without those of the same value.
fn cancel_equal(old: &mut Side, new: &mut Side) {
    let order = |facts: &[Fact]| {
        let mut order: Vec<usize> = (0..facts.len()).collect();
        let key = |it: &usize| {
            facts.get(*it).map(|fact| (fact.axis, fact.value, fact.is_hidden, fact.token))
        };
        order.sort_unstable_by_key(key);
        order
    };
    let (mut olds, mut news) =
        (order(&old.facts).into_iter().peekable(), order(&new.facts).into_iter().peekable());
    let key = |fact: &Fact| (fact.axis, fact.value);
    loop {
        let was = olds.peek().and_then(|it| old.facts.get(*it));
        let now = news.peek().and_then(|it| new.facts.get(*it));
        let (takes_old, takes_new) = match (was, now) {
            (None, None) => break,
            (Some(was), Some(now)) => (key(was) <= key(now), key(now) <= key(was)),
            (was, _) => (was.is_some(), was.is_none()),
        };
        // What is hidden now and was not before is a change, even if it reads the same.
        let is_disguised = was.zip(now).is_some_and(|(was, now)| now.is_hidden && !was.is_hidden);
        let is_kept = !(takes_old && takes_new) || is_disguised;
        if takes_old {
            olds.next();
            old.left.extend(was.filter(|_| is_kept).cloned());
        }
        if takes_new {
            news.next();
            new.left.extend(now.filter(|_| is_kept).cloned());
        }
    }
    old.left.sort_by_key(|fact| fact.token);
    new.left.sort_by_key(|fact| fact.token);
}

/// Drops facts that share a value with one of the other side.
fn cancel_overlapping(old: &mut Side, new: &mut Side) {
    if old.left.len().max(new.left.len()) > MOST_COMPARED {
        return;
    }
    old.left.retain(|was| {
        let same =
            new.left.iter().position(|now| !now.is_exact && !was.is_exact && was.is_same(now));
        if let Some(at) = same {
            new.left.remove(at);
        }
        same.is_none()
    });
}

/// Drops numbers that are the same amount in another unit, and units whose number is gone too.
fn cancel_amounts(old: &mut Vec<Fact>, new: &mut Vec<Fact>) {
    if old.len().max(new.len()) > MOST_COMPARED {
        return;
    }
    join_amounts(old, new);
    join_amounts(new, old);
    let mut owners = (Vec::new(), Vec::new());
    for was in old.iter().filter(|was| was.amount.is_some() && !was.is_hidden) {
        let same = new.iter().find(|now| now.amount == was.amount && !now.is_hidden);
        if let Some(now) = same.filter(|now| !owners.1.contains(&now.owner)) {
            owners.0.push(was.owner);
            owners.1.push(now.owner);
        }
    }
    let is_owned = |fact: &Fact| fact.axis == NUMBER || fact.kind == MarkKind::Unit;
    old.retain(|fact| !(is_owned(fact) && owners.0.contains(&fact.owner)));
    new.retain(|fact| !(is_owned(fact) && owners.1.contains(&fact.owner)));
    let units = |facts: &[Fact]| facts.iter().filter(|it| it.kind == MarkKind::Unit).count();
    let (in_old, in_new) = (units(old), units(new));
    for (facts, others) in [(old, in_new), (new, in_old)] {
        let numbers: Vec<usize> =
            facts.iter().filter(|it| it.axis == NUMBER).map(|it| it.owner).collect();
        facts.retain(|it| it.kind != MarkKind::Unit || others > 0 || !numbers.contains(&it.owner));
    }
}

/// Joins two amounts of one side whose sum the other one has: `1 hour and 45 minutes`.
fn join_amounts(facts: &mut Vec<Fact>, others: &[Fact]) {
    let numbers: Vec<(usize, u16, f64)> = facts
        .iter()
        .filter_map(|it| {
            it.amount.map(|(axis, value)| (it.owner, axis, f64::from_bits(value << 8)))
        })
        .collect();
    for pair in numbers.windows(2) {
        let ((first, axis, whole), (second, other, part)) = (pair[0], pair[1]);
        let sum = number_value(whole + part);
        let is_sum = axis == other && second <= first + MOST_AMOUNT_TOKENS && part < whole;
        if is_sum && others.iter().any(|it| it.amount == Some((axis, sum))) {
            facts.retain(|it| it.owner != second);
            for fact in facts.iter_mut().filter(|it| it.owner == first && it.amount.is_some()) {
                fact.amount = Some((axis, sum));
            }
        }
    }
}

/// Finds words with opposite meanings by their beginnings and endings: `clear` and `unclear`.
fn opposites(old: &mut Side, new: &mut Side, lexicon: &Lexicon, changes: &mut Vec<Change>) {
    let (olds, news) = (own_words(old.reading, new.reading), own_words(new.reading, old.reading));
    let can = |reading: &Reading, token: &Token| lexicon.may_have_opposite(reading.word(token));
    let may_be: Vec<bool> = news.iter().map(|(_, token)| can(new.reading, token)).collect();
    for (was, token) in &olds {
        let is_first = can(old.reading, token);
        for ((now, other), _) in news.iter().zip(&may_be).filter(|(_, it)| is_first || **it) {
            let (first, second) = (old.reading.word(token), new.reading.word(other));
            let is_in_phrase = |side: &Side, at: usize| {
                let facts = side.facts.iter().take(MOST_COMPARED);
                facts
                    .filter(|it| it.axis > NEGATION_AXIS && it.end > it.token + 1)
                    .any(|it| (it.token..it.end).contains(&at))
            };
            // `unplug` is no denial.
            let is_verb = |word: &str| UNDOING.iter().any(|it| word.starts_with(it));
            // `zunehmend` and `abnehmend` are in the lists.
            let nodes = lexicon.word(old.reading, token).zip(lexicon.word(new.reading, other));
            let is_listed = nodes.is_some_and(|(first, second)| first.shares(second));
            if is_verb(first) || is_verb(second) || is_listed {
                continue;
            }
            let are_opposite =
                lexicon.are_opposite(first, second) || lexicon.are_opposite(second, first);
            if !are_opposite || is_in_phrase(old, *was) || is_in_phrase(new, *now) {
                continue;
            }
            // `is clear` and `is not unclear` are the same.
            let negation = |left: &mut Vec<Fact>| {
                let at = left.iter().position(|fact| fact.axis == NEGATION_AXIS);
                at.map(|at| left.remove(at)).is_some()
            };
            old.left.retain(|fact| fact.token != *was);
            new.left.retain(|fact| fact.token != *now);
            let is_made_good = negation(&mut old.left) || negation(&mut new.left);
            if !is_made_good {
                changes.push((
                    Some(word_fact(MarkKind::Negation, *was, token)),
                    Some(word_fact(MarkKind::Negation, *now, other)),
                ));
            }
        }
    }
}

/// Drops negations that a word with the opposite meaning makes good: `rejected`, `not accepted`.
fn cancel_negations(old: &mut Vec<Fact>, new: &mut Vec<Fact>, lexicon: &Lexicon) {
    let equality = lexicon.axis("equality");
    let is_more = |fact: &Fact| Some(fact.axis) == lexicon.axis("more") && fact.value == 1;
    // `not as large as` is `less than`, and not `more than`.
    let equality = equality.filter(|_| old.iter().chain(new.iter()).any(is_more));
    for facts in [&mut *old, &mut *new] {
        let places: Vec<usize> =
            facts.iter().filter(|it| it.axis == NEGATION_AXIS).map(|it| it.token).collect();
        if let Some(pair) = places.windows(2).find(|pair| pair[1] - pair[0] <= DOUBLE_NEGATION) {
            facts.retain(|it| it.axis != NEGATION_AXIS || !pair.contains(&it.token));
        }
    }
    let bounds = ["bound", "exclusive"].map(|axis| lexicon.axis(axis));
    let (frequency, always) = (lexicon.axis("frequency"), lexicon.bit("frequency", "always"));
    while let Some((was, now)) = opposite_pair(old, new, equality, bounds) {
        let negation = |facts: &[Fact], word: usize| {
            facts.iter().position(|it| it.axis == NEGATION_AXIS && it.token != word)
        };
        match (negation(old, was.0), negation(new, now.0)) {
            (Some(at), _) => drop(old.remove(at)),
            (_, Some(at)) => drop(new.remove(at)),
            _ => return,
        }
        // `never out of print` is `always in print`.
        for facts in [&mut *old, &mut *new] {
            facts.retain(|it| Some(it.axis) != frequency || it.value != always);
        }
        old.retain(|fact| !(fact.token == was.0 && fact.axis == was.1));
        new.retain(|fact| !(fact.token == now.0 && fact.axis == now.1));
    }
}

/// Drops facts of both sides that say the same in other words, as `not before` and `only after`.
fn cancel_equivalents(old: &mut Side, new: &mut Side, lexicon: &Lexicon) {
    /// Returns the facts that are left and fit the patterns, each of them to one.
    fn places(side: &Side, patterns: &[FactPattern]) -> Option<Vec<usize>> {
        let mut found = Vec::new();
        for (axis, value, is_kept) in patterns {
            let fits = |it: &Fact| it.axis == *axis && it.value & value != 0;
            if *is_kept {
                side.facts.iter().find(|it| fits(it))?;
            } else {
                let mut free = (0..side.left.len()).filter(|at| !found.contains(at));
                found.push(free.find(|at| fits(&side.left[*at]))?);
            }
        }
        Some(found)
    }
    for (first, second) in &lexicon.equivalents {
        for (was, now) in [(first, second), (second, first)] {
            let Some((olds, news)) = places(old, was).zip(places(new, now)) else { continue };
            for (left, places) in [(&mut old.left, olds), (&mut new.left, news)] {
                let mut at = 0;
                left.retain(|_| (!places.contains(&at), at += 1).0);
            }
        }
    }
}

/// Drops negations that the other side says by a word of denial: `was not hurt`, `was unscathed`.
fn cancel_denied(negated: &mut Side, other: &Side, lexicon: &Lexicon) {
    let places = |side: &Side| -> Vec<usize> {
        let is = |it: &&Fact| it.axis == NEGATION_AXIS && !it.is_exact;
        side.left.iter().filter(is).map(|it| it.token).collect()
    };
    let denied = places(negated);
    if denied.is_empty() || !places(other).is_empty() {
        return;
    }
    let (own, reading) = (negated.reading, other.reading);
    let says = |reading: &Reading, at: usize| {
        let token = &reading.tokens[at];
        let word = reading.word(token);
        let is_un = word.len() > 6
            && word
                .strip_prefix("un")
                .is_some_and(|it| !NO_DENIAL.iter().any(|no| it.starts_with(no)));
        // `rainless` and `without rain` begin alike.
        let is_less = ["less", "los", "lose", "losen", "loser", "loses", "losem"];
        if word.len() > 6 && is_less.iter().any(|it| word.ends_with(it)) {
            return Some((at, true));
        }
        let is_denial = || {
            let found = lexicon.find(reading, lexicon.word(reading, token)?, at)?;
            found.senses().find(|it| it.role == Role::Denial)
        };
        (is_un || is_denial().is_some()).then_some((at, false))
    };
    let is_new = |(at, is_less): &(usize, bool)| {
        *is_less
            || (0..own.tokens.len().min(MOST_COMPARED))
                .all(|it| !moves::are_alike(reading, *at, own, it))
    };
    let words = (0..reading.tokens.len().min(MOST_COMPARED)).filter_map(|at| says(reading, at));
    let count = words.filter(is_new).count();
    let made_good: Vec<usize> = denied.into_iter().take(count).collect();
    negated.left.retain(|it| it.axis != NEGATION_AXIS || !made_good.contains(&it.token));
}

/// Returns tokens and axis of two words with opposite meanings, one on each side.
fn opposite_pair(
    old: &[Fact],
    new: &[Fact],
    equality: Option<u16>,
    bounds: [Option<u16>; 2],
) -> Option<((usize, u16), (usize, u16))> {
    let has_opposites = |fact: &&Fact| {
        !fact.is_exact
            && fact.axis != NEGATION_AXIS
            && Some(fact.axis) != equality
            && matches!(fact.kind, MarkKind::Negation | MarkKind::Comparison | MarkKind::Quantity)
    };
    old.iter().filter(has_opposites).take(MOST_COMPARED).find_map(|was| {
        let now =
            new.iter().take(MOST_COMPARED).find(|now| now.axis == was.axis && !now.is_exact)?;
        // `without a fee` says nothing about a bound.
        let is_near = |facts: &[Fact], at: usize| {
            facts.iter().any(|it| {
                it.axis == NEGATION_AXIS && it.token < at && it.token + BOUND_NEGATION >= at
            })
        };
        let is_bound = bounds.contains(&Some(was.axis));
        if is_bound && !is_near(old, was.token) && !is_near(new, now.token) {
            return None;
        }
        Some(((was.token, was.axis), (now.token, now.axis)))
    })
}

/// Puts the facts of both sides together, by their axis and then by their kind.
fn pair(old: &Side, new: &Side, changes: &mut Vec<Change>) {
    let (olds, mut news) = (whole(&old.left), whole(&new.left));
    let mut rest = Vec::new();
    for was in olds.into_iter().take(MOST_COMPARED) {
        match news.iter().position(|now| now.axis == was.axis && now.kind == was.kind) {
            Some(at) => changes.push((Some(was), Some(news.remove(at)))),
            None => rest.push(was),
        }
    }
    for was in rest {
        let at = news.iter().position(|now| now.kind == was.kind);
        changes.push((Some(was), at.map(|at| news.remove(at))));
    }
    changes.extend(news.into_iter().take(MOST_COMPARED).map(|now| (None, Some(now))));
}

/// Returns the facts with the parts of each name as one.
fn whole(facts: &[Fact]) -> Vec<Fact> {
    let mut whole: Vec<Fact> = Vec::new();
    for fact in facts.iter().take(2 * MOST_COMPARED) {
        match whole.last_mut() {
            Some(last)
                if fact.is_joined
                    && fact.axis == NAME
                    && last.axis == NAME
                    && last.end == fact.token =>
            {
                last.place.end = fact.place.end;
                last.end = fact.end;
            }
            _ => whole.push(fact.clone()),
        }
    }
    whole
}
