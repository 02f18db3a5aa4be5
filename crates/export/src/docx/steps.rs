//! Steps of a tracked document: each item stays, is deleted or is inserted.

use super::super::ExportResult;
use super::super::annotated::MarkedPart;
use super::flow::{CharStyle, FlowItem, Paragraph};

/// Tracked state of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RevisionMark {
    Stays,
    /// Deleted by the change of this number, counted from 0 over the text.
    Deleted(u32),
    Inserted(u32),
}

/// Step of the tracked document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TrackedStep {
    Glyph(FlowItem, RevisionMark),
    /// End of a paragraph that the change of number `by` makes another kind of paragraph.
    Restyled {
        from: Paragraph,
        to: Paragraph,
        by: u32,
    },
    /// Place between two items.
    Remark(RemarkMark),
}

/// Place of comments or of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RemarkMark {
    /// Beginning of the passage that comments are on.
    Begin(CommentNumbers),
    /// End of that passage.
    End(CommentNumbers),
    /// Place of comments without words, and of those on the whole document: programs show no
    /// comment that has no range.
    Point(CommentNumbers),
    /// Beginning of a part of a hunk.
    HunkStart(MarkedPart),
    /// End of that part.
    HunkEnd(MarkedPart),
}

impl RemarkMark {
    /// Returns `true` if it belongs to the item after it, not to the one before.
    pub fn begins(self) -> bool {
        matches!(self, Self::Begin(_) | Self::HunkStart(_))
    }
}

/// Numbers of the comments of one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CommentNumbers {
    pub first: usize,
    pub count: usize,
}

impl CommentNumbers {
    pub fn range(self) -> std::ops::Range<usize> {
        self.first..self.first + self.count
    }
}

/// Receiver of steps.
pub(super) trait StepSink {
    /// Takes the next step.
    fn step(&mut self, step: TrackedStep) -> ExportResult<()>;
}

/// Steps that wait. Characters of one style and mark take as many bytes as in the text.
#[derive(Debug, Default)]
pub(super) struct StepRuns {
    text: String,
    runs: Vec<StepRun>,
}

#[derive(Clone, Copy, Debug)]
enum StepRun {
    /// Number of bytes of characters, with their style and mark.
    Chars(usize, CharStyle, RevisionMark),
    Other(TrackedStep),
}

impl StepRuns {
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    pub fn push(&mut self, step: TrackedStep) {
        let TrackedStep::Glyph(FlowItem::Char(c, style), mark) = step else {
            return self.runs.push(StepRun::Other(step));
        };
        self.text.push(c);
        if let Some(StepRun::Chars(bytes, last_style, last_mark)) = self.runs.last_mut()
            && (*last_style, *last_mark) == (style, mark)
        {
            *bytes += c.len_utf8();
        } else {
            self.runs.push(StepRun::Chars(c.len_utf8(), style, mark));
        }
    }

    /// Moves all steps of `other` behind these.
    pub fn append(&mut self, other: &mut Self) {
        self.text.push_str(&other.text);
        self.runs.append(&mut other.runs);
        other.text.clear();
    }

    /// Returns the first step of each group of equal ones.
    pub fn kinds(&self) -> impl Iterator<Item = TrackedStep> {
        self.runs.iter().map(|run| match *run {
            StepRun::Chars(_, style, mark) => TrackedStep::Glyph(FlowItem::Char(' ', style), mark),
            StepRun::Other(step) => step,
        })
    }

    /// Returns all steps.
    pub fn iter(&self) -> impl Iterator<Item = TrackedStep> {
        let mut at = 0;
        self.runs.iter().flat_map(move |run| {
            let (bytes, run) = match *run {
                StepRun::Chars(bytes, ..) => (bytes, *run),
                StepRun::Other(_) => (0, *run),
            };
            let text = self.text.get(at..at + bytes).unwrap_or_default();
            at += bytes;
            let other = match run {
                StepRun::Other(step) => Some(step),
                StepRun::Chars(..) => None,
            };
            let glyph = move |c| match run {
                StepRun::Chars(_, style, mark) => {
                    Some(TrackedStep::Glyph(FlowItem::Char(c, style), mark))
                }
                StepRun::Other(_) => None,
            };
            other.into_iter().chain(text.chars().filter_map(glyph))
        })
    }
}
