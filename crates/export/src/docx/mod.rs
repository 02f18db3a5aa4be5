//! Word documents: paragraphs with styles, and pending changes as tracked insertions or deletions.
//!
//! The present text and the proposed text are both read as Markdown ([`reader`]) into a sequence of
//! characters and ends of paragraphs ([`flow`]), and compared ([`track`]). So rejecting everything
//! gives exactly the present document and accepting everything exactly the proposed one, also where
//! a change turns a paragraph into a heading. On the way to the writer ([`body`]) rows of tables
//! are made whole ([`table`]). Each paragraph is packed when it ends, which bounds the memory.

mod body;
mod comments;
mod direction;
mod flow;
mod footnotes;
mod numbering;
mod package;
mod properties;
mod reader;
mod reader_state;
mod revisions;
mod runs;
mod steps;
mod table;
mod track;
mod xml;

#[cfg(test)]
mod construct_tests;
#[cfg(test)]
mod review_tests;
#[cfg(test)]
mod round_trip_tests;
#[cfg(test)]
mod tests;

use std::cell::RefCell;

use super::ExportResult;
use super::annotated::AnnotatedText;
use super::front_matter::FrontMatter;
use body::{BodyWriter, WrittenBody};
use copydesk_interrupt::Interrupt;
use flow::FlowNames;
use package::{Package, PackageRest};

/// Returns the content of the file.
pub fn write(title: &str, marked: &AnnotatedText, interrupt: &Interrupt) -> ExportResult<Vec<u8>> {
    let front = FrontMatter::of(&marked.present());
    let names = RefCell::new(FlowNames::default());
    let mut package = Package::new()?;
    let writer = BodyWriter::new(package.begin_text()?, marked, interrupt);
    let WrittenBody { numbering, references, notes, in_notes } =
        track::track(marked, &names, writer)?.finish()?;
    package.finish(&PackageRest {
        title,
        front: &front,
        marked,
        names: &names.borrow(),
        numbering: &numbering,
        references: &references,
        notes: &notes,
        in_notes: &in_notes,
    })
}
