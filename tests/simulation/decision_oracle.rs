//! An oracle for decisions: it records every decision beside the core, and checks each one against
//! the invariants.

use std::collections::BTreeMap;

use copydesk_approvals::{
    ApprovalRequest, ApprovalRequirement, Decision, DecisionPolicy, FinishRest, Hunk, HunkChoice,
    HunkStatus, HunkVerdict, RequestVerdict, ToolPolicy,
};
use copydesk_document::{ChangeSet, Text};
use copydesk_ids::permissions::{Principal, Role};
use copydesk_ids::{HunkId, RequestId, UserId};

use crate::invariants::Invariant::{
    AcceptChangesOnlyItsHunks, AppliedTextMatchesPreview, ApprovalMatchesPreview,
    ApproveAllAcceptsPending, ConflictNeedsForce, DeciderIsAuthorized, DecisionsPersist,
    DeniedIsNotApplied, EnoughVotesAgree, FirstDecisionWins, FrozenTextIsUnchanged,
    NoDecisionAfterExpiry, PendingCanBeAccepted, RejectAllRejectsOpen, SeenMatchesText,
    WritingIsNotDecided,
};
use crate::invariants::{CheckResult, ensure};
use crate::reference_document::{UnitId, edits};
use crate::rule_oracle::RuleOracle;

/// A vote for a hunk: the person, the edited text, and the text it overwrites by force.
type RecordedVote = (UserId, Option<String>, Option<String>);

/// Everything that is recorded about a hunk.
#[derive(Clone, Default)]
pub struct HunkHistory {
    votes: Vec<RecordedVote>,
    /// The final status, by whom and when.
    decided: Option<(HunkStatus, UserId, u64)>,
    /// The units that an accept inserted, for each part; only if every part inserted some.
    pub inserted_units: Option<Vec<Vec<UnitId>>>,
    /// Units that accepting it changed; `None` if that is not known.
    pub size: Option<usize>,
}

/// The committed decisions, and those of the current batch.
#[derive(Default)]
pub struct DecisionOracle {
    committed: BTreeMap<HunkId, HunkHistory>,
    uncommitted: BTreeMap<HunkId, HunkHistory>,
    /// Number of committed decisions on each request, and the decisions of the current batch.
    decision_counts: BTreeMap<RequestId, usize>,
    uncommitted_decisions: Vec<RequestId>,
}

/// A decision with its context and its result.
pub struct ObservedDecision<'a> {
    pub before: &'a ApprovalRequest,
    pub after: &'a ApprovalRequest,
    pub decision: &'a Decision,
    pub by: &'a Principal,
    /// The text before the decision, and the change that it made.
    pub text: &'a Text,
    pub change: Option<&'a ChangeSet>,
    pub now_ms: u64,
    pub frozen: &'a [(usize, usize)],
    /// The owners' rules in force.
    pub rules: &'a RuleOracle,
    /// Stricter policies for changes above some size, or with some marks.
    pub policies: &'a [ToolPolicy],
}

/// The size of what is applied.
enum AppliedSize {
    Nothing,
    Units(usize),
    /// A text that spread apart is overwritten in pieces.
    Unknown,
}

impl DecisionOracle {
    pub fn history(&self, hunk: &HunkId) -> HunkHistory {
        self.uncommitted.get(hunk).or_else(|| self.committed.get(hunk)).cloned().unwrap_or_default()
    }

    pub fn record(&mut self, hunk: &HunkId, history: HunkHistory) {
        self.uncommitted.insert(hunk.clone(), history);
    }

    /// Records that a hunk is open again.
    pub fn record_reopened(&mut self, hunk: &HunkId) {
        self.record(hunk, HunkHistory::default());
    }

    /// Records a new request that a rule decided or voted for.
    pub fn record_rule_decision(&mut self, request: &ApprovalRequest) {
        self.uncommitted_decisions.push(request.id().clone());
        for hunk in &request.hunks {
            let decided = hunk.decided.as_ref();
            let decided = decided.map(|it| (hunk.status, it.by.user.clone(), it.at_ms));
            let votes = hunk.votes.iter().map(|vote| (vote.by.user.clone(), None, None)).collect();
            let size =
                hunk.parts.iter().map(|part| length(&part.base) + length(&part.insert)).sum();
            self.record(
                &hunk.id,
                HunkHistory { votes, decided, inserted_units: None, size: Some(size) },
            );
        }
    }

    pub fn commit(&mut self) {
        self.committed.append(&mut self.uncommitted);
        for id in self.uncommitted_decisions.drain(..) {
            *self.decision_counts.entry(id).or_default() += 1;
        }
    }

