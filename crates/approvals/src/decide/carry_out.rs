//! Carrying out of a decision that was judged. Nothing is refused here.

use serde_json::Value;

use super::HunkPlan;
use crate::hunks::apply::{AppliedHunks, DecidedBy, HunkEdit};
use crate::policy::cast;
use crate::{
    ApprovalRequest, ApprovalRequirement, Decision, DecisionOutcome, DecisionRemark,
    DecisionRequirements, HunkChoice, HunkDecision, HunkStatus, PeopleAsked, RequestStatus,
    RequestVerdict, UpdatedPreview, Vote,
};
use copydesk_document::{ChangeSet, Text};

pub(super) struct JudgedHunk {
    pub plan: HunkPlan,
    pub votes: Option<Vec<Vote>>,
    /// `false` if the votes are not enough yet, so that the hunk stays open.
    pub is_decided: bool,
}

pub(super) enum JudgedEffect {
    /// A call without hunks is approved, with the edited input and its preview if there are any.
    ApproveCall(Option<Value>, Option<UpdatedPreview>),
    RefuseCall,
    /// Hunks are decided; the edits, in order, make the change.
    Hunks(Vec<JudgedHunk>, Vec<HunkEdit>, Option<ChangeSet>),
}

/// [`Decision`] that may be carried out: [`ApprovalRequest::carry_out`] cannot fail.
pub struct JudgedDecision<'d> {
    pub(super) decision: &'d Decision,
    pub(super) decided_by: DecidedBy,
    pub(super) requirement: ApprovalRequirement,
    pub(super) effect: JudgedEffect,
}

impl JudgedDecision<'_> {
    /// Returns the change of the text that the decision makes, if it makes one.
    pub fn changes(&self) -> Option<&ChangeSet> {
        match &self.effect {
            JudgedEffect::ApproveCall(..) | JudgedEffect::RefuseCall => None,
            JudgedEffect::Hunks(_, _, changes) => changes.as_ref(),
        }
    }
}

impl ApprovalRequest {
    /// Carries out a decision, with nothing changed since it was judged on this request and `text`.
    pub fn carry_out(
        &mut self,
        judged: JudgedDecision<'_>,
        text: &Text,
        requirements: &DecisionRequirements,
    ) -> DecisionOutcome {
        let JudgedDecision { decision, decided_by, requirement, effect } = judged;
        let mut outcome = match effect {
            JudgedEffect::ApproveCall(input, revised) => {
                self.approve_call(input, revised, requirement, &decided_by)
            }
            JudgedEffect::RefuseCall => self.close(RequestStatus::Rejected, &decided_by),
            JudgedEffect::Hunks(hunks, edits, changes) => {
                let taken = self.take(hunks, &edits, changes, text, &decided_by);
                self.note_reason(decision, &taken.decided);
                taken
            }
        };
        self.raise_revision();
        self.update_required(requirements);
        outcome.votes = self.votes();
        self.remark(decision, &decided_by);
        outcome.rule = decision.remember.clone().map(|wish| self.rule(wish, &decided_by));
        outcome
    }

    fn approve_call(
        &mut self,
        input: Option<Value>,
        revised: Option<UpdatedPreview>,
        requirement: ApprovalRequirement,
        decided_by: &DecidedBy,
    ) -> DecisionOutcome {
        let policy = self.proposal.policy;
        let stands = revised.as_ref().and_then(|fresh| fresh.touched.clone());
        let text = input.as_ref().map(Value::to_string);
        let vote = decided_by.vote(text, stands, requirement.beyond(policy));
        let have = cast(&mut self.decisions.votes, &vote, policy);
        if have < requirement.need() {
            return self.outcome();
        }
        self.decisions.edited_input = input;
        if let Some(fresh) = revised {
            self.take_over(fresh);
        }
        self.close(RequestStatus::Approved, decided_by)
    }

    fn close(&mut self, status: RequestStatus, decided_by: &DecidedBy) -> DecisionOutcome {
        self.status = status;
        self.decisions.closed = Some(decided_by.closed());
        DecisionOutcome { resolved: Some(status), ..self.outcome() }
    }

    fn take(
        &mut self,
        hunks: Vec<JudgedHunk>,
        edits: &[HunkEdit],
        changes: Option<ChangeSet>,
        text: &Text,
        decided_by: &DecidedBy,
    ) -> DecisionOutcome {
        let (mut decided, mut voted) = (Vec::new(), Vec::new());
        for JudgedHunk { plan, votes, is_decided } in hunks {
            let hunk = &mut self.hunks[plan.index];
            if let Some(votes) = votes {
                if !is_decided && votes != hunk.votes {
                    voted.push(hunk.id.clone());
                }
                hunk.votes = votes;
            }
            if !is_decided {
                continue;
            }
            let forced_over = plan.seen.filter(|_| hunk.status == HunkStatus::Conflict);
            hunk.status = match plan.choice {
                HunkChoice::Reject => HunkStatus::Rejected,
                HunkChoice::Accept => HunkStatus::Accepted,
            };
            hunk.reason = None;
            hunk.decided = Some(HunkDecision {
                by: decided_by.by.clone(),
                at_ms: decided_by.at_ms,
                text: plan.text,
                forced_over,
                rule: decided_by.rule.clone(),
                feedback: None,
            });
            decided.push(hunk.id.clone());
        }
        let AppliedHunks { put, displaced, placed } = self.apply(edits, changes.as_ref(), text);
        let resolved = self.settle(decided_by.closed());
        let outcome = self.outcome();
        DecisionOutcome { changes, placed, decided, voted, put, displaced, resolved, ..outcome }
    }

    fn outcome(&self) -> DecisionOutcome {
        DecisionOutcome {
            changes: None,
            placed: Vec::new(),
            asked: PeopleAsked::People,
            decided: Vec::new(),
            voted: Vec::new(),
            put: Vec::new(),
            displaced: Vec::new(),
            resolved: None,
            votes: self.votes(),
            rule: None,
        }
    }

    fn remark(&mut self, decision: &Decision, decided_by: &DecidedBy) {
        if decision.feedback.is_some() || decision.note.is_some() {
            self.decisions.remarks.push(DecisionRemark {
                by: decided_by.by.clone(),
                at_ms: decided_by.at_ms,
                feedback: decision.feedback.clone(),
                note: decision.note.clone(),
            });
        }
        if let RequestVerdict::Respond { message } = &decision.verdict {
            self.decisions.answer = Some(message.clone());
        }
    }
}
