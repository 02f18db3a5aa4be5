//! The server's batches of commands: kept and told, lost, or cut off with the power.

use std::sync::Arc;

use copydesk::approvals::{ApprovalRequest, HunkStatus};
use copydesk::document::Update;
use copydesk::ids::{MemberId, Version};
use copydesk::rooms::RoomError;
use copydesk::rooms::command::ProposalOutcome;
use copydesk::rooms::event::RoomEvent;
use copydesk::rooms::simulated_room::SimulatedOutput;

use super::{Call, CallState, LOOK_MS, World};
use crate::editor::Message;
use crate::rules::Rule::{
    AcknowledgedMeansDurable, DeniedIsNotDone, LookingStopsTheClock, PeopleSeeWhatTheRoomHas,
    TellingHasNoGap,
};
use crate::rules::{Held, must};
use crate::served::{Answer, Out};
use crate::shadow::Shadow;

impl World {
    /// The batch is kept and told, and the next one begins.
    pub(super) fn take_batch(&mut self) -> Held {
        self.end_batch()?;
        let looking = self.copydesk.now_ms;
        self.copydesk.now_ms += self.random.u64(..8_000);
        let before = self.copydesk.room.open().clone();
        self.copydesk.expire();
        let after = self.copydesk.room.open().clone();
        for (id, was) in before.iter().filter(|(id, _)| !after.contains_key(*id)) {
            let looks = self.looks.remove(id).unwrap_or_default();
            let now_ms = self.copydesk.now_ms;
            let looked = looks.values().any(|at_ms| now_ms < at_ms + LOOK_MS);
            must(LookingStopsTheClock, !looked, || format!("{was:?} expired after {looking}"))?;
            self.busy = true;
            self.count("expired");
        }
        Ok(())
    }

    pub(super) fn end_batch(&mut self) -> Held {
        let out = self.copydesk.end_batch();
        self.busy = false;
        self.book.keep();
        self.statutes.keep();
        for out in out {
            self.deliver(out)?;
        }
        self.note_what_stands();
        self.check()
    }

    pub(super) fn loses(&mut self) -> Held {
        self.count("lost");
        self.book.lose();
        self.statutes.lose();
        self.accepted.clear();
        self.busy = false;
        for out in self.copydesk.loses()? {
            self.deliver(out)?;
        }
        self.check()
    }

    pub(super) fn is_cut(&mut self) -> Held {
        let kept = self.random.bool();
        self.count(if kept { "cut after it was kept" } else { "cut before it was kept" });
        if kept {
            self.book.keep();
            self.statutes.keep();
        } else {
            self.book.lose();
            self.statutes.lose();
        }
        self.busy = false;
        self.copydesk.is_cut(kept)?;
        self.is_cut_off();
        // What was kept and told to nobody.
        let (known, newest) = (Version(self.ledger.version() as u64), self.copydesk.disk.version());
        must(AcknowledgedMeansDurable, known <= newest, || {
            format!("{known} was told, kept is {newest}")
        })?;
        for update in self.copydesk.disk.older(known, newest) {
            self.ledger.follow(&update)?;
        }
        if kept {
            self.shadows.clear();
            let open: Vec<_> = self.copydesk.room.open().values().cloned().collect();
            for request in &open {
                self.watch(request);
            }
        }
        self.note_what_stands();
        self.check_open()?;
        self.takes_up_calls()
    }

    /// Every connection is gone.
    pub(super) fn is_cut_off(&mut self) {
        self.audience.clear();
        self.looks.clear();
        for editor in &mut self.editors {
            editor.parts();
        }
    }

    pub(super) fn deliver(&mut self, out: Out) -> Held {
        match out {
            Out::Told(SimulatedOutput::All(event)) => self.tell_all(event)?,
            Out::Told(SimulatedOutput::Others(one, event)) => {
                self.pass_on(&Arc::new(event), |member| *member != one);
            }
            Out::Told(SimulatedOutput::One(one, event)) => {
                self.pass_on(&Arc::new(event), |member| *member == one);
            }
            Out::Told(SimulatedOutput::Joined(member)) => drop(self.audience.insert(member)),
            Out::Told(SimulatedOutput::Left(member)) => drop(self.audience.remove(&member)),
            Out::Told(SimulatedOutput::Ended(settled)) => {
                let id = &settled.resolution.request;
                let waits = |call: &&mut Call| {
                    call.new.origin.id == *id && call.state == CallState::Waiting
                };
                for call in self.calls.iter_mut().filter(waits) {
                    call.state = CallState::Over;
                }
            }
            Out::Answer(Answer::Pushed(at, member, made, result)) => {
                self.pushed(at, &member, made, result.is_ok())?;
            }
            Out::Answer(Answer::Opened(at, member, result)) => {
                let line = self.editors[at].line.as_mut().filter(|line| line.member == member);
                match (line, result) {
                    (Some(line), Ok(opened)) => {
                        line.inbox.push_back(Message::Opened(Box::new(opened)));
                    }
                    (Some(_), Err(_)) => drop(self.editors[at].parts()),
                    (None, _) => {}
                }
            }
            Out::Answer(Answer::Proposed(call, result)) => self.proposed(call, &result)?,
        }
        Ok(())
    }

