//! Selection of Harper's rules that are good enough for literary prose, and where they apply.
//!
//! Harper is made to suggest; here its suggestions become changes that a writer has to read one by
//! one. The lists were made by running every rule over two published novels, where nearly every hit
//! is a false alarm, and over prose with deliberate mistakes.

use harper_core::linting::LintKind;
use serde::{Deserialize, Serialize};

/// Kind of a correction, for counting in the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum CorrectionKind {
    /// Word that does not exist.
    Spelling,
    /// Word that does not fit its sentence.
    Grammar,
    /// Word mistaken for another one.
    WordChoice,
    /// Word written twice.
    Repetition,
    /// Small letter where a capital belongs.
    Capital,
    /// Space or punctuation mark.
    Punctuation,
}

impl CorrectionKind {
    /// All kinds, in the order they are counted.
    pub const ALL: [Self; 6] = [
        Self::Spelling,
        Self::Grammar,
        Self::WordChoice,
        Self::Repetition,
        Self::Capital,
        Self::Punctuation,
    ];
}

/// Returns the rules that are wrong too often in prose, or are a matter of taste.
fn distrusted() -> impl Iterator<Item = &'static str> {
    let lines = include_str!("distrusted_rules.txt").lines();
    lines.filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// Rules that also hold in quotations. Quoted speech may break any other rule.
const EVEN_IN_QUOTES: &[&str] = &["AnA", "RepeatedWords", "CapitalizePersonalPronouns"];

/// Returns the [`CorrectionKind`] of a rule's corrections; `None` when its hits are not used.
pub(super) fn trusted(rule: &str, kind: LintKind) -> Option<CorrectionKind> {
    if distrusted().any(|it| it == rule) {
        return None;
    }
    Some(match (rule, kind) {
        ("AnA" | "ThenThan" | "AdjectiveDoubleDegree" | "MoreBetter", _)
        | (_, LintKind::Agreement | LintKind::Grammar | LintKind::WordOrder) => {
            CorrectionKind::Grammar
        }
        ("CapitalizePersonalPronouns" | "SentenceCapitalization", _) => CorrectionKind::Capital,
        ("CommaFixes", _) => CorrectionKind::Punctuation,
        ("RepeatedWords", _) => CorrectionKind::Repetition,
        ("ItsContraction", _)
        | (
            _,
            LintKind::BoundaryError
            | LintKind::Eggcorn
            | LintKind::Malapropism
            | LintKind::Nonstandard
            | LintKind::Typo
            | LintKind::Usage
            | LintKind::WordChoice,
        ) => CorrectionKind::WordChoice,
        // Spelling is decided by `spelling.rs`; the other kinds are a matter of taste.
        _ => return None,
    })
}

pub(super) fn holds_in_quotes(rule: &str) -> bool {
    EVEN_IN_QUOTES.contains(&rule)
}

pub(super) fn unused() -> impl Iterator<Item = &'static str> {
    distrusted().chain(["SpellCheck", "LongSentences"])
}

/// Returns `true` if the rule's several suggestions mean that the right one is not known.
pub(super) fn is_unclear(rule: &str, suggestions: usize) -> bool {
    matches!(rule, "RegularIrregulars" | "PronounVerbAgreement") && suggestions > 1
}

/// Text around a hit.
pub(super) struct HitContext<'a> {
    pub(super) before: &'a [char],
    pub(super) after: &'a [char],
}

/// Checks a hit again. Returns the text that should be there, or `None` to ignore the hit.
pub(super) fn refine(rule: &str, place: &HitContext, wrong: &str, right: String) -> Option<String> {
    // Markup and line ends are never changed.
    if wrong.contains(MARKUP) || right.contains(MARKUP) || renames(wrong, &right) {
        return None;
    }
    match rule {
        "AnA" if !is_plain_article(&right, place.after) => None,
        "AnA" => Some(right.replace("AN", "An")),
        "RepeatedWords" => is_slip(wrong).then_some(right),
        "SentenceCapitalization" => follows_full_stop(place.before).then_some(right),
        "CapitalizePersonalPronouns" if !is_pronoun(place) => None,
        "ToTwoToo" if right == "to" && !takes_infinitive(place) => None,
        "ToTwoToo" => (right == "to" || is_degree(place.after)).then_some(right),
        "OneOfTheSingular" if !follows_superlative(place.before) => None,
        "PronounVerbAgreement" if AMBIGUOUS_VERBS.contains(&wrong) => None,
        "PronounVerbAgreement" | "PronounInflectionBe" if !begins_clause(place.before) => None,
        "NounVerbConfusion" if place.before.ends_with(&['o', ' ']) => None,
        _ => Some(in_case_of(wrong, right)),
    }
}

