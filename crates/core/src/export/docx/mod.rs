//! Word documents: paragraphs with styles, and every pending change as a tracked insertion or
//! deletion.
//!
//! The present text and the proposed text are both read as Markdown, each into a sequence of
//! characters and ends of paragraphs ([`flow`]). Both are compared ([`track`]): items that both
//! have at one place stay, and the rest is deleted or inserted. So rejecting everything gives
//! exactly the present document and accepting everything exactly the proposed one, also where a
//! change turns a paragraph into a heading or makes a word bold. After that, rows of tables are
//! made whole ([`table`]).

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

/// Returns the content of the file.
pub(super) fn write(title: &str, marked: &AnnotatedText) -> Result<Vec<u8>, ExportError> {
    let mut links = flow::LinkTargets::default();
    let tracked = track::track(marked, &mut links);
    let document = body::write(&tracked, marked, &links);
    package::pack(title, &document, marked)
}
