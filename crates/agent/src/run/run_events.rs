//! Events of a run for everyone in the document.

use crate::conversation::agent_objects;
use copydesk_clock::WallClock;
use copydesk_ids::{DocumentId, RunId, SessionId};
use copydesk_rooms::RoomHandle;
use copydesk_rooms::event::{AgentObject, RunEvent, RunEventKind};

/// Publisher of the events of one run.
#[derive(Clone, Debug)]
pub struct RunEventPublisher {
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

impl RunEventPublisher {
    /// Publishes a piece of the answer's text.
    pub async fn stream_chunk(&self, text: String) {
        self.show(agent_objects::text_delta(&text)).await;
        self.publish(RunEventKind::StreamChunk(text)).await;
    }

    /// Publishes an agent event object.
    pub async fn show(&self, object: AgentObject) {
        self.publish(RunEventKind::Agent(object)).await;
    }

    /// Publishes an event.
    pub async fn publish(&self, saying: RunEventKind) {
        let event = RunEvent {
            session: self.session.clone(),
            run: self.run.clone(),
            document: self.document.clone(),
            at_ms: self.clock.now_ms(),
            saying,
        };
        self.room.publish(event).await;
    }
}
