//! Intent of a person who asks the built-in copy editor, read from the words they typed.

use std::sync::LazyLock;

use regex::Regex;

/// Command that a prompt asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum EditIntent {
    /// Correction of spelling and grammar.
    Proofread {
        scope: MistakeScope,
        /// Word that asks for a further change, which cannot be done here.
        beyond: Option<String>,
    },
    /// Replacement of one text by another, everywhere.
    Replace {
        what: String,
        with: String,
    },
    Recase(LetterCase),
    MakeList(ListStyle),
    SingleSpaces,
    Sort(SortOrder),
    Requote(QuoteStyle),
    /// Nothing that the copy editor can do.
    Beyond,
}

/// Kinds of mistakes to correct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MistakeScope {
    Everything,
    SpellingOnly,
}

/// Letter case to change a text to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LetterCase {
    Upper,
    Lower,
    Title,
}

/// Markers of list items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListStyle {
    Bulleted,
    Numbered,
}

/// Direction in which lines are sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SortOrder {
    Ascending,
    Descending,
}

/// Kind of quotation marks to use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum QuoteStyle {
    Straight,
    Curly,
}

impl EditIntent {
    /// Reads a prompt; anything but a plain command is [`EditIntent::Beyond`].
    pub(super) fn read(prompt: &str) -> Self {
        let prompt = prompt.trim();
        let lower = prompt.to_lowercase();
        let command = without_courtesy(&lower);
        requote(command)
            .or_else(|| replace(prompt))
            .or_else(|| proofread(command))
            .or_else(|| recase(command))
            .or_else(|| single_spaces(command))
            .or_else(|| make_list(command))
            .or_else(|| sort(command))
            .unwrap_or(Self::Beyond)
    }
}

macro_rules! patterns {
    ($($name:ident = $source:expr;)+) => {$(
        static $name: LazyLock<Regex> = LazyLock::new(|| Regex::new($source).expect("a pattern"));
    )+};
}

patterns! {
    COURTESY =
        r"^(?:(?:hi|hello|hey|ok|okay|so|please|kindly|now|then|and|just|also|can|could|would|will|you|i|we|want|wants|need|like|to|d|i'd|i’d|let's|let’s|us|me|harper)\b[,!]?\s*)+";
}

/// Removes a polite beginning such as "Could you please" from the command.
fn without_courtesy(prompt: &str) -> &str {
    let start = COURTESY.find(prompt).map_or(0, |courtesy| courtesy.end());
    prompt[start..].trim_end_matches(|c: char| c.is_whitespace() || ".!?".contains(c))
}

patterns! {
    QUOTE_STYLE =
        r"\b(straight|plain|dumb|ascii|curly|smart|typographic(?:al)?|typographer'?s?)\b(?: (?:single|double))?(?: (?:quotes?|quotation marks?|apostrophes?|ones))?";
    QUOTE_WORD = r"\b(?:quotes?|quotation marks?|apostrophes?)\b";
    CHANGING =
        r"^(?:use|make|turn|convert|change|replace|switch|set|put|give|swap|straighten|curl|fix|format|sort)\b";
}

/// Reads "use curly quotes" or "straight quotes to curly ones": the last named style is wanted.
fn requote(command: &str) -> Option<EditIntent> {
    if !CHANGING.is_match(command) || !QUOTE_WORD.is_match(command) {
        return None;
    }
    if command.starts_with("straighten") {
        return Some(EditIntent::Requote(QuoteStyle::Straight));
    }
    let style = QUOTE_STYLE.captures_iter(command).last()?;
    Some(EditIntent::Requote(match &style[1] {
        "straight" | "plain" | "dumb" | "ascii" => QuoteStyle::Straight,
        _ => QuoteStyle::Curly,
    }))
}

patterns! {
    REPLACE =
        r#"(?is)\b(?:replace|swap|switch|change|rename)\s+(?:(?:all|every|each|any|the)\s+)*(?:(?:occurrences?|instances?|mentions?|uses?|words?|names?|phrases?)\s+)*(?:of\s+)?(?:the\s+(?:words?|names?|phrases?)\s+)?["“”'‘’`](.+?)["“”'‘’`]\s+(?:with|by|for|to|into|as)\s+(?:the\s+(?:words?|names?|phrases?)\s+)?["“”'‘’`](.*?)["“”'‘’`](?:\s|[.!?,]|$)"#;
    REPLACE_BARE =
        r"(?is)^\W*(?:(?:please|can you|could you|would you)\W+)*(?:replace|rename)\s+(?:(?:all|every|each)\s+)?(?:(?:occurrences?|instances?|mentions?|uses?)\s+of\s+)?(?:the\s+(?:words?|names?|phrases?)\s+)?(.+?)\s+(?:with|by|to)\s+(.+?)\s*$";
    EVERYWHERE =
        r"(?i)[\s,]*\b(?:please|everywhere|throughout|all over|for me|(?:in|throughout|across) (?:the|this|my)(?: (?:whole|entire|full|selected))? (?:document|text|selection|draft|file|chapter|page|paragraph|story)|throughout the text)\s*$";
}

