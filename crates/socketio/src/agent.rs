//! Events about the agent: ask, run and cancel.

use copydesk_ids::{RunId, SessionId};
use copydesk_protocol::answers::AskedRun;
use copydesk_protocol::client::{AskClaudeCode, Cancel, Run};
use copydesk_protocol::rest::StartRun;
use copydesk_protocol_conversion as wire;
use copydesk_rooms::command::RoomCommand;

use super::SocketConnection;
use super::socket_error::{SocketError, SocketResult};

/// Maximum length of a client's name for a run, in characters.
const LONGEST_RUN_NAME: usize = 128;

/// Answers `askClaudeCode`: asks the agent. The run ends with a `result` and a `claudeResponse`.
///
/// # Errors
/// `invalid_payload` for a name, prompt, model or selection that is not accepted, `not_allowed` or
/// `model_not_allowed`, `already_exists`, `too_many_requests`; see `AgentService::ask`.
pub async fn ask(
    connection: &mut SocketConnection,
    payload: AskClaudeCode,
) -> SocketResult<AskedRun> {
    let wish = StartRun {
        prompt: payload.prompt,
        session_id: Some(payload.session_id),
        context: Some(payload.context),
        permission_mode: payload.permission_mode,
        model: payload.model,
        keep_conversation: payload.keep_conversation,
        auto_approve_safe: None,
    };
    start(connection, wish, payload.request_id).await
}

/// Answers `run`: asks the agent. The run ends with a `result`.
pub async fn run(connection: &mut SocketConnection, payload: Run) -> SocketResult<AskedRun> {
    let wish = StartRun {
        prompt: payload.prompt,
        session_id: None,
        context: None,
        permission_mode: payload.permission_mode,
        model: payload.model,
        keep_conversation: payload.keep_conversation,
        auto_approve_safe: payload.auto_approve_safe,
    };
    start(connection, wish, payload.request_id).await
}

async fn start(
    connection: &mut SocketConnection,
    wish: StartRun,
    name: Option<String>,
) -> SocketResult<AskedRun> {
    let ask = wire::question(&connection.caller, wish, run_name(name)?).await?;
    if ask.document.is_none() {
        listen_in_private(connection, &ask.session).await?;
    }
    let run = connection.caller.application.agents.ask(ask).await?;
    Ok(AskedRun { request_id: run.to_string() })
}

/// Joins the person's connection to the session's private document, to which a run without a shared
/// document sends its events.
pub async fn listen_in_private(
    connection: &mut SocketConnection,
    session: &SessionId,
) -> SocketResult<()> {
    let agents = &connection.caller.application.agents;
    let room = agents.private_room(session, &connection.caller.principal).await?;
    if !connection.rooms.contains_key(room.document()) {
        let (reply, opened) = copydesk_rooms::command::ReplySender::channel();
        room.send(RoomCommand::Open(connection.as_member(), None, reply)).await;
        opened.await.map_err(|_| SocketError::internal())??;
        connection.rooms.insert(room.document().clone(), room);
    }
    Ok(())
}

fn run_name(name: Option<String>) -> SocketResult<RunId> {
    match name {
        None => Ok(RunId::generate()),
        Some(name) if (1..=LONGEST_RUN_NAME).contains(&name.chars().count()) => Ok(name.into()),
        Some(_) => {
            Err(SocketError::invalid(format!("a requestId has 1 to {LONGEST_RUN_NAME} characters")))
        }
    }
}

/// Answers `cancel`: stops a run of the person, in whichever of their sessions, or all of a
/// session.
///
/// # Errors
/// `invalid_payload` if neither a run nor a session is named, `not_found` for an unknown one,
/// `not_allowed` for another person's session.
pub async fn cancel(connection: &mut SocketConnection, payload: Cancel) -> SocketResult<()> {
    let Cancel { session_id, request_id } = payload;
    let (session, run) = (session_id.map(SessionId::from), request_id.map(RunId::from));
    let stopped = match (session, run) {
        (None, None) => {
            return Err(SocketError::invalid("one of `requestId` and `sessionId` is needed"));
        }
        (Some(session), run) => {
            let session = connection.caller.own_session(session).await?;
            connection.caller.cancel_runs(session, run).await
        }
        (None, Some(run)) => {
            connection.caller.cancel_run_named(connection.session.clone(), run).await
        }
    };
    Ok(stopped?)
}
