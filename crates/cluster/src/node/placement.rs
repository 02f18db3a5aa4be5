//! Placement by the leases of nodes.

use async_trait::async_trait;
use tokio::sync::watch;
use tokio::time::timeout;

use super::sightings::SILENT;
use super::{ClusterNode, LeaseHolder, MessageCarrier, document_lease, task_lease};
use copydesk_ids::DocumentId;
use copydesk_metrics as metrics;
use copydesk_placement::{ClaimError, NotHere, OtherServer, PeerMessage, Placement};
use copydesk_store::StoreResult;

#[async_trait]
impl Placement for ClusterNode {
    fn is_shared(&self) -> bool {
        true
    }

    async fn claim(&self, document: &DocumentId) -> Result<(), ClaimError> {
        match self.lease_document(document).await? {
            Some(LeaseHolder::Here) => Ok(()),
            Some(LeaseHolder::Elsewhere(node)) => Err(NotHere::OtherServer(node).into()),
            None => Err(ClaimError::NoDocument),
        }
    }

    async fn claim_new(&self, document: &DocumentId) -> StoreResult<()> {
        self.lease(document_lease(document), None).await.map(drop)
    }

    async fn release(&self, document: &DocumentId) {
        let name = document_lease(document);
        // The node that takes it again begins another term: this one is given back once, also if no
        // node knows whether and when that arrives.
        let Some(term) = self.terms.lock().remove(&name) else { return };
        if let Err(error) = self.tables.release(&name, term).await {
            tracing::warn!(%error, %document, "cannot give back a document; it stays here");
        }
    }

    async fn release_all(&self) {
        match self.tables.release_all().await {
            Ok(()) => self.tell(&PeerMessage::Released).await,
            Err(error) => tracing::warn!(%error, "cannot give back what this node has"),
        }
    }

    async fn other_server_of(&self, document: &DocumentId) -> StoreResult<Option<OtherServer>> {
        self.other_node(document_lease(document)).await
    }

    async fn claim_task(&self, task: &str) -> StoreResult<bool> {
        Ok(self.lease_task(task).await? == LeaseHolder::Here)
    }

    async fn await_task(&self, task: &str) {
        let mut departures = self.departures();
        loop {
            match self.claim_task(task).await {
                Ok(true) => return,
                Ok(false) => {}
                Err(error) => tracing::warn!(%error, task, "cannot take over a task"),
            }
            // An error is tried again, and so is what was missed.
            timeout(SILENT, departures.changed()).await.ok();
            self.elsewhere.lock().remove(&task_lease(task));
        }
    }

    fn has_task(&self, task: &str) -> bool {
        self.tasks.lock().contains(task)
    }

    async fn other_server_of_task(&self, task: &str) -> StoreResult<Option<OtherServer>> {
        self.other_node(task_lease(task)).await
    }

    async fn tell(&self, message: &PeerMessage) {
        let added = self.unstored.lock().add(self.own.number, message, self.key.as_ref());
        let Some(added) = added else { return };
        if let MessageCarrier::Redis(channel) = &self.carrier {
            channel.tell(added);
        }
        if let Err(error) = self.store_messages().await {
            tracing::warn!(%error, "cannot tell the other nodes yet");
        }
    }

    fn departures(&self) -> watch::Receiver<u64> {
        self.departures.subscribe()
    }

    fn note_departure(&self) {
        self.elsewhere.lock().clear();
        self.departures.send_modify(|count| *count += 1);
    }

    fn forget_server(&self, server: &OtherServer) {
        self.forget_node(server.number);
    }

    async fn measure(&self) -> StoreResult<()> {
        metrics::NODES.set_count(self.sightings.lock().count() + 1);
        metrics::NODE_LAG_SECONDS.set(self.looked.lock().elapsed().as_secs_f64());
        metrics::NODE_DOCUMENTS.set_count(self.tables.leased_documents().await?);
        Ok(())
    }
}
