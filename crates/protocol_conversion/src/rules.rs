//! Rules, and policies for tools, on the wire.

use std::sync::Arc;

use serde_json::{Value, json};

use copydesk_approvals as approvals;
use copydesk_approvals::{EVERY_TOOL, PathPattern, Person, RuleScope};
use copydesk_ids::{DocumentId, RuleId, SessionId};
use copydesk_rooms::command;

use super::request::person;
use super::time;
use copydesk_protocol::{history, rules};

/// Returns rules in force.
pub fn rules(rules: &[Arc<approvals::ApprovalRule>]) -> Vec<rules::Rule> {
    rules.iter().map(|one| rule(one)).collect()
}

/// Returns a rule.
pub fn rule(rule: &approvals::ApprovalRule) -> rules::Rule {
    // Rules that have ended are not sent.
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
        effect: *effect,
        over: *over,
        remember: convert_remember(remember),
        author: remember.author.as_ref().map(person),
        session_id: session.to_string(),
        request_id: request.as_ref().map(ToString::to_string),
        by: person(by),
        created_at: time(*at_ms),
    }
}

fn convert_remember(wish: &approvals::RememberWish) -> rules::Remember {
    let approvals::RememberWish { id: _, scope, path, max_units, author, unmarked } = wish;
    rules::Remember {
        scope: *scope,
        path: path.as_ref().map(|path| path.as_str().to_owned()),
        max_units: *max_units,
        author: author.as_ref().map(|author| author.user.to_string()),
        unmarked: unmarked.then_some(true),
    }
}

/// Returns the person whom a wish names by their user, until the rule is made with their name.
fn unnamed(user: String) -> Person {
    Person { user: user.into(), name: String::new() }
}

/// Returns a rule that accepted words, for `document:provenance`.
pub(crate) fn credit(rule: &approvals::ApprovalRule) -> history::RuleCredit {
    let (id, tool) = (rule.id().to_string(), rule.tool.clone());
    let remember = convert_remember(&rule.remember);
    history::RuleCredit { id, by: person(&rule.by), tool, remember }
}

/// Returns the `rules:changed` event.
pub(crate) fn changed(
    document: &DocumentId,
    of: &[Arc<approvals::ApprovalRule>],
) -> rules::RulesChanged {
    rules::RulesChanged { document_id: document.to_string(), rules: rules(of) }
}

/// Returns the details of the error for a rule that has ended.
pub fn ended(how: &approvals::RuleEnd) -> Value {
    let approvals::RuleEnd { by, at_ms } = how;
    let by = by.as_ref().map(person);
    json!({ "by": by, "at": time(*at_ms) })
}

/// Returns the rule to remember; the error is for people.
///
/// # Errors
/// Message for people, if the scope is `workspace` or [`PathPattern::parse`] refuses the path.
pub fn remember(wish: rules::Remember) -> Result<approvals::RememberWish, String> {
    let rules::Remember { scope, path, max_units, author, unmarked } = wish;
    if scope == RuleScope::Workspace {
        return Err("a rule's `scope` is session or document".to_owned());
    }
    let path = path.as_deref().map(PathPattern::parse).transpose()?;
    let author = author.map(unnamed);
    let (id, unmarked) = (RuleId::generate(), unmarked.unwrap_or_default());
    Ok(approvals::RememberWish { id, scope, path, max_units, author, unmarked })
}

/// Returns an owner's new rule and its document; the error is for people.
///
/// # Errors
/// Message for people, if [`PathPattern::written`] refuses the path.
pub fn new_rule(
    new: rules::AddRule,
    session: SessionId,
) -> Result<(DocumentId, command::NewRule), String> {
    let rules::AddRule { document_id, effect, tool, path, max_units, over, author, unmarked } = new;
    let path = path.as_deref().map(PathPattern::written).transpose()?;
    // Where it reaches is the room's to say.
    let (id, scope) = (RuleId::generate(), RuleScope::Document);
    let (author, unmarked) = (author.map(unnamed), unmarked.unwrap_or_default());
    let remember = approvals::RememberWish { id, scope, path, max_units, author, unmarked };
    let tool = tool.unwrap_or_else(|| EVERY_TOOL.to_owned());
    let rule = command::NewRule { remember, effect, over, tool, session };
    Ok((document_id.into(), rule))
}
