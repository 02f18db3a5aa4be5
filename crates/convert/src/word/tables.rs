//! Tables as Markdown has them: as many cells in each row, one heading, words in the cells.

use crate::tree::{Alignment, Block, Inline, Table};

use super::assemble::Assembler;
use super::model::{Atom, BOLD, Content, StoryBlock, StoryCell, StoryRow, StoryTable};
use super::numbering::Label;
use super::story_tables::MOST_COLUMNS;
use super::styles::ParagraphRole;

/// Cell with its place.
struct PlacedCell {
    content: Vec<Inline>,
    alignment: Option<Alignment>,
}

impl Assembler<'_> {
    /// Returns a table, or the blocks of its only cell.
    pub fn table(&mut self, table: &StoryTable) -> Vec<Block> {
        if let [row] = &table.rows[..]
            && let [cell] = &row.cells[..]
            && !row.is_heading
        {
            // Programs set boxes around text this way.
            self.report.decide("table of one cell");
            return self.inner_blocks(&cell.blocks);
        }
        let mut rows: Vec<Vec<PlacedCell>> = Vec::new();
        for (number, row) in table.rows.iter().enumerate() {
            let is_bold = number == 0 && is_all_bold(row);
            if number == 0 && !(row.is_heading || table.has_heading || is_bold) {
                self.report.decide("first row as heading");
            }
            rows.push(self.row(row, is_bold));
        }
        let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
        if columns == 0 {
            return Vec::new();
        }
        let alignments = (0..columns).map(|column| alignment(&rows, column)).collect();
        let mut rows = rows.into_iter().map(|row| {
            let mut cells: Vec<_> = row.into_iter().map(|cell| cell.content).collect();
            cells.resize(columns, Vec::new());
            cells
        });
        let heading = rows.next().unwrap_or_default();
        vec![Block::Table(Table { columns: alignments, heading, rows: rows.collect() })]
    }

    fn row(&mut self, row: &StoryRow, is_bold: bool) -> Vec<PlacedCell> {
        let free = || PlacedCell { content: Vec::new(), alignment: None };
        let mut cells = Vec::new();
        cells.resize_with(row.skipped.min(MOST_COLUMNS), free);
        for cell in &row.cells {
            if cell.span > 1 || cell.begins_tall {
                self.report.decide("merged cell");
            }
            let alignment = self.alignment_of(cell);
            let content = self.cell(&cell.blocks, is_bold);
            cells.push(PlacedCell { content, alignment });
            let behind = cells.len() + cell.span - 1;
            cells.resize_with(behind, free);
        }
        cells
    }

    fn alignment_of(&self, cell: &StoryCell) -> Option<Alignment> {
        let first = cell.blocks.iter().find_map(|block| match block {
            StoryBlock::Paragraph(paragraph) if paragraph.has_content() => Some(paragraph),
            _ => None,
        })?;
        Some(self.styles.complete(&first.properties).alignment.unwrap_or_default())
    }

    /// Returns the words of a cell. Its paragraphs become lines.
    fn cell(&mut self, blocks: &[StoryBlock], is_bold: bool) -> Vec<Inline> {
        let mut out: Vec<Inline> = Vec::new();
        for block in blocks {
            let line = match block {
                StoryBlock::Paragraph(paragraph) => {
                    let mut paragraph = paragraph.clone();
                    self.settle(&mut paragraph);
                    let mut atoms = paragraph.atoms;
                    if is_bold {
                        for atom in &mut atoms {
                            atom.look.marks &= !BOLD;
                        }
                    }
                    if self.styles.role(&paragraph.properties) == ParagraphRole::Code {
                        super::looks::mark_as_code(&mut atoms);
                    }
                    let place = self.counter.place(&paragraph.properties);
                    let mut line = super::inlines::inlines(&atoms, self.links);
                    let label = match place.map(|place| place.label) {
                        Some(Label::Bullet) => "• ".to_owned(),
                        Some(Label::Number { value, .. }) => format!("{value}. "),
                        Some(Label::Words(words)) => format!("{words} "),
                        Some(Label::Nothing) | None => String::new(),
                    };
                    if !label.is_empty() && !is_blank(&line) {
                        line.insert(0, Inline::Text(label));
                    }
                    line
                }
                StoryBlock::Table(table) => {
                    self.report.decide("table in a table");
                    self.lines_of(table)
                }
            };
            if !is_blank(&out) && !is_blank(&line) {
                out.push(Inline::Break);
            }
            out.extend(line);
        }
        out
    }

    /// Returns the words of a table in a cell: each row is a line.
    fn lines_of(&mut self, table: &StoryTable) -> Vec<Inline> {
        let mut out = Vec::new();
        for row in &table.rows {
            if !out.is_empty() {
                out.push(Inline::Break);
            }
            for (number, cell) in row.cells.iter().enumerate() {
                if number > 0 {
                    out.push(Inline::Text(" | ".to_owned()));
                }
                let words = self.cell(&cell.blocks, false);
                out.extend(words);
            }
        }
        out
    }
}

fn is_blank(line: &[Inline]) -> bool {
    line.iter().all(|it| matches!(it, Inline::ChangeStart(_) | Inline::ChangeEnd(_)))
}

/// Returns the alignment that all cells of a column with words have, below the heading if there are
/// any.
fn alignment(rows: &[Vec<PlacedCell>], column: usize) -> Alignment {
    let stated = |rows: &[Vec<PlacedCell>]| {
        let mut sides = rows.iter().filter_map(|row| row.get(column)?.alignment);
        let first = sides.next()?;
        Some(if sides.all(|side| side == first) { first } else { Alignment::Unset })
    };
    let (heading, others) = rows.split_at(rows.len().min(1));
    stated(others).or_else(|| stated(heading)).unwrap_or_default()
}

/// Returns whether all words of a row are bold.
fn is_all_bold(row: &StoryRow) -> bool {
    fn texts(blocks: &[StoryBlock]) -> impl Iterator<Item = &Atom> {
        let paragraphs = blocks.iter().filter_map(|block| match block {
            StoryBlock::Paragraph(paragraph) => Some(paragraph),
            StoryBlock::Table(_) => None,
        });
        paragraphs
            .flat_map(|paragraph| &paragraph.atoms)
            .filter(|atom| matches!(&atom.content, Content::Text(text) if !text.trim().is_empty()))
    }
    let mut all = row.cells.iter().flat_map(|cell| texts(&cell.blocks)).peekable();
    all.peek().is_some() && all.all(|atom| atom.look.marks & BOLD != 0)
}
