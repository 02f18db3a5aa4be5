//! Word: what is tracked, what is written, and that both are sound for any text.

use std::cell::RefCell;
use std::io::{Cursor, Read};

use proptest::prelude::*;
use zip::ZipArchive;

use super::super::ExportError;
use super::super::ExportFormat;
use super::super::front_matter::FrontMatter;
use super::super::tests::{any_places, any_text, discussed, is_as_in, lamp, manuscript, request};
use super::flow::{FlowItem, FlowNames, ListKind, Paragraph, ParagraphKind};
use super::reader::FlowReader;
use super::steps::{RevisionMark, StepSink, TrackedStep};
use super::track::track;

/// The part of a Word document with this name.
pub(super) fn part(file: &[u8], name: &str) -> String {
    let mut zip = ZipArchive::new(Cursor::new(file)).unwrap();
    let mut text = String::new();
    zip.by_name(name).unwrap().read_to_string(&mut text).unwrap();
    text
}

fn exported(old: &str, new: &str) -> String {
    let file =
        manuscript(old, vec![request(1, "Ana", old, new)]).export(ExportFormat::Docx).unwrap();
    part(&file, "word/document.xml")
}

/// The document as letters and `¶`, with `[-…-]` deleted and `[+…+]` inserted; `~` ends a paragraph
/// of another kind, `|` a cell and `⏎` the last one of a row.
fn drawn(old: &str, new: &str) -> String {
    let marked = manuscript(old, vec![request(1, "Ana", old, new)]).marked().unwrap();
    let steps = track(&marked, &RefCell::default(), Vec::new()).unwrap();
    let mut out = String::new();
    let mut last = RevisionMark::Stays;
    let ends = |mark| match mark {
        RevisionMark::Stays => ("", ""),
        RevisionMark::Deleted(_) => ("[-", "-]"),
        RevisionMark::Inserted(_) => ("[+", "+]"),
    };
    for step in steps {
        let (glyph, mark) = match step {
            TrackedStep::Glyph(glyph, mark) => (glyph, mark),
            TrackedStep::Restyled { .. } => {
                out.push('~');
                continue;
            }
            TrackedStep::Remark(_) => continue,
        };
        if ends(mark) != ends(last) {
            out.push_str(ends(last).1);
            out.push_str(ends(mark).0);
        }
        last = mark;
        match glyph {
            FlowItem::Char(c, _) => out.push(c),
            FlowItem::Note(note, _) => out.extend(["(", &note.to_string(), ")"]),
            FlowItem::End(end) => out.push(match end.cell() {
                Some(cell) if cell.column + 1 == cell.columns => '⏎',
                Some(_) => '|',
                None => '¶',
            }),
        }
    }
    out + ends(last).1
}

#[derive(Clone, Copy)]
enum RevisionView {
    Accept,
    Reject,
}

/// Returns the items that are left when everything is accepted, or everything rejected.
fn left(steps: &[TrackedStep], take: RevisionView) -> Vec<FlowItem> {
    let glyph = |step: &TrackedStep| match (step, take) {
        (TrackedStep::Glyph(glyph, RevisionMark::Stays), _)
        | (TrackedStep::Glyph(glyph, RevisionMark::Inserted(_)), RevisionView::Accept)
        | (TrackedStep::Glyph(glyph, RevisionMark::Deleted(_)), RevisionView::Reject) => {
            Some(*glyph)
        }
        (TrackedStep::Restyled { to, .. }, RevisionView::Accept) => Some(FlowItem::End(*to)),
        (TrackedStep::Restyled { from, .. }, RevisionView::Reject) => Some(FlowItem::End(*from)),
        _ => None,
    };
    steps.iter().filter_map(glyph).collect()
}

fn glyphs(text: &str, names: &RefCell<FlowNames>) -> Vec<FlowItem> {
    let reader = FlowReader::new(text, FrontMatter::of(text).len, 0, names);
    reader.map(|token| token.glyph).collect()
}

impl StepSink for Vec<TrackedStep> {
    fn step(&mut self, step: TrackedStep) -> Result<(), ExportError> {
        self.push(step);
        Ok(())
    }
}

