//! Body of a Word document, and its footnotes: paragraphs, tables, and the marks of tracked changes
//! around them. Each paragraph is written when it ends.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::io;

use super::super::ExportResult;
use super::super::annotated::{AnnotatedPiece, AnnotatedText, PendingChange};
use super::super::remarks::ChangeSignature;
use super::flow::{Alignment, FlowItem, Paragraph, ParagraphKind, TableCell};
use super::footnotes::{self, WrittenNotes};
use super::numbering::{self, ListNumbering};
use super::revisions::Revisions;
use super::runs::RunWriter;
use super::steps::{RemarkMark, RevisionMark, StepSink, TrackedStep};
use copydesk_interrupt::Interrupt;

/// Width between the margins, in twentieths of a point.
const WIDTH: u32 = 9026;
/// Indentation of a quotation, in twentieths of a point.
const QUOTE_STEP: u32 = 480;
/// Bytes that are collected before they are written.
const CHUNK: usize = 32 * 1024;

/// Text that is being written: that of the document, or that of a footnote.
#[derive(Default)]
struct Story {
    out: String,
    runs: RunWriter,
    /// Previous cell, if the next one may be of the same table.
    cell: Option<TableCell>,
    /// `true` after the first paragraph.
    has_paragraph: bool,
    /// XML before the words of the first paragraph.
    begin: &'static str,
}

/// Writer of `word/document.xml` between its outer elements.
pub(super) struct BodyWriter<'a, W> {
    file: W,
    interrupt: &'a Interrupt,
    /// Marks that begin something, until the next item says in which story.
    waiting: Vec<RemarkMark>,
    /// Footnote of the last item.
    last_note: Option<u32>,
    /// First numbers of the comments whose passages have begun in the text.
    begun: HashSet<usize>,
    /// The same of those whose passages are in footnotes.
    in_notes: HashSet<usize>,
    revisions: Revisions<'a>,
    numbering: ListNumbering,
    text: Story,
    /// Footnotes by number.
    notes: HashMap<u32, Story>,
    references: WrittenNotes,
}

/// Data of the body that the other parts of the package need.
pub(super) struct WrittenBody {
    pub numbering: ListNumbering,
    pub references: WrittenNotes,
    /// Paragraphs of footnotes, by number.
    pub notes: HashMap<u32, String>,
    /// First numbers of the comments whose passages are in footnotes.
    pub in_notes: HashSet<usize>,
}

impl<'a, W: io::Write> BodyWriter<'a, W> {
    pub fn new(file: W, marked: &'a AnnotatedText, interrupt: &'a Interrupt) -> Self {
        let signatures = marked.pieces.iter().filter_map(|piece| match piece {
            AnnotatedPiece::Change(PendingChange { signature, .. }) => Some(&**signature),
            AnnotatedPiece::Same(_) | AnnotatedPiece::Mark(_) => None,
        });
        let signatures: Vec<&ChangeSignature> = signatures.collect();
        Self {
            file,
            interrupt,
            waiting: Vec::new(),
            last_note: None,
            begun: HashSet::new(),
            in_notes: HashSet::new(),
            revisions: Revisions::new(signatures),
            numbering: ListNumbering::default(),
            text: Story::default(),
            notes: HashMap::new(),
            references: WrittenNotes::default(),
        }
    }

    /// Writes what is left.
    pub fn finish(mut self) -> ExportResult<WrittenBody> {
        self.begin_marks(None);
        self.text.finish(&mut self.revisions, &mut self.references);
        self.file.write_all(self.text.out.as_bytes())?;
        let mut notes = HashMap::with_capacity(self.notes.len());
        for (note, mut story) in self.notes {
            story.finish(&mut self.revisions, &mut self.references);
            notes.insert(note, story.out);
        }
        let Self { numbering, references, in_notes, .. } = self;
        Ok(WrittenBody { numbering, references, notes, in_notes })
    }

    fn end(&mut self, paragraph: Paragraph, mark: RevisionMark) -> ExportResult<()> {
        self.interrupt.check()?;
        let numbering = &mut self.numbering;
        let (story, revisions) =
            (self.text.or_note(&mut self.notes, paragraph.note), &mut self.revisions);
        let is_from_right = story.runs.finish(revisions, &mut self.references);
        let style = style(paragraph, is_from_right, numbering);
        let cell = story.begin_block(paragraph, mark, is_from_right, revisions);
        // The end of a paragraph is tracked like a character.
        let tracked = revisions
            .element(mark)
            .map(|(name, attributes)| format!("<w:rPr><w:{name} {attributes}/></w:rPr>"));
        story.paragraph(&style, tracked.as_deref().unwrap_or_default());
        story.end_block(cell);
        self.flush()
    }

