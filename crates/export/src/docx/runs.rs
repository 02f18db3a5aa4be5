//! Runs of a paragraph: characters of one style, one mark and one direction.

use std::fmt::Write as _;

use super::comments;
use super::direction::ParagraphDirection;
use super::flow::{BOLD, CODE, CharStyle, FORMULA, FlowItem, ITALIC, PICTURE, STRUCK};
use super::footnotes::{NoteReference, WrittenNotes};
use super::revisions::Revisions;
use super::steps::{RevisionMark, TrackedStep};
use super::xml::escape_into;

/// Content of the paragraph that is being written.
#[derive(Default)]
pub(super) struct RunWriter {
    direction: ParagraphDirection,
    out: RunText,
}

/// Look of a run.
#[derive(Clone, Copy, PartialEq, Eq)]
struct RunStyle {
    look: CharStyle,
    mark: RevisionMark,
    is_from_right: bool,
}

#[derive(Default)]
struct RunText {
    out: String,
    /// Run that is open, and the element of the tracked change around it.
    open: Option<(RunStyle, Option<&'static str>)>,
    /// Words of the run that are not yet written.
    words: String,
}

impl RunWriter {
    pub fn is_empty(&self) -> bool {
        self.out.out.is_empty()
    }

    pub fn step(&mut self, step: TrackedStep, revisions: &mut Revisions, notes: &mut WrittenNotes) {
        let Self { direction, out } = self;
        direction.step(step, |step, is_from_right| out.step(step, is_from_right, revisions, notes));
    }

    /// Ends the paragraph; returns `true` if it goes from right to left.
    pub fn finish(&mut self, revisions: &mut Revisions, notes: &mut WrittenNotes) -> bool {
        let Self { direction, out } = self;
        let is_from_right =
            direction.finish(|step, is_from_right| out.step(step, is_from_right, revisions, notes));
        self.out.close();
        is_from_right
    }

    /// Moves the runs of the paragraph behind `out`.
    pub fn take_into(&mut self, out: &mut String) {
        out.push_str(&self.out.out);
        self.out.out.clear();
        self.out.out.shrink_to(1 << 16);
    }
}

impl RunText {
    fn step(
        &mut self,
        step: TrackedStep,
        is_from_right: bool,
        revisions: &mut Revisions,
        notes: &mut WrittenNotes,
    ) {
        match step {
            TrackedStep::Glyph(FlowItem::Char(c, look), mark) => {
                let style = RunStyle { look, mark, is_from_right };
                if self.open.is_none_or(|(open, _)| open != style) {
                    self.close();
                    self.begin(style, revisions);
                }
                self.char(c);
            }
            TrackedStep::Glyph(FlowItem::Note(note, look), mark) => {
                self.close();
                self.reference(notes.refer(note, mark), look, mark, revisions);
            }
            TrackedStep::Remark(mark) => {
                self.close();
                comments::write_mark(mark, &mut self.out);
            }
            TrackedStep::Glyph(FlowItem::End(_), _) | TrackedStep::Restyled { .. } => {}
        }
    }

    fn begin(&mut self, style: RunStyle, revisions: &mut Revisions) {
        // A link encloses tracked elements, not the reverse.
        if let Some(link) = style.look.link {
            _ = write!(self.out, "<w:hyperlink r:id=\"link{link}\">");
        }
        let tracked = revisions.element(style.mark);
        if let Some((name, attributes)) = &tracked {
            _ = write!(self.out, "<w:{name} {attributes}>");
        }
        self.out.push_str("<w:r>");
        self.out.push_str(&run_style(style));
        self.open = Some((style, tracked.map(|(name, _)| name)));
    }

    /// Ends the run, if one is open.
    fn close(&mut self) {
        self.flush();
        let Some((style, tracked)) = self.open.take() else { return };
        self.out.push_str("</w:r>");
        if let Some(name) = tracked {
            _ = write!(self.out, "</w:{name}>");
        }
        if style.look.link.is_some() {
            self.out.push_str("</w:hyperlink>");
        }
    }

    fn char(&mut self, c: char) {
        match c {
            '\n' => {
                self.flush();
                self.out.push_str("<w:br/>");
            }
            '\t' => {
                self.flush();
                self.out.push_str("<w:tab/>");
            }
            c => escape_into(c, &mut self.words),
        }
    }

    fn flush(&mut self) {
        if self.words.is_empty() {
            return;
        }
        let element = text_element(self.open.map_or(RevisionMark::Stays, |(open, _)| open.mark));
        _ = write!(self.out, "<{element} xml:space=\"preserve\">{}</{element}>", self.words);
        self.words.clear();
        self.words.shrink_to(1 << 16);
    }

    fn reference(
        &mut self,
        reference: NoteReference,
        look: CharStyle,
        mark: RevisionMark,
        revisions: &mut Revisions,
    ) {
        let tracked = revisions.element(mark);
        let (begin, end) = reference.around();
        self.out.push_str(&begin);
        if let Some((name, attributes)) = &tracked {
            _ = write!(self.out, "<w:{name} {attributes}>");
        }
        let style = RunStyle { look: CharStyle { link: None, ..look }, mark, is_from_right: false };
        let style = run_style(style).replace("<w:rPr>", "").replace("</w:rPr>", "");
        _ = write!(
            self.out,
            "<w:r><w:rPr><w:rStyle w:val=\"FootnoteReference\"/>{style}</w:rPr>{}</w:r>",
            reference.content(text_element(mark))
        );
        if let Some((name, _)) = &tracked {
            _ = write!(self.out, "</w:{name}>");
        }
        self.out.push_str(&end);
    }
}

/// Returns the element of the words in a run.
fn text_element(mark: RevisionMark) -> &'static str {
    if matches!(mark, RevisionMark::Deleted(_)) { "w:delText" } else { "w:t" }
}

/// Returns the properties of a run, in the order that the schema asks for.
fn run_style(style: RunStyle) -> String {
    let RunStyle { look, is_from_right, .. } = style;
    let has = |style: u8| look.style & style != 0;
    let mut out = String::new();
    if has(PICTURE) {
        out.push_str("<w:rStyle w:val=\"PictureLink\"/>");
    } else if has(FORMULA) {
        out.push_str("<w:rStyle w:val=\"TexFormula\"/>");
    } else if has(CODE) {
        out.push_str("<w:rStyle w:val=\"VerbatimChar\"/>");
    } else if look.link.is_some() {
        out.push_str("<w:rStyle w:val=\"Hyperlink\"/>");
    }
    // Letters of scripts from right to left have properties of their own.
    for (style, element, from_right) in
        [(BOLD, "<w:b/>", "<w:bCs/>"), (ITALIC, "<w:i/>", "<w:iCs/>"), (STRUCK, "<w:strike/>", "")]
    {
        if has(style) {
            out.push_str(element);
            out.push_str(if is_from_right { from_right } else { "" });
        }
    }
    if is_from_right {
        out.push_str("<w:rtl/>");
    }
    if out.is_empty() { out } else { format!("<w:rPr>{out}</w:rPr>") }
}
