//! Escaping of text by strangers in titles, names and file names.

/// Longest file name without its extension, in characters.
const LONGEST_STEM: usize = 100;

/// Returns one line without invisible characters and without those that change the direction of the
/// text around them.
pub(super) fn line(text: &str) -> String {
    let line: String = text.chars().map(|c| if c.is_whitespace() { ' ' } else { c }).collect();
    line.chars().filter(|c| !c.is_control() && !is_unseen(*c)).collect::<String>().trim().to_owned()
}

/// Returns a title as the name of a file, without extension.
pub(super) fn file_stem(title: &str) -> String {
    let kept = |c| if "/\\:*?\"<>|".contains(c) { '-' } else { c };
    let kept: String = line(title).chars().map(kept).collect();
    // A leading dot hides a file; one at the end, or a space, is cut off by Windows.
    let edges = |c: char| c == '.' || c == ' ' || c == '~';
    let short: String = kept.trim_matches(edges).chars().take(LONGEST_STEM).collect();
    let short = short.trim_end_matches(edges);
    if short.chars().all(|c| c == '-') { "document".to_owned() } else { short.to_owned() }
}

/// Returns `true` for characters without width: zero-width, bidirectional controls, tags. The
/// joiner of emoji stays.
fn is_unseen(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200c}' | '\u{200e}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_deceive_is_left_out_of_a_line() {
        assert_eq!(line("Ana\u{202e}gpj.exe\u{200b}\n\u{7} B"), "Anagpj.exe  B");
        assert_eq!(line("👩\u{200d}🚀 Ärger"), "👩\u{200d}🚀 Ärger");
    }

    #[test]
    fn a_file_stays_in_its_folder() {
        assert_eq!(file_stem("../../etc/passwd"), "-..-etc-passwd");
        assert_eq!(file_stem("C:\\con<1>|?*"), "C--con-1----");
        assert_eq!(file_stem("  .hidden. "), "hidden");
        assert_eq!(file_stem("The Keeper’s Ledger"), "The Keeper’s Ledger");
        assert_eq!(file_stem(&"é".repeat(300)).chars().count(), 100);
    }

    #[test]
    fn a_title_of_nothing_is_a_document() {
        for title in ["", "   ", "...", "/", "\u{202e}"] {
            assert_eq!(file_stem(title), "document", "{title:?}");
        }
    }
}
