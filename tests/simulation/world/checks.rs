//! What must hold after every batch, and at the end.

use copydesk::approvals::{ApprovalRequest, Hunk, HunkStatus};

use copydesk::rooms::command::ApprovalMode;

use super::World;
use crate::disk::stored_request;
use crate::rules::Rule::{
    ARestartChangesNothing, DecisionsStay, OpenAsLongAsAHunkIs, RebaseIsAsWritten, TextsAreEqual,
    UnaskedByRuleAlone, WordsAreWhatWasPreviewed,
};
use crate::rules::{Held, must};

impl World {
    pub(super) fn check(&self) -> Held {
        let known = (self.ledger.version() as u64, self.ledger.names.len());
        let room = (self.copydesk.room.version().0, self.copydesk.room.text().len());
        must(TextsAreEqual, known == room, || {
            format!("the log is at {known:?}, the room at {room:?}")
        })?;
        self.check_open()
    }

    pub(super) fn check_open(&self) -> Held {
        let (rules, statutes) = (self.copydesk.room.rules(), self.statutes.in_force());
        must(ARestartChangesNothing, rules.keys().eq(statutes.keys()), || {
            format!("the room has {rules:?}, ruled was {statutes:?}")
        })?;
        for request in self.copydesk.room.open().values() {
            let is_open = request.hunks.iter().any(|hunk| hunk.status.is_open());
            must(OpenAsLongAsAHunkIs, is_open && request.status.is_open(), || {
                format!("{request:?}")
            })?;
            must(RebaseIsAsWritten, request.version == self.copydesk.room.version(), || {
                format!("{request:?}")
            })?;
            for hunk in &request.hunks {
                self.check_hunk(hunk)?;
                self.book.stays(hunk)?;
            }
        }
        Ok(())
    }

    pub(super) fn check_hunk(&self, hunk: &Hunk) -> Held {
        let text = self.copydesk.room.text();
        let parts = if hunk.status == HunkStatus::Accepted { &hunk.inverse } else { &hunk.parts };
        let watched = hunk.status.is_open() || hunk.status == HunkStatus::Accepted;
        for part in parts.iter().filter(|part| watched && !part.conflict) {
            let stands = text.slice(part.from..part.to);
            must(
                WordsAreWhatWasPreviewed,
                stands.as_ref().is_ok_and(|it| *it == part.base),
                || format!("{hunk:?} stands on {stands:?}"),
            )?;
        }
        let shadow = self.shadows.get(&hunk.id).filter(|_| hunk.status.is_open());
        must(RebaseIsAsWritten, shadow.is_none_or(|it| it.agrees(hunk)), || {
            format!("{hunk:?}\n{shadow:?}")
        })
    }

    /// Everybody comes back, sends what is left and hears everything; then all have the same.
    pub(super) fn comes_together(&mut self) -> Held {
        self.take_batch()?;
        for at in 0..self.editors.len() {
            if self.editors[at].line.is_none() {
                self.comes_back(at);
            }
        }
        // What was sent may be answered by what has to be heard first.
        for _ in 0..3 {
            self.end_batch()?;
            for at in 0..self.editors.len() {
                while self.editors[at].hears(&self.ledger)? {}
                self.sends(at);
            }
        }
        self.end_batch()?;
        for at in 0..self.editors.len() {
            while self.editors[at].hears(&self.ledger)? {}
            self.editors[at].agrees(&self.ledger)?;
            self.editors[at].shown.agrees(self.copydesk.room.open())?;
        }
        self.ledger.settle()?;
        let text = self.ledger.text(self.ledger.version()).to_string();
        must(TextsAreEqual, text == self.copydesk.room.text().to_string(), || text.clone())?;
        for record in self.copydesk.disk.requests.values() {
            let request = stored_request(record).finish();
            for hunk in &request.hunks {
                self.book.stays(hunk)?;
                let rule = hunk.decided.as_ref().and_then(|it| it.rule.clone());
                let by_rule = rule.map(|rule| (request.id().clone(), rule));
                let is_on_record = by_rule.is_none_or(|it| self.copydesk.disk.ruled.contains(&it));
                must(UnaskedByRuleAlone, is_on_record, || format!("nobody knows of {hunk:?}"))?;
            }
            self.check_record(&request)?;
        }
        self.copydesk.disk.check(|version| self.ledger.text(version).clone());
        Ok(())
    }

    /// Every decision is on record. A vote that is given again in the same moment is, though it
    /// changes nothing.
    fn check_record(&self, request: &ApprovalRequest) -> Held {
        let at_once = self.calls.iter().find(|call| call.new.origin.id == *request.id());
        if at_once.is_none_or(|call| call.new.approval_mode == ApprovalMode::Bypass) {
            return Ok(());
        }
        let (taken, kept) = (
            self.book.taken(request.id()),
            self.copydesk.disk.decisions.get(request.id()).copied(),
        );
        must(DecisionsStay, taken <= kept.unwrap_or_default(), || {
            format!("{taken} decisions on {} were taken, kept are {kept:?}", request.id())
        })
    }
}
