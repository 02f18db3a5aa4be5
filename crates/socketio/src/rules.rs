//! Events about rules.

use std::future::ready;

use copydesk_engine::api::{ApiError, Caller};
use copydesk_engine::ids::DocumentId;
use copydesk_protocol::convert;
use copydesk_protocol::rules::{AddRule, ListRules, RevokeRule, RuleAdded, Rules};

use super::SocketConnection;
use super::socket_error::SocketResult;

/// Answers `rules:list`: returns the rules in force.
///
/// # Errors
/// `not_found` or `not_allowed` if the person may not read the named document; see
/// [`Caller::rules`].
pub async fn list(caller: &Caller, payload: ListRules) -> SocketResult<Rules> {
    let document = payload.document_id.map(DocumentId::from);
    let rules = caller.rules(document.as_ref()).await?;
    Ok(Rules { rules: convert::rules(&rules) })
}

/// Answers `rules:add`: adds an owner's rule.
///
/// # Errors
/// `invalid_payload` for a rule that could never apply, `not_allowed` without permission to manage,
/// `not_found` for an unknown document; see [`Caller::add_rule`].
pub async fn add(connection: &mut SocketConnection, payload: AddRule) -> SocketResult<RuleAdded> {
    let new = convert::new_rule(payload, connection.session.clone());
    let rule = connection.caller.add_rule(ready(new.map_err(ApiError::invalid))).await?;
    Ok(RuleAdded { rule: convert::rule(&rule) })
}

/// Answers `rules:revoke`: revokes a rule.
///
/// # Errors
/// `already_resolved` for an ended rule, `not_found` for an unknown one, `not_allowed` for others
/// than its maker and owners; see [`Caller::revoke_rule`].
pub async fn revoke(caller: &Caller, payload: RevokeRule) -> SocketResult<()> {
    Ok(caller.revoke_rule(payload.id.into()).await?)
}
