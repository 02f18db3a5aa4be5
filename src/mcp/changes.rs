//! Which documents have changed, for whoever has subscribed to them.

use std::collections::BTreeSet;
use std::time::Duration;

use tokio::sync::broadcast::error::RecvError;
use tokio::sync::broadcast::{self, Receiver};

use crate::ids::{DocumentId, MemberId};
use crate::room::Outlet;
use crate::room::event::{Change, Event};

/// Changes that may wait for a listener; one that misses some looks at everything it has subscribed to.
const WAITING: usize = 1_024;
/// Changes within this time are told as one.
const TOGETHER: Duration = Duration::from_millis(500);

/// Hears of every room's updates and passes on which documents changed.
#[derive(Clone, Debug)]
pub struct Changes(broadcast::Sender<DocumentId>);

impl Default for Changes {
    fn default() -> Self {
        Self(broadcast::channel(WAITING).0)
    }
}

impl Outlet for Changes {
    fn tell(&self, document: &DocumentId, _: &[MemberId], event: &Event) {
        let changed = match event {
            Event::Updates { updates, .. } => !updates.is_empty(),
            Event::Changed(change) => matches!(change, Change::Title(_) | Change::Deleted),
            Event::Peers(_)
            | Event::Caret(..)
            | Event::Requested(_)
            | Event::RequestUpdated(_)
            | Event::Resolved(_)
            | Event::Rules(_)
            | Event::Sketched(_)
            | Event::Unsketched(_)
            | Event::Said(_) => false,
        };
        if changed {
            // Nobody needs to listen.
            self.0.send(document.clone()).ok();
        }
    }
}

/// What changed since it was last told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Changed {
    /// These.
    Some(BTreeSet<DocumentId>),
    /// Nobody knows which: too many.
    Any,
}

impl Changed {
    /// Whether this document may be among them.
    pub(super) fn has(&self, document: &DocumentId) -> bool {
        match self {
            Self::Some(changed) => changed.contains(document),
            Self::Any => true,
        }
    }
}

/// Listens for changes.
pub(super) struct Listener(Receiver<DocumentId>);

impl Changes {
    pub(super) fn listen(&self) -> Listener {
        Listener(self.0.subscribe())
    }
}

impl Listener {
    /// Waits for a change among those `wanted`, then a little for more; `None`: the server stops.
    pub(super) async fn next(&mut self, wanted: impl Fn(&DocumentId) -> bool) -> Option<Changed> {
        let mut changed = loop {
            match self.0.recv().await {
                Ok(document) if wanted(&document) => {
                    break Changed::Some(BTreeSet::from([document]));
                }
                Ok(_) => {}
                Err(RecvError::Lagged(_)) => break Changed::Any,
                Err(RecvError::Closed) => return None,
            }
        };
        let until = tokio::time::Instant::now() + TOGETHER;
        while let Ok(more) = tokio::time::timeout_at(until, self.0.recv()).await {
            match (more, &mut changed) {
                (Ok(document), Changed::Some(all)) if wanted(&document) => {
                    all.insert(document);
                }
                (Ok(_), _) => {}
                (Err(RecvError::Lagged(_)), _) => changed = Changed::Any,
                (Err(RecvError::Closed), _) => break,
            }
        }
        Some(changed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn renamed(changes: &Changes, document: &str) {
        changes.tell(&document.into(), &[], &Event::Changed(Change::Title("Draft".into())));
    }

    #[tokio::test(start_paused = true)]
    async fn many_changes_are_told_as_one_and_others_not_at_all() {
        let changes = Changes::default();
        let mut listener = changes.listen();
        for document in ["doc_3", "doc_1", "doc_1", "doc_2"] {
            renamed(&changes, document);
        }
        changes.tell(&"doc_2".into(), &[], &Event::Peers(Vec::new()));
        let told = listener.next(|document| document.as_str() != "doc_3").await;
        let expected = BTreeSet::from(["doc_1".into(), "doc_2".into()]);
        assert_eq!(told, Some(Changed::Some(expected)));
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_misses_changes_looks_at_everything() {
        let changes = Changes::default();
        let mut listener = changes.listen();
        for _ in 0..=WAITING {
            renamed(&changes, "doc_1");
        }
        let told = listener.next(|_| true).await.unwrap();
        assert!(told.has(&"doc_9".into()));
        drop(changes);
        assert_eq!(listener.next(|_| true).await, None);
    }
}
