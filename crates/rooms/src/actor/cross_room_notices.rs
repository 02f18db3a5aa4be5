//! Notices of a request to people outside of its document: those in the document where the call was
//! made who may also read this one. Held as long as the server runs; after a restart they find the
//! request in their list of open requests.

use copydesk_ids::permissions::Action;
use copydesk_ids::{DocumentId, MemberId, RequestId};

use crate::actor::RoomActor;
use crate::actor::room_effects::{RoomEffect, RoomEffects};
use crate::command::RoomCommand;
use crate::event::{PeerInfo, RoomEvent};
use crate::{EncodedEvent, RoomHandle, RoomRegistry};

impl RoomHandle {
    /// Notifies of a request of this room also those people of `asking` who may read this document.
    pub async fn notify_also(&self, asking: &RoomHandle, request: &RequestId) {
        let members = asking.readers_of(self.document()).await;
        if !members.is_empty() {
            self.send(RoomCommand::Witness(request.clone(), members)).await;
        }
    }

    /// Notifies a member of another room of a request of this one, from here on; the caller has
    /// checked that the person may read this document.
    pub async fn notify_member(&self, member: MemberId, request: RequestId) {
        self.send(RoomCommand::Witness(request, vec![member])).await;
    }

    /// Returns the connections of people here who may read another document.
    async fn readers_of(&self, document: &DocumentId) -> Vec<MemberId> {
        // If this room does not answer, none of its members is notified.
        let people = self.ask(RoomCommand::People).await.unwrap_or_default();
        let may_read = |peer: &PeerInfo| peer.principal.may(Action::Read, Some(document));
        people.into_iter().filter(may_read).map(|peer| peer.member).collect()
    }
}

impl RoomRegistry {
    /// Has another server of several notify those people of `asking` who may read its document of a
    /// request of that document.
    pub async fn notify_of_elsewhere(
        &self,
        asking: &RoomHandle,
        document: &DocumentId,
        request: &RequestId,
    ) {
        let members = asking.readers_of(document).await;
        if !members.is_empty() {
            self.0.sink.follow(&members, document, request);
        }
    }
}

impl RoomActor {
    /// Notifies these members of the request from here on, if it is still open.
    pub(crate) fn witness(
        &mut self,
        request: RequestId,
        members: Vec<MemberId>,
        effects: &mut RoomEffects,
    ) {
        let Some(open) = self.state.open.get(&request) else { return };
        let known = self.witnesses.entry(request).or_default();
        for member in members {
            if known.contains(&member) {
                continue;
            }
            known.push(member.clone());
            // The audience of this room has had the event already.
            if !self.audience.contains(&member) {
                effects.then(RoomEffect::TellOne(member, RoomEvent::Requested(open.clone())));
            }
        }
    }

    /// Sends each event about a request to its witnesses.
    pub(crate) fn notify_witnesses(&mut self, event: &RoomEvent, encoded: Option<&EncodedEvent>) {
        let (request, is_over) = match event {
            RoomEvent::Requested(request) | RoomEvent::RequestedAgain(request) => {
                (request.id(), false)
            }
            RoomEvent::RequestUpdated(update) => (update.request.id(), false),
            RoomEvent::Resolved(request) => (request.id(), true),
            _ => return,
        };
        let Some(members) = self.witnesses.get(request) else { return };
        let elsewhere = |member: &&MemberId| !self.audience.contains(member);
        let members: Vec<_> = members.iter().filter(elsewhere).cloned().collect();
        if is_over {
            self.witnesses.remove(request);
        }
        if !members.is_empty() {
            self.shared.sink.notify(self.state.id(), &members, event, encoded);
        }
    }
}
