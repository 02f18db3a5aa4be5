//! Words that are the same on both sides and change places, which changes what they belong to.

use super::extract::{Fact, NAME, NUMBER};
use super::kinds::MarkKind;
use super::lexicon::{Lexicon, NEGATION_AXIS, Role, Strength, WordEntry};
use super::reading::{CAPITAL, CLAUSE, ITEM, Reading, START, Token, TokenKind, hash};
use super::side::{Change, MOST_COMPARED, Side, word_fact};

/// Facts of one kind whose order is compared.
const MOST_FACTS: usize = 24;
/// Tokens of a passage whose order is compared as a whole.
const MOST_TOKENS: usize = 400;
/// Letters by which two forms of a word are taken for one.
const STEM: usize = 5;

/// Negations of several words.
pub(crate) const NEITHER: [&str; 3] = ["neither", "weder", "ni"];

/// Adds the changes of places.
pub(crate) fn add(old: &Side, new: &Side, lexicon: &Lexicon, changes: &mut Vec<Change>) {
    let moves = Moves { old, new, lexicon };
    let has = |changes: &[Change], kind: MarkKind| {
        changes
            .iter()
            .any(|(was, now)| was.as_ref().or(now.as_ref()).is_some_and(|it| it.kind == kind))
    };
    if !has(changes, MarkKind::Name) {
        changes.extend(moves.names());
    }
    if !has(changes, MarkKind::Number) {
        changes.extend(moves.numbers());
    }
    if !has(changes, MarkKind::Negation) {
        changes.extend(moves.attached(|fact| fact.axis == NEGATION_AXIS));
    }
    let only = lexicon.axis("exclusive");
    if !has(changes, MarkKind::Quantity) {
        changes.extend(moves.attached(|fact| Some(fact.axis) == only && fact.value == 1));
    }
    if changes.is_empty() {
        changes.extend(moves.blocks());
    }
}

/// A name with its place in the sentence.
struct NamePlace {
    fact: Fact,
    /// Hash of the preposition before it, 0 for none.
    role: u64,
    is_agent: bool,
    /// Hashes of the words before and after it, 0 for none.
    around: (u64, u64),
}

struct Moves<'a> {
    old: &'a Side<'a>,
    new: &'a Side<'a>,
    lexicon: &'a Lexicon,
}

