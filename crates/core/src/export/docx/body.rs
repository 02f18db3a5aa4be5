//! Body of a Word document: paragraphs, runs, and the marks of tracked changes around them.

use std::fmt::Write as _;

use super::super::annotated::{AnnotatedPiece, AnnotatedText, ChangeSignature, PendingChange};
use super::super::time;
use super::flow::{
    Alignment, BOLD, CODE, CharStyle, FlowItem, ITALIC, LinkTargets, ParagraphKind, STRUCK,
    TableCell,
};
use super::numbering::ListNumbering;
use super::track::{RevisionMark, TrackedStep};
use super::xml::{escape, escape_into};

/// Width between the margins, in twentieths of a point.
const WIDTH: usize = 9026;

/// Parts of the package that depend on the text.
pub(super) struct DocxParts {
    /// `word/document.xml` without the outer elements.
    pub body: String,
    /// `word/numbering.xml`.
    pub numbering: String,
    /// Addresses of links; the relation of number `n` is `link{n}`.
    pub addresses: Vec<String>,
}

#[derive(Default)]
struct BodyWriter<'a> {
    signatures: Vec<&'a ChangeSignature>,
    numbering: ListNumbering,
    out: String,
    /// Content of the paragraph that is being written.
    runs: Vec<TrackedStep>,
    /// Previous cell, if the next one may be of the same table.
    cell: Option<TableCell>,
    /// Next number of a tracked change; each is used once.
    next: usize,
}

/// Writes the document's text.
pub(super) fn write(
    steps: &[TrackedStep],
    marked: &AnnotatedText,
    links: &LinkTargets,
) -> DocxParts {
    let signatures = marked.pieces.iter().filter_map(|piece| match piece {
        AnnotatedPiece::Change(PendingChange { signature, .. }) => Some(&**signature),
        AnnotatedPiece::Same(_) | AnnotatedPiece::Remark(_) => None,
    });
    let mut writer =
        BodyWriter { signatures: signatures.collect(), next: 1, ..BodyWriter::default() };
    for step in steps {
        match step {
            TrackedStep::Glyph(FlowItem::End(paragraph), mark) => {
                let style = writer.style(*paragraph);
                // The end of a paragraph is tracked like a character.
                let tracked = writer
                    .tracked(*mark)
                    .map(|(name, attributes)| format!("<w:rPr><w:{name} {attributes}/></w:rPr>"));
                writer.block(*paragraph, *mark, &style, tracked.as_deref().unwrap_or_default());
            }
            TrackedStep::Restyled { from, to, by } => {
                let (before, style) = (writer.style(*from), writer.style(*to));
                let inserted = RevisionMark::Inserted(*by);
                let (_, attributes) = writer.tracked(inserted).unwrap_or_default();
                let change =
                    format!("<w:pPrChange {attributes}><w:pPr>{before}</w:pPr></w:pPrChange>");
                writer.block(*to, RevisionMark::Stays, &style, &change);
            }
            // The change itself names its author.
            TrackedStep::Remark(index) if marked.remarks[*index].text.is_empty() => {}
            other => writer.runs.push(*other),
        }
    }
    let ends_with_table = writer.end_table();
    // A document must end with a paragraph, and text and remarks must be inside one.
    if ends_with_table || !writer.runs.is_empty() || writer.out.is_empty() {
        writer.paragraph("", "");
    }
    DocxParts {
        body: writer.out,
        numbering: writer.numbering.write(),
        addresses: links.addresses.clone(),
    }
}

