//! Word: paragraphs with styles, and every pending change as a tracked insertion or deletion.
//!
//! The present text and the proposed text are both read as Markdown, each into a row of characters and ends of paragraphs
//! ([`flow`]). Put side by side ([`track`]), what both have at the same place stays, and the rest is deleted or inserted. So
//! rejecting everything gives exactly the present document and accepting everything exactly the proposed one, also where a
//! change turns a paragraph into a heading or makes a word bold. Rows of tables are made whole then ([`table`]).

mod body;
mod flow;
mod numbering;
mod package;
mod table;
mod track;
mod xml;

#[cfg(test)]
mod tests;

use super::ExportError;
use super::annotated::AnnotatedText;

/// The file's content.
pub(super) fn write(title: &str, marked: &AnnotatedText) -> Result<Vec<u8>, ExportError> {
    let mut links = flow::LinkTargets::default();
    let tracked = track::track(marked, &mut links);
    let document = body::write(&tracked, marked, &links);
    package::pack(title, &document, marked)
}
