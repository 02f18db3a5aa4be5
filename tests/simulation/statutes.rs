//! What owners ruled, written down beside the core, and what must come of a proposal by it.

use std::collections::BTreeMap;

use copydesk::approvals::{
    ApprovalRequest, DecisionPolicy, EVERY_TOOL, Hunk, HunkStatus, RuleEffect,
};
use copydesk::document::diff::HunkDraft;
use copydesk::ids::RuleId;
use copydesk::rooms::command::ApprovalMode;

use crate::rules::Rule::{AskedIsAsked, DeniedIsNotDone, UnaskedByRuleAlone};
use crate::rules::{Held, must};

/// The only owner there is: rules are hers.
pub const OWNER: &str = "ana";
/// Tools that agents use and owners rule about.
pub const TOOLS: [&str; 2] = ["update_full_document", "find_and_replace"];

/// A rule as it was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statute {
    pub effect: RuleEffect,
    pub tool: &'static str,
    /// The most it allows, or what it denies and asks about anything above of.
    pub limit: Option<usize>,
}

impl Statute {
    fn speaks(&self, tool: &str, units: usize) -> bool {
        let of_tool = self.tool == tool || self.tool == EVERY_TOOL;
        let of_size = |limit: usize| (units <= limit) == (self.effect == RuleEffect::Allow);
        of_tool && self.limit.is_none_or(of_size)
    }
}

/// What is kept, and what it is with the batch under way.
#[derive(Default)]
pub struct Statutes {
    kept: BTreeMap<RuleId, Statute>,
    now: BTreeMap<RuleId, Statute>,
}

impl Statutes {
    pub fn in_force(&self) -> &BTreeMap<RuleId, Statute> {
        &self.now
    }

    pub fn make(&mut self, id: RuleId, statute: Statute) {
        self.now.insert(id, statute);
    }

    pub fn end(&mut self, id: &RuleId) {
        self.now.remove(id);
    }

    pub fn keep(&mut self) {
        if self.kept != self.now {
            self.kept.clone_from(&self.now);
        }
    }

    pub fn lose(&mut self) {
        self.now.clone_from(&self.kept);
    }

    /// What the strictest says of a change.
    pub fn strictest(&self, tool: &str, units: usize) -> Option<RuleEffect> {
        let speaking = self.now.values().filter(|it| it.speaks(tool, units));
        speaking.map(|it| it.effect).max()
    }

    /// Whether a rule may deny a call; some of its changes may go back to the agent before anybody
    /// looks.
    pub fn may_deny(&self, tool: &str, drafts: &[HunkDraft]) -> bool {
        let parts = drafts.iter().flat_map(|hunk| &hunk.parts);
        let most = parts.map(|part| length(&part.base) + length(&part.insert)).sum();
        let denies = |it: &&Statute| it.effect == RuleEffect::Deny && it.speaks(tool, most);
        self.now.values().any(|it| denies(&it))
    }

    /// Whether people must be told no about a request.
    pub fn denies(&self, request: &ApprovalRequest) -> bool {
        self.strictest(&request.proposal.origin.tool, units(request)) == Some(RuleEffect::Deny)
    }

    /// Whether people must be told no about so much of a request.
    pub fn denies_units(&self, request: &ApprovalRequest, units: usize) -> bool {
        self.strictest(&request.proposal.origin.tool, units) == Some(RuleEffect::Deny)
    }

    /// Whether people must be asked about a request.
    pub fn asks(&self, request: &ApprovalRequest) -> bool {
        self.strictest(&request.proposal.origin.tool, units(request)) == Some(RuleEffect::Ask)
    }

    /// Holds a request that has just been made to the rules: `request` is what became of it at
    /// once.
    pub fn judge(&self, request: &ApprovalRequest, gate: ApprovalMode) -> Held {
        let (tool, units) = (request.proposal.origin.tool.as_str(), units(request));
        let strictest = self.strictest(tool, units);
        let how = || format!("{strictest:?} by {:?} of {units} units: {request:?}", self.now);
        must(DeniedIsNotDone, strictest != Some(RuleEffect::Deny), how)?;
        let untouched =
            |hunk: &Hunk| hunk.decided.is_none() && hunk.votes.is_empty() && hunk.status.is_open();
        let nobody_decided = request.status.is_open() && request.hunks.iter().all(untouched);
        if strictest == Some(RuleEffect::Ask) {
            return must(AskedIsAsked, nobody_decided, how);
        }
        if gate == ApprovalMode::Bypass {
            let by_rule = |hunk: &Hunk| hunk.decided.as_ref().is_some_and(|it| it.rule.is_some());
            return must(UnaskedByRuleAlone, !request.hunks.iter().any(by_rule), how);
        }
        let of_requester = request.proposal.requester.user.as_str() == OWNER;
        let policy = &request.proposal.policy;
        let silent = policy.policies().contains(&DecisionPolicy::NotRequester) && of_requester;
        if strictest.is_none() || silent {
            return must(UnaskedByRuleAlone, nobody_decided, how);
        }
        let decided = |hunk: &Hunk| {
            let allows = |id: &RuleId| {
                self.now
                    .get(id)
                    .is_some_and(|it| it.effect == RuleEffect::Allow && it.speaks(tool, units))
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
        let is_done = if policy.need() > 1 {
            request.hunks.iter().all(voted)
        } else {
            request.hunks.iter().all(decided)
        };
        must(UnaskedByRuleAlone, is_done, how)
    }
}

/// Everything that a request takes away and puts in, as it was proposed.
fn units(request: &ApprovalRequest) -> usize {
    let parts = request.hunks.iter().flat_map(|hunk| &hunk.parts);
    parts.map(|part| length(&part.base) + length(&part.insert)).sum()
}

fn length(words: &str) -> usize {
    words.encode_utf16().count()
}
