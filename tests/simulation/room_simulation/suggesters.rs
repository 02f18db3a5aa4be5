//! Simulated suggesters: people who go on writing their suggestions while others decide them.

use std::ops::Range;
use std::sync::Arc;

use copydesk_approvals::{ApprovalRequest, Hunk, HunkStatus};
use copydesk_document::{ChangeSet, Text};
use copydesk_ids::permissions::Principal;

use super::RoomSimulation;
use crate::generators;
use crate::invariants::Invariant::{
    OnlyPeopleDecideSuggestions, SuggestionIsAsWritten, WritingChangesNothingElse,
};
use crate::invariants::{CheckResult, ensure};
use crate::suggestion_writing::{SUGGESTERS, SuggestingView, check_as_written, pending_edits};

/// A suggestion before an update, and what the update wants.
struct Written {
    before: Option<Arc<ApprovalRequest>>,
    by: Principal,
    revision: u64,
    wanted: ChangeSet,
    text: Text,
}

impl RoomSimulation {
    /// Writes on a suggestion, or begins one; now and then over a revision that is not the newest.
    pub(super) fn suggest(&mut self) -> CheckResult {
        let by = generators::principal_named(SUGGESTERS[self.random.usize(..SUGGESTERS.len())]);
        let before = self.server.room.open().values().find(|it| it.is_suggestion_of(&by)).cloned();
        if before.is_none() && self.server.room.open().len() >= self.max_open_requests {
            return Ok(());
        }
        let text = self.server.room.text().clone();
        let view = SuggestingView {
            text: &text,
            version: self.server.room.version(),
            before: before.as_deref(),
            revision: before.as_deref().and_then(ApprovalRequest::revision).unwrap_or_default(),
        };
        let (update, wanted) = view.random_update(&mut self.random, by.clone());
        let revision = update.revision;
        self.server.suggest(update);
        self.has_uncommitted = true;
        let written = Written { before, by, revision, wanted, text };
        self.check_written(&written)
    }

    fn check_written(&mut self, written: &Written) -> CheckResult {
        let Written { before, by, revision, wanted, text } = written;
        ensure(OnlyPeopleDecideSuggestions, self.server.room.text() == text, || {
            format!("writing a suggestion changed the text to {}", self.server.room.text())
        })?;
        let after = self.server.room.open().values().find(|it| it.is_suggestion_of(by)).cloned();
        let newest = before.as_deref().and_then(ApprovalRequest::revision);
        let is_old = *revision != newest.unwrap_or_default();
        if is_old && before.is_some() {
            ensure(SuggestionIsAsWritten, after == *before, || {
                format!("{revision} is not {newest:?}, and {before:?} became {after:?}")
            })?;
            self.count("suggested over an old revision");
            return Ok(());
        }
        let Some(after) = after else {
            self.count(if before.is_some() { "suggestion withdrawn" } else { "nothing suggested" });
            return Ok(());
        };
        if before.as_ref().is_some_and(|before| before.revision() == after.revision()) {
            ensure(WritingChangesNothingElse, before.as_ref() == Some(&after), || {
                format!("{before:?} was refused and is {after:?}")
            })?;
            self.count("suggestion refused");
            return Ok(());
        }
        self.count(if before.is_some() { "suggestion written on" } else { "suggested" });
        check_as_written(&after, wanted, text)?;
        for hunk in &after.hunks {
            let is_announced = before.as_ref().is_some_and(|it| it.hunk(&hunk.id).is_some());
            self.shown_hashes.entry(hunk.id.clone()).or_default().push(hunk.words_hash());
            if !is_announced {
                ensure(OnlyPeopleDecideSuggestions, hunk.votes.is_empty(), || format!("{hunk:?}"))?;
            }
        }
        match before {
            Some(before) => check_stable(before, &after, wanted, text),
            None => Ok(()),
        }
    }
}

/// Checks the hunks that an update must leave alone: decided ones, the words of those that were
/// voted on, those in conflict that are not touched, and those in other paragraphs.
fn check_stable(
    before: &ApprovalRequest,
    after: &ApprovalRequest,
    wanted: &ChangeSet,
    text: &Text,
) -> CheckResult {
    let known = pending_edits(before);
    let known = ChangeSet::of(text.len(), &known).unwrap();
    let places = |change: &ChangeSet| -> Vec<(usize, usize, String)> {
        change.changed_ranges().map(|it| (it.from_a, it.to_a, it.insert.to_owned())).collect()
    };
    let (known, wanted) = (places(&known), places(wanted));
    let undone = known.iter().filter(|it| !wanted.contains(it));
    let new: Vec<_> = wanted.iter().filter(|it| !known.contains(it)).collect();
    let changed: Vec<_> = undone.chain(new.iter().copied()).map(|it| it.0..it.1).collect();
    // A change of both is about two paragraphs at once.
    let joins = |range: Range<usize>| text.slice(range).is_ok_and(|words| words.contains("\n\n"));
    let is_chained = known.iter().chain(&wanted).any(|it| joins(it.0..it.1))
        || before.hunks.iter().any(|hunk| joins(hunk.range()));
    for hunk in &before.hunks {
        let now = after.hunk(&hunk.id);
        let has_words = now.is_some_and(|now| now.words_hash() == hunk.words_hash());
        let is_same = has_words
            && now.is_some_and(|now| now.votes == hunk.votes && now.status == hunk.status);
        let touched =
            |it: &&&(usize, usize, String)| it.0 <= hunk.range().end && hunk.range().start <= it.1;
        let stays = match hunk.status {
            HunkStatus::Pending => !is_chained && !changed.iter().any(|it| is_near(text, it, hunk)),
            HunkStatus::Conflict => !new.iter().any(|it| touched(&it)),
            _ => true,
        };
        let keeps_votes = hunk.votes.is_empty() || now.is_none() || has_words;
        ensure(WritingChangesNothingElse, keeps_votes && (!stays || is_same), || {
            format!("{hunk:?} became {now:?} by {wanted:?}")
        })?;
    }
    Ok(())
}

/// Returns whether a change and a hunk may be in one paragraph.
fn is_near(text: &Text, change: &Range<usize>, hunk: &Hunk) -> bool {
    let range = hunk.range();
    let between = change.end.min(range.end)..change.start.max(range.start);
    let apart = between.start < between.end
        && text.slice(between).is_ok_and(|words| words.matches("\n\n").count() > 0);
    !apart
}
