//! State shared by all requests of the Messages API: the secret of the keys, the cache of
//! conversations, and the limits.
//!
//! A conversation in which tools of this server were used is kept in the store too: the program was
//! not shown their calls, and they must not run again because the server was restarted.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::messages_api::conversation_cache::{ConversationCache, KnownConversation, MemoryBounds};
use crate::messages_api::conversation_hash::{CanonicalConversation, ConversationHash};
use crate::messages_api::failure::ApiFailure;
use copydesk_api::{AnswerRecord, ApiResult, StoredAnswers};
use copydesk_auth::{AuthResult, TokenSecret};
use copydesk_ids::UserId;

use super::limits::AnswerLimits;

/// Conversations of the Messages API. Clones share one state.
#[derive(Clone, Debug)]
pub struct Conversations(Arc<ConversationsInner>);

#[derive(Debug)]
struct ConversationsInner {
    stored: StoredAnswers,
    secret: TokenSecret,
    bounds: MemoryBounds,
    memory: Mutex<ConversationCache>,
    limits: AnswerLimits,
}

/// Decision whether a conversation outlives the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConversationLifetime {
    Yes,
    /// Nothing is stored, because the program was shown all that matters.
    No,
}

impl Conversations {
    /// Opens the stored conversations, and generates the secret of their keys if there is none yet.
    pub async fn open(stored: StoredAnswers) -> AuthResult<Self> {
        let secret = stored.secret().await?;
        let bounds = MemoryBounds::default();
        let memory = Mutex::new(ConversationCache::new(bounds));
        let limits = AnswerLimits::new();
        Ok(Self(Arc::new(ConversationsInner { stored, secret, bounds, memory, limits })))
    }

    pub(crate) fn limits(&self) -> &AnswerLimits {
        &self.0.limits
    }

    /// Begins a conversation about everything in `scope`.
    pub(crate) fn begin(&self, scope: &[&str]) -> Option<CanonicalConversation> {
        CanonicalConversation::begin(self.0.secret.expose().as_bytes(), scope)
    }

    /// Returns the [`KnownConversation`] of a person's conversation up to each of these answers.
    pub(crate) async fn recall(
        &self,
        user: &UserId,
        keys: &[ConversationHash],
        durable: ConversationLifetime,
        now_ms: u64,
    ) -> Result<HashMap<ConversationHash, KnownConversation>, ApiFailure> {
        let mut known = HashMap::new();
        let mut missing = HashMap::new();
        {
            let mut memory = self.0.memory.lock();
            for key in keys {
                match memory.recall(user, key, now_ms) {
                    Some(found) => drop(known.insert(*key, found)),
                    None => drop(missing.insert(key.to_string(), *key)),
                }
            }
        }
        if durable == ConversationLifetime::No || missing.is_empty() {
            return Ok(known);
        }
        let names: Vec<_> = missing.keys().cloned().collect();
        let since_ms = now_ms.saturating_sub(self.0.bounds.idle_ms);
        // A failed read is no ordinary miss: without the entry, tools might run a second time.
        let found = self.0.stored.find(user, &names, since_ms).await.map_err(unreadable)?;
        for kept in found {
            let found: KnownConversation = serde_json::from_value(kept.body).map_err(unreadable)?;
            if let Some(key) = missing.get(&kept.key) {
                self.0.memory.lock().keep(user, *key, found.clone(), now_ms);
                known.insert(*key, found);
            }
        }
        Ok(known)
    }

    /// Stores an answer; `before` are the earlier answers of the conversation, which are marked as
    /// used.
    pub(crate) async fn keep(
        &self,
        user: &UserId,
        key: ConversationHash,
        known: KnownConversation,
        before: &[ConversationHash],
        durable: ConversationLifetime,
        now_ms: u64,
    ) {
        if durable == ConversationLifetime::Yes
            && let Err(error) = self.store(user, key, &known, before, now_ms).await
        {
            // The calls have run, and this process still knows them.
            tracing::error!(%error, "cannot store the hidden part of an answer");
        }
        self.0.memory.lock().keep(user, key, known, now_ms);
    }

    async fn store(
        &self,
        user: &UserId,
        key: ConversationHash,
        known: &KnownConversation,
        before: &[ConversationHash],
        now_ms: u64,
    ) -> ApiResult<()> {
        let ConversationsInner { stored, bounds, .. } = &*self.0;
        // The value has only texts and numbers, so it can always be written.
        let body = serde_json::to_value(known).unwrap_or_default();
        let (user, key) = (user.clone(), key.to_string());
        let answer = AnswerRecord { user, key, used_ms: now_ms, body };
        let earlier = before.iter().map(ConversationHash::to_string).collect();
        let (before_ms, most_bytes) =
            (now_ms.saturating_sub(bounds.idle_ms), bounds.person_bytes as u64);
        stored.put_next(answer, earlier, before_ms, most_bytes).await
    }
}

fn unreadable(error: impl std::error::Error) -> ApiFailure {
    tracing::error!(%error, "cannot read the hidden part of an answer");
    ApiFailure::new(529, "the store does not answer; nothing was changed")
}
