//! Events of a run for everyone in the document.

use crate::ids::{DocumentId, RunId, SessionId};
use crate::rooms::RoomHandle;
use crate::rooms::clock::WallClock;
use crate::rooms::event::{RunEvent, RunEventKind, RunResponse};

use crate::agent::conversation::transcript::AgentObject;

/// Publisher of the events of one run.
#[derive(Clone, Debug)]
pub struct RunEvents {
    /// Room in which the events are published.
    pub room: RoomHandle,
    /// Session that asked.
    pub session: SessionId,
    /// Name of the run.
    pub run: RunId,
    /// Source of the present time.
    pub clock: WallClock,
    /// Shared document; `None` for a session's private one.
    pub document: Option<DocumentId>,
}

impl RunEvents {
    /// Publishes that the model begins to answer. An unfinished answer that was streamed before is
    /// void.
    pub async fn stream_start(&self) {
        self.say(RunEventKind::StreamStart).await;
    }

    /// Publishes a piece of the answer's text.
    pub async fn stream_chunk(&self, text: String) {
        self.show(AgentObject::text_delta(&text)).await;
        self.say(RunEventKind::StreamChunk(text)).await;
    }

    /// Publishes that the model has stopped.
    pub async fn stream_end(&self) {
        self.say(RunEventKind::StreamEnd).await;
    }

    /// Publishes an agent event object.
    pub async fn show(&self, AgentObject(kind, subtype, content): AgentObject) {
        self.say(RunEventKind::Agent(kind, subtype, content)).await;
    }

    /// Publishes the answer to `askClaudeCode`.
    pub async fn respond(&self, response: RunResponse) {
        self.say(RunEventKind::Response(response)).await;
    }

    /// Publishes that the run is over, after all its other events.
    pub async fn over(&self) {
        self.say(RunEventKind::Over).await;
    }

    /// Returns an agent event object as an event that the room itself publishes.
    pub fn shows(&self, AgentObject(kind, subtype, content): AgentObject) -> RunEvent {
        self.said(RunEventKind::Agent(kind, subtype, content))
    }

    async fn say(&self, saying: RunEventKind) {
        self.room.say(self.said(saying)).await;
    }

    fn said(&self, saying: RunEventKind) -> RunEvent {
        let (session, run) = (self.session.clone(), self.run.clone());
        RunEvent {
            session,
            run,
            document: self.document.clone(),
            at_ms: self.clock.now_ms(),
            saying,
        }
    }
}
