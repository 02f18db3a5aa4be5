//! Callers that wait for external calls in this process, and the right to withdraw a call's
//! request.
//!
//! A caller that lost its connection calls again, and joins the call that is under way. From then
//! on the call belongs to the new connection: the end of the old one, noticed late, withdraws
//! nothing.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::ids::{RequestId, RunId, SessionId};
use crate::tools::ApprovalWait;

use super::call::{CallEvent, CallResult, KeyIssuer};
use crate::agent::AgentRequest;

/// Run, by its session and its name.
type RunName = (SessionId, RunId);

/// Maximum number of programs that are remembered to have joined the call of another.
const MOST_JOINED: usize = 1_000;

/// Callers that wait for external calls in this process.
#[derive(Debug, Default)]
pub(crate) struct CallWaiters {
    waiting: Mutex<HashMap<RunName, CallWaiter>>,
    /// Calls that also belong to a program that did not begin them.
    joined: Mutex<VecDeque<(RunName, String)>>,
}

/// Callers that wait for one call.
#[derive(Debug)]
struct CallWaiter {
    asking: watch::Sender<Option<ApprovalWait>>,
    over: watch::Sender<Option<CallResult>>,
    owner: Arc<CallOwner>,
    /// Issuer of the latest call.
    by: KeyIssuer,
}

/// Caller of an external call.
#[derive(Clone, Copy)]
pub(crate) struct CallerContext<'a> {
    /// Issuer of the call's name.
    pub by: &'a KeyIssuer,
    /// Token that fires when the caller gives up.
    pub caller: &'a CancellationToken,
    /// Token that fires when the server stops.
    pub stop: &'a CancellationToken,
}

/// Ownership of a call.
#[derive(Debug)]
struct CallOwner {
    /// Number of times that the call was made; the newest caller owns it.
    callers: Mutex<u32>,
    /// Token that stops the run.
    cancel: CancellationToken,
}

/// External call under way. Dropping it withdraws the request, unless the same call was made again
/// since.
#[derive(Debug)]
pub struct CallHandle {
    /// Run of the call, if it has one.
    name: Option<RunName>,
    asking: watch::Receiver<Option<ApprovalWait>>,
    over: watch::Receiver<Option<CallResult>>,
    stop: CancellationToken,
    /// Token that fires when the caller gives up.
    caller: CancellationToken,
    /// Right to withdraw the call; `None` if nothing can be withdrawn any more.
    claim: Option<CancelOnDrop>,
}

/// Right of one caller to withdraw a call. Dropping it stops the run if no newer caller exists.
#[derive(Debug)]
struct CancelOnDrop {
    owner: Arc<CallOwner>,
    place: u32,
}

impl CallHandle {
    /// Returns the handle of a call that is already over.
    pub(crate) fn over(called: CallResult, stop: CancellationToken) -> Self {
        let (_, asking) = watch::channel(None);
        let (_, over) = watch::channel(Some(called));
        Self { name: None, asking, over, stop, caller: CancellationToken::new(), claim: None }
    }

    /// Sets the run of the call.
    pub(crate) fn of(self, name: (SessionId, RunId)) -> Self {
        Self { name: Some(name), ..self }
    }

    /// Returns the run of the call, if the call may be sent again.
    pub(crate) fn name(&self) -> Option<&(SessionId, RunId)> {
        self.name.as_ref()
    }

    /// Gives up the right to withdraw the call, so that only people decide about it.
    pub(crate) fn let_go(mut self) {
        if let Some(claim) = self.claim.take() {
            *lock(&claim.owner.callers) += 1;
        }
    }

    /// Returns the next event. There is none after [`CallEvent::Over`] and [`CallEvent::Parked`].
    /// Cancel-safe.
    pub async fn next(&mut self) -> CallEvent {
        loop {
            tokio::select! {
                biased;
                Ok(()) = self.asking.changed() => {
                    let asking = self.asking.borrow_and_update().clone();
                    if let Some(asking) = asking {
                        return CallEvent::Asking(asking);
                    }
                }
                over = self.over.wait_for(Option::is_some) => {
                    let called = over.ok().and_then(|called| called.clone());
                    return called.map_or(CallEvent::Parked, |called| CallEvent::Over(Box::new(called)));
                }
                () = self.stop.cancelled() => return CallEvent::Parked,
                // The resulting end of the call is reported like any other.
                () = self.caller.cancelled(), if self.claim.is_some() => self.claim = None,
            }
        }
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        let callers = lock(&self.owner.callers);
        if *callers == self.place {
            self.owner.cancel.cancel();
        }
    }
}

/// Result of [`CallWaiters::join`].
pub(crate) enum JoinOutcome {
    /// The call is under way, and now belongs to the newest caller.
    Joined(CallHandle),
    /// No caller waits for a call of this name, or it is being withdrawn.
    Nobody,
    /// The call of this name belongs to another caller, who waits for it.
    Another,
}