/// Characters that have a meaning in Markdown.
const MARKUP: &[char] = &['\n', '`', '*', '_', '[', ']', '<', '>', '#', '|', '\\'];

/// Returns `true` if a capitalised word would become another one: a name, most likely.
fn renames(wrong: &str, right: &str) -> bool {
    let is_name = |word: &&str| word.starts_with(char::is_uppercase) && *word != "I";
    wrong.split_whitespace().skip(1).filter(is_name).any(|name| !right.contains(name))
}

/// Returns `right`, with a capital where `wrong` has one.
fn in_case_of(wrong: &str, right: String) -> String {
    let mut letters = right.chars();
    match letters.next() {
        Some(first) if wrong.starts_with(char::is_uppercase) => {
            first.to_uppercase().chain(letters).collect()
        }
        Some(_) | None => right,
    }
}

/// Verbs whose plain form is also a past tense or another word, so that the meaning is not clear.
const AMBIGUOUS_VERBS: &[&str] = &[
    "beat", "become", "bet", "bid", "burst", "cast", "come", "cost", "cut", "fit", "hit", "hurt",
    "knit", "lay", "lead", "let", "past", "put", "quit", "read", "rid", "run", "set", "shed",
    "shut", "slit", "split", "spread", "thrust", "upset", "use", "wed", "wet", "wind", "wound",
];

/// Returns `true` if "to" precedes an adjective that ends its clause ("it was to late", not "to
/// late risers").
fn is_degree(after: &[char]) -> bool {
    const ADJECTIVES: &[&str] = &[
        "bad", "big", "bright", "busy", "cold", "dark", "deep", "early", "far", "fast", "few",
        "good", "great", "hard", "heavy", "high", "hot", "large", "late", "little", "long", "loud",
        "low", "many", "much", "old", "quiet", "short", "sick", "slow", "small", "soon", "thick",
        "tired", "weak", "young",
    ];
    let after: String = after.iter().take(16).collect();
    let Some((word, rest)) = after.strip_prefix(' ').and_then(|rest| {
        rest.split_once(|letter: char| !letter.is_alphabetic())
            .map(|(word, _)| (word, &rest[word.len()..]))
    }) else {
        return false;
    };
    let ends = rest.starts_with(['.', ',', ';', ':', '!', '?', '\n']) || rest.starts_with(" to ");
    ADJECTIVES.contains(&word) && ends
}

/// Returns `true` unless the word after the article is a pause ("a—almost"), usage differs ("an
/// historic"), or spelling and sound differ ("a ewe").
fn is_plain_article(right: &str, after: &[char]) -> bool {
    let word: String = after.iter().skip(1).take_while(|c| c.is_alphanumeric()).collect();
    let word = word.to_lowercase();
    let unclear = if right.eq_ignore_ascii_case("a") {
        word.starts_with('h')
    } else {
        let sounds = ["a", "e", "i", "o", "heir", "honest", "honor", "honour", "hour"];
        !sounds.iter().any(|start| word.starts_with(start))
            || ["eu", "ew", "once", "one"].iter().any(|start| word.starts_with(start))
    };
    after.starts_with(&[' ']) && !word.is_empty() && !unclear
}

/// Returns the last words of `before`, with their marks, in small letters, the last one first.
fn last_words(before: &[char]) -> Vec<String> {
    let text: String = before.iter().rev().take(40).collect::<Vec<_>>().into_iter().rev().collect();
    let line = text.rsplit("\n\n").next().unwrap_or_default();
    line.split_whitespace().rev().map(str::to_lowercase).collect()
}

