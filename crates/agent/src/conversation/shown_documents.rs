//! Snapshots of the document as each conversation was completely shown it, so that the next
//! question only reports the changes since then, and a provider's prompt cache keeps the long part.
//! Not stored: after a restart the next question shows the document again.

use std::sync::Arc;

use copydesk_ids::{DocumentId, SessionId};
use copydesk_rooms::command::DocumentSnapshot;
use copydesk_tools::model_notes::since;

use super::prompt::DOCUMENT_LIMIT;

/// Minimum length of a document that is remembered, in UTF-16 units; providers cache no shorter
/// ones.
const SHORTEST: usize = 8_000;
/// Maximum number of conversations that are remembered, the most recently used ones.
const REMEMBERED: usize = 64;
/// Divisor of the document's length: if the changes are longer than this part, the document is
/// shown again.
const CHANGED_PART: usize = 5;
/// Estimated length of the position before a passage, in UTF-16 units.
const HEAD: usize = 150;

/// Conversation of a session, about a document or about none.
pub type SnapshotKey = (SessionId, Option<DocumentId>);

/// Document as a conversation was shown it.
#[derive(Clone, Debug)]
pub struct ShownDocument {
    /// Snapshot of the document.
    pub reading: DocumentSnapshot,
    /// Tag that marked it as data.
    pub tag: Arc<str>,
}

/// Snapshots of the conversations, the most recently used one last.
#[derive(Debug, Default)]
pub struct ShownDocuments(Vec<(SnapshotKey, ShownDocument)>);

impl ShownDocuments {
    /// Returns the snapshot that the conversation was shown, if it is still near enough to `now`.
    /// On `None` the conversation is to be shown `now`, which is remembered unless it is too long
    /// to be shown completely or too short to be worth it.
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

    /// Starts a new conversation with `now`.
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
    use copydesk_ids::Version;
    use copydesk_tools::model_notes::reading;

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
