//! Characters that people do not see, or that change the order in which others are shown.
//!
//! Emoji and several scripts need joiners and variation selectors; there they are no reason for a
//! warning. Everywhere else they can hide text, which models read and people do not.

use unicode_segmentation::UnicodeSegmentation as _;

/// Number of characters of context that decide about a character ([`unseen`]).
pub const CONTEXT_CHARS: usize = 16;

/// Ranges of unseen characters, in order.
///
/// Unicode 17.0: `Default_Ignorable_Code_Point` of `DerivedCoreProperties.txt`, the control
/// characters (`Cc`) except tab and line ends, the format characters (`Cf`) that no script shows,
/// and blanks that no keyboard types: line and paragraph separator, Braille blank.
const UNSEEN: [(char, char); 28] = [
    ('\u{0}', '\u{8}'),
    ('\u{b}', '\u{c}'),
    ('\u{e}', '\u{1f}'),
    ('\u{7f}', '\u{9f}'),
    ('\u{ad}', '\u{ad}'),
    ('\u{34f}', '\u{34f}'),
    ('\u{61c}', '\u{61c}'),
    ('\u{115f}', '\u{1160}'),
    ('\u{17b4}', '\u{17b5}'),
    ('\u{180b}', '\u{180f}'),
    ('\u{200b}', '\u{200f}'),
    ('\u{2028}', '\u{202e}'),
    ('\u{2060}', '\u{206f}'),
    ('\u{2800}', '\u{2800}'),
    ('\u{3164}', '\u{3164}'),
    ('\u{fe00}', '\u{fe0f}'),
    ('\u{feff}', '\u{feff}'),
    ('\u{ffa0}', '\u{ffa0}'),
    ('\u{fff0}', '\u{fff8}'),
    ('\u{fff9}', '\u{fffb}'),
    ('\u{16fe4}', '\u{16fe4}'),
    ('\u{1bca0}', '\u{1bca3}'),
    ('\u{1d159}', '\u{1d159}'),
    ('\u{1d173}', '\u{1d17a}'),
    ('\u{e0000}', '\u{e007f}'),
    ('\u{e0080}', '\u{e00ff}'),
    ('\u{e0100}', '\u{e01ef}'),
    ('\u{e01f0}', '\u{e0fff}'),
];

/// Scripts whose letters are shaped by joiners: from Arabic to Mongolian, those written in the
/// Indic way, and Adlam.
const JOINED_SCRIPTS: [(char, char); 12] = [
    ('\u{600}', '\u{8ff}'),
    ('\u{900}', '\u{dff}'),
    ('\u{f00}', '\u{109f}'),
    ('\u{1700}', '\u{17ff}'),
    ('\u{1800}', '\u{18af}'),
    ('\u{1a20}', '\u{1c7f}'),
    ('\u{a800}', '\u{a8ff}'),
    ('\u{a930}', '\u{aaff}'),
    ('\u{fb50}', '\u{fdff}'),
    ('\u{fe70}', '\u{fefc}'),
    ('\u{10a00}', '\u{11fff}'),
    ('\u{1e900}', '\u{1e95f}'),
];

/// Characters that have standardised variants, and the selectors for them.
const VARIANTS: [(char, char, char, char); 9] = [
    ('\u{2200}', '\u{22ff}', '\u{fe00}', '\u{fe00}'),
    ('\u{2a00}', '\u{2aff}', '\u{fe00}', '\u{fe00}'),
    ('\u{3001}', '\u{3002}', '\u{fe00}', '\u{fe01}'),
    ('\u{ff01}', '\u{ff1f}', '\u{fe00}', '\u{fe01}'),
    ('\u{1000}', '\u{109f}', '\u{fe00}', '\u{fe00}'),
    ('\u{1820}', '\u{18aa}', '\u{180b}', '\u{180f}'),
    ('\u{3400}', '\u{9fff}', '\u{e0100}', '\u{e01ef}'),
    ('\u{f900}', '\u{faff}', '\u{e0100}', '\u{e01ef}'),
    ('\u{20000}', '\u{3ffff}', '\u{e0100}', '\u{e01ef}'),
];

