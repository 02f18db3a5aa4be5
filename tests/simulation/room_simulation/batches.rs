//! Batches of commands: committed and broadcast, failed, or interrupted by a power cut.

use std::sync::Arc;

use copydesk_approvals::{ApprovalRequest, HunkStatus};
use copydesk_document::Update;
use copydesk_ids::{MemberId, Version};
use copydesk_rooms::RoomError;
use copydesk_rooms::command::ProposalOutcome;
use copydesk_rooms::event::RoomEvent;
use copydesk_rooms::simulated_room::SimulatedOutput;

use super::{AgentCall, CallState, FOCUS_MS, RoomSimulation};
use crate::invariants::Invariant::{
    AcknowledgedIsDurable, DeniedIsNotApplied, DisplayMatchesRoom, FocusPausesExpiry,
    UpdatesHaveNoGap,
};
use crate::invariants::{CheckResult, ensure};
use crate::rebase_oracle::HunkOracle;
use crate::simulated_editor::InFlightMessage;
use crate::simulated_server::{CommandReply, ServerOutput};

impl RoomSimulation {
    /// Commits the batch, lets time pass, and expires requests in the next batch.
    pub(super) fn commit_and_expire(&mut self) -> CheckResult {
        self.commit_batch()?;
        let before_ms = self.server.now_ms;
        self.server.now_ms += self.random.u64(..8_000);
        let before = self.server.room.open().clone();
        self.server.expire();
        let after = self.server.room.open().clone();
        for (id, expired) in before.iter().filter(|(id, _)| !after.contains_key(*id)) {
            let focus_times = self.focus_times.remove(id).unwrap_or_default();
            let now_ms = self.server.now_ms;
            let was_focused = focus_times.values().any(|at_ms| now_ms < at_ms + FOCUS_MS);
            ensure(FocusPausesExpiry, !was_focused, || {
                format!("{expired:?} expired after {before_ms}")
            })?;
            self.has_uncommitted = true;
            self.count("expired");
        }
        Ok(())
    }

    pub(super) fn commit_batch(&mut self) -> CheckResult {
        let output = self.server.commit_batch();
        self.has_uncommitted = false;
        self.decisions.commit();
        self.rules.commit();
        for output in output {
            self.deliver(output)?;
        }
        self.hear_comments()?;
        self.record_inserted_units();
        self.check()
    }

    pub(super) fn fail_commit(&mut self) -> CheckResult {
        self.count("commit failed");
        self.decisions.roll_back();
        self.rules.roll_back();
        self.decided_requests.clear();
        self.has_uncommitted = false;
        for output in self.server.fail_commit()? {
            self.deliver(output)?;
        }
        self.hear_comments()?;
        self.check()
    }

    pub(super) fn cut_power(&mut self) -> CheckResult {
        let is_committed = self.random.bool();
        self.count(if is_committed {
            "power cut after the commit"
        } else {
            "power cut before the commit"
        });
        if is_committed {
            self.decisions.commit();
            self.rules.commit();
        } else {
            self.decisions.roll_back();
            self.rules.roll_back();
        }
        self.has_uncommitted = false;
        let threads = self.server.room.threads();
        self.server.cut_power(is_committed)?;
        self.disconnect_all();
        // Appends updates that were committed and not broadcast.
        let (known, newest) =
            (Version(self.reference.version() as u64), self.server.store.version());
        ensure(AcknowledgedIsDurable, known <= newest, || {
            format!("{known} was broadcast, committed is {newest}")
        })?;
        for update in self.server.store.updates_between(known, newest) {
            self.append_update(&update)?;
        }
        self.check_threads_after_cut(is_committed, &threads)?;
        if is_committed {
            self.hunk_oracles.clear();
            let open: Vec<_> = self.server.room.open().values().cloned().collect();
            for request in &open {
                self.track_request(request);
            }
        }
        self.record_inserted_units();
        self.check_open()?;
        self.resume_calls()
    }

