//! Events about rules.

use std::future::ready;

use crate::api::ApiError;
use crate::ids::DocumentId;
use crate::transport::protocol::convert;
use crate::transport::protocol::rules::{AddRule, ListRules, RevokeRule, RuleAdded, Rules};

use super::socket_error::SocketResult;
use super::{EmptyAck, SocketConnection};

pub(crate) async fn list(
    connection: &mut SocketConnection,
    payload: ListRules,
) -> SocketResult<Rules> {
    let document = payload.document_id.map(DocumentId::from);
    let rules = connection.caller.rules(document.as_ref()).await?;
    Ok(Rules { rules: convert::rules(&rules) })
}

pub(crate) async fn add(
    connection: &mut SocketConnection,
    payload: AddRule,
) -> SocketResult<RuleAdded> {
    let document = payload.document_id.as_str().into();
    let new = convert::new_rule(payload, connection.session.clone());
    let new = ready(new.map(|new| (document, new)).map_err(ApiError::invalid));
    let rule = connection.caller.add_rule(new).await?;
    Ok(RuleAdded { rule: convert::rule(&rule) })
}

pub(crate) async fn revoke(
    connection: &mut SocketConnection,
    payload: RevokeRule,
) -> SocketResult<EmptyAck> {
    connection.caller.revoke_rule(payload.id.into()).await?;
    Ok(EmptyAck {})
}
