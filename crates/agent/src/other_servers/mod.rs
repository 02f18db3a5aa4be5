//! Calls of runs that another server of several makes, because it has the room that asks people.
//!
//! The server of the run stores such a call as a run of its own kind ([`record`]) and waits for its
//! end ([`asking`]). The server that has the room takes it up as it takes up any run that was left
//! behind, makes it, and stores its result ([`making`]). Nothing but the database connects them:
//! messages only make them look. A call is named after its request, whose name is stored with the
//! answer of the model; so it is made once, whichever of the two servers is lost.

pub(crate) mod asking;
pub(crate) mod making;
pub(crate) mod record;
pub(crate) mod runs;

use copydesk_ids::{RunId, SessionId};
use copydesk_placement::PeerMessage;

use crate::agent_shared::AgentShared;

impl AgentShared {
    /// Makes those look who wait for calls of other servers.
    pub(crate) fn note_call(&self) {
        self.call_news.send_modify(|count| *count += 1);
    }

    /// Tells all servers, this one too, that a call asks people, or is over.
    pub(crate) async fn tell_call(&self, session: &SessionId, name: &RunId) {
        self.note_call();
        self.tell_others(session, name).await;
    }

    /// Tells the other servers that a call is stored, asks people, or is over.
    pub(crate) async fn tell_others(&self, session: &SessionId, name: &RunId) {
        let message = PeerMessage::Call(session.clone(), name.clone());
        self.rooms.placement().tell(&message).await;
    }
}