    /// Ends every connection.
    pub(super) fn disconnect_all(&mut self) {
        self.joined_members.clear();
        self.focus_times.clear();
        for editor in &mut self.editors {
            editor.disconnect();
        }
    }

    pub(super) fn deliver(&mut self, output: ServerOutput) -> CheckResult {
        match output {
            ServerOutput::Room(SimulatedOutput::All(event)) => self.broadcast(event)?,
            ServerOutput::Room(SimulatedOutput::Others(one, event)) => {
                self.send_to_editors(&Arc::new(event), |member| *member != one);
            }
            ServerOutput::Room(SimulatedOutput::One(one, event)) => {
                self.send_to_editors(&Arc::new(event), |member| *member == one);
            }
            ServerOutput::Room(SimulatedOutput::Joined(member)) => {
                self.joined_members.insert(member);
            }
            ServerOutput::Room(SimulatedOutput::Left(member)) => {
                self.joined_members.remove(&member);
            }
            ServerOutput::Room(SimulatedOutput::Ended(settled)) => {
                let id = &settled.resolution.request;
                let is_waiting = |call: &&mut AgentCall| {
                    call.new.origin.id == *id && call.state == CallState::Waiting
                };
                for call in self.calls.iter_mut().filter(is_waiting) {
                    call.state = CallState::Finished;
                }
            }
            ServerOutput::Reply(CommandReply::Pushed(at, member, change_count, result)) => {
                self.check_push_reply(at, &member, change_count, result.is_ok())?;
            }
            ServerOutput::Reply(CommandReply::Opened(at, member, result)) => {
                let connection = self.editors[at]
                    .connection
                    .as_mut()
                    .filter(|connection| connection.member == member);
                match (connection, result) {
                    (Some(connection), Ok(opened)) => {
                        connection.inbox.push_back(InFlightMessage::OpenReply(Box::new(opened)));
                    }
                    (Some(_), Err(_)) => drop(self.editors[at].disconnect()),
                    (None, _) => {}
                }
            }
            ServerOutput::Reply(CommandReply::Proposed(call, result)) => {
                self.record_proposal_outcome(call, &result)?;
            }
        }
        Ok(())
    }

    pub(super) fn check_push_reply(
        &mut self,
        at: usize,
        member: &MemberId,
        change_count: usize,
        is_accepted: bool,
    ) -> CheckResult {
        let editor = &mut self.editors[at];
        if editor.connection.as_ref().is_some_and(|connection| connection.member == *member) {
            editor.push_in_flight = false;
        }
        let committed = self.reference.committed(&editor.client);
        ensure(AcknowledgedIsDurable, !is_accepted || committed >= change_count, || {
            format!(
                "{change_count} updates of {} were acknowledged, {committed} are in the log",
                editor.client
            )
        })
    }

    pub(super) fn record_proposal_outcome(
        &mut self,
        call: usize,
        result: &Result<ProposalOutcome, RoomError>,
    ) -> CheckResult {
        let what = match result {
            Ok(ProposalOutcome::Waiting(_)) => return Ok(()),
            Ok(ProposalOutcome::Resolved(_)) => "applied at once",
            Ok(ProposalOutcome::Conflicted(_)) => "returned to the agent",
            Ok(ProposalOutcome::Frozen(_)) => "proposal frozen",
            Ok(ProposalOutcome::Denied(reason)) => {
                ensure(DeniedIsNotApplied, self.calls[call].may_be_denied, || reason.clone())?;
                "denied"
            }
            Ok(_) => "nothing to propose",
            Err(_) => "could not be proposed",
        };
        self.calls[call].state = CallState::Finished;
        self.count(what);
        Ok(())
    }

