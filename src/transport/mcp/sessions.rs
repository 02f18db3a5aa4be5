//! The sessions there are: whose each is, whether it is in use, and which one makes room for another. Pure.
//!
//! Clients seldom say that a session is over, so those nobody uses any more pile up: of a person who has too many the one that
//! lay idle the longest ends, and its client, if there still is one, is told 404 and begins anew. To refuse the new one
//! instead would shut people out of their own desk until the old ones run out. What is in use is never ended for
//! another: somebody listens, or people are being asked; only then is a new session refused, and its person told why.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

use crate::ids::UserId;

/// How many there may be at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SessionBounds {
    /// Of one person, with all of their tokens.
    pub(crate) person: usize,
    /// Of all people together.
    pub(crate) all: usize,
}

impl Default for SessionBounds {
    fn default() -> Self {
        Self { person: 100, all: 1_000 }
    }
}

/// Why a session cannot begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SessionsFull {
    /// The person has too many, and uses all of them.
    Person,
    /// There are too many, and all are in use.
    All,
}

/// All sessions. Clones are the same ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct McpSessions(Arc<SessionsInner>);

#[derive(Debug, Default)]
struct SessionsInner {
    bounds: SessionBounds,
    open: Mutex<OpenSessions>,
}

#[derive(Debug, Default)]
struct OpenSessions {
    sessions: HashMap<String, McpSession>,
    /// Counts uses, so that they have an order.
    clock: u64,
}

#[derive(Debug)]
struct McpSession {
    owner: UserId,
    /// Connections and calls.
    uses: usize,
    /// When the last use began or ended.
    used: u64,
    /// Fires when it is over. The library below goes on with its calls for a while, when nobody can hear of them.
    over: CancellationToken,
    /// Its calls under way.
    calls: TaskTracker,
}

/// A use of a session, until it is dropped.
#[derive(Debug)]
pub(crate) struct SessionUse {
    sessions: McpSessions,
    session: String,
}

/// A call of a session, until it is dropped.
#[derive(Debug)]
pub(crate) struct SessionCall {
    over: CancellationToken,
    _use: SessionUse,
    _counted: TaskTrackerToken,
}

impl SessionCall {
    /// Waits until the session is over.
    pub(crate) async fn over(&self) {
        self.over.cancelled().await;
    }
}

impl McpSessions {
    #[cfg(test)]
    fn with(bounds: SessionBounds) -> Self {
        Self(Arc::new(SessionsInner { bounds, open: Mutex::default() }))
    }

    /// A session has begun. The answer is those that end for it.
    pub(crate) fn begin(&self, session: &str, owner: &UserId) -> Result<Vec<String>, SessionsFull> {
        let SessionBounds { person, all } = self.0.bounds;
        let mut open = self.open();
        let mut ended = Vec::new();
        if open.count(owner) >= person {
            ended.push(open.end_idle_of(owner).ok_or(SessionsFull::Person)?);
        }
        if open.sessions.len() >= all {
            ended.push(open.end_idle().ok_or(SessionsFull::All)?);
        }
        open.clock += 1;
        let begun = McpSession {
            owner: owner.clone(),
            uses: 0,
            used: open.clock,
            over: CancellationToken::new(),
            calls: TaskTracker::new(),
        };
        open.sessions.insert(session.to_owned(), begun);
        Ok(ended)
    }

    /// Whose it is, if it is there.
    pub(crate) fn owner(&self, session: &str) -> Option<UserId> {
        self.open().sessions.get(session).map(|it| it.owner.clone())
    }

    /// Somebody begins to use it, if it is there.
    pub(crate) fn hold(&self, session: &str) -> Option<SessionUse> {
        self.open().change(session, |it| it.uses += 1)?;
        Some(SessionUse { sessions: self.clone(), session: session.to_owned() })
    }

    /// A call is made in it, if it is there: people may be asked, so nobody else gets its place.
    pub(crate) fn call(&self, session: &str) -> Option<SessionCall> {
        let held = self.hold(session)?;
        let open = self.open();
        let McpSession { over, calls, .. } = open.sessions.get(session)?;
        Some(SessionCall { over: over.clone(), _counted: calls.token(), _use: held })
    }

    /// Whether it is used besides by its calls: whoever is there can be told.
    pub(crate) fn is_listening(&self, session: &str) -> bool {
        self.open().sessions.get(session).is_some_and(|it| it.uses > it.calls.len())
    }

    /// It is over, and its calls are given up. The calls under way, if it was there.
    pub(crate) fn end(&self, session: &str) -> Option<TaskTracker> {
        let McpSession { over, calls, .. } = self.open().sessions.remove(session)?;
        over.cancel();
        calls.close();
        Some(calls)
    }

