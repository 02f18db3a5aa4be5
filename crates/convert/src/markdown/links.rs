//! Addresses, titles, descriptions of pictures, and labels of notes.

use super::escapes;

/// Returns an address as the destination of a link. Signs that would end it, or that begin code or
/// a formula, are percent-encoded.
pub fn destination(url: &str) -> String {
    let mut made = String::with_capacity(url.len());
    for (at, sign) in url.char_indices() {
        match sign {
            '&' if escapes::is_entity(&url[at..]) => made.push_str("&amp;"),
            '(' | ')' | '<' | '>' | '\\' | '`' | '$' | '|' => percent_encode(sign, &mut made),
            sign if sign.is_whitespace() || sign.is_control() => percent_encode(sign, &mut made),
            sign => made.push(sign),
        }
    }
    made
}

fn percent_encode(sign: char, into: &mut String) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    for byte in sign.encode_utf8(&mut [0; 4]).bytes() {
        into.push('%');
        into.push(char::from(DIGITS[usize::from(byte >> 4)]));
        into.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
}

/// Returns what follows the words of a link: `](address "title")`.
pub fn after_words(url: &str, title: &str) -> String {
    let url = destination(url);
    if title.trim().is_empty() {
        return format!("]({url})");
    }
    let mut quoted = String::with_capacity(title.len());
    for (at, sign) in title.char_indices() {
        match sign {
            '"' | '\\' => quoted.extend(['\\', sign]),
            // Code and formulas can begin in a title and end in the words behind it.
            '`' => quoted.push_str("&#96;"),
            '$' => quoted.push_str("&#36;"),
            '|' => quoted.push_str("&#124;"),
            '<' => quoted.push_str("&lt;"),
            '&' if escapes::is_entity(&title[at..]) => quoted.push_str("&amp;"),
            sign if sign.is_whitespace() || sign.is_control() => quoted.push(' '),
            sign => quoted.push(sign),
        }
    }
    format!("]({url} \"{}\")", quoted.trim())
}

/// Returns a link whose words are its address, `<https://a.example/>`, if it is one.
pub fn as_words(url: &str, words: &str) -> Option<String> {
    let words = words.trim();
    let is_plain = |sign: char| {
        !sign.is_whitespace() && !sign.is_control() && !matches!(sign, '<' | '>' | '|' | '\\' | '&')
    };
    if !words.chars().all(is_plain) {
        return None;
    }
    let is_web = words.starts_with("http://") || words.starts_with("https://");
    let is_mail = url.strip_prefix("mailto:") == Some(words) && is_mail_address(words);
    ((is_web && words == url) || is_mail).then(|| format!("<{words}>"))
}

fn is_mail_address(words: &str) -> bool {
    let is_label = |label: &str| {
        !label.is_empty()
            && label.chars().all(|sign| sign.is_ascii_alphanumeric() || sign == '-')
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.len() <= 63
    };
    words.split_once('@').is_some_and(|(name, host)| {
        !name.is_empty()
            && name.chars().all(|sign| sign.is_ascii_alphanumeric() || ".-_+".contains(sign))
            && host.split('.').all(is_label)
    })
}

/// Returns a picture. Its description is one line.
pub fn picture(url: &str, title: &str, description: &str) -> String {
    format!("![{}{}", escapes::description(description), after_words(url, title))
}

/// Returns a label of a note with the signs that every reader takes.
pub fn note_label(label: &str) -> String {
    label
        .chars()
        .map(|sign| if sign.is_alphanumeric() || sign == '-' || sign == '_' { sign } else { '-' })
        .collect()
}