/// Returns `true` if `before` ends with a pronoun that begins its clause, as the subject of the
/// verb: not "the words of it are", "he and she do" or "neither you nor he were".
fn begins_clause(before: &[char]) -> bool {
    const PRONOUNS: &[&str] = &["i", "you", "he", "she", "it", "we", "they"];
    const OPENERS: &[&str] = &[
        "although",
        "because",
        "but",
        "since",
        "so",
        "that",
        "though",
        "when",
        "where",
        "while",
        "why",
        "what",
        "whenever",
        "until",
        "once",
        "yet",
        "yesterday",
        "today",
    ];
    let words = last_words(before);
    let Some(subject) = words.first() else { return false };
    let subject = subject.trim_start_matches(|letter: char| !letter.is_alphanumeric());
    let opens = match words.get(1).map(String::as_str) {
        None => true,
        Some(word) => {
            word.ends_with(['.', '!', '?', ',', ';', ':', '—', '”']) || OPENERS.contains(&word)
        }
    };
    PRONOUNS.contains(&subject) && opens
}

/// Returns `true` after "the best" and its like: "one of the address with" may lack a comma.
fn follows_superlative(before: &[char]) -> bool {
    last_words(before).first().is_some_and(|word| word.ends_with("est") || word == "worst")
}

/// Returns `true` if a small "i" is a word: not "(i)", "i.e.", "i = 1" or "for i in".
fn is_pronoun(place: &HitContext) -> bool {
    let before =
        place.before.last().is_none_or(|letter| letter.is_whitespace() || "“‘".contains(*letter));
    let after: String = place.after.iter().take(6).collect();
    let contraction = after.starts_with(['\'', '’']);
    let word = after.trim_start().split(|letter: char| !letter.is_alphabetic()).next();
    let variable =
        ["in", "is", "and", "or", "th", "to", "j", ""].contains(&word.unwrap_or_default());
    before && (contraction || after.starts_with(' ') && !variable)
}

/// Returns `true` if "too" stands between a verb of wishing and another verb ("wants too leave").
fn takes_infinitive(place: &HitContext) -> bool {
    const WISHES: &[&str] = &[
        "going", "hope", "hoped", "hopes", "like", "need", "needed", "needs", "ought", "tried",
        "try", "used", "want", "wanted", "wants",
    ];
    let wishes = last_words(place.before).first().is_some_and(|word| WISHES.contains(&&**word));
    wishes && !is_degree(place.after)
}

/// Returns `true` for words never meant twice in a row ("had had" and "that that" may be).
fn is_slip(doubled: &str) -> bool {
    const NEVER_TWICE: &[&str] = &[
        "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "from", "he", "his", "i",
        "if", "into", "its", "my", "of", "or", "our", "she", "than", "the", "their", "they",
        "this", "to", "we", "were", "when", "with", "would", "your",
    ];
    let lower = doubled.to_lowercase();
    matches!(lower.split_once(' '), Some((one, two)) if one == two && NEVER_TWICE.contains(&one))
}

/// Returns `true` after a word and a full stop, not an abbreviation, an ellipsis or a dash.
fn follows_full_stop(before: &[char]) -> bool {
    let trimmed = before.len() - before.iter().rev().take_while(|c| **c == ' ').count();
    let [word @ .., '.'] = &before[..trimmed] else { return false };
    let letters = word.iter().rev().take_while(|c| c.is_lowercase()).count();
    let last: String = word[word.len() - letters..].iter().collect();
    trimmed < before.len() && letters >= 4 && !ABBREVIATIONS.contains(&&*last)
}

