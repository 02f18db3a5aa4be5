//! HTML, as browsers and programs put it on the clipboard or in files, read into the tree. An
//! element that is not known gives its content. The modules in reading order:
//!
//! 1. [`parse`] and [`sink`] make a [`dom`] with html5ever, within limits.
//! 2. [`flow`] holds words and blocks, [`style`] says what words look like.
//! 3. [`reader`] holds what was found, [`page`] says what a page is. [`blocks`] goes through the
//!    elements, [`inlines`] through those within lines, and [`block_names`] tells them apart.
//! 4. [`lists`] and [`leveled`], [`tables`] and [`cells`], [`code`], [`formulas`], [`links`],
//!    [`pictures`], [`notes`], [`hidden`] and [`office`] know one kind of thing each.

mod block_names;
mod blocks;
mod cells;
mod code;
mod dom;
mod entries;
mod flow;
mod formulas;
mod hidden;
mod inlines;
mod leveled;
mod links;
mod lists;
mod notes;
mod office;
mod page;
mod parse;
mod pictures;
mod reader;
mod sink;
mod style;
mod tables;

#[cfg(test)]
mod tests;

use crate::Converted;
use crate::markdown;
use crate::tree::Document;

use reader::Reader;

/// Reads a page or a fragment of HTML. Every HTML can be read.
pub fn from_html(html: &str) -> Converted {
    let dom = parse::parse(html);
    let mut reader = Reader::new(&dom);
    let blocks = reader.document();
    let notes = reader.notes();
    let document = Document { title: page::title(&dom), blocks, notes };
    let markdown = markdown::write(&document).markdown;
    Converted { title: document.title, markdown, report: reader.report, ..Converted::default() }
}
