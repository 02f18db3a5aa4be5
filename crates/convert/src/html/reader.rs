//! Reader of a page: what it has found, and what holds for the words of an element. Other files
//! teach it one kind of element each.

use crate::Report;

use super::dom::Dom;
use super::flow::{Marks, Target};
use super::notes::Notes;
use super::page;
use super::style::White;

/// Lists and quotations within each other. Deeper ones stand beside the last of these.
const MOST_NESTED: usize = 24;

/// Effect of the elements around words on these words.
#[derive(Clone, Copy, Debug, Default)]
pub struct Context {
    pub marks: Marks,
    pub white: White,
    /// `true` if bold words are not marked, as in headings, which are bold.
    pub is_heading: bool,
    /// `true` if the marker of an entry is known and its words are left out.
    pub is_entry: bool,
    /// `true` if boxes to tick are known to make a task.
    pub is_task: bool,
    /// Lists around it.
    pub list_depth: usize,
    /// Blocks around it that indent.
    pub nested: usize,
}

/// Reader of one page.
pub struct Reader<'a> {
    pub dom: &'a Dom,
    pub report: Report,
    pub links: Vec<Target>,
    /// Address of the page, if it says one.
    pub base: Option<String>,
    pub found_notes: Notes,
    /// `true` if tasks may be words, as Notion writes them.
    pub is_of_notion: bool,
    /// Elements around the one that is read.
    pub depth: usize,
}

impl<'a> Reader<'a> {
    pub fn new(dom: &'a Dom) -> Self {
        Self {
            dom,
            report: Report::default(),
            links: Vec::new(),
            base: page::base(dom),
            found_notes: Notes::find(dom),
            is_of_notion: page::is_of_notion(dom),
            depth: 0,
        }
    }
}

impl Context {
    /// Returns the context in a block that indents; nothing if too many are around it.
    pub fn nested(mut self) -> Option<Self> {
        self.nested += 1;
        (self.nested <= MOST_NESTED).then_some(self)
    }
}
