//! Interface through which events leave the rooms.

use std::any::Any;

use crate::ids::{DocumentId, MemberId};

use super::event::{RoomEvent, ServerEvent};

/// Receiver of events. Called in order from the room's task; must not block.
pub trait EventSink: Send + Sync {
    /// Encodes an event while it is being stored. The result is passed to [`EventSink::tell`] once
    /// the event is durable.
    fn ready(&self, _document: &DocumentId, _event: &RoomEvent) -> EncodedEvent {
        EncodedEvent::default()
    }

    /// Sends an event to these members; they may be none if the event concerns others too
    /// ([`RoomEvent::concerns_others`]). A member that cannot keep up must be disconnected rather
    /// than miss one event.
    fn tell(
        &self,
        document: &DocumentId,
        members: &[MemberId],
        event: &RoomEvent,
        ready: &EncodedEvent,
    );

    /// Sends an event to every connection that may know of it. Does nothing by default, for sinks
    /// without connections.
    fn announce(&self, _news: &ServerEvent) {}
}

/// Event as an [`EventSink`] has encoded it ahead, if it has.
#[derive(Default)]
pub struct EncodedEvent(Option<Box<dyn Any + Send + Sync>>);

impl EncodedEvent {
    /// Wraps an encoded event.
    pub fn with<T: Any + Send + Sync>(made: T) -> Self {
        Self(Some(Box::new(made)))
    }

    /// Returns the encoded event, if it is of this type.
    pub fn get<T: Any>(&self) -> Option<&T> {
        self.0.as_deref()?.downcast_ref()
    }
}
