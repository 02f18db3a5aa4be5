//! Tables of the tracked document. Word tracks a row as a whole and knows no cells that come or go alone, so a row stays, comes or
//! goes here as one, too.
//!
//! Where characters alone have changed, what was woven is kept. Anywhere else both tables are compared row by row.

use super::flow::{Cell, Glyph};
use super::track::{Mark, Step};

/// The same two documents, with every row of a table whole.
pub(super) fn whole_rows(steps: &[Step]) -> Vec<Step> {
    let mut out = Vec::with_capacity(steps.len());
    let parts: Vec<&[Step]> = steps.split_inclusive(is_in_both).collect();
    for stretch in parts.chunk_by(|left, right| has_cells(left) == has_cells(right)) {
        let stretch = stretch.concat();
        if has_cells(&stretch) && !is_whole(&stretch) {
            row_by_row(&stretch, &mut out);
        } else {
            out.extend(stretch);
        }
    }
    out
}

/// Whether a paragraph ends here in both documents.
fn is_in_both(step: &Step) -> bool {
    matches!(step, Step::Restyled { .. } | Step::Glyph(Glyph::End(_), Mark::Stays))
}

fn has_cells(steps: &[Step]) -> bool {
    steps.iter().any(|step| match step {
        Step::Glyph(Glyph::End(end), _) => end.cell().is_some(),
        Step::Restyled { from, to, .. } => from.cell().or(to.cell()).is_some(),
        Step::Glyph(Glyph::Char(..), _) | Step::Remark(_) => false,
    })
}

/// Whether every row has all its cells, and whatever comes or goes does so with all that is in it.
fn is_whole(steps: &[Step]) -> bool {
    units(steps, |step| Some(*step)).is_some_and(|units| {
        units.iter().all(|unit| {
            let fate = unit.last().map(mark);
            let is_kept = fate.is_none_or(|fate| fate == Mark::Stays);
            let ends = |step: &Step| matches!(step, Step::Glyph(Glyph::End(_), _));
            unit.iter().all(|step| match step {
                Step::Restyled { from, to, .. } => {
                    from.cell().map(Cell::place) == to.cell().map(Cell::place)
                }
                step if is_kept => !ends(step) || mark(step) == Mark::Stays,
                step => {
                    matches!(step, Step::Remark(_))
                        || fate.is_some_and(|fate| is_alike(fate, mark(step)))
                }
            })
        })
    })
}

fn mark(step: &Step) -> Mark {
    match step {
        Step::Glyph(_, mark) => *mark,
        Step::Restyled { .. } | Step::Remark(_) => Mark::Stays,
    }
}

/// Whether both stay, both come or both go.
fn is_alike(left: Mark, right: Mark) -> bool {
    std::mem::discriminant(&left) == std::mem::discriminant(&right)
}

