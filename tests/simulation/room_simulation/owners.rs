//! Simulated owners add and revoke rules, and others try to.

use copydesk_approvals::{EVERY_TOOL, Person, RememberWish, RuleEffect, RuleScope};
use copydesk_ids::RuleId;
use copydesk_ids::permissions::{Principal, Role};
use copydesk_rooms::command::{NewRule, ReplySender, RoomCommand};

use super::RoomSimulation;
use crate::generators::{self, PEOPLE};
use crate::invariants::Invariant::OnlyOwnersChangeRules;
use crate::invariants::{CheckResult, ensure};
use crate::rule_oracle::{ExpectedRule, OWNER, TOOLS};

/// Largest number of rules in force: with more, people would have little left to decide.
const MAX_RULES: usize = 4;

impl RoomSimulation {
    /// Adds or revokes a rule, mostly as an owner.
    pub(super) fn change_rules(&mut self) -> CheckResult {
        let by = if self.random.u8(..4) == 0 {
            self.random_person()
        } else {
            generators::principal_named(OWNER)
        };
        let in_force: Vec<_> = self.rules.rules_in_force().keys().cloned().collect();
        let revokes = in_force.len() >= MAX_RULES || !in_force.is_empty() && self.random.bool();
        self.has_uncommitted = true;
        if revokes {
            let id = in_force[self.random.usize(..in_force.len())].clone();
            self.revoke_rule(&id, by)
        } else {
            self.add_rule(by)
        }
    }

    fn add_rule(&mut self, by: Principal) -> CheckResult {
        let effect = [RuleEffect::Deny, RuleEffect::Ask, RuleEffect::Allow][self.random.usize(..3)];
        let tool = match self.random.usize(..3) {
            2 if effect != RuleEffect::Allow => EVERY_TOOL,
            at => TOOLS[at % 2],
        };
        let limit = [None, Some(8), Some(20), Some(40), Some(80)][self.random.usize(..5)];
        let author = [Some(PEOPLE[self.random.usize(..3)]), None, None][self.random.usize(..3)];
        let rule = ExpectedRule { effect, tool, limit, author };
        self.rules_requested += 1;
        let id = RuleId::from(format!("rul_{}", self.rules_requested));
        let (max_units, over) =
            if effect == RuleEffect::Allow { (limit, None) } else { (None, limit) };
        let scope = RuleScope::Document;
        let author = author.map(|author| Person::from(&generators::principal_named(author)));
        let remember =
            RememberWish { id: id.clone(), scope, path: None, max_units, author, unmarked: false };
        let new = NewRule { remember, effect, over, tool: tool.into(), session: "ses_1".into() };
        let is_owner = by.role == Role::Owner;
        let (reply, _) = ReplySender::channel();
        self.server.apply(RoomCommand::AddRule(Box::new(new), by, reply));
        let is_added = self.server.room.rules().contains_key(&id);
        let is_known = self.rules.rules_in_force().values().any(|it| *it == rule);
        ensure(OnlyOwnersChangeRules, is_added == (is_owner && !is_known), || {
            format!("{rule:?} by an owner {is_owner}, known {is_known}, added {is_added}")
        })?;
        if is_added {
            self.rules.add(id, rule);
        }
        self.count(if is_added { "rule added" } else { "rule refused" });
        Ok(())
    }

    fn revoke_rule(&mut self, id: &RuleId, by: Principal) -> CheckResult {
        let is_owner = by.role == Role::Owner;
        let (reply, _) = ReplySender::channel();
        self.server.apply(RoomCommand::Revoke(id.clone(), by, reply));
        let is_revoked = !self.server.room.rules().contains_key(id);
        ensure(OnlyOwnersChangeRules, is_revoked == is_owner, || {
            format!("{id} is revoked: {is_revoked}")
        })?;
        if is_revoked {
            self.rules.remove(id);
        }
        self.count(if is_revoked { "rule revoked" } else { "rule refused" });
        Ok(())
    }
}
