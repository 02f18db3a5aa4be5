//! Reviewers decide, undo, propose again, look, and change the rules they do it by.

use std::sync::Arc;

use copydesk::approvals::{
    ApprovalRequest, Decision, FinishRest, Hunk, HunkChoice, HunkStatus, HunkVerdict,
    RequestVerdict, ToolPolicy,
};
use copydesk::document::{ChangeLimits, ChangeSet};
use copydesk::ids::{HunkId, RequestId, Version};
use copydesk::permissions::{Principal, Role};
use copydesk::rooms::command::{
    ProposeAgain, ReplySender, RequestCommand, RoomCommand, SettingsChange, UndoChange,
    ViewerChange,
};
use copydesk::rooms::settings::OwnSettings;

use super::{POLICIES, TEXTS, World};
use crate::book::Case;
use crate::chance::{self, PEOPLE};
use crate::ledger::edits;
use crate::rules::Rule::{
    DecisionsStay, TextsAreEqual, UndoLeavesTouchedWords, UntouchedCanBeUndone,
};
use crate::rules::{Broken, Held, must};

impl World {
    pub(super) fn some_open(&mut self) -> Option<RequestId> {
        let ids: Vec<_> = self.copydesk.room.open().keys().collect();
        (!ids.is_empty()).then(|| ids[self.random.usize(..ids.len())].clone())
    }

    pub(super) fn somebody(&mut self) -> Principal {
        chance::person(PEOPLE[self.random.usize(..PEOPLE.len())])
    }

