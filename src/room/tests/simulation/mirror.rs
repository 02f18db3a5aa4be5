//! What a client shows who is told everything and follows the same rules.

use std::collections::{BTreeMap, BTreeSet};

use crate::document::Text;
use crate::ids::{HunkId, RequestId, Version};
use crate::review::{Hunk, HunkStatus};
use crate::room::event::Event;
use crate::room::state::RoomState;

pub(super) struct Mirror {
    pub(super) version: Version,
    pub(super) text: Text,
    /// The text at every version there was.
    pub(super) texts: Vec<Text>,
    hunks: BTreeMap<HunkId, Hunk>,
    open: BTreeSet<RequestId>,
}

impl Mirror {
    pub(super) fn new(text: &str) -> Self {
        let text = Text::new(text);
        let texts = vec![text.clone()];
        Self { version: Version(0), text, texts, hunks: BTreeMap::new(), open: BTreeSet::new() }
    }

    pub(super) fn hear(&mut self, event: &Event) {
        match event {
            Event::Updates { from, updates, drop, put } => {
                assert_eq!(*from, self.version, "an update is missing or told twice");
                for update in updates {
                    let change = update.change_set().unwrap();
                    change.apply(&mut self.text).unwrap();
                    self.version = self.version.next();
                    self.texts.push(self.text.clone());
                    for hunk in self.hunks.values_mut() {
                        hunk.rebase(&change, &self.text);
                    }
                }
                for id in drop {
                    assert!(self.hunks.remove(id).is_some(), "{id} was decided twice");
                }
                for (_, hunk) in put {
                    assert!(hunk.status.is_open(), "{} was put though it is not open", hunk.id);
                    self.hunks.insert(hunk.id.clone(), hunk.clone());
                }
            }
            Event::Requested(request) => {
                assert_eq!(request.version, self.version, "a request of another version");
                assert!(request.status.is_open());
                self.open.insert(request.id().clone());
                for hunk in request.hunks.iter().filter(|hunk| hunk.status.is_open()) {
                    self.hunks.insert(hunk.id.clone(), hunk.clone());
                }
            }
            Event::Resolved(request) => {
                assert!(!request.status.is_open());
                assert!(self.open.remove(request.id()), "{} ended twice", request.id());
                // What people deleted is gone without being dropped.
                self.hunks.retain(|_, hunk| hunk.status != HunkStatus::Obsolete);
                let left = request.hunks.iter().find(|hunk| self.hunks.contains_key(&hunk.id));
                assert!(left.is_none(), "a change of an ended request is still shown: {left:?}");
            }
            Event::RequestUpdated(update) => {
                assert!(self.open.contains(update.request.id()), "an update without a request");
                for (id, status) in &update.changed {
                    let shown = self.hunks.get(id).map(|hunk| hunk.status);
                    assert!(shown.is_none_or(|shown| shown == *status), "{id}: {shown:?}");
                }
            }
            Event::Changed(_)
            | Event::Peers(_)
            | Event::Caret(..)
            | Event::Rules(_)
            | Event::Said(_) => {}
        }
    }

    /// Nobody is ever shown anything else than what the room has.
    pub(super) fn agrees_with(&self, state: &RoomState) {
        assert_eq!(self.version, state.version());
        assert_eq!(self.text.to_string(), state.document.text().to_string());
        assert!(self.open.iter().eq(state.open.keys()), "other requests are open");
        let all = state.open.values().flat_map(|request| &request.hunks);
        let open: Vec<_> = all.filter(|hunk| hunk.status.is_open()).collect();
        let shown = self.hunks.values().filter(|hunk| hunk.status.is_open());
        assert_eq!(shown.count(), open.len(), "other changes are shown than are open");
        for hunk in open {
            let shown = &self.hunks[&hunk.id];
            assert_eq!((shown.status, &shown.parts), (hunk.status, &hunk.parts), "{}", hunk.id);
        }
    }
}
