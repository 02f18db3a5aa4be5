//! Files of documents: their kinds, and their content as Markdown.

use std::io::Cursor;

use comrak::nodes::NodeValue;
use comrak::{Arena, Options, parse_document};
use zip::ZipArchive;

use crate::encoding::{DecodedText, decode};
use crate::{Converted, WordError, from_html, from_word};

/// Maximum entries of a ZIP file that is looked into.
const MOST_ENTRIES: u16 = 2_000;
/// Length of the beginning of a page in which its encoding is looked for, in bytes.
const HEAD: usize = 4 * 1024;
/// Maximum length of a title that is looked for in a text, in bytes.
const LONGEST_TITLE_LINE: usize = 4 * 1024;
/// Memory that reading takes for each byte of a Word file's XML, of HTML and of text.
const WORD_FACTOR: usize = 4;
const HTML_FACTOR: usize = 12;
const TEXT_FACTOR: usize = 4;

/// File as it was sent.
#[derive(Clone, Copy, Debug, Default)]
pub struct SourceFile<'a> {
    /// Content.
    pub bytes: &'a [u8],
    /// Name with its extension; empty if it is not known.
    pub name: &'a str,
    /// Content type, with its parameters; empty if it is not known.
    pub content_type: &'a str,
}

/// Kind of a file, which says how it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// Word document.
    Word,
    /// Page of HTML.
    Html,
    /// Markdown or plain text, which stays as it is.
    Text,
}

/// Reason why a file could not be read, in words for the person who imports it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FileError {
    /// The Word document could not be read.
    #[error(transparent)]
    Word(#[from] WordError),
    /// The bytes are no text.
    #[error(
        "this file holds no text; Markdown, plain text, HTML and Word documents (.docx) can be imported"
    )]
    NoText,
    /// The bytes are text of an encoding that nothing tells.
    #[error("the encoding of this file cannot be recognised; save it as UTF-8")]
    UnknownEncoding,
    /// The file is of a known kind that is not read.
    #[error(
        "{0} cannot be imported; save it as a Word document (.docx), HTML, Markdown or plain text"
    )]
    OtherKind(&'static str),
}

impl FileKind {
    /// Returns the kind of files of a content type, without regard to its parameters.
    pub fn of_content_type(content_type: &str) -> Option<Self> {
        let essence = content_type.split(';').next().unwrap_or_default().trim();
        match essence.to_ascii_lowercase().as_str() {
            "application/vnd.openxmlformats-officedocument.wordprocessingml.document" => {
                Some(Self::Word)
            }
            "text/html" | "application/xhtml+xml" => Some(Self::Html),
            "text/markdown" | "text/x-markdown" | "text/plain" => Some(Self::Text),
            _ => None,
        }
    }
}

impl SourceFile<'_> {
    /// Returns the kind of the file: by its first bytes if they are a Word document's, else by the
    /// extension of its name, else by its content type, else by how its text begins.
    pub fn kind(&self) -> Result<FileKind, FileError> {
        if let Some(other) = other_kind(self.bytes) {
            return Err(FileError::OtherKind(other));
        }
        // Its reader also names the containers that are no Word document of today.
        if [b"PK\x03\x04", b"\xd0\xcf\x11\xe0"].iter().any(|it| self.bytes.starts_with(*it)) {
            return Ok(FileKind::Word);
        }
        let (_, extension) = self.name.rsplit_once('.').unwrap_or_default();
        let named = match extension.to_ascii_lowercase().as_str() {
            "docx" => Some(FileKind::Word),
            "html" | "htm" | "xhtml" => Some(FileKind::Html),
            "md" | "markdown" | "txt" | "text" => Some(FileKind::Text),
            _ => None,
        };
        let typed = || FileKind::of_content_type(self.content_type);
        let begins = || if is_page(self.bytes) { FileKind::Html } else { FileKind::Text };
        Ok(named.or_else(typed).unwrap_or_else(begins))
    }

    /// Estimates the memory that reading the file takes, in bytes.
    pub fn memory_estimate(&self) -> usize {
        let length = self.bytes.len();
        match self.kind() {
            Ok(FileKind::Word) => length.saturating_add(xml_size(self.bytes) * WORD_FACTOR),
            Ok(FileKind::Html) => length * HTML_FACTOR,
            Ok(FileKind::Text) | Err(_) => length * TEXT_FACTOR,
        }
    }

    /// Reads the file. Its title is the one that the text itself begins with, in its front matter
    /// or as a heading; else the one in the properties of the file; else the name of the file.
    pub fn read(&self) -> Result<Converted, FileError> {
        let mut read = match self.kind()? {
            FileKind::Word => from_word(self.bytes)?,
            FileKind::Html => {
                let declared = self.charset().or_else(|| page_charset(self.bytes));
                let page = decode(self.bytes, declared.as_deref())?;
                noting(&page, from_html(&page.text))
            }
            FileKind::Text => {
                let text = decode(self.bytes, self.charset().as_deref())?;
                noting(&text, Converted { markdown: text.text.clone(), ..Converted::default() })
            }
        };
        let named = || Some(stem(self.name).to_owned()).filter(|name| !name.is_empty());
        read.title = text_title(&read.markdown).or(read.title).or_else(named);
        Ok(read)
    }

    /// Returns the encoding that the content type names.
    fn charset(&self) -> Option<String> {
        let mut parameters = self.content_type.split(';').skip(1);
        let charset = parameters.find_map(|it| {
            let (name, value) = it.split_once('=')?;
            name.trim().eq_ignore_ascii_case("charset").then_some(value)
        })?;
        Some(charset.trim().trim_matches('"').to_owned())
    }
}

