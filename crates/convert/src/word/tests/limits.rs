//! Files that are no Word documents, damaged ones, and those that would take too much.

use std::io::{Cursor, Write as _};

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::super::WordError;
use super::super::document::WordDocument;
use super::super::package::Package;
use super::{Docx, from_word, p, r, zipped};

#[test]
fn other_files_are_refused_in_words() {
    let zip = |name: &str| zipped(&[(name.to_owned(), "<x/>".to_owned())]);
    for (bytes, error) in [
        (b"".to_vec(), WordError::NotWord),
        (b"Only words.".to_vec(), WordError::NotWord),
        (zip("other.txt"), WordError::NotWord),
        (zip("word/document.xml"), WordError::NotWord),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1old".to_vec(), WordError::OldOrEncrypted),
        (
            b"{\\rtf1 words}".to_vec(),
            WordError::OtherFormat("a document in Rich Text Format (.rtf)"),
        ),
        (b"%PDF-1.7".to_vec(), WordError::OtherFormat("a PDF document")),
        (zip("xl/workbook.xml"), WordError::OtherFormat("a spreadsheet (.xlsx)")),
    ] {
        assert_eq!(from_word(&bytes), Err(error));
    }
    let mut odt = Docx::default().files();
    odt[0].0 = "content.xml".to_owned();
    odt.push(("META-INF/manifest.xml".to_owned(), String::new()));
    assert!(from_word(&zipped(&odt)).unwrap_err().to_string().contains(".odt"));
}

#[test]
fn damaged_files_are_refused_and_never_end_the_reader() {
    let whole = Docx::new(p(r("words"))).bytes();
    for end in (0..whole.len()).step_by(7) {
        assert!(from_word(&whole[..end]).is_err(), "cut at {end}");
    }
    for xml in [
        "<w:document",
        "<w:document><w:body></w:document>",
        "<w:document><w:p>&what;</w:p></w:document>",
        "</w:p>",
    ] {
        let bytes = zipped(&[("word/document.xml".to_owned(), xml.to_owned())]);
        assert!(from_word(&bytes).is_err(), "{xml}");
    }
}

#[test]
fn document_types_are_refused() {
    for declared in
        ["<!DOCTYPE w [<!ENTITY a \"aaaa\">]>", "<!DOCTYPE w SYSTEM \"http://a.example/x.dtd\">"]
    {
        let xml = format!("{declared}<w:document><w:body/></w:document>");
        let bytes = zipped(&[("word/document.xml".to_owned(), xml)]);
        assert_eq!(from_word(&bytes), Err(WordError::DocumentType));
    }
}

#[test]
fn depth_parts_and_sizes_are_bounded() {
    let nested = |depth: usize| {
        Docx::new("<w:sdt>".repeat(depth) + &p(r("deep")) + &"</w:sdt>".repeat(depth))
    };
    assert_eq!(nested(240).markdown(), "deep");
    for depth in [256, 100_000] {
        assert_eq!(from_word(&nested(depth).bytes()), Err(WordError::TooDeep));
    }
    let mut many = Docx::new(p(r("words"))).files();
    many.extend((0..2_000).map(|number| (format!("word/media/{number}"), String::new())));
    assert_eq!(from_word(&zipped(&many)), Err(WordError::TooManyParts));
    let mut large = b"PK".to_vec();
    large.resize((32 << 20) + 1, 0);
    assert_eq!(from_word(&large), Err(WordError::TooLarge));
}

#[test]
fn what_is_unpacked_is_counted_as_it_is_unpacked() {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    zip.start_file("word/document.xml", SimpleFileOptions::default()).unwrap();
    zip.write_all(b"<w:document><w:body><w:p><w:r><w:t>").unwrap();
    zip.write_all(&vec![b'a'; 1 << 20]).unwrap();
    zip.write_all(b"</w:t></w:r></w:p></w:body></w:document>").unwrap();
    let bytes = zip.finish().unwrap().into_inner();
    assert!(bytes.len() < 1 << 14);
    let within =
        |limit| WordDocument::read(&mut Package::open_within(&bytes, limit).unwrap()).err();
    assert_eq!(within(2 << 20), None);
    assert_eq!(within(1 << 20), Some(WordError::TooLargeUnpacked));
    // Pictures are not unpacked, however large they are.
    let mut files = Docx::new(p(r("words"))).files();
    files.push(("word/media/a.png".to_owned(), "a".repeat(1 << 20)));
    let bytes = zipped(&files);
    let mut package = Package::open_within(&bytes, 1 << 16).unwrap();
    assert!(WordDocument::read(&mut package).is_ok());
}

#[test]
fn strict_documents_and_undeclared_prefixes_are_read() {
    let strict = "<x:document xmlns:x=\"http://purl.oclc.org/ooxml/wordprocessingml/main\"><x:body><x:p><x:r><x:t>strict</x:t></x:r></x:p></x:body></x:document>";
    let undeclared =
        "<w:document><w:body><w:p><w:r><w:t>strict</w:t></w:r></w:p></w:body></w:document>";
    for xml in [strict, undeclared] {
        let bytes = zipped(&[("word/document.xml".to_owned(), xml.to_owned())]);
        assert_eq!(from_word(&bytes).unwrap().markdown, "strict");
    }
}
