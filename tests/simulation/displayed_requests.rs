//! The pending hunks that an editor displays, from the events it received and its own rebase.

use std::collections::BTreeMap;
use std::sync::Arc;

use copydesk_approvals::{ApprovalRequest, Hunk, HunkStatus};
use copydesk_ids::{HunkId, RequestId};
use copydesk_rooms::event::RoomEvent;

use crate::invariants::Invariant::{DisplayMatchesRoom, RevisionsRise, UpdatesHaveNoGap};
use crate::invariants::{CheckResult, ensure};
use crate::reference_document::ReferenceUpdate;

/// The requests and hunks that an editor displays.
#[derive(Default)]
pub struct DisplayedRequests {
    pub hunks: BTreeMap<HunkId, Hunk>,
    /// Requests that can be decided, with the hash of the announced preview.
    pub open: BTreeMap<RequestId, String>,
    /// The revisions of suggestions.
    revisions: BTreeMap<RequestId, u64>,
}

impl DisplayedRequests {
    /// Replaces everything with the reply of `document:open`.
    pub fn replace(&mut self, requests: &[Arc<ApprovalRequest>]) {
        *self = Self::default();
        for request in requests {
            self.add(request);
        }
    }

    fn add(&mut self, request: &ApprovalRequest) {
        self.open.insert(request.id().clone(), request.announced.clone());
        self.revisions.extend(request.revision().map(|it| (request.id().clone(), it)));
        for hunk in request.hunks.iter().filter(|hunk| hunk.status.is_open()) {
            self.hunks.insert(hunk.id.clone(), hunk.clone());
        }
    }

    /// Takes the revision of a suggestion that was written on or decided.
    fn update(&mut self, request: &ApprovalRequest) -> CheckResult {
        let Some(now) = request.revision() else { return Ok(()) };
        let before = self.revisions.insert(request.id().clone(), now);
        ensure(RevisionsRise, before.is_none_or(|before| before <= now), || {
            format!("{} was at revision {before:?}, now it is at {now}", request.id())
        })
    }

    /// Maps the hunks over an update.
    pub fn apply_update(&mut self, update: &ReferenceUpdate) {
        for hunk in self.hunks.values_mut() {
            hunk.rebase(&update.change, &update.after);
        }
    }

    /// Applies everything in an event but its updates.
    pub fn apply_event(&mut self, event: &RoomEvent) -> CheckResult {
        match event {
            RoomEvent::Updates { drop, put, .. } => {
                for id in drop {
                    let known = self.hunks.remove(id).is_some();
                    ensure(UpdatesHaveNoGap, known, || format!("{id} was decided twice"))?;
                }
                for (_, hunk) in put {
                    let open = hunk.status.is_open();
                    // A hunk whose text is already in the document is settled by the server alone.
                    let is_announced = open || hunk.is_already_there();
                    ensure(UpdatesHaveNoGap, is_announced, || {
                        format!("{} is put and not open", hunk.id)
                    })?;
                    if open {
                        self.hunks.insert(hunk.id.clone(), hunk.clone());
                    } else {
                        self.hunks.remove(&hunk.id);
                    }
                }
            }
            RoomEvent::Requested(request) => self.add(request),
            RoomEvent::RequestUpdated(update) => self.update(&update.request)?,
            RoomEvent::Resolved(request) => {
                let known = self.open.remove(request.id()).is_some();
                ensure(UpdatesHaveNoGap, known, || format!("{} ended twice", request.id()))?;
                self.update(request)?;
                self.revisions.remove(request.id());
                // Obsolete hunks are not listed in `drop`.
                self.hunks.retain(|_, hunk| hunk.status != HunkStatus::Obsolete);
                let left = request.hunks.iter().find(|hunk| self.hunks.contains_key(&hunk.id));
                ensure(UpdatesHaveNoGap, left.is_none(), || {
                    format!("a hunk of an ended request is still displayed: {left:?}")
                })?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Checks that the displayed hunks are those of the room.
    pub fn check_matches(&self, open: &BTreeMap<RequestId, Arc<ApprovalRequest>>) -> CheckResult {
        let invariant = DisplayMatchesRoom;
        ensure(invariant, self.open.keys().eq(open.keys()), || {
            format!("displayed requests are {:?}, open are {:?}", self.open.keys(), open.keys())
        })?;
        for request in open.values().filter(|request| request.revision().is_some()) {
            let (shown, now) = (self.revisions.get(request.id()).copied(), request.revision());
            ensure(invariant, shown == now, || {
                format!("{} is shown at revision {shown:?}, not {now:?}", request.id())
            })?;
        }
        let hunks = || {
            open.values().flat_map(|request| &request.hunks).filter(|hunk| hunk.status.is_open())
        };
        let shown = self.hunks.values().filter(|hunk| hunk.status.is_open()).count();
        ensure(invariant, shown == hunks().count(), || format!("{shown} hunks are displayed"))?;
        for hunk in hunks() {
            let shown = self.hunks.get(&hunk.id);
            let same = shown.is_some_and(|it| it.status == hunk.status && it.parts == hunk.parts);
            ensure(invariant, same, || format!("displayed is {shown:?}, the room has {hunk:?}"))?;
        }
        Ok(())
    }
}
