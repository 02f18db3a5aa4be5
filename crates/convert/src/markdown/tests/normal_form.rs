//! Trees in a form in which two that say the same are equal: marks letter by letter, without
//! those of blanks and punctuation, which the writer may move.

use std::fmt::Write as _;

use crate::markdown::blocks::{is_blank, is_loose};
use crate::tree::{Block, Document, Entry, Inline, List};

use super::read_back::one_line;

/// Marks that are compared.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Compared {
    /// Letters and all their marks.
    Marks,
    /// Letters, links and code only.
    Words,
}

/// Returns the normal form of a document, a line for each block.
pub fn normal_form(document: &Document, compared: Compared) -> String {
    let mut form = Form { compared, text: String::new(), depth: 0, is_in_note: false };
    form.blocks(&document.blocks);
    // Of lists in notes, `comrak` does not say whether they are loose.
    form.is_in_note = true;
    for note in &document.notes {
        form.line(&format!("note {}", note.label));
        form.inside(|form| form.blocks(&note.blocks));
    }
    form.text
}

struct Form {
    compared: Compared,
    text: String,
    depth: usize,
    is_in_note: bool,
}

#[derive(Clone, Copy, Default)]
struct Carried<'a> {
    strong: bool,
    emphasis: bool,
    struck: bool,
    url: &'a str,
}

impl Form {
    fn line(&mut self, line: &str) {
        self.text.push_str(&"  ".repeat(self.depth));
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn inside(&mut self, write: impl FnOnce(&mut Self)) {
        self.depth += 1;
        write(self);
        self.depth -= 1;
    }

    fn blocks(&mut self, blocks: &[Block]) {
        for block in blocks.iter().filter(|block| !is_blank(block)) {
            match block {
                Block::Paragraph(content) => {
                    let words = self.words(content, "⏎");
                    if !words.is_empty() {
                        self.line(&format!("p {words}"));
                    }
                }
                Block::Heading { level, content } => {
                    let words = self.words(content, " ");
                    if !words.is_empty() {
                        self.line(&format!("h{level} {words}"));
                    }
                }
                Block::Code { language, text } => self.line(&format!("code {language} {text:?}")),
                Block::Formula(tex) => self.line(&format!("p display {}", one_line(tex))),
                Block::Rule => self.line("rule"),
                Block::Quote(inner) => {
                    self.line("quote");
                    self.inside(|form| form.blocks(inner));
                }
                Block::List(list) => {
                    let loose = shows_looseness(list) && !self.is_in_note && is_loose(list);
                    self.line(&format!("list {:?} loose={loose}", list.start));
                    self.inside(|form| list.entries.iter().for_each(|entry| form.entry(entry)));
                }
                Block::Table(table) => {
                    self.line(&format!("table {:?}", table.columns));
                    for row in std::iter::once(&table.heading).chain(&table.rows) {
                        let cell = |cell: &Vec<Inline>| without_piped_code(&self.words(cell, "⏎"));
                        let cells: Vec<_> = row.iter().map(cell).collect();
                        self.line(&format!("row {cells:?}"));
                    }
                }
            }
        }
    }

    fn entry(&mut self, entry: &Entry) {
        self.line(&format!("entry {:?}", entry.done));
        self.inside(|form| form.blocks(&entry.blocks));
    }

    fn words(&self, content: &[Inline], line_break: &str) -> String {
        let mut words = String::new();
        self.add(content, Carried::default(), line_break, &mut words);
        // Code beside code is one stretch of it, and so are formulas.
        trimmed(&words.replace("⟫⟪", "").replace("⟭⟬", " "), line_break)
    }

    fn add(&self, content: &[Inline], carried: Carried<'_>, line_break: &str, into: &mut String) {
        for inline in content {
            match inline {
                Inline::Text(text) => self.add_text(text, carried, into),
                Inline::Emphasis(inner) => {
                    self.add(inner, Carried { emphasis: true, ..carried }, line_break, into);
                }
                Inline::Strong(inner) => {
                    self.add(inner, Carried { strong: true, ..carried }, line_break, into);
                }
                Inline::Strikethrough(inner) => {
                    self.add(inner, Carried { struck: true, ..carried }, line_break, into);
                }
                Inline::Link { url, content, .. } => {
                    let url = if carried.url.is_empty() { url } else { carried.url };
                    self.add(content, Carried { url, ..carried }, line_break, into);
                }
                Inline::Code(code) => {
                    let _ = write!(into, "⟪{code}⟫");
                }
                Inline::Formula(tex) => {
                    let _ = write!(into, "⟬{}⟭", one_line(tex));
                }
                Inline::Picture { url, title, description } => {
                    let _ = write!(into, "⟦picture {url} {title} {}⟧", one_line(description));
                }
                Inline::NoteReference(label) => {
                    let _ = write!(into, "⟦note {label}⟧");
                }
                Inline::Break => into.push_str(line_break),
                Inline::ChangeStart(_) | Inline::ChangeEnd(_) => {}
            }
        }
    }

    fn add_text(&self, text: &str, carried: Carried<'_>, into: &mut String) {
        for sign in text.chars() {
            into.push(if sign == '\n' { ' ' } else { sign });
            if !sign.is_alphanumeric() || self.compared == Compared::Words {
                continue;
            }
            into.extend(carried.strong.then_some('²'));
            into.extend(carried.emphasis.then_some('¹'));
            into.extend(carried.struck.then_some('⁻'));
            if !carried.url.is_empty() {
                let _ = write!(into, "⟨{}⟩", carried.url);
            }
        }
    }
}

/// Returns the words of a cell; code in which a backslash stands before a pipe is words.
fn without_piped_code(words: &str) -> String {
    let parts = words.split('⟪').enumerate().map(|(number, part)| match part.split_once('⟫') {
        Some((code, behind)) if code.contains("\\|") => format!("{code}{behind}"),
        _ if number == 0 => part.to_owned(),
        _ => format!("⟪{part}"),
    });
    parts.collect()
}

/// Removes blanks at the edges of lines, and breaks at the edges of the text.
fn trimmed(words: &str, line_break: &str) -> String {
    let lines: Vec<&str> = words.split(line_break).map(|line| line.trim_matches(' ')).collect();
    let joined = lines.join(line_break);
    if line_break.trim().is_empty() {
        return one_line(&joined);
    }
    let mut rest = joined.as_str();
    while let Some(inner) = rest.strip_prefix(line_break) {
        rest = inner;
    }
    while let Some(inner) = rest.strip_suffix(line_break) {
        rest = inner;
    }
    rest.to_owned()
}

/// Returns whether it can be seen that a list is loose: readers differ where entries hold more than
/// one paragraph each.
fn shows_looseness(list: &List) -> bool {
    let is_paragraph = |entry: &Entry| matches!(entry.blocks[..], [Block::Paragraph(_)]);
    list.entries.len() > 1 && list.entries.iter().all(is_paragraph)
}
