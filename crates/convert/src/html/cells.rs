//! Words of a cell. Its blocks become lines.

use crate::tree::{Block, Inline, List, Table};

use super::dom::Id;
use super::reader::{Context, Reader};

impl Reader<'_> {
    /// Returns the words of a cell.
    pub fn cell(&mut self, id: Id, context: Context) -> Vec<Inline> {
        let blocks = self.blocks_of(id, context);
        let mut lines = Vec::new();
        for block in blocks {
            self.add_lines(block, &mut lines);
        }
        joined(lines, &Inline::Break)
    }

    fn add_lines(&mut self, block: Block, lines: &mut Vec<Vec<Inline>>) {
        match block {
            Block::Paragraph(content) | Block::Heading { content, .. } => lines.push(content),
            Block::Code { text, .. } => {
                let code = text.lines().filter(|line| !line.trim().is_empty());
                lines.extend(code.map(|line| vec![Inline::Code(line.to_owned())]));
            }
            Block::Formula(tex) => lines.push(vec![Inline::Formula(tex)]),
            Block::Quote(blocks) => {
                for block in blocks {
                    self.add_lines(block, lines);
                }
            }
            Block::List(list) => self.add_entries(list, lines),
            Block::Table(table) => self.add_rows(table, lines),
            Block::Rule => {}
        }
    }

    fn add_entries(&mut self, list: List, lines: &mut Vec<Vec<Inline>>) {
        for (number, entry) in list.entries.into_iter().enumerate() {
            let label = match (entry.done, list.start) {
                (Some(true), _) => "☑ ".to_owned(),
                (Some(false), _) => "☐ ".to_owned(),
                (None, Some(start)) => format!("{}. ", start.saturating_add(number as u64)),
                (None, None) => "• ".to_owned(),
            };
            let first = lines.len();
            for block in entry.blocks {
                self.add_lines(block, lines);
            }
            if let Some(line) = lines.get_mut(first) {
                line.insert(0, Inline::Text(label));
            }
        }
    }

    fn add_rows(&mut self, table: Table, lines: &mut Vec<Vec<Inline>>) {
        self.report.decide("table in a table");
        for row in std::iter::once(table.heading).chain(table.rows) {
            lines.push(joined(row, &Inline::Text(" | ".to_owned())));
        }
    }
}

fn joined(parts: Vec<Vec<Inline>>, between: &Inline) -> Vec<Inline> {
    let mut made = Vec::new();
    for part in parts {
        if !made.is_empty() {
            made.push(between.clone());
        }
        made.extend(part);
    }
    made
}
