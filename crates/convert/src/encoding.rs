//! Encoding of a text file: found by its byte order mark, by what the file or its sender says, or
//! by its bytes.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

use crate::FileError;

/// Share of the letters outside of ASCII that may stand beside another one in Western text.
const MOST_NEIGHBOURS: f64 = 0.4;

/// Text of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DecodedText {
    /// Characters, without a byte order mark, with `\n` as line end.
    pub(crate) text: String,
    /// Name of the encoding, if only the bytes spoke for it.
    pub(crate) guessed: Option<&'static str>,
}

/// Returns the text of a file. `declared` is the encoding that the file or its sender names.
///
/// # Errors
/// [`FileError::NoText`] for bytes that are no text, [`FileError::UnknownEncoding`] for text of an
/// encoding that the bytes do not show.
pub(crate) fn decode(bytes: &[u8], declared: Option<&str>) -> Result<DecodedText, FileError> {
    let known = |text: String| DecodedText { text: with_line_feeds(text), guessed: None };
    if let Some((encoding, mark)) = Encoding::for_bom(bytes) {
        return strictly(encoding, &bytes[mark..]).map(known).ok_or(FileError::UnknownEncoding);
    }
    if bytes.contains(&0) {
        let encoding = utf_16(bytes).ok_or(FileError::NoText)?;
        let text = strictly(encoding, bytes).filter(|text| !has_controls(text));
        let text = text.ok_or(FileError::NoText)?;
        return Ok(DecodedText { guessed: Some(encoding.name()), ..known(text) });
    }
    if let Some(text) = strictly(UTF_8, bytes) {
        return Ok(known(text));
    }
    let declared = declared.and_then(|label| Encoding::for_label(label.trim().as_bytes()));
    if let Some(text) = declared.and_then(|encoding| strictly(encoding, bytes)) {
        return Ok(known(text));
    }
    if !is_western(bytes) {
        return Err(FileError::UnknownEncoding);
    }
    let text = strictly(WINDOWS_1252, bytes).ok_or(FileError::UnknownEncoding)?;
    Ok(DecodedText { guessed: Some("Windows-1252"), ..known(text) })
}

/// Decodes bytes that are valid in an encoding.
fn strictly(encoding: &'static Encoding, bytes: &[u8]) -> Option<String> {
    let text = encoding.decode_without_bom_handling_and_without_replacement(bytes)?;
    (!text.contains('\0')).then(|| text.into_owned())
}

/// Returns the UTF-16 encoding of text without a byte order mark: most of its characters have an
/// empty high byte, or at least its blanks and line ends do.
fn utf_16(bytes: &[u8]) -> Option<&'static Encoding> {
    if !bytes.len().is_multiple_of(2) {
        return None;
    }
    let empty = |first: usize| bytes.iter().skip(first).step_by(2).filter(|it| **it == 0).count();
    match (empty(0), empty(1)) {
        (even, odd) if odd > 4 * even => Some(UTF_16LE),
        (even, odd) if even > 4 * odd => Some(UTF_16BE),
        _ => None,
    }
}

fn has_controls(text: &str) -> bool {
    text.chars().any(|sign| sign.is_control() && !"\t\n\r\u{c}".contains(sign))
}

/// Returns `true` if bytes read as Western text in Windows-1252. Its letters outside of ASCII
/// mostly stand alone between others; those of other alphabets stand together.
fn is_western(bytes: &[u8]) -> bool {
    let is_undefined = |byte: &u8| matches!(byte, 0x81 | 0x8d | 0x8f | 0x90 | 0x9d);
    let is_control = |byte: &u8| *byte < b' ' && !b"\t\n\r\x0c".contains(byte);
    if bytes.iter().any(|byte| is_undefined(byte) || is_control(byte)) {
        return false;
    }
    let is_letter =
        |byte: u8| matches!(byte, 0x8a | 0x8c | 0x8e | 0x9a | 0x9c | 0x9e | 0x9f | 0xc0..=0xff);
    let (mut letters, mut beside) = (0_u32, 0_u32);
    for (at, _) in bytes.iter().enumerate().filter(|(_, byte)| is_letter(**byte)) {
        let before = at.checked_sub(1).is_some_and(|at| is_letter(bytes[at]));
        let after = bytes.get(at + 1).is_some_and(|byte| is_letter(*byte));
        letters += 1;
        beside += u32::from(before || after);
    }
    f64::from(beside) <= f64::from(letters) * MOST_NEIGHBOURS
}

