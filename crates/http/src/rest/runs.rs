//! Runs of the agent: `/api/v1/runs`.

use axum::Json;

use super::problem::RestResult;
use crate::rest::middleware::auth_session::AuthSession;
use crate::rest::middleware::pagination::{PathId, QueryParams, wait};
use copydesk_ids::{RunId, SessionId};
use copydesk_protocol::queries::WaitQuery;
use copydesk_protocol::rest::RunState;
use copydesk_protocol_conversion as wire;

/// Returns a run, in progress or ended.
///
/// # Errors
/// 400 `invalid_request` for too long a `wait`, 404 `not_found` for an unknown run or session, 401
/// `unauthorized` if the token ends meanwhile; see
/// [`Caller::run_status`](copydesk_api::Caller::run_status).
pub async fn read(
    AuthSession { caller, pass }: AuthSession,
    PathId((session, run)): PathId<(SessionId, RunId)>,
    QueryParams(waiting): QueryParams<WaitQuery>,
) -> RestResult<Json<RunState>> {
    let wait = wait(&waiting)?;
    let seen = caller.run_status(&pass, &session, &run, wait).await?;
    let record = seen.record;
    let finished_at = record.finished_ms.map(wire::time);
    let result = seen.response.map(|response| {
        let at = finished_at.clone().unwrap_or_default();
        wire::response(session.to_string(), run.to_string(), at, &response)
    });
    Ok(Json(RunState {
        id: run.to_string(),
        session_id: session.to_string(),
        document_id: record.document.as_ref().map(ToString::to_string),
        state: wire::run_state(record.state),
        prompt: seen.prompt,
        created_at: wire::time(record.created_ms),
        finished_at,
        waiting: seen.waiting.iter().map(ToString::to_string).collect(),
        result,
    }))
}
