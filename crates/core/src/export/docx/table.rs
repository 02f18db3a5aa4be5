//! Tables of the tracked document. Word tracks a row as a whole and cannot insert or delete single
//! cells, so each row stays, is inserted or is deleted as one.
//!
//! Where only characters have changed, the merged steps are kept. Elsewhere both tables are
//! compared row by row.

use super::flow::{FlowItem, TableCell};
use super::track::{RevisionMark, TrackedStep};

/// Returns the steps with every table row whole.
pub(super) fn whole_rows(steps: &[TrackedStep]) -> Vec<TrackedStep> {
    let mut out = Vec::with_capacity(steps.len());
    let parts: Vec<&[TrackedStep]> = steps.split_inclusive(is_in_both).collect();
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

/// Returns `true` if a paragraph ends here in both documents.
fn is_in_both(step: &TrackedStep) -> bool {
    matches!(
        step,
        TrackedStep::Restyled { .. } | TrackedStep::Glyph(FlowItem::End(_), RevisionMark::Stays)
    )
}

fn has_cells(steps: &[TrackedStep]) -> bool {
    steps.iter().any(|step| match step {
        TrackedStep::Glyph(FlowItem::End(end), _) => end.cell().is_some(),
        TrackedStep::Restyled { from, to, .. } => from.cell().or(to.cell()).is_some(),
        TrackedStep::Glyph(FlowItem::Char(..), _) | TrackedStep::Remark(_) => false,
    })
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
fn shape(unit: &[TrackedStep]) -> Vec<Option<(usize, usize)>> {
    let ends = unit.iter().filter_map(glyph).filter_map(|glyph| match glyph {
        FlowItem::End(end) => Some(end.cell().map(TableCell::place)),
        FlowItem::Char(..) => None,
    });
    ends.collect()
}

/// Keeps the equal beginning and end of each cell.
fn cell_by_cell(old: &[TrackedStep], new: &[TrackedStep], by: usize, out: &mut Vec<TrackedStep>) {
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

fn change(step: &TrackedStep) -> Option<usize> {
    match step {
        TrackedStep::Glyph(_, RevisionMark::Deleted(by) | RevisionMark::Inserted(by))
        | TrackedStep::Restyled { by, .. } => Some(*by),
        TrackedStep::Glyph(_, RevisionMark::Stays) | TrackedStep::Remark(_) => None,
    }
}

fn stays(step: &TrackedStep) -> TrackedStep {
    marked(step, RevisionMark::Stays)
}

fn goes(step: &TrackedStep, by: usize) -> TrackedStep {
    marked(step, RevisionMark::Deleted(change(step).unwrap_or(by)))
}

fn comes(step: &TrackedStep, by: usize) -> TrackedStep {
    marked(step, RevisionMark::Inserted(change(step).unwrap_or(by)))
}

fn marked(step: &TrackedStep, mark: RevisionMark) -> TrackedStep {
    match step {
        TrackedStep::Glyph(glyph, _) => TrackedStep::Glyph(*glyph, mark),
        other => *other,
    }
}
