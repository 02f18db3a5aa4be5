//! Notifications of changed documents, and of changes to the list of documents, for the callers
//! that asked for them.

use std::collections::BTreeSet;
use std::time::Duration;

use tokio::sync::broadcast::error::RecvError;
use tokio::sync::broadcast::{self, Receiver};

use copydesk_engine::ids::{DocumentId, MemberId};
use copydesk_engine::rooms::event::{DocumentChange, RoomEvent, ServerEvent};
use copydesk_engine::rooms::{EncodedEvent, EventSink};

/// Number of changes that may wait for a listener; a listener that misses some reports all its
/// subscriptions as changed.
const WAITING: usize = 1_024;
/// Time within which changes are reported as one.
const TOGETHER: Duration = Duration::from_millis(500);

/// Event sink that receives every room's updates and passes on which documents changed.
#[derive(Clone, Debug)]
pub struct DocumentChanges(broadcast::Sender<DocumentHappening>);

/// Event in one document.
#[derive(Clone, Debug)]
struct DocumentHappening {
    document: DocumentId,
    /// `true` if the document's text changed.
    text: bool,
    /// `true` if the list of documents changed: the document was created, deleted or renamed.
    list: bool,
    /// `false` if another server of several has told of it.
    is_here: bool,
}

impl Default for DocumentChanges {
    fn default() -> Self {
        Self(broadcast::channel(WAITING).0)
    }
}

impl DocumentChanges {
    pub(crate) fn listen(&self) -> ChangeListener {
        ChangeListener(self.0.subscribe())
    }

    fn happened(&self, document: &DocumentId, text: bool, list: bool) {
        let document = document.clone();
        // It is no error if nobody listens.
        self.0.send(DocumentHappening { document, text, list, is_here: true }).ok();
    }

    /// Notes that a document was renamed or deleted on another server of several.
    pub fn note_elsewhere(&self, document: DocumentId) {
        self.0.send(DocumentHappening { document, text: true, list: true, is_here: false }).ok();
    }

    /// Returns a receiver of the documents that are renamed or deleted on this server.
    pub fn renames(&self) -> RenamedDocuments {
        RenamedDocuments(self.0.subscribe())
    }
}

/// Receiver of the documents that are renamed or deleted on this server.
pub struct RenamedDocuments(Receiver<DocumentHappening>);

impl RenamedDocuments {
    /// Waits for the next one; `None` if the server stops. Some are left out if too many wait.
    pub async fn next(&mut self) -> Option<DocumentId> {
        loop {
            match self.0.recv().await {
                // A new document has no text that others know.
                Ok(it) if it.is_here && it.list && it.text => return Some(it.document),
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
            ServerEvent::Settings(_) => {}
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
        happened: Result<DocumentHappening, RecvError>,
        wanted: &ListenerFilter<T, L>,
    ) -> bool {
        match happened {
            Ok(DocumentHappening { document, text, list, is_here: _ }) => {
                self.list |= list && (wanted.list)(&document);
                if text && (wanted.text)(&document) {
                    self.changed.insert(document);
                }
            }
            Err(RecvError::Lagged(_)) => (self.any, self.list) = (true, true),
            Err(RecvError::Closed) => return false,
        }
        true
    }
}

/// Receiver of the changes that [`DocumentChanges`] passes on.
pub(crate) struct ChangeListener(Receiver<DocumentHappening>);

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
        let nobody = |_: &DocumentId| false;
        let wanted =
            ListenerFilter { text: nobody, list: |it: &DocumentId| it.as_str() != "doc_3" };
        let version = copydesk_engine::ids::Version(0);
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

    #[tokio::test(start_paused = true)]
    async fn whoever_misses_changes_looks_at_everything() {
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
