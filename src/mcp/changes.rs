//! Which documents have changed, and whether there are others, for whoever has asked to be told.

use std::collections::BTreeSet;
use std::time::Duration;

use tokio::sync::broadcast::error::RecvError;
use tokio::sync::broadcast::{self, Receiver};

use crate::ids::{DocumentId, MemberId};
use crate::room::event::{Announcement, Change, Event};
use crate::room::{Outlet, Ready};

/// Changes that may wait for a listener; one that misses some looks at everything it has subscribed to.
const WAITING: usize = 1_024;
/// Changes within this time are told as one.
const TOGETHER: Duration = Duration::from_millis(500);

/// Hears of every room's updates and passes on which documents changed.
#[derive(Clone, Debug)]
pub struct Changes(broadcast::Sender<Happened>);

/// Something happened to a document.
#[derive(Clone, Debug)]
struct Happened {
    document: DocumentId,
    /// Whether it reads differently.
    text: bool,
    /// Whether a list of documents does: it came, went, or has another title.
    list: bool,
}

impl Default for Changes {
    fn default() -> Self {
        Self(broadcast::channel(WAITING).0)
    }
}

impl Changes {
    fn happened(&self, document: &DocumentId, text: bool, list: bool) {
        // Nobody needs to listen.
        self.0.send(Happened { document: document.clone(), text, list }).ok();
    }
}

impl Outlet for Changes {
    fn tell(&self, document: &DocumentId, _: &[MemberId], event: &Event, _: &Ready) {
        match event {
            Event::Updates { updates, .. } if !updates.is_empty() => {
                self.happened(document, true, false);
            }
            Event::Changed(Change::Title(_) | Change::Deleted) => {
                self.happened(document, true, true);
            }
            Event::Updates { .. }
            | Event::Changed(Change::Settings(..))
            | Event::Peers(_)
            | Event::Caret(..)
            | Event::Requested(_)
            | Event::RequestUpdated(_)
            | Event::Resolved(_)
            | Event::Rules(_)
            | Event::Sketched(_)
            | Event::Unsketched(_)
            | Event::File(_)
            | Event::Said(_) => {}
        }
    }

    fn announce(&self, news: &Announcement) {
        match news {
            Announcement::Created { id, .. } => self.happened(id, false, true),
            Announcement::Settings(_) => {}
        }
    }
}

/// What a listener wants to hear of.
pub(super) struct Wanted<T, L> {
    /// The documents whose text matters.
    pub(super) text: T,
    /// The documents whose coming, going and names matter.
    pub(super) list: L,
}

/// What changed since it was last told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct News {
    /// Documents that read differently.
    changed: BTreeSet<DocumentId>,
    /// Too much happened to know which.
    any: bool,
    /// The list of documents is another one.
    pub(super) list: bool,
}

impl News {
    /// Whether this document may have changed.
    pub(super) fn has(&self, document: &DocumentId) -> bool {
        self.any || self.changed.contains(document)
    }

    /// Notes what happened, if it is wanted; whether there can be more.
    fn note<T, L>(&mut self, happened: Result<Happened, RecvError>, wanted: &Wanted<T, L>) -> bool
    where
        T: Fn(&DocumentId) -> bool,
        L: Fn(&DocumentId) -> bool,
    {
        match happened {
            Ok(Happened { document, text, list }) => {
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

/// Listens for changes.
pub(super) struct Listener(Receiver<Happened>);

impl Changes {
    pub(super) fn listen(&self) -> Listener {
        Listener(self.0.subscribe())
    }
}

impl Listener {
    /// Waits for a change that is wanted, then a little for more; `None`: the server stops.
    pub(super) async fn next<T, L>(&mut self, wanted: &Wanted<T, L>) -> Option<News>
    where
        T: Fn(&DocumentId) -> bool,
        L: Fn(&DocumentId) -> bool,
    {
        let mut news = News::default();
        while news == News::default() {
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

    fn renamed(changes: &Changes, document: &str) {
        changes.tell(
            &document.into(),
            &[],
            &Event::Changed(Change::Title("Draft".into())),
            &Ready::default(),
        );
    }

    #[tokio::test(start_paused = true)]
    async fn many_changes_are_told_as_one_and_others_not_at_all() {
        let changes = Changes::default();
        let mut listener = changes.listen();
        for document in ["doc_3", "doc_1", "doc_1", "doc_2"] {
            renamed(&changes, document);
        }
        changes.tell(&"doc_2".into(), &[], &Event::Peers(Vec::new()), &Ready::default());
        let other = |document: &DocumentId| document.as_str() != "doc_3";
        let told = listener.next(&Wanted { text: other, list: |_: &DocumentId| false }).await;
        let texts = BTreeSet::from(["doc_1".into(), "doc_2".into()]);
        assert_eq!(told, Some(News { changed: texts, ..News::default() }));
    }

    #[tokio::test(start_paused = true)]
    async fn a_list_is_another_one_when_a_document_in_it_came_went_or_was_renamed() {
        let changes = Changes::default();
        let mut listener = changes.listen();
        let nobody = |_: &DocumentId| false;
        let wanted = Wanted { text: nobody, list: |it: &DocumentId| it.as_str() != "doc_3" };
        let version = crate::ids::Version(0);
        let made = |id: &str| Announcement::Created { id: id.into(), title: "A".into(), version };
        let only = Some(News { list: true, ..News::default() });
        changes.announce(&made("doc_3"));
        changes.announce(&made("doc_1"));
        assert_eq!(listener.next(&wanted).await, only);
        renamed(&changes, "doc_1");
        assert_eq!(listener.next(&wanted).await, only);
        changes.tell(&"doc_1".into(), &[], &Event::Changed(Change::Deleted), &Ready::default());
        assert_eq!(listener.next(&wanted).await, only);
        renamed(&changes, "doc_3");
        drop(changes);
        assert_eq!(listener.next(&wanted).await, None);
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_misses_changes_looks_at_everything() {
        let changes = Changes::default();
        let mut listener = changes.listen();
        for _ in 0..=WAITING {
            renamed(&changes, "doc_1");
        }
        let all = Wanted { text: |_: &DocumentId| true, list: |_: &DocumentId| true };
        let told = listener.next(&all).await.unwrap();
        assert!(told.list && told.has(&"doc_9".into()));
        drop(changes);
        assert_eq!(listener.next(&all).await, None);
    }
}