    pub(super) fn broadcast(&mut self, event: RoomEvent) -> CheckResult {
        if self.verbose {
            eprintln!("  broadcast at {}: {event:?}", self.reference.version());
        }
        match &event {
            RoomEvent::Updates { from, updates, drop, put, .. } => {
                let newest = from.0 as usize + updates.len();
                ensure(UpdatesHaveNoGap, from.0 as usize == self.reference.version(), || {
                    format!("broadcast from {from}, known is {}", self.reference.version())
                })?;
                ensure(
                    AcknowledgedIsDurable,
                    self.server.store.version().0 as usize >= newest,
                    || {
                        format!(
                            "version {newest} was broadcast, committed is {}",
                            self.server.store.version()
                        )
                    },
                )?;
                let by_request = updates.iter().any(|update| update.origin.is_some());
                ensure(
                    DisplayMatchesRoom,
                    !by_request || !drop.is_empty() || !put.is_empty(),
                    || "an accept was broadcast without its hunks".to_owned(),
                )?;
                for update in updates {
                    self.append_update(update)?;
                }
                self.hunk_oracles.retain(|id, _| !drop.contains(id));
                for (_, hunk) in put {
                    self.hunk_oracles
                        .insert(hunk.id.clone(), HunkOracle::new(hunk, &self.reference.units));
                }
            }
            RoomEvent::Requested(request) | RoomEvent::RequestedAgain(request) => {
                self.track_request(request);
            }
            RoomEvent::ThreadChanged(version, thread) => {
                self.commenters.oracle.changed(*version, thread, &self.reference)?;
            }
            RoomEvent::Resolved(request) => {
                request.hunks.iter().for_each(|hunk| drop(self.hunk_oracles.remove(&hunk.id)));
            }
            _ => {}
        }
        self.send_to_editors(&Arc::new(event), |_| true);
        Ok(())
    }

    pub(super) fn append_update(&mut self, update: &Arc<Update>) -> CheckResult {
        self.reference.append(update)?;
        let entry = self.reference.entries.last().unwrap();
        for oracle in self.hunk_oracles.values_mut() {
            oracle.apply(entry, &self.reference.units);
        }
        self.move_threads()
    }

    pub(super) fn track_request(&mut self, request: &ApprovalRequest) {
        for hunk in request.hunks.iter().filter(|hunk| hunk.status.is_open()) {
            self.hunk_oracles.insert(hunk.id.clone(), HunkOracle::new(hunk, &self.reference.units));
        }
    }

    pub(super) fn send_to_editors(
        &mut self,
        event: &Arc<RoomEvent>,
        to: impl Fn(&MemberId) -> bool,
    ) {
        for connection in self.editors.iter_mut().filter_map(|editor| editor.connection.as_mut()) {
            if self.joined_members.contains(&connection.member) && to(&connection.member) {
                connection.inbox.push_back(InFlightMessage::Event(Arc::clone(event)));
            }
        }
    }

    /// Records the units that were inserted by the hunks accepted in this batch.
    pub(super) fn record_inserted_units(&mut self) {
        for id in std::mem::take(&mut self.decided_requests) {
            let Some(request) = self.server.room.request(&id).cloned() else { continue };
            if request.version.0 as usize != self.reference.version() {
                continue;
            }
            for hunk in request.hunks.iter().filter(|hunk| hunk.status == HunkStatus::Accepted) {
                let mut history = self.decisions.history(&hunk.id);
                let pieces = hunk
                    .inverse
                    .iter()
                    .map(|part| self.reference.units[part.from..part.to].to_vec());
                let pieces: Vec<_> = pieces.collect();
                // The hunk was accepted in an earlier batch and edited since. Its position no
                // longer shows what was inserted.
                let touched = hunk.inverse.iter().any(|part| part.conflict);
                if history.inserted_units.is_none()
                    && !touched
                    && !pieces.is_empty()
                    && pieces.iter().all(|piece| !piece.is_empty())
                {
                    history.inserted_units = Some(pieces);
                    self.decisions.record(&hunk.id, history);
                }
            }
        }
        self.decisions.commit();
    }
}
