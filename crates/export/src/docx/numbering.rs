//! List numbering: bullets share one definition, each numbered list has its own, so that it counts
//! anew.

use std::collections::HashMap;
use std::io::{self, Write};

use super::flow::ListKind;

/// Number of the definition of bullets; numbered lists come after it.
const BULLETS: usize = 1;
/// Number of levels that Word supports.
const LEVELS: u8 = 9;
/// Deepest level, counted from 0; lists inside of it are of that level.
pub(super) const DEEPEST: u8 = LEVELS - 1;
/// Indentation of each level, in twentieths of a point.
const STEP: u32 = 720;

/// Numbered lists of a document.
#[derive(Default)]
pub(super) struct ListNumbering {
    numbers: HashMap<u32, usize>,
    /// Level and first number of each, in the order of their own numbers.
    lists: Vec<(u8, u32)>,
}

impl ListNumbering {
    /// Returns the number that an item of this list refers to.
    pub fn number(&mut self, list: ListKind, level: u8) -> usize {
        match list {
            ListKind::Bullets => BULLETS,
            ListKind::Numbers { id, start } => *self.numbers.entry(id).or_insert_with(|| {
                self.lists.push((level, start));
                BULLETS + self.lists.len()
            }),
        }
    }

    /// Writes `word/numbering.xml`.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        out.write_all(super::xml::HEAD.as_bytes())?;
        out.write_all(
            b"<w:numbering xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\">\n",
        )?;
        definition(out, 0, |_| ("bullet", "•".to_owned()))?;
        definition(out, 1, |level| ("decimal", format!("%{}.", level + 1)))?;
        writeln!(out, "<w:num w:numId=\"{BULLETS}\"><w:abstractNumId w:val=\"0\"/></w:num>")?;
        for (index, (level, start)) in self.lists.iter().enumerate() {
            writeln!(
                out,
                "<w:num w:numId=\"{}\"><w:abstractNumId w:val=\"1\"/><w:lvlOverride w:ilvl=\"{level}\">\
                 <w:startOverride w:val=\"{start}\"/></w:lvlOverride></w:num>",
                BULLETS + 1 + index
            )?;
        }
        out.write_all(b"</w:numbering>\n")
    }
}

/// Returns the indentation of an item's text, in twentieths of a point.
pub(super) fn indent(level: u8) -> u32 {
    STEP * (u32::from(level) + 1)
}

fn definition(
    out: &mut impl Write,
    number: u8,
    look: impl Fn(u8) -> (&'static str, String),
) -> io::Result<()> {
    writeln!(
        out,
        "<w:abstractNum w:abstractNumId=\"{number}\"><w:multiLevelType w:val=\"hybridMultilevel\"/>"
    )?;
    for level in 0..LEVELS {
        let (format, text) = look(level);
        writeln!(
            out,
            "<w:lvl w:ilvl=\"{level}\"><w:start w:val=\"1\"/><w:numFmt w:val=\"{format}\"/><w:lvlText w:val=\"{text}\"/>\
             <w:lvlJc w:val=\"left\"/><w:pPr><w:ind w:left=\"{}\" w:hanging=\"360\"/></w:pPr></w:lvl>",
            indent(level)
        )?;
    }
    out.write_all(b"</w:abstractNum>\n")
}
