//! Notifications of changed documents, and of changes to the list of documents, for the callers
//! that asked for them.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use tokio::sync::broadcast::error::RecvError;
use tokio::sync::broadcast::{self, Receiver};

use tokio::time::Instant;

use super::watched_documents::{OthersWatched, WatchedDocument, WatchedHere, WatchedNews};
use copydesk_ids::{DocumentId, MemberId};
use copydesk_rooms::event::{DocumentChange, RoomEvent, ServerEvent};
use copydesk_rooms::{EncodedEvent, EventSink};

/// Number of changes that may wait for a listener; a listener that misses some reports all its
/// subscriptions as changed.
const WAITING: usize = 1_024;
/// Time within which changes are reported as one.
const TOGETHER: Duration = Duration::from_millis(500);

/// Pause between two messages about changes to other servers, which report what comes within
/// [`TOGETHER`] as one.
const TELL_PAUSE: Duration = Duration::from_millis(250);
/// Time for which a change is remembered, for a program of another server that begins to listen:
/// longer than it takes until this server knows of it.
const RECENT: Duration = Duration::from_secs(3);
/// Number of recent changes above which the older ones are forgotten.
const MANY_RECENT: usize = 256;

/// Event sink that receives every room's updates and passes on which documents changed.
#[derive(Clone, Debug)]
pub struct DocumentChanges {
    happenings: broadcast::Sender<Happening>,
    here: WatchedHere,
    elsewhere: OthersWatched,
}

/// News for listeners.
#[derive(Clone, Debug)]
enum Happening {
    /// Event in one document.
    In(DocumentHappening),
    /// Anything may have happened on other servers.
    Missed,
    /// Programs of another server begin to listen to a document.
    Watched(DocumentId),
}

/// Event in one document.
#[derive(Clone, Debug)]
struct DocumentHappening {
    document: DocumentId,
    /// `true` if the document's text changed.
    text: bool,
    /// `true` if the list of documents changed: the document was created, deleted or renamed.
    list: bool,
    /// `false` if another server of several has announced it.
    is_here: bool,
}

impl Default for DocumentChanges {
    fn default() -> Self {
        Self {
            happenings: broadcast::channel(WAITING).0,
            here: WatchedHere::default(),
            elsewhere: OthersWatched::default(),
        }
    }
}

impl DocumentChanges {
    pub(crate) fn listen(&self) -> ChangeListener {
        ChangeListener(self.happenings.subscribe())
    }

    /// Notes that a program listens to a document's text, for the other servers of several.
    pub(crate) fn watch(&self, document: &DocumentId) -> WatchedDocument {
        self.here.watch(document)
    }

    fn send(&self, happening: Happening) {
        // It is no error if no one listens.
        self.happenings.send(happening).ok();
    }

    fn happened(&self, document: &DocumentId, text: bool, list: bool) {
        let document = document.clone();
        self.send(Happening::In(DocumentHappening { document, text, list, is_here: true }));
    }

    /// Notes that a document was renamed or deleted on another server of several.
    pub fn note_elsewhere(&self, document: DocumentId) {
        let (text, list, is_here) = (true, true, false);
        self.send(Happening::In(DocumentHappening { document, text, list, is_here }));
    }

    /// Notes that texts have changed on another server.
    pub fn note_texts_elsewhere(&self, documents: Vec<DocumentId>) {
        let (text, list, is_here) = (true, false, false);
        for document in documents {
            self.send(Happening::In(DocumentHappening { document, text, list, is_here }));
        }
    }

    /// Notes that programs of another server listen to the texts of these documents.
    pub fn note_watched(&self, documents: Vec<DocumentId>) {
        for document in self.elsewhere.note(documents) {
            self.send(Happening::Watched(document));
        }
    }

    /// Notes that something of other servers may have been missed.
    pub fn note_missed(&self) {
        self.elsewhere.note_missed();
        self.send(Happening::Missed);
    }

