//! Calls of runs that another server makes, because it has the room that asks people.
//!
//! The server of the run stores such a call as a run of its own kind ([`record`]) and waits for its
//! end ([`asking`]). The server that has the room takes it up as it takes up any run that was left
//! behind, makes it, and stores its result ([`making`]). Nothing but the database connects them:
//! messages only make them look. A call is named after its request, whose name is stored with the
//! answer of the model; so it is made once, whichever of the two servers is lost.

mod asking;
mod making;
mod record;

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use copydesk_agent::{AskResult, CallMaker, MadeCall, RunCall};
use copydesk_ids::{RunId, SessionId};
use copydesk_placement::{PeerMessage, Placement as _};
use copydesk_rooms::RoomRegistry;
use copydesk_rooms::command::DocumentSnapshot;
use copydesk_rooms::text_at;
use copydesk_store::Store;

use self::record::ReadVersion;
use super::node::ClusterNode;

/// Calls that this server has others make, and makes for them. Clones share them.
#[derive(Clone)]
pub struct ForwardedCalls {
    node: Arc<ClusterNode>,
    store: Store,
    /// Number of times that calls may have gone on.
    news: watch::Sender<u64>,
    /// Tokens that stop the calls that this server makes, by session and name.
    made_here: Arc<Mutex<HashMap<(SessionId, RunId), CancellationToken>>>,
    /// Lock held while a call is taken up.
    taking: Arc<tokio::sync::Mutex<()>>,
}

#[async_trait]
impl CallMaker for ForwardedCalls {
    async fn make(&self, made: RunCall<'_>) -> AskResult<MadeCall> {
        match made.agents.tools().attempt(made.context, made.call, made.cancel).await {
            Ok(finished) => Ok(finished.into()),
            Err(place) => self.forward(made, &place).await,
        }
    }

    async fn resume(&self, made: RunCall<'_>) -> AskResult<Option<MadeCall>> {
        if self.was_forwarded(made).await? {
            return self.finish(made, async {}).await.map(Some);
        }
        match made.agents.tools().resume(made.context, made.call, made.cancel).await {
            None => Ok(None),
            Some(Ok(finished)) => Ok(Some(finished.into())),
            Some(Err(place)) => self.forward(made, &place).await.map(Some),
        }
    }
}

impl ForwardedCalls {
    pub(super) fn new(node: Arc<ClusterNode>, store: Store) -> Self {
        let (news, made_here, taking) = (watch::Sender::new(0), Arc::default(), Arc::default());
        Self { node, store, news, made_here, taking }
    }

    /// Makes those look who wait for calls of other servers.
    pub(super) fn note_news(&self) {
        self.news.send_modify(|count| *count += 1);
    }

    /// Tells the other servers that a call is stored, asks people, or is over.
    async fn tell(&self, session: &SessionId, name: &RunId) {
        self.node.tell(&PeerMessage::Call(session.clone(), name.clone())).await;
    }

    /// Stops a call, if this server makes it.
    pub(super) fn stop(&self, session: &SessionId, name: &RunId) {
        if let Some(cancel) = self.made_here.lock().get(&(session.clone(), name.clone())) {
            cancel.cancel();
        }
    }

    /// Returns a document at a version that was read; `None` if it cannot be read any more.
    async fn snapshot_at(
        &self,
        rooms: &RoomRegistry,
        read: &ReadVersion,
        person: &str,
    ) -> Option<DocumentSnapshot> {
        let ReadVersion { document, version, .. } = read;
        let now = rooms.open_in_place(document).await.ok()?.read().await.ok()?;
        if now.version == *version {
            return Some(now);
        }
        let text = text_at(&self.store, document, *version, person).await.ok()?;
        Some(DocumentSnapshot { version: *version, text, ..now })
    }
}
