//! Conversations with the agent, and stopping its runs.

use serde_json::json;

use copydesk_api::{ApiError, ApiResult, Caller, TranscriptCursor};
use copydesk_ids::permissions::Action::Ask;
use copydesk_ids::{DocumentId, SessionId};
use copydesk_protocol::answers::{AskedRun, TranscriptPart};
use copydesk_protocol::client::{
    AskClaudeCode, Cancel, ClearTranscript, ForkTranscript, Nothing, ReadTranscript, Run,
};
use copydesk_protocol::queries::{ListPart, TranscriptQuery, WaitQuery};
use copydesk_protocol::rest::{NameRun, RunState, SessionPage, StartRun, StartedRun, Transcript};
use copydesk_protocol_conversion as convert;

use crate::operation::{BodyKind, Operation, handled, live, operation};
use crate::right::{Anyone, OneDocument, OwnSession, Server};

/// Operations of this file.
#[rustfmt::skip]
pub(crate) fn operations() -> Vec<Operation> {
    vec![
        live::<_, AskClaudeCode, AskedRun>("Ask the agent about a document", OneDocument(Ask)).event("askClaudeCode"),
        live::<_, Run, AskedRun>("Ask the agent for work without a document", Server(Ask)).event("run"),
        handled::<_, StartRun, StartedRun>("Ask the agent", Anyone).post("/runs", "startRun").body(BodyKind::Text).begins(),
        live::<_, Cancel, ()>("Stop a run of yours, or all of a session", Anyone).event("cancel"),
        handled::<_, ListPart, SessionPage>("Your own sessions, newest first", Anyone).get("/sessions", "listSessions"),
        operation("Stop every run of a session", OwnSession, cancel_all).post("/sessions/{session=sessionId}/cancel", "cancelRuns"),
        operation("A part of the conversation of a session, the newest first", OwnSession, transcript).event("transcript:get").only_reads(),
        handled::<_, TranscriptQuery, Transcript>("The conversation of a session, oldest first", OwnSession).get("/sessions/{session=sessionId}/transcript", "getTranscript"),
        operation("Begin a conversation anew; what was said stays on record", OwnSession, clear).event("transcript:clear").post("/sessions/{session=sessionId}/transcript/clear", "clearTranscript"),
        operation("Continue from the end of an earlier run", OwnSession, fork).event("transcript:fork").post("/sessions/{session=sessionId}/transcript/fork", "forkTranscript"),
        handled::<_, WaitQuery, RunState>("A run; with `wait`, once it has ended", OwnSession).get("/sessions/{session=sessionId}/runs/{run}", "getRun"),
        operation("Stop a run", OwnSession, cancel).post("/sessions/{session=sessionId}/runs/{run}/cancel", "cancelRun"),
    ]
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
    let (agents, document) = (&caller.api.agents, document.as_ref());
    let page = agents.said_before(&session, document, before.as_ref()).await?;
    let entries = page.entries.iter().flat_map(|entry| convert::entry(entry, document));
    let requests = match before {
        None => agents.decided(&session, document).await?,
        Some(_) => Vec::new(),
    };
    Ok(TranscriptPart {
        entries: entries.collect(),
        requests: requests.iter().map(convert::request).collect(),
        before: page.before.map(|place| json!(place).to_string()),
    })
}

async fn clear(caller: Caller, session: SessionId, input: ClearTranscript) -> ApiResult<()> {
    caller.clear_conversation(&session, input.document_id.map(DocumentId::from)).await
}

async fn fork(caller: Caller, session: SessionId, input: ForkTranscript) -> ApiResult<()> {
    caller.fork_conversation(session, convert::fork_start(input)).await
}

async fn cancel_all(caller: Caller, session: SessionId, _: Nothing) -> ApiResult<()> {
    caller.cancel_runs(session, None).await
}

async fn cancel(caller: Caller, session: SessionId, input: NameRun) -> ApiResult<()> {
    caller.stop_run(session, input.run.into()).await
}
