//! Pool for work that takes longer than about a millisecond, away from the threads that serve
//! connections.
//!
//! The threads of the asynchronous runtime serve everybody, so no work on them may take long. Long
//! work is given to the few threads of this pool ([`run`]). On Linux these have a low scheduling
//! priority: a thread that serves connections takes the processor from them at once, and jobs share
//! what is left. Elsewhere there is one thread fewer than processors, and at least two.
//!
//! Each person has one job at a time in the pool; their other jobs wait outside of it. So a person
//! who causes much work waits for their own work, and others wait for at most one job of theirs.
//!
//! Jobs that take seconds and much memory, such as exports, are given to [`run_long`]. They have
//! all threads but one, share one amount of memory, and end when their result is not wanted any
//! more.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock, mpsc};

use parking_lot::Mutex;
use tokio::sync::{Mutex as PersonLock, OwnedMutexGuard, Semaphore, oneshot};

use copydesk_interrupt::Interrupt;
use copydesk_metrics as metrics;

/// Memory that all long jobs together may take, by their estimates, in MiB. One that would take
/// more runs without others.
const LONG_JOBS_MIB: u32 = 512;
/// Long jobs of at most this many bytes do not count: there are fewer of them than threads.
const SMALL_BYTES: usize = 8 << 20;

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
    /// Threads that long jobs may have.
    long_jobs: Arc<Semaphore>,
    /// Memory of long jobs, in MiB.
    long_memory: Arc<Semaphore>,
}

/// Raises a sign when the wait for a job is given up.
struct GivenUp(Interrupt);

impl Drop for GivenUp {
    fn drop(&mut self) {
        self.0.raise();
    }
}

/// Runs `work` on a thread of the pool, after the earlier jobs of the same `person`. `person` is a
/// user, or a document where no one asked.
///
/// # Errors
/// [`JobLost`] if the work panicked.
pub async fn run<T: Send + 'static>(
    person: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, JobLost> {
    let person_lock = pool().person_lock(person).lock_owned().await;
    pool().start_job(person_lock, work).await
}

/// Runs `work` on the pool as [`run`] does, one thread always left to other jobs. `memory_bytes` is
/// what it takes at most. When the wait for it is given up, it does not begin, and its sign is
/// raised if it has begun.
///
/// # Errors
/// [`JobLost`] if the work panicked.
pub async fn run_long<T: Send + 'static>(
    person: &str,
    memory_bytes: usize,
    work: impl FnOnce(&Interrupt) -> T + Send + 'static,
) -> Result<T, JobLost> {
    let pool = pool();
    let interrupt = Interrupt::default();
    let _given_up = GivenUp(interrupt.clone());
    let person_lock = pool.person_lock(person).lock_owned().await;
    let mut held = vec![];
    if memory_bytes > SMALL_BYTES {
        let mib = u32::try_from(memory_bytes >> 20).unwrap_or(u32::MAX).clamp(1, LONG_JOBS_MIB);
        let memory = Arc::clone(&pool.long_memory).acquire_many_owned(mib).await;
        held.push(memory.map_err(|_| JobLost)?);
    }
    let thread = Arc::clone(&pool.long_jobs).acquire_owned().await;
    held.push(thread.map_err(|_| JobLost)?);
    let job = move || {
        let made = (!interrupt.is_raised()).then(|| work(&interrupt));
        drop(held);
        made
    };
    pool.start_job(person_lock, job).await?.ok_or(JobLost)
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
        let threads = threads();
        for number in 0..threads {
            let waiting = Arc::clone(&waiting);
            let thread = std::thread::Builder::new().name(format!("cpu-{number}"));
            if let Err(error) = thread.spawn(move || serve(&waiting)) {
                tracing::error!(%error, "cannot start a thread for long work");
            }
        }
        Self {
            jobs,
            person_locks: Mutex::default(),
            long_jobs: Arc::new(Semaphore::new(threads - 1)),
            long_memory: Arc::new(Semaphore::new(LONG_JOBS_MIB as usize)),
        }
    }

    /// Gives a job to the threads and waits for its result.
    async fn start_job<T: Send + 'static>(
        &self,
        person_lock: OwnedMutexGuard<()>,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, JobLost> {
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
        self.jobs.send(Box::new(job)).map_err(|_| JobLost)?;
        done.await.map_err(|_| JobLost)
    }

    fn person_lock(&self, person: &str) -> Arc<PersonLock<()>> {
        let mut person_locks = self.person_locks.lock();
        if let Some(person_lock) = person_locks.get(person) {
            return Arc::clone(person_lock);
        }
        // Locks that no job holds or waits for any more are removed.
        person_locks.retain(|_, person_lock| Arc::strong_count(person_lock) > 1);
        Arc::clone(person_locks.entry(person.to_owned()).or_default())
    }
}