    pub fn roll_back(&mut self) {
        self.uncommitted.clear();
        self.uncommitted_decisions.clear();
    }

    /// Returns the number of committed decisions on a request.
    pub fn decision_count(&self, request: &RequestId) -> usize {
        self.decision_counts.get(request).copied().unwrap_or_default()
    }

    /// Checks that a committed decision is unchanged.
    pub fn check_persists(&self, hunk: &Hunk) -> CheckResult {
        let Some(history) = self.committed.get(&hunk.id) else { return Ok(()) };
        let Some((status, by, at_ms)) = &history.decided else { return Ok(()) };
        let same = hunk.status == *status
            && hunk.decided.as_ref().is_some_and(|it| it.by.user == *by && it.at_ms == *at_ms);
        ensure(DecisionsPersist, same, || {
            format!("{by} decided {status:?} at {at_ms}, now it is {hunk:?}")
        })
    }

    /// Checks a decision against the invariants and records it.
    pub fn check_and_record(&mut self, observed: &ObservedDecision) -> CheckResult {
        let ObservedDecision { before, after, decision, by, .. } = observed;
        if before == after {
            return observed.check_refusal(self.requirement(observed), self.is_denied(observed));
        }
        let requirement_if_known = self.requirement(observed);
        let requirement = requirement_if_known.unwrap_or(before.proposal.policy);
        let denied = self.is_denied(observed);
        let accepted = before.hunks.iter().filter(|hunk| observed.would_accept(hunk));
        let by_marks = accepted.map(|hunk| observed.with_marks(hunk, requirement));
        observed.check_authorized(by_marks.fold(requirement, ApprovalRequirement::with))?;
        self.uncommitted_decisions.push(before.id().clone());
        for (was, hunk) in before.hunks.iter().zip(&after.hunks) {
            let verdict = decision.hunks.iter().flatten().find(|it| it.id == hunk.id);
            let voted = hunk.votes != was.votes
                || hunk.status != was.status && hunk.status == HunkStatus::Accepted;
            let mut history = self.history(&hunk.id);
            if voted {
                let forced = verdict.filter(|_| was.status == HunkStatus::Conflict);
                // The proposed text, sent back as an edit, is a vote for the proposal.
                let is_proposed_text = |text: &String| {
                    verdict.is_some_and(|it| !it.force || was.parts.len() == 1)
                        && was.proposed() == *text
                };
                let vote: RecordedVote = (
                    by.user.clone(),
                    verdict.and_then(|it| it.text.clone()).filter(|text| !is_proposed_text(text)),
                    forced.and_then(|it| it.seen.clone()),
                );
                history.votes.retain(|(user, ..)| *user != by.user);
                history.votes.push(vote);
            }
            let is_decided = hunk.decided.is_some() && hunk.decided != was.decided;
            if is_decided {
                ensure(
                    FirstDecisionWins,
                    was.decided.is_none() && history.decided.is_none(),
                    || format!("{} decided {was:?} again: {hunk:?}", by.name),
                )?;
                history.decided = Some((hunk.status, by.user.clone(), observed.now_ms));
            }
            if is_decided && hunk.status == HunkStatus::Accepted {
                ensure(DeniedIsNotApplied, !denied, || format!("{} accepted {was:?}", by.name))?;
                observed.check_accept(was, verdict)?;
                let (text, over) = history.votes.last().map(|it| (&it.1, &it.2)).unwrap();
                let agree =
                    history.votes.iter().filter(|it| (&it.1, &it.2) == (text, over)).count();
                let takes = observed.with_marks(was, requirement);
                ensure(EnoughVotesAgree, agree >= takes.need() as usize, || {
                    format!("{agree} votes were for {hunk:?} under {takes:?}: {:?}", history.votes)
                })?;
                history.size = observed.size(was);
            }
            if voted || is_decided {
                self.record(&hunk.id, history);
            }
        }
        observed.check_whole_verdict(requirement_if_known)?;
        observed.check_changed_ranges()
    }

    /// Returns the size of what is applied, with everything that was accepted before.
    fn applied_size(&self, observed: &ObservedDecision) -> AppliedSize {
        let accepted = observed.before.hunks.iter().filter(|it| it.status == HunkStatus::Accepted);
        let before = accepted.map(|hunk| self.history(&hunk.id).size);
        let now: Vec<_> =
            observed.before.hunks.iter().filter(|hunk| observed.would_accept(hunk)).collect();
        if now.is_empty() {
            return AppliedSize::Nothing;
        }
        let sizes = before.chain(now.iter().map(|hunk| observed.size(hunk)));
        sizes.sum::<Option<usize>>().map_or(AppliedSize::Unknown, AppliedSize::Units)
    }

