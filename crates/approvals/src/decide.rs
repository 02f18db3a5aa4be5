//! Judgement of a decision: what it changes, or why it is refused. The room applies it.

pub(super) mod carry_out;

use std::collections::HashSet;

use serde_json::Value;

use self::carry_out::{JudgedDecision, JudgedEffect, JudgedHunk};
use super::policy::cast;
use super::{
    ApprovalRequest, ApprovalRequirement, ChangeExtent, Decision, DecisionError, DecisionOutcome,
    DecisionRequirements, FinishRest, Hunk, HunkChoice, HunkStatus, HunkVerdict,
    InvalidDecisionReason, NotAllowedReason, Person, PreviewKind, RequestStatus, RequestVerdict,
    ToolCatalog, UpdatedPreview,
};
use crate::hunks::apply::{AcceptKind, DecidedBy, HunkEdit, change_of, hunk_edits, in_order};
use copydesk_document::Text;
use copydesk_ids::permissions::{Action, Principal};

struct HunkPlan {
    index: usize,
    choice: HunkChoice,
    text: Option<String>,
    force: bool,
    seen: Option<String>,
}

type NamedHunk<'d> = (usize, &'d HunkVerdict);

enum DecisionPlan {
    /// A call without hunks is approved, with this input and its preview if a person edited it.
    ApproveCall(Option<Value>, Option<UpdatedPreview>),
    RefuseCall,
    Hunks(Vec<HunkPlan>),
}

impl ApprovalRequest {
    /// Judges a decision by `who` and carries it out. [`DecisionOutcome::changes`] must then be
    /// committed to `text`. A refusal leaves the request as it was.
    pub fn judge_and_carry_out(
        &mut self,
        decision: &Decision,
        who: &Principal,
        text: &Text,
        now_ms: u64,
        requirements: &DecisionRequirements,
    ) -> Result<DecisionOutcome, DecisionError> {
        let judged = self.judge_decision(decision, who, text, now_ms, requirements)?;
        Ok(self.carry_out(judged, text, requirements))
    }