/// Returns the number of threads, at least two: one is left when the others have long jobs.
fn threads() -> usize {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    // With a low priority the threads leave a processor to others by themselves, so there may be
    // more threads than processors: a few long jobs then do not delay shorter ones.
    let spare = processors.saturating_sub(1).max(2);
    if cfg!(target_os = "linux") { (2 * processors).max(4) } else { spare }
}

fn serve(waiting: &Mutex<mpsc::Receiver<PoolJob>>) {
    #[cfg(target_os = "linux")]
    copydesk_processes::lower_priority();
    loop {
        let job = waiting.lock().recv();
        match job {
            Ok(job) => job(),
            Err(mpsc::RecvError) => return,
        }
    }
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
                    held.lock().recv().unwrap();
                    running.fetch_sub(1, Ordering::SeqCst);
                }))
            })
            .collect();
        // While four jobs of one person are under way, one of another person is done.
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
        while pool()
            .person_locks
            .lock()
            .get("ben")
            .is_none_or(|person_lock| person_lock.try_lock().is_ok())
        {
            tokio::task::yield_now().await;
        }
        job.abort();
        job.await.unwrap_err();
        assert!(
            pool().person_locks.lock().get("ben").unwrap().try_lock().is_err(),
            "the job still runs"
        );
        release.send(()).unwrap();
        assert_eq!(run("ben", || 2).await, Ok(2));
    }

    type LongJob = tokio::task::JoinHandle<Result<(), JobLost>>;

    /// Long jobs of `people`, each of which runs until the sender is dropped.
    fn long_jobs(
        people: &[&'static str],
        memory_bytes: usize,
    ) -> (Vec<LongJob>, Arc<AtomicUsize>, mpsc::Sender<()>) {
        let (release, held) = mpsc::channel::<()>();
        let held = Arc::new(Mutex::new(held));
        let started = Arc::new(AtomicUsize::new(0));
        let job = |person: &&'static str| {
            let (held, started, person) = (Arc::clone(&held), Arc::clone(&started), *person);
            tokio::spawn(run_long(person, memory_bytes, move |_| {
                started.fetch_add(1, Ordering::SeqCst);
                while !matches!(held.lock().try_recv(), Err(mpsc::TryRecvError::Disconnected)) {
                    std::thread::yield_now();
                }
            }))
        };
        (people.iter().map(job).collect(), started, release)
    }

    /// Tests of long jobs share the threads of one pool, so only one runs at a time.
    static ONE_AT_A_TIME: PersonLock<()> = PersonLock::const_new(());

    async fn until(started: &AtomicUsize, count: usize) {
        while started.load(Ordering::SeqCst) < count {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn long_jobs_of_many_people_leave_a_thread_to_others() {
        let _one = ONE_AT_A_TIME.lock().await;
        let people: Vec<&'static str> =
            (0..threads() + 3).map(|n| &*format!("viewer {n}").leak()).collect();
        let (jobs, started, release) = long_jobs(&people, 0);
        until(&started, threads() - 1).await;
        assert_eq!(run("editor", || 7).await, Ok(7));
        assert_eq!(started.load(Ordering::SeqCst), threads() - 1);
        drop(release);
        for job in jobs {
            job.await.unwrap().unwrap();
        }
    }

    #[tokio::test]
    async fn long_jobs_that_take_all_memory_run_one_after_the_other() {
        let _one = ONE_AT_A_TIME.lock().await;
        let (large, started, release) = long_jobs(&["large 1", "large 2"], usize::MAX);
        until(&started, 1).await;
        // Small ones do not wait for them.
        assert_eq!(run_long("small", SMALL_BYTES, |_| 7).await, Ok(7));
        assert_eq!(started.load(Ordering::SeqCst), 1);
        drop(release);
        for job in large {
            job.await.unwrap().unwrap();
        }
        assert_eq!(started.load(Ordering::SeqCst), 2);
    }

    #[tokio::test]
    async fn a_long_job_ends_when_its_wait_is_given_up_and_one_that_waits_never_begins() {
        let _one = ONE_AT_A_TIME.lock().await;
        let (started, ended) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let job = |person| {
            let (started, ended) = (Arc::clone(&started), Arc::clone(&ended));
            tokio::spawn(run_long(person, 0, move |interrupt: &Interrupt| {
                started.fetch_add(1, Ordering::SeqCst);
                while !interrupt.is_raised() {
                    std::thread::yield_now();
                }
                ended.fetch_add(1, Ordering::SeqCst);
            }))
        };
        let runs = job("cas");
        until(&started, 1).await;
        let waits = job("cas");
        tokio::task::yield_now().await;
        waits.abort();
        waits.await.unwrap_err();
        runs.abort();
        runs.await.unwrap_err();
        until(&ended, 1).await;
        assert_eq!(run("cas", || 1).await, Ok(1));
        assert_eq!(started.load(Ordering::SeqCst), 1);
    }
}
