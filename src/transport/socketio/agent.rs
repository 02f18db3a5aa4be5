//! Events about the agent: ask, run, cancel, and the transcript.

use serde::Serialize;
use serde_json::json;

use crate::agent::{
    AgentRequest, AskKind, ConversationFork, PermissionMode, SafeTools, StopFilter,
};
use crate::ids::{DocumentId, RunId, SessionId};
use crate::permissions::Action;
use crate::rooms::command::RoomCommand;
use crate::store::TranscriptCursor;
use crate::transport::protocol::client::{
    AskClaudeCode, Cancel, ClearTranscript, ForkTranscript, ReadTranscript, Run,
};
use crate::transport::protocol::convert;
use crate::transport::protocol::server::{AgentEvent, ToolApprovalRequest};

use super::socket_error::SocketError;
use super::{EmptyAck, SocketConnection};

/// Maximum length of a client's name for a run, in characters.
const LONGEST_RUN_NAME: usize = 128;

/// Answer to a question, sent before anything is done about it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AskAck {
    request_id: String,
}

pub(crate) async fn ask(
    connection: &mut SocketConnection,
    payload: AskClaudeCode,
) -> Result<AskAck, SocketError> {
    let session = connection.own_session(&payload.session_id).await?;
    let context = payload.context;
    let document = context.document_id.map(DocumentId::from);
    if !connection.principal.may(Action::Ask, document.as_ref()) {
        return Err(SocketError::not_allowed());
    }
    if let Some(document) = &document {
        // A private document of another person counts as missing.
        connection.room(document.as_str(), Action::Ask).await?;
    }
    let mode = mode_of_run(connection, payload.permission_mode.as_deref(), document.as_ref())?;
    let history = context.conversation_history.unwrap_or_default();
    start(
        connection,
        AgentRequest {
            session,
            run: run_name(payload.request_id)?,
            principal: connection.principal.clone(),
            prompt: payload.prompt,
            document,
            content: context.document_content,
            selection: context
                .selection
                .map(convert::selected)
                .transpose()
                .map_err(SocketError::invalid)?,
            history: history.into_iter().map(|turn| (turn.role, turn.content)).collect(),
            instructions: context.system_instructions,
            conversation: convert::conversation(payload.keep_conversation.unwrap_or(true)),
            model: payload.model,
            kind: AskKind::Ask,
            safe_tools: SafeTools::AtOnce,
            permission_mode: mode,
        },
    )
    .await
}

pub(crate) async fn run(
    connection: &mut SocketConnection,
    payload: Run,
) -> Result<AskAck, SocketError> {
    if !connection.principal.may(Action::Ask, None) {
        return Err(SocketError::not_allowed());
    }
    let mode = mode_of_run(connection, payload.permission_mode.as_deref(), None)?;
    let at_once = payload.auto_approve_safe.unwrap_or(true);
    start(
        connection,
        AgentRequest {
            session: connection.session.clone(),
            run: run_name(payload.request_id)?,
            principal: connection.principal.clone(),
            prompt: payload.prompt,
            document: None,
            content: None,
            selection: None,
            history: Vec::new(),
            instructions: None,
            conversation: convert::conversation(payload.keep_conversation.unwrap_or(false)),
            model: payload.model,
            kind: AskKind::Run,
            safe_tools: if at_once { SafeTools::AtOnce } else { SafeTools::Ask },
            permission_mode: mode,
        },
    )
    .await
}

async fn start(
    connection: &mut SocketConnection,
    ask: AgentRequest,
) -> Result<AskAck, SocketError> {
    if ask.document.is_none() {
        listen_in_private(connection, &ask.session).await?;
    }
    let run = connection.door.agents.ask(ask).await?;
    Ok(AskAck { request_id: run.to_string() })
}

/// Joins the person's connection to the session's private document, to which a run without a shared
/// document sends its events.
pub(crate) async fn listen_in_private(
    connection: &mut SocketConnection,
    session: &SessionId,
) -> Result<(), SocketError> {
    let agents = &connection.door.agents;
    let room = agents.private_room(session, &connection.principal).await?;
    if !connection.rooms.contains_key(room.document()) {
        let (reply, opened) = crate::rooms::command::ReplySender::channel();
        room.send(RoomCommand::Open(connection.as_member(), None, reply)).await;
        opened.await.map_err(|_| SocketError::internal())??;
        connection.rooms.insert(room.document().clone(), room);
    }
    Ok(())
}