    fn restyled(&mut self, from: Paragraph, to: Paragraph, by: u32) -> ExportResult<()> {
        let numbering = &mut self.numbering;
        let (story, revisions) = (self.text.or_note(&mut self.notes, to.note), &mut self.revisions);
        let is_from_right = story.runs.finish(revisions, &mut self.references);
        let before = style(from, is_from_right, numbering);
        let style = style(to, is_from_right, numbering);
        let inserted = RevisionMark::Inserted(by);
        let (_, attributes) = revisions.element(inserted).unwrap_or_default();
        let change = format!("<w:pPrChange {attributes}><w:pPr>{before}</w:pPr></w:pPrChange>");
        let cell = story.begin_block(to, inserted, is_from_right, revisions);
        story.paragraph(&style, &change);
        story.end_block(cell);
        self.flush()
    }

    /// Writes the marks that wait for the next item, which is in this footnote.
    fn begin_marks(&mut self, note: Option<u32>) {
        self.last_note = note;
        for mark in std::mem::take(&mut self.waiting) {
            self.mark(mark, note);
        }
    }

    /// Writes a mark beside an item in this footnote. Comments on words in footnotes are points in
    /// the text: some programs open no file with comments in footnotes.
    fn mark(&mut self, mark: RemarkMark, note: Option<u32>) {
        let (mark, note) = match mark {
            RemarkMark::HunkStart(_) | RemarkMark::HunkEnd(_) => (mark, note),
            RemarkMark::Begin(_) if note.is_some() => return,
            RemarkMark::Begin(numbers) => {
                self.begun.insert(numbers.first);
                (mark, None)
            }
            RemarkMark::End(numbers) if !self.begun.contains(&numbers.first) => {
                self.in_notes.insert(numbers.first);
                (RemarkMark::Point(numbers), None)
            }
            RemarkMark::End(_) | RemarkMark::Point(_) => (mark, None),
        };
        self.inner_step(TrackedStep::Remark(mark), note);
    }

    fn inner_step(&mut self, step: TrackedStep, note: Option<u32>) {
        let story = self.text.or_note(&mut self.notes, note);
        story.runs.step(step, &mut self.revisions, &mut self.references);
    }

    fn flush(&mut self) -> ExportResult<()> {
        if self.text.out.len() > CHUNK {
            self.file.write_all(self.text.out.as_bytes())?;
            self.text.out.clear();
            self.text.out.shrink_to(4 * CHUNK);
        }
        Ok(())
    }
}

impl<W: io::Write> StepSink for BodyWriter<'_, W> {
    fn step(&mut self, step: TrackedStep) -> ExportResult<()> {
        match step {
            TrackedStep::Remark(mark) if mark.begins() => self.waiting.push(mark),
            TrackedStep::Remark(mark) => {
                self.begin_marks(self.last_note);
                self.mark(mark, self.last_note);
            }
            TrackedStep::Glyph(FlowItem::End(paragraph), mark) => {
                self.begin_marks(paragraph.note);
                return self.end(paragraph, mark);
            }
            TrackedStep::Restyled { from, to, by } => {
                self.begin_marks(to.note);
                return self.restyled(from, to, by);
            }
            TrackedStep::Glyph(FlowItem::Char(_, style) | FlowItem::Note(_, style), _) => {
                self.begin_marks(style.note);
                self.inner_step(step, style.note);
            }
        }
        Ok(())
    }
}

