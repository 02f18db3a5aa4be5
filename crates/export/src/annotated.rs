//! Annotated text: unchanged pieces, pending changes, and remarks beside the text.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::escape;
use copydesk_approvals::{ApprovalRequest, Hunk, HunkPart, HunkStatus};
use copydesk_document::{PositionError, Text};

/// Longest quotation in a remark, in characters.
const LONGEST_QUOTE: usize = 200;

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
    /// Place of a remark: an index into [`AnnotatedText::remarks`].
    Remark(usize),
}

/// Words that would be replaced; one side can be empty.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PendingChange {
    pub deleted: String,
    pub inserted: String,
    pub signature: Arc<ChangeSignature>,
}

/// Author and time of a pending change.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ChangeSignature {
    /// Author as "AI for NAME": the model wrote it, the person asked for it; the name in the file
    /// for a change that came with an imported one.
    pub author: String,
    /// Time of the request, in milliseconds since 1970.
    pub at_ms: u64,
}

/// Remark beside the text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct AnnotationRemark {
    pub signature: Arc<ChangeSignature>,
    /// Text in one line; empty if there is nothing to add to the author.
    pub text: String,
}

/// Changes and remarks by place, in order of the text; of two at one place the earlier comes first.
type SortedAnnotations<'a> = BTreeMap<(usize, usize, usize), PlacedAnnotation<'a>>;

enum PlacedAnnotation<'a> {
    Change(&'a HunkPart, Arc<ChangeSignature>),
    Remark(AnnotationRemark),
}

impl AnnotatedText {
    /// Annotates the pending changes in `requests`, which are of this version of the text. Of
    /// changes that overlap, the first is a change and the others become remarks, and so do changes
    /// in conflict.
    pub fn new(text: &Text, requests: &[Arc<ApprovalRequest>]) -> Result<Self, PositionError> {
        let (mut changes, mut remarks) = (SortedAnnotations::new(), SortedAnnotations::new());
        for request in requests.iter().filter(|request| request.status.is_open()) {
            let signature = Arc::new(ChangeSignature::of(request));
            // The request's explanation is given once, with its first change.
            let mut unsaid = Some(request.proposal.action.explanation.as_str());
            for hunk in &request.hunks {
                if !matches!(hunk.status, HunkStatus::Pending | HunkStatus::Conflict) {
                    continue;
                }
                let explanation =
                    hunk.explanation.as_deref().or_else(|| unsaid.take()).unwrap_or("");
                let fits = hunk.status == HunkStatus::Pending && fits(hunk, text, &changes);
                if fits {
                    for part in hunk.parts.iter().filter(|part| part.base != part.insert) {
                        let change = PlacedAnnotation::Change(part, Arc::clone(&signature));
                        changes.insert((part.from, part.to, changes.len() + remarks.len()), change);
                    }
                }
                let said =
                    if fits { escape::line(explanation) } else { instead(hunk, explanation) };
                let at = place(text, if fits { hunk.range().end } else { hunk.range().start });
                let remark = AnnotationRemark { signature: Arc::clone(&signature), text: said };
                remarks.insert(
                    (at, at, changes.len() + remarks.len()),
                    PlacedAnnotation::Remark(remark),
                );
            }
        }
        changes.append(&mut remarks);
        Self::assemble(text, changes)
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
            AnnotatedPiece::Remark(_) => "",
        };
        self.pieces.iter().map(piece).collect()
    }

    fn assemble(text: &Text, places: SortedAnnotations) -> Result<Self, PositionError> {
        let mut marked = Self { pieces: Vec::new(), remarks: Vec::new() };
        let mut done = 0;
        for ((from, to, _), placed) in places {
            // A remark in the middle of words that would be deleted is placed after them.
            marked.same(text, done..from.max(done))?;
            done = done.max(to);
            match placed {
                PlacedAnnotation::Change(part, signature) => {
                    let (deleted, inserted) = (part.base.clone(), part.insert.clone());
                    let change = PendingChange { deleted, inserted, signature };
                    marked.pieces.push(AnnotatedPiece::Change(change));
                }
                PlacedAnnotation::Remark(remark) => {
                    marked.pieces.push(AnnotatedPiece::Remark(marked.remarks.len()));
                    marked.remarks.push(remark);
                }
            }
        }
        marked.same(text, done..text.len())?;
        Ok(marked)
    }

    fn same(&mut self, text: &Text, range: Range<usize>) -> Result<(), PositionError> {
        if !range.is_empty() {
            self.pieces.push(AnnotatedPiece::Same(text.slice(range)?));
        }
        Ok(())
    }
}

impl ChangeSignature {
    fn of(request: &ApprovalRequest) -> Self {
        let author = match &request.proposal.claimed_author {
            Some(claimed) => escape::line(&claimed.name),
            None => format!("AI for {}", escape::line(&request.proposal.requester.name)),
        };
        Self { author, at_ms: request.clock.created_ms }
    }
}

/// Returns `true` if the hunk's base is in the text, and no part of it is inside or around a change
/// that was taken before.
fn fits(hunk: &Hunk, text: &Text, taken: &SortedAnnotations) -> bool {
    let stands =
        |part: &HunkPart| text.slice(part.from..part.to).is_ok_and(|there| there == part.base);
    // Taken changes do not overlap, so only the last that begins before the part's end can reach
    // into it.
    let free = |part: &HunkPart| {
        let before = taken.range(..(part.to, 0, 0)).next_back();
        before.is_none_or(|(&(_, to, _), _)| to <= part.from)
    };
    let in_order = hunk.parts.windows(2).all(|pair| pair[0].to <= pair[1].from);
    in_order && hunk.parts.iter().all(|part| !part.conflict && stands(part) && free(part))
}

/// Describes a change that cannot be shown in the text.
fn instead(hunk: &Hunk, explanation: &str) -> String {
    let quoted = |text: &str| {
        let line = escape::line(text);
        let short: String = line.chars().take(LONGEST_QUOTE).collect();
        if short.len() < line.len() {
            format!("“{short}…”")
        } else {
            format!("“{short}”")
        }
    };
    let (base, proposed) = (hunk.base(), hunk.proposed());
    let what = match (base.is_empty(), proposed.is_empty()) {
        _ if hunk.is_moved() => format!("would move {}", quoted(&base)),
        (true, _) => format!("would add {}", quoted(&proposed)),
        (false, true) => format!("would remove {}", quoted(&base)),
        (false, false) => format!("would write {} instead of {}", quoted(&proposed), quoted(&base)),
    };
    let explanation = escape::line(explanation);
    if explanation.is_empty() { what } else { format!("{what}: {explanation}") }
}

/// Returns the nearest place in the text at or before `at`.
fn place(text: &Text, at: usize) -> usize {
    let at = at.min(text.len());
    if text.is_boundary(at) { at } else { at.saturating_sub(1) }
}
