//! Finds the words a person selected, also when people typed in the meantime. Pure.

use crate::room::command::Reading;

use super::Selected;

/// Where the selected words are now, in UTF-16 units; `None`: they are not there any more.
///
/// Without remembered words the range itself must be one of the document.
pub fn locate(document: &Reading, selected: &Selected) -> Option<(usize, usize)> {
    let Selected { start, end, ref text } = *selected;
    let there = (start <= end).then(|| document.text.slice(start..end).ok()).flatten();
    let words = text.as_deref().filter(|words| !words.is_empty());
    let words = words.map(|words| words.replace("\r\n", "\n").replace('\r', "\n"));
    match (there, words) {
        (Some(_), None) => Some((start, end)),
        (Some(there), Some(words)) if there == words => Some((start, end)),
        (_, Some(words)) => nearest(&document.text.to_string(), &words, start),
        (None, None) => None,
    }
}

/// The occurrence of `words` that begins nearest to `start`.
fn nearest(text: &str, words: &str, start: usize) -> Option<(usize, usize)> {
    let units = |text: &str| text.chars().map(char::len_utf16).sum::<usize>();
    let mut counted = (0, 0);
    let begins = text.match_indices(words).map(|(at, _)| {
        counted = (at, counted.1 + units(&text[counted.0..at]));
        counted.1
    });
    let begin = begins.min_by_key(|begin| begin.abs_diff(start))?;
    Some((begin, begin + units(words)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::told::reading;

    fn found(text: &str, start: usize, end: usize, words: Option<&str>) -> Option<(usize, usize)> {
        let selected = Selected { start, end, text: words.map(str::to_owned) };
        locate(&reading(text), &selected)
    }

    #[test]
    fn a_selection_without_words_must_be_a_range() {
        assert_eq!(found("a😀b", 1, 3, None), Some((1, 3)));
        for (start, end) in [(0, 5), (3, 1), (0, 2)] {
            assert_eq!(found("a😀b", start, end, None), None);
        }
    }

    #[test]
    fn words_that_moved_are_found_where_they_are_nearest() {
        assert_eq!(found("one two", 4, 7, Some("two")), Some((4, 7)));
        assert_eq!(found("two, 😀 one two", 4, 7, Some("two")), Some((0, 3)));
        assert_eq!(found("two, 😀 one two", 9, 12, Some("two")), Some((12, 15)));
        assert_eq!(found("one\ntwo", 90, 99, Some("one\r\ntwo")), Some((0, 7)));
    }

    #[test]
    fn words_that_are_gone_are_not_found() {
        assert_eq!(found("one two", 4, 7, Some("three")), None);
    }
}
