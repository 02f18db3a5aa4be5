//! Answers of the Messages API that are kept for programs: the parts that they were not shown.

use copydesk_auth::{AuthError, TokenSecret};
use copydesk_ids::UserId;
use copydesk_macros::boxed;
use copydesk_store::{AnswerRecord, Store, StoreOp, WriteBatch};

use super::ApiResult;

const SECRET: &str = "messages_secret";

/// Kept answers. Clones share one store.
#[derive(Clone, Debug)]
pub struct StoredAnswers(Store);

#[boxed]
impl StoredAnswers {
    /// Returns the answers in this store.
    pub fn new(store: Store) -> Self {
        Self(store)
    }

    /// Returns the secret of the answers' keys, and generates it if there is none yet.
    ///
    /// # Errors
    /// [`AuthError`] if the store cannot be used or holds no valid secret.
    pub async fn secret(&self) -> Result<TokenSecret, AuthError> {
        if let Some(kept) = self.0.setting(SECRET).await? {
            return TokenSecret::chosen(&kept);
        }
        let made = TokenSecret::generate()?;
        let (key, value) = (SECRET.to_owned(), made.expose().to_owned());
        self.0.commit(StoreOp::PutSetting { key, value }).await?;
        Ok(made)
    }

    /// Returns the answers under these keys that a person's programs used at `since_ms` or later.
    ///
    /// # Errors
    /// [`Unavailable`](super::ErrorCode::Unavailable) if the store cannot read the answers.
    pub async fn find(
        &self,
        user: &UserId,
        keys: &[String],
        since_ms: u64,
    ) -> ApiResult<Vec<AnswerRecord>> {
        Ok(self.0.answers(user, keys, since_ms).await?)
    }

    /// Stores the answer that follows those under `earlier`, which are marked as used. Removes
    /// answers that were last used before `before_ms`, and the oldest ones of more than
    /// `most_bytes`.
    ///
    /// # Errors
    /// [`Unavailable`](super::ErrorCode::Unavailable) if the store does not take the answer; the
    /// earlier ones are not marked then.
    pub async fn put_next(
        &self,
        answer: AnswerRecord,
        earlier: Vec<String>,
        before_ms: u64,
        most_bytes: u64,
    ) -> ApiResult<()> {
        let (user, at_ms) = (answer.user.clone(), answer.used_ms);
        let mark = StoreOp::UseAnswers { user: user.clone(), keys: earlier, at_ms };
        let batch = WriteBatch::from(mark)
            .with(StoreOp::PutAnswer(answer))
            .with(StoreOp::ForgetAnswers { user, before_ms, most_bytes });
        Ok(self.0.commit(batch).await?)
    }
}
