//! Tables of the tracked document. Word tracks a row as a whole and cannot insert or delete single
//! cells, so each row stays, is inserted or is deleted as one.
//!
//! Where only characters have changed, the merged steps are kept. Elsewhere the rows between two
//! rows without changes are compared, those of one document with those of the other.

use super::super::ExportResult;
use super::flow::{FlowItem, TableCell};
use super::steps::{RevisionMark, StepRuns, StepSink, TrackedStep};

/// Stage that makes table rows whole on the way to the writer. Only tables with changes, and
/// paragraphs in one part with them, wait in it.
pub(super) struct WholeRows<W> {
    writer: W,
    /// Steps since a paragraph last ended in both documents.
    part: StepRuns,
    /// Parts of a table with changes.
    stretch: StepRuns,
    /// Cells of a row that has no change so far.
    row: StepRuns,
}

impl<W: StepSink> WholeRows<W> {
    pub fn new(writer: W) -> Self {
        let (part, stretch, row) = Default::default();
        Self { writer, part, stretch, row }
    }

    /// Writes what waits, and returns the writer.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn finish(mut self) -> ExportResult<W> {
        self.end_part(None)?;
        self.release()?;
        Ok(self.writer)
    }

    /// Ends a part. `stays` is the cell that stays at its end and has no change in it.
    fn end_part(&mut self, stays: Option<TableCell>) -> ExportResult<()> {
        let has_cells = self.part.kinds().any(|step| is_cell(&step));
        match stays {
            Some(cell) if cell.column == 0 || !self.row.is_empty() => {
                self.row.append(&mut self.part);
                if cell.column + 1 == cell.columns {
                    // A row without changes ends what the rows before it must be compared with.
                    let row = std::mem::take(&mut self.row);
                    self.release()?;
                    self.write(&row)?;
                }
            }
            _ if has_cells => {
                self.stretch.append(&mut self.row);
                self.stretch.append(&mut self.part);
            }
            _ => {
                self.release()?;
                let part = std::mem::take(&mut self.part);
                self.write(&part)?;
            }
        }
        Ok(())
    }

    /// Writes the table with changes.
    fn release(&mut self) -> ExportResult<()> {
        self.stretch.append(&mut self.row);
        let stretch = std::mem::take(&mut self.stretch);
        if stretch.is_empty() {
            return Ok(());
        }
        let steps: Vec<TrackedStep> = stretch.iter().collect();
        let mut rows = Vec::new();
        let rows = if is_whole(&steps) {
            &steps
        } else {
            row_by_row(&steps, &mut rows);
            &rows
        };
        rows.iter().try_for_each(|step| self.writer.step(*step))
    }

    fn write(&mut self, steps: &StepRuns) -> ExportResult<()> {
        steps.iter().try_for_each(|step| self.writer.step(step))
    }
}

impl<W: StepSink> StepSink for WholeRows<W> {
    fn step(&mut self, step: TrackedStep) -> ExportResult<()> {
        self.part.push(step);
        let TrackedStep::Glyph(FlowItem::End(end), RevisionMark::Stays) = step else {
            let restyled = matches!(step, TrackedStep::Restyled { .. });
            return if restyled { self.end_part(None) } else { Ok(()) };
        };
        let stays = |step| {
            matches!(step, TrackedStep::Glyph(_, RevisionMark::Stays) | TrackedStep::Remark(_))
        };
        let is_unchanged = end.cell().is_some() && self.part.kinds().all(stays);
        self.end_part(end.cell().filter(|_| is_unchanged))
    }
}

fn is_cell(step: &TrackedStep) -> bool {
    match step {
        TrackedStep::Glyph(FlowItem::End(end), _) => end.cell().is_some(),
        TrackedStep::Restyled { from, to, .. } => from.cell().or(to.cell()).is_some(),
        TrackedStep::Glyph(FlowItem::Char(..) | FlowItem::Note(..), _) | TrackedStep::Remark(_) => {
            false
        }
    }
}

