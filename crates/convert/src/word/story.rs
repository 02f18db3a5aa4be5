//! Reader of a story: the text, a note, a header. It gives paragraphs and tables.
//!
//! An element that is not known gives its children, so that no words go with it. Readers call
//! themselves for inner elements; [`XmlReader`] bounds how deep.

use std::collections::HashMap;

use crate::Report;

use super::error::WordResult;
use super::fields::Field;
use super::model::{
    Atom, Content, FIRST_THREAD, LinkTarget, Look, Paragraph, RestyledParagraph, Revision,
    StoryBlock, Tracked,
};
use super::package::Relations;
use super::properties::RunProperties;
use super::styles::Styles;
use super::views::{edge, put_into_last};
use super::xml::{Element, Node, XmlReader};

/// Findings of the readers of all stories of a document.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub report: Report,
    pub revisions: Vec<Revision>,
    pub links: Vec<LinkTarget>,
    /// Labels of notes by their kind and identifier, in the order of their first references.
    pub notes: Vec<NoteUse>,
    /// Labels of the notes whose references have bookmarks, by the names of these.
    pub bookmarked_notes: HashMap<String, String>,
    /// Threads by the identifiers of the comments that began them.
    pub threads: HashMap<String, usize>,
    /// Name of the bookmark that began last.
    bookmark: Option<String>,
}

/// First reference to a note.
#[derive(Clone, Debug)]
pub(super) struct NoteUse {
    /// Name of its element, `w:footnote` or `w:endnote`.
    pub kind: &'static str,
    pub id: String,
    pub tracked: Tracked,
}

impl Findings {
    /// Returns the label of a note, which is its place among the notes.
    fn note(&mut self, kind: &'static str, id: &str, tracked: Tracked) -> String {
        let known = self.notes.iter().position(|note| note.kind == kind && note.id == id);
        let place = known.unwrap_or_else(|| {
            self.notes.push(NoteUse { kind, id: id.to_owned(), tracked });
            self.notes.len() - 1
        });
        let label = (place + 1).to_string();
        if let Some(bookmark) = self.bookmark.take() {
            self.bookmarked_notes.insert(bookmark, label.clone());
        }
        label
    }
}

/// Reader of one story.
pub(super) struct StoryReader<'x, 'p, 'd> {
    pub xml: &'x mut XmlReader<'p>,
    pub styles: &'d Styles,
    pub relations: &'d Relations,
    pub findings: &'d mut Findings,
    /// Fields that have begun and not ended.
    pub fields: Vec<Field>,
    /// Tracked change around the reader's place.
    pub tracked: Tracked,
    /// Link around the reader's place.
    pub link: Option<usize>,
    /// Paragraph around the reader's place.
    pub paragraph: Paragraph,
    /// Boxes of the paragraph, which come after it.
    pub boxes: Vec<StoryBlock>,
    /// Number of the things that were found, for [`Self::progress`].
    pub found: usize,
    /// Edges of threads between paragraphs, for the next one.
    pub waiting: Vec<Atom>,
    ranges: OpenRanges,
}

/// Ranges around the reader's place that say which changes are one.
#[derive(Default)]
struct OpenRanges {
    /// Names of the moves, by the identifiers of their ranges.
    moves: HashMap<String, String>,
    /// Identifier and name of the bookmark by which this server tells its changes apart.
    change: Option<(String, String)>,
    /// `true` if that ends with the tracked change around the reader's place.
    ends_change: bool,
}

/// Beginning of the names of such bookmarks.
const CHANGE: &str = "_Change";

impl<'x, 'p, 'd> StoryReader<'x, 'p, 'd> {
    pub fn new(
        xml: &'x mut XmlReader<'p>,
        styles: &'d Styles,
        relations: &'d Relations,
        findings: &'d mut Findings,
    ) -> Self {
        Self {
            xml,
            styles,
            relations,
            findings,
            fields: Vec::new(),
            tracked: Tracked::default(),
            link: None,
            paragraph: Paragraph::default(),
            boxes: Vec::new(),
            found: 0,
            waiting: Vec::new(),
            ranges: OpenRanges::default(),
        }
    }

    /// Reads the children of the current element as blocks.
    pub fn blocks(&mut self, out: &mut Vec<StoryBlock>) -> WordResult<()> {
        while let Some(element) = self.xml.next_element()? {
            self.block(&element, out)?;
        }
        Ok(())
    }

