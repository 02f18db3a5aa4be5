//! Simulated agents: they propose on a version they have read, and learn the result, also after a
//! restart.

use copydesk_approvals::{
    ApprovalRequest, CallOrigin, Hunk, Preview, ProposedAction, RequestSource,
};
use copydesk_ids::{RequestId, Version};
use copydesk_rooms::command::{ApprovalMode, NewApprovalRequest};

use super::{AgentCall, CallState, RoomSimulation};
use crate::generators::{self, PEOPLE};
use crate::invariants::CheckResult;
use crate::rule_oracle::TOOLS;
use crate::simulated_server::CommandReply;

impl RoomSimulation {
    pub(super) fn propose(&mut self) -> CheckResult {
        if self.server.room.open().len() >= self.max_open_requests {
            return Ok(());
        }
        let lag = self.random.usize(..=self.max_version_lag.min(self.reference.version()));
        let version = self.reference.version() - lag;
        let base = self.reference.text(version).clone();
        let hunks = generators::random_hunks(&mut self.random, &base);
        if hunks.is_empty() {
            return Ok(());
        }
        let approval_mode =
            if self.random.u8(..24) == 0 { ApprovalMode::Bypass } else { ApprovalMode::Ask };
        let new = NewApprovalRequest {
            origin: CallOrigin {
                id: RequestId::from(format!("req_{}", self.calls.len())),
                tool: TOOLS[self.random.usize(..TOOLS.len())].into(),
                input: serde_json::Value::Null,
                tool_use: "toolu_1".into(),
                session: "ses_1".into(),
                run: "run_1".into(),
            },
            action: ProposedAction {
                prompt: String::new(),
                base_version: Version(version as u64),
                scope: Some((0, base.len())),
                explanation: String::new(),
                preview: Preview::generic(),
                touched: None,
                source: RequestSource::Ask,
            },
            requester: generators::principal_named(PEOPLE[self.random.usize(..3)]),
            base,
            hunks,
            approval_mode,
            deadline_ms: None,
            after_restart: true,
            again_of: None,
        };
        self.calls.push(AgentCall { new, state: CallState::Waiting, may_be_denied: false });
        self.count(if lag > 0 { "proposed late" } else { "proposed" });
        self.submit_call(self.calls.len() - 1)
    }

    pub(super) fn submit_call(&mut self, call: usize) -> CheckResult {
        let new = self.calls[call].new.clone();
        let (id, approval_mode) = (new.origin.id.clone(), new.approval_mode);
        let is_known = self.server.room.request(&id).is_some();
        self.calls[call].may_be_denied = self.rules.may_deny(&new);
        let reply = self.server.reply(move |result| CommandReply::Proposed(call, result));
        self.server.propose(new, reply);
        self.has_uncommitted = true;
        match self.server.room.request(&id).cloned() {
            Some(request) if !is_known => self.check_new_request(&request, approval_mode),
            _ => Ok(()),
        }
    }

    /// Checks a new request, which a rule may have decided.
    fn check_new_request(
        &mut self,
        request: &ApprovalRequest,
        approval_mode: ApprovalMode,
    ) -> CheckResult {
        self.rules.check_new_request(request, approval_mode)?;
        if approval_mode == ApprovalMode::Bypass {
            return Ok(());
        }
        let rule = |hunk: &Hunk| hunk.decided.as_ref().is_some_and(|it| it.rule.is_some());
        if request.hunks.iter().any(rule) {
            self.decided_requests.insert(request.id().clone());
            self.count("allowed by a rule");
        } else if request.hunks.iter().any(|hunk| !hunk.votes.is_empty()) {
            self.count("voted for by a rule");
        } else {
            if self.rules.asks(request) {
                self.count("asked by a rule");
            }
            return Ok(());
        }
        self.decisions.record_rule_decision(request);
        Ok(())
    }

    /// Submits every waiting call again after a restart, or learns its result.
    pub(super) fn resume_calls(&mut self) -> CheckResult {
        for call in 0..self.calls.len() {
            if self.calls[call].state == CallState::Finished {
                continue;
            }
            let id = self.calls[call].new.origin.id.clone();
            let known = self.server.store.requests.contains_key(&id);
            let reference = &self.reference;
            if known && self.server.is_settled(&id, |version| reference.text(version).clone()) {
                self.calls[call].state = CallState::Finished;
                self.count("settled after a restart");
            } else {
                self.submit_call(call)?;
                self.count("resubmitted after a restart");
            }
        }
        Ok(())
    }
}
