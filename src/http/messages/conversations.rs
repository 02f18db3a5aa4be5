//! What is common to all requests of the Messages API: the secret of the keys, what is remembered, and the limits.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::auth::{AuthError, Secret};
use crate::messages::canonical::Conversation;
use crate::messages::memory::{Bounds, Memory};

use super::limits::Limits;

/// The conversations of the Messages API. Clones are the same ones.
#[derive(Clone, Debug)]
pub struct Conversations(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    secret: Secret,
    memory: Mutex<Memory>,
    limits: Limits,
}

impl Conversations {
    /// None yet. What is remembered of them lives as long as the process, and so does the secret of their keys.
    pub fn new() -> Result<Self, AuthError> {
        let memory = Mutex::new(Memory::new(Bounds::default()));
        let inner = Inner { secret: Secret::generate()?, memory, limits: Limits::new() };
        Ok(Self(Arc::new(inner)))
    }

    pub(super) fn limits(&self) -> &Limits {
        &self.0.limits
    }

    pub(super) fn memory(&self) -> MutexGuard<'_, Memory> {
        // The memory is consistent between any two statements.
        self.0.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A conversation about everything in `scope`.
    pub(super) fn begin(&self, scope: &[&str]) -> Option<Conversation> {
        Conversation::begin(self.0.secret.expose().as_bytes(), scope)
    }
}
