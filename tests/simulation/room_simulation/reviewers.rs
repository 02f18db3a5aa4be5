//! Simulated reviewers decide, undo, reopen, focus requests, and change policies.

use std::sync::Arc;

use copydesk_approvals::{
    ApprovalRequest, Decision, FinishRest, Hunk, HunkChoice, HunkStatus, HunkVerdict, MarkKind,
    RequestVerdict, ToolPolicy,
};
use copydesk_document::{ChangeLimits, ChangeSet};
use copydesk_ids::permissions::{Principal, Role};
use copydesk_ids::{HunkId, RequestId, Version};
use copydesk_rooms::command::{
    ProposeAgain, ReplySender, RequestCommand, RoomCommand, SettingsChange, UndoChange,
    ViewerChange,
};
use copydesk_rooms::settings::OwnSettings;

use super::{POLICIES, REPLACEMENT_TEXTS, RoomSimulation};
use crate::decision_oracle::ObservedDecision;
use crate::generators::{self, PEOPLE};
use crate::invariants::Invariant::{
    DecisionsPersist, ReplicasConverge, UndoKeepsLaterEdits, UntouchedCanBeUndone,
};
use crate::invariants::{CheckResult, InvariantViolation, ensure};
use crate::reference_document::edits;

impl RoomSimulation {
    pub(super) fn random_open_request(&mut self) -> Option<RequestId> {
        let ids: Vec<_> = self.server.room.open().keys().collect();
        (!ids.is_empty()).then(|| ids[self.random.usize(..ids.len())].clone())
    }

    pub(super) fn random_person(&mut self) -> Principal {
        generators::principal_named(PEOPLE[self.random.usize(..PEOPLE.len())])
    }

    /// Decides a request as an editor displays it, which may be outdated.
    pub(super) fn decide(&mut self, at: usize) -> CheckResult {
        let Some(id) = self.random_open_request() else { return Ok(()) };
        let by = self.random_person();
        let decision = self.random_decision(at, &id);
        let before = Arc::clone(&self.server.room.open()[&id]);
        let (text, version) = (self.server.room.text().clone(), self.server.room.version());
        let frozen = self.server.room.frozen().to_vec();
        let policies = self.server.room.policies().to_vec();
        self.server.decide(&id, decision.clone(), by.clone());
        self.has_uncommitted = true;
        let after = Arc::clone(self.server.room.request(&id).unwrap());
        let updates = self.server.room.since(version).unwrap();
        let change =
            updates.first().map(|it| ChangeSet::parse(&it.changes, &ChangeLimits::NONE).unwrap());
        let observed = ObservedDecision {
            before: &before,
            after: &after,
            decision: &decision,
            by: &by,
            text: &text,
            change: change.as_ref(),
            now_ms: self.server.now_ms,
            frozen: &frozen,
            rules: &self.rules,
            policies: &policies,
        };
        let requires_more = self.decisions.requires_more_than_proposed(&observed);
        self.decisions.check_and_record(&observed)?;
        if requires_more {
            self.count("required more than was proposed");
        }
        if before.hunks.iter().any(|hunk| hunk.own_votes().is_some()) {
            self.count("decided with marks that take more");
        }
        self.count_decision(&before, &after);
        self.decided_requests.insert(id);
        Ok(())
    }

    pub(super) fn count_decision(&mut self, before: &ApprovalRequest, after: &ApprovalRequest) {
        let newly = |status| {
            let changed =
                before.hunks.iter().zip(&after.hunks).filter(|(was, is)| was.status != is.status);
            changed.map(|(_, is)| is).filter(move |is| is.status == status)
        };
        let accepted: Vec<_> =
            newly(HunkStatus::Accepted).filter_map(|hunk| hunk.decided.as_ref()).collect();
        let happened = [
            ("accepted", !accepted.is_empty()),
            ("accepted with edits", accepted.iter().any(|it| it.text.is_some())),
            ("accepted by force", accepted.iter().any(|it| it.forced_over.is_some())),
            ("rejected", newly(HunkStatus::Rejected).count() > 0),
            (
                "voted",
                accepted.is_empty()
                    && before.hunks.iter().zip(&after.hunks).any(|(was, is)| was.votes != is.votes),
            ),
            ("refused", before == after),
        ];
        for (what, _) in happened.into_iter().filter(|(_, did)| *did) {
            self.count(what);
        }
    }

