//! Events and results of runs, on the wire.

use copydesk_agent::conversation::transcript::TranscriptEntry;
use copydesk_ids::DocumentId;
use copydesk_rooms::EncodedEvent;
use copydesk_rooms::event::{
    AgentObject, DecidedUpdate, ResponseUpdate, RunEvent, RunEventKind, RunResponse,
};

use super::names::{self, agent_event_subtype, agent_event_type};
use super::{message, time};
use copydesk_protocol::names::UpdateType;
use copydesk_protocol::server;

/// Encodes an event of a run.
pub fn said(said: &RunEvent) -> Option<EncodedEvent> {
    let RunEvent { session, run, document, at_ms, saying } = said;
    let (session_id, request_id) = (session.to_string(), run.to_string());
    let document_id = document.as_ref().map(ToString::to_string);
    let stream = |name, text: Option<String>| {
        let (session_id, request_id) = (session_id.clone(), request_id.clone());
        let document_id = document_id.clone();
        message(name, &server::ClaudeStream { session_id, request_id, document_id, text })
    };
    match saying {
        RunEventKind::StreamStart => stream("claudeStreamStart", None),
        RunEventKind::StreamChunk(text) => stream("claudeStreamChunk", Some(text.clone())),
        RunEventKind::StreamEnd => stream("claudeStreamEnd", None),
        RunEventKind::Agent(AgentObject { kind, subtype, content }) => message(
            "agent_event",
            &server::AgentEvent {
                kind: agent_event_type(*kind),
                subtype: agent_event_subtype(*subtype),
                content: content.clone(),
                session_id,
                request_id,
                document_id,
                at: time(*at_ms),
            },
        ),
        RunEventKind::Response(answer) => {
            message("claudeResponse", &response(session_id, request_id, time(*at_ms), answer))
        }
        RunEventKind::Over => None,
    }
}

/// Returns the events of an entry of a transcript.
pub fn entry(
    entry: &TranscriptEntry,
    document: Option<&DocumentId>,
) -> impl Iterator<Item = server::AgentEvent> {
    let (session_id, request_id) = (entry.session.to_string(), entry.run.to_string());
    let (document_id, at) = (document.map(ToString::to_string), time(entry.at_ms));
    entry.shown().into_iter().map(move |AgentObject { kind, subtype, content }| {
        server::AgentEvent {
            kind: agent_event_type(kind),
            subtype: agent_event_subtype(subtype),
            content,
            session_id: session_id.clone(),
            request_id: request_id.clone(),
            document_id: document_id.clone(),
            at: at.clone(),
        }
    })
}

/// Returns the result of a run.
pub fn response(
    session_id: String,
    request_id: String,
    timestamp: String,
    response: &RunResponse,
) -> server::ClaudeResponse {
    let RunResponse { message, update, updates, error } = response;
    let (update_type, document_update, selection_range, document_version) = match update {
        ResponseUpdate::None => (UpdateType::None, None, None, None),
        ResponseUpdate::Full { text, version } => {
            (UpdateType::Full, Some(text.clone()), None, Some(version.0))
        }
        ResponseUpdate::Partial { text, start, end, version } => {
            let range = server::SelectionRange { start: *start, end: *end };
            (UpdateType::Partial, Some(text.clone()), Some(range), Some(version.0))
        }
    };
    let updates = updates.iter().map(|update| {
        let DecidedUpdate { request, status, extent, version } = update;
        server::ResponseUpdate {
            update_type: names::update_type(*extent),
            request_id: request.to_string(),
            status: *status,
            document_version: version.0,
        }
    });
    server::ClaudeResponse {
        session_id,
        request_id,
        conversation_message: message.clone(),
        update_type,
        document_update,
        selection_range,
        document_version,
        updates: Some(updates.collect()),
        timestamp,
        error: error.clone().map(|(code, message)| server::WireError {
            code,
            message,
            reason_code: None,
            details: None,
        }),
    }
}
