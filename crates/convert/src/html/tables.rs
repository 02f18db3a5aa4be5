//! Tables as Markdown has them: as many cells in each row, one heading, words in the cells.

use crate::tree::{Alignment, Block, Inline, Table};

use super::dom::{Dom, Id};
use super::flow::Flow;
use super::reader::{Context, Reader};
use super::style::Style;

/// Maximum number of columns.
const MOST_COLUMNS: usize = 200;
/// Maximum number of cells, those included that spans leave empty.
const MOST_CELLS: usize = 400_000;

/// Row of a table as the page has it.
struct Row {
    cells: Vec<Id>,
    is_heading: bool,
}

/// Cell with its place.
#[derive(Clone, Debug, Default)]
struct PlacedCell {
    content: Vec<Inline>,
    alignment: Option<Alignment>,
}

/// Columns and rows that a cell can span.
#[derive(Clone, Copy, Debug)]
struct Room {
    columns: usize,
    rows: usize,
}

impl Reader<'_> {
    /// Reads a table, or what is in the cells of one that only arranges things.
    pub fn table(&mut self, id: Id, context: Context, flow: &mut Flow) {
        if self.is_code_table(id, context, flow) {
            return;
        }
        let captions = self.dom.children(id).iter().filter(|it| self.dom.name(**it) == "caption");
        for caption in captions.copied().collect::<Vec<_>>() {
            self.children(caption, context, flow);
            flow.end_line(&self.links);
        }
        let rows = rows_of(self.dom, id);
        let columns = rows.iter().map(|row| row.cells.len()).max().unwrap_or_default();
        if self.arranges(id, &rows) || columns * rows.len() > MOST_CELLS {
            if rows.len() == 1 && columns == 1 {
                self.report.decide("table of one cell");
            }
            for cell in rows.iter().flat_map(|row| &row.cells) {
                self.children(*cell, context, flow);
                flow.end_line(&self.links);
            }
            return;
        }
        if let Some(table) = self.grid(&rows, context) {
            flow.push(Block::Table(table));
        }
    }

    fn grid(&mut self, rows: &[Row], context: Context) -> Option<Table> {
        let first = rows.first()?;
        let words = first.cells.iter().filter_map(|it| self.is_bold(*it));
        let is_bold = words.clone().next().is_some() && words.into_iter().all(|it| it);
        if !first.is_heading && !is_bold {
            self.report.decide("first row as heading");
        }
        let mut placed: Vec<Vec<PlacedCell>> = Vec::new();
        let widest = rows.iter().map(|row| row.cells.len()).max().unwrap_or_default();
        let most_columns = (MOST_CELLS / rows.len()).min(MOST_COLUMNS).max(widest);
        // Rows that each column is still covered by a cell above.
        let mut covered: Vec<usize> = Vec::new();
        for (number, row) in rows.iter().enumerate() {
            let is_bold = number == 0;
            let room = Room { columns: most_columns, rows: rows.len() - number };
            placed.push(self.row(row, is_bold, room, &mut covered, context));
        }
        let columns = placed.iter().map(Vec::len).max().unwrap_or_default();
        let alignments = (0..columns).map(|column| alignment(&placed, column)).collect();
        let mut rows = placed.into_iter().map(|row| row.into_iter().map(|it| it.content).collect());
        let mut heading: Vec<Vec<Inline>> = rows.next()?;
        heading.resize(columns, Vec::new());
        // The writer fills rows that are shorter.
        (columns > 0).then(|| Table { columns: alignments, heading, rows: rows.collect() })
    }

    fn row(
        &mut self,
        row: &Row,
        is_first: bool,
        room: Room,
        covered: &mut Vec<usize>,
        context: Context,
    ) -> Vec<PlacedCell> {
        let mut placed = Vec::new();
        let mut inner = Context { list_depth: 0, ..context };
        inner.is_heading = is_first || row.is_heading;
        inner.marks.strong &= !inner.is_heading;
        let skip = |placed: &mut Vec<PlacedCell>, covered: &mut Vec<usize>| {
            while let Some(rows) = covered.get_mut(placed.len()).filter(|rows| **rows > 0) {
                *rows -= 1;
                placed.push(PlacedCell::default());
            }
        };
        for cell in &row.cells {
            skip(&mut placed, covered);
            let span =
                |name| self.number(*cell, name).map_or(1, |it| usize::try_from(it).unwrap_or(1));
            let most = room.columns.saturating_sub(placed.len()).max(1);
            let width = span("colspan").clamp(1, most);
            let height = match span("rowspan") {
                0 => room.rows,
                height => height.min(room.rows),
            };
            if width > 1 || height > 1 {
                self.report.decide("merged cell");
            }
            let words = self.cell(*cell, inner);
            let at = placed.len();
            placed.push(PlacedCell { content: words, alignment: alignment_of(self.dom, *cell) });
            placed.resize(at + width, PlacedCell::default());
            if height > 1 {
                covered.resize(covered.len().max(at + width), 0);
                covered[at..at + width].fill(height - 1);
            }
        }
        skip(&mut placed, covered);
        // Columns behind a gap are still counted down.
        for rows in covered.iter_mut().skip(placed.len()) {
            *rows = rows.saturating_sub(1);
        }
        placed
    }

    /// Returns whether a table only arranges things.
    fn arranges(&self, id: Id, rows: &[Row]) -> bool {
        let dom = self.dom;
        if dom.is(id, "role", "presentation") || dom.is(id, "role", "none") {
            return true;
        }
        let cells = || rows.iter().flat_map(|row| &row.cells);
        if cells().any(|it| dom.name(*it) == "th") {
            return false;
        }
        if cells().count() <= 1 {
            return true;
        }
        let has = |names: &[&str]| {
            cells().any(|cell| dom.within(*cell).any(|it| names.contains(&dom.name(it))))
        };
        let has_border = !matches!(dom.value(id, "border").trim(), "" | "0");
        if has(&["table"]) && !has_border {
            return true;
        }
        let is_column = rows.iter().all(|row| row.cells.len() <= 1);
        is_column && has(&["h1", "h2", "h3", "h4", "ul", "ol", "blockquote", "pre"])
    }

    /// Returns whether all words of a cell are bold; nothing if it has none.
    fn is_bold(&self, id: Id) -> Option<bool> {
        let dom = self.dom;
        let mut texts = dom.within(id).filter(|it| {
            !dom.is_element(*it) && !dom.text(*it).chars().all(super::flow::is_unseen)
        });
        let is_bold = |text: Id| {
            let around = dom.ancestors(text).take_while(|it| *it != id).chain([id]);
            around.into_iter().find_map(|it| {
                let tag = matches!(dom.name(it), "b" | "strong" | "th").then_some(true);
                Style::of(dom, it).is_bold().or(tag)
            })
        };
        let first = is_bold(texts.next()?).unwrap_or_default();
        Some(first && texts.all(|it| is_bold(it) == Some(true)))
    }
}

