//! The review rules, sentence by sentence.

mod acting;
mod decisions;
mod deferring;
mod differing;
mod judging;
mod lives;
mod marking;
mod moving;
mod people;
mod rebasing;
mod remembering;
mod reversing;
mod ruling;
mod splitting;
mod storing;
mod suggesting;
mod telling;
mod undoing;

use std::sync::LazyLock;

use serde_json::json;

use super::*;
use copydesk_document::diff::{DiffLimits, diff};
use copydesk_document::{ChangeSet, Text, TextEdit};
use copydesk_ids::permissions::{Principal, Role};
use copydesk_ids::{HunkId, Version};

/// A document with one request about it, and people around.
#[derive(Clone)]
struct ReviewFixture {
    text: Text,
    request: ApprovalRequest,
    now_ms: u64,
}

const START_MS: u64 = 1_000_000;

/// Tools of the workspace that change files, one of which does the work of another several times.
static TOOLS: LazyLock<ToolCatalog> = LazyLock::new(|| {
    let tools = [("Write", None), ("Edit", None), ("MultiEdit", Some("Edit"))];
    let tool = |(name, repeats)| CatalogTool { name, is_plan: false, changes_files: true, repeats };
    tools.map(tool).into_iter().collect()
});

fn person(name: &str, role: Role) -> Principal {
    Principal::new(name, name.to_uppercase(), role)
}

fn ann() -> Principal {
    person("ann", Role::Editor)
}

fn bob() -> Principal {
    person("bob", Role::Editor)
}

fn proposal(tool: &str, input: serde_json::Value, preview: Preview) -> ProposedCall {
    ProposedCall {
        origin: CallOrigin {
            id: "req_1".into(),
            tool: tool.to_owned(),
            input,
            tool_use: "toolu_1".into(),
            session: "ses_1".into(),
            run: "run_1".into(),
        },
        action: ProposedAction {
            prompt: "fix it".to_owned(),
            base_version: Version(0),
            scope: None,
            explanation: String::new(),
            preview,
            touched: None,
            source: RequestSource::Ask,
        },
        document: Some("doc_1".into()),
        requester: Person::from(&ann()),
        requester_former: Vec::new(),
        policy: ApprovalRequirement::default(),
        claimed_author: None,
        again_of: None,
    }
}

fn drafts(old: &str, new: &str) -> Vec<HunkDraft> {
    diff(old, new, &DiffLimits::default())
}

impl ReviewFixture {
    /// The agent proposes that `old` become `new`.
    fn proposing(old: &str, new: &str) -> Self {
        let text = Text::new(old);
        let proposal =
            proposal("update_full_document", json!({ "new_content": new }), Preview::generic());
        let arrival = ArrivedHunks::map(&proposal.origin.id, drafts(old, new), &text, []).unwrap();
        let clock = RequestTimes::start(START_MS, 300_000);
        let request = ApprovalRequest::open(proposal, arrival, Version(0), clock);
        Self { text, request, now_ms: START_MS + 1 }
    }

    /// A tool without hunks waits.
    fn asking(tool: &str, preview: Preview) -> Self {
        let proposal = proposal(tool, json!({ "x": 1 }), preview);
        let clock = RequestTimes::start(START_MS, 300_000);
        let request = ApprovalRequest::open(proposal, ArrivedHunks::default(), Version(0), clock);
        Self { text: Text::new(""), request, now_ms: START_MS + 1 }
    }

    fn with_policy(self, policy: DecisionPolicy) -> Self {
        self.with_policies([policy])
    }

    fn with_policies<const N: usize>(mut self, policies: [DecisionPolicy; N]) -> Self {
        self.request.proposal.policy = policies.into_iter().collect();
        self
    }

    /// Replaces the first `old` in the text (or adds `new` at a place, with `"…|…"` marking it).
    fn types(&mut self, old: &str, new: &str) -> Vec<HunkId> {
        let text = self.text.to_string();
        let (from, len) = match old.split_once('|') {
            Some((left, right)) => (text.find(&format!("{left}{right}")).unwrap() + left.len(), 0),
            None => (text.find(old).unwrap(), old.encode_utf16().count()),
        };
        let from = text[..from].encode_utf16().count();
        self.edit(from, from + len, new)
    }

    fn edit(&mut self, from: usize, to: usize, insert: &str) -> Vec<HunkId> {
        let edit = TextEdit { from, to, insert: insert.to_owned() };
        let change = ChangeSet::of(self.text.len(), &[edit]).unwrap();
        change.apply(&mut self.text).unwrap();
        self.request.rebase(&change, &self.text, self.now_ms)
    }

    fn id(&self, index: usize) -> HunkId {
        self.request.hunks[index].id.clone()
    }