    /// Returns a receiver of the documents that are renamed or deleted on this server.
    pub fn renames(&self) -> RenamedDocuments {
        RenamedDocuments(self.happenings.subscribe())
    }

    /// Returns a receiver of the documents that programs here listen to.
    pub fn watched(&self) -> WatchedNews {
        WatchedNews::of(self.here.clone())
    }

    /// Returns a receiver of the changes here in documents that programs elsewhere listen to.
    pub fn for_others(&self) -> ChangesForOthers {
        ChangesForOthers {
            happenings: self.happenings.subscribe(),
            elsewhere: self.elsewhere.clone(),
            not_before: Instant::now(),
            recent: HashMap::new(),
            most_recent: MANY_RECENT,
        }
    }
}

/// Receiver of the changes on this server in documents that programs of other servers listen to.
pub struct ChangesForOthers {
    happenings: Receiver<Happening>,
    elsewhere: OthersWatched,
    /// Time before which nothing more is announced, so that many changes are announced as one.
    not_before: Instant,
    /// Documents that changed a short while ago.
    recent: HashMap<DocumentId, Instant>,
    /// Number of these from which those that are too old are forgotten.
    most_recent: usize,
}

impl ChangesForOthers {
    /// Waits for changes, and returns the documents; `None` if the server stops.
    pub async fn next(&mut self) -> Option<Vec<DocumentId>> {
        let mut changed = BTreeSet::new();
        loop {
            let happened = if changed.is_empty() {
                self.happenings.recv().await
            } else {
                let more = tokio::time::timeout_at(self.not_before, self.happenings.recv());
                let Ok(happened) = more.await else { break };
                happened
            };
            match happened {
                Ok(happening) => changed.extend(self.note(happening)),
                Err(RecvError::Lagged(_)) => changed.extend(self.elsewhere.known()),
                Err(RecvError::Closed) => return None,
            }
        }
        self.not_before = Instant::now() + TELL_PAUSE;
        Some(changed.into_iter().collect())
    }

    /// Notes an event; returns the document if it is to be announced.
    fn note(&mut self, happening: Happening) -> Option<DocumentId> {
        match happening {
            Happening::In(DocumentHappening {
                document,
                text: true,
                list: false,
                is_here: true,
            }) => {
                if self.recent.len() >= self.most_recent {
                    self.recent.retain(|_, at| at.elapsed() < RECENT);
                    self.most_recent = MANY_RECENT.max(2 * self.recent.len());
                }
                self.recent.insert(document.clone(), Instant::now());
                Some(document).filter(|document| self.elsewhere.has(document))
            }
            Happening::Watched(document) => {
                let is_recent = self.recent.get(&document).is_some_and(|at| at.elapsed() < RECENT);
                Some(document).filter(|_| is_recent)
            }
            Happening::In(_) | Happening::Missed => None,
        }
    }
}

/// Receiver of the documents that are renamed or deleted on this server.
pub struct RenamedDocuments(Receiver<Happening>);

impl RenamedDocuments {
    /// Waits for the next one; `None` if the server stops. Some are left out if too many wait.
    pub async fn next(&mut self) -> Option<DocumentId> {
        loop {
            match self.0.recv().await {
                // A new document has no text that others know.
                Ok(Happening::In(it)) if it.is_here && it.list && it.text => {
                    return Some(it.document);
                }
                Ok(_) | Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return None,
            }
        }
    }
}

impl EventSink for DocumentChanges {
    fn notify(
        &self,
        document: &DocumentId,
        _: &[MemberId],
        event: &RoomEvent,
        _: Option<&EncodedEvent>,
    ) {
        match event {
            RoomEvent::Updates { updates, .. } if !updates.is_empty() => {
                self.happened(document, true, false);
            }
            RoomEvent::Changed(DocumentChange::Title(_) | DocumentChange::Deleted) => {
                self.happened(document, true, true);
            }
            _ => {}
        }
    }

