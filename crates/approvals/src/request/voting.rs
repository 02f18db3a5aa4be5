//! Votes on a request, where one person is not enough.

use std::collections::{BTreeSet, HashMap};

use super::{ApprovalRequest, ProposedCall};
use crate::policy::agreeing;
use crate::{
    ApprovalRequirement, DecisionError, DecisionRequirements, Hunk, HunkStatus,
    InvalidDecisionReason, Vote, VoteCount,
};
use copydesk_ids::permissions::Principal;
use copydesk_ids::{HunkId, RuleId, UserId};

impl Hunk {
    /// Returns the votes that count now: those for what could be accepted at present, and, where
    /// more than one person was needed, those with which the hunk was accepted. Votes for words
    /// that were changed since count only once the words are back; votes that permit to overwrite
    /// changed words, only while they are changed.
    pub fn counted_votes(&self) -> Vec<&Vote> {
        let counted = |vote: &&Vote| match (self.status, &self.decided) {
            (HunkStatus::Accepted, Some(decided)) => {
                vote.text == decided.text && vote.seen == decided.forced_over
            }
            (status, _) => {
                status.is_open() && vote.seen.is_some() == (status == HunkStatus::Conflict)
            }
        };
        let votes: Vec<_> = self.votes.iter().filter(counted).collect();
        // One person's acceptance is the decision itself.
        if self.status == HunkStatus::Accepted && votes.len() < 2 { Vec::new() } else { votes }
    }

    /// Counts the votes on an open hunk whose marks take more than its request does.
    pub fn own_votes(&self) -> Option<VoteCount> {
        if self.required.is_any() || !self.status.is_open() {
            return None;
        }
        let (have, under) = agreeing(&self.counted_votes());
        let need = self.required.with(under).need();
        Some(VoteCount { have: have.min(need), need })
    }
}

impl ApprovalRequest {
    /// Returns the open hunks whose votes or requirement are others than in `before`, the same
    /// request earlier.
    pub fn voted_otherwise(&self, before: &Self) -> Vec<HunkId> {
        let earlier = before.hunks.iter();
        let earlier: HashMap<_, _> =
            earlier.map(|hunk| (&hunk.id, (&hunk.votes, hunk.required))).collect();
        let open = self.hunks.iter().filter(|hunk| hunk.status.is_open());
        let is_other = |hunk: &&Hunk| {
            earlier.get(&hunk.id).is_some_and(|known| *known != (&hunk.votes, hunk.required))
        };
        open.filter(is_other).map(|hunk| hunk.id.clone()).collect()
    }

    /// Counts the votes on what is open: the fewest of an open hunk, and the most needed. Hunks
    /// that take more by their marks count on their own ([`Hunk::own_votes`]).
    pub fn votes(&self) -> VoteCount {
        let need = self.requires().need();
        if !self.status.is_open() {
            return VoteCount { have: need, need };
        }
        let (mut have, mut most) = (None, need);
        let mut count = |(count, under): (u32, ApprovalRequirement)| {
            have = Some(have.map_or(count, |fewest: u32| fewest.min(count)));
            most = most.max(under.need());
        };
        if self.hunks.is_empty() {
            count(agreeing(&self.decisions.votes.iter().collect::<Vec<_>>()));
        }
        let open = self.hunks.iter().filter(|it| it.status.is_open() && it.required.is_any());
        open.for_each(|hunk| count(agreeing(&hunk.counted_votes())));
        let (have, need) = (have.unwrap_or(most), most);
        VoteCount { have: have.min(need), need }
    }

    pub(super) fn open_votes(&self) -> impl Iterator<Item = &Vote> {
        let on_hunks =
            self.hunks.iter().filter(|hunk| hunk.status.is_open()).flat_map(|h| &h.votes);
        self.decisions.votes.iter().chain(on_hunks)
    }

    /// Returns the people who voted, where one vote is not enough; perhaps more than once.
    pub fn voters(&self) -> impl Iterator<Item = &UserId> {
        self.open_votes().map(|vote| &vote.by.user)
    }

    /// Returns the voters who may no longer decide. `people` are all holders of a valid token.
    pub fn lost_voters(&self, people: &[Principal]) -> BTreeSet<UserId> {
        let ProposedCall { policy, requester, document, .. } = &self.proposal;
        let may = |vote: &&Vote| {
            let takes = policy.with(vote.under);
            people.iter().any(|who| {
                who.user == vote.by.user
                    && self.check_allowed(who).is_ok()
                    && takes.admits(who, &requester.user, document.as_ref())
            })
        };
        self.open_votes().filter(|vote| !may(vote)).map(|vote| vote.by.user.clone()).collect()
    }

    /// Counts the open changes that `who` may decide and has not voted on; a request without
    /// changes of a text counts as one.
    pub fn waits_for(&self, who: &Principal) -> usize {
        if !self.status.is_open() || self.check_allowed(who).is_err() {
            return 0;
        }
        if self.hunks.is_empty() {
            return usize::from(!self.has_vote_of(&who.user, None));
        }
        let (requester, document) =
            (&self.proposal.requester.user, self.proposal.document.as_ref());
        let is_counted = |hunk: &&Hunk| {
            hunk.status.is_open()
                && hunk.required.admits(who, requester, document)
                && !hunk.counted_votes().iter().any(|vote| vote.by.user == who.user)
        };
        self.hunks.iter().filter(is_counted).count()
    }

