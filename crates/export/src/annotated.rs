//! Annotated text: unchanged pieces, pending changes, and remarks beside the text.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::Arc;

use super::escape;
use super::remarks::{AnnotationRemark, ChangeSignature, RemarkPlace, instead};
use copydesk_approvals::{ApprovalRequest, Hunk, HunkPart, HunkStatus};
use copydesk_comments::{CommentThread, CommentedChange, LONGEST_QUOTE};
use copydesk_document::{PositionError, Text};

/// Text with pending changes that do not overlap.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct AnnotatedText {
    /// Pieces from the beginning to the end. Without the changes they are the text, with them the
    /// proposed text.
    pub pieces: Vec<AnnotatedPiece>,
    /// Remarks, by the index of their pieces.
    pub remarks: Vec<AnnotationRemark>,
}

/// Piece of a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum AnnotatedPiece {
    /// Unchanged text.
    Same(String),
    /// Pending change.
    Change(PendingChange),
    Mark(PieceMark),
}

/// Place in a text. The numbers of remarks are indices into [`AnnotatedText::remarks`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PieceMark {
    /// Beginning of the passage that a remark is on.
    Passage(usize),
    /// Place of a remark, and the end of its passage.
    Remark(usize),
    /// Beginning of a part of a hunk.
    HunkStart(MarkedPart),
    HunkEnd(MarkedPart),
}

/// Part of a hunk that is distinguished from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MarkedPart {
    /// Number of the hunk.
    pub hunk: usize,
    /// Number of the part among all that are marked.
    pub number: usize,
}

/// Words that would be replaced; one side can be empty.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PendingChange {
    pub deleted: String,
    pub inserted: String,
    pub signature: Arc<ChangeSignature>,
    /// Marks in the deleted words, and between them and the inserted ones, by their bytes.
    pub marks: Vec<(usize, PieceMark)>,
}

/// Changes and marks by place, in order of the text. Of those at one place, passages end first,
/// then changes are made, remarks said, and passages begun; the earlier comes first.
type SortedAnnotations<'a> = BTreeMap<PlaceKey, PlacedAnnotation<'a>>;

/// Beginning, end, kind and number of an annotation.
type PlaceKey = (usize, usize, u8, usize);

const ENDS: u8 = 0;
const CHANGES: u8 = 1;
const REMARKS: u8 = 2;
const BEGINS: u8 = 3;

enum PlacedAnnotation<'a> {
    Change(PlacedChange<'a>),
    Mark(PieceMark),
}

/// Change with the marks at its edges.
struct PlacedChange<'a> {
    part: &'a HunkPart,
    signature: Arc<ChangeSignature>,
    hunk: usize,
    before: Vec<PieceMark>,
    after: Vec<PieceMark>,
}

/// Edges of the parts of a hunk that is in the text, by their keys.
#[derive(Clone, Copy)]
struct ShownHunk {
    first: PlaceKey,
    last: PlaceKey,
}

/// Annotations that are being placed.
struct Annotator<'a> {
    text: &'a Text,
    changes: SortedAnnotations<'a>,
    marks: SortedAnnotations<'a>,
    remarks: Vec<AnnotationRemark>,
    /// Hunks that are in the text, by their identifiers, and the first of each request.
    shown: HashMap<&'a str, ShownHunk>,
    hunks: usize,
}

impl AnnotatedText {
    /// Annotates the pending changes in `requests` and the comments of `threads`, all of this
    /// version of the text. Of changes that overlap, the first is a change and the others become
    /// remarks, and so do changes in conflict.
    pub fn new(
        text: &Text,
        requests: &[Arc<ApprovalRequest>],
        threads: &[CommentThread],
    ) -> Result<Self, PositionError> {
        let mut annotator = Annotator {
            text,
            changes: SortedAnnotations::new(),
            marks: SortedAnnotations::new(),
            remarks: Vec::new(),
            shown: HashMap::new(),
            hunks: 0,
        };
        for request in requests.iter().filter(|request| request.status.is_open()) {
            annotator.request(request);
        }
        annotator.tell_apart();
        for thread in threads {
            annotator.thread(thread);
        }
        let Annotator { changes: mut places, mut marks, remarks, .. } = annotator;
        places.append(&mut marks);
        let mut marked = Self { pieces: Vec::new(), remarks };
        marked.assemble(text, places)?;
        Ok(marked)
    }

    /// Returns the text without the changes.
    pub fn present(&self) -> String {
        self.side(|change| &change.deleted)
    }

    /// Returns the text with every change.
    pub fn proposed(&self) -> String {
        self.side(|change| &change.inserted)
    }