    fn announce(&self, news: &ServerEvent) {
        match news {
            ServerEvent::Created { id, .. } => self.happened(id, false, true),
            ServerEvent::Settings(_) | ServerEvent::Mentions(_) => {}
        }
    }
}

/// Predicates for the documents of which a [`ChangeListener`] reports changes.
pub(crate) struct ListenerFilter<T, L> {
    /// Documents whose text matters.
    pub(crate) text: T,
    /// Documents whose creation, deletion and title matter.
    pub(crate) list: L,
}

/// Changes since the last notification.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ListenerNews {
    /// Documents with a changed text.
    changed: BTreeSet<DocumentId>,
    /// True if changes were missed, so that any document may have changed.
    any: bool,
    /// True if the list of documents changed.
    pub(crate) list: bool,
}

impl ListenerNews {
    /// Returns `true` if this document may have changed.
    pub(crate) fn has(&self, document: &DocumentId) -> bool {
        self.any || self.changed.contains(document)
    }

    /// Notes an event, if it is wanted. Returns `false` once there can be no more.
    fn note<T: Fn(&DocumentId) -> bool, L: Fn(&DocumentId) -> bool>(
        &mut self,
        happened: Result<Happening, RecvError>,
        wanted: &ListenerFilter<T, L>,
    ) -> bool {
        match happened {
            Ok(Happening::In(DocumentHappening { document, text, list, is_here: _ })) => {
                self.list |= list && (wanted.list)(&document);
                if text && (wanted.text)(&document) {
                    self.changed.insert(document);
                }
            }
            Ok(Happening::Watched(_)) => {}
            Ok(Happening::Missed) | Err(RecvError::Lagged(_)) => {
                (self.any, self.list) = (true, true);
            }
            Err(RecvError::Closed) => return false,
        }
        true
    }
}

/// Receiver of the changes that [`DocumentChanges`] passes on.
pub(crate) struct ChangeListener(Receiver<Happening>);

