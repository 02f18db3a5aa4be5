//! Admission of files to be read: their number for each person, and their memory.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{Mutex as PersonLock, Semaphore, oneshot};

use crate::{ApiError, ApiResult};
use copydesk_cpu_pool as cpu_pool;
use copydesk_ids::UserId;

/// Memory of all files that are being read, as estimated, in KiB.
const MEMORY_KIB: usize = 256 * 1024;

/// Admission of files to be read: one of each person at a time, together within [`MEMORY_KIB`].
#[derive(Clone, Debug)]
pub(crate) struct ImportAdmission {
    people: Arc<Mutex<HashMap<UserId, Arc<PersonLock<()>>>>>,
    memory: Arc<Semaphore>,
}

impl Default for ImportAdmission {
    fn default() -> Self {
        Self { people: Arc::default(), memory: Arc::new(Semaphore::new(MEMORY_KIB)) }
    }
}

impl ImportAdmission {
    /// Runs `read` on the pool, once the earlier reads of `person` have ended and its memory, in
    /// bytes, is free. What it holds is free again when it ends, also without a caller that waits.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        person: &UserId,
        memory: usize,
        time: Duration,
        read: impl FnOnce() -> T + Send + 'static,
    ) -> ApiResult<T> {
        let turn = self.person_lock(person).lock_owned().await;
        let kib = u32::try_from((memory / 1024 + 1).min(MEMORY_KIB)).unwrap_or(u32::MAX);
        let memory = Arc::clone(&self.memory).acquire_many_owned(kib).await;
        let memory = memory.map_err(|_| ApiError::internal())?;
        let (waits, started) = oneshot::channel::<()>();
        let job = cpu_pool::run(person.as_str(), move || {
            let _held = (turn, memory);
            drop(waits);
            read()
        });
        tokio::pin!(job);
        let lost = |_| ApiError::internal();
        tokio::select! {
            done = &mut job => return done.map_err(lost),
            _ = started => {}
        }
        let Ok(done) = tokio::time::timeout(time, job).await else {
            let message = format!("reading this took longer than {} s", time.as_secs());
            return Err(ApiError::unprocessable(message));
        };
        done.map_err(lost)
    }

    fn person_lock(&self, person: &UserId) -> Arc<PersonLock<()>> {
        let mut people = self.people.lock();
        // Locks without a holder are removed.
        people.retain(|user, lock| user == person || Arc::strong_count(lock) > 1);
        Arc::clone(people.entry(person.clone()).or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HTML_TIME: Duration = Duration::from_secs(2);

    #[tokio::test]
    async fn files_of_one_person_are_read_one_after_the_other_and_all_within_the_memory() {
        let admission = ImportAdmission::default();
        let (ana, bo) = (UserId::from("ana"), UserId::from("bo"));
        let (release, held) = std::sync::mpsc::channel::<()>();
        let first = tokio::spawn({
            let (admission, ana) = (admission.clone(), ana.clone());
            async move { admission.run(&ana, 200 << 20, HTML_TIME, move || held.recv()).await }
        });
        while admission.memory.available_permits() == MEMORY_KIB {
            tokio::task::yield_now().await;
        }
        let [second, large] = [(&ana, 1 << 10), (&bo, 100 << 20)].map(|(person, memory)| {
            let (admission, person) = (admission.clone(), person.clone());
            tokio::spawn(async move { admission.run(&person, memory, HTML_TIME, || 2).await })
        });
        tokio::task::yield_now().await;
        assert!(!second.is_finished() && !large.is_finished());
        release.send(()).unwrap();
        assert_eq!(first.await.unwrap().unwrap(), Ok(()));
        assert_eq!(second.await.unwrap().unwrap(), 2);
        assert_eq!(large.await.unwrap().unwrap(), 2);
        assert_eq!(admission.memory.available_permits(), MEMORY_KIB);
    }

    #[tokio::test(start_paused = true)]
    async fn what_takes_too_long_is_refused_and_holds_its_memory_until_it_ends() {
        let (admission, ana) = (ImportAdmission::default(), UserId::from("ana"));
        let (release, held) = std::sync::mpsc::channel::<()>();
        let late = admission.run(&ana, 1 << 20, HTML_TIME, move || held.recv());
        let refused = late.await.unwrap_err();
        assert_eq!(refused.message, "reading this took longer than 2 s");
        assert!(admission.memory.available_permits() < MEMORY_KIB);
        tokio::time::resume();
        release.send(()).unwrap();
        assert_eq!(admission.run(&ana, 1, HTML_TIME, || 1).await.unwrap(), 1);
    }
}