    /// Reads one block.
    pub fn block(&mut self, element: &Element, out: &mut Vec<StoryBlock>) -> WordResult<()> {
        match element.name.as_str() {
            "w:p" => self.whole_paragraph(out),
            "w:tbl" => {
                let table = self.table()?;
                out.push(StoryBlock::Table(table));
                Ok(())
            }
            "w:commentRangeStart" | "w:commentRangeEnd" => {
                if let Some(edge) = self.thread_edge(element) {
                    match out.last() {
                        Some(_) if element.name == "w:commentRangeEnd" => {
                            put_into_last(out, vec![edge]);
                        }
                        _ => self.waiting.push(edge),
                    }
                }
                self.xml.skip()
            }
            "w:sectPr" => self.xml.skip(),
            "w:altChunk" => {
                self.findings.report.leave_out("embedded document", None);
                self.xml.skip()
            }
            "w:ins" | "w:del" | "w:moveFrom" | "w:moveTo" => {
                self.within_change(element, |reader| reader.blocks(out))
            }
            "mc:AlternateContent" => self.alternatives(|reader| {
                let before = out.len();
                reader.blocks(out)?;
                Ok(out.len() > before)
            }),
            "w:sdt" | "w:sdtContent" | "w:customXml" | "w:body" => self.blocks(out),
            name if is_of_characters(name) => {
                self.open_paragraph();
                self.inline(element)?;
                self.close_paragraph(out);
                Ok(())
            }
            _ if self.is_without_words(element)? => Ok(()),
            _ => self.blocks(out),
        }
    }

    /// Reads an element `w:p`.
    pub fn whole_paragraph(&mut self, out: &mut Vec<StoryBlock>) -> WordResult<()> {
        self.open_paragraph();
        self.inlines()?;
        self.close_paragraph(out);
        Ok(())
    }

    fn open_paragraph(&mut self) {
        let atoms = std::mem::take(&mut self.waiting);
        self.paragraph = Paragraph { mark: self.tracked, atoms, ..Paragraph::default() };
    }

    fn close_paragraph(&mut self, out: &mut Vec<StoryBlock>) {
        self.give_up_fields();
        // The end of the paragraph stands before its words, and belongs to the change behind them.
        self.paragraph.mark = self.in_change(self.paragraph.mark);
        self.settle_restyled();
        out.push(StoryBlock::Paragraph(std::mem::take(&mut self.paragraph)));
        out.append(&mut self.boxes);
    }

    /// Keeps the properties before a tracked change if the paragraph was of another kind with them.
    fn settle_restyled(&mut self) {
        let Some(before) = self.paragraph.before.take() else { return };
        let is_other = before.properties.is_of_other_kind(&self.paragraph.properties);
        // A paragraph that comes or goes has one kind.
        if is_other && self.paragraph.mark.revision().is_none() {
            let revision = self.revision_in_change(before.revision);
            self.paragraph.before = Some(RestyledParagraph { revision, ..before });
        } else {
            self.findings.report.decide("tracked change of formatting");
        }
    }

    /// Reads blocks inside of a paragraph, such as those of a text box. They come after it.
    pub fn boxed_blocks(&mut self) -> WordResult<()> {
        self.found += 1;
        let paragraph = std::mem::take(&mut self.paragraph);
        let fields = std::mem::take(&mut self.fields);
        let before = std::mem::take(&mut self.boxes);
        let link = self.link.take();
        let mut inner = Vec::new();
        let read = self.blocks(&mut inner);
        (self.paragraph, self.fields, self.link) = (paragraph, fields, link);
        self.boxes = before;
        self.boxes.append(&mut inner);
        read
    }

    /// Reads what a tracked change encloses.
    pub fn within_change(
        &mut self,
        element: &Element,
        read: impl FnOnce(&mut Self) -> WordResult<()>,
    ) -> WordResult<()> {
        let before = self.tracked;
        self.tracked = self.change(element).within(before);
        let result = read(self);
        self.tracked = before;
        if std::mem::take(&mut self.ranges.ends_change) {
            self.ranges.change = None;
        }
        result
    }

