//! Tickets for calls of models on other nodes: each permits one call, on one node, for a short
//! time.
//!
//! A ticket is a message of the node that calls, which has the hash of a secret. So nothing is
//! permitted by it that was not permitted before: whoever can store a message is trusted with the
//! whole database. What was only carried does not count, since others may write there.

use std::collections::HashMap;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Semaphore;
use tokio::time::Instant;

use super::messages::{CallTicketRecord, NodeNews};
use super::{ClusterNode, read_message};
use crate::store::StoreResult;

/// Age in seconds up to which a ticket is accepted.
const TICKET_AGE_S: i32 = 30;
/// Time for which a used ticket is remembered: longer than the database would still find it.
const REMEMBERED: Duration = Duration::from_mins(2);

/// Tickets that were accepted, by their hashes, and when that was.
#[derive(Debug)]
pub(super) struct UsedTickets {
    used: Mutex<HashMap<String, Instant>>,
    /// Whoever shows wrong tickets keeps one connection to the database busy, and not all of them.
    asking: Semaphore,
}

impl Default for UsedTickets {
    fn default() -> Self {
        Self { used: Mutex::default(), asking: Semaphore::new(1) }
    }
}

impl UsedTickets {
    /// Records that a ticket is used; returns `false` if it was used before.
    fn note(&self, hash: String) -> bool {
        let mut used = self.used.lock();
        used.retain(|_, since| since.elapsed() < REMEMBERED);
        used.insert(hash, Instant::now()).is_none()
    }
}

impl ClusterNode {
    /// Stores a ticket for one call on the node of this number. It is found there at once.
    ///
    /// # Errors
    /// [`StoreError::Database`](crate::store::StoreError::Database) if it cannot be stored. It may
    /// be stored later then, and is not to be shown.
    pub async fn store_ticket(&self, to: i64, hash: String) -> StoreResult<()> {
        self.tell_now(&NodeNews::ModelCall(CallTicketRecord { to, hash })).await
    }

    /// Takes a ticket for a call on this node; returns the number of the node that stored it, or
    /// `None` if nobody did, if it is too old or of a node that was removed, or if it was taken
    /// before.
    ///
    /// # Errors
    /// [`StoreError::Database`](crate::store::StoreError::Database) if the database cannot be
    /// asked. Nothing is permitted then.
    pub async fn take_ticket(&self, hash: &str) -> StoreResult<Option<i64>> {
        // The semaphore is never closed; if it were, nothing would be permitted.
        let Ok(_turn) = self.used_tickets.asking.acquire().await else { return Ok(None) };
        let wanted = CallTicketRecord { to: self.address().number, hash: hash.to_owned() };
        let found = self.tables.messages_with(hash, TICKET_AGE_S).await?;
        let found = found.iter().find(|stored| {
            let read = read_message(&stored.message);
            read.is_some_and(|it| it.news == NodeNews::ModelCall(wanted.clone()))
        });
        let Some(found) = found else { return Ok(None) };
        Ok(self.used_tickets.note(wanted.hash).then_some(found.node))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_ticket_is_used_once_and_forgotten_when_it_is_too_old() {
        let tickets = UsedTickets::default();
        assert!(tickets.note("a".into()) && !tickets.note("a".into()) && tickets.note("b".into()));
        tokio::time::advance(Duration::from_secs(u64::from(TICKET_AGE_S.unsigned_abs()))).await;
        assert!(!tickets.note("a".into()), "the database may still find it");
        tokio::time::advance(REMEMBERED).await;
        assert!(tickets.note("c".into()));
        assert_eq!(tickets.used.lock().len(), 1);
    }
}