/// Returns what was read, with a note if only the bytes spoke for the encoding.
fn noting(text: &DecodedText, mut read: Converted) -> Converted {
    if let Some(encoding) = text.guessed {
        read.report.decide(&format!("text read as {encoding}"));
    }
    read
}

/// Returns the name of a kind of file that is not read.
fn other_kind(bytes: &[u8]) -> Option<&'static str> {
    let kinds: [(&[u8], &str); 2] = [(b"%PDF-", "a PDF file"), (br"{\rtf", "an RTF file")];
    kinds.into_iter().find_map(|(beginning, name)| bytes.starts_with(beginning).then_some(name))
}

/// Returns `true` for bytes that begin as a page of HTML does, in an encoding that has ASCII.
fn is_page(bytes: &[u8]) -> bool {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
    let begins = |with: &str| {
        bytes.get(..with.len()).is_some_and(|it| it.eq_ignore_ascii_case(with.as_bytes()))
    };
    begins("<!doctype html") || begins("<html")
}

/// Returns the encoding that a page names in its head.
fn page_charset(bytes: &[u8]) -> Option<String> {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(HEAD)]).to_ascii_lowercase();
    let mut metas = head.split("<meta").skip(1).filter_map(|it| it.split('>').next());
    let value = metas.find_map(|meta| meta.split_once("charset").map(|(_, value)| value))?;
    let value = value.trim_start().strip_prefix('=')?.trim_start().trim_start_matches(['"', '\'']);
    let end = value.find(|sign: char| !sign.is_ascii_alphanumeric() && !"-_:.".contains(sign));
    Some(value[..end.unwrap_or(value.len())].to_owned()).filter(|label| !label.is_empty())
}

/// Returns the size of the XML in a ZIP file, as its directory says, in bytes; 0 for other files.
fn xml_size(bytes: &[u8]) -> usize {
    let end = bytes.windows(4).rposition(|it| it == b"PK\x05\x06");
    let count = end.and_then(|at| bytes.get(at + 10..at + 12)).map(|it| [it[0], it[1]]);
    if count.map(u16::from_le_bytes).is_none_or(|count| count > MOST_ENTRIES) {
        return 0;
    }
    let Ok(mut archive) = ZipArchive::new(Cursor::new(bytes)) else { return 0 };
    let sizes = (0..archive.len()).filter_map(|index| {
        let entry = archive.by_index_raw(index).ok()?;
        let is_xml = [".xml", ".rels"].iter().any(|end| entry.name().ends_with(end));
        is_xml.then(|| usize::try_from(entry.size()).unwrap_or(usize::MAX / WORD_FACTOR))
    });
    sizes.fold(0, usize::saturating_add).min(usize::MAX / WORD_FACTOR)
}

