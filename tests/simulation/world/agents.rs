//! Agents propose on what they have read, and hear how it ended, also after a restart.

use copydesk::approvals::{
    ApprovalRequest, CallOrigin, Hunk, Preview, ProposedAction, RequestSource,
};
use copydesk::ids::{RequestId, Version};
use copydesk::rooms::command::{ApprovalMode, NewApprovalRequest};

use super::{Call, CallState, World};
use crate::chance::{self, PEOPLE};
use crate::rules::Held;
use crate::served::Answer;
use crate::statutes::TOOLS;

impl World {
    pub(super) fn proposes(&mut self) -> Held {
        if self.copydesk.room.open().len() >= self.crowd {
            return Ok(());
        }
        let back = self.random.usize(..=self.lag.min(self.ledger.version()));
        let version = self.ledger.version() - back;
        let base = self.ledger.text(version).clone();
        let hunks = chance::drafts(&mut self.random, &base);
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
            requester: chance::person(PEOPLE[self.random.usize(..3)]),
            base,
            hunks,
            approval_mode,
            deadline_ms: None,
            after_restart: true,
            again_of: None,
        };
        self.calls.push(Call { new, state: CallState::Waiting, deniable: false });
        self.count(if back > 0 { "proposed late" } else { "proposed" });
        self.sends_call(self.calls.len() - 1)
    }

    pub(super) fn sends_call(&mut self, call: usize) -> Held {
        let new = self.calls[call].new.clone();
        let (id, approval_mode) = (new.origin.id.clone(), new.approval_mode);
        let is_known = self.copydesk.room.request(&id).is_some();
        self.calls[call].deniable = self.statutes.may_deny(&new.origin.tool, &new.hunks);
        let reply = self.copydesk.reply(move |result| Answer::Proposed(call, result));
        self.copydesk.propose(new, reply);
        self.busy = true;
        match self.copydesk.room.request(&id).cloned() {
            Some(request) if !is_known => self.was_made(&request, approval_mode),
            _ => Ok(()),
        }
    }

    /// A request was made; rules may have decided it.
    fn was_made(&mut self, request: &ApprovalRequest, approval_mode: ApprovalMode) -> Held {
        self.statutes.judge(request, approval_mode)?;
        if approval_mode == ApprovalMode::Bypass {
            return Ok(());
        }
        let rule = |hunk: &Hunk| hunk.decided.as_ref().is_some_and(|it| it.rule.is_some());
        if request.hunks.iter().any(rule) {
            self.accepted.insert(request.id().clone());
            self.count("allowed by a rule");
        } else if request.hunks.iter().any(|hunk| !hunk.votes.is_empty()) {
            self.count("voted for by a rule");
        } else {
            if self.statutes.asks(request) {
                self.count("asked by a rule");
            }
            return Ok(());
        }
        self.book.write_for_a_rule(request);
        Ok(())
    }

    /// After a restart every call is made again, or learns how it ended.
    pub(super) fn takes_up_calls(&mut self) -> Held {
        for call in 0..self.calls.len() {
            if self.calls[call].state == CallState::Over {
                continue;
            }
            let id = self.calls[call].new.origin.id.clone();
            let known = self.copydesk.disk.requests.contains_key(&id);
            let ledger = &self.ledger;
            if known && self.copydesk.has_settled(&id, |version| ledger.text(version).clone()) {
                self.calls[call].state = CallState::Over;
                self.count("settled after a restart");
            } else {
                self.sends_call(call)?;
                self.count("taken up");
            }
        }
        Ok(())
    }
}
