//! Owners rule on what agents propose; others try.

use copydesk::approvals::{EVERY_TOOL, RememberWish, RuleEffect, RuleScope};
use copydesk::ids::RuleId;
use copydesk::permissions::{Principal, Role};
use copydesk::rooms::command::{NewRule, ReplySender, RoomCommand};

use super::World;
use crate::chance;
use crate::rules::Rule::RulesAreOwnersAlone;
use crate::rules::{Held, must};
use crate::statutes::{OWNER, Statute, TOOLS};

/// Rules in force at a time: with more, hardly anything would be left to people.
const MOST_RULES: usize = 4;

impl World {
    /// A rule is made or ended, mostly by an owner.
    pub(super) fn rules(&mut self) -> Held {
        let by = if self.random.u8(..4) == 0 { self.somebody() } else { chance::person(OWNER) };
        let in_force: Vec<_> = self.statutes.in_force().keys().cloned().collect();
        let ends = in_force.len() >= MOST_RULES || !in_force.is_empty() && self.random.bool();
        self.busy = true;
        if ends {
            let id = in_force[self.random.usize(..in_force.len())].clone();
            self.revokes(&id, by)
        } else {
            self.makes_rule(by)
        }
    }

    fn makes_rule(&mut self, by: Principal) -> Held {
        let effect = [RuleEffect::Deny, RuleEffect::Ask, RuleEffect::Allow][self.random.usize(..3)];
        let tool = match self.random.usize(..3) {
            2 if effect != RuleEffect::Allow => EVERY_TOOL,
            at => TOOLS[at % 2],
        };
        let limit = [None, Some(8), Some(20), Some(40), Some(80)][self.random.usize(..5)];
        let statute = Statute { effect, tool, limit };
        self.ruled += 1;
        let id = RuleId::from(format!("rul_{}", self.ruled));
        let (max_units, over) =
            if effect == RuleEffect::Allow { (limit, None) } else { (None, limit) };
        let scope = RuleScope::Document;
        let remember = RememberWish { id: id.clone(), scope, path: None, max_units };
        let new = NewRule { remember, effect, over, tool: tool.into(), session: "ses_1".into() };
        let is_owner = by.role == Role::Owner;
        let (reply, _) = ReplySender::channel();
        self.copydesk.take(RoomCommand::AddRule(Box::new(new), by, reply));
        let is_made = self.copydesk.room.rules().contains_key(&id);
        let is_known = self.statutes.in_force().values().any(|it| *it == statute);
        must(RulesAreOwnersAlone, is_made == (is_owner && !is_known), || {
            format!("{statute:?} by an owner {is_owner}, known {is_known}, made {is_made}")
        })?;
        if is_made {
            self.statutes.make(id, statute);
        }
        self.count(if is_made { "ruled" } else { "could not rule" });
        Ok(())
    }

    fn revokes(&mut self, id: &RuleId, by: Principal) -> Held {
        let is_owner = by.role == Role::Owner;
        let (reply, _) = ReplySender::channel();
        self.copydesk.take(RoomCommand::Revoke(id.clone(), by, reply));
        let is_over = !self.copydesk.room.rules().contains_key(id);
        must(RulesAreOwnersAlone, is_over == is_owner, || format!("{id} is over: {is_over}"))?;
        if is_over {
            self.statutes.end(id);
        }
        self.count(if is_over { "revoked a rule" } else { "could not rule" });
        Ok(())
    }
}
