//! Reader of a story: the text, a note, a header. It gives paragraphs and tables.
//!
//! An element that is not known gives its children, so that no words go with it. Readers call
//! themselves for inner elements; [`XmlReader`] bounds how deep.

use std::collections::HashMap;

use crate::Report;

use super::error::WordError;
use super::fields::Field;
use super::model::{Atom, Content, LinkTarget, Look, Paragraph, Revision, StoryBlock, Tracked};
use super::package::Relations;
use super::properties::RunProperties;
use super::styles::Styles;
use super::xml::{Element, Node, XmlReader};

/// What readers of all stories of a document find.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub report: Report,
    pub revisions: Vec<Revision>,
    pub links: Vec<LinkTarget>,
    /// Labels of notes by their kind and identifier, in the order of their first references.
    pub notes: Vec<NoteUse>,
    /// Labels of the notes whose references have bookmarks, by the names of these.
    pub bookmarked_notes: HashMap<String, String>,
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
    /// Names of the moves around the reader's place, by the identifiers of their ranges.
    moves: HashMap<String, String>,
}

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
            moves: HashMap::new(),
        }
    }

    /// Reads the children of the current element as blocks.
    pub fn blocks(&mut self, out: &mut Vec<StoryBlock>) -> Result<(), WordError> {
        while let Some(element) = self.xml.next_element()? {
            self.block(&element, out)?;
        }
        Ok(())
    }

    /// Reads one block.
    pub fn block(&mut self, element: &Element, out: &mut Vec<StoryBlock>) -> Result<(), WordError> {
        match element.name.as_str() {
            "w:p" => self.whole_paragraph(out),
            "w:tbl" => {
                let table = self.table()?;
                out.push(StoryBlock::Table(table));
                Ok(())
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
    pub fn whole_paragraph(&mut self, out: &mut Vec<StoryBlock>) -> Result<(), WordError> {
        self.open_paragraph();
        self.inlines()?;
        self.close_paragraph(out);
        Ok(())
    }

    fn open_paragraph(&mut self) {
        self.paragraph = Paragraph { mark: self.tracked, ..Paragraph::default() };
    }

    fn close_paragraph(&mut self, out: &mut Vec<StoryBlock>) {
        self.give_up_fields();
        out.push(StoryBlock::Paragraph(std::mem::take(&mut self.paragraph)));
        out.append(&mut self.boxes);
    }

    /// Reads blocks inside of a paragraph, such as those of a text box. They come after it.
    pub fn boxed_blocks(&mut self) -> Result<(), WordError> {
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
        read: impl FnOnce(&mut Self) -> Result<(), WordError>,
    ) -> Result<(), WordError> {
        let before = self.tracked;
        self.tracked = self.change(element).within(before);
        let result = read(self);
        self.tracked = before;
        result
    }

    /// Returns the state that an element such as `w:ins` gives. It is not read to its end.
    pub fn change(&mut self, element: &Element) -> Tracked {
        let is_move = matches!(element.name.as_str(), "w:moveFrom" | "w:moveTo");
        // The innermost of the ranges that are open here.
        let move_name = if is_move { self.moves.values().next().cloned() } else { None };
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

    /// Reads one of several forms of the same content: the first that gives something.
    pub fn alternatives(
        &mut self,
        mut read: impl FnMut(&mut Self) -> Result<bool, WordError>,
    ) -> Result<(), WordError> {
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
    pub fn is_without_words(&mut self, element: &Element) -> Result<bool, WordError> {
        let name = element.name.as_str();
        match name {
            "w:moveFromRangeStart" | "w:moveToRangeStart" => {
                let id = element.attribute("id").unwrap_or_default();
                self.moves.insert(id, element.attribute("name").unwrap_or_default());
            }
            "w:moveFromRangeEnd" | "w:moveToRangeEnd" => {
                self.moves.remove(&element.attribute("id").unwrap_or_default());
            }
            _ if name.ends_with("Pr") || name.ends_with("PrEx") || name.ends_with("Change") => {
                if name.ends_with("PrChange") {
                    self.findings.report.decide("tracked change of formatting");
                }
            }
            _ if name.ends_with("RangeStart") || name.ends_with("RangeEnd") => {}
            "w:bookmarkStart" => self.findings.bookmark = element.attribute("name"),
            "w:bookmarkEnd" => self.findings.bookmark = None,
            "w:proofErr" | "w:permStart" | "w:permEnd" | "w:tblGrid" => {}
            _ => return Ok(false),
        }
        self.xml.skip()?;
        Ok(true)
    }

    /// Adds something to the paragraph, unless a field hides it.
    pub fn push(&mut self, content: Content, look: Look) {
        self.found += 1;
        let tracked = self.tracked;
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
        self.findings.note(kind, id, self.tracked)
    }

    /// Returns the look of characters with these properties.
    pub fn look(&mut self, run: &RunProperties) -> Look {
        let style = self.styles.of_paragraph(self.paragraph.properties.style.as_deref());
        let role = self.styles.role(&self.paragraph.properties);
        super::looks::look(run, style, role, self.styles)
    }

    /// Returns the words of the current element, and reads it to its end. Tracked changes and links
    /// in it do not count.
    pub fn words(&mut self) -> Result<String, WordError> {
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
    pub fn words_of_blocks(&mut self) -> Result<String, WordError> {
        let mut blocks = Vec::new();
        self.blocks(&mut blocks)?;
        let mut words = Vec::new();
        collect_words(&blocks, &mut words);
        Ok(words.join(" "))
    }

    /// Reads the children of the current element as parts of a paragraph.
    pub fn inlines(&mut self) -> Result<(), WordError> {
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
