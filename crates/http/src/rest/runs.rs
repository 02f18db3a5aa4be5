//! Runs of the agent: `/api/v1/runs`.

use axum::Json;
use axum::extract::Request;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::problem::RestResult;
use crate::rest::middleware::auth_session::AuthSession;
use crate::rest::middleware::body;
use crate::rest::middleware::pagination::{PathId, QueryParams, wait};
use copydesk_api::Caller;
use copydesk_ids::{RunId, SessionId};
use copydesk_protocol::queries::WaitQuery;
use copydesk_protocol::rest::{RunState, StartRun, StartedRun};
use copydesk_protocol_conversion as convert;

/// Asks the agent. The answer comes as soon as the question is stored; the run's own address shows
/// its progress.
///
/// # Errors
/// 422 `invalid_request` for a prompt, model or selection that is not accepted, 403 `not_allowed`
/// or `model_not_allowed`, 429 `too_many_requests` if too many runs wait; those of [`body::read`].
pub async fn start(caller: Caller, request: Request) -> RestResult<Response> {
    let wish: StartRun = body::read(request).await?;
    let ask = convert::question(&caller, wish, RunId::generate()).await?;
    let session_id = ask.session.to_string();
    let id = caller.application.agents.ask(ask).await?.to_string();
    let url = format!("/api/v1/sessions/{session_id}/runs/{id}");
    let there = [(header::LOCATION, url.clone())];
    Ok((StatusCode::ACCEPTED, there, Json(StartedRun { id, session_id, url })).into_response())
}

/// Returns a run, in progress or ended.
///
/// # Errors
/// 400 `invalid_request` for too long a `wait`, 404 `not_found` for an unknown run or session, 401
/// `unauthorized` if the token ends meanwhile; see [`Caller::run_status`].
pub async fn read(
    AuthSession { caller, pass }: AuthSession,
    PathId((session, run)): PathId<(SessionId, RunId)>,
    QueryParams(waiting): QueryParams<WaitQuery>,
) -> RestResult<Json<RunState>> {
    let wait = wait(&waiting)?;
    let seen = caller.run_status(&pass, &session, &run, wait).await?;
    let record = seen.record;
    let finished_at = record.finished_ms.map(convert::time);
    let result = seen.response.map(|response| {
        let at = finished_at.clone().unwrap_or_default();
        convert::response(session.to_string(), run.to_string(), at, &response)
    });
    Ok(Json(RunState {
        id: run.to_string(),
        session_id: session.to_string(),
        document_id: record.document.as_ref().map(ToString::to_string),
        state: convert::run_state(record.state),
        prompt: seen.prompt,
        created_at: convert::time(record.created_ms),
        finished_at,
        waiting: seen.waiting.iter().map(ToString::to_string).collect(),
        result,
    }))
}