    /// Returns the state that an element such as `w:ins` gives. It is not read to its end.
    pub fn change(&mut self, element: &Element) -> Tracked {
        let is_move = matches!(element.name.as_str(), "w:moveFrom" | "w:moveTo");
        // The innermost of the ranges that are open here.
        let move_name = if is_move { self.ranges.moves.values().next().cloned() } else { None };
        let revision = Revision {
            author: element.attribute("author").unwrap_or_default().trim().to_owned(),
            at: element.attribute("date"),
            move_name,
        };
        let revisions = &mut self.findings.revisions;
        if revisions.last() != Some(&revision) {
            revisions.push(revision);
        }
        let number = Some(revisions.len() - 1);
        match element.name.as_str() {
            "w:ins" | "w:moveTo" => Tracked { inserted: number, deleted: None },
            _ => Tracked { inserted: None, deleted: number },
        }
    }

    /// Returns a state as that of the change around the reader's place.
    fn in_change(&mut self, mut tracked: Tracked) -> Tracked {
        for number in [&mut tracked.inserted, &mut tracked.deleted].into_iter().flatten() {
            *number = self.revision_in_change(*number);
        }
        tracked
    }

    fn revision_in_change(&mut self, number: usize) -> usize {
        let name = self.ranges.change.as_ref().map(|(_, name)| name.clone());
        let revisions = &mut self.findings.revisions;
        let Some(known) = revisions.get(number) else { return number };
        let is_own = known.move_name.as_ref().is_none_or(|name| name.starts_with(CHANGE));
        if !is_own || known.move_name == name {
            return number;
        }
        let revision = Revision { move_name: name, ..known.clone() };
        if revisions.last() != Some(&revision) {
            revisions.push(revision);
        }
        revisions.len() - 1
    }

    /// Returns the edge that an element such as `w:commentRangeStart` gives a thread.
    fn thread_edge(&self, element: &Element) -> Option<Atom> {
        let thread = self.findings.threads.get(&element.attribute("id")?)?;
        Some(edge(FIRST_THREAD + thread, element.name == "w:commentRangeStart"))
    }

    fn bookmark(&mut self, element: &Element) {
        let name = element.attribute("name");
        // Each part has a name of its own, which begins with that of the change.
        let change = name.as_ref().and_then(|name| name.strip_prefix(CHANGE));
        match change.and_then(|rest| rest.split('_').next()) {
            Some(number) => {
                let id = element.attribute("id").unwrap_or_default();
                self.ranges.change = Some((id, format!("{CHANGE}{number}")));
            }
            None => self.findings.bookmark = name,
        }
    }

    fn end_bookmark(&mut self, element: &Element) {
        let id = element.attribute("id").unwrap_or_default();
        if self.ranges.change.as_ref().is_none_or(|(known, _)| *known != id) {
            self.findings.bookmark = None;
        } else if self.tracked.revision().is_some() {
            // LibreOffice puts the end of the bookmark before the last character of the change.
            self.ranges.ends_change = true;
        } else {
            self.ranges.change = None;
        }
    }

    /// Reads one of several forms of the same content: the first that gives something.
    pub fn alternatives(
        &mut self,
        mut read: impl FnMut(&mut Self) -> WordResult<bool>,
    ) -> WordResult<()> {
        let mut is_read = false;
        while self.xml.next_element()?.is_some() {
            if is_read {
                self.xml.skip()?;
            } else {
                is_read = read(self)?;
            }
        }
        Ok(())
    }

    /// Handles an element that has no words. Returns whether it is one, and then it was read.
    pub fn is_without_words(&mut self, element: &Element) -> WordResult<bool> {
        let name = element.name.as_str();
        match name {
            "w:moveFromRangeStart" | "w:moveToRangeStart" => {
                let id = element.attribute("id").unwrap_or_default();
                self.ranges.moves.insert(id, element.attribute("name").unwrap_or_default());
            }
            "w:moveFromRangeEnd" | "w:moveToRangeEnd" => {
                self.ranges.moves.remove(&element.attribute("id").unwrap_or_default());
            }
            _ if name.ends_with("Pr") || name.ends_with("PrEx") || name.ends_with("Change") => {
                if name.ends_with("PrChange") {
                    self.findings.report.decide("tracked change of formatting");
                }
            }
            "w:commentRangeStart" | "w:commentRangeEnd" => {
                let edge = self.thread_edge(element);
                self.paragraph.atoms.extend(edge);
            }
            _ if name.ends_with("RangeStart") || name.ends_with("RangeEnd") => {}
            "w:bookmarkStart" => self.bookmark(element),
            "w:bookmarkEnd" => self.end_bookmark(element),
            "w:proofErr" | "w:permStart" | "w:permEnd" | "w:tblGrid" => {}
            _ => return Ok(false),
        }
        self.xml.skip()?;
        Ok(true)
    }

