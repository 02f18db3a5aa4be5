//! Events about rules.

use std::future::ready;

use crate::api::{ApiError, Caller};
use crate::ids::DocumentId;
use crate::transport::protocol::convert;
use crate::transport::protocol::rules::{AddRule, ListRules, RevokeRule, RuleAdded, Rules};

use super::SocketConnection;
use super::socket_error::SocketResult;

pub async fn list(caller: &Caller, payload: ListRules) -> SocketResult<Rules> {
    let document = payload.document_id.map(DocumentId::from);
    let rules = caller.rules(document.as_ref()).await?;
    Ok(Rules { rules: convert::rules(&rules) })
}

pub async fn add(connection: &mut SocketConnection, payload: AddRule) -> SocketResult<RuleAdded> {
    let new = convert::new_rule(payload, connection.session.clone());
    let rule = connection.caller.add_rule(ready(new.map_err(ApiError::invalid))).await?;
    Ok(RuleAdded { rule: convert::rule(&rule) })
}

pub async fn revoke(caller: &Caller, payload: RevokeRule) -> SocketResult<()> {
    Ok(caller.revoke_rule(payload.id.into()).await?)
}