    /// Judges a decision by `who`, and changes nothing. `text` is the current text of the document
    /// (any text, for a request without hunks). `requirements` says what the decision takes, as it
    /// will be applied, beyond what the request takes as it was proposed.
    pub fn judge_decision<'d>(
        &self,
        decision: &'d Decision,
        who: &Principal,
        text: &Text,
        now_ms: u64,
        requirements: &DecisionRequirements,
    ) -> Result<JudgedDecision<'d>, DecisionError> {
        let named = self.named(decision)?;
        self.check_allowed(who)?;
        self.check_may_write(decision, who, &named)?;
        self.check_open(&named, now_ms)?;
        if decision.hunks.iter().flatten().any(|verdict| self.was_replaced(&verdict.id)) {
            return Err(DecisionError::StalePreview { current: self.preview_hash() });
        }
        let plan = self.plan(decision, &named, &requirements.tools)?;
        self.check_fresh(decision, &named)?;
        let edits = match &plan {
            DecisionPlan::ApproveCall(..) | DecisionPlan::RefuseCall => Vec::new(),
            DecisionPlan::Hunks(plans) => self.edits(plans, text)?,
        };
        let extent = self.extent_of(&plan, &edits);
        let requirement = match &extent {
            Some(extent) => {
                self.check_denied(extent, decision.most_units, requirements)?;
                self.requirement_for(extent, who, requirements)?
            }
            None => self.proposal.policy,
        };
        // After the rules: that a denied file exists is not revealed.
        self.check_shown(decision)?;
        let decided_by = DecidedBy {
            by: Person::from(who),
            at_ms: now_ms,
            rule: decision.rule.clone(),
            wish: decision.remember.as_ref().map(|wish| wish.id.clone()),
        };
        let effect = match plan {
            DecisionPlan::ApproveCall(input, revised) => JudgedEffect::ApproveCall(input, revised),
            DecisionPlan::RefuseCall => JudgedEffect::RefuseCall,
            DecisionPlan::Hunks(plans) => {
                let extent = extent.as_ref();
                let plans = self.with_marks(plans, extent, requirement, who, requirements)?;
                self.judge_hunks(plans, edits, text, &decided_by)?
            }
        };
        Ok(JudgedDecision { decision, decided_by, requirement, effect })
    }

    fn named<'d>(&self, decision: &'d Decision) -> Result<Vec<NamedHunk<'d>>, DecisionError> {
        let Some(verdicts) = &decision.hunks else { return Ok(Vec::new()) };
        let indices = self.indices_of(verdicts.iter().map(|verdict| &verdict.id));
        let find = |verdict: &'d HunkVerdict| match indices.get(&verdict.id) {
            Some(&index) => Ok(Some((index, verdict))),
            None if self.was_replaced(&verdict.id) => Ok(None),
            None => Err(DecisionError::NotFound { hunk: verdict.id.clone() }),
        };
        let named = verdicts.iter().map(find).collect::<Result<Vec<_>, _>>()?;
        let mut named: Vec<_> = named.into_iter().flatten().collect();
        named.sort_by_key(|(index, _)| *index);
        Ok(named)
    }

    /// Checks that `who` may decide the request at all.
    pub fn check_allowed(&self, who: &Principal) -> Result<(), DecisionError> {
        let proposal = &self.proposal;
        let document = proposal.document.as_ref();
        let refuse = |reason| Err(DecisionError::NotAllowed { reason });
        if proposal.action.preview.kind == PreviewKind::Command
            && !who.may(Action::Command, document)
        {
            return refuse(NotAllowedReason::CommandNeedsOwner);
        }
        if !proposal.policy.admits(who, &proposal.requester.user, document) {
            return refuse(NotAllowedReason::NotEligible);
        }
        Ok(())
    }

    /// Refuses text of their own from a person who may decide but not write.
    fn check_may_write(
        &self,
        decision: &Decision,
        who: &Principal,
        named: &[NamedHunk],
    ) -> Result<(), DecisionError> {
        let is_own = |(index, verdict): &NamedHunk| {
            let text = verdict.text.as_deref().filter(|_| verdict.choice == HunkChoice::Accept);
            text.is_some_and(|text| {
                !self.hunks[*index].would_read(&normalized(text), verdict.force)
            })
        };
        let types =
            matches!(decision.verdict, RequestVerdict::Edit { .. }) || named.iter().any(is_own);
        if types && !who.may(Action::Write, self.proposal.document.as_ref()) {
            let reason = NotAllowedReason::OwnWordsNeedWrite;
            return Err(DecisionError::NotAllowed { reason });
        }
        Ok(())
    }

    fn extent_of(&self, plan: &DecisionPlan, edits: &[HunkEdit]) -> Option<ChangeExtent> {
        match plan {
            DecisionPlan::ApproveCall(None, _) => {
                Some(ChangeExtent::from(&self.proposal.action.preview))
            }
            DecisionPlan::ApproveCall(Some(_), revised) => {
                Some(self.revised_extent(revised.as_ref()))
            }
            DecisionPlan::RefuseCall => None,
            DecisionPlan::Hunks(plans) => {
                let is_accepted = |plan: &&HunkPlan| plan.choice == HunkChoice::Accept;
                let accepted = plans.iter().filter(is_accepted);
                let own_words: HashSet<_> =
                    accepted.filter(|it| it.text.is_some()).map(|it| it.index).collect();
                let accepts = plans.iter().any(|plan| is_accepted(&plan));
                accepts.then(|| self.extent_with(edits, |index| own_words.contains(&index)))
            }
        }
    }

    /// Returns each plan with its requirement: `least`, and for an accepted hunk what policies by
    /// marks take.
    fn with_marks(
        &self,
        plans: Vec<HunkPlan>,
        extent: Option<&ChangeExtent>,
        least: ApprovalRequirement,
        who: &Principal,
        requirements: &DecisionRequirements,
    ) -> Result<Vec<(HunkPlan, ApprovalRequirement)>, DecisionError> {
        let proposed = requirements.has_marks().then(|| self.proposed_extent());
        let extents = proposed.as_ref().zip(extent).map(<[_; 2]>::from);
        let with_marks = |plan: HunkPlan| {
            let accepts = plan.choice == HunkChoice::Accept;
            let Some(extents) = extents.filter(|_| accepts) else { return Ok((plan, least)) };
            let seen = plan.seen.as_deref().filter(|_| plan.force);
            let kinds = self.applied_kinds(&self.hunks[plan.index], plan.text.as_deref(), seen);
            let takes = self.requirement_for_marks(&kinds, extents, least, who, requirements)?;
            Ok((plan, takes))
        };
        plans.into_iter().map(with_marks).collect()
    }

    pub(super) fn check_open(&self, named: &[NamedHunk], now_ms: u64) -> Result<(), DecisionError> {
        if !self.status.is_open() {
            let closed = self.decisions.closed.as_ref();
            let at_ms = closed.map(|c| c.at_ms);
            return Err(if self.ran_out_of_time(named) {
                DecisionError::Expired { at_ms: at_ms.unwrap_or(now_ms) }
            } else {
                let by = closed.and_then(|c| c.by.clone());
                DecisionError::AlreadyResolved { status: self.status, hunk: None, by, at_ms }
            });
        }
        if self.clock.is_due(now_ms) {
            let at_ms = self.clock.due_ms().unwrap_or(now_ms);
            return Err(DecisionError::Expired { at_ms });
        }
        let mut hunks = named.iter().map(|&(index, _)| &self.hunks[index]);
        match hunks.find(|h| !h.status.is_open()) {
            Some(hunk) => Err(self.decided_already(hunk)),
            None => Ok(()),
        }
    }

    pub(super) fn decided_already(&self, hunk: &Hunk) -> DecisionError {
        let decided = hunk.decided.as_ref();
        DecisionError::AlreadyResolved {
            status: self.status,
            hunk: Some((hunk.id.clone(), hunk.status)),
            by: decided.map(|d| d.by.clone()),
            at_ms: decided.map(|d| d.at_ms),
        }
    }

    /// Returns `true` if what is to be decided expired, even if other hunks were accepted before.
    fn ran_out_of_time(&self, named: &[NamedHunk]) -> bool {
        let expired = |hunk: &Hunk| hunk.status == HunkStatus::Expired;
        self.status == RequestStatus::Expired
            || if named.is_empty() {
                self.hunks.iter().any(expired)
            } else {
                named.iter().any(|&(index, _)| expired(&self.hunks[index]))
            }
    }

    fn plan(
        &self,
        decision: &Decision,
        named: &[NamedHunk],
        tools: &ToolCatalog,
    ) -> Result<DecisionPlan, DecisionError> {
        let invalid = |reason| Err(DecisionError::InvalidDecision { reason });
        if self.status == RequestStatus::Streaming {
            return invalid(InvalidDecisionReason::StillWriting);
        }
        if let Some(wish) = &decision.remember {
            self.check_wish(wish, decision, tools)?;
        }
        if self.hunks.is_empty() {
            return match &decision.verdict {
                _ if decision.hunks.is_some() || decision.finish.is_some() => {
                    invalid(InvalidDecisionReason::NoChangesToDecide)
                }
                RequestVerdict::Approve => Ok(DecisionPlan::ApproveCall(None, None)),
                RequestVerdict::Edit { input } => {
                    Ok(DecisionPlan::ApproveCall(Some(input.clone()), decision.revised.clone()))
                }
                RequestVerdict::Reject | RequestVerdict::Respond { .. } => {
                    Ok(DecisionPlan::RefuseCall)
                }
            };
        }
        let rest = match (&decision.verdict, &decision.hunks) {
            (RequestVerdict::Edit { .. }, _) => {
                return invalid(InvalidDecisionReason::EditSingleChanges);
            }
            (RequestVerdict::Respond { .. }, Some(_)) => {
                return invalid(InvalidDecisionReason::AnswerForWholeRequest);
            }
            (RequestVerdict::Reject, None) if decision.finish == Some(FinishRest::Accept) => {
                return invalid(InvalidDecisionReason::RejectAndAccept);
            }
            (RequestVerdict::Approve, None) => Some(decision.finish.unwrap_or(FinishRest::Accept)),
            (RequestVerdict::Reject | RequestVerdict::Respond { .. }, None) => {
                Some(FinishRest::Reject)
            }
            (_, Some(_)) => decision.finish,
        };
        self.hunk_plans(named, rest).map(DecisionPlan::Hunks)
    }

    fn hunk_plans(
        &self,
        named: &[NamedHunk],
        rest: Option<FinishRest>,
    ) -> Result<Vec<HunkPlan>, DecisionError> {
        let invalid = |reason| Err(DecisionError::InvalidDecision { reason });
        if named.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            return invalid(InvalidDecisionReason::NamedTwice);
        }
        let mut plans = Vec::new();
        let mut named = named.iter().peekable();
        for (index, hunk) in self.hunks.iter().enumerate() {
            let verdict = named.next_if(|(named, _)| *named == index).map(|(_, verdict)| *verdict);
            if hunk.is_being_written() && (verdict.is_some() || rest.is_some()) {
                return invalid(InvalidDecisionReason::StillWriting);
            }
            let choice = match (verdict, rest) {
                (Some(verdict), _) => verdict.choice,
                (None, Some(FinishRest::Accept)) if hunk.status == HunkStatus::Pending => {
                    HunkChoice::Accept
                }
                (None, Some(FinishRest::Reject)) if hunk.status.is_open() => HunkChoice::Reject,
                (None, _) => continue,
            };
            let text = verdict.and_then(|v| v.text.as_deref()).map(normalized);
            let seen = verdict.and_then(|v| v.seen.clone());
            let force = verdict.is_some_and(|v| v.force);
            if choice == HunkChoice::Reject && text.is_some() {
                return invalid(InvalidDecisionReason::TextOfRejection);
            }
            if force && seen.is_none() {
                return invalid(InvalidDecisionReason::ForceWithoutSeen);
            }
            // The model's own words are no edit.
            let text = text.filter(|text| !hunk.would_read(text, force));
            plans.push(HunkPlan { index, choice, text, force, seen });
        }
        match rest {
            _ if !plans.is_empty() => Ok(plans),
            Some(FinishRest::Accept) => {
                let open = self.hunks.iter().filter(|h| h.status.is_open());
                Err(DecisionError::Conflicted { hunks: open.map(|h| h.id.clone()).collect() })
            }
            Some(FinishRest::Reject) | None => invalid(InvalidDecisionReason::DecidesNothing),
        }
    }

    fn check_fresh(&self, decision: &Decision, named: &[NamedHunk]) -> Result<(), DecisionError> {
        let current = self.preview_hash();
        let is_other = |(index, verdict): &NamedHunk| {
            let seen = verdict.hash.as_ref();
            seen.is_some_and(|seen| *seen != self.hunks[*index].words_hash())
        };
        if named.iter().any(is_other) {
            return Err(DecisionError::StalePreview { current });
        }
        let has_hash = |verdict: &HunkVerdict| verdict.hash.is_some();
        let is_seen = |hunks: &Vec<HunkVerdict>| hunks.iter().all(has_hash);
        if decision.finish.is_none() && decision.hunks.as_ref().is_some_and(is_seen) {
            return Ok(());
        }
        let refuses =
            matches!(decision.verdict, RequestVerdict::Reject | RequestVerdict::Respond { .. });
        let seen = match &decision.preview_hash {
            Some(seen) => seen,
            // A plain rejection is valid whatever was shown.
            None if refuses && decision.hunks.is_none() => return Ok(()),
            None => &self.announced,
        };
        if *seen == current { Ok(()) } else { Err(DecisionError::StalePreview { current }) }
    }

    /// Refuses an edited input that would overwrite another file than people were shown.
    fn check_shown(&self, decision: &Decision) -> Result<(), DecisionError> {
        let Some(UpdatedPreview { preview, touched: Some(_) }) = &decision.revised else {
            return Ok(());
        };
        let makes_one = preview.data["is_new_file"] == true;
        if makes_one || preview.file_path == self.proposal.action.preview.file_path {
            return Ok(());
        }
        let reason = InvalidDecisionReason::OtherFileExists;
        Err(DecisionError::InvalidDecision { reason })
    }

    /// Returns the edits that accepting makes, in order, or the hunks that cannot be accepted like
    /// this.
    fn edits(&self, plans: &[HunkPlan], text: &Text) -> Result<Vec<HunkEdit>, DecisionError> {
        let mut edits = Vec::new();
        let mut conflicts = Vec::new();
        for plan in plans.iter().filter(|plan| plan.choice == HunkChoice::Accept) {
            let hunk = &self.hunks[plan.index];
            let taken = AcceptKind {
                text: plan.text.as_deref(),
                force: plan.force,
                seen: plan.seen.as_deref(),
            };
            match hunk_edits(&self.hunks, plan.index, taken, text) {
                Some(found) => edits.extend(found),
                None => conflicts.push(hunk.id.clone()),
            }
        }
        conflicts
            .extend(in_order(&mut edits).into_iter().map(|index| self.hunks[index].id.clone()));
        if conflicts.is_empty() {
            Ok(edits)
        } else {
            Err(DecisionError::Conflicted { hunks: conflicts })
        }
    }

    /// Counts the votes of a plan, and makes the change of what they decide.
    fn judge_hunks(
        &self,
        plans: Vec<(HunkPlan, ApprovalRequirement)>,
        mut edits: Vec<HunkEdit>,
        text: &Text,
        decided_by: &DecidedBy,
    ) -> Result<JudgedEffect, DecisionError> {
        let policy = self.proposal.policy;
        let judge = |(plan, requirement): (HunkPlan, ApprovalRequirement)| {
            if plan.choice == HunkChoice::Reject {
                return JudgedHunk { plan, votes: None, is_decided: true };
            }
            let hunk = &self.hunks[plan.index];
            let forced_over = plan.seen.clone().filter(|_| hunk.status == HunkStatus::Conflict);
            let vote = decided_by.vote(plan.text.clone(), forced_over, requirement.beyond(policy));
            let mut votes = hunk.votes.clone();
            let is_decided = cast(&mut votes, &vote, policy) >= requirement.need();
            JudgedHunk { plan, votes: Some(votes), is_decided }
        };
        let hunks: Vec<_> = plans.into_iter().map(judge).collect();
        let waiting = hunks.iter().filter(|hunk| !hunk.is_decided);
        let waiting: HashSet<_> = waiting.map(|hunk| hunk.plan.index).collect();
        edits.retain(|edit| !waiting.contains(&edit.index));
        let changes = change_of(&edits, text)?;
        Ok(JudgedEffect::Hunks(hunks, edits, changes))
    }
}

fn normalized(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}