fn run_name(name: Option<String>) -> Result<RunId, SocketError> {
    match name {
        None => Ok(RunId::generate()),
        Some(name) if (1..=LONGEST_RUN_NAME).contains(&name.chars().count()) => Ok(name.into()),
        Some(_) => {
            Err(SocketError::invalid(format!("a requestId has 1 to {LONGEST_RUN_NAME} characters")))
        }
    }
}

/// Returns the [`PermissionMode`] of a run: its own, or the server's default.
fn mode_of_run(
    connection: &SocketConnection,
    name: Option<&str>,
    document: Option<&DocumentId>,
) -> Result<PermissionMode, SocketError> {
    let default = || connection.door.agents.default_mode(&connection.principal, document);
    Ok(convert::permission_mode(name).map_err(SocketError::invalid)?.unwrap_or_else(default))
}

pub(crate) async fn cancel(
    connection: &mut SocketConnection,
    payload: Cancel,
) -> Result<EmptyAck, SocketError> {
    let session = match &payload.session_id {
        Some(session) => connection.own_session(session).await?,
        None => connection.session.clone(),
    };
    if payload.request_id.is_none() && payload.session_id.is_none() {
        return Err(SocketError::invalid("one of `requestId` and `sessionId` is needed"));
    }
    let stop = StopFilter { session: Some(session), run: payload.request_id.map(RunId::from) };
    connection.door.agents.cancel(stop).await?;
    Ok(EmptyAck {})
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

pub(crate) async fn transcript(
    connection: &mut SocketConnection,
    payload: ReadTranscript,
) -> Result<TranscriptAck, SocketError> {
    let session = connection.own_session(&payload.session_id).await?;
    let document = payload.document_id.map(DocumentId::from);
    if let Some(id) = &document {
        // Everybody in a document sees one conversation.
        connection.room(id.as_str(), Action::Read).await?;
    }
    let before = payload.before.as_deref().map(serde_json::from_str).transpose();
    let before: Option<TranscriptCursor> =
        before.map_err(|_| SocketError::invalid("no such place: `before`"))?;
    let agents = &connection.door.agents;
    let page = agents.said_before(&session, document.as_ref(), before.as_ref()).await?;
    let entries = page.entries.iter().flat_map(|entry| convert::entry(entry, document.as_ref()));
    let requests = match before {
        None => agents.decided(&session, document.as_ref()).await?,
        Some(_) => Vec::new(),
    };
    Ok(TranscriptAck {
        entries: entries.collect(),
        requests: requests.iter().map(convert::request).collect(),
        before: page.before.map(|place| json!(place).to_string()),
    })
}

pub(crate) async fn clear(
    connection: &mut SocketConnection,
    payload: ClearTranscript,
) -> Result<EmptyAck, SocketError> {
    let ClearTranscript { session_id, document_id } = payload;
    let (session, document) = own_conversation(connection, &session_id, document_id).await?;
    let by = connection.principal.clone();
    connection.door.agents.clear(&session, document.as_ref(), &by).await?;
    Ok(EmptyAck {})
}

pub(crate) async fn fork(
    connection: &mut SocketConnection,
    payload: ForkTranscript,
) -> Result<EmptyAck, SocketError> {
    let ForkTranscript { session_id, document_id, request_id, from_session_id } = payload;
    let (session, document) = own_conversation(connection, &session_id, document_id).await?;
    let from = match from_session_id {
        None => session.clone(),
        // A conversation about a document belongs to everyone in the document, any other to its own
        // person.
        Some(from) if document.is_some() => from.into(),
        Some(from) => connection.own_session(&from).await?,
    };
    let by = connection.principal.clone();
    let fork = ConversationFork { session, document, from, run: request_id.into() };
    connection.door.agents.fork(fork, &by).await?;
    Ok(EmptyAck {})
}

/// Returns a conversation of the person's own, about a document in which the person may ask, or
/// about none.
async fn own_conversation(
    connection: &mut SocketConnection,
    session: &str,
    document: Option<String>,
) -> Result<(SessionId, Option<DocumentId>), SocketError> {
    let session = connection.own_session(session).await?;
    let document = document.map(DocumentId::from);
    match &document {
        Some(id) => drop(connection.room(id.as_str(), Action::Ask).await?),
        None if connection.principal.may(Action::Ask, None) => {}
        None => return Err(SocketError::not_allowed()),
    }
    Ok((session, document))
}