/// Returns `true` if every row has all its cells, and all contents of an inserted or deleted row
/// share its mark.
fn is_whole(steps: &[TrackedStep]) -> bool {
    units(steps, |step| Some(*step)).is_some_and(|units| {
        units.iter().all(|unit| {
            let last_mark = unit.last().map(mark);
            let is_kept = last_mark.is_none_or(|last_mark| last_mark == RevisionMark::Stays);
            let ends = |step: &TrackedStep| matches!(step, TrackedStep::Glyph(FlowItem::End(_), _));
            unit.iter().all(|step| match step {
                TrackedStep::Restyled { from, to, .. } => {
                    from.cell().map(TableCell::place) == to.cell().map(TableCell::place)
                }
                step if is_kept => !ends(step) || mark(step) == RevisionMark::Stays,
                step => {
                    matches!(step, TrackedStep::Remark(_))
                        || last_mark.is_some_and(|last_mark| is_alike(last_mark, mark(step)))
                }
            })
        })
    })
}

fn mark(step: &TrackedStep) -> RevisionMark {
    match step {
        TrackedStep::Glyph(_, mark) => *mark,
        TrackedStep::Restyled { .. } | TrackedStep::Remark(_) => RevisionMark::Stays,
    }
}

/// Returns `true` if both stay, both are inserted or both are deleted.
fn is_alike(left: RevisionMark, right: RevisionMark) -> bool {
    std::mem::discriminant(&left) == std::mem::discriminant(&right)
}

/// Returns the rows, and the paragraphs between them, of the steps that `choose` returns; `None` if
/// some row does not have all its cells. Remarks belong to the item that follows them.
fn units(
    steps: &[TrackedStep],
    choose: impl Fn(&TrackedStep) -> Option<TrackedStep>,
) -> Option<Vec<Vec<TrackedStep>>> {
    let (mut all, mut unit) = (Vec::new(), Vec::new());
    let mut column = 0;
    for step in steps.iter().filter_map(choose) {
        unit.push(step);
        let (TrackedStep::Glyph(FlowItem::End(end), _) | TrackedStep::Restyled { to: end, .. }) =
            step
        else {
            continue;
        };
        let (at, columns) = end.cell().map_or((0, 1), TableCell::place);
        if at != column {
            return None;
        }
        column = at + 1;
        if column == columns {
            column = 0;
            all.push(std::mem::take(&mut unit));
        }
    }
    if column != 0 {
        return None;
    }
    if !unit.is_empty() {
        all.push(unit);
    }
    Some(all)
}

/// Keeps the rows that both have at the beginning and at the end, and tracks the others.
fn row_by_row(steps: &[TrackedStep], out: &mut Vec<TrackedStep>) {
    // Items that no change covers, but that must change with one, get the first change here.
    let by = steps.iter().find_map(change).unwrap_or_default();
    let of_old = |step: &TrackedStep| match *step {
        TrackedStep::Glyph(_, RevisionMark::Inserted(_)) | TrackedStep::Remark(_) => None,
        TrackedStep::Restyled { from, by, .. } => {
            Some(TrackedStep::Glyph(FlowItem::End(from), RevisionMark::Deleted(by)))
        }
        kept @ TrackedStep::Glyph(..) => Some(kept),
    };
    let of_new = |step: &TrackedStep| match *step {
        TrackedStep::Glyph(_, RevisionMark::Deleted(_)) => None,
        TrackedStep::Restyled { to, by, .. } => {
            Some(TrackedStep::Glyph(FlowItem::End(to), RevisionMark::Inserted(by)))
        }
        kept => Some(kept),
    };
    let (Some(old), Some(new)) = (units(steps, of_old), units(steps, of_new)) else {
        // Cannot happen for steps of two texts: each of them has whole rows.
        return out.extend(steps);
    };
    let reads_alike = |(old, new): &(&Vec<TrackedStep>, &Vec<TrackedStep>)| {
        old.iter().filter_map(glyph).eq(new.iter().filter_map(glyph))
    };
    let head = old.iter().zip(&new).take_while(reads_alike).count();
    let rest = old[head..].iter().rev().zip(new[head..].iter().rev());
    let tail = rest.take_while(reads_alike).count();
    let (gone, come) = (&old[head..old.len() - tail], &new[head..new.len() - tail]);
    let has_same_shape =
        |(old, new): &(&Vec<TrackedStep>, &Vec<TrackedStep>)| shape(old) == shape(new);
    let pairs = gone.iter().zip(come).take_while(has_same_shape).count();
    out.extend(new[..head].iter().flatten().map(stays));
    for (old, new) in gone[..pairs].iter().zip(come) {
        cell_by_cell(old, new, by, out);
    }
    out.extend(gone[pairs..].iter().flatten().map(|step| goes(step, by)));
    out.extend(come[pairs..].iter().flatten().map(|step| comes(step, by)));
    out.extend(new[new.len() - tail..].iter().flatten().map(stays));
}

