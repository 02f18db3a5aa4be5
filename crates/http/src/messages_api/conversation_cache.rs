//! Cache of the parts of conversations that the clients were not shown: bounded, with idle entries
//! dropped.
//!
//! Entries are immutable values: two requests that continue from the same place both find the
//! entry, and so does a request that is sent again. Without an entry the conversation is what the
//! client sends.

use std::collections::HashMap;
use std::sync::Arc;

use lru::LruCache;
use serde::{Deserialize, Serialize};

use copydesk_ids::{SessionId, UserId, Version};
use copydesk_llm::messages_api::{ChatMessage, ContentBlock};

use super::conversation_hash::ConversationHash;

/// Bytes that a block takes besides its text.
const BLOCK_BYTES: usize = 64;

/// Knowledge about a conversation up to one answer, as the [`ConversationCache`] keeps it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KnownConversation {
    /// Session to which the conversation belongs.
    pub session: SessionId,
    /// Complete content of that answer, where the client was shown less.
    pub hidden: Option<Arc<HiddenAnswer>>,
    /// Version of the document that the model has read.
    pub read: Option<Version>,
}

/// Answer as the model gave it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HiddenAnswer {
    /// Messages that stand for the one the client was shown; the last is the model's.
    pub said: Vec<ChatMessage>,
    /// Results of the calls in the last message that ran on this server; the client brings the
    /// others.
    pub held: Vec<ContentBlock>,
}

/// Bounds of the memory that a [`ConversationCache`] may take.
#[derive(Clone, Copy, Debug)]
pub struct MemoryBounds {
    /// Maximum number of answers of one person.
    pub entries: usize,
    /// Maximum bytes of hidden messages of one person.
    pub person_bytes: usize,
    /// Maximum bytes of hidden messages of all people.
    pub bytes: usize,
    /// Milliseconds after which an unused conversation is forgotten.
    pub idle_ms: u64,
}

impl Default for MemoryBounds {
    fn default() -> Self {
        let (entries, idle_ms) = (10_000, 24 * 60 * 60 * 1_000);
        Self { entries, person_bytes: 16 * 1024 * 1024, bytes: 64 * 1024 * 1024, idle_ms }
    }
}

/// Cache of [`KnownConversation`]s, with a separate part for each person, so that no one crowds out
/// the others.
#[derive(Debug, Default)]
pub struct ConversationCache {
    bounds: MemoryBounds,
    people: HashMap<UserId, PersonCache>,
    bytes: usize,
    /// Number of uses, which says whose idle entries are dropped next.
    uses: usize,
}

#[derive(Debug)]
struct PersonCache {
    slots: LruCache<ConversationHash, CacheSlot>,
    bytes: usize,
}

impl Default for PersonCache {
    fn default() -> Self {
        Self { slots: LruCache::unbounded(), bytes: 0 }
    }
}

#[derive(Debug)]
struct CacheSlot {
    known: KnownConversation,
    bytes: usize,
    used_ms: u64,
}

impl ConversationCache {
    /// Returns an empty cache.
    pub fn new(bounds: MemoryBounds) -> Self {
        Self { bounds, ..Self::default() }
    }

    /// Returns the entry under `key`, and counts it as used.
    pub fn recall(
        &mut self,
        user: &UserId,
        key: &ConversationHash,
        now_ms: u64,
    ) -> Option<KnownConversation> {
        self.forget_idle(user, now_ms);
        let slot = self.people.get_mut(user)?.slots.get_mut(key)?;
        slot.used_ms = now_ms;
        Some(slot.known.clone())
    }

    /// Stores an answer. Entries beyond the [`MemoryBounds`] are dropped, the longest unused first.
    pub fn keep(
        &mut self,
        user: &UserId,
        key: ConversationHash,
        known: KnownConversation,
        now_ms: u64,
    ) {
        self.forget_idle(user, now_ms);
        let bytes = known.hidden.as_deref().map_or(0, HiddenAnswer::bytes);
        if bytes > self.bounds.person_bytes {
            return;
        }
        let owned = self.people.entry(user.clone()).or_default();
        self.bytes -= owned.remove(&key);
        owned.slots.put(key, CacheSlot { known, bytes, used_ms: now_ms });
        owned.bytes += bytes;
        self.bytes += bytes;
        while owned.slots.len() > self.bounds.entries || owned.bytes > self.bounds.person_bytes {
            self.bytes -= owned.remove_oldest();
        }
        while self.bytes > self.bounds.bytes {
            // The person with the most bytes loses an entry first.
            let Some(fullest) = self.people.values_mut().max_by_key(|owned| owned.bytes) else {
                break;
            };
            self.bytes -= fullest.remove_oldest();
        }
    }

