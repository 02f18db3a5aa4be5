//! Finds the words that a person selected, even if people typed in the meantime.

use std::sync::Arc;

use copydesk_document::{InsertSide, Update};
use copydesk_rooms::command::DocumentSnapshot;
use copydesk_tools::EditableRange;

use crate::SelectedRange;

/// Returns the present range of the selected words, in UTF-16 units; `None` if they are not in the
/// document any more. Without remembered words the range itself must be one of the document.
pub fn locate(document: &DocumentSnapshot, selected: &SelectedRange) -> Option<(usize, usize)> {
    let SelectedRange { start, end, ref text } = *selected;
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

/// Maps a range through `updates`. Accepted changes of the AI at its edges become part of it; text
/// that people type there stays outside.
pub fn follow<'a>(
    (mut start, mut end): (usize, usize),
    updates: impl IntoIterator<Item = &'a Arc<Update>>,
) -> Option<(usize, usize)> {
    for update in updates {
        let change = update.change_set().ok()?;
        let (left, right) = match update.origin {
            Some(_) => (InsertSide::Before, InsertSide::After),
            None => (InsertSide::After, InsertSide::Before),
        };
        start = change.map_pos(start, left);
        end = change.map_pos(end, right).max(start);
    }
    Some((start, end))
}

/// Returns the part of the document that calls may change; `found` is where the selection is now.
pub fn allowed(selected: Option<&SelectedRange>, found: Option<(usize, usize)>) -> EditableRange {
    match (selected.filter(|selected| !selected.is_caret()), found) {
        (None, _) => EditableRange::Everything,
        (Some(_), Some((start, end))) => EditableRange::Only(start, end),
        (Some(_), None) => EditableRange::Nothing,
    }
}

/// Returns the occurrence of `words` that begins nearest to `start`.
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
    use copydesk_tools::model_notes::reading;

    fn found(text: &str, start: usize, end: usize, words: Option<&str>) -> Option<(usize, usize)> {
        let selected = SelectedRange { start, end, text: words.map(str::to_owned) };
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

    fn update(changes: &str, origin: Option<&str>) -> Arc<Update> {
        let origin = origin.map(Into::into);
        Arc::new(Update { client: "c".into(), changes: changes.into(), origin })
    }

    #[test]
    fn a_selection_follows_its_words_and_what_the_ai_made_of_them() {
        let typed_at_its_start = update(r#"[4,[0,"x"],9]"#, None);
        assert_eq!(follow((4, 7), [&typed_at_its_start]), Some((5, 8)));
        let typed_at_its_end = update(r#"[7,[0,"x"],6]"#, None);
        assert_eq!(follow((4, 7), [&typed_at_its_end]), Some((4, 7)));
        let rewritten = update(r#"[4,[3,"zwei"],6]"#, Some("req"));
        assert_eq!(follow((4, 7), [&rewritten]), Some((4, 8)));
        let both = [&typed_at_its_start, &update(r#"[5,[3,"zwei"],6]"#, Some("req"))];
        assert_eq!(follow((4, 7), both), Some((5, 9)));
        let deleted = update("[2,[7],4]", None);
        assert_eq!(follow((4, 7), [&deleted]), Some((2, 2)));
    }

    #[test]
    fn only_a_selection_of_words_forbids_anything() {
        let selected = |start, end| SelectedRange { start, end, text: None };
        assert_eq!(allowed(None, None), EditableRange::Everything);
        assert_eq!(allowed(Some(&selected(4, 4)), None), EditableRange::Everything);
        assert_eq!(allowed(Some(&selected(4, 7)), Some((5, 8))), EditableRange::Only(5, 8));
        assert_eq!(allowed(Some(&selected(4, 7)), None), EditableRange::Nothing);
    }

    #[test]
    fn words_that_are_gone_are_not_found() {
        assert_eq!(found("one two", 4, 7, Some("three")), None);
    }
}