/// Reads "Replace “X” with “Y”", also without quotation marks if the meaning is clear.
fn replace(prompt: &str) -> Option<EditIntent> {
    if let Some(found) = REPLACE.captures(prompt) {
        return Some(EditIntent::Replace { what: found[1].to_owned(), with: found[2].to_owned() });
    }
    let found = REPLACE_BARE.captures(prompt)?;
    let mut with = found[2].trim_end_matches(['.', '!', '?']);
    while let Some(tail) = EVERYWHERE.find(with) {
        with = with[..tail.start()].trim_end_matches([',', ' ']);
    }
    let unquote = |text: &str| text.trim_matches(|c| "\"“”‘’'`".contains(c)).to_owned();
    let (what, with) = (unquote(EVERYWHERE.replace(&found[1], "").trim()), unquote(with));
    let vague = ["it", "this", "that", "them", "everything", "the text", "the selection", "these"];
    let words = |text: &str| text.split_whitespace().count();
    let clear = !what.is_empty()
        && !vague.contains(&what.to_lowercase().as_str())
        && !what.to_lowercase().starts_with("this ")
        && words(&what) <= 4
        && words(&with) <= 6
        && !DESCRIBES.is_match(&with)
        && !DESCRIBES.is_match(&what);
    clear.then_some(EditIntent::Replace { what, with })
}

patterns! {
    DESCRIBES =
        r"(?i)^(?:something|anything|a |an |the |one |more |better|other|another|synonyms?|my |your |shorter|longer)|\b(?:sentences?|paragraphs?|synonyms?|passage|opening|ending|better|shorter)\b";
}

patterns! {
    MISTAKES =
        r"\b(?:grammar|grammatical|grammatically|grammer|spelling|spellings|spell|spell-?check|orthography|typos?|typographical errors?|misspellings?|misspelled|mistakes?|errors?|punctuation|proof-?read(?:ing)?|copy-?edit(?:ing)?)\b";
    CORRECTING =
        r"\b(?:fix|fixing|correct|correcting|check|checking|proof-?read|proof-?reading|proof|copy-?edit|copy-?editing|spell-?check|clean|tidy|repair|mend|find|spot|catch|look|review|improve|run|do|remove|eliminate|go|help|any|are|is|polish|edit|scan|inspect|see|mark|show)\b";
    NOT_MISTAKES =
        r"\b(?:explain|teach|why|poem|essay|write|rule|rules|quiz|meaning|define|lesson|about)\b";
    WHOLE_COMMAND =
        r"^(?:fix|check|correct|proof-?read|proof|copy-?edit|spell-?check|look over|go over|clean up|tidy up)(?: (?:it|this|that|these|those|the|my|our|all|whole|entire|full|of|up|over|through|out|again|for me|everything|selected|selection|text|document|doc|draft|paragraphs?|sentences?|passage|section|chapter|page|story|letter|article|file|lines?|words?|piece|part|writing|prose|please|now|quickly|carefully|once|more|here))*$";
    SPELLING_ONLY =
        r"\b(?:only|just)\b.*\b(?:spelling|typos?|misspellings?)\b|\b(?:spelling|typos?) only\b";
    MORE =
        r"\b(rewrite|rephrase|reword|paraphrase|shorten|tighten|condense|expand|lengthen|translate|summari[sz]e|simplify|restructure|make it (?:shorter|longer|better|funnier|clearer)|change the (?:tone|style|tense))\b";
}

/// Reads the many ways to ask for a correction: "fix the grammar", "any typos?", "proofread this".
fn proofread(command: &str) -> Option<EditIntent> {
    let about = MISTAKES.is_match(command) && CORRECTING.is_match(command);
    let asked = (about && !NOT_MISTAKES.is_match(command))
        || WHOLE_COMMAND.is_match(command)
        || is_only_about(command);
    asked.then(|| EditIntent::Proofread {
        scope: if SPELLING_ONLY.is_match(command) {
            MistakeScope::SpellingOnly
        } else {
            MistakeScope::Everything
        },
        beyond: MORE.captures(command).map(|more| more[1].to_owned()),
    })
}

