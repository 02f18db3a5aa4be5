//! One gated call by an outside caller: somebody else's agent calls a tool, and no model of this server is asked.
//!
//! It is a run like any other, whose only answer is the call itself. So it is kept before anything depends on it, people
//! see and decide its request by the usual rules, and a restart takes it up: what waited goes on waiting, and a decision
//! is carried out once, whether or not the caller is still there to hear of it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::ids::{DocumentId, RequestId, RunId, SessionId, Version};
use crate::room::RoomError;
use crate::room::command::Gate;
use crate::tools::registry::Offer;
use crate::tools::{Allowed, Call, Context, Effect, Finished, Outcome, PlanMode, SafeTools};
use crate::who::{Action, Principal};

use super::record::Run;
use super::transcript::{Entry, Kept};
use super::turn::End;
use super::{Agents, Ask, AskError, AskKind, Conversation, PermissionMode};

/// The way an outside caller came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallDoor {
    /// The Model Context Protocol.
    Mcp,
    /// The Messages API.
    Messages,
    /// REST.
    Rest,
}

impl CallDoor {
    /// The `source` of its requests on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Mcp => "mcp",
            Self::Messages => "messages_api",
            Self::Rest => "rest",
        }
    }
}

/// What an outside caller calls.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outside {
    /// The call, as the caller named it.
    pub call: Call,
    /// The way it came in.
    pub door: CallDoor,
    /// The version of the document the caller has read; what it proposes is a change of that one. `None`: none, and then
    /// it can propose nothing.
    pub base: Option<Version>,
    /// When the caller gives up, in milliseconds since 1970; its request expires then at the latest.
    pub deadline_ms: Option<u64>,
}

/// A call that is to be made.
#[derive(Clone, Debug)]
pub struct Calling {
    /// The session, which is the caller's own.
    pub session: SessionId,
    /// Who calls, under the name people are shown.
    pub principal: Principal,
    /// The shared document it is about; `None`: the call names one itself, or is about the workspace.
    pub document: Option<DocumentId>,
    /// What people are shown as the reason: what somebody typed, or who calls.
    pub prompt: String,
    /// The call.
    pub outside: Outside,
}

/// A call that is over.
#[derive(Clone, Debug, Default)]
pub struct Called {
    /// What came of it.
    pub outcome: Outcome,
    /// The document whose text the caller was told of, and the version of that.
    pub read: Option<(DocumentId, Version)>,
}

impl Called {
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
pub enum Heard {
    /// Its request was made and waits for people.
    Waits(RequestId),
    /// It is over.
    Over(Box<Called>),
    /// The server stops. The request stays, and is carried out or refused later, but nobody can be told here.
    Parked,
}

/// A call under way. Dropping it takes the request back.
#[derive(Debug)]
pub struct Ongoing {
    waits: mpsc::UnboundedReceiver<RequestId>,
    over: oneshot::Receiver<Called>,
    stop: CancellationToken,
    _withdraw: DropGuard,
}

impl Ongoing {
    /// What happens next; nothing does after [`Heard::Over`] and [`Heard::Parked`]. Can be cancelled without losing
    /// anything.
    pub async fn next(&mut self) -> Heard {
        tokio::select! {
            biased;
            Some(request) = self.waits.recv() => Heard::Waits(request),
            over = &mut self.over => over.map_or(Heard::Parked, |it| Heard::Over(Box::new(it))),
            () = self.stop.cancelled() => Heard::Parked,
        }
    }
}

/// Who waits for which call in this process.
#[derive(Debug, Default)]
pub(super) struct Ears(Mutex<HashMap<(SessionId, RunId), Ear>>);

#[derive(Debug)]
struct Ear {
    waits: mpsc::UnboundedSender<RequestId>,
    over: oneshot::Sender<Called>,
}

impl Ears {
    /// Who wants to hear that a run's request waits.
    pub fn of(&self, ask: &Ask) -> Option<mpsc::UnboundedSender<RequestId>> {
        let ears = self.ears();
        ears.get(&(ask.session.clone(), ask.run.clone())).map(|ear| ear.waits.clone())
    }

