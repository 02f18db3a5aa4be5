//! Titles of documents.

/// Length of the longest title, in characters.
pub const LONGEST_TITLE: usize = 200;

/// Returns a title as it is stored: trimmed, on one line, not too long; `None` if none is left.
pub(super) fn stored_title(wanted: &str) -> Option<String> {
    let title: String =
        wanted.trim().chars().filter(|c| !c.is_control()).take(LONGEST_TITLE).collect();
    (!title.is_empty()).then_some(title)
}
