//! Announcement of events to the members of a room whom they concern.

use std::sync::Arc;

use copydesk_ids::MemberId;

use crate::EncodedEvent;
use crate::actor::RoomActor;
use crate::event::{RoomEvent, RunEvent};

impl RoomActor {
    /// Sends an event of a run to everyone in the document.
    pub(crate) fn publish(&self, said: RunEvent) {
        self.notify(&self.audience, &RoomEvent::Said(Arc::new(said)));
    }

    /// Sends an event to those of `members` whom it concerns.
    pub(crate) fn notify(&self, members: &[MemberId], event: &RoomEvent) {
        self.notify_encoded(members, event, None);
    }

    /// Does what [`Self::notify`] does, with the event as it was encoded beforehand, if it was.
    pub(crate) fn notify_encoded(
        &self,
        members: &[MemberId],
        event: &RoomEvent,
        encoded: Option<&EncodedEvent>,
    ) {
        let members = self.state.listeners(members, event);
        if !members.is_empty() || event.concerns_others() {
            self.shared.sink.notify(self.state.id(), &members, event, encoded);
        }
    }
}
