//! Readiness of the server: whether it can store a change and read it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::Mutex;

use copydesk_macros::boxed;
use copydesk_store::Store;

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