    pub(super) fn random_decision(&mut self, at: usize, id: &RequestId) -> Decision {
        let verdict =
            if self.random.u8(..4) == 0 { RequestVerdict::Reject } else { RequestVerdict::Approve };
        let mut decision = Decision::plain(verdict);
        let announced = self.server.room.open()[id].announced.clone();
        let is_written_on = self.server.room.open()[id].suggestion.is_some();
        let current = self.server.room.open()[id].preview_hash();
        decision.preview_hash = match self.random.u8(..16) {
            6.. if is_written_on => Some(current),
            0 => Some(format!("{announced}?")),
            1..9 => Some(announced),
            _ => None,
        };
        if self.random.u8(..3) == 0 {
            return decision;
        }
        // Now and then a hunk that was decided meanwhile is named, too.
        let all = self.random.u8(..4) == 0;
        let hunks =
            self.server.room.open()[id].hunks.iter().filter(|hunk| all || hunk.status.is_open());
        let hunks: Vec<HunkId> = hunks.map(|hunk| hunk.id.clone()).collect();
        let first = self.random.usize(..hunks.len());
        let named = hunks[first..].iter().take(self.random.usize(1..=2));
        let named: Vec<_> = named.map(|hunk| self.random_verdict(at, hunk)).collect();
        decision.hunks = Some(named);
        decision.finish = [None, None, None, Some(FinishRest::Accept), Some(FinishRest::Reject)]
            [self.random.usize(..5)];
        decision
    }

    pub(super) fn random_verdict(&mut self, at: usize, id: &HunkId) -> HunkVerdict {
        let choice = if self.random.u8(..4) == 0 { HunkChoice::Reject } else { HunkChoice::Accept };
        let mut verdict = HunkVerdict::plain(id.clone(), choice);
        if let Some(hashes) = self.shown_hashes.get(id) {
            let old = self.random.u8(..3) == 0;
            let seen =
                if old { hashes.get(self.random.usize(..hashes.len())) } else { hashes.last() };
            verdict.hash = seen.cloned();
        }
        if choice == HunkChoice::Reject {
            return verdict;
        }
        let edits = self.random.u8(..4) == 0;
        verdict.text = edits
            .then(|| REPLACEMENT_TEXTS[self.random.usize(..REPLACEMENT_TEXTS.len())].to_owned());
        let editor = &self.editors[at];
        let Some(hunk) = editor.displayed.hunks.get(id) else { return verdict };
        let conflict = hunk.status == HunkStatus::Conflict;
        if conflict && self.random.u8(..4) > 0 || self.random.u8(..16) == 0 {
            verdict.seen = editor.confirmed_text(&self.reference).slice(hunk.range()).ok();
            verdict.force = verdict.seen.is_some();
        }
        verdict
    }

