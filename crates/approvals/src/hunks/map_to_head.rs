//! Mapping of a change made on an older version to the newest one.

use serde::{Deserialize, Serialize};

use crate::report::tool_report::quoted;
use crate::{Hunk, HunkDraft, HunkStatus, ToolReport};
use copydesk_document::{ChangeError, ChangeSet, PositionError, Text};
use copydesk_ids::RequestId;

/// A change that was not shown because people had changed its words before it arrived.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReturnedHunk {
    /// Text that the agent had read.
    pub base: String,
    /// Text that the agent proposed.
    pub proposed: String,
    /// Text that people made of it; empty if they deleted it.
    pub now: String,
}

/// [`Hunk`]s of a new change, mapped to the newest version.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArrivedHunks {
    /// Hunks that people can decide.
    pub hunks: Vec<Hunk>,
    /// Hunks that go back to the agent.
    pub returned: Vec<ReturnedHunk>,
}

impl ArrivedHunks {
    /// Maps `drafts`, made on `base`, over `updates`, the changes committed since, oldest first.
    pub fn map<'a>(
        request: &RequestId,
        drafts: Vec<HunkDraft>,
        base: &Text,
        updates: impl IntoIterator<Item = &'a ChangeSet>,
    ) -> Result<Self, ChangeError> {
        let mut hunks = Vec::with_capacity(drafts.len());
        let drafts = grouped(drafts, base)?;
        for (index, draft) in drafts.into_iter().enumerate() {
            hunks.push(Hunk::new(request, index + 1, draft, base)?);
        }
        rank(&mut hunks);
        let text = rebase_all(&mut hunks, base, updates)?;
        let mut arrival = Self::default();
        for hunk in hunks {
            if hunk.status == HunkStatus::Pending {
                arrival.hunks.push(hunk);
            } else {
                arrival.returned.push(ReturnedHunk::new(&hunk, &text));
            }
        }
        Ok(arrival)
    }

    /// Returns the report to the model if nothing is left to show; there is no request then.
    pub fn refusal(&self) -> Option<ToolReport> {
        if !self.hunks.is_empty() || self.returned.is_empty() {
            return None;
        }
        let mut text = String::from(
            "Not proposed: people changed this text after you read it. Read it again before you propose anything.",
        );
        for returned in &self.returned {
            text.push('\n');
            text.push_str(&returned.line());
        }
        Some(ToolReport { text, is_error: true })
    }
}

/// Maps hunks, made on `base`, over updates, oldest first, and returns the text after them.
pub(crate) fn rebase_all<'a>(
    hunks: &mut [Hunk],
    base: &Text,
    updates: impl IntoIterator<Item = &'a ChangeSet>,
) -> Result<Text, ChangeError> {
    let mut text = base.clone();
    for change in updates {
        change.apply(&mut text)?;
        let update = crate::CommittedUpdate::new(change, &text);
        for hunk in &mut *hunks {
            hunk.rebase_over(&update);
        }
    }
    Ok(text)
}

fn rank(hunks: &mut [Hunk]) {
    if !hunks.iter().any(Hunk::is_moved) {
        return;
    }
    let mut parts: Vec<_> = hunks.iter_mut().flat_map(|hunk| &mut hunk.parts).collect();
    // Stable: what is put in at one place is in the order of the hunks.
    parts.sort_by_key(|part| (part.from, part.to));
    for (part, rank) in parts.into_iter().zip(1..) {
        part.rank = rank;
    }
}

fn grouped(mut drafts: Vec<HunkDraft>, base: &Text) -> Result<Vec<HunkDraft>, PositionError> {
    if drafts.iter().any(|draft| draft.group.is_some()) {
        return Ok(drafts);
    }
    let (mut group, mut end) = (1, None);
    for draft in &mut drafts {
        let (Some(first), Some(last)) = (draft.parts.first(), draft.parts.last()) else { continue };
        if let Some(end) = end
            && end <= first.from
            && base.slice(end..first.from)?.contains('\n')
        {
            group += 1;
        }
        end = Some(last.to);
        draft.group = Some(group);
    }
    Ok(drafts)
}

impl ReturnedHunk {
    fn new(hunk: &Hunk, text: &Text) -> Self {
        let now = hunk.standing(text).unwrap_or_default();
        Self { base: hunk.base(), proposed: hunk.proposed(), now }
    }

    pub(crate) fn line(&self) -> String {
        let Self { base, proposed, now } = self;
        format!(
            "- conflicted: you read {}, proposed {}; it now reads {}",
            quoted(base),
            quoted(proposed),
            quoted(now)
        )
    }
}
