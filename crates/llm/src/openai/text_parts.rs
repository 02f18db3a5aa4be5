//! Lower bound for the tokens of a text, to notice a server that has read only a part of it: local
//! servers cut text that does not fit into their context, and report only how many tokens they
//! read.

/// Smallest number of tokens to check: no server cuts a shorter text.
const WORTH_TELLING: u64 = 1_000;
/// Largest number of letters that one token has, as in the longest words of vocabularies.
const LONGEST_WORD: u64 = 16;
/// Largest number of digits that one token has.
const LONGEST_NUMBER: u64 = 3;
/// Characters of Chinese, Japanese, Korean and scripts without spaces in one token, at most on
/// average.
const SIGNS: u64 = 3;

/// Kind of a piece of text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TextPart {
    Word,
    Number,
    /// Character of a script that puts no space between words.
    Sign,
    Mark,
    Space,
}

fn part(c: char) -> TextPart {
    match c {
        _ if c.is_whitespace() => TextPart::Space,
        _ if c.is_numeric() => TextPart::Number,
        '\u{0e00}'..='\u{0fff}'
        | '\u{1000}'..='\u{109f}'
        | '\u{1780}'..='\u{17ff}'
        | '\u{2e80}'..='\u{d7ff}'
        | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}' => TextPart::Sign,
        // The mark of an omission in the middle of a word: don't.
        '\'' | '’' => TextPart::Word,
        _ if c.is_alphabetic() => TextPart::Word,
        _ => TextPart::Mark,
    }
}

/// Returns the fewest tokens that any vocabulary makes of a text. No token spans two words; a
/// punctuation mark is counted only at the end of a word.
pub(super) fn least_tokens(text: &str) -> u64 {
    let (mut tokens, mut signs) = (0, 0);
    let mut chars = text.chars().peekable();
    while let Some(first) = chars.next() {
        let kind = part(first);
        let mut length = 1;
        while chars.next_if(|c| part(*c) == kind).is_some() {
            length += 1;
        }
        let is_end = chars.peek().is_none_or(|c| part(*c) == TextPart::Space);
        match kind {
            TextPart::Word => tokens += u64::div_ceil(length, LONGEST_WORD),
            TextPart::Number => tokens += u64::div_ceil(length, LONGEST_NUMBER),
            TextPart::Sign => signs += length,
            TextPart::Mark if is_end => tokens += 1,
            TextPart::Mark | TextPart::Space => {}
        }
    }
    tokens + signs / SIGNS
}

/// Returns a notice for people if a server has `read` fewer tokens than `least`, the lower bound.
pub(super) fn notice(read: u64, least: u64) -> Option<String> {
    (read > 0 && least >= WORTH_TELLING && read < least).then(|| {
        format!(
            "The model has read only a part of what it was sent: {read} of at least {least} tokens. Its context is too short for this document; the person who runs the model's server can extend it"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_is_thought_to_be_more_tokens_than_it_is() {
        // Counted with the vocabulary of GPT-4o, which makes few tokens of anything.
        let cases = [
            ("The lamp was lit at dusk, and nobody had asked why it burned.", 15),
            ("Don't stop; it's a well-known state-of-the-art trick.", 14),
            ("Der Donaudampfschifffahrtskapitän wartete am Ufer.", 14),
            ("灯在黄昏时点亮，没有人问它为什么燃烧。", 15),
            ("ランプは夕暮れに灯された。", 9),
            ("1234567 and 89", 6),
            ("----------------------------------------", 1),
            ("| a | b |\n|---|---|\n", 10),
            ("", 0),
        ];
        for (text, tokens) in cases {
            let least = least_tokens(text);
            assert!(least <= tokens, "{text}: {least} > {tokens}");
            assert!(least * 4 >= tokens, "{text}: {least} of {tokens} tells nothing");
        }
    }

    #[test]
    fn a_text_of_26_kb_does_not_fit_into_4096_tokens() {
        let text = "The lamp was lit at dusk, and nobody had asked why it burned. ".repeat(420);
        assert!((25_000..27_000).contains(&text.len()));
        let message = notice(4_096, least_tokens(&text)).expect("it is told");
        assert!(message.contains("4096 of at least 6300 tokens"), "{message}");
        assert_eq!(notice(6_300, least_tokens(&text)), None);
        let chinese = "灯在黄昏时点亮，没有人问它为什么燃烧。".repeat(500);
        assert_eq!(notice(7_000, least_tokens(&chinese)), None, "{}", least_tokens(&chinese));
        assert_eq!(notice(0, 90_000), None, "the server does not count");
        assert_eq!(notice(10, 900), None);
    }
}
