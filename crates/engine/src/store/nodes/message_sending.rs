//! Messages of this node to the others: stored in the database, and carried at once.

use async_recursion::async_recursion as boxed;

use super::messages::NodeNews;
use super::tables::MessageNotice;
use super::{ClusterNode, MessageCarrier};
use crate::store::StoreResult;

impl ClusterNode {
    /// Tells the other nodes something. They know it at once, or when they look.
    #[boxed]
    pub async fn tell(&self, news: &NodeNews) {
        if let Err(error) = self.tell_now(news).await {
            tracing::warn!(%error, "cannot tell the other nodes yet");
        }
    }

    /// Tells the other nodes something that is stored when this returns. If that fails, it is still
    /// told later.
    pub(super) async fn tell_now(&self, news: &NodeNews) -> StoreResult<()> {
        let added = self.unstored.lock().add(self.own.number, news, self.key.as_ref());
        let Some(message) = added else { return Ok(()) };
        if let MessageCarrier::Redis(channel) = &self.carrier {
            channel.tell(message);
        }
        self.store_messages().await
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
