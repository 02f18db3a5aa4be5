//! Texts of a load test, in ASCII: first texts, typed ones, and what must be there at the end.

const SENTENCE: &str = "The lamp was lit at dusk, and nobody had asked why it burned. ";

/// Returns the text of a new document: prose, a line for each reviewer, and a line for each writer.
pub(super) fn new_text(length: usize, writers: u32, reviewers: u32) -> String {
    let mut text: String = SENTENCE.chars().cycle().take(length).collect();
    for number in 0..reviewers {
        text += &sentence_of_reviewer(number, 0);
    }
    for number in 0..writers {
        text += &writer_mark(number);
    }
    text
}

/// Returns the beginning of the line in which a writer types.
pub(super) fn writer_mark(number: u32) -> String {
    format!("\n[writer {number}] ")
}

/// Returns the letter that a writer types after `typed` others.
pub(super) fn letter(typed: usize) -> char {
    char::from(SENTENCE.as_bytes()[typed % SENTENCE.len()])
}

/// Returns the sentence of a reviewer's line after so many decisions.
pub(super) fn sentence_of_reviewer(number: u32, decisions: usize) -> String {
    let word = if decisions.is_multiple_of(2) { "dark" } else { "bright" };
    format!("\n[reviewer {number}] Lamp {number} is {word}.")
}

/// Returns the number of a writer's acknowledged letters that are not in the text as typed.
pub(super) fn lost_letters(text: &str, number: u32, acknowledged: usize) -> usize {
    let mark = writer_mark(number);
    let line =
        text.split_once(&mark).map_or("", |(_, rest)| rest.split('\n').next().unwrap_or(rest));
    let typed = (0..acknowledged).map(letter);
    let kept_first = line.chars().zip(typed.clone()).take_while(|(a, b)| a == b).count();
    let rest = line[kept_first..].chars().rev().zip(typed.skip(kept_first).rev());
    acknowledged - kept_first - rest.take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_letter_that_is_not_there_as_typed_counts_as_lost() {
        let typed = |count: usize| (0..count).map(letter).collect::<String>();
        let text = |line: &str| {
            new_text(100, 2, 1).replace("\n[writer 1] ", &format!("\n[writer 1] {line}\n"))
        };
        assert_eq!(lost_letters(&text(&typed(90)), 1, 90), 0);
        assert_eq!(lost_letters(&text(""), 1, 90), 90);
        let mut line = typed(90);
        line.replace_range(10..13, "");
        assert_eq!(lost_letters(&text(&line), 1, 90), 3);
        assert_eq!(lost_letters(&typed(90), 0, 90), 90, "the line itself is gone");
        assert_eq!(lost_letters(&text(&typed(90)), 0, 0), 0);
    }

    #[test]
    fn each_reviewer_has_a_sentence_of_their_own_that_changes_there_and_back() {
        let text = new_text(10, 1, 2);
        assert!(
            text.starts_with("The lamp w\n[reviewer 0] Lamp 0 is dark.\n[reviewer 1]"),
            "{text}"
        );
        assert_ne!(sentence_of_reviewer(1, 0), sentence_of_reviewer(1, 1));
        assert_eq!(sentence_of_reviewer(1, 0), sentence_of_reviewer(1, 2));
    }
}
