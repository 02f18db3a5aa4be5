//! Marks changes that add invisible characters, because people decide by what they see. Pure.

use crate::approvals::PreviewWarning;

/// Returns a warning if `new` has more invisible characters than `old`.
pub fn warning(old: &str, new: &str) -> Option<PreviewWarning> {
    let added = count(new).saturating_sub(count(old));
    let characters = if added == 1 { "character" } else { "characters" };
    (added > 0).then(|| PreviewWarning {
        code: "unseen_characters".into(),
        text: format!(
            "Adds {added} {characters} that cannot be seen (zero-width, direction marks or tags)."
        ),
    })
}

fn count(text: &str) -> usize {
    // Compilers vectorize this check (16 bytes at a time); most texts need no other.
    if text.is_ascii() {
        return 0;
    }
    text.chars().filter(|&c| is_unseen(c)).count()
}

/// Returns `true` for an invisible character. Joiners do not count: emoji and several scripts need
/// them.
fn is_unseen(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_added_unseen_is_told() {
        let text = |old, new| warning(old, new).map(|it| it.text);
        assert_eq!(text("a", "b"), None);
        assert_eq!(text("👩", "👩\u{200d}🚀"), None);
        let one = "Adds 1 character that cannot be seen (zero-width, direction marks or tags).";
        assert_eq!(text("a\u{200b}", "a\u{200b}\u{202e}").as_deref(), Some(one));
        assert_eq!(text("a\u{200b}", "a"), None, "taking some out is welcome");
        assert!(
            text("", "\u{e0041}\u{e0042}").is_some_and(|it| it.starts_with("Adds 2 characters"))
        );
    }
}