impl ChangeListener {
    /// Waits for a wanted change, then a little for more; `None` if the server stops.
    pub(crate) async fn next<T: Fn(&DocumentId) -> bool, L: Fn(&DocumentId) -> bool>(
        &mut self,
        wanted: &ListenerFilter<T, L>,
    ) -> Option<ListenerNews> {
        let mut news = ListenerNews::default();
        while news == ListenerNews::default() {
            if !news.note(self.0.recv().await, wanted) {
                return None;
            }
        }
        let until = tokio::time::Instant::now() + TOGETHER;
        while let Ok(happened) = tokio::time::timeout_at(until, self.0.recv()).await {
            if !news.note(happened, wanted) {
                break;
            }
        }
        Some(news)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn renamed(changes: &DocumentChanges, document: &str) {
        changes.notify(
            &document.into(),
            &[],
            &RoomEvent::Changed(DocumentChange::Title("Draft".into())),
            None,
        );
    }

    #[tokio::test(start_paused = true)]
    async fn many_changes_are_told_as_one_and_others_not_at_all() {
        let changes = DocumentChanges::default();
        let mut listener = changes.listen();
        for document in ["doc_3", "doc_1", "doc_1", "doc_2"] {
            renamed(&changes, document);
        }
        changes.notify(&"doc_2".into(), &[], &RoomEvent::Peers(Vec::new()), None);
        let other = |document: &DocumentId| document.as_str() != "doc_3";
        let told =
            listener.next(&ListenerFilter { text: other, list: |_: &DocumentId| false }).await;
        let texts = BTreeSet::from(["doc_1".into(), "doc_2".into()]);
        assert_eq!(told, Some(ListenerNews { changed: texts, ..ListenerNews::default() }));
    }

    #[tokio::test(start_paused = true)]
    async fn a_list_is_another_one_when_a_document_in_it_came_went_or_was_renamed() {
        let changes = DocumentChanges::default();
        let mut listener = changes.listen();
        let none = |_: &DocumentId| false;
        let wanted = ListenerFilter { text: none, list: |it: &DocumentId| it.as_str() != "doc_3" };
        let version = copydesk_ids::Version(0);
        let made = |id: &str| ServerEvent::Created { id: id.into(), title: "A".into(), version };
        let only = Some(ListenerNews { list: true, ..ListenerNews::default() });
        changes.announce(&made("doc_3"));
        changes.announce(&made("doc_1"));
        assert_eq!(listener.next(&wanted).await, only);
        renamed(&changes, "doc_1");
        assert_eq!(listener.next(&wanted).await, only);
        changes.notify(&"doc_1".into(), &[], &RoomEvent::Changed(DocumentChange::Deleted), None);
        assert_eq!(listener.next(&wanted).await, only);
        renamed(&changes, "doc_3");
        drop(changes);
        assert_eq!(listener.next(&wanted).await, None);
    }

    fn typed(changes: &DocumentChanges, document: &str) {
        changes.happened(&document.into(), true, false);
    }

    #[tokio::test(start_paused = true)]
    async fn other_servers_are_told_of_what_they_listen_to_and_of_many_changes_once() {
        let changes = DocumentChanges::default();
        tokio::time::advance(Duration::from_mins(1)).await;
        changes.note_watched(vec!["doc_1".into(), "doc_2".into()]);
        let mut for_others = changes.for_others();
        let began = Instant::now();
        for document in ["doc_3", "doc_1", "doc_1", "doc_2"] {
            typed(&changes, document);
        }
        assert_eq!(for_others.next().await, Some(vec!["doc_1".into(), "doc_2".into()]));
        assert_eq!(began.elapsed(), Duration::ZERO, "the first is told at once");
        for _ in 0..3 {
            typed(&changes, "doc_1");
        }
        assert_eq!(for_others.next().await, Some(vec!["doc_1".into()]));
        assert_eq!(began.elapsed(), TELL_PAUSE);
        // What others have announced is not sent back, nor are names.
        changes.note_texts_elsewhere(vec!["doc_1".into()]);
        renamed(&changes, "doc_1");
        drop(changes);
        assert_eq!(for_others.next().await, None);
    }

    #[tokio::test(start_paused = true)]
    async fn who_begins_to_listen_hears_of_a_change_just_before() {
        let changes = DocumentChanges::default();
        tokio::time::advance(Duration::from_mins(1)).await;
        let mut for_others = changes.for_others();
        typed(&changes, "doc_1");
        changes.note_watched(vec!["doc_1".into(), "doc_2".into()]);
        assert_eq!(for_others.next().await, Some(vec!["doc_1".into()]));
        typed(&changes, "doc_3");
        tokio::time::timeout(RECENT, for_others.next()).await.unwrap_err();
        changes.note_watched(vec!["doc_3".into()]);
        drop(changes);
        assert_eq!(for_others.next().await, None, "that was long ago");
    }

    #[tokio::test(start_paused = true)]
    async fn what_another_server_tells_is_passed_on() {
        let changes = DocumentChanges::default();
        let mut listener = changes.listen();
        let all = ListenerFilter { text: |_: &DocumentId| true, list: |_: &DocumentId| true };
        changes.note_texts_elsewhere(vec!["doc_1".into()]);
        let told = listener.next(&all).await.unwrap();
        assert!(told.has(&"doc_1".into()) && !told.has(&"doc_2".into()) && !told.list);
        changes.note_missed();
        let told = listener.next(&all).await.unwrap();
        assert!(told.has(&"doc_2".into()) && told.list);
    }

    #[tokio::test(start_paused = true)]
    async fn a_person_who_misses_changes_looks_at_everything() {
        let changes = DocumentChanges::default();
        let mut listener = changes.listen();
        for _ in 0..=WAITING {
            renamed(&changes, "doc_1");
        }
        let all = ListenerFilter { text: |_: &DocumentId| true, list: |_: &DocumentId| true };
        let told = listener.next(&all).await.unwrap();
        assert!(told.list && told.has(&"doc_9".into()));
        drop(changes);
        assert_eq!(listener.next(&all).await, None);
    }
}
