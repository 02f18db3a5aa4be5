//! Word's form of each thing that Markdown knows: footnotes, properties, directions, pictures.

use std::cell::RefCell;
use std::io;

use super::super::tests::{manuscript, request};
use super::super::{ExportError, ExportFormat};
use super::body::BodyWriter;
use super::tests::{assert_well_formed, part};
use super::track::track;
use copydesk_interrupt::Interrupt;

fn file(text: &str) -> Vec<u8> {
    manuscript(text, vec![]).export(ExportFormat::Docx).unwrap()
}

fn document(text: &str) -> String {
    let made = part(&file(text), "word/document.xml");
    assert_well_formed(&made);
    made
}

/// The words of each paragraph; `⏎` breaks a line.
fn words(xml: &str) -> Vec<String> {
    let breaks = xml.replace("<w:br/>", "<w:t>⏎</w:t>");
    let paragraphs = breaks.split("<w:p>").skip(1);
    let texts = |paragraph: &str| {
        let runs = paragraph.split("<w:t").skip(1);
        let text = |run: &str| {
            let run = run.split_once('>')?.1.split_once("</w:t>")?.0;
            Some(run.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
        };
        runs.filter_map(text).collect::<String>()
    };
    paragraphs.map(texts).collect()
}

/// File that remembers how it was written.
#[derive(Default)]
struct CountingFile {
    writes: usize,
    largest: usize,
    total: usize,
}

impl io::Write for &mut CountingFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writes += 1;
        self.largest = self.largest.max(bytes.len());
        self.total += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_long_text_is_written_piece_by_piece() {
    for text in [
        "short\n\n".repeat(20_000),
        "| a | b |\n|---|---|\n".to_owned() + &"| c | d |\n".repeat(10_000),
    ] {
        for new in [text.clone(), text.replacen('h', "H", 1)] {
            let marked = manuscript(&text, vec![request(1, "Ana", &text, &new)]).marked().unwrap();
            let (mut file, gone) = (CountingFile::default(), Interrupt::default());
            let writer = BodyWriter::new(&mut file, &marked, &gone);
            track(&marked, &RefCell::default(), writer).unwrap().finish().unwrap();
            assert!(
                file.total > 1_000_000 && file.largest < 64 * 1024,
                "{} of {}",
                file.largest,
                file.total
            );
        }
    }
}

#[test]
fn a_document_that_is_not_wanted_any_more_is_not_finished() {
    let gone = Interrupt::default();
    gone.raise();
    let made = manuscript("Text.", vec![]).export_until(ExportFormat::Docx, &gone);
    assert!(matches!(made, Err(ExportError::Interrupted(_))), "{made:?}");
}

#[test]
fn footnotes_are_footnotes() {
    let made = file(
        "He left.[^1] Then[^long] more[^1].\n\n- item[^l]\n\n[^1]: Ibid.\n\n[^long]: See *that* [x](https://a.example/).\n\n    More.\n\n[^l]: https://b.example/ledger\n",
    );
    let (text, notes) = (part(&made, "word/document.xml"), part(&made, "word/footnotes.xml"));
    assert_well_formed(&text);
    assert_well_formed(&notes);
    for number in 1..=3 {
        assert_eq!(
            text.matches(&format!("<w:footnoteReference w:id=\"{number}\"/>")).count(),
            1,
            "{text}"
        );
        assert_eq!(notes.matches(&format!("<w:footnote w:id=\"{number}\">")).count(), 1, "{notes}");
    }
    assert_eq!(text.matches("NOTEREF _RefNote1").count(), 1, "{text}");
    assert_eq!(notes.matches("<w:footnoteRef/>").count(), 3, "{notes}");
    assert_eq!(words(&text), ["He left. Then more1.", "item"]);
    let shown: Vec<String> = words(&notes).into_iter().filter(|words| !words.is_empty()).collect();
    assert_eq!(shown, [" Ibid.", " See that x.", "More.", " https://b.example/ledger"]);
    assert!(notes.contains("r:id=\"link0\""), "{notes}");
    assert!(part(&made, "word/_rels/footnotes.xml.rels").contains("Target=\"https://a.example/\""));
}

#[test]
fn a_note_without_a_reference_and_a_note_in_a_note_keep_their_words() {
    assert_eq!(words(&document("A.\n\n[^x]: Alone.\n")), ["A.", "[^x]: Alone."]);
    assert_eq!(words(&document("A[^x].\n")), ["A[^x]."]);
    let made = file("A[^x].\n\n[^x]: See[^y].\n\n[^y]: Inner.\n");
    assert_eq!(words(&part(&made, "word/document.xml")), ["A.", "[^y]: Inner."]);
    assert!(part(&made, "word/footnotes.xml").contains("See[^y]."));
}

#[test]
fn changes_in_footnotes_are_tracked() {
    let (old, new) = (
        "Alpha[^x] beta gamma delta epsilon.\n\n[^x]: Old note.\n",
        "Alpha beta gamma delta epsilon[^x].\n\n[^x]: New note.\n",
    );
    let made =
        manuscript(old, vec![request(1, "Ana", old, new)]).export(ExportFormat::Docx).unwrap();
    let (text, notes) = (part(&made, "word/document.xml"), part(&made, "word/footnotes.xml"));
    assert_well_formed(&text);
    assert_well_formed(&notes);
    // What is deleted and what is inserted are footnotes of their own, each with the whole note.
    assert!(text.contains("<w:footnoteReference w:id=\"1\"/></w:r></w:del>"), "{text}");
    assert!(text.contains("<w:footnoteReference w:id=\"2\"/></w:r></w:ins>"), "{text}");
    assert_eq!(
        notes.matches("<w:delText xml:space=\"preserve\">Old</w:delText>").count(),
        2,
        "{notes}"
    );
}

#[test]
fn front_matter_becomes_properties() {
    let made = file(
        "---\ntitle: The <Ledger>\nauthor: Ana\ndate: 2026-11-28\nkeywords: [oil, fog]\nstatus: draft\nStatus: second\n---\n\n# Hello\n",
    );
    let core = part(&made, "docProps/core.xml");
    for element in [
        "<dc:title>The &lt;Ledger&gt;</dc:title>",
        "<dc:creator>Ana</dc:creator>",
        "<cp:keywords>oil, fog</cp:keywords>",
        "<dcterms:created xsi:type=\"dcterms:W3CDTF\">2026-11-28T00:00:00Z</dcterms:created>",
    ] {
        assert!(core.contains(element), "{element}: {core}");
    }
    let custom = part(&made, "docProps/custom.xml");
    assert_eq!(custom.matches("<property ").count(), 1, "{custom}");
    assert!(custom.contains("name=\"status\"><vt:lpwstr>draft</vt:lpwstr>"), "{custom}");
    assert_eq!(words(&part(&made, "word/document.xml")), ["Hello"]);
    // A date that is none is kept as it is.
    let made = file("---\ndate: last Tuesday\n---\nA\n");
    assert!(part(&made, "docProps/custom.xml").contains("last Tuesday"));
    assert!(part(&made, "docProps/core.xml").contains("<dc:title>The &lt;lamp&gt;</dc:title>"));
}

#[test]
fn changes_around_front_matter_are_tracked_where_they_should() {
    let (old, new) = ("---\ntitle: A\n---\n\nOne.\n", "---\ntitle: Long title\n---\n\nOne more.\n");
    let made =
        manuscript(old, vec![request(1, "Ana", old, new)]).export(ExportFormat::Docx).unwrap();
    let text = part(&made, "word/document.xml");
    assert!(text.contains("<w:t xml:space=\"preserve\"> more</w:t></w:r></w:ins>"), "{text}");
    assert!(part(&made, "docProps/core.xml").contains("<dc:title>A</dc:title>"));
}

#[test]
fn comments_are_left_out() {
    let text =
        "A\n\n<!-- secret -->\n\nB <!-- secret --> C\n\n<div>\n<!-- secret\nsecret --> D\n</div>\n";
    assert_eq!(words(&document(text)), ["A", "B  C", "<div>", " D", "</div>"]);
    assert_eq!(words(&document("<!-- open\n\nwords\n")), ["<!-- open", "", "words"]);
}

#[test]
fn paragraphs_from_right_to_left_say_so() {
    let made = document(
        "# כותרת\n\nשלום **עולם** abc 1.\n\nHello שלום.\n\n- פריט\n- item\n\n| א |\n|---|\n| ב |\n",
    );
    let paragraphs: Vec<&str> = made.split("<w:p>").skip(1).collect();
    let bidi: Vec<bool> = paragraphs.iter().map(|text| text.contains("<w:bidi/>")).collect();
    assert_eq!(bidi, [true, true, false, true, false, true, true, false], "{made}");
    assert!(paragraphs[1].contains("<w:b/><w:bCs/><w:rtl/>"), "{}", paragraphs[1]);
    assert!(
        paragraphs[1].contains("<w:r><w:t xml:space=\"preserve\">abc</w:t></w:r>"),
        "{}",
        paragraphs[1]
    );
    assert!(
        paragraphs[2].contains("<w:rPr><w:rtl/></w:rPr><w:t xml:space=\"preserve\">שלום<"),
        "{}",
        paragraphs[2]
    );
    assert_eq!(made.matches("<w:bidiVisual/>").count(), 1);
}

#[test]
fn line_ends_and_breaks_are_what_they_mean() {
    assert_eq!(
        words(&document("天地玄黄\n宇宙。\n\nこれは\n文。\n\nEnglish\nwords.\n")),
        ["天地玄黄宇宙。", "これは文。", "English words."]
    );
    assert_eq!(words(&document("a  \nb\\\nc\nd<br>e\n")), ["a⏎b⏎c d⏎e"]);
    assert_eq!(
        words(&document("| a |\n|---|\n| `x \\| y` one<br>two \\| z |\n")),
        ["a", "x | y one⏎two | z", ""]
    );
}

#[test]
fn pictures_keep_description_and_address() {
    let made = file(
        "![a lamp](https://a.example/p_1.png) ![](https://a.example/q.png) ![map](maps/m.png)",
    );
    let text = part(&made, "word/document.xml");
    assert_eq!(words(&text), ["a lamp https://a.example/q.png map (maps/m.png)"]);
    assert_eq!(text.matches("<w:rStyle w:val=\"PictureLink\"/>").count(), 3, "{text}");
    assert!(
        part(&made, "word/_rels/document.xml.rels")
            .contains("Target=\"https://a.example/p_1.png\"")
    );
}

#[test]
fn tasks_formulas_starts_and_languages_can_be_read_back() {
    assert_eq!(words(&document("- [x] a\n- [ ] b\n")), ["☒ a", "☐ b"]);
    assert_eq!(words(&document("$a_1*b*c_2$ and $$x\ny$$\n")), ["$a_1*b*c_2$ and $$x y$$"]);
    let made = file("7. a\n8. b\n\n```rust\nx\n```\n\n```\ny\n```\n");
    assert!(part(&made, "word/numbering.xml").contains("<w:startOverride w:val=\"7\"/>"));
    assert!(
        part(&made, "word/styles.xml")
            .contains("w:styleId=\"SourceCode1\"><w:name w:val=\"Source Code rust\"/>")
    );
    let text = part(&made, "word/document.xml");
    assert!(text.contains("\"SourceCode1\"") && text.contains("\"SourceCode\""), "{text}");
}

#[test]
fn blocks_in_lists_and_quotations_say_where_they_are() {
    let made = document("- a\n\n  ```\n  code\n  ```\n\n  > said\n\n> > deep\n");
    assert!(made.contains("<w:pStyle w:val=\"SourceCode\"/><w:ind w:left=\"720\"/>"), "{made}");
    assert!(made.contains("<w:pStyle w:val=\"Quote\"/><w:ind w:left=\"1200\"/>"), "{made}");
    assert!(made.contains("<w:pStyle w:val=\"Quote\"/><w:ind w:left=\"960\"/>"), "{made}");
}

#[test]
fn hostile_words_make_no_broken_part() {
    let hostile = "]]> <w:p> &#0; \u{1}\u{8}\u{fffe}\u{feff}\u{202e} <!-- --> \"'&lt; \u{10ffff}";
    let text = format!(
        "---\ntitle: \"{hostile}\"\nodd: {hostile}\n---\n# {hostile}\n\n```{hostile}\n{hostile}\n```\n\nA[^1] [a](<https://a.example/{hostile}>) ![{hostile}](x)\n\n[^1]: {hostile}\n\n|{hostile}|\n|-|\n"
    );
    let made = file(&text);
    for name in [
        "word/document.xml",
        "word/footnotes.xml",
        "word/styles.xml",
        "docProps/core.xml",
        "docProps/custom.xml",
        "word/_rels/document.xml.rels",
    ] {
        let xml = part(&made, name);
        assert!(!xml.contains(['\u{1}', '\u{8}', '\u{fffe}']), "{name}");
        assert_well_formed(&xml);
    }
}
