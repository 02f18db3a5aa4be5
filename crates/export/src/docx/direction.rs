//! Direction of words: from left to right, or from right to left as in Hebrew and Arabic.
//!
//! The direction of a paragraph is that of its first letter. Signs and blanks between letters of
//! one direction have theirs, others that of the paragraph (a part of Unicode's annex 9 that is
//! enough for runs of a Word document).

use super::flow::FlowItem;
use super::steps::TrackedStep;

/// Most steps that wait for the next letter; after them the paragraph's direction counts.
const MOST_WAITING: usize = 4_096;

/// Steps of a paragraph on their way to their runs.
#[derive(Debug, Default)]
pub(super) struct ParagraphDirection {
    /// `true` if the paragraph goes from right to left; `None` before its first letter.
    paragraph: Option<bool>,
    /// Direction of the last letter.
    last: bool,
    /// Steps since the last letter, or since the beginning.
    waiting: Vec<TrackedStep>,
}

impl ParagraphDirection {
    /// Takes a step and calls `write` with each one whose direction is known, `true` for those from
    /// right to left.
    pub fn step(&mut self, step: TrackedStep, mut write: impl FnMut(TrackedStep, bool)) {
        let letter = letter_direction(&step);
        let Some(paragraph) = self.paragraph else {
            self.waiting.push(step);
            if letter.is_some() || self.waiting.len() > MOST_WAITING {
                let paragraph = letter.unwrap_or_default();
                (self.paragraph, self.last) = (Some(paragraph), paragraph);
                self.waiting.drain(..).for_each(|step| write(step, paragraph));
            }
            return;
        };
        match letter {
            Some(direction) => {
                let between = if direction == self.last { direction } else { paragraph };
                self.waiting.drain(..).for_each(|step| write(step, between));
                self.last = direction;
                write(step, direction);
            }
            None if self.last == paragraph => write(step, paragraph),
            None => {
                self.waiting.push(step);
                if self.waiting.len() > MOST_WAITING {
                    self.last = paragraph;
                    self.waiting.drain(..).for_each(|step| write(step, paragraph));
                }
            }
        }
    }

    /// Ends the paragraph; returns `true` if it goes from right to left.
    pub fn finish(&mut self, mut write: impl FnMut(TrackedStep, bool)) -> bool {
        let paragraph = self.paragraph.take().unwrap_or_default();
        self.waiting.drain(..).for_each(|step| write(step, paragraph));
        self.last = false;
        paragraph
    }
}

/// Returns the direction of a letter, `true` from right to left; `None` for everything else.
fn letter_direction(step: &TrackedStep) -> Option<bool> {
    let TrackedStep::Glyph(FlowItem::Char(c, _), _) = step else { return None };
    if c.is_ascii() {
        return c.is_ascii_alphabetic().then_some(false);
    }
    let is_from_right = matches!(c,
        '\u{590}'..='\u{8ff}' | '\u{200f}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefe}'
        | '\u{10800}'..='\u{10fff}' | '\u{1e800}'..='\u{1efff}');
    (c.is_alphabetic() || *c == '\u{200f}').then_some(is_from_right)
}

#[cfg(test)]
mod tests {
    use super::super::flow::CharStyle;
    use super::super::steps::RevisionMark;
    use super::*;

    /// The text in pieces of one direction, `<` before those from right to left, and the
    /// paragraph's direction behind them.
    fn directed(text: &str) -> String {
        let (mut direction, mut out) = (ParagraphDirection::default(), String::new());
        let mut before = None;
        let mut write = |step, from_right| {
            let TrackedStep::Glyph(FlowItem::Char(c, _), _) = step else { return };
            if before.replace(from_right) != Some(from_right) {
                out.push(if from_right { '<' } else { '>' });
            }
            out.push(c);
        };
        for c in text.chars() {
            let glyph = FlowItem::Char(c, CharStyle::default());
            direction.step(TrackedStep::Glyph(glyph, RevisionMark::Stays), &mut write);
        }
        let paragraph = direction.finish(write);
        out.push(if paragraph { '<' } else { '>' });
        out
    }

    #[test]
    fn the_first_letter_decides_and_signs_go_with_their_neighbours() {
        for (text, directions) in [
            ("Hello.", ">Hello.>"),
            ("(1) שלום!", "<(1) שלום!<"),
            ("a שלום עולם b", ">a <שלום עולם> b>"),
            ("של Hello World. עו", "<של >Hello World<. עו<"),
            ("مرحبا (2024)", "<مرحبا (2024)<"),
            ("12 - 3", ">12 - 3>"),
            ("漢字 של", ">漢字 <של>"),
            ("", ">"),
        ] {
            assert_eq!(directed(text), directions, "{text}");
        }
    }

    #[test]
    fn signs_without_letters_do_not_wait_for_ever() {
        let text = "-".repeat(3 * MOST_WAITING);
        assert_eq!(directed(&format!("{text}ש")).chars().last(), Some('>'));
    }
}
