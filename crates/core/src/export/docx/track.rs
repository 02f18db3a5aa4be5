//! Present and proposed document in one: each item stays, is deleted or is inserted.

use std::collections::HashMap;

use super::super::annotated::{AnnotatedPiece, AnnotatedText};
use super::flow::{self, FlowItem, FlowToken, LinkTargets, ListKind, ParagraphKind};
use super::table;

/// Tracked state of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RevisionMark {
    Stays,
    /// Deleted by the change of this number, counted from 0 over the text.
    Deleted(usize),
    Inserted(usize),
}

/// Step of the tracked document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TrackedStep {
    Glyph(FlowItem, RevisionMark),
    /// End of a paragraph that the change of number `by` makes another kind of paragraph.
    Restyled {
        from: ParagraphKind,
        to: ParagraphKind,
        by: usize,
    },
    /// Remark, by its index in [`AnnotatedText::remarks`].
    Remark(usize),
}

/// Place of a change in both texts, in bytes.
struct ChangePlace {
    old_end: usize,
    new_start: usize,
    /// Place in the text that has the deleted words and, after them, the inserted ones.
    start: usize,
    /// Bytes deleted by this and all changes before it.
    deleted: usize,
    inserted: usize,
}

/// Merges both documents into one sequence of steps.
pub(super) fn track(marked: &AnnotatedText, links: &mut LinkTargets) -> Vec<TrackedStep> {
    let (places, remarks) = places(marked);
    let (present, proposed) = (marked.present(), marked.proposed());
    let old = flow::read(&present, 0, links);
    let new = flow::read(&proposed, present.len() + 1, links);
    let mut weaver = RevisionWeaver { places, remarks, ..RevisionWeaver::default() };
    weaver.weave(&old, &new);
    let mut steps = table::whole_rows(&weaver.steps);
    one_name_for_each_list(&mut steps, &weaver.lists);
    steps
}

/// Returns the places of the changes and of the remarks.
fn places(marked: &AnnotatedText) -> (Vec<ChangePlace>, Vec<(usize, usize)>) {
    let (mut places, mut remarks) = (Vec::new(), Vec::new());
    let (mut old, mut new, mut at) = (0, 0, 0);
    let (mut deleted, mut inserted) = (0, 0);
    for piece in &marked.pieces {
        match piece {
            AnnotatedPiece::Same(text) => {
                old += text.len();
                new += text.len();
                at += text.len();
            }
            AnnotatedPiece::Change(change) => {
                old += change.deleted.len();
                deleted += change.deleted.len();
                inserted += change.inserted.len();
                places.push(ChangePlace {
                    old_end: old,
                    new_start: new,
                    start: at,
                    deleted,
                    inserted,
                });
                new += change.inserted.len();
                at = old + inserted;
            }
            AnnotatedPiece::Remark(index) => remarks.push((at, *index)),
        }
    }
    (places, remarks)
}

#[derive(Default)]
struct RevisionWeaver {
    places: Vec<ChangePlace>,
    /// Place and number of each remark, in reverse order, to be popped.
    remarks: Vec<(usize, usize)>,
    steps: Vec<TrackedStep>,
    /// Number of the change that made `deleted` and `inserted`, the items since one last stayed.
    open: Option<usize>,
    deleted: Vec<FlowItem>,
    inserted: Vec<FlowItem>,
    /// Lists of the proposed text that are lists of the present one.
    lists: HashMap<usize, usize>,
}

impl RevisionWeaver {
    fn weave(&mut self, old: &[FlowToken], new: &[FlowToken]) {
        self.remarks.reverse();
        let (mut old, mut new) = (old.iter().peekable(), new.iter().peekable());
        loop {
            let left = old.peek().map(|token| self.of_old(token.at));
            let right = new.peek().map(|token| self.of_new(token.at));
            let Some(at) = left.into_iter().chain(right).min() else { break };
            self.remarks_until(at);
            let gone = old.next_if(|_| left == Some(at)).map(|token| token.glyph);
            let come = new.next_if(|_| right == Some(at)).map(|token| token.glyph);
            match (gone, come) {
                (Some(gone), Some(come)) if gone == come => self.stay(gone, come),
                (Some(FlowItem::End(from)), Some(FlowItem::End(to))) => {
                    self.settle();
                    self.steps.push(TrackedStep::Restyled { from, to, by: self.change_at(at) });
                }
                (gone, come) => self.change(at, gone, come),
            }
        }
        self.remarks_until(usize::MAX);
        self.settle();
    }

    fn of_old(&self, at: usize) -> usize {
        let before = self.places.partition_point(|place| place.old_end <= at);
        at + self.places[..before].last().map_or(0, |place| place.inserted)
    }

    fn of_new(&self, at: usize) -> usize {
        let before = self.places.partition_point(|place| place.new_start <= at);
        at + self.places[..before].last().map_or(0, |place| place.deleted)
    }

    fn stay(&mut self, old: FlowItem, new: FlowItem) {
        self.settle();
        if let (
            FlowItem::End(ParagraphKind::Item(ListKind::Numbers { id: old, .. }, _)),
            FlowItem::End(ParagraphKind::Item(ListKind::Numbers { id: new, .. }, _)),
        ) = (old, new)
        {
            self.lists.entry(new).or_insert(old);
        }
        self.steps.push(TrackedStep::Glyph(old, RevisionMark::Stays));
    }

    /// Adds items that one change deletes and inserts. Items changed together, such as a word that
    /// becomes bold, are deleted and inserted as a whole.
    fn change(&mut self, at: usize, gone: Option<FlowItem>, come: Option<FlowItem>) {
        let by = self.change_at(at);
        if self.open.is_some_and(|open| open != by) {
            self.settle();
        }
        self.open = Some(by);
        self.deleted.extend(gone);
        self.inserted.extend(come);
    }

    /// Returns the change at a place or, for its effects further on, the last change before.
    fn change_at(&self, at: usize) -> usize {
        self.places.partition_point(|place| place.start <= at).saturating_sub(1)
    }

    fn settle(&mut self) {
        let Some(by) = self.open.take() else { return };
        let gone = |glyph| TrackedStep::Glyph(glyph, RevisionMark::Deleted(by));
        self.steps.extend(self.deleted.drain(..).map(gone));
        let come = |glyph| TrackedStep::Glyph(glyph, RevisionMark::Inserted(by));
        self.steps.extend(self.inserted.drain(..).map(come));
    }

    fn remarks_until(&mut self, at: usize) {
        while let Some((_, index)) = self.remarks.pop_if(|(place, _)| *place <= at) {
            self.settle();
            self.steps.push(TrackedStep::Remark(index));
        }
    }
}

/// Gives a list that both texts have one identifier, so that it continues counting over deleted and
/// inserted items.
fn one_name_for_each_list(steps: &mut [TrackedStep], lists: &HashMap<usize, usize>) {
    let rename = |paragraph: &mut ParagraphKind| {
        if let ParagraphKind::Item(ListKind::Numbers { id, .. }, _) = paragraph
            && let Some(known) = lists.get(id)
        {
            *id = *known;
        }
    };
    for step in steps {
        match step {
            TrackedStep::Glyph(FlowItem::End(paragraph), _) => rename(paragraph),
            TrackedStep::Restyled { from, to, by: _ } => {
                rename(from);
                rename(to);
            }
            TrackedStep::Glyph(FlowItem::Char(..), _) | TrackedStep::Remark(_) => {}
        }
    }
}
