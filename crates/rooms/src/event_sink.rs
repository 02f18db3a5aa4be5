//! Interface through which events leave the rooms.

use serde_json::value::RawValue;

use copydesk_ids::{DocumentId, MemberId, RequestId};

use super::event::{RoomEvent, ServerEvent};

/// Event as it is sent to connections.
#[derive(Debug)]
pub struct EncodedEvent {
    /// Event as it is sent to every client that does not take the short form.
    pub whole: EncodedForm,
    /// Short form, if the event has one.
    pub short: Option<EncodedForm>,
}

/// Name and payload of an event.
#[derive(Debug)]
pub struct EncodedForm {
    /// Name of the event.
    pub name: &'static str,
    /// Payload, encoded once for everyone.
    pub payload: Box<RawValue>,
}

/// Receiver of events. Called in order from the room's task; must not block.
pub trait EventSink: Send + Sync {
    /// Encodes an event while it is being stored, if all members are sent the same. The result is
    /// passed to [`EventSink::notify`] once the event is durable.
    fn encode(&self, _document: &DocumentId, _event: &RoomEvent) -> Option<EncodedEvent> {
        None
    }

    /// Sends an event to these members; they may be none if the event concerns others too
    /// ([`RoomEvent::concerns_others`]). A member that cannot keep up must be disconnected rather
    /// than miss one event.
    fn notify(
        &self,
        document: &DocumentId,
        members: &[MemberId],
        event: &RoomEvent,
        encoded: Option<&EncodedEvent>,
    );

    /// Calls `deliver`, which sends events and answers; those of one of the members may go out
    /// together.
    fn gather(&self, _members: &[MemberId], deliver: &mut dyn FnMut()) {
        deliver();
    }

    /// Sends an event to every connection that may know of it; by default to none.
    fn announce(&self, _event: &ServerEvent) {}

    /// Subscribes these members to a request in a document of another server of several, which
    /// notifies them itself. Does nothing by default, for sinks without connections.
    fn follow(&self, _members: &[MemberId], _document: &DocumentId, _request: &RequestId) {}
}
