//! Suggestions that were made on an older version: a hunk whose words others have changed since is
//! in conflict, as it would be if it had come before their change.

use std::collections::BTreeSet;

use super::changed_regions::{changed_regions, pending_edits};
use super::rebuilt_region::RebuiltRegion;
use super::rewrite::{NewHunks, RegionHunk, make_same_change, named_again};
use crate::hunks::map_to_head::rebase_all;
use crate::{ApprovalRequest, Hunk, HunkPart, HunkStatus};
use copydesk_document::diff::DiffLimits;
use copydesk_document::{ChangeResult, ChangeSet, Text, TextEdit};

/// Suggestion at the newest version.
#[derive(Debug)]
pub struct ArrivedSuggestion {
    /// Change of the text to the one that is suggested, without the words in conflict.
    pub wanted: ChangeSet,
    /// Hunks that are not pending, because others have changed their words.
    pub overtaken: Vec<Hunk>,
}

impl From<ChangeSet> for ArrivedSuggestion {
    fn from(wanted: ChangeSet) -> Self {
        Self { wanted, overtaken: Vec::new() }
    }
}

impl ApprovalRequest {
    /// Maps a suggestion, made on `base`, over the updates since, oldest first.
    ///
    /// # Errors
    /// [`ChangeError`](copydesk_document::ChangeError) if one of them does not fit the text.
    pub fn arrive(
        &self,
        wanted: &ChangeSet,
        base: &Text,
        updates: &[ChangeSet],
        limits: &DiffLimits,
    ) -> ChangeResult<ArrivedSuggestion> {
        wanted.apply(&mut base.clone())?;
        let (mut regions, mut whole) = (Vec::new(), Vec::new());
        for region in changed_regions(&[], wanted, base) {
            for draft in RebuiltRegion::whole(&region, base)?.drafts {
                whole.push(Hunk::new(self.id(), 1, draft, base)?);
                regions.push(region.edits.clone());
            }
        }
        let text = rebase_all(&mut whole, base, updates)?;
        // Others may have deleted the same words.
        let is_done = |it: &HunkPart| it.from == it.to && it.insert.is_empty();
        let is_out =
            |hunk: &Hunk| hunk.status != HunkStatus::Pending && !hunk.parts.iter().all(is_done);
        let touched = whole.iter().zip(&regions).filter(|(hunk, _)| is_out(hunk));
        let touched: Vec<&TextEdit> = touched.flat_map(|(_, edits)| edits).collect();
        let mut cut = Self { hunks: Vec::new(), ..self.clone() };
        cut.rewrite(ChangeSet::of(base.len(), touched)?.into(), base, 0, limits)?;
        rebase_all(&mut cut.hunks, base, updates)?;
        let is_pending = |hunk: &Hunk| hunk.status == HunkStatus::Pending;
        whole.retain(is_pending);
        let (pending, overtaken): (Vec<_>, _) =
            cut.hunks.into_iter().chain(whole).partition(is_pending);
        let edits = pending_edits(&pending);
        let wanted = ChangeSet::of(text.len(), edits.iter().map(|(_, edit)| edit))?;
        Ok(ArrivedSuggestion { wanted, overtaken })
    }

    /// Returns the hunks that others have changed the words of, with the names of those in conflict
    /// that they go on. One that is known stays as it is.
    pub(super) fn overtaken(&self, hunks: Vec<Hunk>, made: &mut usize) -> NewHunks {
        let is_out = |it: &Hunk| matches!(it.status, HunkStatus::Conflict | HunkStatus::Obsolete);
        let (mut listed, mut fresh, mut replaced) = (Vec::new(), Vec::new(), BTreeSet::new());
        for hunk in hunks {
            let mut out = self.hunks.iter().enumerate().filter(|(_, it)| is_out(it));
            if let Some((index, known)) = out.find(|(_, it)| make_same_change(it, &hunk)) {
                listed.push(RegionHunk::Fixed(index, Box::new(known.clone())));
                replaced.insert(index);
            } else {
                fresh.push(hunk);
            }
        }
        let places: Vec<_> = fresh.iter().map(Hunk::range).collect();
        let gone: BTreeSet<usize> = self.in_conflict_at(&places).collect();
        let former: Vec<&Hunk> =
            gone.difference(&replaced).map(|&index| &self.hunks[index]).collect();
        let fresh = named_again(fresh, &former, self.id(), made);
        listed.extend(fresh.into_iter().map(|hunk| RegionHunk::New(Box::new(hunk))));
        replaced.extend(gone);
        NewHunks { hunks: listed, replaced }
    }
}