    /// Somebody decides what they see, which may be of a moment ago.
    pub(super) fn decides(&mut self, at: usize) -> Held {
        let Some(id) = self.some_open() else { return Ok(()) };
        let by = self.somebody();
        let decision = self.decision(at, &id);
        let before = Arc::clone(&self.copydesk.room.open()[&id]);
        let (text, version) = (self.copydesk.room.text().clone(), self.copydesk.room.version());
        let frozen = self.copydesk.room.frozen().to_vec();
        let policies = self.copydesk.room.policies().to_vec();
        self.copydesk.decide(&id, decision.clone(), by.clone());
        self.busy = true;
        let after = Arc::clone(self.copydesk.room.request(&id).unwrap());
        let made = self.copydesk.room.since(version).unwrap();
        let change =
            made.first().map(|it| ChangeSet::parse(&it.changes, &ChangeLimits::NONE).unwrap());
        let case = Case {
            before: &before,
            after: &after,
            decision: &decision,
            by: &by,
            text: &text,
            change: change.as_ref(),
            now_ms: self.copydesk.now_ms,
            frozen: &frozen,
            statutes: &self.statutes,
            policies: &policies,
        };
        let takes_more = self.book.takes_more(&case);
        self.book.judge(&case)?;
        if takes_more {
            self.count("took more than was proposed");
        }
        self.count_decision(&before, &after);
        self.accepted.insert(id);
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
            ("edited", accepted.iter().any(|it| it.text.is_some())),
            ("forced", accepted.iter().any(|it| it.forced_over.is_some())),
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

    pub(super) fn decision(&mut self, at: usize, id: &RequestId) -> Decision {
        let verdict =
            if self.random.u8(..4) == 0 { RequestVerdict::Reject } else { RequestVerdict::Approve };
        let mut decision = Decision::plain(verdict);
        let announced = self.copydesk.room.open()[id].announced.clone();
        decision.preview_hash = match self.random.u8(..16) {
            0 => Some(format!("{announced}?")),
            1..9 => Some(announced),
            _ => None,
        };
        if self.random.u8(..3) == 0 {
            return decision;
        }
        // Now and then what has been decided meanwhile.
        let all = self.random.u8(..4) == 0;
        let hunks =
            self.copydesk.room.open()[id].hunks.iter().filter(|hunk| all || hunk.status.is_open());
        let hunks: Vec<HunkId> = hunks.map(|hunk| hunk.id.clone()).collect();
        let first = self.random.usize(..hunks.len());
        let named = hunks[first..].iter().take(self.random.usize(1..=2));
        let named: Vec<_> = named.map(|hunk| self.verdict(at, hunk)).collect();
        decision.hunks = Some(named);
        decision.finish = [None, None, None, Some(FinishRest::Accept), Some(FinishRest::Reject)]
            [self.random.usize(..5)];
        decision
    }

    pub(super) fn verdict(&mut self, at: usize, id: &HunkId) -> HunkVerdict {
        let choice = if self.random.u8(..4) == 0 { HunkChoice::Reject } else { HunkChoice::Accept };
        let mut verdict = HunkVerdict::plain(id.clone(), choice);
        if choice == HunkChoice::Reject {
            return verdict;
        }
        let edits = self.random.u8(..4) == 0;
        verdict.text = edits.then(|| TEXTS[self.random.usize(..TEXTS.len())].to_owned());
        let editor = &self.editors[at];
        let Some(hunk) = editor.shown.hunks.get(id) else { return verdict };
        let conflict = hunk.status == HunkStatus::Conflict;
        if conflict && self.random.u8(..4) > 0 || self.random.u8(..16) == 0 {
            verdict.seen = editor.confirmed(&self.ledger).slice(hunk.range()).ok();
            verdict.force = verdict.seen.is_some();
        }
        verdict
    }

    pub(super) fn undoes(&mut self, at: usize) -> Held {
        let Some(id) = self.some_ended_or_open()? else { return Ok(()) };
        let before = Arc::clone(self.copydesk.room.request(&id).unwrap());
        let accepted: Vec<&Hunk> =
            before.hunks.iter().filter(|hunk| hunk.status == HunkStatus::Accepted).collect();
        let hunks = match accepted.as_slice() {
            [] => return Ok(()),
            [one, ..] if self.random.bool() => Some(vec![one.id.clone()]),
            _ => None,
        };
        let meant = |hunk: &&&Hunk| hunks.as_ref().is_none_or(|ids| ids.contains(&hunk.id));
        let meant: Vec<&Hunk> = accepted.iter().filter(meant).copied().collect();
        let force = self.random.u8(..4) == 0;
        let untouched = meant.iter().all(|hunk| self.stands(hunk));
        let (text, version) = (self.copydesk.room.text().clone(), self.copydesk.room.version());
        let by = self.editors[at].who.clone();
        // An owner may under every policy, but for what they asked for themselves.
        let may = by.role == Role::Owner && before.proposal.requester.user != by.user;
        let undo = UndoChange {
            request: id.clone(),
            hunks: hunks.clone(),
            force,
            seen: None,
            votes_only: false,
        };
        self.copydesk.undo(undo, by);
        self.busy = true;
        let after = Arc::clone(self.copydesk.room.request(&id).unwrap());
        let done = after != before;
        must(UntouchedCanBeUndone, done || !untouched || !may, || {
            format!("{meant:?} could not be undone in {:?}", text.to_string())
        })?;
        if !done {
            self.count("undo refused");
            return Ok(());
        }
        self.count(if force { "undone by force" } else { "undone" });
        for hunk in &after.hunks {
            if before.hunk(&hunk.id).unwrap().status == HunkStatus::Accepted
                && hunk.status != HunkStatus::Accepted
            {
                self.book.open_again(&hunk.id);
            }
        }
        let made = self.copydesk.room.since(version).unwrap();
        let Some(update) = made.first().filter(|_| !force) else { return Ok(()) };
        let change = ChangeSet::parse(&update.changes, &ChangeLimits::NONE).unwrap();
        let put_in: usize =
            meant.iter().flat_map(|hunk| &hunk.inverse).map(|part| part.base.len()).sum();
        let gone = edits(&change).into_iter().map(|(from, to, _)| text.slice(from..to).unwrap());
        let gone: Vec<String> = gone.filter(|words| !words.is_empty()).collect();
        let all: String =
            meant.iter().flat_map(|hunk| &hunk.inverse).map(|part| part.base.as_str()).collect();
        let known = gone.iter().all(|words| {
            all.contains(words.as_str()) || words.len() <= put_in && adjoining(words, &meant)
        });
        must(UndoLeavesTouchedWords, known, || format!("{gone:?} were taken, accepted was {all:?}"))
    }

    /// Whether what an accept put in stands as it was, unit by unit.
    pub(super) fn stands(&self, hunk: &Hunk) -> bool {
        let Some(pieces) = self.book.line(&hunk.id).stands else { return false };
        let names = &self.ledger.names;
        pieces.iter().all(|piece| {
            let start = names.iter().position(|name| *name == piece[0]);
            start.is_some_and(|at| names[at..].starts_with(piece))
        })
    }

    pub(super) fn reopens(&mut self, at: usize) -> Held {
        let Some(id) = self.some_ended_or_open()? else { return Ok(()) };
        let before = Arc::clone(self.copydesk.room.request(&id).unwrap());
        // All of it, or one change; now and then one that cannot be proposed again.
        let one = self.random.usize(..before.hunks.len() * 2);
        let only = before.hunks.get(one).map(|hunk| hunk.id.clone());
        let (reply, _) = ReplySender::channel();
        let version = self.copydesk.room.version();
        let by = self.editors[at].who.clone();
        let hunks = only.clone().map(|only| vec![only]);
        let reopen = ProposeAgain { request: id.clone(), hunks };
        let command = RequestCommand::Reopen(reopen, by);
        self.copydesk.take(RoomCommand::About(id.clone(), command, reply));
        self.busy = true;
        must(TextsAreEqual, self.copydesk.room.version() == version, || {
            "proposing again changed a word".to_owned()
        })?;
        let after = Arc::clone(self.copydesk.room.request(&id).unwrap());
        if after != before {
            self.count(if only.is_some() { "reopened one change" } else { "reopened" });
        }
        for (was, hunk) in before.hunks.iter().zip(&after.hunks) {
            if was.status != hunk.status {
                let settled = was.status.is_open() || was.status == HunkStatus::Accepted;
                let meant = !settled && only.as_ref().is_none_or(|only| *only == hunk.id);
                must(DecisionsStay, meant, || format!("{was:?} is {hunk:?} for {only:?}"))?;
                self.book.open_again(&hunk.id);
            }
        }
        Ok(())
    }

    /// Everything is kept first, as the driver does before it reads the log.
    pub(super) fn some_ended_or_open(&mut self) -> Result<Option<RequestId>, Broken> {
        self.take_batch()?;
        let ids: Vec<_> = self.copydesk.disk.requests.keys().cloned().collect();
        if ids.is_empty() || self.copydesk.room.open().len() > self.crowd + 4 {
            return Ok(None);
        }
        let id = ids[self.random.usize(..ids.len())].clone();
        if self.copydesk.disk.version() == self.copydesk.room.version() {
            let ledger = &self.ledger;
            self.copydesk.recall(&id, |version| ledger.text(version).clone());
        }
        Ok(self.copydesk.room.request(&id).is_some().then_some(id))
    }

    pub(super) fn withdraws(&mut self) {
        let Some(id) = self.some_open() else { return };
        let (reply, _) = ReplySender::channel();
        let command = RequestCommand::Withdraw(Some(chance::person("ana")));
        self.copydesk.take(RoomCommand::About(id, command, reply));
        self.busy = true;
        self.count("withdrawn");
    }

    pub(super) fn extends(&mut self) {
        let Some(id) = self.some_open() else { return };
        let (reply, _) = ReplySender::channel();
        let command = RequestCommand::Extend(chance::person("bob"));
        self.copydesk.take(RoomCommand::About(id, command, reply));
        self.busy = true;
        self.count("given more time");
    }

    pub(super) fn looks(&mut self, at: usize) {
        let (Some(id), Some(line)) = (self.some_open(), &self.editors[at].line) else { return };
        let member = line.member.clone();
        if !self.audience.contains(&member) {
            return;
        }
        let off = self.random.u8(..4) == 0;
        let looks = self.looks.entry(id.clone()).or_default();
        if off {
            looks.remove(&member);
        } else {
            looks.insert(member.clone(), self.copydesk.now_ms);
        }
        let (reply, _) = ReplySender::channel();
        let focus = if off { ViewerChange::Off } else { ViewerChange::On };
        let command = RequestCommand::Focus(member, focus);
        self.copydesk.take(RoomCommand::About(id, command, reply));
        self.busy = true;
        self.count("looked");
    }

    pub(super) fn configures(&mut self) {
        let policy = Some(POLICIES[self.random.usize(..POLICIES.len())]);
        // For some requests, or for all of them, there is another policy besides.
        let other = ToolPolicy {
            tool: None,
            over: Some(self.random.usize(..60)),
            policy: POLICIES[self.random.usize(..POLICIES.len())],
        };
        let policies = Some([other].into_iter().take(self.random.usize(..2)).collect());
        let own = OwnSettings { policy, policies, ..OwnSettings::default() };
        self.configure(SettingsChange { own, frozen: None });
        self.count("configured");
    }

    pub(super) fn freezes(&mut self) {
        let text = self.ledger.text(self.ledger.version());
        let from = chance::boundary(text, self.random.usize(..=text.len()));
        let to = chance::boundary(text, from + 6);
        let range = (from < to && self.random.u8(..3) > 0).then_some((from, to));
        let version = Version(self.ledger.version() as u64);
        let frozen = Some((version, range.into_iter().collect()));
        self.configure(SettingsChange { own: OwnSettings::default(), frozen });
        self.count("froze");
    }

    pub(super) fn configure(&mut self, configure: SettingsChange) {
        let (reply, _) = ReplySender::channel();
        self.copydesk.take(RoomCommand::Configure(
            Box::new(configure),
            chance::person("ana"),
            reply,
        ));
        self.busy = true;
    }
}

/// Whether words that were taken in one piece are what neighbouring parts had put in.
fn adjoining(words: &str, hunks: &[&Hunk]) -> bool {
    let mut parts: Vec<_> = hunks.iter().flat_map(|hunk| &hunk.inverse).collect();
    parts.sort_by_key(|part| part.from);
    let joined: String = parts.iter().map(|part| part.base.as_str()).collect();
    joined.contains(words)
}