impl Story {
    /// Returns the story of a footnote, or this one.
    fn or_note<'s>(
        &'s mut self,
        notes: &'s mut HashMap<u32, Self>,
        note: Option<u32>,
    ) -> &'s mut Self {
        match note {
            Some(note) => notes
                .entry(note)
                .or_insert_with(|| Self { begin: footnotes::NUMBER, ..Self::default() }),
            None => self,
        }
    }

    /// Begins a paragraph, which may be a cell of a table.
    fn begin_block(
        &mut self,
        paragraph: Paragraph,
        mark: RevisionMark,
        is_from_right: bool,
        revisions: &mut Revisions,
    ) -> Option<TableCell> {
        let Some(cell) = paragraph.cell() else {
            self.end_table();
            return None;
        };
        if cell.column == 0 {
            self.begin_row(cell, mark, is_from_right, revisions);
        }
        let width = WIDTH / cell.columns.max(1);
        _ = write!(self.out, "<w:tc><w:tcPr><w:tcW w:w=\"{width}\" w:type=\"dxa\"/></w:tcPr>");
        Some(cell)
    }

    fn end_block(&mut self, cell: Option<TableCell>) {
        let Some(cell) = cell else { return };
        self.out.push_str("</w:tc>");
        if cell.column + 1 == cell.columns {
            self.out.push_str("</w:tr>\n");
        }
        self.cell = Some(cell);
    }

    fn begin_row(
        &mut self,
        cell: TableCell,
        mark: RevisionMark,
        is_from_right: bool,
        revisions: &mut Revisions,
    ) {
        // A table whose heading row is replaced continues.
        let goes_on = self.cell.is_some_and(|before| before.is_head || !cell.is_head);
        if !goes_on {
            if self.end_table() {
                // Adjacent tables would become one.
                self.out.push_str("<w:p/>\n");
            }
            let width = WIDTH / cell.columns.max(1);
            let columns = format!("<w:gridCol w:w=\"{width}\"/>").repeat(cell.columns as usize);
            let side = if is_from_right { "<w:bidiVisual/>" } else { "" };
            _ = writeln!(
                self.out,
                "<w:tbl><w:tblPr><w:tblStyle w:val=\"Table\"/>{side}<w:tblW w:w=\"{WIDTH}\" w:type=\"dxa\"/></w:tblPr>\
                 <w:tblGrid>{columns}</w:tblGrid>"
            );
        }
        let head = if cell.is_head { "<w:tblHeader/>" } else { "" };
        let tracked =
            revisions.element(mark).map(|(name, attributes)| format!("<w:{name} {attributes}/>"));
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

    /// Writes a paragraph; `style` is its style and `tracked` the tracked change of it.
    fn paragraph(&mut self, style: &str, tracked: &str) {
        _ = write!(self.out, "<w:p><w:pPr>{style}{tracked}</w:pPr>");
        self.out.push_str(std::mem::take(&mut self.begin));
        self.runs.take_into(&mut self.out);
        self.out.push_str("</w:p>\n");
        self.has_paragraph = true;
    }

    /// Ends the story. It must end with a paragraph, and text and remarks must be inside one.
    fn finish(&mut self, revisions: &mut Revisions, references: &mut WrittenNotes) {
        let ends_with_table = self.end_table();
        self.runs.finish(revisions, references);
        if ends_with_table || !self.runs.is_empty() || !self.has_paragraph {
            self.paragraph("", "");
        }
    }
}

/// Returns the properties of a paragraph: its style, its place in a list, its direction.
fn style(paragraph: Paragraph, is_from_right: bool, numbering: &mut ListNumbering) -> String {
    let Paragraph { kind, item, lists, quotes, note } = paragraph;
    let name = match kind {
        ParagraphKind::Heading(level) => format!("Heading{level}"),
        ParagraphKind::Code(None) => "SourceCode".to_owned(),
        ParagraphKind::Code(Some(language)) => format!("SourceCode{}", u32::from(language) + 1),
        ParagraphKind::Rule => "HorizontalRule".to_owned(),
        ParagraphKind::Cell(_) => "TableText".to_owned(),
        ParagraphKind::Text if quotes > 0 => "Quote".to_owned(),
        ParagraphKind::Text if lists > 0 => "ListParagraph".to_owned(),
        ParagraphKind::Text if note.is_some() => "FootnoteText".to_owned(),
        ParagraphKind::Text => String::new(),
    };
    let mut out = String::new();
    if !name.is_empty() {
        _ = write!(out, "<w:pStyle w:val=\"{name}\"/>");
    }
    let level = lists.saturating_sub(1).min(numbering::DEEPEST);
    if let Some(list) = item {
        let number = numbering.number(list, level);
        _ = write!(
            out,
            "<w:numPr><w:ilvl w:val=\"{level}\"/><w:numId w:val=\"{number}\"/></w:numPr>"
        );
    }
    if is_from_right {
        out.push_str("<w:bidi/>");
    }
    let quoted = QUOTE_STEP * u32::from(quotes.min(10));
    if item.is_none() && (lists > 0 || quotes > 1) {
        let list = if lists > 0 { numbering::indent(level) } else { 0 };
        _ = write!(out, "<w:ind w:left=\"{}\"/>", list + quoted);
    }
    if let ParagraphKind::Cell(cell) = kind {
        out.push_str(match cell.alignment {
            Alignment::None => "",
            Alignment::Left => "<w:jc w:val=\"left\"/>",
            Alignment::Center => "<w:jc w:val=\"center\"/>",
            Alignment::Right => "<w:jc w:val=\"right\"/>",
        });
    }
    out
}
