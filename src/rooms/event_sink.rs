//! Where events leave the rooms.

use std::any::Any;

use crate::ids::{DocumentId, MemberId};

use super::event::{RoomEvent, ServerEvent};

/// Called in order from the room's task; must not block.
pub trait EventSink: Send + Sync {
    /// The event is being kept, and will be told once it is: time to make something of it, its encoded form say.
    /// [`EventSink::tell`] is given that.
    fn ready(&self, _document: &DocumentId, _event: &RoomEvent) -> EncodedEvent {
        EncodedEvent::default()
    }

    /// Tell these members, or none, if it concerns others too ([`RoomEvent::concerns_others`]). A member that cannot keep up
    /// must be cut off rather than miss one event.
    fn tell(
        &self,
        document: &DocumentId,
        members: &[MemberId],
        event: &RoomEvent,
        ready: &EncodedEvent,
    );

    /// Tell everybody who is connected and may know it; nobody where there are no connections.
    fn announce(&self, _news: &ServerEvent) {}
}

/// What an outlet has made of an event ahead, if anything.
#[derive(Default)]
pub struct EncodedEvent(Option<Box<dyn Any + Send + Sync>>);

impl EncodedEvent {
    /// This.
    pub fn with<T: Any + Send + Sync>(made: T) -> Self {
        Self(Some(Box::new(made)))
    }

    /// What was made, where it is of this kind.
    pub fn get<T: Any>(&self) -> Option<&T> {
        self.0.as_deref()?.downcast_ref()
    }
}
