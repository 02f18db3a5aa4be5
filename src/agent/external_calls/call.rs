//! External calls: a program outside calls one gated tool, and no model of this server is asked.
//!
//! Such a call is a run like any other, whose only answer is the call itself. So it is stored
//! before anything depends on it, people see and decide its request by the usual rules, and a
//! restart resumes it: a waiting request continues to wait, and a decision is executed once, even
//! if the caller is gone.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use crate::ids::{DocumentId, RequestId, RunId, SessionId, Version};
use crate::permissions::{Action, Principal};
use crate::rooms::RoomError;
use crate::rooms::command::ApprovalMode;
use crate::tools::ToolOffer;
use crate::tools::pipeline::inbox_approval;
use crate::tools::{
    ApprovalWait, EditableRange, FinishedCall, PlanMode, SafeTools, ToolCall, ToolContext,
    ToolEffect, ToolOutcome, UnreadRanges,
};

use super::waiters::{CallHandle, CallerContext};
use crate::agent::conversation::transcript::{EntryKind, TranscriptEntry};
use crate::agent::run::run_record::Run;
use crate::agent::{
    AgentRequest, AgentService, AskError, AskKind, ConversationMode, PermissionMode,
};

/// Origin of an external call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallSource {
    /// The Model Context Protocol.
    Mcp,
    /// The Messages API.
    Messages,
    /// REST.
    Rest,
    /// A person who proposes a request again.
    Desk,
}

impl CallSource {
    /// Returns the `source` of the requests on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Mcp => "mcp",
            Self::Messages => "messages_api",
            Self::Rest => "rest",
            Self::Desk => "desk",
        }
    }
}

/// Tool call by an outside caller.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExternalCall {
    /// Call with the id that the caller gave it.
    pub call: ToolCall,
    /// Origin of the call.
    pub door: CallSource,
    /// Version of the document that the caller has read; proposals are changes of it. `None` if the
    /// caller has read none, and then it can propose nothing.
    pub base: Option<Version>,
    /// Time at which the caller gives up, in milliseconds since 1970. The request expires then at
    /// the latest.
    pub deadline_ms: Option<u64>,
    /// Earlier request that a person proposes again with this call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again_of: Option<RequestId>,
    /// Program that named the call ([`DedupKey`]), if it can be told from others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub named_by: Option<String>,
}

/// External call that is to be made ([`AgentService::call`]).
#[derive(Clone, Debug)]
pub struct CallRequest {
    /// Session, which is the caller's own.
    pub session: SessionId,
    /// Caller, with the name that people are shown.
    pub principal: Principal,
    /// Shared document of the call. `None` if the call names one itself or is about the workspace.
    pub document: Option<DocumentId>,
    /// Reason that people are shown: the text that somebody typed, or the caller.
    pub prompt: String,
    /// Call to make.
    pub outside: ExternalCall,
    /// Key that identifies the call if its caller sends it again; `None` if each call is a new one.
    pub mark: Option<DedupKey>,
}

/// Key that identifies a repeated call.
#[derive(Clone, Debug)]
pub struct DedupKey {
    /// Name of the call, and everything that belongs to its identity.
    pub name: String,
    /// Issuer of the name.
    pub by: KeyIssuer,
}

/// Issuer of a call's name.
#[derive(Clone, Debug)]
pub enum KeyIssuer {
    /// This server, which gives each name to one call only.
    Server,
    /// A program, which may use the name again: many programs count their calls from the start in
    /// every conversation.
    Program(ClientConnection),
}

/// Connection to a program that calls.
#[derive(Clone, Debug)]
pub struct ClientConnection {
    /// Name of the program, if it can be told from others.
    pub program: Option<String>,
    /// Token that fires when the connection is lost although the program has not given the call up.
    pub lost: CancellationToken,
}

impl KeyIssuer {
    /// Returns the name of the program, if the issuer is one that can be told from others.
    pub(crate) fn program(&self) -> Option<&str> {
        match self {
            Self::Server => None,
            Self::Program(line) => line.program.as_deref(),
        }
    }
}

/// External call that is over.
#[derive(Clone, Debug, Default)]
pub struct CallResult {
    /// Outcome of the call.
    pub outcome: ToolOutcome,
    /// Document whose text the caller was told, and its version.
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

/// Event of an external call ([`CallHandle::next`]).
#[derive(Clone, Debug)]
pub enum CallEvent {
    /// People are asked, or have answered.
    Asking(ApprovalWait),
    /// The call is over.
    Over(Box<CallResult>),
    /// The server stops. The request stays and is executed or refused later, but this caller cannot
    /// be told.
    Parked,
}

/// Returns the result of a call that is over. `said` is the transcript of its run; `otherwise` is
/// the reason if there is no outcome in it.
pub(crate) fn called(run: &Run, said: &[TranscriptEntry], otherwise: String) -> CallResult {
    let ask = &run.ask;
    let answers = said.iter().find_map(|entry| match &entry.kept {
        EntryKind::Results { answers } => answers.first().cloned(),
        EntryKind::Cleared { .. }
        | EntryKind::Prompt { .. }
        | EntryKind::Answer { .. }
        | EntryKind::End { .. } => None,
    });
    let outcome = answers.unwrap_or_else(|| ToolOutcome::failed("", otherwise));
    let read = ask.document.clone().zip(run.base).or_else(|| run.told.clone());
    CallResult { outcome, read }
}

impl AgentService {
    /// Returns the available tools and their effects.
    pub fn offers(&self) -> Vec<ToolOffer> {
        self.shared.tools.offers()
    }

