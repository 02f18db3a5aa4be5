//! Who waits for which call in this process, and whose giving up takes its request back.
//!
//! A caller that lost its connection calls again, and joins the call that is under way. From then on the call is theirs: that
//! the connection before it is noticed to be gone, or closed at last, takes nothing back.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::ids::{RequestId, RunId, SessionId};
use crate::tools::Asking;

use super::Ask;
use super::call::{Called, Heard};

/// A run, as its session calls it.
type Name = (SessionId, RunId);

/// Who waits for which call in this process.
#[derive(Debug, Default)]
pub(super) struct Ears(Mutex<HashMap<Name, Ear>>);

/// Those who wait for one call.
#[derive(Debug)]
struct Ear {
    asking: watch::Sender<Option<Asking>>,
    over: watch::Sender<Option<Called>>,
    owner: Arc<Owner>,
}

/// Whose a call is.
#[derive(Debug)]
struct Owner {
    /// Counts how often it was made; the newest caller owns it.
    callers: Mutex<u32>,
    /// Stops the run.
    cancel: CancellationToken,
}

/// A call under way. Dropping it takes the request back, unless the same call was made again since.
#[derive(Debug)]
pub struct Ongoing {
    asking: watch::Receiver<Option<Asking>>,
    over: watch::Receiver<Option<Called>>,
    stop: CancellationToken,
    /// Fires when the caller gives up.
    caller: CancellationToken,
    /// None: nothing can be taken back any more.
    claim: Option<Claim>,
}

/// One caller's right to take a call back.
#[derive(Debug)]
struct Claim {
    owner: Arc<Owner>,
    place: u32,
}

impl Ongoing {
    /// One that is over already.
    pub(super) fn over(called: Called, stop: CancellationToken) -> Self {
        let (_, asking) = watch::channel(None);
        let (_, over) = watch::channel(Some(called));
        Self { asking, over, stop, caller: CancellationToken::new(), claim: None }
    }

    /// Nobody takes the call back any more; it is people's now.
    pub(super) fn let_go(mut self) {
        if let Some(claim) = self.claim.take() {
            *lock(&claim.owner.callers) += 1;
        }
    }

    /// What happens next; nothing does after [`Heard::Over`] and [`Heard::Parked`]. Can be cancelled without losing
    /// anything.
    pub async fn next(&mut self) -> Heard {
        loop {
            tokio::select! {
                biased;
                Ok(()) = self.asking.changed() => {
                    let asking = self.asking.borrow_and_update().clone();
                    if let Some(asking) = asking {
                        return Heard::Asking(asking);
                    }
                }
                over = self.over.wait_for(Option::is_some) => {
                    let called = over.ok().and_then(|called| called.clone());
                    return called.map_or(Heard::Parked, |called| Heard::Over(Box::new(called)));
                }
                () = self.stop.cancelled() => return Heard::Parked,
                // What comes of it then is heard like anything else.
                () = self.caller.cancelled(), if self.claim.is_some() => self.claim = None,
            }
        }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let callers = lock(&self.owner.callers);
        if *callers == self.place {
            self.owner.cancel.cancel();
        }
    }
}

impl Ears {
    /// Somebody makes a call of this name, which nobody waits for yet; `cancel` stops it, `caller` fires when they give up.
    /// `waits`: its request, if that waits already.
    pub fn open(
        &self,
        ask: &Ask,
        waits: Option<RequestId>,
        cancel: CancellationToken,
        caller: &CancellationToken,
        stop: &CancellationToken,
    ) -> Ongoing {
        let owner = Arc::new(Owner { callers: Mutex::new(1), cancel });
        let claim = Claim { owner: Arc::clone(&owner), place: 1 };
        let asking = watch::Sender::new(waits.map(Asking::Waits));
        let ear = Ear { asking, over: watch::Sender::new(None), owner };
        let ongoing = ear.tell(claim, caller, stop);
        self.ears().insert(name(ask), ear);
        ongoing
    }

    /// Somebody makes a call again that is under way. `None`: nobody waits for one of this name, or it is being taken back.
    pub fn join(
        &self,
        ask: &Ask,
        caller: &CancellationToken,
        stop: &CancellationToken,
    ) -> Option<Ongoing> {
        let ears = self.ears();
        let ear = ears.get(&name(ask))?;
        Some(ear.tell(ear.claim()?, caller, stop))
    }

    /// Who wants to hear how people are asked about a run's call.
    pub fn of(&self, ask: &Ask) -> Option<watch::Sender<Option<Asking>>> {
        self.ears().get(&name(ask)).map(|ear| ear.asking.clone())
    }

    /// Tells whoever still waits what came of a call.
    pub fn tell(&self, ask: &Ask, called: impl FnOnce() -> Called) {
        let ear = self.ears().remove(&name(ask));
        if let Some(ear) = ear {
            ear.over.send_replace(Some(called()));
        }
    }

    /// Nothing came of a call: it did not begin.
    pub fn close(&self, ask: &Ask) {
        self.ears().remove(&name(ask));
    }

    fn ears(&self) -> MutexGuard<'_, HashMap<Name, Ear>> {
        lock(&self.0)
    }
}

impl Ear {
    /// The call is the newest caller's. `None`: it is being taken back.
    fn claim(&self) -> Option<Claim> {
        let mut callers = lock(&self.owner.callers);
        if self.owner.cancel.is_cancelled() {
            return None;
        }
        *callers += 1;
        Some(Claim { owner: Arc::clone(&self.owner), place: *callers })
    }

    fn tell(&self, claim: Claim, caller: &CancellationToken, stop: &CancellationToken) -> Ongoing {
        let mut asking = self.asking.subscribe();
        // Also what was said before somebody came.
        asking.mark_changed();
        let over = self.over.subscribe();
        let (caller, stop) = (caller.clone(), stop.clone());
        Ongoing { asking, over, stop, caller, claim: Some(claim) }
    }
}

fn name(ask: &Ask) -> Name {
    (ask.session.clone(), ask.run.clone())
}

/// What is inside is consistent between any two statements.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The other side of a call that nobody has made, for tests of those who wait.
#[cfg(test)]
pub struct Staged {
    /// How people are asked.
    pub asking: watch::Sender<Option<Asking>>,
    /// What came of it.
    pub over: watch::Sender<Option<Called>>,
}

#[cfg(test)]
impl Staged {
    /// A call, and who hears of it.
    pub fn call() -> (Self, Ongoing) {
        let (asking, over) = (watch::Sender::new(None), watch::Sender::new(None));
        let ongoing = Ongoing {
            asking: asking.subscribe(),
            over: over.subscribe(),
            stop: CancellationToken::new(),
            caller: CancellationToken::new(),
            claim: None,
        };
        (Self { asking, over }, ongoing)
    }
}
