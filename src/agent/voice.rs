//! What a run says to everyone in the document.

use crate::ids::{DocumentId, RunId, SessionId};
use crate::room::RoomHandle;
use crate::room::clock::Clock;
use crate::room::event::{Response, Said, Saying};

use super::transcript::Shown;

/// Speaks for one run.
#[derive(Clone, Debug)]
pub struct Voice {
    /// Where it is heard.
    pub room: RoomHandle,
    /// The session that asked.
    pub session: SessionId,
    /// The run.
    pub run: RunId,
    /// What time it is.
    pub clock: Clock,
    /// The shared document; none for a session's private one.
    pub document: Option<DocumentId>,
}

impl Voice {
    /// The model begins to answer; what it streamed before and did not finish is void.
    pub async fn stream_start(&self) {
        self.say(Saying::StreamStart).await;
    }

    /// More of its text.
    pub async fn stream_chunk(&self, text: String) {
        self.show(Shown::text_delta(&text)).await;
        self.say(Saying::StreamChunk(text)).await;
    }

    /// It has stopped.
    pub async fn stream_end(&self) {
        self.say(Saying::StreamEnd).await;
    }

    /// One of seed 1's objects.
    pub async fn show(&self, Shown(kind, subtype, content): Shown) {
        self.say(Saying::Agent(kind, subtype, content)).await;
    }

    /// The answer to `askClaudeCode`.
    pub async fn respond(&self, response: Response) {
        self.say(Saying::Response(response)).await;
    }

    /// The run is over, and all of that has been said.
    pub async fn over(&self) {
        self.say(Saying::Over).await;
    }

    /// One of seed 1's objects, to be told by the room itself.
    pub fn shows(&self, Shown(kind, subtype, content): Shown) -> Said {
        self.said(Saying::Agent(kind, subtype, content))
    }

    async fn say(&self, saying: Saying) {
        self.room.say(self.said(saying)).await;
    }

    fn said(&self, saying: Saying) -> Said {
        let (session, run) = (self.session.clone(), self.run.clone());
        Said { session, run, document: self.document.clone(), at_ms: self.clock.now_ms(), saying }
    }
}