/// Returns `true` for a command that only names mistakes: "Grammar", "Spelling and punctuation!"
fn is_only_about(command: &str) -> bool {
    let mut words = command.split(|c: char| !c.is_alphanumeric() && c != '-');
    words.all(|word| matches!(word, "" | "and" | "the" | "check" | "or") || MISTAKES.is_match(word))
        && MISTAKES.is_match(command)
}

patterns! {
    UPPER =
        r"\b(?:upper-? ?case[ds]?|all[- ]caps|capital letters|capitals|block letters|in caps)\b";
    LOWER = r"\b(?:lower-? ?case[ds]?|small letters|un-?capitali[sz]e)\b";
    TITLE =
        r"\b(?:title-? ?case[ds]?|headline case|capitali[sz]e(?: (?:each|every|all|the)(?: the)? words?)?)\b";
    RECASING =
        r"^(?:make|turn|convert|change|put|set|write|transform|switch|format|use|upper-? ?case|lower-? ?case|title-? ?case|all[- ]caps|capitali[sz]e|un-?capitali[sz]e)\b";
}

fn recase(command: &str) -> Option<EditIntent> {
    if !RECASING.is_match(command) || command.split_whitespace().count() > 9 {
        return None;
    }
    let case = if TITLE.is_match(command) && !UPPER.is_match(command) {
        LetterCase::Title
    } else if UPPER.is_match(command) {
        LetterCase::Upper
    } else if LOWER.is_match(command) {
        LetterCase::Lower
    } else {
        return None;
    };
    Some(EditIntent::Recase(case))
}

patterns! {
    SPACES =
        r"\b(?:remove|delete|fix|collapse|clean|strip|trim|eliminate|reduce|single|get rid)\b.*\b(?:double|doubled|extra|multiple|duplicate|redundant|needless|superfluous|unnecessary|repeated|trailing)\b.*\b(?:spac(?:e|es|ing)|whitespace|blanks?)\b";
}

fn single_spaces(command: &str) -> Option<EditIntent> {
    SPACES.is_match(command).then_some(EditIntent::SingleSpaces)
}

patterns! {
    LIST =
        r"^(?:make|turn|convert|change|format|put|bullet|number|list|itemi[sz]e|break|split)\b.*\b(?:list|bullets?|bullet points?|bulleted|numbered)\b|^(?:itemi[sz]e|bullet|number) (?:this|these|it|them)\b";
    ABOUT_LIST =
        r"\b(?:the|my|to|of|from|in) (?:the )?(?:list|bullets)\b|\blonger\b|\bshorter\b|\bbetter\b";
    NUMBERED = r"\b(?:number|numbers|numbered|ordered|numeric)\b";
    UNNUMBERED = r"\b(?:un-?ordered|un-?numbered)\b";
}

fn make_list(command: &str) -> Option<EditIntent> {
    if !LIST.is_match(command) || ABOUT_LIST.is_match(command) {
        return None;
    }
    let numbered = NUMBERED.is_match(command) && !UNNUMBERED.is_match(command);
    Some(EditIntent::MakeList(if numbered { ListStyle::Numbered } else { ListStyle::Bulleted }))
}

patterns! {
    SORT =
        r"^(?:sort|alphabeti[sz]e|order|put)\b.*(?:\blines?\b|\blist\b|\bitems?\b|\bthis\b|\bthese\b|\bit\b|\bthem\b|\balphabet)|^(?:sort|alphabeti[sz]e)$";
    SORTING = r"\bsort\b|alphabet";
    DESCENDING = r"\b(?:reverse|reversed|descending|z ?(?:-|–|to) ?a|backwards?)\b";
}

