//! Rules that decide a request, and rules that are made with it.

use super::{ApprovalRequest, RequestStatus};
use crate::hunks::apply::DecidedBy;
use crate::{
    ApprovalRule, Decision, DecisionError, DecisionOutcome, Hunk, HunkChoice, HunkStatus,
    HunkVerdict, InvalidDecisionReason, Preview, PreviewKind, RememberWish, RequestVerdict,
    RuleEffect, RuleScope, ToolCatalog,
};
use copydesk_ids::RuleId;
use copydesk_ids::permissions::Principal;

impl ApprovalRequest {
    fn is_always_asked_about(&self) -> bool {
        let Preview { kind, warnings, .. } = &self.proposal.action.preview;
        self.status != RequestStatus::Pending
            || *kind == PreviewKind::Command
            || self.proposal.is_suggestion()
            || !warnings.is_empty()
    }

    /// Returns `true` if `rule` allows the request, if its maker may decide it.
    pub fn is_covered_by(&self, rule: &ApprovalRule) -> bool {
        let RememberWish { id: _, scope, path, max_units, author: _, unmarked } = &rule.remember;
        let proposal = &self.proposal;
        let fits = |max: usize| self.units().is_some_and(|units| units <= max);
        let file =
            proposal.action.preview.file_path.as_deref().filter(|_| proposal.document.is_none());
        rule.ended.is_none()
            && rule.effect == RuleEffect::Allow
            && rule.tool == proposal.origin.tool
            && rule.document == proposal.document
            && (*scope != RuleScope::Session || rule.session == proposal.origin.session)
            && rule.remember.is_about(proposal.requester_ids())
            && max_units.is_none_or(fits)
            && !(*unmarked && self.hunks.is_empty())
            && path.as_ref().is_none_or(|path| file.is_some_and(|file| path.covers(file)))
            && !self.is_always_asked_about()
    }

