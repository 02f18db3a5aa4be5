//! One gated call by an outside caller: somebody else's agent calls a tool, and no model of this server is asked.
//!
//! It is a run like any other, whose only answer is the call itself. So it is kept before anything depends on it, people
//! see and decide its request by the usual rules, and a restart takes it up: what waited goes on waiting, and a decision
//! is carried out once, whether or not the caller is still there to hear of it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use crate::ids::{DocumentId, RequestId, RunId, SessionId, Version};
use crate::permissions::{Action, Principal};
use crate::rooms::RoomError;
use crate::rooms::command::ApprovalMode;
use crate::tools::pipeline::inbox_approval;
use crate::tools::registry::ToolOffer;
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

/// The way an outside caller came in.
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
    /// The `source` of its requests on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Mcp => "mcp",
            Self::Messages => "messages_api",
            Self::Rest => "rest",
            Self::Desk => "desk",
        }
    }
}

/// What an outside caller calls.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExternalCall {
    /// The call, as the caller named it.
    pub call: ToolCall,
    /// The way it came in.
    pub door: CallSource,
    /// The version of the document the caller has read; what it proposes is a change of that one. `None`: none, and then
    /// it can propose nothing.
    pub base: Option<Version>,
    /// When the caller gives up, in milliseconds since 1970; its request expires then at the latest.
    pub deadline_ms: Option<u64>,
    /// The request that a person proposes again with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again_of: Option<RequestId>,
    /// Which program gave the call the name it is known by, if it can be told from others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub named_by: Option<String>,
}

/// A call that is to be made.
#[derive(Clone, Debug)]
pub struct CallRequest {
    /// The session, which is the caller's own.
    pub session: SessionId,
    /// Who calls, under the name people are shown.
    pub principal: Principal,
    /// The shared document it is about; `None`: the call names one itself, or is about the workspace.
    pub document: Option<DocumentId>,
    /// What people are shown as the reason: what somebody typed, or who calls.
    pub prompt: String,
    /// The call.
    pub outside: ExternalCall,
    /// What it is known by if its caller sends it once more; `None`: each is another one.
    pub mark: Option<DedupKey>,
}

/// What a call is known by.
#[derive(Clone, Debug)]
pub struct DedupKey {
    /// Its name, and all there is in it.
    pub name: String,
    /// Who gave it that.
    pub by: KeyIssuer,
}

/// Who gave a call its name.
#[derive(Clone, Debug)]
pub enum KeyIssuer {
    /// This server, and to no other call.
    Server,
    /// A program, which may give it to others too: many count their calls anew in every conversation.
    Program(ClientConnection),
}

/// The way to a program that calls.
#[derive(Clone, Debug)]
pub struct ClientConnection {
    /// Which program it is, if it can be told from others.
    pub program: Option<String>,
    /// Fires when it hears no more of the call, without having given it up.
    pub lost: CancellationToken,
}

impl KeyIssuer {
    /// Which program it is, if it is one that can be told from others.
    pub(crate) fn program(&self) -> Option<&str> {
        match self {
            Self::Server => None,
            Self::Program(line) => line.program.as_deref(),
        }
    }
}

/// A call that is over.
#[derive(Clone, Debug, Default)]
pub struct CallResult {
    /// What came of it.
    pub outcome: ToolOutcome,
    /// The document whose text the caller was told of, and the version of that.
    pub read: Option<(DocumentId, Version)>,
}

impl CallResult {
    /// Everything the caller is told.
    pub fn text(&self) -> String {
        match &self.outcome.note {
            Some(note) => format!("{}\n{note}", self.outcome.text),
            None => self.outcome.text.clone(),
        }
    }
}

/// What happens to a call.
#[derive(Clone, Debug)]
pub enum CallEvent {
    /// People are asked, or have answered.
    Asking(ApprovalWait),
    /// It is over.
    Over(Box<CallResult>),
    /// The server stops. The request stays, and is carried out or refused later, but nobody can be told here.
    Parked,
}

/// What a caller is told of a call that is over; `said` is the transcript of its run, `otherwise` how that ended if the call
/// came to nothing.
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
    /// The tools there are, with what each does to the world.
    pub fn offers(&self) -> Vec<ToolOffer> {
        self.shared.tools.offers()
    }

    /// Makes a call. A tool that only reads answers at once, unless a rule speaks of the call; one that proposes or acts is
    /// kept first, and people decide: [`CallHandle`] tells how they are asked. `caller` fires when the caller gives up. A call that was made before is
    /// joined, or answered as it was.
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
            // Somebody's private document is not there for others.
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

    /// Whether a rule speaks of a call that only reads the workspace: then people may be asked, for as long as they like.
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

    /// Makes a call of a name that no other has.
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

    /// Makes a call that changes nothing and waits for nobody: there is nothing to keep of it.
    async fn read_for(
        &self,
        calling: &CallRequest,
        cancel: &CancellationToken,
    ) -> Result<FinishedCall, AskError> {
        let CallRequest { session, principal, document, prompt, outside, mark: _ } = calling;
        let tools = &self.shared.tools;
        // The workspace has no document that a right could be about.
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