impl BodyWriter<'_> {
    /// Ends the paragraph, which may be a cell of a table.
    fn block(&mut self, paragraph: ParagraphKind, mark: RevisionMark, style: &str, tracked: &str) {
        let Some(cell) = paragraph.cell() else {
            self.end_table();
            return self.paragraph(style, tracked);
        };
        if cell.column == 0 {
            self.begin_row(cell, mark);
        }
        let width = WIDTH / cell.columns;
        _ = write!(self.out, "<w:tc><w:tcPr><w:tcW w:w=\"{width}\" w:type=\"dxa\"/></w:tcPr>");
        self.paragraph(style, tracked);
        self.out.push_str("</w:tc>");
        if cell.column + 1 == cell.columns {
            self.out.push_str("</w:tr>\n");
        }
        self.cell = Some(cell);
    }

    fn begin_row(&mut self, cell: TableCell, mark: RevisionMark) {
        // A table whose heading row is replaced continues.
        let goes_on = self.cell.is_some_and(|before| before.is_head || !cell.is_head);
        if !goes_on {
            if self.end_table() {
                // Adjacent tables would become one.
                self.out.push_str("<w:p/>\n");
            }
            let columns =
                format!("<w:gridCol w:w=\"{}\"/>", WIDTH / cell.columns).repeat(cell.columns);
            _ = writeln!(
                self.out,
                "<w:tbl><w:tblPr><w:tblStyle w:val=\"Table\"/><w:tblW w:w=\"{WIDTH}\" w:type=\"dxa\"/></w:tblPr>\
                 <w:tblGrid>{columns}</w:tblGrid>"
            );
        }
        let head = if cell.is_head { "<w:tblHeader/>" } else { "" };
        let tracked =
            self.tracked(mark).map(|(name, attributes)| format!("<w:{name} {attributes}/>"));
        _ = write!(self.out, "<w:tr><w:trPr>{head}{}</w:trPr>", tracked.unwrap_or_default());
    }

    /// Ends the table; returns `true` if there was one.
    fn end_table(&mut self) -> bool {
        let was_table = self.cell.take().is_some();
        if was_table {
            self.out.push_str("</w:tbl>\n");
        }
        was_table
    }

    /// Ends the paragraph; `style` is its style and `tracked` the tracked change of it.
    fn paragraph(&mut self, style: &str, tracked: &str) {
        _ = write!(self.out, "<w:p><w:pPr>{style}{tracked}</w:pPr>");
        let runs = std::mem::take(&mut self.runs);
        for run in runs.chunk_by(is_one_run) {
            self.run(run);
        }
        self.out.push_str("</w:p>\n");
    }

    /// Returns the paragraph's style, and its place in a list.
    fn style(&mut self, paragraph: ParagraphKind) -> String {
        let named = |name: &str| format!("<w:pStyle w:val=\"{name}\"/>");
        match paragraph {
            ParagraphKind::Body => String::new(),
            ParagraphKind::Heading(level) => named(&format!("Heading{level}")),
            ParagraphKind::Quote => named("Quote"),
            ParagraphKind::Code => named("SourceCode"),
            ParagraphKind::Rule => named("HorizontalRule"),
            ParagraphKind::Cell(TableCell { alignment, .. }) => {
                let side = match alignment {
                    Alignment::None => return named("TableText"),
                    Alignment::Left => "left",
                    Alignment::Center => "center",
                    Alignment::Right => "right",
                };
                format!("{}<w:jc w:val=\"{side}\"/>", named("TableText"))
            }
            ParagraphKind::Item(list, level) => {
                let number = self.numbering.number(list, level);
                let place = format!("<w:ilvl w:val=\"{level}\"/><w:numId w:val=\"{number}\"/>");
                format!("{}<w:numPr>{place}</w:numPr>", named("ListParagraph"))
            }
            ParagraphKind::More(level) => {
                let indent = super::numbering::indent(level);
                format!("{}<w:ind w:left=\"{indent}\"/>", named("ListParagraph"))
            }
        }
    }

    /// Writes characters with one style and one mark, or one remark.
    fn run(&mut self, steps: &[TrackedStep]) {
        match steps {
            [TrackedStep::Remark(index), ..] => self.remark(*index),
            [TrackedStep::Glyph(FlowItem::Char(_, look), mark), ..] => {
                let tracked = self.tracked(*mark);
                // A link encloses tracked elements, not the reverse.
                if let Some(link) = look.link {
                    _ = write!(self.out, "<w:hyperlink r:id=\"link{link}\">");
                }
                if let Some((name, attributes)) = &tracked {
                    _ = write!(self.out, "<w:{name} {attributes}>");
                }
                self.words(steps, *look, *mark);
                if let Some((name, _)) = &tracked {
                    _ = write!(self.out, "</w:{name}>");
                }
                if look.link.is_some() {
                    self.out.push_str("</w:hyperlink>");
                }
            }
            _ => {}
        }
    }

    fn words(&mut self, steps: &[TrackedStep], look: CharStyle, mark: RevisionMark) {
        let element = if matches!(mark, RevisionMark::Deleted(_)) { "w:delText" } else { "w:t" };
        self.out.push_str("<w:r>");
        self.out.push_str(&run_style(look));
        let mut words = String::new();
        for step in steps {
            let TrackedStep::Glyph(FlowItem::Char(c, _), _) = step else { continue };
            match c {
                '\n' | '\t' => {
                    self.flush(element, &mut words);
                    self.out.push_str(if *c == '\n' { "<w:br/>" } else { "<w:tab/>" });
                }
                c => escape_into(*c, &mut words),
            }
        }
        self.flush(element, &mut words);
        self.out.push_str("</w:r>");
    }

    fn flush(&mut self, element: &str, words: &mut String) {
        if !words.is_empty() {
            _ = write!(self.out, "<{element} xml:space=\"preserve\">{words}</{element}>");
            words.clear();
        }
    }

    fn remark(&mut self, index: usize) {
        _ = write!(
            self.out,
            "<w:commentRangeStart w:id=\"{index}\"/><w:commentRangeEnd w:id=\"{index}\"/>\
             <w:r><w:rPr><w:rStyle w:val=\"CommentReference\"/></w:rPr><w:commentReference w:id=\"{index}\"/></w:r>"
        );
    }

    /// Returns the element around something tracked, and its attributes.
    fn tracked(&mut self, mark: RevisionMark) -> Option<(&'static str, String)> {
        let (name, by) = match mark {
            RevisionMark::Stays => return None,
            RevisionMark::Deleted(by) => ("del", by),
            RevisionMark::Inserted(by) => ("ins", by),
        };
        let signature = self.signatures.get(by)?;
        let number = self.next;
        self.next += 1;
        Some((name, format!("w:id=\"{number}\" {}", attributes(signature))))
    }
}

/// Returns author and time as attributes.
pub(super) fn attributes(signature: &ChangeSignature) -> String {
    let date = time::seconds(signature.at_ms);
    format!("w:author=\"{}\" w:date=\"{date}\"", escape(&signature.author))
}

fn is_one_run(left: &TrackedStep, right: &TrackedStep) -> bool {
    match (left, right) {
        (
            TrackedStep::Glyph(FlowItem::Char(_, look), mark),
            TrackedStep::Glyph(FlowItem::Char(_, next_look), next_mark),
        ) => look == next_look && mark == next_mark,
        _ => false,
    }
}

fn run_style(look: CharStyle) -> String {
    let has = |style: u8| look.style & style != 0;
    let mut out = String::new();
    if has(CODE) {
        out.push_str("<w:rStyle w:val=\"VerbatimChar\"/>");
    } else if look.link.is_some() {
        out.push_str("<w:rStyle w:val=\"Hyperlink\"/>");
    }
    for (style, element) in [(BOLD, "<w:b/>"), (ITALIC, "<w:i/>"), (STRUCK, "<w:strike/>")] {
        if has(style) {
            out.push_str(element);
        }
    }
    if out.is_empty() { out } else { format!("<w:rPr>{out}</w:rPr>") }
}