impl Moves<'_> {
    fn node(&self, reading: &Reading, at: usize) -> Option<&WordEntry> {
        self.lexicon.word(reading, reading.tokens.get(at)?)
    }

    fn is(&self, reading: &Reading, at: usize, role: Role) -> bool {
        self.node(reading, at).is_some_and(|node| node.is(role))
    }

    /// Returns the first names that change places.
    fn names(&self) -> Option<Change> {
        let (olds, news) = (self.name_places(self.old), self.name_places(self.new));
        let place = |it: &NamePlace| {
            let same = |other: &NamePlace| {
                other.fact.value == it.fact.value && other.fact.axis == it.fact.axis
            };
            let is_single = olds.iter().filter(|other| same(other)).count() == 1;
            let at = news.iter().position(same)?;
            let is_single = is_single && news.iter().filter(|other| same(other)).count() == 1;
            is_single.then_some(at)
        };
        for (index, first) in olds.iter().enumerate() {
            for second in olds.iter().skip(index + 1) {
                // A name and a profession (`the teacher`) are often said in two ways.
                let is_one_kind = first.fact.axis == second.fact.axis
                    || first.fact.strength.min(second.fact.strength) == Strength::Strong;
                let (Some(a), Some(b), true) = (place(first), place(second), is_one_kind) else {
                    continue;
                };
                if self.is_swapped((first, second), (&news[a], &news[b]), a > b) {
                    return Some((Some(first.fact.clone()), Some(news[a.min(b)].fact.clone())));
                }
            }
        }
        None
    }

    fn is_swapped(
        &self,
        (first, second): (&NamePlace, &NamePlace),
        (first_now, second_now): (&NamePlace, &NamePlace),
        is_turned: bool,
    ) -> bool {
        let roles = (first.role, second.role, first_now.role, second_now.role);
        let is_weak = first.fact.strength.min(second.fact.strength) == Strength::Faint;
        if !is_weak && roles.0 != roles.1 && roles.0 == roles.3 && roles.1 == roles.2 {
            return true;
        }
        if !is_turned {
            let is_named = second.fact.strength > Strength::Faint;
            return is_named && self.is_voice_other([first, second], [first_now, second_now]);
        }
        // `Helene rose when Viktor left`: each stands where the other one did.
        if is_weak {
            return first.around.1 != second.around.1
                && (first.around, second.around) == (second_now.around, first_now.around)
                && !self.is(self.old.reading, first.fact.end, Role::Coordinator)
                && !self.is(self.old.reading, second.fact.end, Role::Coordinator);
        }
        let nexts = (first.around.1, second.around.1, first_now.around.1, second_now.around.1);
        let stays = nexts.0 == nexts.2 && nexts.1 == nexts.3 && nexts.0 != 0;
        let is_listed = self.is_list(self.old, &first.fact, &second.fact)
            && self.is_list(self.new, &second_now.fact, &first_now.fact);
        let same_roles = roles.0 == roles.1 && roles.2 == roles.3;
        let (voices, voices_now) =
            ((first.is_agent, second.is_agent), (second_now.is_agent, first_now.is_agent));
        let same_voice =
            voices == voices_now || (voices.0 == voices.1 && voices_now.0 == voices_now.1);
        // `tenant` and `landlord` often change places with their clauses.
        let is_sure = first.fact.axis == NAME || nexts.2 == nexts.1 || nexts.3 == nexts.0;
        let is_same_verb = nexts.0 == nexts.3
            && nexts.0 != nexts.1
            && !self.is(self.old.reading, first.fact.end, Role::Copula);
        ((same_roles && same_voice) || is_same_verb) && is_sure && !stays && !is_listed
    }

    /// Returns `true` if who acted is now acted upon: `A was beaten by B`, `A has beaten B`.
    fn is_voice_other(&self, olds: [&NamePlace; 2], news: [&NamePlace; 2]) -> bool {
        let sides = [(self.old.reading, olds), (self.new.reading, news)];
        let agents = sides.map(|(reading, [first, last])| {
            (first.fact.end..last.fact.token).find(|at| self.is(reading, *at, Role::Agent))
        });
        let (at, (passive, _), (active, [first, last])) = match agents {
            [Some(at), None] => (at, sides[0], sides[1]),
            [None, Some(at)] => (at, sides[1], sides[0]),
            _ => return false,
        };
        // The participle stands before or behind who acts.
        let verbs = first.fact.end..(last.fact.end + 4).min(active.tokens.len());
        (at.saturating_sub(4)..(at + 5).min(passive.tokens.len())).any(|verb| {
            !passive.tokens[verb].has(CAPITAL)
                && !self.is(passive, verb, Role::Function)
                && verbs.clone().any(|at| are_alike(passive, verb, active, at))
        })
    }

    /// Returns `true` if two names stand in one list, whose order has no meaning.
    fn is_list(&self, side: &Side, first: &Fact, second: &Fact) -> bool {
        (first.end..second.token).all(|at| {
            self.is(side.reading, at, Role::Coordinator)
                || self.is(side.reading, at, Role::Title)
                || (self.is(side.reading, at, Role::Function)
                    && !self.is(side.reading, at, Role::Copula)
                    && !self.is(side.reading, at, Role::Mark(MarkKind::Negation)))
        })
    }

    fn name_places(&self, side: &Side) -> Vec<NamePlace> {
        let mut places: Vec<NamePlace> = Vec::new();
        for fact in
            side.facts.iter().filter(|fact| fact.kind == MarkKind::Name).take(2 * MOST_FACTS)
        {
            if let Some(last) =
                places.last_mut().filter(|last| fact.is_joined && last.fact.end == fact.token)
            {
                last.fact.place.end = fact.place.end;
                last.fact.value = fact.value;
                last.fact.strength = last.fact.strength.max(fact.strength);
                last.fact.end = fact.end;
                continue;
            }
            let (role, is_agent) = self.role(side.reading, fact.token);
            let mut fact = fact.clone();
            // A word at the beginning is a name if it is one elsewhere.
            let same = self.old.facts.iter().chain(&self.new.facts).take(2 * MOST_COMPARED);
            let same = same.filter(|it| it.axis == fact.axis && it.value == fact.value);
            let is_start = side.reading.tokens.get(fact.token).is_some_and(|it| it.has(START));
            let strongest = same.map(|it| it.strength).max().filter(|_| is_start);
            fact.strength = strongest.unwrap_or(fact.strength);
            places.push(NamePlace { fact, role, is_agent, around: (0, 0) });
        }
        places.truncate(MOST_FACTS);
        for place in &mut places {
            let hash = |at: usize| side.reading.tokens.get(at).map_or(0, |token| token.hash);
            let before = place.fact.token.checked_sub(1).map_or(0, hash);
            place.around = (before, hash(place.fact.end));
        }
        places
    }

    /// Returns the preposition before a name, and whether it stands before who acts.
    fn role(&self, reading: &Reading, at: usize) -> (u64, bool) {
        for place in (at.saturating_sub(3)..at).rev() {
            let Some(token) = reading.tokens.get(place) else { break };
            let is_agent = self.is(reading, place, Role::Agent);
            if is_agent || self.is(reading, place, Role::Preposition) {
                let hash = match reading.word(token) {
                    "du" | "des" | "d" => hash(b"de"),
                    "au" | "aux" => hash("à".as_bytes()),
                    _ => token.hash,
                };
                return (if is_agent { 0 } else { hash }, is_agent);
            }
            let is_passed = self.is(reading, place, Role::Title)
                || (self.is(reading, place, Role::Function) && token.folded.len() <= 3);
            if !is_passed || token.has(CLAUSE) {
                break;
            }
        }
        (0, false)
    }

    /// Returns the first numbers that change places.
    fn numbers(&self) -> Option<Change> {
        let places = |side: &Side| -> Vec<(Fact, u64, u64)> {
            let numbers =
                side.facts.iter().filter(|it| it.axis == NUMBER && it.strength == Strength::Strong);
            let hash = |at: Option<usize>| {
                at.and_then(|at| side.reading.tokens.get(at)).map_or(0, |token| token.hash)
            };
            let place = |it: &Fact| (it.clone(), hash(it.token.checked_sub(1)), hash(Some(it.end)));
            numbers.take(MOST_FACTS).map(place).collect()
        };
        let (olds, news) = (places(self.old), places(self.new));
        let find = |value: u64| {
            let same = |it: &&(Fact, u64, u64)| it.0.value == value;
            let is_single =
                news.iter().filter(same).count() == 1 && olds.iter().filter(same).count() == 1;
            news.iter().find(same).filter(|_| is_single)
        };
        for (index, (first, before, after)) in olds.iter().enumerate() {
            for (second, before_second, after_second) in olds.iter().skip(index + 1) {
                let (Some(a), Some(b)) = (find(first.value), find(second.value)) else { continue };
                let after = after != after_second && a.2 == *after_second && b.2 == *after;
                let before = before != before_second && a.1 == *before_second && b.1 == *before;
                if after || before {
                    return Some((Some(first.clone()), Some(b.0.clone())));
                }
            }
        }
        None
    }

    /// Returns the first word of a kind that belongs to another word now: `only he saw`, `he saw
    /// only`.
    fn attached(&self, is_kind: impl Fn(&Fact) -> bool) -> Option<Change> {
        // Of several, each may have moved with its clause.
        let single = |side: &Side| {
            let mut facts = side.facts.iter().filter(|fact| is_kind(fact));
            facts.next().filter(|_| facts.next().is_none()).cloned()
        };
        let (was, now) = single(self.old).zip(single(self.new))?;
        (self.is_same_word(&was, &now) && self.is_moved(&was, &now))
            .then_some((Some(was), Some(now)))
    }

    fn is_same_word(&self, was: &Fact, now: &Fact) -> bool {
        are_alike(self.old.reading, was.token, self.new.reading, now.token)
    }

    fn is_moved(&self, was: &Fact, now: &Fact) -> bool {
        let (old, new) = (self.old.reading, self.new.reading);
        let (Some(first), Some(second)) =
            (scope(old, was, self.lexicon), scope(new, now, self.lexicon))
        else {
            return false;
        };
        // `neither` belongs to several words.
        if NEITHER.contains(&old.word(&old.tokens[was.token])) {
            return false;
        }
        // `only when` belongs to what follows, however that is said.
        if (was.end - was.token).max(now.end - now.token) > 1 {
            return false;
        }
        let (first_word, second_word) = (stem(old, first), stem(new, second));
        let has = |reading: &Reading, word: &str| {
            (0..reading.tokens.len().min(MOST_TOKENS)).any(|at| stem(reading, at) == word)
        };
        let follow = first >= was.end && second >= now.end;
        if !follow || first_word == second_word || !has(new, first_word) || !has(old, second_word) {
            return false;
        }
        // `can only be reached on foot` is `can be reached only on foot`.
        let is_before_verb = |reading: &Reading, fact: &Fact| {
            fact.token.checked_sub(1).and_then(|at| self.node(reading, at)).is_some_and(|node| {
                node.is(Role::Copula) || node.is(Role::Mark(MarkKind::Modality))
            })
        };
        let follows = |reading: &Reading, fact: &Fact, word: &str| {
            fact.token.checked_sub(1).is_some_and(|at| stem(reading, at) == word)
        };
        !((is_before_verb(old, was) && follows(new, now, first_word))
            || (is_before_verb(new, now) && follows(old, was, second_word)))
    }

    /// Returns two groups of words that change places around others, if all else is the same.
    fn blocks(&self) -> Option<Change> {
        let words = |side: &Side| -> Vec<usize> {
            let is_read = |it: &(usize, &Token)| it.1.kind != TokenKind::Code && !it.1.has(ITEM);
            side.reading.tokens.iter().enumerate().filter(is_read).map(|it| it.0).collect()
        };
        let (olds, news) = (words(self.old), words(self.new));
        if olds.len() != news.len() || olds.len() > MOST_TOKENS {
            return None;
        }
        let hashes = |side: &Side, words: &[usize]| -> Vec<u64> {
            words.iter().map(|at| side.reading.tokens[*at].hash).collect()
        };
        let (a, b) = (hashes(self.old, &olds), hashes(self.new, &news));
        let start = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
        let end = a[start..]
            .iter()
            .rev()
            .zip(b[start..].iter().rev())
            .take_while(|(a, b)| a == b)
            .count();
        let (inner, other) = (&a[start..a.len() - end], &b[start..b.len() - end]);
        let (first, last) = swapped(inner, other)?;
        let middle = &olds[start + first..start + inner.len() - last];
        let reading = self.old.reading;
        let is_list = reading.tokens.iter().any(|token| token.has(ITEM));
        let is_free = middle.iter().all(|at| {
            self.is(reading, *at, Role::Coordinator)
                || self.is(reading, *at, Role::Copula)
                || (self.is(reading, *at, Role::Function)
                    && !self.is(reading, *at, Role::Preposition)
                    && reading.tokens[*at].folded.len() <= 3)
        });
        let is_copula = |at: &usize| self.is(reading, *at, Role::Copula);
        let parts = &olds[start..start + inner.len()];
        let is_corrected = parts[..first].iter().all(is_copula);
        let is_reported = self.old.reading.quotations.iter().any(|quotation| {
            parts.first() == Some(&quotation.tokens.start)
                || parts.last().is_some_and(|last| last + 1 == quotation.tokens.end)
        });
        if (is_free && !(is_list && middle.is_empty())) || is_corrected || is_reported {
            return None;
        }
        let fact = |side: &Side, words: &[usize], range: std::ops::Range<usize>| {
            let (from, to) = (*words.get(range.start)?, *words.get(range.end - 1)?);
            let mut fact = word_fact(MarkKind::Order, from, side.reading.tokens.get(from)?);
            fact.place.end = side.reading.tokens.get(to)?.place.end;
            Some(fact)
        };
        let was = fact(self.old, &olds, start..start + first)?;
        let now = fact(self.new, &news, start..start + last)?;
        Some((Some(was), Some(now)))
    }
}

