//! What a run says to everyone in the document.

use crate::ids::{DocumentId, RunId, SessionId};
use crate::rooms::RoomHandle;
use crate::rooms::clock::WallClock;
use crate::rooms::event::{RunEvent, RunEventKind, RunResponse};

use crate::agent::conversation::transcript::AgentObject;

/// Speaks for one run.
#[derive(Clone, Debug)]
pub struct RunEvents {
    /// Where it is heard.
    pub room: RoomHandle,
    /// The session that asked.
    pub session: SessionId,
    /// The run.
    pub run: RunId,
    /// What time it is.
    pub clock: WallClock,
    /// The shared document; none for a session's private one.
    pub document: Option<DocumentId>,
}

impl RunEvents {
    /// The model begins to answer; what it streamed before and did not finish is void.
    pub async fn stream_start(&self) {
        self.say(RunEventKind::StreamStart).await;
    }

    /// More of its text.
    pub async fn stream_chunk(&self, text: String) {
        self.show(AgentObject::text_delta(&text)).await;
        self.say(RunEventKind::StreamChunk(text)).await;
    }

    /// It has stopped.
    pub async fn stream_end(&self) {
        self.say(RunEventKind::StreamEnd).await;
    }

    /// One of the agent event objects.
    pub async fn show(&self, AgentObject(kind, subtype, content): AgentObject) {
        self.say(RunEventKind::Agent(kind, subtype, content)).await;
    }

    /// The answer to `askClaudeCode`.
    pub async fn respond(&self, response: RunResponse) {
        self.say(RunEventKind::Response(response)).await;
    }

    /// The run is over, and all of that has been said.
    pub async fn over(&self) {
        self.say(RunEventKind::Over).await;
    }

    /// One of the agent event objects, to be told by the room itself.
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
