//! Agents propose on what they have read, and hear how it ended, also after a restart.

use copydesk::ids::{RequestId, Version};
use copydesk::review::Preview;
use copydesk::room::command::{Command, Gate, NewRequest};

use super::{Call, CallState, PEOPLE, World};
use crate::chance;
use crate::desk::Answer;

impl World {
    pub(super) fn proposes(&mut self) {
        if self.desk.room.open().len() >= self.crowd {
            return;
        }
        let back = self.random.usize(..=self.lag.min(self.ledger.version()));
        let version = self.ledger.version() - back;
        let base = self.ledger.text(version).clone();
        let hunks = chance::drafts(&mut self.random, &base);
        if hunks.is_empty() {
            return;
        }
        let gate = if self.random.u8(..24) == 0 { Gate::Bypass } else { Gate::Ask };
        let new = NewRequest {
            id: RequestId::from(format!("req_{}", self.calls.len())),
            tool: "update_full_document".into(),
            input: serde_json::Value::Null,
            tool_use: "toolu_1".into(),
            session: "ses_1".into(),
            run: "run_1".into(),
            requester: chance::person(PEOPLE[self.random.usize(..3)]),
            prompt: String::new(),
            base_version: Version(version as u64),
            scope: Some((0, base.len())),
            base,
            hunks,
            explanation: String::new(),
            preview: Preview::generic(),
            touched: None,
            source: "sdk".into(),
            gate,
            deadline_ms: None,
            taken_up: true,
        };
        self.calls.push(Call { new, state: CallState::Waiting });
        self.count(if back > 0 { "proposed late" } else { "proposed" });
        self.sends_call(self.calls.len() - 1);
    }

    pub(super) fn sends_call(&mut self, call: usize) {
        let new = self.calls[call].new.clone();
        let base = new.base_version;
        let reply = self.desk.reply(move |result| Answer::Proposed(call, result));
        self.desk.take_with(Command::Propose(Box::new(new), reply), base);
        self.busy = true;
    }

    /// After a restart every call is made again, or learns how it ended.
    pub(super) fn takes_up_calls(&mut self) {
        for call in 0..self.calls.len() {
            if self.calls[call].state == CallState::Over {
                continue;
            }
            let id = self.calls[call].new.id.clone();
            let known = self.desk.disk.requests.contains_key(&id);
            let ledger = &self.ledger;
            if known && self.desk.has_settled(&id, |version| ledger.text(version).clone()) {
                self.calls[call].state = CallState::Over;
                self.count("settled after a restart");
            } else {
                self.sends_call(call);
                self.count("taken up");
            }
        }
    }
}