    fn side<'a>(&'a self, words: impl Fn(&'a PendingChange) -> &'a str) -> String {
        let piece = |piece: &'a AnnotatedPiece| match piece {
            AnnotatedPiece::Same(text) => text.as_str(),
            AnnotatedPiece::Change(change) => words(change),
            AnnotatedPiece::Mark(_) => "",
        };
        self.pieces.iter().map(piece).collect()
    }

    fn assemble(&mut self, text: &Text, places: SortedAnnotations) -> Result<(), PositionError> {
        // `start` is that of the last change.
        let (mut done, mut start) = (0, 0);
        for ((from, to, rank, _), placed) in places {
            let is_inside = from < done || (rank == ENDS && from == done && start < from);
            if let PlacedAnnotation::Mark(mark @ (PieceMark::Passage(_) | PieceMark::Remark(_))) =
                placed
                && is_inside
                && rank != REMARKS
                && let Some(change) = self.last_change()
                && (from < done || !change.inserted.is_empty())
            {
                let bytes = bytes_of(&change.deleted, from - start);
                change.marks.push((bytes, mark));
                continue;
            }
            // A remark in the middle of words that would be deleted is placed after them.
            self.same(text, done..from.max(done))?;
            done = done.max(to);
            match placed {
                PlacedAnnotation::Change(PlacedChange {
                    part, signature, before, after, ..
                }) => {
                    start = from;
                    let (deleted, inserted) = (part.base.clone(), part.insert.clone());
                    let change = PendingChange { deleted, inserted, signature, marks: Vec::new() };
                    self.pieces.extend(before.into_iter().map(AnnotatedPiece::Mark));
                    self.pieces.push(AnnotatedPiece::Change(change));
                    self.pieces.extend(after.into_iter().map(AnnotatedPiece::Mark));
                }
                PlacedAnnotation::Mark(mark) => self.pieces.push(AnnotatedPiece::Mark(mark)),
            }
        }
        self.same(text, done..text.len())
    }

    /// Returns the change that only marks follow.
    fn last_change(&mut self) -> Option<&mut PendingChange> {
        let mut last = self.pieces.iter_mut().rev();
        let last = last.find(|piece| !matches!(piece, AnnotatedPiece::Mark(_)))?;
        match last {
            AnnotatedPiece::Change(change) => Some(change),
            AnnotatedPiece::Same(_) | AnnotatedPiece::Mark(_) => None,
        }
    }

    fn same(&mut self, text: &Text, range: Range<usize>) -> Result<(), PositionError> {
        if !range.is_empty() {
            self.pieces.push(AnnotatedPiece::Same(text.slice(range)?));
        }
        Ok(())
    }
}

impl<'a> Annotator<'a> {
    fn request(&mut self, request: &'a ApprovalRequest) {
        let signature = Arc::new(ChangeSignature::of(request));
        // The request's explanation is given once, with its first change.
        let mut unsaid = Some(request.proposal.action.explanation.as_str());
        for hunk in &request.hunks {
            if !matches!(hunk.status, HunkStatus::Pending | HunkStatus::Conflict) {
                continue;
            }
            let reason = hunk.explanation.as_deref().or_else(|| unsaid.take()).unwrap_or("");
            let meaning = hunk.meaning().map(|facts| format!("Changes the meaning: {facts}."));
            let fits = hunk.status == HunkStatus::Pending && fits(hunk, self.text, &self.changes);
            // A line of its own, so that an import knows it from the explanation.
            let lines = [escape::line(reason), meaning.unwrap_or_default()];
            let lines: Vec<_> = lines.into_iter().filter(|line| !line.is_empty()).collect();
            let text = if fits { lines.join("\n") } else { instead(hunk, &lines.join(" ")) };
            self.remarks.push(AnnotationRemark {
                signature: Arc::clone(&signature),
                text,
                thread: None,
            });
            let mark = PieceMark::Remark(self.remarks.len() - 1);
            let shown = fits.then(|| self.show(hunk, &signature)).flatten();
            let Some(shown) = shown else {
                let at = if fits { hunk.range().end } else { hunk.range().start };
                self.mark(at, REMARKS, mark);
                continue;
            };
            if let Some(change) = self.change(shown.last) {
                change.after.push(mark);
            }
            self.shown.entry(request.id().as_str()).or_insert(shown);
            self.shown.insert(hunk.id.as_str(), shown);
        }
    }

    /// Puts the changes of a hunk into the text, if it has any.
    fn show(&mut self, hunk: &'a Hunk, signature: &Arc<ChangeSignature>) -> Option<ShownHunk> {
        let mut keys = Vec::new();
        for part in hunk.parts.iter().filter(|part| part.base != part.insert) {
            let key = (part.from, part.to, CHANGES, self.changes.len());
            let signature = Arc::clone(signature);
            let (before, after) = Default::default();
            let change = PlacedChange { part, signature, hunk: self.hunks, before, after };
            self.changes.insert(key, PlacedAnnotation::Change(change));
            keys.push(key);
        }
        self.hunks += 1;
        Some(ShownHunk { first: *keys.first()?, last: *keys.last()? })
    }

