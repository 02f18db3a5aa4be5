//! Edges of tracked changes beside marks.
//!
//! An edge beside a mark is outside of it if all words of the mark are in the change, so that the
//! signs of the mark come and go with its words; else it is inside.

use std::collections::HashMap;

use super::segments::{Content, InlineMark, Marks, Segment};
use super::stretches::Stretches;

/// Edges side by side.
struct EdgeGroup {
    first: usize,
    behind: usize,
    /// Marks of the words before them.
    before: Marks,
    /// Marks of the words after them.
    after: Marks,
}

/// Gives the edges of changes their marks.
pub fn mark_edges(segments: &mut [Segment]) {
    let groups = groups_of(segments);
    if groups.is_empty() {
        return;
    }
    for group in &groups {
        for edge in &mut segments[group.first..group.behind] {
            edge.marks = group.before.common(group.after);
        }
    }
    let stretches = Stretches::of(segments);
    let changes = changes_of(segments);
    for group in &groups {
        for mark in InlineMark::ALL {
            if group.before.continues(group.after, mark) {
                continue;
            }
            if group.before.has(mark) {
                let start = stretches.start(mark, group.first - 1);
                close_after_edges(segments, group, mark, |change| {
                    changes.get(&change).is_some_and(|it| it.0 > start)
                });
            }
            if group.after.has(mark) && !group.before.has(mark) {
                let end = stretches.end(mark, group.behind);
                open_before_edges(segments, group, mark, |change| {
                    changes.get(&change).is_some_and(|it| it.1 < end)
                });
            }
        }
    }
}

fn groups_of(segments: &[Segment]) -> Vec<EdgeGroup> {
    let mut groups = Vec::new();
    let mut at = 0;
    while at < segments.len() {
        let first = at;
        while segments.get(at).is_some_and(Segment::is_edge) {
            at += 1;
        }
        if first < at {
            let before = first.checked_sub(1).map(|before| segments[before].marks);
            groups.push(EdgeGroup {
                first,
                behind: at,
                before: before.unwrap_or_default(),
                after: segments.get(at).map(|after| after.marks).unwrap_or_default(),
            });
        }
        at += 1;
    }
    groups
}

/// Returns where each change begins and ends, as indices of segments.
fn changes_of(segments: &[Segment]) -> HashMap<usize, (usize, usize)> {
    let mut changes = HashMap::new();
    for (at, segment) in segments.iter().enumerate() {
        if let Content::Edge { change, is_start } = segment.content {
            let known = changes.entry(change).or_insert((0, segments.len()));
            if is_start {
                known.0 = at;
            } else {
                known.1 = at;
            }
        }
    }
    changes
}

/// Puts the ends of changes that began within a mark before the end of the mark.
fn close_after_edges(
    segments: &mut [Segment],
    group: &EdgeGroup,
    mark: InlineMark,
    began_inside: impl Fn(usize) -> bool,
) {
    let is_inside = |segment: &Segment| matches!(segment.content, Content::Edge { change, is_start: false } if began_inside(change));
    let edges = &mut segments[group.first..group.behind];
    let count = edges.iter().rposition(is_inside).map_or(0, |last| last + 1);
    edges[..count].iter_mut().for_each(|edge| edge.marks.add(mark, group.before));
}

/// Puts the beginnings of changes that end within a mark behind the beginning of the mark.
fn open_before_edges(
    segments: &mut [Segment],
    group: &EdgeGroup,
    mark: InlineMark,
    ends_inside: impl Fn(usize) -> bool,
) {
    let is_inside = |segment: &Segment| matches!(segment.content, Content::Edge { change, is_start: true } if ends_inside(change));
    let edges = &mut segments[group.first..group.behind];
    let first = edges.iter().position(is_inside).unwrap_or(edges.len());
    edges[first..].iter_mut().for_each(|edge| edge.marks.add(mark, group.after));
}
