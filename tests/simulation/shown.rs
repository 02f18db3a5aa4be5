//! Pending changes as a person sees them, who is told everything and follows the same rules.

use std::collections::BTreeMap;
use std::sync::Arc;

use copydesk::approvals::{ApprovalRequest, Hunk, HunkStatus};
use copydesk::ids::{HunkId, RequestId};
use copydesk::rooms::event::RoomEvent;

use crate::ledger::Entry;
use crate::rules::Rule::{PeopleSeeWhatTheRoomHas, TellingHasNoGap};
use crate::rules::{Held, must};

#[derive(Default)]
pub struct Shown {
    pub hunks: BTreeMap<HunkId, Hunk>,
    /// Requests that can be decided, with the hash of the preview that was announced.
    pub open: BTreeMap<RequestId, String>,
}

impl Shown {
    /// Everything anew, as the answer of `document:open` has it.
    pub fn replace(&mut self, requests: &[Arc<ApprovalRequest>]) {
        *self = Self::default();
        for request in requests {
            self.add(request);
        }
    }

    fn add(&mut self, request: &ApprovalRequest) {
        self.open.insert(request.id().clone(), request.announced.clone());
        for hunk in request.hunks.iter().filter(|hunk| hunk.status.is_open()) {
            self.hunks.insert(hunk.id.clone(), hunk.clone());
        }
    }

    /// An update is applied.
    pub fn follow(&mut self, entry: &Entry) {
        for hunk in self.hunks.values_mut() {
            hunk.rebase(&entry.change, &entry.after);
        }
    }

    /// Everything but the updates that a message carries.
    pub fn hear(&mut self, event: &RoomEvent) -> Held {
        match event {
            RoomEvent::Updates { drop, put, .. } => {
                for id in drop {
                    let known = self.hunks.remove(id).is_some();
                    must(TellingHasNoGap, known, || format!("{id} was decided twice"))?;
                }
                for (_, hunk) in put {
                    let open = hunk.status.is_open();
                    // What is in the text already is settled by the server's word alone.
                    let told = open || hunk.is_already_there();
                    must(TellingHasNoGap, told, || format!("{} is put and not open", hunk.id))?;
                    if open {
                        self.hunks.insert(hunk.id.clone(), hunk.clone());
                    } else {
                        self.hunks.remove(&hunk.id);
                    }
                }
            }
            RoomEvent::Requested(request) => self.add(request),
            RoomEvent::Resolved(request) => {
                let known = self.open.remove(request.id()).is_some();
                must(TellingHasNoGap, known, || format!("{} ended twice", request.id()))?;
                // What people deleted is gone without being dropped.
                self.hunks.retain(|_, hunk| hunk.status != HunkStatus::Obsolete);
                let left = request.hunks.iter().find(|hunk| self.hunks.contains_key(&hunk.id));
                must(TellingHasNoGap, left.is_none(), || {
                    format!("a change of an ended request is still shown: {left:?}")
                })?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Nobody is shown anything else than what the room has.
    pub fn agrees(&self, open: &BTreeMap<RequestId, Arc<ApprovalRequest>>) -> Held {
        let rule = PeopleSeeWhatTheRoomHas;
        must(rule, self.open.keys().eq(open.keys()), || {
            format!("shown are {:?}, open are {:?}", self.open.keys(), open.keys())
        })?;
        let hunks = || {
            open.values().flat_map(|request| &request.hunks).filter(|hunk| hunk.status.is_open())
        };
        let shown = self.hunks.values().filter(|hunk| hunk.status.is_open()).count();
        must(rule, shown == hunks().count(), || format!("{shown} changes are shown"))?;
        for hunk in hunks() {
            let shown = self.hunks.get(&hunk.id);
            let same = shown.is_some_and(|it| it.status == hunk.status && it.parts == hunk.parts);
            must(rule, same, || format!("shown is {shown:?}, the room has {hunk:?}"))?;
        }
        Ok(())
    }
}
