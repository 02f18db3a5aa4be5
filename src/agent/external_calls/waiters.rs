//! Who waits for which call in this process, and whose giving up takes its request back.
//!
//! A caller that lost its connection calls again, and joins the call that is under way. From then on the call is theirs: that
//! the connection before it is noticed to be gone, or closed at last, takes nothing back.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::ids::{RequestId, RunId, SessionId};
use crate::tools::ApprovalWait;

use super::call::{CallEvent, CallResult, KeyIssuer};
use crate::agent::AgentRequest;

/// A run, as its session calls it.
type RunName = (SessionId, RunId);

/// Programs that are remembered to have joined the call of another.
const MOST_JOINED: usize = 1_000;

/// Who waits for which call in this process.
#[derive(Debug, Default)]
pub(crate) struct CallWaiters {
    waiting: Mutex<HashMap<RunName, CallWaiter>>,
    /// Calls that are also those of a program that did not begin them.
    joined: Mutex<VecDeque<(RunName, String)>>,
}

/// Those who wait for one call.
#[derive(Debug)]
struct CallWaiter {
    asking: watch::Sender<Option<ApprovalWait>>,
    over: watch::Sender<Option<CallResult>>,
    owner: Arc<CallOwner>,
    /// Who made the call last.
    by: KeyIssuer,
}

/// Who is to hear of a call.
#[derive(Clone, Copy)]
pub(crate) struct CallerContext<'a> {
    /// Who knows it by which name.
    pub by: &'a KeyIssuer,
    /// Fires when they give up.
    pub caller: &'a CancellationToken,
    /// The server stops.
    pub stop: &'a CancellationToken,
}

/// Whose a call is.
#[derive(Debug)]
struct CallOwner {
    /// Counts how often it was made; the newest caller owns it.
    callers: Mutex<u32>,
    /// Stops the run.
    cancel: CancellationToken,
}

/// A call under way. Dropping it takes the request back, unless the same call was made again since.
#[derive(Debug)]
pub struct CallHandle {
    /// The run, if it was one.
    name: Option<RunName>,
    asking: watch::Receiver<Option<ApprovalWait>>,
    over: watch::Receiver<Option<CallResult>>,
    stop: CancellationToken,
    /// Fires when the caller gives up.
    caller: CancellationToken,
    /// None: nothing can be taken back any more.
    claim: Option<CancelOnDrop>,
}

/// One caller's right to take a call back.
#[derive(Debug)]
struct CancelOnDrop {
    owner: Arc<CallOwner>,
    place: u32,
}

impl CallHandle {
    /// One that is over already.
    pub(crate) fn over(called: CallResult, stop: CancellationToken) -> Self {
        let (_, asking) = watch::channel(None);
        let (_, over) = watch::channel(Some(called));
        Self { name: None, asking, over, stop, caller: CancellationToken::new(), claim: None }
    }

    /// The same, as the run that it was.
    pub(crate) fn of(self, name: (SessionId, RunId)) -> Self {
        Self { name: Some(name), ..self }
    }

    /// The run that it is, for as long as it may be asked for once more.
    pub(crate) fn name(&self) -> Option<&(SessionId, RunId)> {
        self.name.as_ref()
    }

    /// Nobody takes the call back any more; it is people's now.
    pub(crate) fn let_go(mut self) {
        if let Some(claim) = self.claim.take() {
            *lock(&claim.owner.callers) += 1;
        }
    }

    /// What happens next; nothing does after [`CallEvent::Over`] and [`CallEvent::Parked`]. Can be cancelled without losing
    /// anything.
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
                // What comes of it then is heard like anything else.
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

/// What came of making a call again.
pub(crate) enum JoinOutcome {
    /// It is under way, and the newest caller's now.
    Joined(CallHandle),
    /// Nobody waits for one of this name, or it is being taken back.
    Nobody,
    /// The one of this name is somebody else's, who waits for it.
    Another,
}

impl KeyIssuer {
    /// Whether whoever calls now may be the one who called before. Who has no name may be anybody else without one; and a
    /// program that lost its line may have begun a session anew.
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
    /// Somebody makes a call of this name, which nobody waits for yet; `cancel` stops it. `waits`: its request, if that waits
    /// already.
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

    /// Somebody makes a call again that is under way.
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

    /// Remembers that a call is this program's too.
    pub fn note_joined(&self, ask: &AgentRequest, by: &KeyIssuer) {
        let Some(program) = by.program() else { return };
        let mut joined = lock(&self.joined);
        if joined.len() >= MOST_JOINED {
            joined.pop_front();
        }
        joined.push_back((name(ask), program.to_owned()));
    }

    /// Whether a program has joined a call of this name.
    pub fn has_joined(&self, ask: &AgentRequest, program: &str) -> bool {
        let name = name(ask);
        lock(&self.joined).iter().any(|(call, by)| *call == name && by == program)
    }

    /// Who wants to hear how people are asked about a run's call.
    pub fn of(&self, ask: &AgentRequest) -> Option<watch::Sender<Option<ApprovalWait>>> {
        self.ears().get(&name(ask)).map(|ear| ear.asking.clone())
    }

    /// Tells whoever still waits what came of a call.
    pub fn tell(&self, ask: &AgentRequest, called: impl FnOnce() -> CallResult) {
        let ear = self.ears().remove(&name(ask));
        if let Some(ear) = ear {
            ear.over.send_replace(Some(called()));
        }
    }

    /// Nothing came of a call: it did not begin.
    pub fn close(&self, ask: &AgentRequest) {
        self.ears().remove(&name(ask));
    }

    fn ears(&self) -> MutexGuard<'_, HashMap<RunName, CallWaiter>> {
        lock(&self.waiting)
    }
}

impl CallWaiter {
    /// The call is the newest caller's. `None`: it is being taken back.
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
        // Also what was said before somebody came.
        asking.mark_changed();
        let over = self.over.subscribe();
        let (caller, stop) = (to.caller.clone(), to.stop.clone());
        CallHandle { name: Some(name), asking, over, stop, caller, claim: Some(claim) }
    }
}

fn name(ask: &AgentRequest) -> RunName {
    (ask.session.clone(), ask.run.clone())
}

/// What is inside is consistent between any two statements.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The other side of a call that nobody has made, for tests of those who wait.
#[cfg(test)]
pub struct StagedCall {
    /// How people are asked.
    pub asking: watch::Sender<Option<ApprovalWait>>,
    /// What came of it.
    pub over: watch::Sender<Option<CallResult>>,
}

#[cfg(test)]
impl StagedCall {
    /// A call, and who hears of it.
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
