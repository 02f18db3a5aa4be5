//! Holds back what some local models write before their answer: blank lines, and reasoning between tags. Pure.

const BEGIN: &str = "<think>";
const END: &str = "</think>";

/// What has been seen of the beginning of a text.
pub(super) enum Opening {
    /// Nothing but space, or what may become a tag.
    Held(String),
    /// Inside of the tags; the last bytes, which may be the beginning of the end.
    Thinking(String),
    /// The answer itself.
    Over,
}

impl Default for Opening {
    fn default() -> Self {
        Self::Held(String::new())
    }
}

impl Opening {
    /// What people may read after this piece.
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
        }
    }

    /// What was held back for nothing when the answer is over.
    pub(super) fn rest(&mut self) -> String {
        match std::mem::replace(self, Self::Over) {
            Self::Held(held) => held.trim_start().to_owned(),
            Self::Thinking(_) | Self::Over => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str, size: usize) -> String {
        let mut opening = Opening::default();
        let chars: Vec<char> = text.chars().collect();
        let pieces = chars.chunks(size).map(|piece| piece.iter().collect::<String>());
        let mut told: String = pieces.map(|piece| opening.pass(&piece)).collect();
        told.push_str(&opening.rest());
        told
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
                assert_eq!(told(text, size), expected, "{text:?} by {size}");
            }
        }
    }
}
