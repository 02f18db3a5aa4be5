//! Messages of this node to the others: stored in the database, and carried at once.

use async_recursion::async_recursion as boxed;

use super::{ClusterNode, MessageCarrier};
use copydesk_placement::PeerMessage;
use copydesk_store::StoreResult;
use copydesk_store::node_tables::MessageNotice;

impl ClusterNode {
    /// Tells the other nodes something. They know it at once, or when they look.
    #[boxed]
    pub async fn tell(&self, news: &PeerMessage) {
        let added = self.unstored.lock().add(self.own.number, news, self.key.as_ref());
        let Some(message) = added else { return };
        if let MessageCarrier::Redis(channel) = &self.carrier {
            channel.tell(message);
        }
        if let Err(error) = self.store_messages().await {
            tracing::warn!(%error, "cannot tell the other nodes yet");
        }
    }

    /// Stores the messages that wait for it. They wait on if it fails.
    pub(super) async fn store_messages(&self) -> StoreResult<()> {
        let _turn = self.storing.lock().await;
        loop {
            let next = self.unstored.lock().next();
            let Some((last, _)) = next.last() else { return Ok(()) };
            let notice = match &self.carrier {
                MessageCarrier::Database => MessageNotice::Notify,
                MessageCarrier::Redis(_) => MessageNotice::Stored,
            };
            self.tables.store(&next, notice).await?;
            self.unstored.lock().stored(*last);
        }
    }
}