/// Returns the name of a file without folders and extension.
fn stem(name: &str) -> &str {
    let name = name.rsplit(['/', '\\']).next().unwrap_or(name);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

/// Returns the title that a text begins with: that of its front matter, or its first heading.
fn text_title(markdown: &str) -> Option<String> {
    let (front, rest) = front_matter(markdown);
    let title = front.lines().find_map(|line| line.strip_prefix("title:"));
    let title = title.map(|it| it.trim().trim_matches(['"', '\'']).trim().to_owned());
    if let Some(title) = title.filter(|title| !title.is_empty()) {
        return Some(title);
    }
    let line = rest.trim_start().lines().next()?;
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    if !(1..=6).contains(&level) || line.len() > LONGEST_TITLE_LINE {
        return None;
    }
    Some(shown_words(line)).filter(|title| !title.is_empty())
}

/// Returns the front matter of a text, and the rest.
fn front_matter(markdown: &str) -> (&str, &str) {
    let inside = markdown.strip_prefix("---\n");
    let found = inside.and_then(|inside| Some((inside, inside.find("\n---\n")?)));
    found.map_or(("", markdown), |(inside, end)| (&inside[..end], &inside[end + 5..]))
}

/// Returns the words that a heading shows.
fn shown_words(heading: &str) -> String {
    let arena = Arena::new();
    let root = parse_document(&arena, heading, &Options::default());
    let is_heading = root
        .first_child()
        .is_some_and(|it| matches!(it.data.borrow().value, NodeValue::Heading(_)));
    if !is_heading {
        return String::new();
    }
    let words = root.descendants().filter_map(|node| match &node.data.borrow().value {
        NodeValue::Text(text) => Some(text.to_string()),
        NodeValue::Code(code) => Some(code.literal.clone()),
        _ => None,
    });
    words.collect::<String>().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file<'a>(bytes: &'a [u8], name: &'a str, content_type: &'a str) -> SourceFile<'a> {
        SourceFile { bytes, name, content_type }
    }

    #[test]
    fn the_kind_is_told_by_bytes_then_name_then_type_then_beginning() {
        let octets = "application/octet-stream";
        let cases = [
            (file(b"PK\x03\x04 and more", "letter.txt", ""), FileKind::Word),
            (file(b"words", "letter.DOCX", octets), FileKind::Word),
            (file(b"words", "page.htm", "text/plain"), FileKind::Html),
            (file(b"<html>", "page.md", "text/html"), FileKind::Text),
            (file(b"words", "", "text/HTML; charset=utf-8"), FileKind::Html),
            (file(b"words", "notes", octets), FileKind::Text),
            (file(b"\xef\xbb\xbf\n <!DOCTYPE html><p>", "", ""), FileKind::Html),
            (file(b"", "", ""), FileKind::Text),
        ];
        for (file, kind) in cases {
            assert_eq!(file.kind(), Ok(kind), "{file:?}");
        }
    }

    #[test]
    fn other_kinds_are_named() {
        for (bytes, name) in [
            (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", ".doc"),
            (b"%PDF-1.7", "PDF"),
            (b"{\\rtf1 x", "RTF"),
        ] {
            let refused = file(bytes, "letter.docx", "").read().unwrap_err().to_string();
            assert!(refused.contains(name), "{refused}");
        }
    }

    #[test]
    fn a_text_stays_as_it_is_but_for_its_line_ends() {
        let text =
            b"---\r\ntitle: \"The *keeper*\"\r\ntags: [a]\r\n---\r\n\r\n# Other\r\n\r\n* oil \r\n";
        let read = file(text, "notes.md", "").read().unwrap();
        assert_eq!(
            read.markdown,
            "---\ntitle: \"The *keeper*\"\ntags: [a]\n---\n\n# Other\n\n* oil \n"
        );
        assert_eq!(read.title.as_deref(), Some("The *keeper*"));
        assert!(read.report.is_empty());
    }

    #[test]
    fn a_title_is_the_first_heading_or_the_name_of_the_file() {
        let title = |text: &str, name| file(text.as_bytes(), name, "").read().unwrap().title;
        assert_eq!(title("\n## The **lamp** `x` ##\ntext", "a.md").as_deref(), Some("The lamp x"));
        assert_eq!(title("#no heading", "my notes.md").as_deref(), Some("my notes"));
        assert_eq!(title("words\n# later", "C:\\texts\\a.b.txt").as_deref(), Some("a.b"));
        assert_eq!(title("words", ""), None);
    }

    #[test]
    fn a_page_names_its_encoding() {
        for head in [
            "<meta charset=windows-1251>",
            "<META http-equiv='Content-Type' content='text/html; charset=windows-1251'>",
            "<meta name=x><meta charset = \"Windows-1251\" />",
        ] {
            assert_eq!(page_charset(head.as_bytes()).as_deref(), Some("windows-1251"), "{head}");
        }
        assert_eq!(page_charset(b"<p>charset=koi8-r</p>"), None);
        let typed = file(b"", "", "text/html; charset=\"koi8-r\"");
        assert_eq!(typed.charset().as_deref(), Some("koi8-r"));
    }

    #[test]
    fn a_guess_is_told() {
        let read = file(b"caf\xe9", "a.txt", "").read().unwrap();
        assert_eq!(read.markdown, "café");
        assert_eq!(read.report.decided[0].kind, "text read as Windows-1252");
    }
}