/// Returns a text with `\n` in place of every other line end.
fn with_line_feeds(text: String) -> String {
    if text.contains('\r') { text.replace("\r\n", "\n").replace('\r', "\n") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORDS: &str = "Die Lampe über dem Hafen, “déjà vu”,\nein Öl für 5 €.";

    fn utf_16(text: &str, to_bytes: impl Fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(to_bytes).collect()
    }

    fn read(bytes: &[u8]) -> (String, Option<&'static str>) {
        let DecodedText { text, guessed } = decode(bytes, None).unwrap();
        (text, guessed)
    }

    #[test]
    fn marks_say_what_the_bytes_are() {
        let marked = format!("\u{feff}{WORDS}");
        for bytes in [
            marked.clone().into_bytes(),
            utf_16(&marked, u16::to_le_bytes),
            utf_16(&marked, u16::to_be_bytes),
        ] {
            assert_eq!(read(&bytes), (WORDS.to_owned(), None));
        }
    }

    #[test]
    fn without_a_mark_the_bytes_themselves_tell() {
        assert_eq!(read(WORDS.as_bytes()), (WORDS.to_owned(), None));
        for text in [WORDS, "灯塔 の 光\n港 は 暗い\n"] {
            let (little, big) = (utf_16(text, u16::to_le_bytes), utf_16(text, u16::to_be_bytes));
            assert_eq!(read(&little), (text.to_owned(), Some("UTF-16LE")));
            assert_eq!(read(&big), (text.to_owned(), Some("UTF-16BE")));
        }
        let (western, _, _) = WINDOWS_1252.encode(WORDS);
        assert_eq!(read(&western), (WORDS.to_owned(), Some("Windows-1252")));
        let (finnish, _, _) = WINDOWS_1252.encode("Hän näki yön, työ jäi pöydälle.");
        assert_eq!(read(&finnish).0, "Hän näki yön, työ jäi pöydälle.");
    }

    #[test]
    fn other_alphabets_need_a_name() {
        for (label, words) in [
            ("windows-1251", "Маяк горел всю ночь."),
            ("koi8-r", "Маяк горел всю ночь."),
            ("shift_jis", "灯台の光は、夜に見える。"),
            ("gbk", "灯塔整夜都亮着。"),
            ("windows-1253", "Ο φάρος έκαιγε όλη νύχτα."),
        ] {
            let encoding = Encoding::for_label(label.as_bytes()).unwrap();
            let (bytes, _, _) = encoding.encode(words);
            assert_eq!(decode(&bytes, None), Err(FileError::UnknownEncoding), "{label}");
            assert_eq!(decode(&bytes, Some(label)).unwrap().text, words, "{label}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_refused() {
        for bytes in [&b"\x00\x01\x02\x03"[..], b"a\0b\0c", b"\x7fELF\x02\x01\x01\0\0\0"] {
            assert_eq!(decode(bytes, None), Err(FileError::NoText), "{bytes:?}");
        }
        assert_eq!(decode(b"\xef\xbb\xbf\xff", None), Err(FileError::UnknownEncoding));
    }

    #[test]
    fn every_line_end_becomes_a_line_feed() {
        assert_eq!(read(b"one\r\ntwo\rthree\nfour\r\r\n").0, "one\ntwo\nthree\nfour\n\n");
    }
}
