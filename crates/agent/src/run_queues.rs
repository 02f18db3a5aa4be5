//! Order of runs: runs of one session on one document follow each other, all others overlap. Pure.

use std::collections::{HashMap, VecDeque};

use tokio_util::sync::CancellationToken;

use copydesk_ids::permissions::Principal;
use copydesk_ids::{DocumentId, RunId, SessionId};
use copydesk_metrics as metrics;

use super::{AskError, AskResult, StopFilter};
use crate::run::run_record::Run;

/// Maximum number of runs that wait behind the one at work.
pub const QUEUE_LIMIT: usize = 16;

/// Maximum number of external calls of one session that are under way at once.
const CALLS_LIMIT: usize = 32;

/// Maximum number of runs of one person that are under way at once, in all their sessions together.
/// Sessions are cheap, runs are not.
pub const RUNS_LIMIT: usize = 64;

/// Key of a queue. Runs with equal keys follow each other.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct QueueKey {
    session: SessionId,
    document: Option<DocumentId>,
    /// Name of an external call, which waits for no other: a caller that makes several at once
    /// waits for all of them.
    call: Option<RunId>,
}

impl QueueKey {
    /// Returns the key of the queue in which a run waits.
    pub fn of(run: &Run) -> Self {
        let ask = &run.ask;
        let call = ask.outside().map(|_| ask.run.clone());
        Self { session: ask.session.clone(), document: ask.document.clone(), call }
    }

    /// Returns the key of the queue of a session's conversation.
    pub fn conversation(session: SessionId, document: Option<DocumentId>) -> Self {
        Self { session, document, call: None }
    }
}

/// Run that waits in its queue.
#[derive(Debug)]
pub struct QueuedRun {
    /// Run to execute.
    pub run: Run,
    /// Token that fires when a person stops the run.
    pub cancel: CancellationToken,
}

impl QueuedRun {
    /// Returns the key of the run's queue.
    pub fn key(&self) -> QueueKey {
        QueueKey::of(&self.run)
    }
}

/// All runs that are not over.
#[derive(Debug, Default)]
pub struct RunQueues {
    queues: HashMap<QueueKey, ConversationQueue>,
    live: HashMap<(SessionId, RunId), LiveRun>,
}

#[derive(Debug, Default)]
struct ConversationQueue {
    waiting: VecDeque<QueuedRun>,
    /// Number of runs that are still being stored.
    reserved: usize,
    working: bool,
}

#[derive(Debug)]
struct LiveRun {
    requester: Principal,
    key: QueueKey,
    prompt: String,
    cancel: CancellationToken,
}

/// Result of [`RunQueues::reserve`].
#[derive(Debug)]
pub enum QueueSlot {
    /// A place was reserved; the token stops the run.
    Reserved(CancellationToken),
    /// An equal question was asked before, by a client that did not get its answer, and its run is
    /// under way.
    UnderWay,
}

/// Result of [`RunQueues::lock_idle`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConversationLock {
    /// The conversation is locked.
    Now,
    /// The last run is over, but its end is still being reported.
    NotYet,
}

/// Need for a worker of a queue, after a run was entered ([`RunQueues::enter`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkerNeed {
    /// The queue has a worker.
    Busy,
    /// The caller must start a worker.
    Needed,
}

impl RunQueues {
    /// Returns `true` if runs of the session without a shared document are under way.
    pub fn any_in_private(&self, session: &SessionId) -> bool {
        let own = QueueKey::conversation(session.clone(), None);
        self.live.values().any(|live| live.key == own)
    }

    /// Locks a conversation, so that no run begins while it is changed. The caller then starts a
    /// worker.
    ///
    /// # Errors
    /// [`AskError::Busy`] if a run is at work or waits.
    pub fn lock_idle(&mut self, key: &QueueKey) -> AskResult<ConversationLock> {
        if self.live.values().any(|live| live.key == *key) {
            return Err(AskError::Busy);
        }
        let queue = self.queues.entry(key.clone()).or_default();
        if !queue.is_idle() {
            return Ok(ConversationLock::NotYet);
        }
        queue.working = true;
        Ok(ConversationLock::Now)
    }

    /// Reserves a place for a run that is about to be stored.
    ///
    /// # Errors
    /// [`AskError::Duplicate`], [`AskError::QueueFull`] or [`AskError::TooManyRuns`].
    pub fn reserve(&mut self, run: &Run, cancel: CancellationToken) -> AskResult<QueueSlot> {
        let ask = &run.ask;
        let name = (ask.session.clone(), ask.run.clone());
        if let Some(live) = self.live.get(&name) {
            let same = live.prompt == ask.prompt && live.requester.user == ask.principal.user;
            let duplicate = AskError::Duplicate { run: ask.run.clone() };
            return if same { Ok(QueueSlot::UnderWay) } else { Err(duplicate) };
        }
        let together = self.live.keys().filter(|(session, _)| *session == ask.session).count();
        if ask.outside().is_some() && together >= CALLS_LIMIT {
            return Err(AskError::QueueFull { limit: CALLS_LIMIT });
        }
        let theirs = self
            .live
            .values()
            .filter(|live| live.key.call.is_none() && live.requester.user == ask.principal.user);
        if ask.outside().is_none() && theirs.count() >= RUNS_LIMIT {
            return Err(AskError::TooManyRuns { limit: RUNS_LIMIT });
        }
        let queue = self.queues.entry(QueueKey::of(run)).or_default();
        if queue.waiting.len() + queue.reserved >= QUEUE_LIMIT {
            return Err(AskError::QueueFull { limit: QUEUE_LIMIT });
        }
        queue.reserved += 1;
        self.register(run, cancel.clone());
        Ok(QueueSlot::Reserved(cancel))
    }