/// Abbreviations of four letters and more, which a full stop does not make the end of a sentence.
const ABBREVIATIONS: &[&str] = &[
    "approx", "assoc", "chap", "circa", "corp", "dept", "govt", "incl", "lieut", "misc", "orig",
    "paras", "prof", "prop", "publ", "resp", "sect", "secs", "sent", "spec", "subj", "temp",
    "trans", "univ", "viz",
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Applies [`refine`] to the part of `text` between the bars.
    fn refined(rule: &str, text: &str, right: &str) -> Option<String> {
        let parts: Vec<Vec<char>> = text.split('|').map(|part| part.chars().collect()).collect();
        let wrong: String = parts[1].iter().collect();
        refine(rule, &HitContext { before: &parts[0], after: &parts[2] }, &wrong, right.into())
    }

    #[test]
    fn markup_line_ends_and_names_are_never_touched() {
        assert_eq!(refined("Any", "a |*b*| c", "b"), None);
        assert_eq!(refined("Any", "a |b\nc| d", "b c"), None);
        assert_eq!(refined("Any", "a |in Gus| d", "an us"), None);
        assert_eq!(refined("Any", "a |than I| d", "then I"), Some("then I".into()));
        assert_eq!(refined("Any", "|Mute point|.", "moot point"), Some("Moot point".into()));
    }

    #[test]
    fn articles_are_corrected_only_where_the_sound_is_certain() {
        assert_eq!(refined("AnA", "|A| hour", "AN"), Some("An".into()));
        assert_eq!(refined("AnA", "|an| tenant", "a"), Some("a".into()));
        for doubtful in ["|a|—almost", "|a| “odd”", "|an| historic", "|a| ewe", "|a| one-off"]
        {
            let right = if doubtful.starts_with("|an") { "a" } else { "an" };
            assert_eq!(refined("AnA", doubtful, right), None, "{doubtful}");
        }
    }

    #[test]
    fn only_slips_of_the_pen_are_repetitions() {
        assert_eq!(refined("RepeatedWords", "|The the| fog", "The"), Some("The".into()));
        assert_eq!(refined("RepeatedWords", "she |had had| it", "had"), None);
    }

    #[test]
    fn a_sentence_starts_after_a_word_and_one_full_stop() {
        let starts = |text| refined("SentenceCapitalization", text, "She").is_some();
        assert!(starts("It rose. |she| fell"));
        for other in ["It rose . . . |she| fell", "Oh! |she| fell", "e.g. |she| fell", "|she| fell"]
        {
            assert!(!starts(other), "{other}");
        }
    }

    #[test]
    fn verbs_are_corrected_where_one_subject_and_one_tense_are_certain() {
        assert_eq!(
            refined("PronounVerbAgreement", "She |don't| know", "doesn't"),
            Some("doesn't".into())
        );
        assert_eq!(refined("PronounVerbAgreement", "He |lead| the way", "leads"), None);
        for other in ["he and she |do| know", "words of it |are| lost", "who want it |do| know"] {
            assert_eq!(refined("PronounVerbAgreement", other, "does"), None, "{other}");
            assert_eq!(refined("PronounInflectionBe", other, "is"), None, "{other}");
        }
        assert_eq!(refined("NounVerbConfusion", "to |effect| a change", "affect"), None);
    }

    #[test]
    fn one_of_many_is_said_of_superlatives() {
        let refined = |text| refined("OneOfTheSingular", text, "boats");
        assert!(refined("one of the best |boat|.").is_some());
        assert!(refined("one of the |boat| with").is_none());
    }

    #[test]
    fn a_small_i_is_a_pronoun_where_it_stands_in_a_sentence() {
        let is_pronoun = |text| refined("CapitalizePersonalPronouns", text, "I").is_some();
        assert!(is_pronoun("when |i| saw") && is_pronoun("think |i|’m late"));
        for other in
            ["(|i|) one", "|i|) one", "|i|.e. one", "for |i| in", "where |i| = 1", "|i|-th"]
        {
            assert!(!is_pronoun(other), "{other}");
        }
    }

    #[test]
    fn too_much_is_too_much_at_the_end_of_a_clause() {
        assert!(refined("ToTwoToo", "it was |to| late.", "too").is_some());
        assert!(refined("ToTwoToo", "it was |to| dark to see", "too").is_some());
        assert!(refined("ToTwoToo", "he came |to| late suppers", "too").is_none());
        assert!(refined("ToTwoToo", "I want |to| now", "too").is_none());
        assert!(refined("ToTwoToo", "he wants |too| leave", "to").is_some());
        assert!(refined("ToTwoToo", "they aren't |too| plain", "to").is_none());
    }
}