    /// Adds something to the paragraph, unless a field hides it.
    pub fn push(&mut self, content: Content, look: Look) {
        self.found += 1;
        let tracked = self.in_change(self.tracked);
        if let Some(field) = self.fields.iter_mut().find(|field| !field.has_result) {
            field.swallowed.push(Atom { content, look, tracked });
            return;
        }
        let mut content = content;
        if let Some(field) = self.fields.iter_mut().find(|field| field.is_note) {
            // The result is the number of the note.
            let Some(label) = field.note.take() else { return };
            content = Content::Note(label);
        }
        let field_link = self.fields.iter().rev().find_map(|field| field.link);
        let look = Look { link: self.link.or(field_link), ..look };
        self.count_words_without_place(&content);
        if let (
            Content::Text(more),
            Some(Atom { content: Content::Text(text), look: same, tracked: also }),
        ) = (&content, self.paragraph.atoms.last_mut())
            && (*same, *also) == (look, tracked)
        {
            text.push_str(more);
            return;
        }
        self.paragraph.atoms.push(Atom { content, look, tracked });
    }

    /// Reports words that one person inserted and a person deleted again: they are in neither view.
    fn count_words_without_place(&mut self, content: &Content) {
        if let (Content::Text(text), Tracked { inserted: Some(_), deleted: Some(_) }) =
            (content, self.tracked)
            && !text.trim().is_empty()
        {
            self.findings.report.leave_out("insertion that was deleted again", Some(text));
        }
    }

    /// Returns the label of a note that is referred to here.
    pub fn note(&mut self, kind: &'static str, id: &str) -> String {
        let tracked = self.in_change(self.tracked);
        self.findings.note(kind, id, tracked)
    }

    /// Returns the look of characters with these properties.
    pub fn look(&mut self, run: &RunProperties) -> Look {
        let style = self.styles.of_paragraph(self.paragraph.properties.style.as_deref());
        let role = self.styles.role(&self.paragraph.properties);
        super::looks::look(run, style, role, self.styles)
    }

    /// Returns the words of the current element, and reads it to its end. Tracked changes and links
    /// in it do not count.
    pub fn words(&mut self) -> WordResult<String> {
        let paragraph = std::mem::take(&mut self.paragraph);
        let fields = std::mem::take(&mut self.fields);
        let read = self.inlines();
        self.give_up_fields();
        let inner = std::mem::replace(&mut self.paragraph, paragraph);
        self.fields = fields;
        read?;
        Ok(super::inlines::plain(&inner.atoms))
    }

    /// Returns the words of the blocks in the current element, and reads it to its end.
    pub fn words_of_blocks(&mut self) -> WordResult<String> {
        let mut blocks = Vec::new();
        self.blocks(&mut blocks)?;
        let mut words = Vec::new();
        collect_words(&blocks, &mut words);
        Ok(words.join(" "))
    }

    /// Reads the children of the current element as parts of a paragraph.
    pub fn inlines(&mut self) -> WordResult<()> {
        while let Some(node) = self.xml.next()? {
            match node {
                Node::Element(element) => self.inline(&element)?,
                Node::Text(text) if text.trim().is_empty() => {}
                Node::Text(text) => self.push(Content::Text(text), Look::default()),
            }
        }
        Ok(())
    }
}

fn collect_words(blocks: &[StoryBlock], words: &mut Vec<String>) {
    for block in blocks {
        match block {
            StoryBlock::Paragraph(paragraph) => {
                let text = super::inlines::plain(&paragraph.atoms);
                if !text.trim().is_empty() {
                    words.push(text.trim().to_owned());
                }
            }
            StoryBlock::Table(table) => {
                for cell in table.rows.iter().flat_map(|row| &row.cells) {
                    collect_words(&cell.blocks, words);
                }
            }
        }
    }
}

/// Returns whether an element is a part of a paragraph.
fn is_of_characters(name: &str) -> bool {
    matches!(
        name,
        "w:r"
            | "w:hyperlink"
            | "w:fldSimple"
            | "w:smartTag"
            | "w:bdo"
            | "w:dir"
            | "m:oMath"
            | "m:oMathPara"
    )
}