/// Flags of England, Scotland and Wales: a black flag and their names in tags.
const TAGGED_FLAGS: [&str; 3] = ["gbeng", "gbsct", "gbwls"];
const BLACK_FLAG: char = '\u{1f3f4}';
const CANCEL_TAG: char = '\u{e007f}';
const JOINER: char = '\u{200d}';
const NON_JOINER: char = '\u{200c}';

/// Returns `true` for a character that is unseen anywhere, also where emoji and scripts need it.
pub fn is_unseen(c: char) -> bool {
    let index = UNSEEN.partition_point(|&(_, last)| last < c);
    UNSEEN.get(index).is_some_and(|&(first, _)| first <= c)
}

/// Returns the unseen characters of a text that neither emoji nor its script need, in order.
pub fn unseen(text: &str) -> Vec<char> {
    // Most texts need no other check.
    let is_seen = |byte: u8| !byte.is_ascii_control() || matches!(byte, b'\n' | b'\r' | b'\t');
    if text.is_ascii() && text.bytes().all(is_seen) {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut rest = text.char_indices();
    while let Some((at, c)) = rest.next() {
        if !is_unseen(c) {
            if c == BLACK_FLAG {
                let tags = flag_tags(&text[at + c.len_utf8()..]);
                rest.by_ref().take(tags).for_each(drop);
            }
            continue;
        }
        let (before, after) = (&text[..at], &text[at + c.len_utf8()..]);
        if !is_needed(before, c, after) {
            found.push(c);
        }
    }
    found
}

/// Returns the number of tags after a black flag that name a flag.
fn flag_tags(rest: &str) -> usize {
    let tag = |c: char| {
        let letter = u32::from(c).checked_sub(0xe0000).and_then(char::from_u32);
        letter.filter(char::is_ascii_lowercase)
    };
    let name: String = rest.chars().map_while(tag).take(5).collect();
    let ends = rest.chars().nth(name.len()) == Some(CANCEL_TAG);
    if ends && TAGGED_FLAGS.contains(&name.as_str()) { name.len() + 1 } else { 0 }
}

/// Returns `true` for a joiner or selector where emoji or a script need it.
fn is_needed(before: &str, c: char, after: &str) -> bool {
    let Some(last) = before.chars().next_back() else { return false };
    let next = after.chars().next();
    match c {
        JOINER | NON_JOINER if is_in(&JOINED_SCRIPTS, last) => true,
        JOINER => next.is_some_and(|next| !is_unseen(next) && joins_emoji(before, next)),
        '\u{fe0e}' | '\u{fe0f}' => {
            is_pictograph(last)
                || (matches!(last, '0'..='9' | '#' | '*') && next == Some('\u{20e3}'))
        }
        _ => VARIANTS.iter().any(|&(first, end, from, to)| {
            (first..=end).contains(&last) && (from..=to).contains(&c)
        }),
    }
}

/// Returns `true` if a joiner after `before` makes one emoji of the last one there and `next`.
fn joins_emoji(before: &str, next: char) -> bool {
    let start = before.char_indices().rev().nth(CONTEXT_CHARS).map_or(0, |(at, _)| at);
    let joined = [&before[start..], "\u{200d}", next.encode_utf8(&mut [0; 4])].concat();
    // By the rules for characters as people see them (UAX 29), only emoji are joined.
    joined
        .graphemes(true)
        .next_back()
        .is_some_and(|last| last.contains(JOINER) && last.ends_with(next))
}

/// Returns `true` for a character that can be an emoji (`Extended_Pictographic`).
fn is_pictograph(c: char) -> bool {
    let count = |characters: &[char]| {
        let text: String = characters.iter().collect();
        text.graphemes(true).count()
    };
    // A mark would be one with any letter.
    !c.is_alphanumeric() && count(&['a', c]) == 2 && count(&[c, JOINER, c]) == 1
}

fn is_in(ranges: &[(char, char)], c: char) -> bool {
    ranges.iter().any(|&(first, last)| (first..=last).contains(&c))
}

/// Returns the unseen characters that `new` has more often than `old`.
pub fn added(mut old: Vec<char>, mut new: Vec<char>) -> Vec<char> {
    old.sort_unstable();
    new.sort_unstable();
    let mut before = old.into_iter().peekable();
    new.retain(|it| {
        while before.next_if(|was| was < it).is_some() {}
        before.next_if_eq(it).is_none()
    });
    new
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_unseen_character_is_found() {
        let kinds = [
            '\0',
            '\u{8}',
            '\u{b}',
            '\u{1b}',
            '\u{7f}',
            '\u{85}',
            '\u{9b}',
            '\u{ad}',
            '\u{34f}',
            '\u{61c}',
            '\u{115f}',
            '\u{1160}',
            '\u{17b4}',
            '\u{180b}',
            '\u{180e}',
            '\u{200b}',
            '\u{200c}',
            '\u{200d}',
            '\u{200e}',
            '\u{200f}',
            '\u{2028}',
            '\u{2029}',
            '\u{202a}',
            '\u{202e}',
            '\u{2060}',
            '\u{2063}',
            '\u{2066}',
            '\u{2069}',
            '\u{206f}',
            '\u{2800}',
            '\u{3164}',
            '\u{fe00}',
            '\u{fe0f}',
            '\u{feff}',
            '\u{ffa0}',
            '\u{fff0}',
            '\u{fff9}',
            '\u{1bca0}',
            '\u{1d173}',
            '\u{e0001}',
            '\u{e0041}',
            '\u{e007f}',
            '\u{e0080}',
            '\u{e0100}',
            '\u{e01ef}',
            '\u{e0fff}',
        ];
        for c in kinds {
            for text in [format!("a{c}b"), format!("{c}"), format!("é {c} é"), format!("a{c}")] {
                assert_eq!(unseen(&text), [c], "{text:?}");
            }
        }
        assert!(UNSEEN.windows(2).all(|pair| pair[0].1 < pair[1].0), "in order and disjoint");
    }

    #[test]
    fn what_people_write_has_none() {
        let texts = [
            "plain, with\ttabs\nand lines\r\n",
            "“quotes” — dashes… and\u{a0}blanks\u{202f}of\u{2009}all\u{3000}kinds",
            "👩\u{200d}🚀 👨\u{200d}👩\u{200d}👧 ❤\u{fe0f} ☎\u{fe0e} 🏳\u{fe0f}\u{200d}🌈 👍🏽 1\u{fe0f}\u{20e3}",
            "👩🏽\u{200d}❤\u{fe0f}\u{200d}💋\u{200d}👨🏿",
            "🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f} won",
            "می\u{200c}خواهم",
            "क्\u{200d}ष और क्\u{200c}ष",
            "葛\u{e0100}城 、\u{fe00}",
            "ᠮᠣᠩᠭᠣᠯ\u{180b}",
            "∩\u{fe00}",
            "e\u{301} cafe\u{301} \u{fffd}",
        ];
        for text in texts {
            assert_eq!(unseen(text), [], "{text:?}");
        }
    }

    #[test]
    fn joiners_selectors_and_tags_elsewhere_are_found() {
        let found = [
            ("a\u{200d}b", 1),
            ("a\u{200c}b", 1),
            ("👩\u{200d}b", 1),
            ("👩\u{200d}\u{200d}🚀", 2),
            ("a\u{fe0f}", 1),
            ("❤\u{fe0f}\u{fe0f}\u{fe0f}", 2),
            ("1\u{fe0f}", 1),
            ("😀\u{fe00}\u{fe01}", 2),
            ("葛\u{e0100}\u{e0101}", 1),
            ("a\u{e0100}", 1),
            ("می\u{200c}\u{200c}خ", 1),
            ("🏴\u{e0067}\u{e0062}\u{e0078}\u{e0078}\u{e0078}\u{e007f}", 6),
            ("🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}", 5),
            ("\u{feff}at the beginning", 1),
        ];
        for (text, count) in found {
            assert_eq!(unseen(text).len(), count, "{text:?}: {:?}", unseen(text));
        }
    }

    #[test]
    fn one_character_does_not_pay_for_another() {
        assert_eq!(added(unseen("q\u{ad}q"), unseen("q\u{202e}q")), ['\u{202e}']);
        assert_eq!(added(unseen("\u{ad}\u{ad}"), unseen("\u{ad}")), []);
        assert_eq!(added(unseen("\u{ad}"), unseen("\u{ad}\u{ad}")), ['\u{ad}']);
    }
}
