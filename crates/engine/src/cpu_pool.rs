//! Pool for work that takes longer than about a millisecond, away from the threads that serve
//! connections.
//!
//! The threads of the asynchronous runtime serve everybody, so no work on them may take long. Long
//! work is given to the few threads of this pool ([`run`]). On Linux these have a low scheduling
//! priority: a thread that serves connections takes the processor from them at once, and jobs share
//! what is left. Elsewhere there is one thread fewer than processors.
//!
//! Each person has one job at a time in the pool; their other jobs wait outside of it. So a person
//! who causes much work waits for their own work, and others wait for at most one job of theirs.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, mpsc};

use tokio::sync::{Mutex as PersonLock, oneshot};

use crate::metrics;

/// Error of a job that panicked. All that it was given is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the server could not finish this computation")]
pub struct JobLost;

type PoolJob = Box<dyn FnOnce() + Send>;

/// Threads of this process's pool, and the locks of people who have jobs there.
struct CpuPool {
    jobs: mpsc::Sender<PoolJob>,
    /// Locks by person; held by the person's job while it waits for a thread and runs.
    person_locks: Mutex<HashMap<String, Arc<PersonLock<()>>>>,
}

/// Runs `work` on a thread of the pool, after the earlier jobs of the same `person`. `person` is a
/// user, or a document where nobody asked.
///
/// # Errors
/// [`JobLost`] if the work panicked.
pub async fn run<T: Send + 'static>(
    person: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, JobLost> {
    let pool = pool();
    let person_lock = pool.person_lock(person).lock_owned().await;
    let (sender, done) = oneshot::channel();
    let job = move || {
        metrics::CPU_QUEUE.shrink();
        let made = catch_unwind(AssertUnwindSafe(work));
        // Released by the job, not by its caller: a caller that stops waiting ends no job.
        drop(person_lock);
        if let Ok(made) = made {
            sender.send(made).ok();
        }
    };
    metrics::CPU_QUEUE.grow();
    pool.jobs.send(Box::new(job)).map_err(|_| JobLost)?;
    done.await.map_err(|_| JobLost)
}

/// Runs `work` on the pool as [`run`] does if it is `long`, else at once on the caller's thread.
///
/// # Errors
/// [`JobLost`] if the work panicked on the pool.
pub async fn run_if<T: Send + 'static>(
    long: bool,
    person: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, JobLost> {
    if long { run(person, work).await } else { Ok(work()) }
}

fn pool() -> &'static CpuPool {
    static POOL: OnceLock<CpuPool> = OnceLock::new();
    POOL.get_or_init(CpuPool::start)
}

impl CpuPool {
    fn start() -> Self {
        let (jobs, waiting) = mpsc::channel::<PoolJob>();
        let waiting = Arc::new(Mutex::new(waiting));
        for number in 0..threads() {
            let waiting = Arc::clone(&waiting);
            let thread = std::thread::Builder::new().name(format!("cpu-{number}"));
            if let Err(error) = thread.spawn(move || serve(&waiting)) {
                tracing::error!(%error, "cannot start a thread for long work");
            }
        }
        Self { jobs, person_locks: Mutex::default() }
    }

    fn person_lock(&self, person: &str) -> Arc<PersonLock<()>> {
        let mut person_locks = lock(&self.person_locks);
        if let Some(person_lock) = person_locks.get(person) {
            return Arc::clone(person_lock);
        }
        // Locks that nobody holds or waits for any more are removed.
        person_locks.retain(|_, person_lock| Arc::strong_count(person_lock) > 1);
        Arc::clone(person_locks.entry(person.to_owned()).or_default())
    }
}

fn threads() -> usize {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    // With a low priority the threads leave a processor to others by themselves, so there may be
    // more threads than processors: a few long jobs then do not delay shorter ones.
    let spare = processors.saturating_sub(1).max(1);
    if cfg!(target_os = "linux") { (2 * processors).max(4) } else { spare }
}

fn serve(waiting: &Mutex<mpsc::Receiver<PoolJob>>) {
    #[cfg(target_os = "linux")]
    crate::processes::lower_priority();
    loop {
        let job = lock(waiting).recv();
        match job {
            Ok(job) => job(),
            Err(mpsc::RecvError) => return,
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // The data behind these locks is consistent between any two statements.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[tokio::test]
    async fn a_person_has_one_job_at_a_time_and_others_do_not_wait_for_the_rest() {
        let (running, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (release, held) = std::sync::mpsc::channel::<()>();
        let held = Arc::new(Mutex::new(held));
        let jobs: Vec<_> = (0..4)
            .map(|_| {
                let (running, most) = (Arc::clone(&running), Arc::clone(&most));
                let held = Arc::clone(&held);
                tokio::spawn(run("mallory", move || {
                    most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    lock(&held).recv().unwrap();
                    running.fetch_sub(1, Ordering::SeqCst);
                }))
            })
            .collect();
        // While four jobs of one person are under way, one of somebody else is done.
        assert_eq!(run("ana", || 7).await, Ok(7));
        for _ in 0..4 {
            release.send(()).unwrap();
        }
        for job in jobs {
            job.await.unwrap().unwrap();
        }
        assert_eq!(most.load(Ordering::SeqCst), 1);
    }

    #[tokio::test]
    async fn a_job_that_panics_is_lost_and_the_next_one_is_done() {
        let lost = run("ana", || -> u8 { panic!("as this test wants it") }).await;
        assert_eq!(lost, Err(JobLost));
        assert_eq!(run("ana", || 1).await, Ok(1));
    }

    #[tokio::test]
    async fn a_wait_that_is_given_up_keeps_the_lock_until_its_job_ends() {
        let (release, held) = std::sync::mpsc::channel::<()>();
        let job = tokio::spawn(run("ben", move || held.recv().unwrap()));
        tokio::task::yield_now().await;
        while lock(&pool().person_locks)
            .get("ben")
            .is_none_or(|person_lock| person_lock.try_lock().is_ok())
        {
            tokio::task::yield_now().await;
        }
        job.abort();
        job.await.unwrap_err();
        assert!(
            lock(&pool().person_locks).get("ben").unwrap().try_lock().is_err(),
            "the job still runs"
        );
        release.send(()).unwrap();
        assert_eq!(run("ben", || 2).await, Ok(2));
    }
}