    pub(super) fn pushed(
        &mut self,
        at: usize,
        member: &MemberId,
        made: usize,
        taken: bool,
    ) -> Held {
        let editor = &mut self.editors[at];
        if editor.line.as_ref().is_some_and(|line| line.member == *member) {
            editor.waits = false;
        }
        let committed = self.ledger.committed(&editor.client);
        must(AcknowledgedMeansDurable, !taken || committed >= made, || {
            format!(
                "{made} updates of {} were acknowledged, {committed} are in the log",
                editor.client
            )
        })
    }

    pub(super) fn proposed(
        &mut self,
        call: usize,
        result: &Result<ProposalOutcome, RoomError>,
    ) -> Held {
        let what = match result {
            Ok(ProposalOutcome::Waiting(_)) => return Ok(()),
            Ok(ProposalOutcome::Resolved(_)) => "applied at once",
            Ok(ProposalOutcome::Conflicted(_)) => "returned to the agent",
            Ok(ProposalOutcome::Frozen(_)) => "frozen",
            Ok(ProposalOutcome::Denied(told)) => {
                must(DeniedIsNotDone, self.calls[call].deniable, || told.clone())?;
                "denied"
            }
            Ok(_) => "nothing to propose",
            Err(_) => "could not be proposed",
        };
        self.calls[call].state = CallState::Over;
        self.count(what);
        Ok(())
    }

    pub(super) fn tell_all(&mut self, event: RoomEvent) -> Held {
        if self.loud {
            eprintln!("  told at {}: {event:?}", self.ledger.version());
        }
        match &event {
            RoomEvent::Updates { from, updates, drop, put, .. } => {
                let newest = from.0 as usize + updates.len();
                must(TellingHasNoGap, from.0 as usize == self.ledger.version(), || {
                    format!("told from {from}, known is {}", self.ledger.version())
                })?;
                must(
                    AcknowledgedMeansDurable,
                    self.copydesk.disk.version().0 as usize >= newest,
                    || {
                        format!(
                            "version {newest} is told, kept is {}",
                            self.copydesk.disk.version()
                        )
                    },
                )?;
                let by_request = updates.iter().any(|update| update.origin.is_some());
                must(
                    PeopleSeeWhatTheRoomHas,
                    !by_request || !drop.is_empty() || !put.is_empty(),
                    || "an accept was told without its hunks".to_owned(),
                )?;
                for update in updates {
                    self.follow(update)?;
                }
                self.shadows.retain(|id, _| !drop.contains(id));
                for (_, hunk) in put {
                    self.shadows.insert(hunk.id.clone(), Shadow::new(hunk, &self.ledger.names));
                }
            }
            RoomEvent::Requested(request) | RoomEvent::RequestedAgain(request) => {
                self.watch(request);
            }
            RoomEvent::Resolved(request) => {
                request.hunks.iter().for_each(|hunk| drop(self.shadows.remove(&hunk.id)));
            }
            _ => {}
        }
        self.pass_on(&Arc::new(event), |_| true);
        Ok(())
    }

    pub(super) fn follow(&mut self, update: &Arc<Update>) -> Held {
        self.ledger.follow(update)?;
        let entry = self.ledger.entries.last().unwrap();
        for shadow in self.shadows.values_mut() {
            shadow.see(entry, &self.ledger.names);
        }
        Ok(())
    }

    pub(super) fn watch(&mut self, request: &ApprovalRequest) {
        for hunk in request.hunks.iter().filter(|hunk| hunk.status.is_open()) {
            self.shadows.insert(hunk.id.clone(), Shadow::new(hunk, &self.ledger.names));
        }
    }

    pub(super) fn pass_on(&mut self, event: &Arc<RoomEvent>, to: impl Fn(&MemberId) -> bool) {
        for line in self.editors.iter_mut().filter_map(|editor| editor.line.as_mut()) {
            if self.audience.contains(&line.member) && to(&line.member) {
                line.inbox.push_back(Message::Told(Arc::clone(event)));
            }
        }
    }

    /// Which units were put in by what was accepted in this batch.
    pub(super) fn note_what_stands(&mut self) {
        for id in std::mem::take(&mut self.accepted) {
            let Some(request) = self.copydesk.room.request(&id).cloned() else { continue };
            if request.version.0 as usize != self.ledger.version() {
                continue;
            }
            for hunk in request.hunks.iter().filter(|hunk| hunk.status == HunkStatus::Accepted) {
                let mut line = self.book.line(&hunk.id);
                let pieces =
                    hunk.inverse.iter().map(|part| self.ledger.names[part.from..part.to].to_vec());
                let pieces: Vec<_> = pieces.collect();
                // Accepted in an earlier batch, and touched since: its place says nothing about
                // what was put in.
                let touched = hunk.inverse.iter().any(|part| part.conflict);
                if line.stands.is_none()
                    && !touched
                    && !pieces.is_empty()
                    && pieces.iter().all(|piece| !piece.is_empty())
                {
                    line.stands = Some(pieces);
                    self.book.write(&hunk.id, line);
                }
            }
        }
        self.book.keep();
    }
}