    fn decide(&mut self, decision: &Decision) -> Result<DecisionOutcome, DecisionError> {
        self.decide_as(&ann(), decision)
    }

    fn decide_as(
        &mut self,
        who: &Principal,
        decision: &Decision,
    ) -> Result<DecisionOutcome, DecisionError> {
        self.decide_under(&[], who, decision)
    }

    fn decide_under(
        &mut self,
        policies: &[ToolPolicy],
        who: &Principal,
        decision: &Decision,
    ) -> Result<DecisionOutcome, DecisionError> {
        self.now_ms += 1;
        let before = self.request.clone();
        let (text, now_ms) = (&self.text, self.now_ms);
        let outcome =
            self.request.judge_and_carry_out(decision, who, text, now_ms, &asking(policies));
        match &outcome {
            Ok(outcome) => self.commit(outcome),
            Err(_) => assert_eq!(self.request, before, "a refused decision changes nothing"),
        }
        outcome
    }

    fn commit(&mut self, outcome: &DecisionOutcome) {
        if let Some(change) = &outcome.changes {
            change.apply(&mut self.text).unwrap();
        }
        self.check();
    }

    fn undo(
        &mut self,
        hunks: Option<&[HunkId]>,
        touched: TouchedPolicy,
    ) -> Result<DecisionOutcome, DecisionError> {
        let (scope, nothing) = (UndoScope { hunks, touched }, DecisionRequirements::default());
        let outcome = self.request.undo(scope, &ann(), &self.text, self.now_ms, &nothing)?;
        self.commit(&outcome);
        Ok(outcome)
    }

    /// Ann proposes these again.
    fn reopens(&mut self, indices: &[usize]) -> Result<Vec<HunkId>, DecisionError> {
        let only: Vec<_> = indices.iter().map(|&index| self.id(index)).collect();
        self.request.reopen(Some(&only), &ann(), &self.text)
    }

    /// What must always hold: words that are not in conflict are what they were.
    fn check(&self) {
        let open = self.request.hunks.iter().filter(|h| h.status == HunkStatus::Pending);
        for part in open.flat_map(|h| &h.parts) {
            assert_eq!(self.text.slice(part.from..part.to).unwrap(), part.base);
        }
    }

    /// What stands where a hunk would change something.
    fn stands(&self, index: usize) -> String {
        self.text.slice(self.request.hunks[index].range()).unwrap()
    }

    fn statuses(&self) -> Vec<HunkStatus> {
        self.request.hunks.iter().map(|h| h.status).collect()
    }

    fn accept(&mut self, index: usize) -> Result<DecisionOutcome, DecisionError> {
        self.decide(&one(self.id(index), HunkChoice::Accept))
    }

    fn reject(&mut self, index: usize) -> Result<DecisionOutcome, DecisionError> {
        self.decide(&one(self.id(index), HunkChoice::Reject))
    }

    fn text(&self) -> String {
        self.check();
        self.text.to_string()
    }
}

/// Requirements of these policies alone.
fn asking(policies: &[ToolPolicy]) -> DecisionRequirements<'_> {
    DecisionRequirements { policies, ..DecisionRequirements::default() }
}

/// Rule for the document, made by `by` apart from a request.
fn document_rule(effect: RuleEffect, tool: &str, by: &Principal) -> ApprovalRule {
    ApprovalRule {
        remember: RememberWish {
            id: "rul_1".into(),
            scope: RuleScope::Document,
            path: None,
            max_units: None,
            author: None,
            unmarked: false,
        },
        effect,
        over: None,
        tool: tool.to_owned(),
        session: "ses_1".into(),
        document: Some("doc_1".into()),
        request: None,
        by: Person::from(by),
        at_ms: 1,
        ended: None,
    }
}

fn approve() -> Decision {
    Decision::plain(RequestVerdict::Approve)
}

fn reject() -> Decision {
    Decision::plain(RequestVerdict::Reject)
}

fn named(hunks: Vec<HunkVerdict>) -> Decision {
    Decision { hunks: Some(hunks), ..approve() }
}

fn one(id: HunkId, choice: HunkChoice) -> Decision {
    named(vec![HunkVerdict::plain(id, choice)])
}

fn edited(id: HunkId, text: &str) -> Decision {
    let text = Some(text.to_owned());
    named(vec![HunkVerdict { text, ..HunkVerdict::plain(id, HunkChoice::Accept) }])
}

fn forced(id: HunkId, seen: &str) -> Decision {
    let seen = Some(seen.to_owned());
    named(vec![HunkVerdict { force: true, seen, ..HunkVerdict::plain(id, HunkChoice::Accept) }])
}
