//! Events about the agent: ask, run, cancel, and the transcript.

use serde::Serialize;
use serde_json::json;

use copydesk_engine::api::{Caller, TranscriptCursor};
use copydesk_engine::ids::{DocumentId, RunId, SessionId};
use copydesk_engine::rooms::command::RoomCommand;
use copydesk_protocol::client::{
    AskClaudeCode, Cancel, ClearTranscript, ForkTranscript, ReadTranscript, Run,
};
use copydesk_protocol::convert;
use copydesk_protocol::rest::StartRun;
use copydesk_protocol::server::{AgentEvent, ToolApprovalRequest};

use super::socket_error::{SocketError, SocketResult};
use super::{SocketConnection, given};

/// Maximum length of a client's name for a run, in characters.
const LONGEST_RUN_NAME: usize = 128;

/// Answer to a question, sent before anything is done about it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AskAck {
    request_id: String,
}

/// Answers `askClaudeCode`: asks the agent. The run ends with a `result` and a `claudeResponse`.
///
/// # Errors
/// `invalid_payload` for a name, prompt, model or selection that is not accepted, `not_allowed` or
/// `model_not_allowed`, `already_exists`, `too_many_requests`; see
/// [`AgentService::ask`](copydesk_engine::agent::AgentService::ask).
pub async fn ask(
    connection: &mut SocketConnection,
    payload: AskClaudeCode,
) -> SocketResult<AskAck> {
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
///
/// # Errors
/// Those of [`ask`].
pub async fn run(connection: &mut SocketConnection, payload: Run) -> SocketResult<AskAck> {
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
) -> SocketResult<AskAck> {
    let ask = convert::question(&connection.caller, wish, run_name(name)?).await?;
    if ask.document.is_none() {
        listen_in_private(connection, &ask.session).await?;
    }
    let run = connection.caller.api.agents.ask(ask).await?;
    Ok(AskAck { request_id: run.to_string() })
}

/// Joins the person's connection to the session's private document, to which a run without a shared
/// document sends its events.
///
/// # Errors
/// `unavailable` if the private document can be neither opened nor stored, `internal` if its room
/// stops.
pub async fn listen_in_private(
    connection: &mut SocketConnection,
    session: &SessionId,
) -> SocketResult<()> {
    let agents = &connection.caller.api.agents;
    let room = agents.private_room(session, &connection.caller.principal).await?;
    if !connection.rooms.contains_key(room.document()) {
        let (reply, opened) = copydesk_engine::rooms::command::ReplySender::channel();
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
/// `not_allowed` for another person's session; see [`Caller::cancel_runs`] and
/// [`Caller::cancel_run_named`].
pub async fn cancel(connection: &mut SocketConnection, payload: Cancel) -> SocketResult<()> {
    let Cancel { session_id, request_id } = payload;
    let (session, run) = (session_id.map(SessionId::from), request_id.map(RunId::from));
    let stopped = match (session, run) {
        (None, None) => {
            return Err(SocketError::invalid("one of `requestId` and `sessionId` is needed"));
        }
        (Some(session), run) => connection.caller.cancel_runs(session, run, given(())).await,
        (None, Some(run)) => {
            connection.caller.cancel_run_named(connection.session.clone(), run).await
        }
    };
    Ok(stopped?)
}

#[derive(Serialize)]
pub(crate) struct TranscriptAck {
    entries: Vec<AgentEvent>,
    /// Ended requests of the conversation; open ones come with `document:open`.
    requests: Vec<ToolApprovalRequest>,
    /// Place before which there are more entries, to be sent back unchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<String>,
}

/// Answers `transcript:get`: returns a page of a conversation.
///
/// # Errors
/// `invalid_payload` for a wrong `before`, `not_found` for an unknown session or document,
/// `not_allowed` for another person's; see [`Caller::conversation`].
pub async fn transcript(caller: &Caller, payload: ReadTranscript) -> SocketResult<TranscriptAck> {
    let before = payload.before.as_deref().map(serde_json::from_str).transpose();
    let before: Option<TranscriptCursor> =
        before.map_err(|_| SocketError::invalid("no such place: `before`"))?;
    let (session, document) = (payload.session_id.into(), payload.document_id.map(Into::into));
    let conversation = caller.conversation(session, document).await?;
    let agents = &caller.api.agents;
    let (session, document) = (&conversation.session, conversation.document.as_ref());
    let page = agents.said_before(session, document, before.as_ref()).await?;
    let entries = page.entries.iter().flat_map(|entry| convert::entry(entry, document));
    let requests = match before {
        None => agents.decided(session, document).await?,
        Some(_) => Vec::new(),
    };
    Ok(TranscriptAck {
        entries: entries.collect(),
        requests: requests.iter().map(convert::request).collect(),
        before: page.before.map(|place| json!(place).to_string()),
    })
}

/// Answers `transcript:clear`: begins a conversation anew.
///
/// # Errors
/// `busy` while a run of it is at work or waits, `not_found`, `not_allowed`; see
/// [`Caller::clear_conversation`].
pub async fn clear(caller: &Caller, payload: ClearTranscript) -> SocketResult<()> {
    let ClearTranscript { session_id, document_id } = payload;
    let document = given(document_id.map(DocumentId::from));
    Ok(caller.clear_conversation(session_id.into(), document).await?)
}

/// Answers `transcript:fork`: continues from the end of an earlier run.
///
/// # Errors
/// `not_found` for an unknown run, session or document, `busy` while a run is at work or waits,
/// `not_allowed`; see [`Caller::fork_conversation`].
pub async fn fork(caller: &Caller, payload: ForkTranscript) -> SocketResult<()> {
    let session = payload.session_id.clone().into();
    Ok(caller.fork_conversation(session, given(convert::fork_start(payload))).await?)
}