    pub(super) fn undo(&mut self, at: usize) -> CheckResult {
        let Some(id) = self.random_request()? else { return Ok(()) };
        let before = Arc::clone(self.server.room.request(&id).unwrap());
        let accepted: Vec<&Hunk> =
            before.hunks.iter().filter(|hunk| hunk.status == HunkStatus::Accepted).collect();
        let hunks = match accepted.as_slice() {
            [] => return Ok(()),
            [one, ..] if self.random.bool() => Some(vec![one.id.clone()]),
            _ => None,
        };
        let selected = |hunk: &&&Hunk| hunks.as_ref().is_none_or(|ids| ids.contains(&hunk.id));
        let selected: Vec<&Hunk> = accepted.iter().filter(selected).copied().collect();
        let force = self.random.u8(..4) == 0;
        let untouched = selected.iter().all(|hunk| self.is_untouched(hunk));
        let (text, version) = (self.server.room.text().clone(), self.server.room.version());
        let by = self.editors[at].principal.clone();
        // Under every policy an owner may undo what another person requested.
        let is_authorized = by.role == Role::Owner && before.proposal.requester.user != by.user;
        let undo = UndoChange {
            request: id.clone(),
            hunks: hunks.clone(),
            force,
            seen: None,
            votes_only: false,
        };
        self.server.undo(undo, by);
        self.has_uncommitted = true;
        let after = Arc::clone(self.server.room.request(&id).unwrap());
        let is_undone = after != before;
        ensure(UntouchedCanBeUndone, is_undone || !untouched || !is_authorized, || {
            format!("{selected:?} could not be undone in {:?}", text.to_string())
        })?;
        if !is_undone {
            self.count("undo refused");
            return Ok(());
        }
        self.count(if force { "undone by force" } else { "undone" });
        for hunk in &after.hunks {
            if before.hunk(&hunk.id).unwrap().status == HunkStatus::Accepted
                && hunk.status != HunkStatus::Accepted
            {
                self.decisions.record_reopened(&hunk.id);
            }
        }
        let updates = self.server.room.since(version).unwrap();
        let Some(update) = updates.first().filter(|_| !force) else { return Ok(()) };
        let change = ChangeSet::parse(&update.changes, &ChangeLimits::NONE).unwrap();
        let inserted_length: usize =
            selected.iter().flat_map(|hunk| &hunk.inverse).map(|part| part.base.len()).sum();
        let removed = edits(&change).into_iter().map(|(from, to, _)| text.slice(from..to).unwrap());
        let removed: Vec<String> = removed.filter(|words| !words.is_empty()).collect();
        let all: String =
            selected.iter().flat_map(|hunk| &hunk.inverse).map(|part| part.base.as_str()).collect();
        let is_inserted_text = removed.iter().all(|words| {
            all.contains(words.as_str())
                || words.len() <= inserted_length && is_joined_insert(words, &selected)
        });
        ensure(UndoKeepsLaterEdits, is_inserted_text, || {
            format!("{removed:?} was removed, accepted was {all:?}")
        })
    }

    /// Returns whether the units that an accept inserted are beside each other.
    pub(super) fn is_untouched(&self, hunk: &Hunk) -> bool {
        let Some(pieces) = self.decisions.history(&hunk.id).inserted_units else { return false };
        let units = &self.reference.units;
        pieces.iter().all(|piece| {
            let start = units.iter().position(|name| *name == piece[0]);
            start.is_some_and(|at| units[at..].starts_with(piece))
        })
    }

    pub(super) fn reopen(&mut self, at: usize) -> CheckResult {
        let Some(id) = self.random_request()? else { return Ok(()) };
        let before = Arc::clone(self.server.room.request(&id).unwrap());
        // All hunks, or one; now and then one that cannot be reopened.
        let one = self.random.usize(..before.hunks.len() * 2);
        let only = before.hunks.get(one).map(|hunk| hunk.id.clone());
        let (reply, _) = ReplySender::channel();
        let version = self.server.room.version();
        let by = self.editors[at].principal.clone();
        let hunks = only.clone().map(|only| vec![only]);
        let reopen = ProposeAgain { request: id.clone(), hunks };
        let command = RequestCommand::Reopen(reopen, by);
        self.server.apply(RoomCommand::About(id.clone(), command, reply));
        self.has_uncommitted = true;
        ensure(ReplicasConverge, self.server.room.version() == version, || {
            "reopening changed the text".to_owned()
        })?;
        let after = Arc::clone(self.server.room.request(&id).unwrap());
        if after != before {
            self.count(if only.is_some() { "reopened one change" } else { "reopened" });
        }
        for (was, hunk) in before.hunks.iter().zip(&after.hunks) {
            if was.status != hunk.status {
                let settled = was.status.is_open() || was.status == HunkStatus::Accepted;
                let selected = !settled && only.as_ref().is_none_or(|only| *only == hunk.id);
                ensure(DecisionsPersist, selected, || format!("{was:?} is {hunk:?} for {only:?}"))?;
                self.decisions.record_reopened(&hunk.id);
            }
        }
        Ok(())
    }

