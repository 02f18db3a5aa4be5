//! Registry of MCP sessions: their owners, their use, and the choice of the session that ends to
//! admit another.
//!
//! Clients seldom end their sessions, so unused ones accumulate. If a person has too many, the one
//! idle the longest ends; its client, if there still is one, gets 404 and begins anew. A session in
//! use, because a client listens or people are being asked, never ends to admit another; only then
//! is a new session refused, with the reason.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

use copydesk_ids::UserId;

/// Maximum numbers of sessions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SessionBounds {
    /// Sessions of one person, with all of the person's tokens.
    pub(crate) person: usize,
    /// Sessions of all people together.
    pub(crate) all: usize,
}

impl Default for SessionBounds {
    fn default() -> Self {
        Self { person: 100, all: 1_000 }
    }
}

/// Reason that [`McpSessions::begin`] refuses a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SessionsFull {
    /// Limit of the person, with all sessions in use.
    Person,
    /// Limit of the server, with all sessions in use.
    All,
}

/// All sessions. Clones share one state.
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
    /// Number of uses so far, which orders them.
    clock: u64,
}

#[derive(Debug)]
struct McpSession {
    owner: UserId,
    /// Number of connections and calls.
    uses: usize,
    /// Value of the clock when the last use began or ended.
    used: u64,
    /// Token that is cancelled when the session is over: the library below continues its calls for
    /// a while.
    over: CancellationToken,
    calls: TaskTracker,
}

/// Use of a session from [`McpSessions::hold`], until dropped.
#[derive(Debug)]
pub(crate) struct SessionUse {
    sessions: McpSessions,
    session: String,
}

/// Call in a session from [`McpSessions::call`], until dropped.
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

    /// Registers a session. Returns the sessions that end to admit it.
    pub(crate) fn begin(&self, session: &str, owner: &UserId) -> Result<Vec<String>, SessionsFull> {
        let SessionBounds { person, all } = self.0.bounds;
        let mut open = self.0.open.lock();
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

    pub(crate) fn owner(&self, session: &str) -> Option<UserId> {
        self.0.open.lock().sessions.get(session).map(|it| it.owner.clone())
    }

    /// Begins a use of a session, if it exists.
    pub(crate) fn hold(&self, session: &str) -> Option<SessionUse> {
        self.0.open.lock().change(session, |it| it.uses += 1)?;
        Some(SessionUse { sessions: self.clone(), session: session.to_owned() })
    }

    /// Begins a call in a session, if it exists; the session keeps its place meanwhile.
    pub(crate) fn call(&self, session: &str) -> Option<SessionCall> {
        let held = self.hold(session)?;
        let open = self.0.open.lock();
        let McpSession { over, calls, .. } = open.sessions.get(session)?;
        Some(SessionCall { over: over.clone(), _counted: calls.token(), _use: held })
    }

    /// Ends a session, if it exists, and cancels its calls. Returns the tracker of the calls in
    /// progress.
    pub(crate) fn end(&self, session: &str) -> Option<TaskTracker> {
        let McpSession { over, calls, .. } = self.0.open.lock().sessions.remove(session)?;
        over.cancel();
        calls.close();
        Some(calls)
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

    /// Ends the session of a person that was idle the longest.
    fn end_idle_of(&mut self, owner: &UserId) -> Option<String> {
        let idle = self.sessions.iter().filter(|(_, it)| it.owner == *owner && it.uses == 0);
        let oldest = idle.min_by_key(|(_, it)| it.used).map(|(name, _)| name.clone())?;
        self.sessions.remove(&oldest);
        Some(oldest)
    }

    /// Ends an idle session of the person with the most sessions.
    fn end_idle(&mut self) -> Option<String> {
        let idle = self.sessions.values().filter(|it| it.uses == 0).map(|it| it.owner.clone());
        let fullest = idle.max_by_key(|owner| self.count(owner))?;
        self.end_idle_of(&fullest)
    }
}

impl Drop for SessionUse {
    fn drop(&mut self) {
        self.sessions.0.open.lock().change(&self.session, |it| it.uses -= 1);
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
            "someone still uses it"
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
    async fn a_call_hears_that_its_session_is_over_and_a_person_who_ends_it_that_the_call_is() {
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
    fn no_one_shuts_others_out() {
        let sessions = few();
        for name in ["1", "2", "3", "4", "5", "6"] {
            begins(&sessions, name, "ana").unwrap();
        }
        begins(&sessions, "b1", "ben").unwrap();
        begins(&sessions, "b2", "ben").unwrap();
        // The person with the most sessions loses one.
        assert_eq!(begins(&sessions, "c1", "cleo"), Ok(ended(&["4"])));
        let _uses: Vec<_> = ["5", "6"].map(|name| sessions.hold(name)).into();
        assert_eq!(begins(&sessions, "c2", "cleo"), Ok(ended(&["b1"])));
        let _more: Vec<_> = ["b2", "c1", "c2"].map(|name| sessions.hold(name)).into();
        assert_eq!(begins(&sessions, "d1", "dana"), Err(SessionsFull::All));
    }
}
