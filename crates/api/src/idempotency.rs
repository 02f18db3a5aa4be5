//! Writes that are not done again when they are sent again.

use copydesk_macros::boxed;
use copydesk_store::{IdempotencyRecord, StoreError, StoreOp, WriteBatch};

use super::{ApiResult, Application};

/// Lifetime of a key, in milliseconds.
const LIFE_MS: u64 = 24 * 60 * 60 * 1_000;

#[boxed]
impl Application {
    /// Stores that a write with a key begins, or returns the record of an earlier one that is not
    /// too old. On an error the write must not begin.
    ///
    /// # Errors
    /// [`Unavailable`](super::ErrorCode::Unavailable) if the store can neither read nor write the
    /// record; the write must not begin then.
    pub async fn begin_keyed_write(
        &self,
        begun: &IdempotencyRecord,
    ) -> ApiResult<Option<IdempotencyRecord>> {
        loop {
            let known = self.store.once(&begun.user, &begun.key).await?;
            let known = known.filter(|it| begun.at_ms.saturating_sub(it.at_ms) < LIFE_MS);
            if known.is_some() {
                return Ok(known);
            }
            let before_ms = begun.at_ms.saturating_sub(LIFE_MS);
            let forget = WriteBatch::from(StoreOp::ForgetOldOnces { before_ms });
            match self.store.commit(forget.with(StoreOp::BeginOnce(begun.clone()))).await {
                Ok(()) => return Ok(None),
                // Another server began it at the same moment. If that came to nothing, it is begun
                // again.
                Err(StoreError::Exists { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Stores the answer to a write with a key; without one, the key can be used again.
    ///
    /// # Errors
    /// [`Unavailable`](super::ErrorCode::Unavailable) if the store does not take the answer.
    pub async fn end_keyed_write(&self, ended: IdempotencyRecord) -> ApiResult<()> {
        let op = match ended.answer {
            Some(_) => StoreOp::PutOnce(ended),
            None => StoreOp::ForgetOnce { user: ended.user, key: ended.key },
        };
        Ok(self.store.commit(op).await?)
    }
}
