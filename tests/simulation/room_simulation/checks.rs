//! Checks after every batch and at the end of a history.

use std::collections::BTreeSet;

use copydesk_approvals::{ApprovalRequest, Hunk, HunkStatus};

use copydesk_rooms::command::ApprovalMode;

use super::RoomSimulation;
use crate::invariants::Invariant::{
    AppliedTextMatchesPreview, DecisionsPersist, HunksHaveTheirOwnNames, OnlyRulesSkipApproval,
    RebaseMatchesOracle, ReplicasConverge, RequestIsOpenWhileHunkIs, RestartPreservesState,
};
use crate::invariants::{CheckResult, ensure};
use crate::model_store::stored_request;

impl RoomSimulation {
    pub(super) fn check(&self) -> CheckResult {
        let known = (self.reference.version() as u64, self.reference.units.len());
        let room = (self.server.room.version().0, self.server.room.text().len());
        ensure(ReplicasConverge, known == room, || {
            format!("the log is at {known:?}, the room at {room:?}")
        })?;
        self.check_open()
    }

    pub(super) fn check_open(&self) -> CheckResult {
        let (rules, expected) = (self.server.room.rules(), self.rules.rules_in_force());
        ensure(RestartPreservesState, rules.keys().eq(expected.keys()), || {
            format!("the room has the rules {rules:?}, expected are {expected:?}")
        })?;
        for request in self.server.room.open().values() {
            let is_open = request.hunks.iter().any(|hunk| hunk.status.is_open());
            ensure(RequestIsOpenWhileHunkIs, is_open && request.status.is_open(), || {
                format!("{request:?}")
            })?;
            ensure(RebaseMatchesOracle, request.version == self.server.room.version(), || {
                format!("{request:?}")
            })?;
            let names: BTreeSet<_> = request.hunks.iter().map(|hunk| &hunk.id).collect();
            ensure(HunksHaveTheirOwnNames, names.len() == request.hunks.len(), || {
                format!("{request:?}")
            })?;
            for hunk in &request.hunks {
                self.check_hunk(hunk)?;
                self.decisions.check_persists(hunk)?;
            }
        }
        Ok(())
    }

    pub(super) fn check_hunk(&self, hunk: &Hunk) -> CheckResult {
        let text = self.server.room.text();
        let parts = if hunk.status == HunkStatus::Accepted { &hunk.inverse } else { &hunk.parts };
        let watched = hunk.status.is_open() || hunk.status == HunkStatus::Accepted;
        for part in parts.iter().filter(|part| watched && !part.conflict) {
            let current = text.slice(part.from..part.to);
            ensure(
                AppliedTextMatchesPreview,
                current.as_ref().is_ok_and(|it| *it == part.base),
                || format!("{hunk:?} is at {current:?}"),
            )?;
        }
        let oracle = self.hunk_oracles.get(&hunk.id).filter(|_| hunk.status.is_open());
        ensure(RebaseMatchesOracle, oracle.is_none_or(|it| it.matches(hunk)), || {
            format!("{hunk:?}\n{oracle:?}")
        })
    }

    /// Reconnects everybody, sends and delivers everything that is left, and checks that all
    /// replicas are equal.
    pub(super) fn converge(&mut self) -> CheckResult {
        self.commit_and_expire()?;
        for at in 0..self.editors.len() {
            if self.editors[at].connection.is_none() {
                self.reconnect(at);
            }
        }
        // The reply to a push may come after messages that have to be received first.
        for _ in 0..3 {
            self.commit_batch()?;
            for at in 0..self.editors.len() {
                while self.editors[at].receive_next(&self.reference)? {}
                self.send_unconfirmed(at);
            }
        }
        self.commit_batch()?;
        for at in 0..self.editors.len() {
            while self.editors[at].receive_next(&self.reference)? {}
            self.editors[at].check_converged(&self.reference)?;
            self.editors[at].displayed.check_matches(self.server.room.open())?;
            self.editors[at].threads.check_matches(&self.server.room.threads())?;
        }
        self.reference.check_all_committed()?;
        let text = self.reference.text(self.reference.version()).to_string();
        ensure(ReplicasConverge, text == self.server.room.text().to_string(), || text.clone())?;
        for record in self.server.store.requests.values() {
            let request = stored_request(record).finish();
            for hunk in &request.hunks {
                self.decisions.check_persists(hunk)?;
                let rule = hunk.decided.as_ref().and_then(|it| it.rule.clone());
                let by_rule = rule.map(|rule| (request.id().clone(), rule));
                let is_on_record =
                    by_rule.is_none_or(|it| self.server.store.rule_decisions.contains(&it));
                ensure(OnlyRulesSkipApproval, is_on_record, || {
                    format!("the decision of a rule is not recorded: {hunk:?}")
                })?;
            }
            self.check_decisions_recorded(&request)?;
        }
        self.server.store.check(|version| self.reference.text(version).clone());
        Ok(())
    }

    /// Checks that every decision is recorded. A vote that is repeated at the same time is recorded
    /// too, though it changes nothing.
    fn check_decisions_recorded(&self, request: &ApprovalRequest) -> CheckResult {
        let call = self.calls.iter().find(|call| call.new.origin.id == *request.id());
        if call.is_none_or(|call| call.new.approval_mode == ApprovalMode::Bypass) {
            return Ok(());
        }
        let (decided, recorded) = (
            self.decisions.decision_count(request.id()),
            self.server.store.decision_counts.get(request.id()).copied(),
        );
        ensure(DecisionsPersist, decided <= recorded.unwrap_or_default(), || {
            format!("{decided} decisions on {} were taken, recorded are {recorded:?}", request.id())
        })
    }
}