/// Returns the rows of a table: those of its heading, then the others, then those of its foot.
fn rows_of(dom: &Dom, id: Id) -> Vec<Row> {
    let mut parts = [Vec::new(), Vec::new(), Vec::new()];
    let mut add = |row: Id, part: usize| {
        let is_cell = |it: &&Id| matches!(dom.name(**it), "td" | "th");
        let cells: Vec<Id> = dom.children(row).iter().filter(is_cell).copied().collect();
        if !cells.is_empty() && !Style::of(dom, row).is_hidden() {
            let is_heading = part == 0 || cells.iter().all(|it| dom.name(*it) == "th");
            parts[part].push(Row { cells, is_heading });
        }
    };
    for child in dom.children(id) {
        let part = match dom.name(*child) {
            "thead" => 0,
            "tfoot" => 2,
            "tr" => {
                add(*child, 1);
                continue;
            }
            _ => 1,
        };
        for row in dom.children(*child).iter().filter(|it| dom.name(**it) == "tr") {
            add(*row, part);
        }
    }
    parts.into_iter().flatten().collect()
}

fn alignment_of(dom: &Dom, id: Id) -> Option<Alignment> {
    let named = |it: Id| {
        let side = Style::of(dom, it).get("text-align").or(dom.attribute(it, "align"))?;
        match side.trim().to_ascii_lowercase().as_str() {
            "left" | "start" => Some(Alignment::Left),
            "center" | "-webkit-center" => Some(Alignment::Center),
            "right" | "end" | "-webkit-right" => Some(Alignment::Right),
            _ => None,
        }
    };
    let paragraph = dom.children(id).iter().copied().filter(|it| dom.is_element(*it)).take(1);
    paragraph.chain([id]).find_map(named)
}

/// Returns the alignment that all cells of a column with words have, below the heading if there are
/// any.
fn alignment(rows: &[Vec<PlacedCell>], column: usize) -> Alignment {
    let stated = |rows: &[Vec<PlacedCell>]| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        let mut sides = cells.filter(|it| !it.content.is_empty()).map(|it| it.alignment);
        let first = sides.next()?;
        first.filter(|_| sides.all(|side| side == first))
    };
    let (heading, others) = rows.split_at(rows.len().min(1));
    stated(others).or_else(|| stated(heading)).unwrap_or_default()
}
