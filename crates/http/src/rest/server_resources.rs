//! Resources of the whole server: the caller, the settings, remembered rules and the audit log.

use axum::Json;
use axum::extract::{OriginalUri, Request};
use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::Deserialize;

use super::problem::RestResult;
use crate::rest::middleware::body;
use crate::rest::middleware::pagination::{ListPart, PathId, QueryParams, next};
use copydesk_engine::api::{ApiError, Caller};
use copydesk_engine::ids::{DocumentId, RuleId, SessionId};
use copydesk_protocol::client::SetSettings;
use copydesk_protocol::convert;
use copydesk_protocol::rest::{AuditPage, Me};
use copydesk_protocol::rules::{AddRule, RuleAdded, Rules};
use copydesk_protocol::server::{Person, Settings};

/// Describes the caller.
pub async fn me(caller: Caller) -> Json<Me> {
    let principal = caller.principal;
    let modes = caller.api.permission_modes(&principal);
    Json(Me {
        permission_mode: caller.api.default_mode(&principal).into(),
        permission_modes: modes.into_iter().map(Into::into).collect(),
        user: Person { id: principal.user.to_string(), name: principal.name },
        role: principal.role.into(),
        document_id: principal.document.as_ref().map(ToString::to_string),
        models: caller.api.agents.models(),
        settings: convert::settings(&caller.api.rooms.settings()),
    })
}

/// Returns the server's settings.
pub async fn settings(caller: Caller) -> Json<Settings> {
    Json(convert::settings(&caller.api.rooms.settings()))
}

/// Changes the server's settings; missing fields stay as they are.
///
/// # Errors
/// 403 `not_allowed` for people other than owners or a mode not offered to them, 422
/// `invalid_request` if approvals are switched on and skipped at once; those of [`body::read`].
pub async fn configure(caller: Caller, request: Request) -> RestResult<Json<Settings>> {
    let wanted = async {
        let wish: SetSettings = body::read(request).await?;
        let settings = caller.api.rooms.settings();
        convert::server_settings(&wish, settings).map_err(ApiError::unprocessable)
    };
    Ok(Json(convert::settings(&caller.set_settings(wanted).await?)))
}

/// Query for a list of rules.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RuleListQuery {
    /// Only this document's; missing: those of every document the person may read, and those for
    /// work without a document that the person may revoke.
    document_id: Option<String>,
}

/// Lists the remembered rules in force, oldest first.
///
/// # Errors
/// 403 `not_allowed` or 404 `not_found` if the caller may not read the document; see
/// [`Caller::rules`].
pub async fn rules(
    caller: Caller,
    QueryParams(RuleListQuery { document_id }): QueryParams<RuleListQuery>,
) -> RestResult<Json<Rules>> {
    let document = document_id.map(DocumentId::from);
    let rules = caller.rules(document.as_ref()).await?;
    Ok(Json(Rules { rules: convert::rules(&rules) }))
}

/// Adds an owner's rule. The answer is the rule, even if it existed already.
///
/// # Errors
/// 403 `not_allowed` without permission to manage, 400 or 422 `invalid_request` for a rule that
/// could never apply; those of [`Caller::add_rule`] and [`body::read`].
pub async fn add_rule(caller: Caller, request: Request) -> RestResult<Json<RuleAdded>> {
    let rule = async {
        let wish: AddRule = body::read(request).await?;
        // A rule names the session in which it was made; a program without sessions gets a new one
        // for it.
        convert::new_rule(wish, SessionId::generate()).map_err(ApiError::unprocessable)
    };
    let rule = caller.add_rule(rule).await?;
    Ok(Json(RuleAdded { rule: convert::rule(&rule) }))
}

/// Revokes a rule.
///
/// # Errors
/// 404 `not_found` for an unknown rule, 409 `already_resolved` for an ended one, 403 `not_allowed`
/// for others than its maker and owners; see [`Caller::revoke_rule`].
pub async fn revoke(caller: Caller, PathId(id): PathId<RuleId>) -> RestResult<StatusCode> {
    caller.revoke_rule(id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Returns the audit log of the whole server, for owners.
///
/// # Errors
/// 400 `invalid_request` for a wrong `limit` or `cursor`, 403 `not_allowed` for people other than
/// owners; see [`Caller::audit_lines`].
pub async fn audit(
    caller: Caller,
    QueryParams(part): QueryParams<ListPart>,
    OriginalUri(here): OriginalUri,
) -> RestResult<Json<AuditPage>> {
    let wanted = part.read::<u64>()?;
    let found = caller.audit_lines(None, wanted.after, wanted.limit).await?;
    let before = found.page.end().map(|line| line.seq);
    let lines = convert::audit_lines(found);
    Ok(Json(AuditPage { lines, before, next: before.map(|last| next(&here, &last)) }))
}