    /// Marks the parts of hunks that have several, and changes with nothing between them and one
    /// of another hunk.
    fn tell_apart(&mut self) {
        let mut counts: HashMap<usize, usize> = HashMap::new();
        for placed in self.changes.values() {
            if let PlacedAnnotation::Change(change) = placed {
                *counts.entry(change.hunk).or_default() += 1;
            }
        }
        let (mut end, mut number) = (None, 0);
        for ((from, to, ..), placed) in &mut self.changes {
            let PlacedAnnotation::Change(change) = placed else { continue };
            let is_beside = end.replace(*to) == Some(*from);
            if is_beside || counts.get(&change.hunk).is_some_and(|count| *count > 1) {
                let part = MarkedPart { hunk: change.hunk, number };
                change.before.insert(0, PieceMark::HunkStart(part));
                change.after.insert(0, PieceMark::HunkEnd(part));
                number += 1;
            }
        }
    }

    fn thread(&mut self, thread: &CommentThread) {
        let Some(mut remark) = AnnotationRemark::of_thread(thread) else { return };
        let number = self.remarks.len();
        let (begin, end) = (PieceMark::Passage(number), PieceMark::Remark(number));
        let about = thread.content.about.as_ref().and_then(|about| self.shown_change(about));
        if let Some(ShownHunk { first, last }) = about {
            if let Some(change) = self.change(first) {
                change.before.push(begin);
            }
            if let Some(change) = self.change(last) {
                change.after.push(end);
            }
            return self.remarks.push(remark.on_passage());
        }
        let place = remark.thread.as_ref().map(|it| it.place).unwrap_or_default();
        if let (Some(anchor), Some(discussion)) = (&thread.anchor, &mut remark.thread) {
            let end = place_of(self.text, anchor.to.min(anchor.from + LONGEST_QUOTE));
            discussion.words = self.text.slice(anchor.from..end).unwrap_or_default();
        }
        self.remarks.push(remark);
        match (&thread.anchor, place) {
            (Some(anchor), RemarkPlace::Passage) => {
                self.mark(anchor.from, BEGINS, begin);
                self.mark(anchor.to, ENDS, end);
            }
            (Some(anchor), _) => self.mark(anchor.from, BEGINS, end),
            (None, _) => self.mark(0, ENDS, end),
        }
    }

    /// Returns where a change is, if it is in the text; of a whole request, its first change.
    fn shown_change(&self, about: &CommentedChange) -> Option<ShownHunk> {
        let name = about.hunk.as_ref().map_or(about.request.as_str(), |hunk| hunk.as_str());
        self.shown.get(name).copied()
    }

    fn change(&mut self, key: PlaceKey) -> Option<&mut PlacedChange<'a>> {
        match self.changes.get_mut(&key)? {
            PlacedAnnotation::Change(change) => Some(change),
            PlacedAnnotation::Mark(_) => None,
        }
    }

    fn mark(&mut self, at: usize, rank: u8, mark: PieceMark) {
        let at = place_of(self.text, at);
        self.marks.insert((at, at, rank, self.marks.len()), PlacedAnnotation::Mark(mark));
    }
}

/// Returns the bytes of the first UTF-16 units of a text.
fn bytes_of(text: &str, units: usize) -> usize {
    let mut left = units;
    let chars = text.chars().take_while(|c| {
        let is_before = left >= c.len_utf16();
        left = left.saturating_sub(c.len_utf16());
        is_before
    });
    chars.map(char::len_utf8).sum()
}

/// Returns `true` if the hunk's base is in the text, and no part of it is inside or around a change
/// that was taken before.
fn fits(hunk: &Hunk, text: &Text, taken: &SortedAnnotations) -> bool {
    let stands =
        |part: &HunkPart| text.slice(part.from..part.to).is_ok_and(|there| there == part.base);
    // Taken changes do not overlap, so only the last that begins before the part's end can reach
    // into it.
    let free = |part: &HunkPart| {
        let before = taken.range(..(part.to, 0, 0, 0)).next_back();
        before.is_none_or(|(&(_, to, ..), _)| to <= part.from)
    };
    let in_order = hunk.parts.windows(2).all(|pair| pair[0].to <= pair[1].from);
    in_order && hunk.parts.iter().all(|part| !part.conflict && stands(part) && free(part))
}

/// Returns the nearest place in the text at or before `at`.
fn place_of(text: &Text, at: usize) -> usize {
    let at = at.min(text.len());
    if text.is_boundary(at) { at } else { at.saturating_sub(1) }
}