    /// Returns the rules that decide this request now, oldest first and those for unmarked hunks
    /// last, each with the person it decides for: one for each person who has made a rule that
    /// covers the request and who may decide it. `people` are all holders of a valid token; a
    /// person with two tokens is listed twice.
    pub fn deciding_rules<'r>(
        &self,
        rules: impl IntoIterator<Item = &'r ApprovalRule>,
        people: &[Principal],
    ) -> Vec<(RuleId, Principal)> {
        let mut deciding: Vec<(RuleId, Principal)> = Vec::new();
        let mut covering: Vec<_> = rules.into_iter().filter(|it| self.is_covered_by(it)).collect();
        covering.sort_by_key(|rule| rule.remember.unmarked);
        for rule in covering {
            let maker = &rule.by.user;
            if deciding.iter().any(|(_, person)| person.user == *maker) {
                continue;
            }
            let may = |who: &&Principal| who.user == *maker && self.check_allowed(who).is_ok();
            if let Some(today) = people.iter().find(may) {
                // The rights are the current ones, the name is the one the rule was made under.
                let person = Principal { name: rule.by.name.clone(), ..today.clone() };
                deciding.push((rule.id().clone(), person));
            }
        }
        deciding
    }

    /// Returns the approval that `rule` gives to what is open now, as `maker` may decide it; `None`
    /// if the rule is for none of it.
    pub fn approval_by(&self, rule: &ApprovalRule, maker: &Principal) -> Option<Decision> {
        let (requester, document) =
            (&self.proposal.requester.user, self.proposal.document.as_ref());
        let is_for = |hunk: &&Hunk| {
            hunk.status == HunkStatus::Pending
                && (!rule.remember.unmarked || hunk.keeps_meaning())
                && hunk.required.admits(maker, requester, document)
        };
        let verdict = |hunk: &Hunk| HunkVerdict::plain(hunk.id.clone(), HunkChoice::Accept);
        let pending = self.hunks.iter().filter(|hunk| hunk.status == HunkStatus::Pending).count();
        let named: Vec<_> = self.hunks.iter().filter(is_for).map(verdict).collect();
        let is_whole = named.len() == pending;
        let hunks = (!is_whole).then_some(named);
        let decides = hunks.as_ref().is_none_or(|named| !named.is_empty());
        decides.then(|| Decision { hunks, ..Decision::by_rule(rule.id().clone()) })
    }

    pub(crate) fn check_wish(
        &self,
        wish: &RememberWish,
        decision: &Decision,
        tools: &ToolCatalog,
    ) -> Result<(), DecisionError> {
        let invalid = |reason| Err(DecisionError::InvalidDecision { reason });
        if decision.rejects() {
            return invalid(InvalidDecisionReason::RuleOfRejection);
        }
        if self.proposal.action.preview.kind == PreviewKind::Command {
            return invalid(InvalidDecisionReason::RuleForCommand);
        }
        if tools.is_plan(&self.proposal.origin.tool) {
            return invalid(InvalidDecisionReason::RuleForPlan);
        }
        if self.proposal.is_suggestion() {
            return invalid(InvalidDecisionReason::RuleForSuggestion);
        }
        if wish.scope != RuleScope::Session && self.proposal.document.is_none() {
            return invalid(InvalidDecisionReason::RuleWithoutDocument);
        }
        if wish.path.is_some() && self.proposal.document.is_some() {
            return invalid(InvalidDecisionReason::PatternForDocument);
        }
        if wish.max_units == Some(0) {
            return invalid(InvalidDecisionReason::EmptyRule);
        }
        if wish.unmarked && self.hunks.is_empty() {
            return invalid(InvalidDecisionReason::RuleByMarks);
        }
        if !wish.is_about(self.proposal.requester_ids()) {
            return invalid(InvalidDecisionReason::RuleForOthers);
        }
        let edited = decision.revised.as_ref().map(|fresh| fresh.preview.file_path.as_deref());
        let covers = |file: Option<&str>| {
            wish.path.as_ref().is_none_or(|it| file.is_some_and(|file| it.covers(file)))
        };
        if matches!(decision.verdict, RequestVerdict::Edit { .. }) && !edited.is_none_or(covers) {
            return invalid(InvalidDecisionReason::PatternMismatch);
        }
        Ok(())
    }

    /// Returns the rules to be made now: of what was accepted, those wished for with votes for it.
    /// The wish of a vote that was not enough stays with the request as long as the vote does.
    pub fn granted(&mut self, outcome: &DecisionOutcome) -> Vec<ApprovalRule> {
        self.decisions.wishes.extend(outcome.rule.clone());
        let decided = self.hunks_named(&outcome.decided).into_iter();
        let accepted = decided.filter(|hunk| hunk.status == HunkStatus::Accepted);
        let mut granted: Vec<RuleId> = Vec::new();
        for hunk in accepted {
            let text = hunk.decided.as_ref().and_then(|decided| decided.text.as_ref());
            let agree = hunk.votes.iter().filter(|vote| vote.text.as_ref() == text);
            granted.extend(agree.filter_map(|vote| vote.wish.clone()));
        }
        if outcome.resolved == Some(RequestStatus::Approved) && self.hunks.is_empty() {
            let input = self.decisions.edited_input.as_ref().map(ToString::to_string);
            let agree = self.decisions.votes.iter().filter(|vote| vote.text == input);
            granted.extend(agree.filter_map(|vote| vote.wish.clone()));
        }
        let is_made = |wish: &ApprovalRule| granted.contains(wish.id());
        let (made, waiting) =
            std::mem::take(&mut self.decisions.wishes).into_iter().partition(is_made);
        self.decisions.wishes = waiting;
        self.forget_lost_wishes();
        made
    }

    pub(super) fn forget_lost_wishes(&mut self) {
        if self.decisions.wishes.is_empty() {
            return;
        }
        let wishes = std::mem::take(&mut self.decisions.wishes);
        let stands = |wish: &ApprovalRule| {
            self.open_votes().any(|vote| vote.wish.as_ref() == Some(wish.id()))
        };
        self.decisions.wishes = wishes.into_iter().filter(stands).collect();
    }

    pub(crate) fn rule(&self, wish: RememberWish, moment: &DecidedBy) -> ApprovalRule {
        let author = wish.author.map(|_| self.proposal.requester.clone());
        ApprovalRule {
            remember: RememberWish { author, ..wish },
            effect: RuleEffect::Allow,
            over: None,
            tool: self.proposal.origin.tool.clone(),
            session: self.proposal.origin.session.clone(),
            document: self.proposal.document.clone(),
            request: Some(self.id().clone()),
            by: moment.by.clone(),
            at_ms: moment.at_ms,
            ended: None,
        }
    }
}
