//! Suggestions of people: requests whose hunks their writer goes on writing until others decide.
//!
//! The writer sends the whole suggestion each time. `rewrite` cuts only what changed into hunks
//! again, so that what others may be deciding stays as it is.

mod arrival;
mod changed_regions;
mod coarser;
mod rebuilt_region;
mod rewrite;

use sha2::{Digest, Sha256};

use super::preview::preview_hash::quote;
use super::{
    ApprovalRequest, ArrivedHunks, ClosedBy, Hunk, HunkStatus, Person, ProposedCall, RequestTimes,
    SuggestionState,
};
use copydesk_ids::permissions::Principal;
use copydesk_ids::{HunkId, Version, hex};

pub use arrival::ArrivedSuggestion;
pub use coarser::MOST_SUGGESTED;
pub use rewrite::RewrittenHunks;

impl Hunk {
    /// Returns `true` while the person who suggests the hunk is writing in it.
    pub fn is_being_written(&self) -> bool {
        self.suggested.as_ref().is_some_and(|it| it.writing_until_ms.is_some())
    }

    /// Returns `sha256:` and the hash of the id of the hunk and the words it deletes and inserts.
    pub fn words_hash(&self) -> String {
        let mut shown = Vec::with_capacity(256);
        quote(self.id.as_str(), &mut shown);
        for part in &self.parts {
            quote(&part.base, &mut shown);
            quote(&part.insert, &mut shown);
        }
        format!("sha256:{}", hex(&Sha256::digest(&shown)))
    }

    /// Returns `true` if the hunk was decided before, and that was undone.
    fn was_decided(&self) -> bool {
        self.suggested.as_ref().is_some_and(|it| it.was_decided)
    }

    /// Notes that a decision about the hunk was undone.
    pub(crate) fn note_decided(&mut self) {
        if let Some(suggested) = &mut self.suggested {
            suggested.was_decided = true;
        }
    }

    fn stop_writing(&mut self) -> bool {
        self.suggested.as_mut().is_some_and(|it| it.writing_until_ms.take().is_some())
    }
}

impl ApprovalRequest {
    /// Creates the request of a person's suggestion, without hunks yet; `before` is the one that
    /// they wrote before.
    pub fn begin_suggestion(
        proposal: ProposedCall,
        version: Version,
        now_ms: u64,
        before: Option<&Self>,
    ) -> Self {
        let clock = RequestTimes::start(now_ms, 0);
        let mut request = Self::open(proposal, ArrivedHunks::default(), version, clock);
        let before = before.and_then(|before| before.suggestion.as_ref());
        request.suggestion =
            Some(before.map_or_else(SuggestionState::default, SuggestionState::next));
        request
    }

    /// Returns the revision of a suggestion that was not reopened.
    pub fn revision(&self) -> Option<u64> {
        self.suggestion.as_ref().filter(|it| !it.is_reopened).map(|it| it.revision)
    }

    /// Returns `true` if `who` suggested it and it was not reopened.
    pub fn is_suggestion_of(&self, who: &Principal) -> bool {
        self.revision().is_some() && who.is(&self.proposal.requester.user)
    }

    /// Raises the revision of a suggestion, because it is decided or changed.
    pub fn raise_revision(&mut self) {
        if let Some(suggestion) = &mut self.suggestion {
            suggestion.revision += 1;
        }
    }

    /// Returns `true` if the suggestion had a hunk with this id, which its writer has replaced.
    pub(super) fn was_written_on(&self, id: &HunkId) -> bool {
        let made = self.suggestion.as_ref().map_or(0, |it| it.hunks_made);
        let number =
            id.as_str().strip_prefix(self.id().as_str()).and_then(|it| it.strip_prefix('.'));
        let number = number.and_then(|it| it.parse().ok());
        number.is_some_and(|number: usize| (1..=made).contains(&number))
    }

    pub(super) fn reopen_suggestion(&mut self) {
        if let Some(suggestion) = &mut self.suggestion {
            suggestion.is_reopened = true;
        }
    }

    /// Returns the time, in milliseconds since 1970, at which the writer is no longer in a hunk.
    pub fn writing_ends_ms(&self) -> Option<u64> {
        self.suggestion.as_ref()?;
        let times = self.hunks.iter().filter_map(|hunk| hunk.suggested.as_ref()?.writing_until_ms);
        times.min()
    }

    /// Ends the writing in hunks whose time is over, and returns those that are open.
    pub fn end_writing(&mut self, now_ms: u64) -> Vec<HunkId> {
        let is_over = |hunk: &&mut Hunk| {
            let until = hunk.suggested.as_ref().and_then(|it| it.writing_until_ms);
            until.is_some_and(|until| until <= now_ms)
        };
        let over = self.hunks.iter_mut().filter(is_over);
        over.filter_map(|hunk| {
            hunk.stop_writing();
            hunk.status.is_open().then(|| hunk.id.clone())
        })
        .collect()
    }

    /// Withdraws the open hunks for their writer, and returns them. What was decided stays.
    pub fn withdraw_open(&mut self, by: Person, now_ms: u64) -> Vec<HunkId> {
        let is_decided =
            |hunk: &Hunk| matches!(hunk.status, HunkStatus::Accepted | HunkStatus::Rejected);
        if !self.hunks.iter().any(is_decided) {
            return self.cancel(Some(by), now_ms).unwrap_or_default();
        }
        self.raise_revision();
        self.forget_hash();
        let open = self.hunks.extract_if(.., |hunk| hunk.status.is_open());
        let open = open.map(|hunk| hunk.id).collect();
        self.settle(ClosedBy::by(Some(by), now_ms));
        open
    }
}
