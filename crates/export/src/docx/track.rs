//! Present and proposed document in one: each item stays, is deleted or is inserted.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use super::super::annotated::{AnnotatedPiece, AnnotatedText};
use super::super::front_matter::FrontMatter;
use super::super::{ExportResult, markdown};
use super::comments::NumberedComments;
use super::flow::{FlowItem, FlowNames, ListKind, Paragraph};
use super::reader::FlowReader;
use super::steps::{RemarkMark, RevisionMark, StepRuns, StepSink, TrackedStep};
use super::table::WholeRows;

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

/// Tracks both documents, and gives the steps to a writer.
pub(super) fn track<W: StepSink>(
    marked: &AnnotatedText,
    names: &RefCell<FlowNames>,
    writer: W,
) -> ExportResult<W> {
    let (places, remarks) = places(marked);
    let present = marked.present();
    let has_changes = !places.is_empty();
    let proposed = if has_changes { marked.proposed() } else { String::new() };
    for text in [&present, &proposed] {
        let body = &text[FrontMatter::of(text).len..];
        names.borrow_mut().refer_to(markdown::referenced_notes(body));
    }
    let read = |text, apart| FlowReader::new(text, FrontMatter::of(text).len, apart, names);
    let mut weaver = RevisionWeaver::new(places, remarks, WholeRows::new(writer));
    if has_changes {
        weaver.weave(read(&present, 0), read(&proposed, present.len() + 1))?;
    } else {
        weaver.keep(read(&present, 0))?;
    }
    weaver.steps.finish()
}

/// Returns the places of the changes and of the remarks.
fn places(marked: &AnnotatedText) -> (Vec<ChangePlace>, Vec<(usize, RemarkMark)>) {
    let comments = NumberedComments::of(marked);
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
                let inside = change.marks.iter();
                remarks.extend(
                    inside.filter_map(|(bytes, it)| Some((at + bytes, comments.mark(*it)?))),
                );
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
            AnnotatedPiece::Mark(mark) => remarks.extend(comments.mark(*mark).map(|it| (at, it))),
        }
    }
    (places, remarks)
}

struct RevisionWeaver<S> {
    places: Vec<ChangePlace>,
    /// Each mark with its place, in reverse order, to be popped.
    remarks: Vec<(usize, RemarkMark)>,
    steps: S,
    /// Number of the change that made `deleted` and `inserted`, the items since one last stayed.
    open: Option<u32>,
    deleted: StepRuns,
    inserted: StepRuns,
    lists: SharedLists,
}

impl<S: StepSink> RevisionWeaver<S> {
    fn new(places: Vec<ChangePlace>, mut remarks: Vec<(usize, RemarkMark)>, steps: S) -> Self {
        remarks.reverse();
        let (deleted, inserted, lists) = Default::default();
        Self { places, remarks, steps, open: None, deleted, inserted, lists }
    }

    /// Tracks a text without changes, which can have remarks.
    fn keep(&mut self, text: FlowReader) -> ExportResult<()> {
        for token in text {
            self.remarks_until(token.at)?;
            self.steps.step(TrackedStep::Glyph(token.glyph, RevisionMark::Stays))?;
        }
        self.remarks_until(usize::MAX)
    }

    fn weave(&mut self, old: FlowReader, new: FlowReader) -> ExportResult<()> {
        let (mut old, mut new) = (old.peekable(), new.peekable());
        loop {
            let left = old.peek().map(|token| self.of_old(token.at));
            let right = new.peek().map(|token| self.of_new(token.at));
            let Some(at) = left.into_iter().chain(right).min() else { break };
            self.remarks_until(at)?;
            let gone = old.next_if(|_| left == Some(at)).map(|token| token.glyph);
            let come = new.next_if(|_| right == Some(at)).map(|token| token.glyph);
            match (gone, come) {
                (Some(gone), Some(come)) if gone == come => self.stay(gone, come)?,
                // The text and its footnotes are different places.
                (Some(FlowItem::End(from)), Some(FlowItem::End(to))) if from.note == to.note => {
                    self.settle()?;
                    let by = self.change_at(at);
                    self.give(TrackedStep::Restyled { from, to, by })?;
                }
                (gone, come) => self.change(at, gone, come)?,
            }
        }
        self.remarks_until(usize::MAX)?;
        self.settle()
    }

