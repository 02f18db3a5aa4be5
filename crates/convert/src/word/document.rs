//! All parts of a Word document, read in the order in which they need each other.

use crate::Report;

use super::comments::{WordThread, read_threads};
use super::error::{WordError, WordResult};
use super::model::{Content, LinkTarget, Revision, StoryBlock, Tracked};
use super::numbering::Numbering;
use super::package::{Package, Relations};
use super::story::{Findings, StoryReader};
use super::styles::Styles;
use super::views::put_into_last;

/// Word document as it was read.
pub(super) struct WordDocument {
    pub title: Option<String>,
    pub styles: Styles,
    pub numbering: Numbering,
    pub links: Vec<LinkTarget>,
    pub revisions: Vec<Revision>,
    pub body: Vec<StoryBlock>,
    /// Notes in the order of their first references.
    pub notes: Vec<(WordNote, Vec<StoryBlock>)>,
    pub threads: Vec<WordThread>,
    pub report: Report,
}

/// Note of a Word document.
#[derive(Clone, Debug)]
pub(super) struct WordNote {
    pub label: String,
    /// State of its first reference.
    pub tracked: Tracked,
}

impl WordDocument {
    /// Reads all parts of a file.
    pub fn read(package: &mut Package) -> WordResult<Self> {
        let main = package.main_part()?;
        let relations = package.relations(&main)?;
        let part_of = |kind: &str| {
            let found = relations.values().find(|it| it.kind == kind && !it.is_external);
            found.map(|it| it.target.clone()).unwrap_or_default()
        };
        let title = package.title()?;
        let styles = match package.part(&part_of("styles"))? {
            Some(mut xml) => Styles::read(&mut xml)?,
            None => Styles::default(),
        };
        let numbering = match package.part(&part_of("numbering"))? {
            Some(mut xml) => Numbering::read(&mut xml)?,
            None => Numbering::default(),
        };
        let mut findings = Findings::default();
        let parts = (part_of("comments"), part_of("commentsExtended"));
        let threads = read_threads(package, (&parts.0, &parts.1), &styles, &mut findings)?;
        let body = read_body(package, &main, &styles, &relations, &mut findings)?;
        let mut notes = Vec::new();
        for (kind, part) in
            [("w:footnote", part_of("footnotes")), ("w:endnote", part_of("endnotes"))]
        {
            let relations = package.relations(&part)?;
            read_notes(package, &part, kind, &styles, &relations, &mut findings, &mut notes)?;
        }
        notes.sort_by_key(|(place, ..)| *place);
        read_margins(package, &relations, &styles, &mut findings)?;
        let mut document = Self {
            title,
            styles,
            numbering,
            links: findings.links,
            revisions: findings.revisions,
            body,
            notes: notes.into_iter().map(|(_, note, blocks)| (note, blocks)).collect(),
            threads,
            report: findings.report,
        };
        document.remove_references_to_nothing();
        Ok(document)
    }

    /// Removes references to notes that are not in the file.
    fn remove_references_to_nothing(&mut self) {
        let known: Vec<&str> = self.notes.iter().map(|(note, _)| note.label.as_str()).collect();
        let mut missing = 0;
        retain_notes(&mut self.body, &known, &mut missing);
        for _ in 0..missing {
            self.report.leave_out("note that is not in the file", None);
        }
    }
}

fn retain_notes(blocks: &mut [StoryBlock], known: &[&str], missing: &mut usize) {
    for block in blocks {
        match block {
            StoryBlock::Paragraph(paragraph) => {
                let before = paragraph.atoms.len();
                paragraph.atoms.retain(|atom| match &atom.content {
                    Content::Note(label) => known.contains(&label.as_str()),
                    _ => true,
                });
                *missing += before - paragraph.atoms.len();
            }
            StoryBlock::Table(table) => {
                let cells = table.rows.iter_mut().flat_map(|row| &mut row.cells);
                cells.for_each(|cell| retain_notes(&mut cell.blocks, known, missing));
            }
        }
    }
}

fn read_body(
    package: &mut Package,
    part: &str,
    styles: &Styles,
    relations: &Relations,
    findings: &mut Findings,
) -> WordResult<Vec<StoryBlock>> {
    let mut blocks = Vec::new();
    let Some(mut xml) = package.part(part)? else { return Err(WordError::NotWord) };
    let mut is_word = false;
    while let Some(root) = xml.next_element()? {
        if root.name != "w:document" {
            return Err(WordError::NotWord);
        }
        is_word = true;
        let mut reader = StoryReader::new(&mut xml, styles, relations, findings);
        reader.blocks(&mut blocks)?;
        put_into_last(&mut blocks, reader.waiting);
    }
    if is_word { Ok(blocks) } else { Err(WordError::NotWord) }
}

/// Reads the notes of one kind that the text refers to, each with its place among all notes.
fn read_notes(
    package: &mut Package,
    part: &str,
    kind: &'static str,
    styles: &Styles,
    relations: &Relations,
    findings: &mut Findings,
    out: &mut Vec<(usize, WordNote, Vec<StoryBlock>)>,
) -> WordResult<()> {
    let Some(mut xml) = package.part(part)? else { return Ok(()) };
    while xml.next_element()?.is_some() {
        while let Some(element) = xml.next_element()? {
            let is_separator = element.attribute("type").is_some_and(|it| it != "normal");
            if element.name != kind || is_separator {
                xml.skip()?;
                continue;
            }
            let id = element.attribute("id").unwrap_or_default();
            let uses = &findings.notes;
            let place = uses.iter().position(|note| note.kind == kind && note.id == id);
            let mut reader = StoryReader::new(&mut xml, styles, relations, findings);
            let Some(place) = place else {
                let words = reader.words_of_blocks()?;
                findings.report.leave_out("note without a reference", Some(&words));
                continue;
            };
            // A note comes and goes with its reference.
            let tracked = reader.findings.notes[place].tracked;
            reader.tracked = tracked;
            let mut blocks = Vec::new();
            reader.blocks(&mut blocks)?;
            out.push((place, WordNote { label: (place + 1).to_string(), tracked }, blocks));
        }
    }
    Ok(())
}

/// Counts headers and footers that have words.
fn read_margins(
    package: &mut Package,
    relations: &Relations,
    styles: &Styles,
    findings: &mut Findings,
) -> WordResult<()> {
    let (nowhere, mut unused) = (Relations::new(), Findings::default());
    let mut margins: Vec<_> = relations
        .values()
        .filter(|it| !it.is_external && matches!(it.kind.as_str(), "header" | "footer"))
        .collect();
    margins.sort_by(|one, other| one.target.cmp(&other.target));
    for margin in margins {
        let Some(mut xml) = package.part(&margin.target)? else { continue };
        while xml.next_element()?.is_some() {
            let words =
                StoryReader::new(&mut xml, styles, &nowhere, &mut unused).words_of_blocks()?;
            if !words.trim().is_empty() {
                findings.report.leave_out(&margin.kind, Some(&words));
            }
        }
    }
    Ok(())
}