    /// Picks a request, open or ended. The batch is committed first, as the driver does before it
    /// reads the log.
    pub(super) fn random_request(&mut self) -> Result<Option<RequestId>, InvariantViolation> {
        self.commit_and_expire()?;
        let ids: Vec<_> = self.server.store.requests.keys().cloned().collect();
        if ids.is_empty() || self.server.room.open().len() > self.max_open_requests + 4 {
            return Ok(None);
        }
        let id = ids[self.random.usize(..ids.len())].clone();
        if self.server.store.version() == self.server.room.version() {
            let reference = &self.reference;
            self.server.recall(&id, |version| reference.text(version).clone());
        }
        Ok(self.server.room.request(&id).is_some().then_some(id))
    }

    pub(super) fn withdraw(&mut self) {
        let Some(id) = self.random_open_request() else { return };
        let (reply, _) = ReplySender::channel();
        let command = RequestCommand::Withdraw(Some(generators::principal_named("ana")));
        self.server.apply(RoomCommand::About(id, command, reply));
        self.has_uncommitted = true;
        self.count("withdrawn");
    }

    pub(super) fn extend(&mut self) {
        let Some(id) = self.random_open_request() else { return };
        let (reply, _) = ReplySender::channel();
        let command = RequestCommand::Extend(generators::principal_named("bob"));
        self.server.apply(RoomCommand::About(id, command, reply));
        self.has_uncommitted = true;
        self.count("extended");
    }

    pub(super) fn focus(&mut self, at: usize) {
        let (Some(id), Some(connection)) =
            (self.random_open_request(), &self.editors[at].connection)
        else {
            return;
        };
        let member = connection.member.clone();
        if !self.joined_members.contains(&member) {
            return;
        }
        let off = self.random.u8(..4) == 0;
        let focus_times = self.focus_times.entry(id.clone()).or_default();
        if off {
            focus_times.remove(&member);
        } else {
            focus_times.insert(member.clone(), self.server.now_ms);
        }
        let (reply, _) = ReplySender::channel();
        let focus = if off { ViewerChange::Off } else { ViewerChange::On };
        let command = RequestCommand::Focus(member, focus);
        self.server.apply(RoomCommand::About(id, command, reply));
        self.has_uncommitted = true;
        self.count("focused");
    }

    pub(super) fn change_policy(&mut self) {
        let policy = Some(POLICIES[self.random.usize(..POLICIES.len())]);
        // A second policy applies to some requests, to all, or to changes with some marks.
        let by_marks = self.random.u8(..3) == 0;
        let other = ToolPolicy {
            tool: None,
            over: (!by_marks).then(|| self.random.usize(..60)),
            marks: by_marks.then(|| vec![MarkKind::Number, MarkKind::Negation]),
            policy: POLICIES[self.random.usize(..POLICIES.len())],
        };
        let policies = Some([other].into_iter().take(self.random.usize(..2)).collect());
        let own = OwnSettings { policy, policies, ..OwnSettings::default() };
        self.apply_settings(SettingsChange { own, frozen: None });
        self.count("policy changed");
    }

    pub(super) fn change_frozen_ranges(&mut self) {
        let text = self.reference.text(self.reference.version());
        let from = generators::next_boundary(text, self.random.usize(..=text.len()));
        let to = generators::next_boundary(text, from + 6);
        let range = (from < to && self.random.u8(..3) > 0).then_some((from, to));
        let version = Version(self.reference.version() as u64);
        let frozen = Some((version, range.into_iter().collect()));
        self.apply_settings(SettingsChange { own: OwnSettings::default(), frozen });
        self.count("frozen ranges changed");
    }

    pub(super) fn apply_settings(&mut self, configure: SettingsChange) {
        let (reply, _) = ReplySender::channel();
        self.server.apply(RoomCommand::Configure(
            Box::new(configure),
            generators::principal_named("ana"),
            reply,
        ));
        self.has_uncommitted = true;
    }
}

/// Returns whether a text that was removed in one piece was inserted by neighbouring parts.
fn is_joined_insert(words: &str, hunks: &[&Hunk]) -> bool {
    let mut parts: Vec<_> = hunks.iter().flat_map(|hunk| &hunk.inverse).collect();
    parts.sort_by_key(|part| part.from);
    let joined: String = parts.iter().map(|part| part.base.as_str()).collect();
    joined.contains(words)
}
