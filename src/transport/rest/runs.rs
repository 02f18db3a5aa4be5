//! Agent: `/api/v1/runs` and `/api/v1/sessions`.

use std::time::Duration;

use axum::Json;
use axum::extract::{FromRequest, FromRequestParts as _, OriginalUri, Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::HttpState;
use super::problem::Problem;
use crate::agent::{AgentRequest, AskError, AskKind, ConversationFork, SafeTools, StopFilter};
use crate::ids::{DocumentId, RunId, SessionId};
use crate::permissions::Action;
use crate::store::{SessionRecord, StoreOp};
use crate::transport::protocol::client::{ClearTranscript, ForkTranscript};
use crate::transport::protocol::convert;
use crate::transport::protocol::rest::{
    Empty, RunState, SessionLine, SessionPage, StartRun, StartedRun,
};
use crate::transport::rest::middleware::auth_session::{AuthSession, Authenticated};
use crate::transport::rest::middleware::body;
use crate::transport::rest::middleware::pagination::{
    ListPart, PathId, QueryParams, WaitQuery, next,
};

/// Asks the agent. The answer comes as soon as the question is stored; the run's own address shows
/// its progress.
pub(crate) async fn start(
    State(door): State<HttpState>,
    caller: Authenticated,
    request: Request,
) -> Result<Response, Problem> {
    let wish: StartRun = body::read(request).await?;
    let ask = read_wish(&door, &caller, wish).await?;
    let session_id = ask.session.to_string();
    let id = door.agents.ask(ask).await?.to_string();
    let url = format!("/api/v1/sessions/{session_id}/runs/{id}");
    let there = [(header::LOCATION, url.clone())];
    Ok((StatusCode::ACCEPTED, there, Json(StartedRun { id, session_id, url })).into_response())
}

async fn read_wish(
    door: &HttpState,
    caller: &Authenticated,
    wish: StartRun,
) -> Result<AgentRequest, Problem> {
    let StartRun {
        prompt,
        session_id,
        context,
        permission_mode,
        model,
        keep_conversation,
        auto_approve_safe,
    } = wish;
    let kind = if context.is_some() { AskKind::Ask } else { AskKind::Run };
    let context = context.unwrap_or_default();
    let document = context.document_id.map(DocumentId::from);
    if !caller.principal.may(Action::Ask, document.as_ref()) {
        return Err(Problem::not_allowed());
    }
    if let Some(document) = &document {
        // A private document of another person counts as missing.
        caller.room(door, document.as_str(), Action::Ask).await?;
    }
    let mode = convert::permission_mode(permission_mode.as_deref());
    let permission_mode = mode
        .map_err(Problem::unprocessable)?
        .unwrap_or_else(|| door.agents.default_mode(&caller.principal, document.as_ref()));
    let selection = context.selection.map(convert::selected).transpose();
    let history = context.conversation_history.unwrap_or_default();
    let safe = kind == AskKind::Ask || auto_approve_safe.unwrap_or(true);
    Ok(AgentRequest {
        run: RunId::generate(),
        principal: caller.principal.clone(),
        prompt,
        document,
        content: context.document_content,
        selection: selection.map_err(Problem::unprocessable)?,
        history: history.into_iter().map(|turn| (turn.role, turn.content)).collect(),
        instructions: context.system_instructions,
        conversation: convert::conversation(keep_conversation.unwrap_or(kind == AskKind::Ask)),
        model,
        kind,
        safe_tools: if safe { SafeTools::AtOnce } else { SafeTools::Ask },
        permission_mode,
        // Last, so that a refused request begins no session.
        session: match session_id {
            Some(session) => own_session(door, caller, &session).await?,
            None => begin_session(door, caller).await?,
        },
    })
}

async fn begin_session(door: &HttpState, caller: &Authenticated) -> Result<SessionId, Problem> {
    let session = SessionRecord::begin(caller.principal.user.clone(), door.clock.now_ms());
    let id = session.id.clone();
    door.store.commit(StoreOp::PutSession(session)).await?;
    Ok(id)
}

/// Returns the caller's own session with this identifier.
pub(crate) async fn own_session(
    door: &HttpState,
    caller: &Authenticated,
    name: &str,
) -> Result<SessionId, Problem> {
    let id = SessionId::from(name);
    match door.store.session(&id).await? {
        Some(session) if session.user == caller.principal.user => Ok(id),
        Some(_) => Err(Problem::not_allowed()),
        None => Err(Problem::not_found("session")),
    }
}

/// Returns a run, in progress or ended.
pub(crate) async fn read(
    State(door): State<HttpState>,
    AuthSession { caller, pass }: AuthSession,
    PathId((session, run)): PathId<(String, String)>,
    QueryParams(waiting): QueryParams<WaitQuery>,
) -> Result<Json<RunState>, Problem> {
    let wait = waiting.read()?;
    let (session, run) = (own_session(&door, &caller, &session).await?, RunId::from(run));
    if wait > Duration::ZERO {
        tokio::select! {
            // The run is read again below, over or not.
            _ = tokio::time::timeout(wait, door.agents.over(&session, &run)) => {}
            ended = pass.ended() => return Err(ended.into()),
        }
        pass.check(door.clock.now_ms())?;
    }
    let seen = door.agents.look(&session, &run).await?.ok_or_else(|| Problem::not_found("run"))?;
    let record = seen.record;
    if let Some(document) = &record.document
        && !caller.principal.may(Action::Read, Some(document))
    {
        return Err(Problem::not_allowed());
    }
    let finished_at = record.finished_ms.map(convert::time);
    let result = seen.response.map(|response| {
        let at = finished_at.clone().unwrap_or_default();
        convert::response(session.to_string(), run.to_string(), at, &response)
    });
    Ok(Json(RunState {
        id: run.to_string(),
        session_id: session.to_string(),
        document_id: record.document.as_ref().map(ToString::to_string),
        state: record.state,
        prompt: seen.prompt,
        created_at: convert::time(record.created_ms),
        finished_at,
        waiting: seen.waiting.iter().map(ToString::to_string).collect(),
        result,
    }))
}

/// Stops a run. An ended run stays as it is.
pub(crate) async fn cancel(
    State(door): State<HttpState>,
    caller: Authenticated,
    PathId((session, run)): PathId<(String, String)>,
    request: Request,
) -> Result<StatusCode, Problem> {
    let session = own_session(&door, &caller, &session).await?;
    let Empty {} = body::read(request).await?;
    let run = RunId::from(run);
    let stop = StopFilter { session: Some(session.clone()), run: Some(run.clone()) };
    match door.agents.cancel(stop).await {
        Err(AskError::NoRun) if door.agents.look(&session, &run).await?.is_some() => {}
        stopped => stopped?,
    }
    Ok(StatusCode::NO_CONTENT)
}

/// Lists the caller's own sessions, newest first.
pub(crate) async fn sessions(
    State(door): State<HttpState>,
    caller: Authenticated,
    QueryParams(part): QueryParams<ListPart>,
    OriginalUri(here): OriginalUri,
) -> Result<Json<SessionPage>, Problem> {
    let page = part.read::<SessionId>()?;
    let (user, limit) = (&caller.principal.user, page.limit as u32 + 1);
    let mut found = door.store.sessions(user, page.after.as_ref(), limit).await?;
    let more = found.len() > page.limit;
    found.truncate(page.limit);
    let next = found.last().filter(|_| more).map(|last| next(&here, &last.id));
    let line = |session: SessionRecord| SessionLine {
        id: session.id.to_string(),
        created_at: convert::time(session.created_ms),
        seen_at: convert::time(session.seen_ms),
    };
    Ok(Json(SessionPage { sessions: found.into_iter().map(line).collect(), next }))
}

/// Input of an action on the conversations of one of the caller's sessions.
pub(crate) struct ConversationAction {
    door: HttpState,
    caller: Authenticated,
    session: SessionId,
    body: Request,
}

impl FromRequest<HttpState> for ConversationAction {
    type Rejection = Problem;

    async fn from_request(request: Request, door: &HttpState) -> Result<Self, Problem> {
        let (mut parts, body) = request.into_parts();
        let caller = Authenticated::from_request_parts(&mut parts, door).await?;
        let PathId(session) = PathId::<String>::from_request_parts(&mut parts, door).await?;
        let session = own_session(door, &caller, &session).await?;
        Ok(Self { door: door.clone(), caller, session, body: Request::from_parts(parts, body) })
    }
}

/// Stops every run of a session.
pub(crate) async fn cancel_all(deed: ConversationAction) -> Result<StatusCode, Problem> {
    let ConversationAction { door, session, body, .. } = deed;
    let Empty {} = body::read(body).await?;
    door.agents.cancel(StopFilter { session: Some(session), run: None }).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Begins the conversation anew; earlier entries stay stored.
pub(crate) async fn clear(deed: ConversationAction) -> Result<StatusCode, Problem> {
    let ConversationAction { door, caller, session, body } = deed;
    let wish: ClearTranscript = body::read_about(body, "sessionId", session.as_str()).await?;
    let document = conversation(&door, &caller, wish.document_id).await?;
    door.agents.clear(&session, document.as_ref(), &caller.principal).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Continues the conversation from the end of an earlier run.
pub(crate) async fn fork(deed: ConversationAction) -> Result<StatusCode, Problem> {
    let ConversationAction { door, caller, session, body } = deed;
    let wish: ForkTranscript = body::read_about(body, "sessionId", session.as_str()).await?;
    let document = conversation(&door, &caller, wish.document_id).await?;
    let from = match wish.from_session_id {
        None => session.clone(),
        // A conversation about a document belongs to everyone in the document, any other to its own
        // person.
        Some(from) if document.is_some() => from.into(),
        Some(from) => own_session(&door, &caller, &from).await?,
    };
    let fork = ConversationFork { session, document, from, run: wish.request_id.into() };
    door.agents.fork(fork, &caller.principal).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Returns the subject of a conversation: a document in which the caller may ask, or none.
async fn conversation(
    door: &HttpState,
    caller: &Authenticated,
    document: Option<String>,
) -> Result<Option<DocumentId>, Problem> {
    let Some(document) = document else {
        caller.must(Action::Ask)?;
        return Ok(None);
    };
    let room = caller.room(door, &document, Action::Ask).await?;
    Ok(Some(room.document().clone()))
}
