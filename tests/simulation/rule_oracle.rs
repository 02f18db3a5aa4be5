//! An oracle for owners' rules: it records the rules beside the core, and checks what becomes of
//! each proposal.

use std::collections::BTreeMap;

use copydesk_approvals::{
    ApprovalRequest, DecisionPolicy, EVERY_TOOL, Hunk, HunkStatus, RuleEffect, SUGGESTION_TOOL,
};
use copydesk_ids::RuleId;
use copydesk_rooms::command::{ApprovalMode, NewApprovalRequest};

use crate::invariants::Invariant::{AskRuleIsObeyed, DeniedIsNotApplied, OnlyRulesSkipApproval};
use crate::invariants::{CheckResult, ensure};

/// The only owner. All rules are hers.
pub const OWNER: &str = "ana";
/// Tools that agents use and rules are about.
pub const TOOLS: [&str; 2] = ["update_full_document", "find_and_replace"];

/// An owner's rule as it was requested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpectedRule {
    pub effect: RuleEffect,
    pub tool: &'static str,
    /// Largest size that the rule allows, or the size above which it denies or asks.
    pub limit: Option<usize>,
    /// The only person whose requests it is about.
    pub author: Option<&'static str>,
}

/// Facts that rules look at.
#[derive(Clone, Copy)]
struct Change<'a> {
    tool: &'a str,
    units: usize,
    requester: &'a str,
}

impl<'a> Change<'a> {
    fn of(request: &'a ApprovalRequest, units: usize) -> Self {
        let requester = request.proposal.requester.user.as_str();
        Self { tool: &request.proposal.origin.tool, units, requester }
    }
}

impl ExpectedRule {
    fn applies_to(&self, change: Change) -> bool {
        let Change { tool, units, requester } = change;
        let is_every = self.tool == EVERY_TOOL && tool != SUGGESTION_TOOL;
        let of_tool = self.tool == tool || is_every;
        let of_size = |limit: usize| (units <= limit) == (self.effect == RuleEffect::Allow);
        let of_author = self.author.is_none_or(|author| author == requester);
        of_tool && of_author && self.limit.is_none_or(of_size)
    }
}

/// The committed rules, and the rules with the current batch.
#[derive(Default)]
pub struct RuleOracle {
    committed: BTreeMap<RuleId, ExpectedRule>,
    current: BTreeMap<RuleId, ExpectedRule>,
}

impl RuleOracle {
    pub fn rules_in_force(&self) -> &BTreeMap<RuleId, ExpectedRule> {
        &self.current
    }

    pub fn add(&mut self, id: RuleId, rule: ExpectedRule) {
        self.current.insert(id, rule);
    }

    pub fn remove(&mut self, id: &RuleId) {
        self.current.remove(id);
    }

    pub fn commit(&mut self) {
        if self.committed != self.current {
            self.committed.clone_from(&self.current);
        }
    }

    pub fn roll_back(&mut self) {
        self.current.clone_from(&self.committed);
    }

    /// Returns the strictest effect of the rules that apply to a change.
    fn strictest_effect(&self, change: Change) -> Option<RuleEffect> {
        let applicable = self.current.values().filter(|it| it.applies_to(change));
        applicable.map(|it| it.effect).max()
    }

    /// Returns whether a rule may deny a call. Some hunks may be returned to the agent before the
    /// rules are checked.
    pub fn may_deny(&self, new: &NewApprovalRequest) -> bool {
        let parts = new.hunks.iter().flat_map(|hunk| &hunk.parts);
        let units = parts.map(|part| length(&part.base) + length(&part.insert)).sum();
        let change =
            Change { tool: &new.origin.tool, units, requester: new.requester.user.as_str() };
        let denies = |it: &&ExpectedRule| it.effect == RuleEffect::Deny && it.applies_to(change);
        self.current.values().any(|it| denies(&it))
    }

    /// Returns whether the rules deny a request.
    pub fn denies(&self, request: &ApprovalRequest) -> bool {
        self.denies_units(request, units(request))
    }

    /// Returns whether the rules deny this number of units of a request.
    pub fn denies_units(&self, request: &ApprovalRequest, units: usize) -> bool {
        self.strictest_effect(Change::of(request, units)) == Some(RuleEffect::Deny)
    }

    /// Returns whether the rules require that people are asked about a request.
    pub fn asks(&self, request: &ApprovalRequest) -> bool {
        self.strictest_effect(Change::of(request, units(request))) == Some(RuleEffect::Ask)
    }

    /// Checks a request right after it was proposed.
    pub fn check_new_request(&self, request: &ApprovalRequest, mode: ApprovalMode) -> CheckResult {
        let units = units(request);
        let change = Change::of(request, units);
        let strictest = self.strictest_effect(change);
        let detail =
            || format!("{strictest:?} by {:?} of {units} units: {request:?}", self.current);
        ensure(DeniedIsNotApplied, strictest != Some(RuleEffect::Deny), detail)?;
        let untouched =
            |hunk: &Hunk| hunk.decided.is_none() && hunk.votes.is_empty() && hunk.status.is_open();
        let is_undecided = request.status.is_open() && request.hunks.iter().all(untouched);
        if strictest == Some(RuleEffect::Ask) {
            return ensure(AskRuleIsObeyed, is_undecided, detail);
        }
        if mode == ApprovalMode::Bypass {
            let by_rule = |hunk: &Hunk| hunk.decided.as_ref().is_some_and(|it| it.rule.is_some());
            return ensure(OnlyRulesSkipApproval, !request.hunks.iter().any(by_rule), detail);
        }
        let decided = |hunk: &Hunk| {
            let allows = |id: &RuleId| {
                self.current
                    .get(id)
                    .is_some_and(|it| it.effect == RuleEffect::Allow && it.applies_to(change))
            };
            hunk.status == HunkStatus::Accepted
                && hunk.decided.as_ref().is_some_and(|it| {
                    it.by.user.as_str() == OWNER && it.rule.as_ref().is_some_and(allows)
                })
        };
        let voted = |hunk: &Hunk| {
            hunk.status == HunkStatus::Pending
                && hunk.votes.iter().map(|vote| vote.by.user.as_str()).eq([OWNER])
        };
        let requester_is_owner = request.proposal.requester.user.as_str() == OWNER;
        // The decision oracle checks what the marks of a hunk require.
        let is_correct = request.hunks.iter().all(|hunk| {
            let requirement = request.proposal.policy.with(hunk.required);
            let owner_may_not_vote = requester_is_owner
                && requirement.policies().contains(&DecisionPolicy::NotRequester);
            if strictest.is_none() || owner_may_not_vote {
                return untouched(hunk);
            }
            if requirement.need() > 1 { voted(hunk) } else { decided(hunk) }
        });
        ensure(OnlyRulesSkipApproval, is_correct, detail)
    }
}

/// Returns the number of units that a request removes and inserts, as it was proposed.
fn units(request: &ApprovalRequest) -> usize {
    let parts = request.hunks.iter().flat_map(|hunk| &hunk.parts);
    parts.map(|part| length(&part.base) + length(&part.insert)).sum()
}

fn length(text: &str) -> usize {
    text.encode_utf16().count()
}
