//! The document as each conversation was shown it completely, so that the next question need not repeat it. Pure.
//!
//! A conversation begins with the document; what follows says only what has changed since. So a provider's prompt
//! cache holds the long part from question to question. Nothing here is stored: after a restart the next question
//! shows the document again.

use std::sync::Arc;

use crate::ids::{DocumentId, SessionId};
use crate::rooms::command::DocumentSnapshot;
use crate::tools::document_updates::since;

use super::prompt::DOCUMENT_LIMIT;

/// UTF-16 units from which on it is worth it: less is too short for a provider to keep, and is simply repeated.
const SHORTEST: usize = 8_000;
/// Conversations that are remembered; of more, the one that was used longest ago is shown its document again.
const REMEMBERED: usize = 64;
/// The document is shown again once telling what has changed takes this part of it: one of so many.
const CHANGED_PART: usize = 5;
/// UTF-16 units that it takes to tell where a passage is.
const HEAD: usize = 150;

/// A conversation: a session's, about a document or without one.
pub type SnapshotKey = (SessionId, Option<DocumentId>);

/// The document as a conversation was shown it.
#[derive(Clone, Debug)]
pub struct ShownDocument {
    /// The document as it was.
    pub reading: DocumentSnapshot,
    /// What marked it as data.
    pub tag: Arc<str>,
}

/// The conversations' snapshots, the one used last at the end.
#[derive(Debug, Default)]
pub struct ShownDocuments(Vec<(SnapshotKey, ShownDocument)>);

impl ShownDocuments {
    /// What the conversation was shown, if that is still worth going on from. `None`: it is to be shown `now`, which is
    /// remembered unless that is too long to be shown completely, or too short to be worth it.
    pub fn of(
        &mut self,
        key: &SnapshotKey,
        now: &DocumentSnapshot,
        tag: &Arc<str>,
    ) -> Option<ShownDocument> {
        let known = self.0.iter().position(|(of, _)| of == key).map(|at| self.0.remove(at).1);
        if !(SHORTEST..=DOCUMENT_LIMIT).contains(&now.text.len()) {
            return None;
        }
        let fresh = || ShownDocument { reading: now.clone(), tag: Arc::clone(tag) };
        let near = known.filter(|it| is_near(&it.reading, now));
        if self.0.len() >= REMEMBERED {
            self.0.remove(0);
        }
        self.0.push((key.clone(), near.clone().unwrap_or_else(fresh)));
        near
    }

    /// A conversation begins anew, with `now`.
    pub fn begin(&mut self, key: &SnapshotKey, now: &DocumentSnapshot, tag: &Arc<str>) {
        self.0.retain(|(of, _)| of != key);
        self.of(key, now, tag);
    }
}

fn is_near(shown: &DocumentSnapshot, now: &DocumentSnapshot) -> bool {
    if shown.version > now.version {
        return false;
    }
    let passages = since(shown, now);
    let changed: usize = passages.iter().map(|it| it.old.len().max(it.new.len()) + HEAD).sum();
    changed <= now.text.len() / CHANGED_PART
}

#[cfg(test)]
mod tests {
    use crate::ids::Version;
    use crate::tools::document_updates::reading;

    use super::*;

    fn at(version: u64, text: &str) -> DocumentSnapshot {
        DocumentSnapshot { version: Version(version), ..reading(text) }
    }

    fn key(session: &str) -> SnapshotKey {
        (session.into(), None)
    }

    #[test]
    fn a_document_is_shown_again_only_when_much_of_it_has_changed() {
        let mut snapshots = ShownDocuments::default();
        let mut seen = |version, text: &str| {
            let snapshot = snapshots.of(&key("a"), &at(version, text), &"k9".into());
            snapshot.map(|it| it.reading.version.0)
        };
        let text = "0123456789".repeat(SHORTEST / 10);
        let twice = text.repeat(2);
        assert_eq!(seen(1, &text), None);
        assert_eq!(seen(2, &format!("x{text}")), Some(1));
        assert_eq!(seen(3, &twice), None, "half of it is new");
        assert_eq!(seen(4, &twice), Some(3));
        assert_eq!(seen(2, &twice), None, "another document's log");
        assert_eq!(seen(5, &"x".repeat(DOCUMENT_LIMIT + 1)), None);
        assert_eq!(seen(6, &twice), None, "what was too long is not remembered");
        assert_eq!(seen(7, "short"), None);
        assert_eq!(seen(8, "short"), None);
    }

    #[test]
    fn small_changes_far_apart_are_small() {
        let mut snapshots = ShownDocuments::default();
        let text = "One line of many.\n\n".repeat(SHORTEST / 10);
        assert!(snapshots.of(&key("a"), &at(1, &text), &"k9".into()).is_none());
        let changed = format!("First {} Last", &text[..text.len() - 2]);
        assert!(snapshots.of(&key("a"), &at(3, &changed), &"k9".into()).is_some());
        let everywhere = text.replace("One", "Each");
        assert!(snapshots.of(&key("a"), &at(4, &everywhere), &"k9".into()).is_none());
    }

    #[test]
    fn only_so_many_conversations_are_remembered() {
        let mut snapshots = ShownDocuments::default();
        let text = "x".repeat(SHORTEST);
        let mut seen = |session: &str, version| {
            let snapshot = snapshots.of(&key(session), &at(version, &text), &"k9".into());
            snapshot.map(|it| it.reading.version.0)
        };
        seen("first", 1);
        seen("second", 1);
        for other in 2..REMEMBERED {
            seen(&other.to_string(), 1);
        }
        assert_eq!(seen("first", 2), Some(1));
        seen("one more", 1);
        assert_eq!((seen("first", 3), seen("second", 3)), (Some(1), None));
        snapshots.begin(&key("first"), &at(4, &text), &"k9".into());
        let begun = snapshots.of(&key("first"), &at(5, &text), &"k9".into());
        assert_eq!(begun.map(|it| it.reading.version.0), Some(4));
    }
}
