//! The document as each conversation was shown it completely, so that the next question need not repeat it. Pure.
//!
//! A conversation begins with the document; what follows says only what has changed since. So a provider's prompt
//! cache holds the long part from question to question. Nothing here is stored: after a restart the next question
//! shows the document again.

use std::sync::Arc;

use crate::room::command::Reading;
use crate::tools::told::Difference;

use super::prompt::DOCUMENT_LIMIT;
use super::queue::Key;

/// Conversations that are remembered; of more, the one that was used longest ago is shown its document again.
const REMEMBERED: usize = 64;
/// The document is shown again once this part of it has changed: one of so many.
const CHANGED_PART: usize = 5;

/// The document as a conversation was shown it.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// The document as it was.
    pub reading: Reading,
    /// What marked it as data.
    pub tag: Arc<str>,
}

/// The conversations' snapshots, the one used last at the end.
#[derive(Debug, Default)]
pub struct Snapshots(Vec<(Key, Snapshot)>);

impl Snapshots {
    /// What the conversation was shown, if that is still worth going on from; else `now` from here on.
    /// `None` if the document is too long to be shown completely.
    pub fn of(&mut self, key: &Key, now: &Reading, tag: &Arc<str>) -> Option<Snapshot> {
        let known = self.0.iter().position(|(of, _)| of == key).map(|at| self.0.remove(at).1);
        if now.text.len() > DOCUMENT_LIMIT {
            return None;
        }
        let fresh = || Snapshot { reading: now.clone(), tag: Arc::clone(tag) };
        let snapshot = known.filter(|it| is_near(&it.reading, now)).unwrap_or_else(fresh);
        if self.0.len() >= REMEMBERED {
            self.0.remove(0);
        }
        self.0.push((key.clone(), snapshot.clone()));
        Some(snapshot)
    }

    /// A conversation begins anew, with `now`.
    pub fn begin(&mut self, key: &Key, now: &Reading, tag: &Arc<str>) {
        self.0.retain(|(of, _)| of != key);
        self.of(key, now, tag);
    }
}

fn is_near(shown: &Reading, now: &Reading) -> bool {
    let difference = Difference::between(&shown.text.to_string(), &now.text.to_string());
    let changed = |it: Difference| (it.new_to - it.from).max(it.old_to - it.from);
    shown.version <= now.version && difference.map_or(0, changed) <= now.text.len() / CHANGED_PART
}

#[cfg(test)]
mod tests {
    use crate::ids::Version;
    use crate::tools::told::reading;

    use super::*;

    fn at(version: u64, text: &str) -> Reading {
        Reading { version: Version(version), ..reading(text) }
    }

    fn key(session: &str) -> Key {
        (session.into(), None)
    }

    #[test]
    fn a_document_is_shown_again_only_when_much_of_it_has_changed() {
        let mut snapshots = Snapshots::default();
        let mut shown = |version, text: &str| {
            let snapshot = snapshots.of(&key("a"), &at(version, text), &"k9".into());
            snapshot.map(|it| it.reading.version.0)
        };
        let text = "0123456789".repeat(10);
        assert_eq!(shown(1, &text), Some(1));
        assert_eq!(shown(2, &text.replacen("0123456789", "x", 1)), Some(1));
        assert_eq!(shown(3, &format!("{text}{text}")), Some(3));
        assert_eq!(shown(2, &format!("{text}{text}")), Some(2), "another document's log");
        assert_eq!(shown(4, &"x".repeat(DOCUMENT_LIMIT + 1)), None);
        assert_eq!(shown(5, &text), Some(5));
    }

    #[test]
    fn only_so_many_conversations_are_remembered() {
        let mut snapshots = Snapshots::default();
        let mut shown = |session: &str, version| {
            let snapshot = snapshots.of(&key(session), &at(version, "text"), &"k9".into());
            snapshot.map(|it| it.reading.version.0)
        };
        shown("first", 1);
        shown("second", 1);
        for other in 2..REMEMBERED {
            shown(&other.to_string(), 1);
        }
        assert_eq!(shown("first", 2), Some(1));
        shown("one more", 1);
        assert_eq!((shown("first", 3), shown("second", 3)), (Some(1), Some(3)));
        snapshots.begin(&key("first"), &at(4, "text"), &"k9".into());
        let begun = snapshots.of(&key("first"), &at(5, "text"), &"k9".into());
        assert_eq!(begun.map(|it| it.reading.version.0), Some(4));
    }
}
