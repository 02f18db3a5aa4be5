//! External calls: a program outside calls one gated tool, and no model of this server is asked.
//!
//! Such a call is a run whose only answer is the call itself. So it is stored before anything
//! depends on it, people decide its request by the usual rules, and a restart resumes it: a waiting
//! request continues to wait, and a decision is executed once, even if the caller is gone.

use serde::{Deserialize, Serialize};

use copydesk_ids::permissions::Principal;
use copydesk_ids::{DocumentId, RequestId, SessionId, Version};
use copydesk_rooms::settings::model_access::AskedModel;
use copydesk_tools::{ApprovalWait, ToolCall, ToolOutcome};

use super::call_source::CallSource;
use crate::conversation::transcript::TranscriptEntry;
use crate::run::run_record::Run;

/// Tool call by an outside caller.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExternalCall {
    /// Call with the id that the caller gave it.
    pub call: ToolCall,
    /// Origin of the call.
    #[serde(rename = "door")]
    pub source: CallSource,
    /// Version of the document that the caller has read; without one it can propose nothing.
    pub base: Option<Version>,
    /// Time at which the caller gives up, in milliseconds since 1970; the request then expires.
    pub deadline_ms: Option<u64>,
    /// Earlier request that a person proposes again with this call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again_of: Option<RequestId>,
    /// Model of this server that made the call and reads the result, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<AskedModel>,
}

/// External call that is to be made ([`crate::AgentService::call`]).
#[derive(Clone, Debug)]
pub struct CallRequest {
    /// Session, which is the caller's own.
    pub session: SessionId,
    /// Caller, with the name that people are shown.
    pub principal: Principal,
    /// Shared document of the call. `None` if the call names one itself or is about the workspace.
    pub document: Option<DocumentId>,
    /// Reason that people are shown: the typed text, or the caller.
    pub prompt: String,
    /// Call to make.
    pub outside: ExternalCall,
    /// Key that identifies the call if its caller sends it again: the session or bridge of the
    /// caller, and the caller's name of the call.
    pub key: Option<String>,
}

/// External call that is over.
#[derive(Clone, Debug, Default)]
pub struct CallResult {
    /// Outcome of the call.
    pub outcome: ToolOutcome,
    /// Document whose text the caller got, and its version.
    pub read: Option<(DocumentId, Version)>,
}

impl CallResult {
    /// Returns the complete text for the caller.
    pub fn text(&self) -> String {
        match &self.outcome.note {
            Some(note) => format!("{}\n{note}", self.outcome.text),
            None => self.outcome.text.clone(),
        }
    }
}

/// Event of an external call ([`crate::CallHandle::next`]).
#[derive(Clone, Debug)]
pub enum CallEvent {
    /// People are asked, or have answered.
    Asking(ApprovalWait),
    /// The call is over.
    Over(Box<CallResult>),
    /// The server stops. The request stays and is executed or refused later, without this caller.
    Parked,
}

/// Returns the result of a call that is over, from the transcript `said` of its run, or with the
/// reason `otherwise`.
pub(crate) fn called(run: &Run, said: &[TranscriptEntry], otherwise: String) -> CallResult {
    let ask = &run.ask;
    let answer = said.iter().find_map(|entry| entry.kind.results().first().cloned());
    let outcome = answer.unwrap_or_else(|| ToolOutcome::failed("", otherwise));
    let read = ask.document.clone().zip(run.read_version).or_else(|| run.other_document.clone());
    CallResult { outcome, read }
}