/// Returns the lengths of the first and the last part if `other` is the same with both in each
/// other's place.
fn swapped(inner: &[u64], other: &[u64]) -> Option<(usize, usize)> {
    let length = inner.len();
    (1..length).find_map(|last| {
        let moved = inner.get(length - last..)?;
        if other.get(..last)? != moved {
            return None;
        }
        (1..=length - last).find_map(|first| {
            let is_end = other.get(length - first..)? == inner.get(..first)?;
            let middle = other.get(last..length - first)? == inner.get(first..length - last)?;
            (is_end && middle).then_some((first, last))
        })
    })
}

/// Returns the first letters of a word, by which its forms are taken for one.
pub(crate) fn stem<'a>(reading: &'a Reading, at: usize) -> &'a str {
    let word = reading.tokens.get(at).map_or("", |token| reading.word(token));
    let end = word.char_indices().nth(STEM).map_or(word.len(), |(end, _)| end);
    word.get(..end).unwrap_or_default()
}

/// Returns `true` if two words begin alike, as forms of one word do.
pub(crate) fn are_alike(first: &Reading, at: usize, second: &Reading, other: usize) -> bool {
    let (first, second) = (stem(first, at), stem(second, other));
    // `peut lever`, `lèvera`; `Haus`, `Häuser`
    let plain = |c| match c {
        'è' | 'é' | 'ê' => 'e',
        'ä' => 'a',
        'ö' => 'o',
        'ü' => 'u',
        _ => c,
    };
    if first.bytes().next() != second.bytes().next() {
        return false;
    }
    let same = |(a, b): &(char, char)| plain(*a) == plain(*b);
    let common = first.chars().zip(second.chars()).take_while(same).count();
    let longest = first.chars().count().max(second.chars().count());
    common == longest || (common >= 3 && common + 1 >= longest)
}

/// Returns the word that a negation or `only` belongs to: the next one, or the last one before.
pub(crate) fn scope(reading: &Reading, fact: &Fact, lexicon: &Lexicon) -> Option<usize> {
    let is = |at: usize, role: Role| {
        lexicon.word(reading, &reading.tokens[at]).is_some_and(|node| node.is(role))
    };
    let is_content = |at: &usize| {
        let token = &reading.tokens[*at];
        let is_plain = [Role::Function, Role::Preposition, Role::Copula, Role::Number]
            .iter()
            .all(|it| !is(*at, *it));
        let word = reading.word(token);
        // `apply` is no adverb.
        let is_adverb = word.ends_with("ly") && !word.ends_with("ply") && word != "rely";
        token.is_word() && is_plain && !is_adverb
    };
    // What is doubted often stands behind a comma.
    let is_end = |at: &usize| fact.kind != MarkKind::Modality && reading.tokens[*at].has(CLAUSE);
    let after = fact.end..reading.tokens.len().min(fact.end + 12);
    after
        .take_while(|at| !is_end(at))
        .find(is_content)
        .or_else(|| (fact.token.saturating_sub(12)..fact.token).rev().find(is_content))
}
