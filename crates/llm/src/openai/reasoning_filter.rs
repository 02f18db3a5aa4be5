//! Filter for text that some local models write before their answer: blank lines, tagged reasoning.
//!
//! Many chat templates open the tag by themselves (as `QwQ`'s does:
//! <https://huggingface.co/unsloth/QwQ-32B/discussions/1>). A server that does not separate the
//! reasoning then sends only its end: `Two and two.</think>Four.`

const BEGIN: &str = "<think>";
const END: &str = "</think>";

/// State of the beginning of a text.
pub(super) enum TextOpening {
    /// Only space so far, or text that may become a tag.
    Held(String),
    /// Inside of the tags; holds the last bytes, which may be the beginning of the end tag.
    Thinking(String),
    /// Inside of reasoning that probably has only an end tag, as in the last answer; the whole text
    /// is held in case the guess is wrong.
    Begun(String, ThoughtEndFinder),
    /// The answer itself.
    Over,
}

/// Finder of the end of reasoning that had no beginning.
#[derive(Default)]
pub(super) struct ThoughtEndFinder {
    /// Number of bytes that have been searched without success.
    sought: usize,
}

impl ThoughtEndFinder {
    /// Returns the start of the answer in `text`, in bytes, once the end of the reasoning is found.
    /// Between two calls the text may only grow.
    pub(super) fn end_of_thoughts(&mut self, text: &str, is_over: bool) -> Option<usize> {
        while let Some(at) = text[self.sought..].find(END).map(|at| self.sought + at) {
            let after = at + END.len();
            match ends_thoughts(&text[..at], &text[after..], is_over) {
                Some(true) => return Some(after),
                Some(false) => self.sought = after,
                None => {
                    self.sought = at;
                    return None;
                }
            }
        }
        let tail = text.len().saturating_sub(END.len());
        self.sought = self.sought.max(text.floor_char_boundary(tail));
        None
    }
}

/// Returns `true` if the tag between the two texts ends the reasoning, `false` if the text only
/// mentions it, and `None` if the next character decides.
///
/// Reasoning ends where the tag directly follows its last word or precedes the answer's first, or
/// stands alone on its line. A tag in code, in quotes, between words or before a full stop is only
/// mentioned, and so is every end tag after a begin tag.
fn ends_thoughts(before: &str, after: &str, is_over: bool) -> Option<bool> {
    let line = before.rsplit('\n').next().unwrap_or_default();
    let fences = before.lines().filter(|line| line.trim_start().starts_with("```")).count();
    let is_code = fences % 2 == 1 || line.matches('`').count() % 2 == 1;
    let is_alone = line.trim().is_empty();
    let is_glued = line.ends_with(|c: char| !c.is_whitespace() && !"\"'“‘„«([{".contains(c));
    if before.contains(BEGIN) || is_code || !(is_alone || is_glued) {
        return Some(false);
    }
    match after.chars().next() {
        None => is_over.then_some(true),
        Some('\r' | '\n') => Some(true),
        Some(c) if c.is_whitespace() => Some(is_glued),
        Some(c) => Some(!"\"'”’»)]}`.,;:!?".contains(c)),
    }
}

impl Default for TextOpening {
    fn default() -> Self {
        Self::Held(String::new())
    }
}

impl TextOpening {
    /// Returns the state for an answer that begins in the middle of reasoning.
    pub(super) fn begun() -> Self {
        Self::Begun(String::new(), ThoughtEndFinder::default())
    }

    pub(super) fn is_begun(&self) -> bool {
        matches!(self, Self::Begun(..))
    }

    /// Takes a piece of the answer, and returns the text that people may read now.
    pub(super) fn pass(&mut self, piece: &str) -> String {
        match self {
            Self::Over => piece.to_owned(),
            Self::Held(held) => {
                held.push_str(piece);
                let begun = held.trim_start();
                if let Some(thought) = begun.strip_prefix(BEGIN) {
                    let thought = thought.to_owned();
                    *self = Self::Thinking(String::new());
                    return self.pass(&thought);
                }
                if BEGIN.starts_with(begun) {
                    return String::new();
                }
                let text = begun.to_owned();
                *self = Self::Over;
                text
            }
            Self::Thinking(tail) => {
                tail.push_str(piece);
                if let Some((_, after)) = tail.split_once(END) {
                    let after = after.to_owned();
                    *self = Self::default();
                    return self.pass(&after);
                }
                let keep = tail.char_indices().rev().nth(END.len()).map_or(0, |(at, _)| at);
                tail.drain(..keep);
                String::new()
            }
            Self::Begun(held, seeker) => {
                held.push_str(piece);
                let Some(end) = seeker.end_of_thoughts(held, false) else { return String::new() };
                let after = held.split_off(end);
                *self = Self::default();
                self.pass(&after)
            }
        }
    }

