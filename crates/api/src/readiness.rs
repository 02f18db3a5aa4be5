//! Readiness of the server, which is whether it can store a change and read it, and measurements of
//! what is open and what waits.

use async_recursion::async_recursion as boxed;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::Mutex;

use super::Application;
use copydesk_metrics as metrics;
use copydesk_store::{Store, StoreResult};

/// Time that an answer is reused: however often the route is asked, the store is tried at most this
/// often.
const HOLDS: Duration = Duration::from_secs(2);
/// Time that the store may take before it counts as not answering.
const LONGEST: Duration = Duration::from_secs(5);

/// Last answer of [`Readiness::check`]. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Readiness(Arc<Mutex<Option<ReadinessTrial>>>);

#[derive(Debug)]
struct ReadinessTrial {
    at: Instant,
    outcome: Result<(), &'static str>,
}

impl Readiness {
    /// Stores a value and reads it again, unless that was tried a moment ago.
    ///
    /// # Errors
    /// The failure, in words that tell nothing of the machine.
    #[boxed]
    pub async fn check(&self, store: &Store) -> Result<(), &'static str> {
        // Concurrent callers wait for one answer.
        let mut last = self.0.lock().await;
        if let Some(tried) = last.as_ref().filter(|tried| tried.at.elapsed() < HOLDS) {
            return tried.outcome;
        }
        let outcome = match tokio::time::timeout(LONGEST, store.probe()).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => {
                tracing::error!(%error, "the store failed a write test");
                Err("changes cannot be stored")
            }
            Err(_) => {
                tracing::error!("the store does not answer");
                Err("the store does not answer")
            }
        };
        *last = Some(ReadinessTrial { at: Instant::now(), outcome });
        outcome
    }
}

impl Application {
    /// Measures what is open and what waits on this server.
    pub fn measure(&self) {
        metrics::COMMIT_QUEUE.set_count(self.store.waiting_batches());
        self.rooms.measure();
        self.agents.measure();
    }

    /// Measures what waits in the database, and this server as one of several.
    ///
    /// # Errors
    /// The [`StoreError`](copydesk_store::StoreError) if the database cannot be read.
    #[boxed]
    pub async fn measure_store(&self) -> StoreResult<()> {
        let (requests, deliveries) = self.store.waiting_counts().await?;
        metrics::PENDING_REQUESTS.set_count(requests);
        metrics::WEBHOOK_QUEUE.set_count(deliveries);
        metrics::NODES.set_count(1);
        if let Some(node) = self.node() { node.measure().await } else { Ok(()) }
    }
}