    /// Releases the reserved place of a run that could not be stored.
    pub fn give_up(&mut self, run: &Run) {
        let key = QueueKey::of(run);
        if let Some(queue) = self.queues.get_mut(&key) {
            queue.reserved -= 1;
        }
        self.done(&run.ask.session, &run.ask.run);
        self.tidy(&key);
    }

    /// Enters a run into its reserved place.
    pub fn enter(&mut self, job: QueuedRun) -> WorkerNeed {
        let queue = self.queues.entry(job.key()).or_default();
        queue.reserved -= 1;
        queue.enter(job)
    }

    /// Enters a run of an earlier process; limits do not apply.
    pub fn requeue(&mut self, run: Run) -> WorkerNeed {
        let cancel = CancellationToken::new();
        self.register(&run, cancel.clone());
        let job = QueuedRun { run, cancel };
        self.queues.entry(job.key()).or_default().enter(job)
    }

    /// Returns the next run of a queue; `None` ends its worker.
    pub fn next(&mut self, key: &QueueKey) -> Option<QueuedRun> {
        let queue = self.queues.get_mut(key)?;
        let job = queue.waiting.pop_front();
        queue.working = job.is_some();
        self.tidy(key);
        job
    }

    /// Measures the runs that are not over, and those among them that wait.
    pub fn measure(&self) {
        metrics::RUNS.set_count(self.live.len());
        metrics::RUN_QUEUE.set_count(self.queues.values().map(|queue| queue.waiting.len()).sum());
    }

    /// Removes a run that is over.
    pub fn done(&mut self, session: &SessionId, run: &RunId) {
        self.live.remove(&(session.clone(), run.clone()));
    }

    /// Returns the token that stops a run that is not over.
    pub fn token(&self, session: &SessionId, run: &RunId) -> Option<CancellationToken> {
        let live = self.live.get(&(session.clone(), run.clone()))?;
        Some(live.cancel.clone())
    }

    /// Returns the sessions in which a person has a run of this name that is not over.
    pub fn sessions_of(&self, run: &RunId, person: &Principal) -> Vec<SessionId> {
        let live = self.live.iter();
        let own = live.filter(|((_, name), live)| name == run && person.is(&live.requester.user));
        own.map(|((session, _), _)| session.clone()).collect()
    }

    /// Stops matching runs. Returns those that had not begun, for the caller to end.
    ///
    /// # Errors
    /// [`AskError::NoRun`] if a run is named and does not exist.
    pub fn stop(&mut self, stop: &StopFilter) -> AskResult<Vec<QueuedRun>> {
        let fits = |(session, run): &(SessionId, RunId)| {
            stop.session.as_ref().is_none_or(|wanted| wanted == session)
                && stop.run.as_ref().is_none_or(|wanted| wanted == run)
        };
        let meant: Vec<_> = self.live.iter().filter(|(name, _)| fits(name)).collect();
        if meant.is_empty() && stop.run.is_some() {
            return Err(AskError::NoRun);
        }
        for (_, live) in meant {
            live.cancel.cancel();
        }
        let mut unbegun = Vec::new();
        for queue in self.queues.values_mut() {
            let is_stopped = |job: &QueuedRun| job.cancel.is_cancelled();
            let (stopped, waiting) = queue.waiting.drain(..).partition(is_stopped);
            queue.waiting = waiting;
            unbegun.extend::<VecDeque<QueuedRun>>(stopped);
        }
        Ok(unbegun)
    }

    fn register(&mut self, run: &Run, cancel: CancellationToken) {
        let ask = &run.ask;
        let (requester, prompt) = (ask.principal.clone(), ask.prompt.clone());
        let key = QueueKey::of(run);
        let live = LiveRun { requester, key, prompt, cancel };
        self.live.insert((ask.session.clone(), ask.run.clone()), live);
    }

    fn tidy(&mut self, key: &QueueKey) {
        if self.queues.get(key).is_some_and(ConversationQueue::is_idle) {
            self.queues.remove(key);
        }
    }
}

impl ConversationQueue {
    fn is_idle(&self) -> bool {
        !self.working && self.reserved == 0 && self.waiting.is_empty()
    }

    fn enter(&mut self, job: QueuedRun) -> WorkerNeed {
        self.waiting.push_back(job);
        if std::mem::replace(&mut self.working, true) {
            WorkerNeed::Busy
        } else {
            WorkerNeed::Needed
        }
    }
}
