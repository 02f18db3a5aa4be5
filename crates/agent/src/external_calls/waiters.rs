//! Callers that wait for external calls in this process, and the right to withdraw a call's
//! request.
//!
//! A caller that lost its connection calls again, and the call then belongs to the new connection:
//! the end of the old one, noticed late, withdraws nothing.

#[cfg(any(test, feature = "rehearsal"))]
pub(crate) mod staged_call;

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use copydesk_ids::{RequestId, RunId, SessionId};
use copydesk_tools::ApprovalWait;

use super::call::{CallEvent, CallResult};
use crate::AgentQuestion;

/// Run, by its session and its name.
type RunName = (SessionId, RunId);

#[derive(Debug, Default)]
pub(crate) struct CallWaiters(Mutex<HashMap<RunName, CallWaiter>>);

#[derive(Debug)]
struct CallWaiter {
    asking: watch::Sender<Option<ApprovalWait>>,
    over: watch::Sender<Option<CallResult>>,
    owner: Arc<CallOwner>,
}

#[derive(Debug)]
struct CallOwner {
    /// Number of times that the call was made; the newest caller owns it.
    callers: Mutex<u32>,
    cancel: CancellationToken,
}

/// External call under way. Dropping it withdraws the request, unless the call was made again
/// since.
#[derive(Debug)]
pub struct CallHandle {
    asking: watch::Receiver<Option<ApprovalWait>>,
    over: watch::Receiver<Option<CallResult>>,
    stop: CancellationToken,
    /// Token that fires when the caller gives up.
    caller_gone: CancellationToken,
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
        Self { asking, over, stop, caller_gone: CancellationToken::new(), claim: None }
    }

    /// Gives up the right to withdraw the call, so that only people decide about it.
    pub(crate) fn keep_for_people(mut self) {
        if let Some(claim) = self.claim.take() {
            *claim.owner.callers.lock() += 1;
        }
    }

    /// Returns another receiver of how the request progresses.
    pub(crate) fn asking(&self) -> watch::Receiver<Option<ApprovalWait>> {
        self.asking.clone()
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
                () = self.caller_gone.cancelled(), if self.claim.is_some() => self.claim = None,
            }
        }
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        let callers = self.owner.callers.lock();
        if *callers == self.place {
            self.owner.cancel.cancel();
        }
    }
}

impl CallWaiters {
    /// Registers a call that no caller waits for yet. `cancel` stops it; `waits` is its waiting
    /// request.
    pub fn open(
        &self,
        ask: &AgentQuestion,
        waits: Option<RequestId>,
        cancel: CancellationToken,
        caller_gone: &CancellationToken,
        stop: &CancellationToken,
    ) -> CallHandle {
        let owner = Arc::new(CallOwner { callers: Mutex::new(1), cancel });
        let claim = CancelOnDrop { owner: Arc::clone(&owner), place: 1 };
        let asking = watch::Sender::new(waits.map(ApprovalWait::Waits));
        let waiter = CallWaiter { asking, over: watch::Sender::new(None), owner };
        let ongoing = waiter.handle(claim, caller_gone, stop);
        self.0.lock().insert(name(ask), waiter);
        ongoing
    }

    /// Joins a call that is under way, which then belongs to the newest caller. Returns `None` if
    /// no caller waits for it, or if it is being withdrawn.
    pub fn join(
        &self,
        ask: &AgentQuestion,
        caller_gone: &CancellationToken,
        stop: &CancellationToken,
    ) -> Option<CallHandle> {
        let call_waiters = self.0.lock();
        let waiter = call_waiters.get(&name(ask))?;
        let claim = waiter.claim()?;
        Some(waiter.handle(claim, caller_gone, stop))
    }

    /// Returns the channel that reports the progress of a run's request, if a caller waits.
    pub fn of(&self, ask: &AgentQuestion) -> Option<watch::Sender<Option<ApprovalWait>>> {
        self.0.lock().get(&name(ask)).map(|waiter| waiter.asking.clone())
    }

    /// Sends the result of a call to the waiting caller.
    pub fn notify(&self, ask: &AgentQuestion, called: impl FnOnce() -> CallResult) {
        let waiter = self.0.lock().remove(&name(ask));
        if let Some(waiter) = waiter {
            waiter.over.send_replace(Some(called()));
        }
    }

    /// Removes a call that did not begin.
    pub fn close(&self, ask: &AgentQuestion) {
        self.0.lock().remove(&name(ask));
    }
}

impl CallWaiter {
    /// Transfers the call to the newest caller; `None` if it is being withdrawn.
    fn claim(&self) -> Option<CancelOnDrop> {
        let mut callers = self.owner.callers.lock();
        if self.owner.cancel.is_cancelled() {
            return None;
        }
        *callers += 1;
        Some(CancelOnDrop { owner: Arc::clone(&self.owner), place: *callers })
    }

    fn handle(
        &self,
        claim: CancelOnDrop,
        caller_gone: &CancellationToken,
        stop: &CancellationToken,
    ) -> CallHandle {
        let mut asking = self.asking.subscribe();
        // Marked as changed, so that progress from before the subscription is also reported.
        asking.mark_changed();
        let (over, claim) = (self.over.subscribe(), Some(claim));
        CallHandle { asking, over, stop: stop.clone(), caller_gone: caller_gone.clone(), claim }
    }
}

fn name(ask: &AgentQuestion) -> RunName {
    (ask.session.clone(), ask.run.clone())
}