    /// Returns the approval requirement of the decision: that of the proposal combined with that of
    /// what is applied. `None` if the size is not known; then the requirement is at least that of
    /// the proposal.
    fn requirement(&self, observed: &ObservedDecision) -> Option<ApprovalRequirement> {
        let policy = observed.before.proposal.policy;
        let size = match self.applied_size(observed) {
            AppliedSize::Nothing => return Some(policy),
            AppliedSize::Unknown => return None,
            AppliedSize::Units(size) => size,
        };
        let applicable = observed
            .policies
            .iter()
            .filter(|it| it.marks.is_none() && it.over.is_none_or(|over| size > over));
        Some(applicable.fold(policy, |all, it| all.and(it.policy)))
    }

    /// Returns whether a rule denies what was proposed or what is applied.
    fn is_denied(&self, observed: &ObservedDecision) -> bool {
        let size_is_denied = match self.applied_size(observed) {
            AppliedSize::Units(size) => observed.rules.denies_units(observed.before, size),
            AppliedSize::Nothing | AppliedSize::Unknown => false,
        };
        size_is_denied || observed.rules.denies(observed.before)
    }

    /// Returns whether the decision requires more than the request did as it was proposed.
    pub fn requires_more_than_proposed(&self, observed: &ObservedDecision) -> bool {
        self.requirement(observed)
            .is_some_and(|requirement| requirement != observed.before.proposal.policy)
    }
}