    fn of_old(&self, at: usize) -> usize {
        let before = self.places.partition_point(|place| place.old_end <= at);
        at + self.places[..before].last().map_or(0, |place| place.inserted)
    }

    fn of_new(&self, at: usize) -> usize {
        let before = self.places.partition_point(|place| place.new_start <= at);
        at + self.places[..before].last().map_or(0, |place| place.deleted)
    }

    fn stay(&mut self, old: FlowItem, new: FlowItem) -> ExportResult<()> {
        self.settle()?;
        if let (FlowItem::End(old), FlowItem::End(new)) = (old, new)
            && let (
                Some(ListKind::Numbers { id: old, .. }),
                Some(ListKind::Numbers { id: new, .. }),
            ) = (old.item, new.item)
        {
            self.lists.are_one(old, new);
        }
        self.give(TrackedStep::Glyph(old, RevisionMark::Stays))
    }

    /// Adds items that one change deletes and inserts. Items changed together, such as a word that
    /// becomes bold, are deleted and inserted as a whole.
    fn change(
        &mut self,
        at: usize,
        gone: Option<FlowItem>,
        come: Option<FlowItem>,
    ) -> ExportResult<()> {
        let by = self.change_at(at);
        if self.open.is_some_and(|open| open != by) {
            self.settle()?;
        }
        self.open = Some(by);
        if let Some(gone) = gone {
            self.deleted.push(TrackedStep::Glyph(gone, RevisionMark::Deleted(by)));
        }
        if let Some(come) = come {
            self.inserted.push(TrackedStep::Glyph(come, RevisionMark::Inserted(by)));
        }
        Ok(())
    }

    /// Returns the change at a place or, for its effects further on, the last change before.
    fn change_at(&self, at: usize) -> u32 {
        self.places.partition_point(|place| place.start <= at).saturating_sub(1) as u32
    }

    fn settle(&mut self) -> ExportResult<()> {
        if self.open.take().is_none() {
            return Ok(());
        }
        let (deleted, inserted) =
            (std::mem::take(&mut self.deleted), std::mem::take(&mut self.inserted));
        deleted.iter().chain(inserted.iter()).try_for_each(|step| self.give(step))
    }

    fn remarks_until(&mut self, at: usize) -> ExportResult<()> {
        while let Some((_, mark)) = self.remarks.pop_if(|(place, _)| *place <= at) {
            self.settle()?;
            self.give(TrackedStep::Remark(mark))?;
        }
        Ok(())
    }

    fn give(&mut self, mut step: TrackedStep) -> ExportResult<()> {
        match &mut step {
            TrackedStep::Glyph(FlowItem::End(end), _) => self.lists.name(end),
            TrackedStep::Restyled { from, to, by: _ } => {
                self.lists.name(from);
                self.lists.name(to);
            }
            TrackedStep::Glyph(..) | TrackedStep::Remark(_) => {}
        }
        self.steps.step(step)
    }
}

/// Lists of the proposed text that are lists of the present one. Both have one identifier, so that
/// the list goes on counting over deleted and inserted items.
#[derive(Default)]
struct SharedLists {
    names: HashMap<u32, u32>,
    /// Identifiers that were given out.
    given: HashSet<u32>,
}

impl SharedLists {
    fn are_one(&mut self, old: u32, new: u32) {
        if self.given.contains(&new) && !self.given.contains(&old) {
            self.names.entry(old).or_insert(new);
        } else {
            self.names.entry(new).or_insert(old);
        }
    }

    fn name(&mut self, paragraph: &mut Paragraph) {
        if let Some(ListKind::Numbers { id, .. }) = &mut paragraph.item {
            *id = self.names.get(id).copied().unwrap_or(*id);
            self.given.insert(*id);
        }
    }
}