impl KeyIssuer {
    /// Returns `true` if the present caller may be the earlier one. A caller without a name cannot
    /// be told from another one without a name, and a program that lost its connection may have
    /// begun a new session.
    fn may_be(&self, now: &Self) -> bool {
        match (self, now) {
            (Self::Program(before), Self::Program(now)) => {
                before.program == now.program || before.lost.is_cancelled()
            }
            (Self::Server, _) | (_, Self::Server) => true,
        }
    }
}

impl CallWaiters {
    /// Registers a call of a name for which no caller waits yet. `cancel` stops it; `waits` is its
    /// request, if that is already waiting.
    pub fn open(
        &self,
        ask: &AgentRequest,
        waits: Option<RequestId>,
        cancel: CancellationToken,
        to: CallerContext<'_>,
    ) -> CallHandle {
        let owner = Arc::new(CallOwner { callers: Mutex::new(1), cancel });
        let claim = CancelOnDrop { owner: Arc::clone(&owner), place: 1 };
        let asking = watch::Sender::new(waits.map(ApprovalWait::Waits));
        let ear = CallWaiter { asking, over: watch::Sender::new(None), owner, by: to.by.clone() };
        let ongoing = ear.tell(name(ask), claim, to);
        self.ears().insert(name(ask), ear);
        ongoing
    }

    /// Joins a call that is under way.
    pub fn join(&self, ask: &AgentRequest, to: CallerContext<'_>) -> JoinOutcome {
        let mut ears = self.ears();
        let Some(ear) = ears.get_mut(&name(ask)) else { return JoinOutcome::Nobody };
        if !ear.by.may_be(to.by) {
            return JoinOutcome::Another;
        }
        let Some(claim) = ear.claim() else { return JoinOutcome::Nobody };
        ear.by = to.by.clone();
        self.note_joined(ask, to.by);
        JoinOutcome::Joined(ear.tell(name(ask), claim, to))
    }

    /// Remembers that a call also belongs to this program.
    pub fn note_joined(&self, ask: &AgentRequest, by: &KeyIssuer) {
        let Some(program) = by.program() else { return };
        let mut joined = lock(&self.joined);
        if joined.len() >= MOST_JOINED {
            joined.pop_front();
        }
        joined.push_back((name(ask), program.to_owned()));
    }

    /// Returns `true` if a program has joined a call of this name.
    pub fn has_joined(&self, ask: &AgentRequest, program: &str) -> bool {
        let name = name(ask);
        lock(&self.joined).iter().any(|(call, by)| *call == name && by == program)
    }

    /// Returns the channel that reports the progress of a run's request, if a caller waits.
    pub fn of(&self, ask: &AgentRequest) -> Option<watch::Sender<Option<ApprovalWait>>> {
        self.ears().get(&name(ask)).map(|ear| ear.asking.clone())
    }

    /// Tells the waiting caller the result of a call.
    pub fn tell(&self, ask: &AgentRequest, called: impl FnOnce() -> CallResult) {
        let ear = self.ears().remove(&name(ask));
        if let Some(ear) = ear {
            ear.over.send_replace(Some(called()));
        }
    }

    /// Removes a call that did not begin.
    pub fn close(&self, ask: &AgentRequest) {
        self.ears().remove(&name(ask));
    }

    fn ears(&self) -> MutexGuard<'_, HashMap<RunName, CallWaiter>> {
        lock(&self.waiting)
    }
}

impl CallWaiter {
    /// Transfers the call to the newest caller; `None` if it is being withdrawn.
    fn claim(&self) -> Option<CancelOnDrop> {
        let mut callers = lock(&self.owner.callers);
        if self.owner.cancel.is_cancelled() {
            return None;
        }
        *callers += 1;
        Some(CancelOnDrop { owner: Arc::clone(&self.owner), place: *callers })
    }

    fn tell(&self, name: RunName, claim: CancelOnDrop, to: CallerContext<'_>) -> CallHandle {
        let mut asking = self.asking.subscribe();
        // Marked as changed, so that progress from before the subscription is also reported.
        asking.mark_changed();
        let over = self.over.subscribe();
        let (caller, stop) = (to.caller.clone(), to.stop.clone());
        CallHandle { name: Some(name), asking, over, stop, caller, claim: Some(claim) }
    }
}

fn name(ask: &AgentRequest) -> RunName {
    (ask.session.clone(), ask.run.clone())
}

/// Locks a mutex, even if it is poisoned: the value is consistent between any two statements.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sending side of a call that nobody has made, for tests of waiting callers.
#[cfg(test)]
pub struct StagedCall {
    /// Progress of the request.
    pub asking: watch::Sender<Option<ApprovalWait>>,
    /// Result of the call.
    pub over: watch::Sender<Option<CallResult>>,
}

#[cfg(test)]
impl StagedCall {
    /// Returns a staged call and its handle.
    pub fn call() -> (Self, CallHandle) {
        let (asking, over) = (watch::Sender::new(None), watch::Sender::new(None));
        let ongoing = CallHandle {
            name: None,
            asking: asking.subscribe(),
            over: over.subscribe(),
            stop: CancellationToken::new(),
            caller: CancellationToken::new(),
            claim: None,
        };
        (Self { asking, over }, ongoing)
    }
}