    fn open(&self) -> MutexGuard<'_, OpenSessions> {
        // Consistent between any two statements.
        self.0.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenSessions {
    fn count(&self, owner: &UserId) -> usize {
        self.sessions.values().filter(|it| it.owner == *owner).count()
    }

    fn change(&mut self, session: &str, change: impl FnOnce(&mut McpSession)) -> Option<()> {
        self.clock += 1;
        let found = self.sessions.get_mut(session)?;
        found.used = self.clock;
        change(found);
        Some(())
    }

    /// Ends the one of a person that lay idle the longest.
    fn end_idle_of(&mut self, owner: &UserId) -> Option<String> {
        let idle = self.sessions.iter().filter(|(_, it)| it.owner == *owner && it.uses == 0);
        let oldest = idle.min_by_key(|(_, it)| it.used).map(|(name, _)| name.clone())?;
        self.sessions.remove(&oldest);
        Some(oldest)
    }

    /// Ends one of whoever has the most, of those who have an idle one.
    fn end_idle(&mut self) -> Option<String> {
        let idle = self.sessions.values().filter(|it| it.uses == 0).map(|it| it.owner.clone());
        let fullest = idle.max_by_key(|owner| self.count(owner))?;
        self.end_idle_of(&fullest)
    }
}

impl Drop for SessionUse {
    fn drop(&mut self) {
        self.sessions.open().change(&self.session, |it| it.uses -= 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn few() -> McpSessions {
        McpSessions::with(SessionBounds { person: 3, all: 5 })
    }

    fn begins(
        sessions: &McpSessions,
        name: &str,
        owner: &str,
    ) -> Result<Vec<String>, SessionsFull> {
        sessions.begin(name, &owner.into())
    }

    fn ended(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn the_one_that_lay_idle_the_longest_makes_room() {
        let sessions = few();
        for name in ["1", "2", "3"] {
            assert_eq!(begins(&sessions, name, "ana"), Ok(ended(&[])));
        }
        drop(sessions.hold("1"));
        assert_eq!(begins(&sessions, "4", "ana"), Ok(ended(&["2"])));
        assert_eq!(begins(&sessions, "5", "ana"), Ok(ended(&["3"])));
        assert_eq!((sessions.owner("2"), sessions.owner("1")), (None, Some("ana".into())));
        assert!(sessions.end("1").is_some() && sessions.end("1").is_none());
        assert_eq!(begins(&sessions, "6", "ana"), Ok(ended(&[])));
    }

    #[test]
    fn what_is_in_use_is_never_ended_for_another() {
        let sessions = few();
        let mut uses = Vec::new();
        for name in ["1", "2", "3"] {
            begins(&sessions, name, "ana").unwrap();
            uses.push(sessions.hold(name).unwrap());
        }
        let twice = sessions.hold("2");
        assert_eq!(begins(&sessions, "4", "ana"), Err(SessionsFull::Person));
        drop(uses.remove(1));
        assert_eq!(
            begins(&sessions, "4", "ana"),
            Err(SessionsFull::Person),
            "somebody still uses it"
        );
        drop(twice);
        assert_eq!(begins(&sessions, "4", "ana"), Ok(ended(&["2"])));
        assert!(sessions.hold("2").is_none());
        // A use that outlives its session changes nothing.
        sessions.end("1");
        drop(uses);
        assert_eq!(sessions.owner("3"), Some("ana".into()));
    }

    #[tokio::test]
    async fn a_call_hears_that_its_session_is_over_and_whoever_ends_it_that_the_call_is() {
        let sessions = few();
        begins(&sessions, "1", "ana").unwrap();
        assert!(sessions.call("2").is_none());
        let call = sessions.call("1").unwrap();
        let calls = sessions.end("1").unwrap();
        call.over().await;
        assert_eq!(calls.len(), 1);
        drop(call);
        calls.wait().await;
        assert!(sessions.call("1").is_none());
    }

    #[test]
    fn nobody_shuts_others_out() {
        let sessions = few();
        for name in ["1", "2", "3", "4", "5", "6"] {
            begins(&sessions, name, "ana").unwrap();
        }
        begins(&sessions, "b1", "ben").unwrap();
        begins(&sessions, "b2", "ben").unwrap();
        // Whoever has the most gives.
        assert_eq!(begins(&sessions, "c1", "cleo"), Ok(ended(&["4"])));
        let _uses: Vec<_> = ["5", "6"].map(|name| sessions.hold(name)).into();
        assert_eq!(begins(&sessions, "c2", "cleo"), Ok(ended(&["b1"])));
        let _more: Vec<_> = ["b2", "c1", "c2"].map(|name| sessions.hold(name)).into();
        assert_eq!(begins(&sessions, "d1", "dana"), Err(SessionsFull::All));
    }
}