    /// Tells whoever still waits what came of a call; `said` is the transcript of its run.
    pub fn tell(&self, run: &Run, said: &[Entry], end: &End) {
        let ask = &run.ask;
        let ear = self.ears().remove(&(ask.session.clone(), ask.run.clone()));
        let Some(ear) = ear else { return };
        let answers = said.iter().find_map(|entry| match &entry.kept {
            Kept::Results { answers } => answers.first().cloned(),
            Kept::Cleared { .. } | Kept::Prompt { .. } | Kept::Answer { .. } | Kept::End { .. } => {
                None
            }
        });
        let outcome = answers.unwrap_or_else(|| Outcome::failed("", end.message.clone()));
        let read = ask.document.clone().zip(run.base).or_else(|| run.told.clone());
        ear.over.send(Called { outcome, read }).ok();
    }

    fn ears(&self) -> MutexGuard<'_, HashMap<(SessionId, RunId), Ear>> {
        // The map is consistent between any two statements.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Agents {
    /// The tools there are, with what each does to the world.
    pub fn offers(&self) -> Vec<Offer> {
        self.shared.tools.offers()
    }

    /// Makes a call. A tool that only reads answers at once; one that proposes or acts is kept first, and people decide:
    /// [`Ongoing`] tells when they are waited for. `cancel` fires when the caller gives up.
    pub async fn call(
        &self,
        calling: Calling,
        cancel: &CancellationToken,
    ) -> Result<Ongoing, AskError> {
        let (waiting, waits) = mpsc::unbounded_channel();
        let (telling, over) = oneshot::channel();
        let stop = self.shared.stop.clone();
        if self.shared.tools.effect(&calling.outside.call.name).is_none_or(Effect::only_reads) {
            let finished = self.read_for(&calling, cancel).await?;
            let read = finished.read.map(|(document, now)| (document, now.version));
            telling.send(Called { outcome: finished.outcome, read }).ok();
            let withdraw = cancel.child_token().drop_guard();
            return Ok(Ongoing { waits, over, stop, _withdraw: withdraw });
        }
        let Calling { session, principal, document, prompt, outside } = calling;
        if let Some(document) = &document
            && self.shared.rooms.open(document).await?.unlisted_owner().is_some()
        {
            // Somebody's private document is not there for others.
            return Err(RoomError::NoDocument.into());
        }
        let run = RunId::generate();
        let name = (session.clone(), run.clone());
        self.shared.ears.ears().insert(name.clone(), Ear { waits: waiting, over: telling });
        let ask = Ask {
            session,
            run,
            principal,
            prompt,
            document,
            content: None,
            selection: None,
            history: Vec::new(),
            instructions: None,
            conversation: Conversation::Continue,
            model: None,
            kind: AskKind::Call(Box::new(outside)),
            safe_tools: SafeTools::AtOnce,
            permission_mode: PermissionMode::Sdk,
        };
        match self.start(ask, cancel.child_token()).await {
            Ok(stopping) => Ok(Ongoing { waits, over, stop, _withdraw: stopping.drop_guard() }),
            Err(error) => {
                self.shared.ears.ears().remove(&name);
                Err(error)
            }
        }
    }

    /// Makes a call that changes nothing and waits for nobody: there is nothing to keep of it.
    async fn read_for(
        &self,
        calling: &Calling,
        cancel: &CancellationToken,
    ) -> Result<Finished, AskError> {
        let Calling { session, principal, document, prompt, outside } = calling;
        let tools = &self.shared.tools;
        // The workspace has no document that a right could be about.
        let reads_files = tools.effect(&outside.call.name) == Some(Effect::Reads);
        if reads_files && !principal.may(Action::Ask, None) {
            return Err(AskError::NotAllowed);
        }
        let desk = self.shared.desk().await?;
        let room = match document {
            Some(id) if principal.may(Action::Read, Some(id)) => self.shared.rooms.open(id).await?,
            Some(_) => return Err(AskError::NotAllowed),
            None => desk.clone(),
        };
        let context = Context {
            room,
            desk,
            workspace: tools.workspace().filter(|_| reads_files).cloned(),
            safe_tools: SafeTools::AtOnce,
            rooms: self.shared.rooms.clone(),
            elsewhere: None,
            live: None,
            read: Arc::default(),
            base: None,
            shown: None,
            selection: None,
            allowed: Allowed::Nothing,
            request: RequestId::generate(),
            session: session.clone(),
            run: RunId::generate(),
            requester: principal.clone(),
            prompt: prompt.as_str().into(),
            source: outside.door.as_str(),
            gate: Gate::Ask,
            deadline_ms: outside.deadline_ms,
            waits: None,
            plan: PlanMode::Off,
            tag: uuid::Uuid::new_v4().simple().to_string().into(),
            clock: self.shared.clock.clone(),
        };
        Ok(tools.call(&context, &outside.call, cancel).await)
    }
}
