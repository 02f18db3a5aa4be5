//! Word documents (`.docx`), read into the tree. The modules in reading order:
//!
//! 1. [`package`] finds the parts in the zip, [`xml`] reads their elements one by one.
//! 2. [`properties`], [`styles`], [`numbering`]: what paragraphs and characters look like.
//! 3. [`story`] reads the text and the notes into the [`model`], with [`runs`], [`fields`],
//!    [`drawings`], [`math`] and [`story_tables`].
//! 4. [`views`] makes two documents of it: all tracked changes rejected, and all accepted.
//! 5. [`assemble`] makes the tree of each, with [`lists`], [`tables`], [`inlines`] and [`wholes`].
//! 6. [`changes`] compares their Markdown, so that the tracked changes become suggestions, and
//!    [`comments`] says where threads are.

mod assemble;
mod changes;
mod comments;
mod document;
mod drawings;
mod error;
mod fields;
mod inlines;
mod links;
mod lists;
mod looks;
mod math;
mod model;
mod numbering;
mod package;
mod properties;
mod runs;
mod story;
mod story_tables;
mod styles;
mod symbols;
mod tables;
mod views;
mod wholes;
mod xml;

#[cfg(test)]
mod tests;

use crate::markdown::{self, Written};
use crate::tree::{Document, Note};
use crate::{Converted, Report};

use assemble::Assembler;
use changes::Replacement;
use comments::{ThreadWords, WordThread};
use document::WordDocument;
pub use error::WordError;
use model::{Revision, StoryBlock, View};
use package::Package;
use views::{Site, SiteMarker};

/// Reads a Word document. Nothing outside of the bytes is loaded.
pub fn from_word(bytes: &[u8]) -> Result<Converted, WordError> {
    let document = WordDocument::read(&mut Package::open(bytes)?)?;
    let Compared {
        title,
        rejected,
        accepted,
        replacements,
        sites,
        revisions,
        threads,
        words,
        report,
    } = compare(document);
    let (mut suggestions, of_sites) =
        changes::suggestions(&rejected.markdown, replacements, &sites, &revisions);
    let mut placed = Vec::new();
    if let Some(accepted) = accepted.as_ref().filter(|_| !threads.is_empty()) {
        placed = changes::placed_changes((&mut suggestions, &of_sites), &rejected, accepted);
    }
    let threads =
        comments::place_threads((threads, &words), &rejected, accepted.as_ref(), &mut placed);
    Ok(Converted { title, markdown: rejected.markdown, suggestions, threads, report })
}

/// Document as Markdown, with its tracked changes as replacements in the order of their places.
struct Compared {
    title: Option<String>,
    rejected: Written,
    /// The other view, if something is tracked.
    accepted: Option<Written>,
    replacements: Vec<Replacement>,
    sites: Vec<Site>,
    revisions: Vec<Revision>,
    threads: Vec<WordThread>,
    words: ThreadWords,
    report: Report,
}

/// Writes both views of a document and compares them.
fn compare(mut document: WordDocument) -> Compared {
    let mut marker = SiteMarker::new(&document.revisions);
    marker.mark(&mut document.body, false);
    for (_, blocks) in &mut document.notes {
        marker.mark(blocks, true);
    }
    let sites = marker.sites;
    let (rejected, mut report) = write(&document, View::Rejected);
    let (mut replacements, mut accepted) = (Vec::new(), None);
    if !sites.is_empty() {
        let (written, accepted_report) = write(&document, View::Accepted);
        report.take_larger(accepted_report);
        replacements = changes::replacements(&rejected, &written, &sites);
        accepted = Some(written);
    }
    document.report.take_larger(report);
    let stories: Vec<&[StoryBlock]> = [&document.body[..]]
        .into_iter()
        .chain(document.notes.iter().map(|(_, blocks)| &blocks[..]))
        .collect();
    let words = ThreadWords::of(document.threads.len(), &stories);
    Compared {
        title: document.title,
        rejected,
        accepted,
        replacements,
        sites,
        revisions: document.revisions,
        threads: document.threads,
        words,
        report: document.report,
    }
}

/// Writes one view of a document.
fn write(document: &WordDocument, view: View) -> (Written, Report) {
    let mut assembler = Assembler::new(
        &document.styles,
        &document.numbering,
        &document.links,
        assemble::is_monospaced_code(&document.body),
    );
    let blocks = assembler.story(&views::project(&document.body, view));
    let mut notes = Vec::new();
    for (note, content) in &document.notes {
        if note.tracked.is_in(view) {
            let blocks = assembler.story(&views::project(content, view));
            notes.push(Note { label: note.label.clone(), blocks });
        }
    }
    let tree = Document { title: document.title.clone(), blocks, notes };
    (markdown::write(&tree), assembler.report)
}