fn sort(command: &str) -> Option<EditIntent> {
    if !SORT.is_match(command) || !SORTING.is_match(command) {
        return None;
    }
    let descending = DESCENDING.is_match(command);
    Some(EditIntent::Sort(if descending { SortOrder::Descending } else { SortOrder::Ascending }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_proofread(prompt: &str) -> bool {
        matches!(EditIntent::read(prompt), EditIntent::Proofread { beyond: None, .. })
    }

    fn replace(what: &str, with: &str) -> EditIntent {
        EditIntent::Replace { what: what.into(), with: with.into() }
    }

    #[test]
    fn many_phrasings_ask_for_proofreading() {
        let prompts = "fix the grammar|Fix grammar.|FIX THE SPELLING!|please proofread|check this|\
            Can you check this for typos?|Could you please fix the grammar in this paragraph?|\
            proof-read the whole document|copyedit this chapter|spell check|spellcheck please|\
            grammar check|correct the errors|any mistakes?|are there any spelling mistakes?|\
            Fix all typos and grammatical errors|I'd like you to correct my grammar|Grammar|\
            Spelling and punctuation|look for typos|run a spell check|fix this|correct it|\
            check my spelling|clean up the grammar|Find and fix mistakes|fix the grammer|\
            hi, please check the text|Check everything|go over this again|improve the grammar|\
            is the spelling correct?|Fix the typos in the selection|polish the grammar";
        for prompt in prompts.split('|').map(str::trim) {
            assert!(is_proofread(prompt), "{prompt:?} is {:?}", EditIntent::read(prompt));
        }
    }

    #[test]
    fn what_only_sounds_like_proofreading_is_beyond() {
        let prompts = "Explain the grammar of this sentence|Write a poem about spelling mistakes|\
            fix the ending|check the facts|check this for plot holes|Tighten the opening|\
            make it funnier|What makes a good opening?|translate this into Spanish|\
            why is this a mistake?|correct the date of the battle|continue the story|\
            Hello|thanks!|add an item to the list|make the list longer|sort out the plot|\
            review this chapter|change the tone|make this better|replace this with something better|\
            replace the second paragraph with a shorter one|put the kettle on|\
            write in capital letters what you think of this paragraph and of its author||?";
        for prompt in prompts.split('|').map(str::trim) {
            assert_eq!(EditIntent::read(prompt), EditIntent::Beyond, "{prompt:?}");
        }
    }

    #[test]
    fn what_cannot_be_done_in_the_same_breath_is_noticed() {
        let proofread = |scope, beyond: Option<&str>| EditIntent::Proofread {
            scope,
            beyond: beyond.map(str::to_owned),
        };
        let both = EditIntent::read("Fix the grammar and shorten it");
        assert_eq!(both, proofread(MistakeScope::Everything, Some("shorten")));
        let narrow = proofread(MistakeScope::SpellingOnly, None);
        assert_eq!(EditIntent::read("Only fix the spelling, please"), narrow);
        assert_eq!(EditIntent::read("fix typos only"), narrow);
    }

    #[test]
    fn replacements_are_read_with_and_without_quotation_marks() {
        let cases = [
            ("Replace \"Ines\" with \"Agnes\"", replace("Ines", "Agnes")),
            (
                "please replace “the town” by “the village” everywhere",
                replace("the town", "the village"),
            ),
            ("replace all occurrences of 'it''s' with ''", replace("it''s", "")),
            ("Change every \"colour\" to \"color\".", replace("colour", "color")),
            ("replace Ines with Agnes", replace("Ines", "Agnes")),
            (
                "Rename Ines Marrow to Agnes Marrow throughout the document.",
                replace("Ines Marrow", "Agnes Marrow"),
            ),
            ("Can you replace the word fog with mist in the text, please?", replace("fog", "mist")),
            ("replace `a.b` with `c`", replace("a.b", "c")),
            ("replace \"don't\" with \"do not\"", replace("don't", "do not")),
        ];
        for (prompt, intent) in cases {
            assert_eq!(EditIntent::read(prompt), intent, "{prompt:?}");
        }
    }

    #[test]
    fn plain_commands_are_read() {
        use EditIntent::{MakeList, Recase, Requote, SingleSpaces, Sort};
        let cases = [
            ("UPPERCASE this", Recase(LetterCase::Upper)),
            ("make this upper case", Recase(LetterCase::Upper)),
            ("put the heading in all caps please", Recase(LetterCase::Upper)),
            ("Convert to lowercase", Recase(LetterCase::Lower)),
            ("Title Case this", Recase(LetterCase::Title)),
            ("capitalize every word", Recase(LetterCase::Title)),
            ("make this a list", MakeList(ListStyle::Bulleted)),
            ("Turn this into bullet points.", MakeList(ListStyle::Bulleted)),
            ("make this an un-ordered list", MakeList(ListStyle::Bulleted)),
            ("convert these lines to a numbered list", MakeList(ListStyle::Numbered)),
            ("number these", MakeList(ListStyle::Numbered)),
            ("remove double spaces", SingleSpaces),
            ("get rid of the extra whitespace", SingleSpaces),
            ("sort lines", Sort(SortOrder::Ascending)),
            ("Please sort these alphabetically", Sort(SortOrder::Ascending)),
            ("sort the list in reverse", Sort(SortOrder::Descending)),
            ("use curly quotes", Requote(QuoteStyle::Curly)),
            ("replace straight quotes with smart quotes", Requote(QuoteStyle::Curly)),
            ("convert curly quotes to straight ones", Requote(QuoteStyle::Straight)),
            ("straighten the quotes", Requote(QuoteStyle::Straight)),
        ];
        for (prompt, intent) in cases {
            assert_eq!(EditIntent::read(prompt), intent, "{prompt:?}");
        }
    }
}
