//! News of this server for the others that share a PostgreSQL database, as they come up.

use std::time::Duration;

use tokio::time::MissedTickBehavior;

use super::{ClusterMember, DELIVERIES};
use copydesk_placement::Placement as _;
use copydesk_placement::{CountedApi, PeerMessage};

/// Number of documents in one message: what PostgreSQL carries is short.
const DOCUMENTS: usize = 50;
/// Number of people in one message, for the same reason.
const PEOPLE: usize = 50;
/// Interval at which other servers are sent how many requests people made here.
const TELL_REQUESTS: Duration = Duration::from_secs(1);

impl ClusterMember<'_> {
    /// Tells the server that sends deliveries when there may be new ones.
    pub(super) async fn tell_outbox(&self) {
        let mut changes = self.store.outbox_changes();
        while changes.changed().await.is_ok() {
            if !self.node.has_task(DELIVERIES) {
                self.node.tell(&PeerMessage::Outbox).await;
            }
        }
    }

    /// Tells other servers, for the programs that listen there, which documents have other names.
    pub(super) async fn tell_renames(&self) {
        let mut renames = self.changes.renames();
        while let Some(document) = renames.next().await {
            self.node.tell(&PeerMessage::Renamed(document)).await;
        }
    }

    /// Tells other servers to which documents programs here listen.
    pub(super) async fn tell_watched(&self) {
        let mut watched = self.changes.watched();
        loop {
            for documents in watched.next().await.chunks(DOCUMENTS) {
                self.node.tell(&PeerMessage::Watched(documents.to_vec())).await;
            }
        }
    }

    /// Tells other servers which texts have changed to which programs there listen.
    pub(super) async fn tell_texts(&self) {
        let mut texts = self.changes.for_others();
        while let Some(documents) = texts.next().await {
            for documents in documents.chunks(DOCUMENTS) {
                self.node.tell(&PeerMessage::Texts(documents.to_vec())).await;
            }
        }
    }

    /// Tells other servers how many requests people made here.
    pub(super) async fn tell_requests(&self) {
        let mut ticks = tokio::time::interval(TELL_REQUESTS);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            for api in [CountedApi::Rest, CountedApi::Messages] {
                for people in self.request_limit(api).take_untold().chunks(PEOPLE) {
                    self.node.tell(&PeerMessage::Requests(api, people.to_vec())).await;
                }
            }
        }
    }
}