    /// Returns the text that was held back and is part of the answer, when that is over.
    pub(super) fn rest(&mut self) -> String {
        match std::mem::replace(self, Self::Over) {
            Self::Held(held) | Self::Begun(held, _) => held.trim_start().to_owned(),
            Self::Thinking(_) | Self::Over => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filtered(text: &str, size: usize) -> String {
        let mut opening = TextOpening::default();
        let chars: Vec<char> = text.chars().collect();
        let pieces = chars.chunks(size).map(|piece| piece.iter().collect::<String>());
        let mut filtered: String = pieces.map(|piece| opening.pass(&piece)).collect();
        filtered.push_str(&opening.rest());
        filtered
    }

    #[test]
    fn thoughts_without_a_beginning_end_where_no_text_speaks_of_tags() {
        let cases = [
            ("Okay… hmm</think>\n\nfour", Some("\n\nfour")),
            ("Okay.\n</think>\n\nfour", Some("\n\nfour")),
            ("Okay.\r\n</think>\r\nfour", Some("\r\nfour")),
            ("Okay.</think>Four.", Some("Four.")),
            ("Okay.</think> Four.", Some(" Four.")),
            ("</think>\n\nfour", Some("\n\nfour")),
            ("Okay.\n</think>", Some("")),
            ("It says `</think>` there. Done.</think>Four.", Some("Four.")),
            ("The tag </think> ends it.", None),
            ("It ends with </think>.", None),
            ("It ends with </think>", None),
            ("It ends with \"</think>\" or (</think>).", None),
            ("Use `x</think>y` here.", None),
            ("```\nx\n</think>\ny\n```\nDone.", None),
            ("Write <think>x</think>y for it.", None),
            ("</think> is the tag.", None),
        ];
        for (text, answer) in cases {
            let whole =
                ThoughtEndFinder::default().end_of_thoughts(text, true).map(|at| &text[at..]);
            assert_eq!(whole, answer, "{text:?}");
            let mut seeker = ThoughtEndFinder::default();
            let ends = text.char_indices().map(|(at, c)| at + c.len_utf8());
            let mut found = ends.map(|end| (&text[..end], end == text.len()));
            let found = found.find_map(|(text, over)| seeker.end_of_thoughts(text, over));
            assert_eq!(found.map(|at| &text[at..]), answer, "{text:?} letter by letter");
        }
    }

    #[test]
    fn an_answer_like_the_last_is_told_from_its_end_of_thoughts_on() {
        for (text, expected) in [("Hm.\n</think>\n\nFour.", "Four."), ("Four.", "Four.")] {
            for size in [1, 3, 1000] {
                let mut opening = TextOpening::begun();
                let chars: Vec<char> = text.chars().collect();
                let pieces = chars.chunks(size).map(|piece| piece.iter().collect::<String>());
                let mut filtered: String = pieces.map(|piece| opening.pass(&piece)).collect();
                assert_eq!(opening.is_begun(), text == expected);
                filtered.push_str(&opening.rest());
                assert_eq!(filtered, expected, "{text:?} by {size}");
            }
        }
    }

    #[test]
    fn reasoning_before_the_answer_is_not_told_however_it_is_cut() {
        let cases = [
            ("\n\nGood.", "Good."),
            ("<think>\nHm < é. </thin\n</think>\n\nGood.", "Good."),
            ("<thinking> is a word", "<thinking> is a word"),
            ("<thi", "<thi"),
            ("<think>never done", ""),
            ("Use <think>x</think> tags.", "Use <think>x</think> tags."),
            ("<think>a</think><think>b</think>c", "c"),
        ];
        for (text, expected) in cases {
            for size in [1, 2, 3, 1000] {
                assert_eq!(filtered(text, size), expected, "{text:?} by {size}");
            }
        }
    }
}
