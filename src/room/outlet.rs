//! Where events leave the rooms.

use std::any::Any;

use crate::ids::{DocumentId, MemberId};

use super::event::{Announcement, Event};
use super::step::Output;

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

/// While the store keeps a turn, the outlet does what it can with what will be told of it.
pub(super) async fn make_ready(outlet: &dyn Outlet, document: &DocumentId, outputs: &mut [Output]) {
    if outputs.is_empty() {
        return;
    }
    // The store's writer comes first.
    tokio::task::yield_now().await;
    for output in outputs {
        if let Output::Tell(event, ready) = output {
            *ready = outlet.ready(document, event);
        }
    }
}
