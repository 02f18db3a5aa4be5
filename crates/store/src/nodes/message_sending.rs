//! Messages of this node to the others: stored in the database, and carried at once.

use async_recursion::async_recursion as boxed;

use super::messages::NodeNews;
use super::tables::MessageNotice;
use super::{ClusterNode, MessageCarrier};
use crate::StoreResult;

impl ClusterNode {
    /// Tells the other nodes something. They know it at once, or when they look.
    #[boxed]
    pub async fn tell(&self, news: &NodeNews) {
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
