//! Limit of one person: answers at the same time.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::messages_api::failure::ApiFailure;
use copydesk_connections::body_quota::HeldBody;
use copydesk_ids::UserId;

/// Maximum answers of one person that are being written or wait for people at the same time.
const ANSWERS_AT_ONCE: usize = 64;
/// Seconds after which a person with too many answers under way may try again.
pub(crate) const BUSY_S: u64 = 5;

/// Limits, with the current use of each person.
#[derive(Debug)]
pub(crate) struct AnswerLimits {
    under_way: Arc<Mutex<HashMap<UserId, usize>>>,
    /// Semaphore that lets one long body be parsed at a time.
    parsing: Arc<Semaphore>,
}

/// Permit for one answer from [`AnswerLimits::begin`]; released when dropped.
#[derive(Debug)]
pub(crate) struct AnswerPermit {
    user: UserId,
    under_way: Arc<Mutex<HashMap<UserId, usize>>>,
    /// Quota of the request's body, which stays in memory as long as the answer.
    _held: HeldBody,
}

impl AnswerLimits {
    pub(crate) fn new() -> Self {
        Self { under_way: Arc::default(), parsing: Arc::new(Semaphore::new(1)) }
    }

    /// Begins an answer, if there are not too many under way; `held` is the quota of the request's
    /// body.
    pub(crate) fn begin(&self, user: &UserId, held: HeldBody) -> Result<AnswerPermit, ApiFailure> {
        let mut under_way = self.under_way.lock();
        let count = under_way.entry(user.clone()).or_default();
        if *count >= ANSWERS_AT_ONCE {
            let words = format!("{ANSWERS_AT_ONCE} requests are already in progress");
            return Err(ApiFailure::too_many(words, BUSY_S));
        }
        *count += 1;
        Ok(AnswerPermit { user: user.clone(), under_way: Arc::clone(&self.under_way), _held: held })
    }

    pub(crate) async fn parsing_permit(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.parsing).acquire_owned().await.ok()
    }
}

impl Drop for AnswerPermit {
    fn drop(&mut self) {
        let mut under_way = self.under_way.lock();
        if let Some(count) = under_way.get_mut(&self.user) {
            *count -= 1;
            if *count == 0 {
                under_way.remove(&self.user);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use copydesk_connections::MemoryAccounts;
    use copydesk_connections::body_quota::BodyQuota;

    #[test]
    fn an_answer_that_is_over_makes_room_for_another() {
        let (limits, ana) = (AnswerLimits::new(), UserId::from("ana"));
        let begin = |user: &UserId| {
            limits.begin(user, BodyQuota::new(MemoryAccounts::new(usize::MAX)).begin(user))
        };
        let mut permits: Vec<_> =
            (0..ANSWERS_AT_ONCE).map(|_| begin(&ana).expect("room")).collect();
        assert_eq!(begin(&ana).expect_err("too many").retry_after_s, Some(BUSY_S));
        assert!(begin(&"ben".into()).is_ok());
        permits.pop();
        assert!(begin(&ana).is_ok());
        drop(permits);
        assert!(limits.under_way.lock().is_empty(), "no one is remembered who asks nothing");
    }
}
