//! Text inside XML: escaped, and without the characters that XML cannot represent.

/// First line of every part.
pub(super) const HEAD: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n";
/// Declaration of the namespace of most elements.
pub(super) const WORD: &str =
    "xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\"";

/// Escapes text or the value of an attribute.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        escape_into(c, &mut out);
    }
    out
}

/// Appends one character, escaped.
pub(super) fn escape_into(c: char, out: &mut String) {
    match c {
        '&' => out.push_str("&amp;"),
        '<' => out.push_str("&lt;"),
        '>' => out.push_str("&gt;"),
        '"' => out.push_str("&quot;"),
        c if is_allowed(c) => out.push(c),
        _ => {}
    }
}

/// Returns `true` for a character that a file may contain (XML 1.0 §2.2). `char` has no surrogates;
/// carriage returns would be read as line breaks.
fn is_allowed(c: char) -> bool {
    matches!(c, '\t' | '\n' | ' '..='\u{fffd}' | '\u{10000}'..='\u{10ffff}')
        && !matches!(c, '\u{7f}'..='\u{9f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_escaped_and_what_xml_forbids_is_left_out() {
        assert_eq!(
            escape("a<b>&\"c\"\u{0}\u{b}\u{1f}\u{fffe}\u{ffff}\r\u{85}d"),
            "a&lt;b&gt;&amp;&quot;c&quot;d"
        );
        assert_eq!(escape("👩\u{200d}🚀\t\n"), "👩\u{200d}🚀\t\n");
    }
}
