//! Documents whose texts programs listen to, on this server and on the others of several. Each
//! server tells the others what its programs listen to, and hears of changes in these documents
//! only.
//!
//! What another server listens to holds for a while, and is announced again before that is over: so
//! nothing has to be taken back, and a server that takes a document over knows it already.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::Instant;

use copydesk_ids::DocumentId;

/// Interval at which a server tells again what its programs listen to.
const AGAIN: Duration = Duration::from_secs(20);
/// Time for which that holds on the other servers.
const HOLDS: Duration = Duration::from_mins(1);
/// Time in which every server has announced what its programs listen to, since this one started or
/// may have missed it.
const ALL_TOLD: Duration = Duration::from_secs(25);

/// Documents that programs of this server listen to. Clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct WatchedHere(Arc<HereInner>);

#[derive(Debug, Default)]
struct HereInner {
    watched: Mutex<WatchedCounts>,
    is_new: Notify,
}

#[derive(Debug, Default)]
struct WatchedCounts {
    listeners: HashMap<DocumentId, usize>,
    /// Documents that the other servers have not learned of yet.
    new: Vec<DocumentId>,
}

/// Document that a program listens to, until dropped.
#[derive(Debug)]
pub(crate) struct WatchedDocument {
    here: WatchedHere,
    document: DocumentId,
}

impl WatchedHere {
    /// Begins to listen to a document.
    pub(crate) fn watch(&self, document: &DocumentId) -> WatchedDocument {
        let mut watched = self.0.watched.lock();
        let listeners = watched.listeners.entry(document.clone()).or_insert(0);
        *listeners += 1;
        if *listeners == 1 {
            watched.new.push(document.clone());
            self.0.is_new.notify_one();
        }
        WatchedDocument { here: self.clone(), document: document.clone() }
    }

    fn all(&self) -> Vec<DocumentId> {
        let mut watched = self.0.watched.lock();
        watched.new.clear();
        watched.listeners.keys().cloned().collect()
    }
}

impl Drop for WatchedDocument {
    fn drop(&mut self) {
        let mut watched = self.here.0.watched.lock();
        if let Some(listeners) = watched.listeners.get_mut(&self.document) {
            *listeners -= 1;
            if *listeners == 0 {
                watched.listeners.remove(&self.document);
            }
        }
    }
}

/// Receiver of the documents that the other servers are to learn of.
#[derive(Debug)]
pub struct WatchedNews {
    here: WatchedHere,
    again: Instant,
}

impl WatchedNews {
    pub(crate) fn of(here: WatchedHere) -> Self {
        Self { here, again: Instant::now() + AGAIN }
    }

    /// Waits for new ones, or until it is time to tell all of them again.
    pub async fn next(&mut self) -> Vec<DocumentId> {
        loop {
            let new = std::mem::take(&mut self.here.0.watched.lock().new);
            if !new.is_empty() {
                return new;
            }
            let is_new = self.here.0.is_new.notified();
            if tokio::time::timeout_at(self.again, is_new).await.is_err() {
                self.again = Instant::now() + AGAIN;
                let all = self.here.all();
                if !all.is_empty() {
                    return all;
                }
            }
        }
    }
}

/// Documents that programs of other servers listen to. Clones share them.
#[derive(Clone, Debug)]
pub(crate) struct OthersWatched(Arc<Mutex<OthersWatchedInner>>);

#[derive(Debug)]
struct OthersWatchedInner {
    /// Documents, and the times until which others listen.
    until: HashMap<DocumentId, Instant>,
    /// Time until which anything may be listened to.
    all_until: Instant,
}

impl Default for OthersWatched {
    fn default() -> Self {
        let all_until = Instant::now() + ALL_TOLD;
        Self(Arc::new(Mutex::new(OthersWatchedInner { until: HashMap::new(), all_until })))
    }
}

impl OthersWatched {
    /// Notes what programs of another server listen to. Returns the documents that are new.
    pub(crate) fn note(&self, documents: Vec<DocumentId>) -> Vec<DocumentId> {
        let mut inner = self.0.lock();
        let now = Instant::now();
        inner.until.retain(|_, until| *until > now);
        let mut new = Vec::new();
        for document in documents {
            if inner.until.insert(document.clone(), now + HOLDS).is_none() {
                new.push(document);
            }
        }
        new
    }

    pub(crate) fn note_missed(&self) {
        self.0.lock().all_until = Instant::now() + ALL_TOLD;
    }

    /// Returns `true` if someone may listen to a document.
    pub(crate) fn has(&self, document: &DocumentId) -> bool {
        let (inner, now) = (self.0.lock(), Instant::now());
        inner.all_until > now || inner.until.get(document).is_some_and(|until| *until > now)
    }

    /// Returns all documents that others are known to listen to.
    pub(crate) fn known(&self) -> BTreeSet<DocumentId> {
        self.0.lock().until.keys().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn what_is_listened_to_is_told_at_once_and_again_as_long_as_it_is() {
        let here = WatchedHere::default();
        let mut news = WatchedNews::of(here.clone());
        let began = Instant::now();
        let (first, second) = (here.watch(&"doc_1".into()), here.watch(&"doc_1".into()));
        assert_eq!(news.next().await, ["doc_1".into()]);
        assert_eq!(began.elapsed(), Duration::ZERO);
        drop(first);
        assert_eq!(news.next().await, ["doc_1".into()]);
        assert!(began.elapsed() < HOLDS / 2);
        drop(second);
        let third = here.watch(&"doc_2".into());
        assert_eq!(news.next().await, ["doc_2".into()]);
        assert_eq!(news.next().await, ["doc_2".into()], "the other one is over");
        drop(third);
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_starts_or_has_missed_something_tells_everything_for_a_while() {
        let elsewhere = OthersWatched::default();
        let (first, second): (DocumentId, DocumentId) = ("doc_1".into(), "doc_2".into());
        let note = |document: &DocumentId| elsewhere.note(vec![document.clone()]).len();
        assert!(elsewhere.has(&first));
        tokio::time::advance(ALL_TOLD).await;
        assert!(!elsewhere.has(&first));
        assert_eq!((note(&first), note(&first)), (1, 0));
        assert!(elsewhere.has(&first) && !elsewhere.has(&second));
        elsewhere.note_missed();
        assert!(elsewhere.has(&second));
        tokio::time::advance(HOLDS).await;
        assert!(!elsewhere.has(&first) && !elsewhere.has(&second));
        assert_eq!(note(&first), 1);
    }
}
