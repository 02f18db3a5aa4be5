//! Resources of the whole server: the caller, the settings, remembered rules and the audit log.

use axum::Json;
use axum::extract::{OriginalUri, Request, State};
use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::Deserialize;

use super::HttpState;
use super::problem::Problem;
use crate::ids::{DocumentId, RuleId, UserId};
use crate::permissions::Action;
use crate::store::{QueryScope, SessionRecord, StoreOp};
use crate::transport::protocol::client::SetSettings;
use crate::transport::protocol::convert;
use crate::transport::protocol::rest::{AuditPage, Me};
use crate::transport::protocol::rules::{AddRule, RuleAdded, Rules};
use crate::transport::protocol::server::{Person, Settings};
use crate::transport::rest::middleware::auth_session::Authenticated;
use crate::transport::rest::middleware::body;
use crate::transport::rest::middleware::pagination::{ListPart, PathId, QueryParams, next};

/// Describes the caller.
pub(crate) async fn me(State(door): State<HttpState>, caller: Authenticated) -> Json<Me> {
    let principal = caller.principal;
    // A token for one document asks about that document.
    let document = principal.document.as_ref();
    let permission_mode = door.agents.default_mode(&principal, document).to_string();
    Json(Me {
        permission_mode,
        permission_modes: door.agents.modes(&principal, document),
        user: Person { id: principal.user.to_string(), name: principal.name },
        role: principal.role.as_str().to_owned(),
        document_id: principal.document.as_ref().map(ToString::to_string),
        models: door.agents.models(),
        settings: convert::settings(&door.rooms.settings()),
    })
}

/// Returns the server's settings.
pub(crate) async fn settings(State(door): State<HttpState>, _: Authenticated) -> Json<Settings> {
    Json(convert::settings(&door.rooms.settings()))
}

/// Changes the server's settings; missing fields stay as they are.
pub(crate) async fn configure(
    State(door): State<HttpState>,
    caller: Authenticated,
    request: Request,
) -> Result<Json<Settings>, Problem> {
    caller.must(Action::Administer)?;
    let wish: SetSettings = body::read(request).await?;
    let settings = convert::server_settings(&wish, door.rooms.settings());
    let settings = settings.map_err(Problem::unprocessable)?;
    if wish.permission_mode.is_some() {
        door.agents.check_mode(settings.permission_mode, &caller.principal, None)?;
    }
    door.rooms.set_settings(settings, &caller.principal).await?;
    Ok(Json(convert::settings(&door.rooms.settings())))
}

/// Which rules.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RuleListQuery {
    /// Only this document's; missing: those of every document the person may read, and those for work without a document
    /// that the person may revoke.
    document_id: Option<String>,
}

/// Lists the remembered rules in force, oldest first.
pub(crate) async fn rules(
    State(door): State<HttpState>,
    caller: Authenticated,
    QueryParams(RuleListQuery { document_id }): QueryParams<RuleListQuery>,
) -> Result<Json<Rules>, Problem> {
    if let Some(document) = document_id {
        let room = caller.room(&door, &document, Action::Read).await?;
        return Ok(Json(Rules { rules: convert::rules(&room.rules().await?) }));
    }
    let known = door.store.rules(QueryScope::Everything).await?;
    let mut documents: Vec<DocumentId> =
        known.into_iter().filter_map(|rule| rule.document).collect();
    documents.sort_unstable();
    documents.dedup();
    let mut rules = Vec::new();
    for document in documents {
        // A document that the caller may not read is left out of the list.
        if let Ok(room) = caller.room(&door, document.as_str(), Action::Read).await {
            rules.extend(convert::rules(&room.rules().await?));
        }
    }
    let mut desks = door.rooms.desk().await?.rules().await?;
    // Rules about files and the like concern their makers, and owners.
    desks.retain(|rule| rule.may_be_revoked_by(&caller.principal));
    rules.extend(convert::rules(&desks));
    Ok(Json(Rules { rules }))
}

/// Adds an owner's rule. The answer is the rule, even if it existed already.
pub(crate) async fn add_rule(
    State(door): State<HttpState>,
    caller: Authenticated,
    request: Request,
) -> Result<Json<RuleAdded>, Problem> {
    caller.must(Action::Manage)?;
    let wish: AddRule = body::read(request).await?;
    let room = caller.room_or_desk(&door, &wish.document_id, Action::Manage).await?;
    // A rule names the session in which it was made; a program without sessions gets a new one for
    // it.
    let session = SessionRecord::begin(caller.principal.user.clone(), door.clock.now_ms());
    let new = convert::new_rule(wish, session.id.clone()).map_err(Problem::unprocessable)?;
    door.agents.check_rule(&new)?;
    door.store.commit(StoreOp::PutSession(session)).await?;
    let rule = room.add_rule(new, caller.principal).await?;
    Ok(Json(RuleAdded { rule: convert::rule(&rule) }))
}

/// Revokes a rule.
pub(crate) async fn revoke(
    State(door): State<HttpState>,
    caller: Authenticated,
    PathId(id): PathId<String>,
) -> Result<StatusCode, Problem> {
    let id = RuleId::from(id);
    let known = door.store.rule(&id).await?.ok_or_else(|| Problem::not_found("rule"))?;
    let room = match known.document {
        Some(document) => caller.room(&door, document.as_str(), Action::Read).await?,
        None => door.rooms.desk().await?,
    };
    room.revoke(id, caller.principal).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Returns the audit log of the whole server, for owners.
pub(crate) async fn audit(
    State(door): State<HttpState>,
    caller: Authenticated,
    QueryParams(part): QueryParams<ListPart>,
    OriginalUri(here): OriginalUri,
) -> Result<Json<AuditPage>, Problem> {
    caller.must(Action::Administer)?;
    let page = part.read::<u64>()?;
    // One more, to see whether there is more.
    let mut lines = door.store.audit(None, page.after, page.limit as u32 + 1).await?;
    let more = lines.len() > page.limit;
    lines.truncate(page.limit);
    let before = lines.last().filter(|_| more).map(|line| line.seq);
    let actors: Vec<UserId> = lines.iter().map(|line| line.entry.actor.as_str().into()).collect();
    let names = door.auth.names(&actors).await?;
    let lines = lines.into_iter().map(|line| convert::audit_line(line, &names)).collect();
    Ok(Json(AuditPage { lines, before, next: before.map(|last| next(&here, &last)) }))
}
