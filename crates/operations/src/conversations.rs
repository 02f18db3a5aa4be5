//! Conversations with the agent, and stopping its runs.

use serde_json::json;

use copydesk_api::{ApiError, ApiResult, Caller, ConversationFork, TranscriptCursor};
use copydesk_ids::permissions::Action::Ask;
use copydesk_ids::{DocumentId, RunId, SessionId};
use copydesk_operation_table::{
    Anyone, BASE, BodyKind, OnDocument, OnOwnSession, OnServer, Operation, operation,
    socket_handled, transport_handled,
};
use copydesk_protocol::answers::{AskedRun, TranscriptPart};
use copydesk_protocol::client::{
    AskClaudeCode, Cancel, ClearTranscript, ForkTranscript, Nothing, ReadTranscript, Run,
};
use copydesk_protocol::queries::{ListPart, TranscriptQuery, WaitQuery};
use copydesk_protocol::rest::{NameRun, RunState, SessionPage, StartRun, StartedRun, Transcript};
use copydesk_protocol_conversion as wire;

/// Operations of this file.
#[rustfmt::skip]
pub(crate) fn operations() -> Vec<Operation> {
    vec![
        socket_handled::<_, AskClaudeCode, AskedRun>("Ask the agent about a document", OnDocument(Ask)).event("askClaudeCode"),
        socket_handled::<_, Run, AskedRun>("Ask the agent for work without a document", OnServer(Ask)).event("run"),
        operation("Ask the agent", Anyone, start).post("/runs", "startRun").body(BodyKind::Text).begins(),
        socket_handled::<_, Cancel, ()>("Stop a run of yours, or all of a session", Anyone).event("cancel"),
        transport_handled::<_, ListPart, SessionPage>("Your own sessions, newest first", Anyone).get("/sessions", "listSessions"),
        operation("Stop every run of a session", OnOwnSession, cancel_all).post("/sessions/{session=sessionId}/cancel", "cancelRuns"),
        operation("A part of the conversation of a session, the newest first", OnOwnSession, transcript).event("transcript:get").only_reads(),
        transport_handled::<_, TranscriptQuery, Transcript>("The conversation of a session, oldest first", OnOwnSession).get("/sessions/{session=sessionId}/transcript", "getTranscript"),
        operation("Begin a conversation anew; what was said stays on record", OnOwnSession, clear).event("transcript:clear").post("/sessions/{session=sessionId}/transcript/clear", "clearTranscript"),
        operation("Continue from the end of an earlier run", OnOwnSession, fork).event("transcript:fork").post("/sessions/{session=sessionId}/transcript/fork", "forkTranscript"),
        transport_handled::<_, WaitQuery, RunState>("A run; with `wait`, once it has ended", OnOwnSession).get("/sessions/{session=sessionId}/runs/{run}", "getRun"),
        operation("Stop a run", OnOwnSession, cancel).post("/sessions/{session=sessionId}/runs/{run}/cancel", "cancelRun"),
    ]
}

/// Asks the agent. The answer comes as soon as the question is stored; the run's own address shows
/// its progress.
async fn start(caller: Caller, (): (), input: StartRun) -> ApiResult<StartedRun> {
    let ask = wire::question(&caller, input, RunId::generate()).await?;
    let session_id = ask.session.to_string();
    let id = caller.application.agents.ask(ask).await?.to_string();
    let url = format!("{BASE}/sessions/{session_id}/runs/{id}");
    Ok(StartedRun { id, session_id, url })
}

async fn transcript(
    caller: Caller,
    session: SessionId,
    input: ReadTranscript,
) -> ApiResult<TranscriptPart> {
    let before = input.before.as_deref().map(serde_json::from_str).transpose();
    let before: Option<TranscriptCursor> =
        before.map_err(|_| ApiError::invalid("no such place: `before`"))?;
    let document = input.document_id.map(DocumentId::from);
    caller.require_conversation(document.as_ref()).await?;
    let (agents, document) = (&caller.application.agents, document.as_ref());
    let page = agents.said_before(&session, document, before.as_ref()).await?;
    let entries = page.entries.iter().flat_map(|entry| wire::entry(entry, document));
    let requests = match before {
        None => agents.decided(&session, document).await?,
        Some(_) => Vec::new(),
    };
    Ok(TranscriptPart {
        entries: entries.collect(),
        requests: requests.iter().map(wire::request).collect(),
        before: page.before.map(|place| json!(place).to_string()),
    })
}

async fn clear(caller: Caller, session: SessionId, input: ClearTranscript) -> ApiResult<()> {
    let document = input.document_id.map(DocumentId::from);
    caller.require_asking(document.as_ref()).await?;
    let agents = &caller.application.agents;
    Ok(agents.clear(&session, document.as_ref(), &caller.principal).await?)
}

async fn fork(caller: Caller, session: SessionId, input: ForkTranscript) -> ApiResult<()> {
    let ForkTranscript { session_id: _, document_id, request_id, from_session_id } = input;
    let document = document_id.map(DocumentId::from);
    caller.require_asking(document.as_ref()).await?;
    let from = match from_session_id.map(SessionId::from) {
        None => session.clone(),
        // A conversation about a document belongs to everyone in it, others to their own person.
        Some(from) if document.is_some() => from,
        Some(from) => caller.own_session(from).await?,
    };
    let fork = ConversationFork { session, document, from, run: request_id.into() };
    Ok(caller.application.agents.fork(fork, &caller.principal).await?)
}

async fn cancel_all(caller: Caller, session: SessionId, _: Nothing) -> ApiResult<()> {
    caller.cancel_runs(session, None).await
}

async fn cancel(caller: Caller, session: SessionId, input: NameRun) -> ApiResult<()> {
    caller.stop_run(session, input.run.into()).await
}