/// A file that opens: every element is closed where it should be.
pub(super) fn assert_well_formed(xml: &str) {
    let mut open = Vec::new();
    for tag in xml.split('<').skip(1) {
        let (tag, text) = tag.split_once('>').unwrap();
        assert!(!text.contains('>'), "{text}");
        if tag.starts_with('?') || tag.ends_with('/') {
            continue;
        }
        let name = tag.split(' ').next().unwrap().to_owned();
        match name.strip_prefix('/') {
            Some(closed) => assert_eq!(open.pop().as_deref(), Some(closed), "{xml}"),
            None => open.push(name),
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn the_golden_document_is_what_is_exported() {
    let file = lamp().export(ExportFormat::Docx).unwrap();
    is_as_in("lamp.document.xml", &part(&file, "word/document.xml"));
    is_as_in("lamp.comments.xml", &part(&file, "word/comments.xml"));
    assert_eq!(
        file,
        lamp().export(ExportFormat::Docx).unwrap(),
        "the same document is the same file"
    );
}

#[test]
fn words_are_tracked_where_they_change() {
    assert_eq!(drawn("It do rain.\n", "It does rain.\n"), "It [-do-][+does+] rain.¶");
}

#[test]
fn a_new_paragraph_comes_with_its_own_end() {
    assert_eq!(drawn("One.\n", "One.\n\nTwo.\n"), "One.[+¶Two.+]¶");
    assert_eq!(drawn("One.\n\nTwo.\n", "One.\n"), "One.[-¶Two.-]¶");
}

#[test]
fn a_heading_that_becomes_another_stays_one_paragraph() {
    let (old, new) = ("## Oil\n\nText.\n", "# Oil\n\nText.\n");
    assert_eq!(drawn(old, new), "Oil~Text.¶");
    let made = exported(old, new);
    assert!(
        made.contains(
            "<w:pPr><w:pStyle w:val=\"Heading1\"/><w:pPrChange w:id=\"1\" w:author=\"AI for Ana\""
        ),
        "{made}"
    );
    assert!(
        made.contains("<w:pPr><w:pStyle w:val=\"Heading2\"/></w:pPr></w:pPrChange></w:pPr>"),
        "{made}"
    );
}

#[test]
fn a_word_that_becomes_bold_is_replaced_as_a_whole() {
    assert_eq!(drawn("The last ship.\n", "The **last** ship.\n"), "The [-last-][+last+] ship.¶");
}

#[test]
fn a_numbered_list_goes_on_counting_over_what_is_inserted() {
    let made = exported("1. a\n2. c\n", "1. a\n2. b\n3. c\n");
    assert_eq!(made.matches("<w:numId w:val=\"2\"/>").count(), 3, "{made}");
}

const TABLE: &str = "| a | b |\n|---|--:|\n| c | d |\n| e | |\n";

#[test]
fn a_row_comes_and_goes_as_a_whole() {
    let same = "a|b⏎c|d⏎e|⏎";
    assert_eq!(drawn(TABLE, TABLE), same);
    assert_eq!(drawn(TABLE, &format!("{TABLE}| f | g |\n")), format!("{same}[+f|g⏎+]"));
    let row = "| c | d |\n";
    assert_eq!(drawn(TABLE, &TABLE.replace(row, "")), "a|b⏎[-c|d⏎-]e|⏎");
    assert_eq!(
        drawn(TABLE, &TABLE.replace(row, "| c | x |\n| y | d |\n")),
        "a|b⏎c|[-d-][+x+]⏎[+y|d⏎+]e|⏎"
    );
    assert_eq!(drawn(TABLE, &TABLE.replace("d |", "dear |")), "a|b⏎c|[-d-][+dear+]⏎e|⏎");
    assert_eq!(drawn(TABLE, &TABLE.replace("| |", "| f |")), "a|b⏎c|d⏎e|[+f+]⏎");
}

#[test]
fn a_table_that_gets_a_column_is_replaced() {
    let wider = "| a | b | x |\n|---|--:|---|\n| c | d | y |\n";
    let made = drawn(TABLE, wider);
    assert_eq!(made, "[-a|b⏎c|d⏎e|⏎-][+a|b|x⏎c|d|y⏎+]");
    let made = exported(TABLE, wider);
    assert_eq!((made.matches("<w:tbl>").count(), made.matches("<w:gridCol ").count()), (2, 5));
    assert!(made.contains("</w:tbl>\n<w:p/>\n<w:tbl>"), "they would be one table: {made}");
    assert_well_formed(&made);
}

#[test]
fn what_stands_around_a_table_that_comes_or_goes_stays() {
    let (without, with) = ("One.\n\nTwo.\n", format!("One.\n\n{TABLE}\nTwo.\n"));
    assert_eq!(drawn(without, &with), "One.¶[+a|b⏎c|d⏎e|⏎+]Two.¶");
    assert_eq!(drawn(&with, without), "One.¶[-a|b⏎c|d⏎e|⏎-]Two.¶");
    assert_eq!(drawn("One.", &format!("One.\n\n{TABLE}")), "One.¶[+a|b⏎c|d⏎e|⏎+]");
}

#[test]
fn a_row_says_what_becomes_of_it_and_a_cell_how_it_is_aligned() {
    let made = exported(TABLE, &format!("{TABLE}| f | g |\n"));
    assert!(made.contains("<w:tr><w:trPr><w:tblHeader/></w:trPr>"), "{made}");
    let come = "<w:tr><w:trPr><w:ins w:id=\"2\" w:author=\"AI for Ana\"";
    assert_eq!((made.matches("<w:tr>").count(), made.matches(come).count()), (4, 1), "{made}");
    assert_eq!(made.matches("<w:jc w:val=\"right\"/>").count(), 4, "{made}");
    // Word opens no text that ends with a table.
    assert!(!made.contains("</w:tbl>\n<w:sectPr>"), "{made}");
}

#[test]
fn another_alignment_is_another_style_of_the_cells() {
    let made = drawn(TABLE, &TABLE.replace("--:", ":-:"));
    assert_eq!(made, "a|b~c|d~e|~");
}

#[test]
fn changes_carry_author_and_time() {
    let made = exported("It do rain.", "It does rain.");
    let by = "w:author=\"AI for Ana\" w:date=\"2026-11-20T10:15:31Z\"";
    assert!(made.contains(&format!("<w:del w:id=\"1\" {by}><w:r><w:delText xml:space=\"preserve\">do</w:delText></w:r></w:del>")), "{made}");
    assert!(
        made.contains(&format!(
            "<w:ins w:id=\"2\" {by}><w:r><w:t xml:space=\"preserve\">does</w:t></w:r></w:ins>"
        )),
        "{made}"
    );
}

#[test]
fn a_name_stays_inside_its_attribute() {
    let text = "a b";
    let asked = request(1, "A\"<b>&\u{1}", text, "a c");
    let file = manuscript(text, vec![asked]).export(ExportFormat::Docx).unwrap();
    let made = part(&file, "word/document.xml");
    assert!(made.contains("w:author=\"AI for A&quot;&lt;b&gt;&amp;\""), "{made}");
    assert_well_formed(&made);
}

#[test]
fn characters_that_xml_forbids_are_left_out_and_emoji_stay() {
    let made = exported("a\u{1}b\u{b}c\u{fffe} 👩\u{200d}🚀", "x\u{1}y 👩\u{200d}🚀 end");
    assert!(made.contains("👩\u{200d}🚀"), "{made}");
    assert!(!made.contains(['\u{1}', '\u{b}', '\u{fffe}']), "{made}");
}

#[test]
fn links_lead_only_where_they_should() {
    let file = manuscript(
        "[a](https://a.example/?x=1&y=2) [b](javascript:alert(1)) [c](file:///etc/passwd)",
        vec![],
    )
    .export(ExportFormat::Docx)
    .unwrap();
    let relations = part(&file, "word/_rels/document.xml.rels");
    assert_eq!(relations.matches("hyperlink").count(), 1, "{relations}");
    assert!(relations.contains("Target=\"https://a.example/?x=1&amp;y=2\""), "{relations}");
    assert_well_formed(&relations);
}

#[test]
fn blocks_have_their_styles() {
    let kinds = |text| {
        let glyphs = glyphs(text, &RefCell::default());
        glyphs
            .into_iter()
            .filter_map(|glyph| if let FlowItem::End(kind) = glyph { Some(kind) } else { None })
            .collect::<Vec<_>>()
    };
    let plain = |kind| Paragraph { kind, ..Paragraph::default() };
    let quote = Paragraph { quotes: 1, ..Paragraph::default() };
    assert_eq!(
        kinds("# a\n\n> b\n\n---\n"),
        [plain(ParagraphKind::Heading(1)), quote, plain(ParagraphKind::Rule)]
    );
    assert_eq!(kinds("```\na\n\nb\n```\n"), [plain(ParagraphKind::Code(None)); 3]);
    assert_eq!(kinds("```rust x\na\n```\n"), [plain(ParagraphKind::Code(Some(0)))]);
    let item = |lists| Paragraph { item: Some(ListKind::Bullets), lists, ..Paragraph::default() };
    let more = Paragraph { lists: 1, ..Paragraph::default() };
    assert_eq!(kinds("- a\n\n  b\n  - c\n-\n"), [item(1), more, item(2), item(1)]);
    assert_eq!(kinds("- > a\n"), [Paragraph { quotes: 1, ..item(1) }]);
    assert_eq!(
        kinds("- # a\n\n      b\n"),
        [
            Paragraph { kind: ParagraphKind::Heading(1), ..item(1) },
            Paragraph { kind: ParagraphKind::Code(None), ..more }
        ]
    );
}

#[test]
fn an_empty_document_opens() {
    for (old, new) in [("", ""), ("", "New."), ("Old.", ""), ("\n\n", "\n")] {
        let made = exported(old, new);
        assert!(made.contains("<w:p>"), "{made}");
        assert_well_formed(&made);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn accepting_gives_the_proposed_document_and_rejecting_the_present(
        old in any_text(), new in any_text(), places in any_places(),
    ) {
        let asked = manuscript(&old, vec![request(1, "Ana", &old, &new)]);
        let marked = discussed(asked, &places).marked().unwrap();
        let names = RefCell::default();
        let steps = track(&marked, &names, Vec::new()).unwrap();
        let rejected = left(&steps, RevisionView::Reject);
        let accepted = left(&steps, RevisionView::Accept);
        prop_assert_eq!(rejected, glyphs(&old, &names));
        prop_assert_eq!(accepted, glyphs(&new, &names));
    }

    #[test]
    fn any_text_makes_a_file_that_opens(
        old in any_text(), new in any_text(), other in any_text(), places in any_places(),
    ) {
        let requests = vec![request(1, "Ana", &old, &new), request(2, "Ben", &old, &other)];
        let file = discussed(manuscript(&old, requests), &places).export(ExportFormat::Docx).unwrap();
        let read = copydesk_convert::from_word(&file).unwrap();
        prop_assert!(read.threads.len() >= places.len(), "every thread is in the file");
        let document = part(&file, "word/document.xml");
        for id in 0..2 * places.len() {
            let at = |mark: &str| {
                let mark = format!("<w:{mark} w:id=\"{id}\"/>");
                let mut found = document.match_indices(&mark).map(|(at, _)| at);
                (found.next(), found.next())
            };
            let [start, end, place] = ["commentRangeStart", "commentRangeEnd", "commentReference"].map(at);
            prop_assert!(start.0.is_some() && start.0 < end.0 && end.0 < place.0, "{id}: {document}");
            prop_assert!([start.1, end.1, place.1] == [None; 3], "{id} is there twice: {document}");
        }
        for name in ["word/commentsExtended.xml","word/document.xml", "word/comments.xml", "word/numbering.xml", "word/footnotes.xml", "word/styles.xml",
            "word/_rels/document.xml.rels", "docProps/core.xml", "docProps/custom.xml"] {
            assert_well_formed(&part(&file, name));
        }
    }
}