    /// Returns the number of answers in the cache.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.people.values().map(|owned| owned.slots.len()).sum()
    }

    /// Drops idle entries: all of this person's, and those of one other person per call.
    fn forget_idle(&mut self, user: &UserId, now_ms: u64) {
        let since_ms = now_ms.saturating_sub(self.bounds.idle_ms);
        self.uses = self.uses.wrapping_add(1);
        let other = self.people.keys().nth(self.uses % self.people.len().max(1)).cloned();
        for user in [Some(user.clone()), other].into_iter().flatten() {
            let Some(owned) = self.people.get_mut(&user) else { continue };
            while owned.oldest().is_some_and(|slot| slot.used_ms < since_ms) {
                self.bytes -= owned.remove_oldest();
            }
            if owned.slots.is_empty() {
                self.people.remove(&user);
            }
        }
    }
}

impl PersonCache {
    fn oldest(&self) -> Option<&CacheSlot> {
        self.slots.peek_lru().map(|(_, slot)| slot)
    }

    fn remove(&mut self, key: &ConversationHash) -> usize {
        let removed = self.slots.pop(key).map_or(0, |slot| slot.bytes);
        self.bytes -= removed;
        removed
    }

    fn remove_oldest(&mut self) -> usize {
        let removed = self.slots.pop_lru().map_or(0, |(_, slot)| slot.bytes);
        self.bytes -= removed;
        removed
    }
}

impl HiddenAnswer {
    /// Returns the approximate number of bytes of text.
    fn bytes(&self) -> usize {
        let said = self.said.iter().flat_map(|message| &message.content);
        said.chain(&self.held).map(|block| BLOCK_BYTES + block.text_bytes()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::super::conversation_hash::CanonicalConversation;
    use super::*;

    fn key(name: &str) -> ConversationHash {
        CanonicalConversation::begin(b"secret", &[name]).expect("any secret").key()
    }

    fn known(session: &str, hidden_bytes: usize) -> KnownConversation {
        let text = "x".repeat(hidden_bytes.saturating_sub(64));
        let said = vec![ChatMessage::assistant(vec![ContentBlock::text(text)])];
        let hidden = (hidden_bytes > 0).then(|| Arc::new(HiddenAnswer { said, held: Vec::new() }));
        KnownConversation { session: session.into(), hidden, read: None }
    }

    fn small() -> ConversationCache {
        ConversationCache::new(MemoryBounds {
            entries: 3,
            person_bytes: 1_000,
            bytes: 1_500,
            idle_ms: 100,
        })
    }

    fn session(
        memory: &mut ConversationCache,
        user: &str,
        name: &str,
        now_ms: u64,
    ) -> Option<String> {
        memory.recall(&user.into(), &key(name), now_ms).map(|known| known.session.to_string())
    }

    #[test]
    fn the_longest_unused_is_forgotten_first() {
        let (mut memory, ana) = (small(), UserId::from("ana"));
        for name in ["a", "b", "c"] {
            memory.keep(&ana, key(name), known(name, 0), 0);
        }
        session(&mut memory, "ana", "a", 1);
        memory.keep(&ana, key("d"), known("d", 0), 1);
        let left: Vec<_> =
            ["a", "b", "c", "d"].map(|name| session(&mut memory, "ana", name, 1).is_some()).into();
        assert_eq!(left, [true, false, true, true]);
        memory.keep(&ana, key("d"), known("again", 0), 1);
        assert_eq!(
            (session(&mut memory, "ana", "d", 1).as_deref(), memory.len()),
            (Some("again"), 3)
        );
    }

    #[test]
    fn idle_conversations_are_forgotten_and_used_ones_are_not() {
        let (mut memory, ana, ben) = (small(), UserId::from("ana"), UserId::from("ben"));
        memory.keep(&ana, key("a"), known("a", 10), 0);
        memory.keep(&ben, key("b"), known("b", 10), 0);
        assert!(session(&mut memory, "ana", "a", 90).is_some());
        assert!(session(&mut memory, "ana", "a", 180).is_some());
        assert!(session(&mut memory, "ana", "a", 281).is_none());
        for _ in 0..2 {
            session(&mut memory, "ana", "a", 281);
        }
        assert_eq!((memory.len(), memory.bytes), (0, 0), "also of those who never come back");
    }

    #[test]
    fn no_one_crowds_out_the_others() {
        let mut memory = small();
        memory.keep(&"ben".into(), key("b"), known("b", 600), 0);
        for name in ["a", "c", "d"] {
            memory.keep(&"ana".into(), key(name), known(name, 400), 0);
        }
        assert!(session(&mut memory, "ben", "b", 0).is_some());
        assert!(session(&mut memory, "ana", "a", 0).is_none());
        assert!(memory.bytes <= 1_500);
        memory.keep(&"ana".into(), key("e"), known("e", 1_001), 0);
        assert!(session(&mut memory, "ana", "e", 0).is_none(), "too much for one");
    }

    #[test]
    fn the_same_key_of_two_people_is_two_conversations() {
        let mut memory = small();
        memory.keep(&"ana".into(), key("a"), known("hers", 0), 0);
        assert_eq!(session(&mut memory, "ben", "a", 0), None);
    }
}