    /// Returns `true` if `who` has voted on this open hunk; `None`: on any, or on the request.
    pub fn has_vote_of(&self, who: &UserId, hunk: Option<&HunkId>) -> bool {
        let Some(id) = hunk else { return self.voters().any(|voter| voter == who) };
        let hunk = self.hunk(id).filter(|hunk| hunk.status.is_open());
        hunk.is_some_and(|hunk| hunk.votes.iter().any(|vote| vote.by.user == *who))
    }

    /// Withdraws the votes of `who`, and the rule wished for with them, on the open hunks of `only`
    /// or all, or on the request if it has none. Returns the hunks that are voted otherwise now.
    pub(crate) fn withdraw_votes(
        &mut self,
        only: Option<&[HunkId]>,
        who: &Principal,
        now_ms: u64,
    ) -> Result<Vec<HunkId>, DecisionError> {
        self.check_allowed(who)?;
        self.check_open(&[], now_ms)?;
        let mut changed = Vec::new();
        let is_meant = |id: &HunkId| only.is_none_or(|only| only.contains(id));
        for hunk in self.hunks.iter_mut().filter(|it| it.status.is_open() && is_meant(&it.id)) {
            let before = hunk.votes.len();
            hunk.votes.retain(|vote| vote.by.user != who.user);
            if hunk.votes.len() < before {
                changed.push(hunk.id.clone());
            }
        }
        self.decisions.votes.retain(|vote| vote.by.user != who.user);
        self.raise_revision();
        self.forget_lost_wishes();
        Ok(changed)
    }

    /// Withdraws votes of `who` as [`ApprovalRequest::withdraw_votes`] does, and undoes nothing
    /// that others have decided since.
    ///
    /// # Errors
    /// [`DecisionError`] if one of the hunks of `only` is unknown, `who` may not decide, one of
    /// these hunks or the request is decided, or `who` has no vote there; the first of these.
    pub fn withdraw_own_votes(
        &mut self,
        only: Option<&[HunkId]>,
        who: &Principal,
        now_ms: u64,
    ) -> Result<Vec<HunkId>, DecisionError> {
        self.wanted(only)?;
        self.check_allowed(who)?;
        self.check_open(&[], now_ms)?;
        let mut named = only.into_iter().flatten().filter_map(|id| self.hunk(id));
        if let Some(decided) = named.find(|hunk| !hunk.status.is_open()) {
            return Err(self.decided_already(decided));
        }
        let has_all = match only {
            Some(ids) => ids.iter().all(|id| self.has_vote_of(&who.user, Some(id))),
            None => self.has_vote_of(&who.user, None),
        };
        if !has_all || only.is_some_and(<[_]>::is_empty) {
            let reason = InvalidDecisionReason::NoVoteToWithdraw;
            return Err(DecisionError::InvalidDecision { reason });
        }
        self.withdraw_votes(only, who, now_ms)
    }

    /// Changes the requirement to that of other policies. Votes that are enough under the new
    /// policies are cleared, because no voter meant their vote to be the last one needed.
    pub fn follow_policy(&mut self, requirements: &DecisionRequirements) {
        self.set_policy(requirements);
        let policy = self.proposal.policy;
        let open = self.hunks.iter_mut().filter(|hunk| hunk.status.is_open());
        let of_hunks = open.map(|hunk| (policy.with(hunk.required), &mut hunk.votes));
        for (takes, votes) in of_hunks.chain([(policy, &mut self.decisions.votes)]) {
            let (have, under) = agreeing(&votes.iter().collect::<Vec<_>>());
            if have >= takes.with(under).need() {
                votes.clear();
            }
        }
    }

    /// Removes the votes of people who may no longer decide, and returns these people.
    pub fn remove_votes_except(&mut self, people: &[Principal]) -> BTreeSet<UserId> {
        let lost = self.lost_voters(people);
        self.decisions.votes.retain(|vote| !lost.contains(&vote.by.user));
        for hunk in self.hunks.iter_mut().filter(|hunk| hunk.status.is_open()) {
            hunk.votes.retain(|vote| !lost.contains(&vote.by.user));
        }
        lost
    }

    /// Returns the remembered rules that voted on what is open and are not among those `in_force`.
    pub fn lost_rules(&self, in_force: impl Fn(&RuleId) -> bool) -> BTreeSet<RuleId> {
        let rules = self.open_votes().filter_map(|vote| vote.rule.as_ref());
        rules.filter(|rule| !in_force(rule)).cloned().collect()
    }

    /// Removes the votes of these rules.
    pub fn remove_votes_of_rules(&mut self, rules: &BTreeSet<RuleId>) {
        let stays = |vote: &Vote| vote.rule.as_ref().is_none_or(|rule| !rules.contains(rule));
        self.decisions.votes.retain(stays);
        for hunk in self.hunks.iter_mut().filter(|hunk| hunk.status.is_open()) {
            hunk.votes.retain(stays);
        }
    }
}