    /// Makes a call. A tool that only reads answers at once, unless a rule applies to the call. One
    /// that proposes or acts is stored first, and people decide; [`CallHandle`] reports the
    /// progress. `caller` fires when the caller gives up. A repeated call joins the earlier one, or
    /// gets its result.
    ///
    /// # Errors
    ///
    /// If the person may not make the call, or if it cannot be stored. Errors of the tool are part
    /// of the result.
    pub async fn call(
        &self,
        calling: CallRequest,
        caller: &CancellationToken,
    ) -> Result<CallHandle, AskError> {
        let effect = self.shared.tools.effect(&calling.outside.call.name);
        if effect.is_none_or(ToolEffect::only_reads) && !self.is_ruled(effect, &calling).await? {
            let finished = self.read_for(&calling, caller).await?;
            let read = finished.read.map(|(document, now)| (document, now.version));
            let over = CallResult { outcome: finished.outcome, read };
            return Ok(CallHandle::over(over, self.shared.stop.clone()));
        }
        let CallRequest { session, principal, document, prompt, mut outside, mark } = calling;
        outside.named_by = mark.as_ref().and_then(|mark| mark.by.program()).map(str::to_owned);
        if let Some(document) = &document
            && self.shared.rooms.open(document).await?.unlisted_owner().is_some()
        {
            // The private document of a session does not exist for others.
            return Err(RoomError::NoDocument.into());
        }
        let ask = AgentRequest {
            session,
            run: RunId::generate(),
            principal,
            prompt,
            document,
            content: None,
            selection: None,
            history: Vec::new(),
            instructions: None,
            conversation: ConversationMode::Continue,
            model: None,
            kind: AskKind::Call(Box::new(outside)),
            safe_tools: SafeTools::AtOnce,
            permission_mode: PermissionMode::Sdk,
        };
        match mark {
            Some(mark) => self.call_again(ask, &mark, caller).await,
            None => self.call_once(ask, &KeyIssuer::Server, caller).await,
        }
    }

    /// Returns `true` if a rule applies to a call that only reads the workspace. People may then be
    /// asked for any length of time.
    async fn is_ruled(
        &self,
        effect: Option<ToolEffect>,
        calling: &CallRequest,
    ) -> Result<bool, AskError> {
        if effect != Some(ToolEffect::Reads) || self.shared.tools.workspace().is_none() {
            return Ok(false);
        }
        Ok(inbox_approval::rules_speak_of(&self.shared.desk().await?, &calling.outside.call)
            .await?)
    }

    /// Makes a call under a name that no other call has.
    pub(crate) async fn call_once(
        &self,
        ask: AgentRequest,
        by: &KeyIssuer,
        caller: &CancellationToken,
    ) -> Result<CallHandle, AskError> {
        let cancel = CancellationToken::new();
        if caller.is_cancelled() {
            cancel.cancel();
        }
        let to = CallerContext { by, caller, stop: &self.shared.stop };
        let ongoing = self.shared.ears.open(&ask, None, cancel.clone(), to);
        if let Err(error) = self.start(ask.clone(), cancel).await {
            self.shared.ears.close(&ask);
            return Err(error);
        }
        Ok(ongoing)
    }

    /// Makes a call that changes nothing and waits for nobody, so nothing of it is stored.
    async fn read_for(
        &self,
        calling: &CallRequest,
        cancel: &CancellationToken,
    ) -> Result<FinishedCall, AskError> {
        let CallRequest { session, principal, document, prompt, outside, mark: _ } = calling;
        let tools = &self.shared.tools;
        // The workspace has no document to which a right could apply.
        let reads_files = tools.effect(&outside.call.name) == Some(ToolEffect::Reads);
        if reads_files && !principal.may(Action::Ask, None) {
            return Err(AskError::NotAllowed);
        }
        let desk = self.shared.desk().await?;
        let room = match document {
            Some(id) if principal.may(Action::Read, Some(id)) => self.shared.rooms.open(id).await?,
            Some(_) => return Err(AskError::NotAllowed),
            None => desk.clone(),
        };
        let context = ToolContext {
            room,
            desk,
            workspace: tools.workspace().filter(|_| reads_files).cloned(),
            safe_tools: SafeTools::AtOnce,
            rooms: self.shared.rooms.clone(),
            elsewhere: None,
            live: None,
            read: None,
            base: None,
            unread: UnreadRanges::default(),
            shown: None,
            still_unread: UnreadRanges::default(),
            selection: None,
            allowed: EditableRange::Nothing,
            preface: Arc::default(),
            request: RequestId::generate(),
            session: session.clone(),
            run: RunId::generate(),
            requester: principal.clone(),
            prompt: prompt.as_str().into(),
            source: outside.door.as_str(),
            gate: ApprovalMode::Ask,
            deadline_ms: outside.deadline_ms,
            taken_up: false,
            again_of: None,
            asking: None,
            plan: PlanMode::Off,
            tag: uuid::Uuid::new_v4().simple().to_string().into(),
            clock: self.shared.clock.clone(),
        };
        Ok(tools.call(&context, &outside.call, cancel).await)
    }
}
