//! Computes the difference of two texts as reviewable changes, on blocking threads.

use std::time::{Duration, Instant};

use copydesk_approvals::{Preview, PreviewWarning};
use copydesk_document::diff::{DiffLimits, HunkDraft, HunkKind, diff, diff_between, diff_whole};
use copydesk_document::{ChangeSet, Text, TextEdit, utf16_len};
use copydesk_rooms::command::DocumentSnapshot;

use crate::pipeline::{elisions, invisible_chars};
use crate::{DocumentProposal, EditableRange, ToolError};

/// Time limit of a comparison, after which the changes get fewer and larger.
const DEADLINE: Duration = Duration::from_secs(2);

/// Length in UTF-16 units below which the work takes less time than waking another thread.
const SHORT: usize = 32 * 1024;

/// Range that is replaced. Texts are compared only in it, so that no change can end up outside.
#[derive(Clone, Debug)]
pub struct ReplacedRange {
    /// First UTF-16 unit.
    pub start: usize,
    /// Present text of the range.
    pub old: String,
    /// New text of the range, with normalised line ends.
    pub new: String,
}

impl DocumentProposal {
    /// Returns the proposal that makes the document `base` read like `text`, with reviewable
    /// differences.
    pub async fn rewriting(base: &DocumentSnapshot, text: Text) -> Result<Self, ToolError> {
        propose(base, text, None).await
    }

    pub(crate) fn of(hunks: Vec<HunkDraft>, text: Text, preview: Preview) -> Self {
        let unplaced_reasons = Vec::new();
        Self { hunks, text, preview, success_text: None, note: None, unplaced_reasons }
    }
}

/// Returns the changes that turn the document `base` into `text`.
pub async fn propose(
    base: &DocumentSnapshot,
    text: Text,
    range: Option<ReplacedRange>,
) -> Result<DocumentProposal, ToolError> {
    let DocumentSnapshot { title, text: before, .. } = base.clone();
    blocking(move |limits| {
        let (old, new) = (before.to_string(), text.to_string());
        let hunks = match &range {
            Some(ReplacedRange { start, old, new }) => {
                let around = |range| before.slice(range).unwrap_or_default();
                let (before, end) = (around(0..*start), start + utf16_len(old));
                let behind = around(end..before.len());
                shifted(diff_between(&before, (old, new), &behind, limits), *start)
            }
            None => diff(&old, &new, limits),
        };
        let warnings = warnings(&before, &hunks, &old, &new);
        let preview = Preview { warnings, ..Preview::diff(&title, Some(&old), &new, limits) };
        DocumentProposal::of(hunks, text, preview)
    })
    .await
}

/// Returns the proposal that applies ordered and disjoint `hunks` to the document `base`.
pub async fn compose(
    base: &DocumentSnapshot,
    hunks: Vec<HunkDraft>,
) -> Result<DocumentProposal, ToolError> {
    let DocumentSnapshot { title, text: before, .. } = base.clone();
    let units = before.len();
    let composed = move |limits: &DiffLimits| {
        let edits: Vec<_> =
            hunks.iter().flat_map(|hunk| &hunk.parts).cloned().map(TextEdit::from).collect();
        let mut text = before.clone();
        ChangeSet::of(units, &edits)
            .and_then(|change| change.apply(&mut text))
            .map_err(|error| ToolError::Internal(error.to_string()))?;
        let (old, new) = (before.to_string(), text.to_string());
        let warnings = warnings(&before, &hunks, &old, &new);
        let preview = Preview { warnings, ..Preview::diff(&title, Some(&old), &new, limits) };
        Ok(DocumentProposal::of(hunks, text, preview))
    };
    linear(units, composed).await?
}

fn warnings(base: &Text, hunks: &[HunkDraft], old: &str, new: &str) -> Vec<PreviewWarning> {
    let unseen = invisible_chars::of_hunks(base, hunks);
    unseen.into_iter().chain(elisions::warnings(old, new)).collect()
}

/// Returns the difference of `old`, which stands at `offset` (UTF-16 units), and `new` as one hunk.
pub fn one_hunk(old: &str, new: &str, offset: usize, explanation: Option<String>) -> HunkDraft {
    let hunks = shifted(diff_whole(old, new, &DiffLimits::default()), offset);
    let is_one = hunks.len() == 1;
    let kind = hunks.first().and_then(|hunk| hunk.kind).filter(|_| is_one);
    let parts: Vec<_> = hunks.into_iter().flat_map(|hunk| hunk.parts).collect();
    HunkDraft { explanation, kind: kind.or(Some(HunkKind::Rewrite)), ..HunkDraft::from(parts) }
}

/// Most words of a change that may stand for itself, on either side.
const MOST_WORDS: usize = 3;

/// Returns the difference as [`one_hunk`] does, or as one hunk for each if it has only changes of a
/// few words.
pub fn corrections_apart(
    old: &str,
    new: &str,
    offset: usize,
    explanation: Option<String>,
) -> Vec<HunkDraft> {
    let hunks = diff_whole(old, new, &DiffLimits::default());
    let is_short = |words: &str| words.split_whitespace().count() <= MOST_WORDS;
    let is_small = |hunk: &HunkDraft| matches!(&hunk.parts[..], [part] if is_short(&part.base) && is_short(&part.insert));
    if !hunks.iter().all(is_small) {
        return vec![one_hunk(old, new, offset, explanation)];
    }
    let with_reason = |hunk| HunkDraft { explanation: explanation.clone(), group: None, ..hunk };
    shifted(hunks, offset).into_iter().map(with_reason).collect()
}

/// Returns a rewrite of the whole document as one of the allowed range, if it changes nothing
/// outside of that range. Where words repeat, a comparison of whole texts could place the change
/// elsewhere.
pub fn confined(base: &Text, text: &Text, allowed: EditableRange) -> Option<ReplacedRange> {
    let EditableRange::Only(start, end) = allowed else { return None };
    let (before, old) = (base.slice(0..start).ok()?, base.slice(start..end).ok()?);
    let after = base.slice(end..base.len()).ok()?;
    let new = text.to_string();
    let new = new.strip_prefix(&before)?.strip_suffix(&after)?.to_owned();
    Some(ReplacedRange { start, old, new })
}

fn shifted(mut hunks: Vec<HunkDraft>, offset: usize) -> Vec<HunkDraft> {
    for part in hunks.iter_mut().flat_map(|hunk| &mut hunk.parts) {
        part.from += offset;
        part.to += offset;
    }
    hunks
}

/// Runs `work` of linear time in `units` UTF-16 units: here, or on a blocking thread if that is
/// long.
pub async fn linear<T: Send + 'static>(
    units: usize,
    work: impl FnOnce(&DiffLimits) -> T + Send + 'static,
) -> Result<T, ToolError> {
    if units <= SHORT { Ok(work(&limits())) } else { blocking(work).await }
}

/// Runs `work` on a blocking thread.
pub async fn blocking<T: Send + 'static>(
    work: impl FnOnce(&DiffLimits) -> T + Send + 'static,
) -> Result<T, ToolError> {
    let done = tokio::task::spawn_blocking(move || work(&limits())).await;
    done.map_err(|error| ToolError::Internal(error.to_string()))
}

fn limits() -> DiffLimits {
    DiffLimits { deadline: Some(Instant::now() + DEADLINE) }
}