impl ObservedDecision<'_> {
    fn is_expired(&self) -> bool {
        let clock = &self.before.clock;
        clock.paused_ms.is_none() && clock.expires_ms.is_some_and(|at_ms| self.now_ms >= at_ms)
    }

    /// Returns `requirement` with what the marks of this hunk take, as it is accepted.
    fn with_marks(&self, hunk: &Hunk, requirement: ApprovalRequirement) -> ApprovalRequirement {
        let seen = self.verdict(hunk).filter(|it| it.force).and_then(|it| it.seen.as_deref());
        let kinds = self.before.applied_kinds(hunk, self.edited_text(hunk), seen);
        let is_for = |it: &&ToolPolicy| {
            it.marks.as_ref().is_some_and(|of| of.iter().any(|kind| kinds.contains(kind)))
        };
        self.policies.iter().filter(is_for).fold(requirement, |all, it| all.and(it.policy))
    }

    fn is_authorized(&self, requirement: ApprovalRequirement) -> bool {
        let by = self.by;
        by.role != Role::Viewer
            && requirement.policies().iter().all(|policy| match policy {
                DecisionPolicy::NotRequester => by.user != self.before.proposal.requester.user,
                DecisionPolicy::Owner => by.role == Role::Owner,
                DecisionPolicy::Any | DecisionPolicy::Two => true,
            })
    }

    /// Returns whether the person saw what the decision is about: of a suggestion the words of each
    /// hunk that is named with a hash, else all of it.
    fn preview_is_current(&self) -> bool {
        if self.before.suggestion.is_some() {
            return self.suggestion_is_current();
        }
        self.decision.preview_hash.as_ref().is_none_or(|hash| *hash == self.before.announced)
    }

    fn suggestion_is_current(&self) -> bool {
        let Decision { verdict, hunks, finish, preview_hash, .. } = self.decision;
        let current = |named: &HunkVerdict| {
            let hunk = self.before.hunk(&named.id).map(Hunk::words_hash);
            named.hash.as_ref().is_none_or(|seen| hunk.as_ref() == Some(seen))
        };
        if !hunks.iter().flatten().all(current) {
            return false;
        }
        let all_named = |named: &Vec<HunkVerdict>| named.iter().all(|it| it.hash.is_some());
        if finish.is_none() && hunks.as_ref().is_some_and(all_named) {
            return true;
        }
        let rejects_all = *verdict == RequestVerdict::Reject && hunks.is_none();
        let seen = preview_hash.as_ref().unwrap_or(&self.before.announced);
        rejects_all && preview_hash.is_none() || *seen == self.before.preview_hash()
    }

    fn verdict(&self, hunk: &Hunk) -> Option<&HunkVerdict> {
        self.decision.hunks.iter().flatten().find(|it| it.id == hunk.id)
    }

    /// Returns whether the decision accepts this hunk, or votes for it.
    fn would_accept(&self, hunk: &Hunk) -> bool {
        if let Some(verdict) = self.verdict(hunk) {
            return verdict.choice == HunkChoice::Accept;
        }
        let Decision { verdict, hunks, finish, .. } = self.decision;
        let rest = match finish {
            Some(finish) => *finish == FinishRest::Accept,
            None => hunks.is_none() && *verdict == RequestVerdict::Approve,
        };
        rest && hunk.status == HunkStatus::Pending && !self.is_frozen(hunk)
    }

    /// Returns the text that the decision puts in place of the proposed one.
    fn edited_text(&self, hunk: &Hunk) -> Option<&str> {
        let verdict = self.verdict(hunk).filter(|it| it.choice == HunkChoice::Accept)?;
        verdict.text.as_deref().filter(|text| *text != hunk.proposed())
    }

    /// Returns the number of units that accepting the hunk changes; `None` if that is not known.
    fn size(&self, hunk: &Hunk) -> Option<usize> {
        let current = |from, to| self.text.slice(from..to).ok();
        let range = hunk.range();
        if let Some(own) = self.edited_text(hunk) {
            return Some(edit_size(&current(range.start, range.end)?, own));
        }
        let is_plain = hunk.parts.len() == 1
            || hunk.status == HunkStatus::Pending && self.verdict(hunk).is_none_or(|it| !it.force);
        let parts = hunk.parts.iter();
        let sizes = parts.map(|it| Some(length(&current(it.from, it.to)?) + length(&it.insert)));
        sizes.sum::<Option<usize>>().filter(|_| is_plain)
    }

    fn check_authorized(&self, requirement: ApprovalRequirement) -> CheckResult {
        let by = &self.by.name;
        ensure(DeciderIsAuthorized, self.is_authorized(requirement), || {
            format!("{by} decided under {requirement:?}")
        })?;
        let edits_text = self.before.hunks.iter().any(|hunk| self.edited_text(hunk).is_some());
        ensure(DeciderIsAuthorized, !edits_text || self.by.role != Role::Reviewer, || {
            format!("{by} edited the text")
        })?;
        ensure(NoDecisionAfterExpiry, !self.is_expired(), || {
            format!("{by} decided after {:?}", self.before.clock)
        })?;
        let mut written = self.before.hunks.iter().filter(|hunk| hunk.is_being_written());
        let decided =
            |hunk: &&Hunk| self.after.hunk(&hunk.id).is_none_or(|now| now.status != hunk.status);
        let decided = written.find(|hunk| decided(hunk) || self.verdict(hunk).is_some());
        ensure(WritingIsNotDecided, decided.is_none(), || format!("{by} decided {decided:?}"))?;
        ensure(ApprovalMatchesPreview, self.preview_is_current(), || {
            format!("{by} saw {:?}", self.decision.preview_hash)
        })
    }

    /// Checks a refusal: a plain approval of pending hunks needs nothing but a person with the
    /// right.
    fn check_refusal(&self, requirement: Option<ApprovalRequirement>, denied: bool) -> CheckResult {
        let plain =
            self.decision.hunks.is_none() && self.decision.verdict == RequestVerdict::Approve;
        let pending = || self.before.hunks.iter().filter(|hunk| hunk.status == HunkStatus::Pending);
        let frozen = |hunk: &Hunk| {
            let range = hunk.range();
            self.frozen.iter().any(|(from, to)| range.start <= *to && *from <= range.end)
        };
        let must_be_accepted = plain
            && requirement.is_some_and(|requirement| {
                let takes = pending().map(|hunk| self.with_marks(hunk, requirement));
                let takes = takes.fold(requirement, ApprovalRequirement::with);
                self.is_authorized(takes) && takes.need() == 1
            })
            && !self.is_expired()
            && self.preview_is_current()
            && !denied
            && !self.before.hunks.iter().any(Hunk::is_being_written)
            && pending().count() > 0
            && !pending().any(frozen);
        ensure(PendingCanBeAccepted, !must_be_accepted, || {
            format!("{} was refused {:?}", self.by.name, self.before.hunks)
        })
    }

    fn check_accept(&self, was: &Hunk, verdict: Option<&HunkVerdict>) -> CheckResult {
        let force = verdict.is_some_and(|it| it.force);
        ensure(ConflictNeedsForce, was.status != HunkStatus::Conflict || force, || {
            format!("{was:?}")
        })?;
        let current = self.text.slice(was.range()).unwrap_or_default();
        let seen = verdict.and_then(|it| it.seen.as_ref());
        ensure(SeenMatchesText, seen.is_none_or(|seen| *seen == current), || {
            format!("{} saw {seen:?}, the text is {current:?}", self.by.name)
        })?;
        let unforced = !force && verdict.is_none_or(|it| it.text.is_none());
        let text_at = |from, to| self.text.slice(from..to).unwrap_or_default();
        let matches_preview = was.parts.iter().all(|part| text_at(part.from, part.to) == part.base);
        ensure(AppliedTextMatchesPreview, !unforced || matches_preview, || {
            format!("{was:?} on {current:?}")
        })
    }

    /// Returns whether a part of the hunk would change frozen text. The edges of a frozen range are
    /// outside.
    fn is_frozen(&self, hunk: &Hunk) -> bool {
        hunk.parts.iter().any(|part| {
            self.frozen.iter().any(|(start, end)| {
                if part.from == part.to {
                    *start < part.from && part.from < *end
                } else {
                    part.from < *end && *start < part.to
                }
            })
        })
    }

    /// Checks that a verdict for the whole request is applied to all of its hunks.
    fn check_whole_verdict(&self, requirement: Option<ApprovalRequirement>) -> CheckResult {
        let hunks = || self.before.hunks.iter().zip(&self.after.hunks);
        let one_is_enough =
            |hunk: &Hunk| requirement.is_some_and(|takes| self.with_marks(hunk, takes).need() == 1);
        if self.decision.hunks.is_some() || matches!(self.decision.finish, Some(FinishRest::Reject))
        {
            return Ok(());
        }
        match &self.decision.verdict {
            RequestVerdict::Approve => {
                let is_correct = |(was, hunk): (&Hunk, &Hunk)| match was.status {
                    // A hunk whose text was frozen since stays open with a reason. The rest is
                    // accepted.
                    HunkStatus::Pending if self.is_frozen(was) => {
                        let keeps_reason = was.reason.is_some() && hunk.reason.is_some();
                        hunk.status == HunkStatus::Pending && keeps_reason
                    }
                    HunkStatus::Pending => {
                        !one_is_enough(was) || hunk.status == HunkStatus::Accepted
                    }
                    HunkStatus::Conflict => hunk.status != HunkStatus::Accepted,
                    _ => true,
                };
                ensure(ApproveAllAcceptsPending, hunks().all(is_correct), || {
                    format!("{:?}", self.after.hunks)
                })
            }
            RequestVerdict::Reject => {
                let is_correct = |(was, hunk): (&Hunk, &Hunk)| {
                    !was.status.is_open() || hunk.status == HunkStatus::Rejected
                };
                ensure(RejectAllRejectsOpen, hunks().all(is_correct), || {
                    format!("{:?}", self.after.hunks)
                })
            }
            _ => Ok(()),
        }
    }

    /// Checks that the update removes only text in the ranges of accepted hunks.
    fn check_changed_ranges(&self) -> CheckResult {
        let Some(change) = self.change else { return Ok(()) };
        let mut allowed = Vec::new();
        for (was, hunk) in self.before.hunks.iter().zip(&self.after.hunks) {
            if hunk.decided == was.decided || hunk.status != HunkStatus::Accepted {
                continue;
            }
            let verdict = self.decision.hunks.iter().flatten().find(|it| it.id == hunk.id);
            let whole = verdict.is_some_and(|it| {
                it.choice == HunkChoice::Accept && (it.force || it.text.is_some())
            });
            if whole {
                allowed.push((was.range().start, was.range().end));
            } else {
                allowed.extend(was.parts.iter().map(|part| (part.from, part.to)));
            }
        }
        for (from, to, _) in edits(change) {
            let touches = |(start, end): &(usize, usize)| {
                if from == to { *start < from && from < *end } else { from < *end && *start < to }
            };
            ensure(FrozenTextIsUnchanged, !self.frozen.iter().any(touches), || change.to_json())?;
        }
        let is_allowed = |unit: usize| allowed.iter().any(|(from, to)| *from <= unit && unit < *to);
        let is_correct = edits(change).into_iter().all(|(from, to, _)| (from..to).all(is_allowed));
        ensure(AcceptChangesOnlyItsHunks, is_correct, || {
            format!("{} was applied, allowed is {allowed:?}", change.to_json())
        })
    }
}

fn length(text: &str) -> usize {
    text.encode_utf16().count()
}

/// Returns the number of units removed and inserted, without the common prefix and suffix.
fn edit_size(old: &str, new: &str) -> usize {
    let (mut old, mut new): (Vec<char>, Vec<char>) = (old.chars().collect(), new.chars().collect());
    for _ in 0..2 {
        while old.last().is_some_and(|last| new.last() == Some(last)) {
            old.pop();
            new.pop();
        }
        old.reverse();
        new.reverse();
    }
    old.iter().chain(&new).map(|it| it.len_utf16()).sum()
}
