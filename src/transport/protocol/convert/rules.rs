//! Remembered rules and policies for tools, as they are said on the wire.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::approvals::{self, DecisionPolicy, EVERY_TOOL, PathPattern, RuleEffect, RuleScope};
use crate::ids::{DocumentId, RuleId, SessionId};
use crate::rooms::command;

use super::super::{history, rules};
use super::request::person;
use super::time;

/// The rules in force.
pub fn rules(rules: &[Arc<approvals::ApprovalRule>]) -> Vec<rules::Rule> {
    rules.iter().map(|one| rule(one)).collect()
}

/// One rule.
pub fn rule(rule: &approvals::ApprovalRule) -> rules::Rule {
    // Rules that have ended are not told.
    let approvals::ApprovalRule {
        remember,
        effect,
        over,
        tool,
        session,
        document,
        request,
        by,
        at_ms,
        ended: _,
    } = rule;
    rules::Rule {
        id: remember.id.to_string(),
        document_id: document.as_ref().map(ToString::to_string),
        tool: tool.clone(),
        effect: effect.as_str().to_owned(),
        over: *over,
        remember: told(remember),
        session_id: session.to_string(),
        request_id: request.as_ref().map(ToString::to_string),
        by: person(by),
        created_at: time(*at_ms),
    }
}

fn told(wish: &approvals::RememberWish) -> rules::Remember {
    let approvals::RememberWish { id: _, scope, path, max_units } = wish;
    rules::Remember {
        scope: scope.as_str().to_owned(),
        path: path.as_ref().map(|path| path.as_str().to_owned()),
        max_units: *max_units,
    }
}

/// A rule, where words that it let in are credited.
pub(crate) fn credit(rule: &approvals::ApprovalRule) -> history::RuleCredit {
    let (id, tool) = (rule.id().to_string(), rule.tool.clone());
    history::RuleCredit { id, by: person(&rule.by), tool, remember: told(&rule.remember) }
}

/// The rules of a document are others now.
pub(crate) fn changed(
    document: &DocumentId,
    of: &[Arc<approvals::ApprovalRule>],
) -> rules::RulesChanged {
    rules::RulesChanged { document_id: document.to_string(), rules: rules(of) }
}

/// How a rule ended, for whoever comes late.
pub fn ended(how: &approvals::RuleEnd) -> Value {
    let approvals::RuleEnd { by, at_ms } = how;
    let by = by.as_ref().map(person);
    json!({ "by": by, "at": time(*at_ms) })
}

/// A wish to remember; the error is for people.
pub fn remember(wish: rules::Remember) -> Result<approvals::RememberWish, String> {
    let rules::Remember { scope, path, max_units } = wish;
    let scope = match scope.as_str() {
        "session" => RuleScope::Session,
        "document" => RuleScope::Document,
        _ => return Err("a rule's `scope` is session or document".to_owned()),
    };
    let path = path.as_deref().map(PathPattern::parse).transpose()?;
    Ok(approvals::RememberWish { id: RuleId::generate(), scope, path, max_units })
}

/// A rule that an owner makes; the error is for people.
pub fn new_rule(new: rules::AddRule, session: SessionId) -> Result<command::NewRule, String> {
    let rules::AddRule { document_id: _, effect, tool, path, max_units, over } = new;
    let effect = RuleEffect::parse(&effect).ok_or("a rule's `effect` is deny, ask or allow")?;
    let path = path.as_deref().map(PathPattern::written).transpose()?;
    // Where it reaches is the room's to say.
    let remember = approvals::RememberWish {
        id: RuleId::generate(),
        scope: RuleScope::Document,
        path,
        max_units,
    };
    let tool = tool.unwrap_or_else(|| EVERY_TOOL.to_owned());
    Ok(command::NewRule { remember, effect, over, tool, session })
}

/// A policy for some tool or size; `None`: there is no policy of that name.
pub fn tool_policy(of: rules::ToolPolicy) -> Option<approvals::ToolPolicy> {
    let rules::ToolPolicy { tool, over, policy } = of;
    Some(approvals::ToolPolicy { tool, over, policy: DecisionPolicy::parse(&policy)? })
}

/// A policy for some tool or size, as it is told.
pub(crate) fn told_policy(of: &approvals::ToolPolicy) -> rules::ToolPolicy {
    let approvals::ToolPolicy { tool, over, policy } = of;
    let (tool, over) = (tool.clone(), *over);
    rules::ToolPolicy { tool, over, policy: policy.as_str().to_owned() }
}