/// Returns the cells of a row; `None` for a paragraph.
fn shape(unit: &[TrackedStep]) -> Vec<Option<(u32, u32)>> {
    let ends = unit.iter().filter_map(glyph).filter_map(|glyph| match glyph {
        FlowItem::End(end) => Some(end.cell().map(TableCell::place)),
        FlowItem::Char(..) | FlowItem::Note(..) => None,
    });
    ends.collect()
}

/// Keeps the equal beginning and end of each cell.
fn cell_by_cell(old: &[TrackedStep], new: &[TrackedStep], by: u32, out: &mut Vec<TrackedStep>) {
    let ends = |step: &TrackedStep| matches!(step, TrackedStep::Glyph(FlowItem::End(_), _));
    for (old, new) in old.split_inclusive(ends).zip(new.split_inclusive(ends)) {
        let same = |(left, right): &(&TrackedStep, &TrackedStep)| glyph(left) == glyph(right);
        let head = old.iter().zip(new).take_while(same).count();
        let (old, new_rest) = (&old[head..], &new[head..]);
        let tail = old.iter().rev().zip(new_rest.iter().rev()).take_while(same).count();
        let (gone, come) = (&old[..old.len() - tail], &new_rest[..new_rest.len() - tail]);
        out.extend(new[..head].iter().map(stays));
        // The cell itself differs in its alignment.
        let restyled = match (gone.last().and_then(glyph), come.last().and_then(glyph)) {
            (Some(FlowItem::End(from)), Some(FlowItem::End(to))) => {
                Some(TrackedStep::Restyled { from, to, by })
            }
            _ => None,
        };
        let end = usize::from(restyled.is_some());
        out.extend(gone[..gone.len() - end].iter().map(|step| goes(step, by)));
        out.extend(come[..come.len() - end].iter().map(|step| comes(step, by)));
        out.extend(restyled);
        out.extend(new_rest[new_rest.len() - tail..].iter().map(stays));
    }
}

fn glyph(step: &TrackedStep) -> Option<FlowItem> {
    match step {
        TrackedStep::Glyph(glyph, _) => Some(*glyph),
        TrackedStep::Restyled { .. } | TrackedStep::Remark(_) => None,
    }
}

fn change(step: &TrackedStep) -> Option<u32> {
    match step {
        TrackedStep::Glyph(_, RevisionMark::Deleted(by) | RevisionMark::Inserted(by))
        | TrackedStep::Restyled { by, .. } => Some(*by),
        TrackedStep::Glyph(_, RevisionMark::Stays) | TrackedStep::Remark(_) => None,
    }
}

fn stays(step: &TrackedStep) -> TrackedStep {
    marked(step, RevisionMark::Stays)
}

fn goes(step: &TrackedStep, by: u32) -> TrackedStep {
    marked(step, RevisionMark::Deleted(change(step).unwrap_or(by)))
}

fn comes(step: &TrackedStep, by: u32) -> TrackedStep {
    marked(step, RevisionMark::Inserted(change(step).unwrap_or(by)))
}

fn marked(step: &TrackedStep, mark: RevisionMark) -> TrackedStep {
    match step {
        TrackedStep::Glyph(glyph, _) => TrackedStep::Glyph(*glyph, mark),
        other => *other,
    }
}
