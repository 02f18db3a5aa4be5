//! Where events leave the rooms.

use std::any::Any;

use crate::ids::{DocumentId, MemberId};

use super::event::{Announcement, Event};

/// Called in order from the room's task; must not block.
pub trait Outlet: Send + Sync {
    /// The event is being kept, and will be told once it is: time to make something of it, its encoded form say.
    /// [`Outlet::tell`] is given that.
    fn ready(&self, _document: &DocumentId, _event: &Event) -> Ready {
        Ready::default()
    }

    /// Tell these members, or none, if it concerns others too ([`Event::concerns_others`]). A member that cannot keep up
    /// must be cut off rather than miss one event.
    fn tell(&self, document: &DocumentId, members: &[MemberId], event: &Event, ready: &Ready);

    /// Tell everybody who is connected and may know it; nobody where there are no connections.
    fn announce(&self, _news: &Announcement) {}
}

/// What an outlet has made of an event ahead, if anything.
#[derive(Default)]
pub struct Ready(Option<Box<dyn Any + Send + Sync>>);

impl Ready {
    /// This.
    pub fn with<T: Any + Send + Sync>(made: T) -> Self {
        Self(Some(Box::new(made)))
    }

    /// What was made, where it is of this kind.
    pub fn get<T: Any>(&self) -> Option<&T> {
        self.0.as_deref()?.downcast_ref()
    }
}