/// The rows, and the paragraphs between them, of what `choose` leaves; `None`: some row has not all its cells. Remarks
/// go with what follows them.
fn units(steps: &[Step], choose: impl Fn(&Step) -> Option<Step>) -> Option<Vec<Vec<Step>>> {
    let (mut all, mut unit) = (Vec::new(), Vec::new());
    let mut column = 0;
    for step in steps.iter().filter_map(choose) {
        unit.push(step);
        let (Step::Glyph(Glyph::End(end), _) | Step::Restyled { to: end, .. }) = step else {
            continue;
        };
        let (at, columns) = end.cell().map_or((0, 1), Cell::place);
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

/// Leaves the rows that both have at the beginning and at the end, and says what became of the others.
fn row_by_row(steps: &[Step], out: &mut Vec<Step>) {
    // What is not a change by itself, but has to go and come with one, does so by the first that is here.
    let by = steps.iter().find_map(change).unwrap_or_default();
    let of_old = |step: &Step| match *step {
        Step::Glyph(_, Mark::Inserted(_)) | Step::Remark(_) => None,
        Step::Restyled { from, by, .. } => Some(Step::Glyph(Glyph::End(from), Mark::Deleted(by))),
        kept @ Step::Glyph(..) => Some(kept),
    };
    let of_new = |step: &Step| match *step {
        Step::Glyph(_, Mark::Deleted(_)) => None,
        Step::Restyled { to, by, .. } => Some(Step::Glyph(Glyph::End(to), Mark::Inserted(by))),
        kept => Some(kept),
    };
    let (Some(old), Some(new)) = (units(steps, of_old), units(steps, of_new)) else {
        // Not in what was read from two texts: each of them has whole rows.
        return out.extend(steps);
    };
    let reads_alike = |(old, new): &(&Vec<Step>, &Vec<Step>)| {
        old.iter().filter_map(glyph).eq(new.iter().filter_map(glyph))
    };
    let head = old.iter().zip(&new).take_while(reads_alike).count();
    let rest = old[head..].iter().rev().zip(new[head..].iter().rev());
    let tail = rest.take_while(reads_alike).count();
    let (gone, come) = (&old[head..old.len() - tail], &new[head..new.len() - tail]);
    let has_same_shape = |(old, new): &(&Vec<Step>, &Vec<Step>)| shape(old) == shape(new);
    let pairs = gone.iter().zip(come).take_while(has_same_shape).count();
    out.extend(new[..head].iter().flatten().map(stays));
    for (old, new) in gone[..pairs].iter().zip(come) {
        cell_by_cell(old, new, by, out);
    }
    out.extend(gone[pairs..].iter().flatten().map(|step| goes(step, by)));
    out.extend(come[pairs..].iter().flatten().map(|step| comes(step, by)));
    out.extend(new[new.len() - tail..].iter().flatten().map(stays));
}

/// The cells of a row; none for a paragraph.
fn shape(unit: &[Step]) -> Vec<Option<(usize, usize)>> {
    let ends = unit.iter().filter_map(glyph).filter_map(|glyph| match glyph {
        Glyph::End(end) => Some(end.cell().map(Cell::place)),
        Glyph::Char(..) => None,
    });
    ends.collect()
}

/// Of each cell what is the same at both ends stays.
fn cell_by_cell(old: &[Step], new: &[Step], by: usize, out: &mut Vec<Step>) {
    let ends = |step: &Step| matches!(step, Step::Glyph(Glyph::End(_), _));
    for (old, new) in old.split_inclusive(ends).zip(new.split_inclusive(ends)) {
        let same = |(left, right): &(&Step, &Step)| glyph(left) == glyph(right);
        let head = old.iter().zip(new).take_while(same).count();
        let (old, new_rest) = (&old[head..], &new[head..]);
        let tail = old.iter().rev().zip(new_rest.iter().rev()).take_while(same).count();
        let (gone, come) = (&old[..old.len() - tail], &new_rest[..new_rest.len() - tail]);
        out.extend(new[..head].iter().map(stays));
        // The cell itself is another, by its alignment.
        let restyled = match (gone.last().and_then(glyph), come.last().and_then(glyph)) {
            (Some(Glyph::End(from)), Some(Glyph::End(to))) => Some(Step::Restyled { from, to, by }),
            _ => None,
        };
        let end = usize::from(restyled.is_some());
        out.extend(gone[..gone.len() - end].iter().map(|step| goes(step, by)));
        out.extend(come[..come.len() - end].iter().map(|step| comes(step, by)));
        out.extend(restyled);
        out.extend(new_rest[new_rest.len() - tail..].iter().map(stays));
    }
}

fn glyph(step: &Step) -> Option<Glyph> {
    match step {
        Step::Glyph(glyph, _) => Some(*glyph),
        Step::Restyled { .. } | Step::Remark(_) => None,
    }
}

fn change(step: &Step) -> Option<usize> {
    match step {
        Step::Glyph(_, Mark::Deleted(by) | Mark::Inserted(by)) | Step::Restyled { by, .. } => {
            Some(*by)
        }
        Step::Glyph(_, Mark::Stays) | Step::Remark(_) => None,
    }
}

fn stays(step: &Step) -> Step {
    marked(step, Mark::Stays)
}

fn goes(step: &Step, by: usize) -> Step {
    marked(step, Mark::Deleted(change(step).unwrap_or(by)))
}

fn comes(step: &Step, by: usize) -> Step {
    marked(step, Mark::Inserted(change(step).unwrap_or(by)))
}

fn marked(step: &Step, mark: Mark) -> Step {
    match step {
        Step::Glyph(glyph, _) => Step::Glyph(*glyph, mark),
        other => *other,
    }
}
