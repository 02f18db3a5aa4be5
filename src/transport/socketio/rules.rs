//! Events about rules.

use crate::ids::{DocumentId, RuleId};
use crate::permissions::Action;
use crate::rooms::DESK;
use crate::store::QueryScope;
use crate::transport::protocol::convert;
use crate::transport::protocol::rules::{AddRule, ListRules, RevokeRule, RuleAdded, Rules};

use super::socket_error::SocketError;
use super::{EmptyAck, SocketConnection};

pub(crate) async fn list(
    connection: &mut SocketConnection,
    payload: ListRules,
) -> Result<Rules, SocketError> {
    let named = payload.document_id.map(DocumentId::from);
    let documents = match &named {
        Some(document) => vec![document.clone()],
        None => with_rules(connection).await?,
    };
    let mut rules = Vec::new();
    for document in documents {
        match connection.room(document.as_str(), Action::Read).await {
            Ok(room) => rules.extend(convert::rules(&room.rules().await?)),
            Err(refusal) if named.is_some() => return Err(refusal),
            // A document that the person may not read is left out of the list.
            Err(_) => {}
        }
    }
    if named.is_none() {
        let mut desks = connection.door.rooms.desk().await?.rules().await?;
        // Rules about files and the like concern their makers, and owners.
        desks.retain(|rule| rule.may_be_revoked_by(&connection.principal));
        rules.extend(convert::rules(&desks));
    }
    Ok(Rules { rules })
}

async fn with_rules(connection: &SocketConnection) -> Result<Vec<DocumentId>, SocketError> {
    let rules = connection.door.store.rules(QueryScope::Everything).await?;
    let mut documents: Vec<_> = rules.into_iter().filter_map(|rule| rule.document).collect();
    documents.sort_unstable();
    documents.dedup();
    Ok(documents)
}

pub(crate) async fn add(
    connection: &mut SocketConnection,
    payload: AddRule,
) -> Result<RuleAdded, SocketError> {
    let room = if payload.document_id == DESK {
        connection.desk(Action::Manage).await?
    } else {
        connection.room(&payload.document_id, Action::Manage).await?
    };
    let new =
        convert::new_rule(payload, connection.session.clone()).map_err(SocketError::invalid)?;
    connection.door.agents.check_rule(&new)?;
    let rule = room.add_rule(new, connection.principal.clone()).await?;
    Ok(RuleAdded { rule: convert::rule(&rule) })
}

pub(crate) async fn revoke(
    connection: &mut SocketConnection,
    payload: RevokeRule,
) -> Result<EmptyAck, SocketError> {
    let id = RuleId::from(payload.id);
    let known = connection.door.store.rule(&id).await?;
    let room = match known.ok_or_else(|| SocketError::not_found("rule"))?.document {
        Some(document) => connection.room(document.as_str(), Action::Read).await?,
        None => connection.door.rooms.desk().await?,
    };
    room.revoke(id, connection.principal.clone()).await?;
    Ok(EmptyAck {})
}
