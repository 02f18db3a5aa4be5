//! Invariants of requests, for the check of stored data.

use std::collections::HashSet;

use super::{ApprovalRequest, ExecutionState, Hunk, HunkPart, HunkStatus, RequestStatus};
use copydesk_document::Text;

impl ApprovalRequest {
    fn announced_hash(&self) -> String {
        let Some(announced) = &self.announced_for else { return self.unsplit_hash() };
        let mut then = self.clone();
        then.proposal.action.touched.clone_from(&announced.touched);
        then.unsplit_hash()
    }

    /// Returns the contradictions within this request, whatever the text is.
    pub fn contradictions(&self) -> Vec<String> {
        let mut found = Vec::new();
        // A suggestion is written on after it was announced.
        let is_as_announced = self.suggestion.is_some() || self.announced_hash() == self.announced;
        if !is_as_announced && self.status != RequestStatus::Streaming {
            found.push("its preview_hash does not recompute from what was shown".to_owned());
        }
        if self.status.is_open() == self.decisions.closed.is_some() {
            found.push(match &self.decisions.closed {
                Some(_) => format!("it is {} and was closed all the same", self.status.as_str()),
                None => format!("it is {} and nothing says when it ended", self.status.as_str()),
            });
        }
        found.extend(self.status_against_hunks());
        found.extend(self.reversal_against_execution().map(str::to_owned));
        let mut names = HashSet::new();
        for hunk in &self.hunks {
            if !names.insert(&hunk.id) {
                found.push(format!("two of its changes are called {}", hunk.id));
            }
            found.extend(hunk.contradictions().map(|what| format!("change {} {what}", hunk.id)));
        }
        found
    }

    /// Returns the hunks that do not fit `text`, the text of the request's version.
    pub fn misfits(&self, text: &Text) -> Vec<String> {
        let misfit = |hunk: &Hunk| {
            let parts =
                if hunk.status == HunkStatus::Accepted { &hunk.inverse } else { &hunk.parts };
            let wrong = parts.iter().find_map(|part| misfit(part, hunk.status, text))?;
            Some(format!("{} change {} {wrong}", hunk.status.as_str(), hunk.id))
        };
        self.hunks.iter().filter_map(misfit).collect()
    }

    fn reversal_against_execution(&self) -> Option<&'static str> {
        self.aftermath.reversal.as_ref()?;
        let is_done = matches!(
            &self.aftermath.execution,
            Some(ExecutionState::Done { report, .. }) if !report.is_error
        );
        if self.status != RequestStatus::Approved || !is_done {
            return Some("it was undone, and nothing says that it was done");
        }
        (self.proposal.action.touched.is_none()
            || self.proposal.action.preview.new_content.is_none())
        .then_some("it was undone, and changed no file")
    }

    fn status_against_hunks(&self) -> Option<String> {
        use HunkStatus::{Accepted, Expired, Rejected};
        if self.hunks.is_empty() {
            return None;
        }
        let count = |status| self.hunks.iter().filter(|hunk| hunk.status == status).count();
        let open = self.hunks.iter().filter(|hunk| hunk.status.is_open()).count();
        let (accepted, all) = (count(Accepted), self.hunks.len());
        let holds = match self.status {
            RequestStatus::Streaming => accepted == 0,
            RequestStatus::Pending => open > 0,
            RequestStatus::Approved => accepted == all,
            RequestStatus::Partly => open == 0 && accepted > 0 && accepted < all,
            RequestStatus::Rejected => open == 0 && accepted == 0 && count(Rejected) > 0,
            RequestStatus::Expired => open == 0 && accepted == 0 && count(Expired) > 0,
            RequestStatus::Cancelled => open == 0 && accepted == 0,
            RequestStatus::Failed => open == 0,
        };
        let told = || {
            format!(
                "it is {} with {accepted} of {all} changes accepted and {open} open",
                self.status.as_str()
            )
        };
        (!holds).then(told)
    }
}

impl Hunk {
    fn contradictions(&self) -> impl Iterator<Item = &'static str> {
        let is_decided = matches!(self.status, HunkStatus::Accepted | HunkStatus::Rejected);
        let is_accepted = self.status == HunkStatus::Accepted;
        let conflicts = self.parts.iter().any(|part| part.conflict);
        [
            (self.parts.is_empty(), "changes nothing"),
            (is_decided && self.decided.is_none(), "is decided and nothing says by whom"),
            (is_accepted && self.inverse.is_empty(), "is accepted and cannot be taken back"),
            (!is_accepted && !self.inverse.is_empty(), "is not accepted and could be taken back"),
            (self.status == HunkStatus::Pending && conflicts, "is pending with words in conflict"),
            (
                self.status == HunkStatus::Conflict && !conflicts,
                "is in conflict without a word that is",
            ),
            // Words in conflict are mapped outward, places beside them inward, so those may pass
            // each other.
            (
                self.status == HunkStatus::Pending
                    && !self.parts.is_sorted_by_key(|part| part.from),
                "is not in the order of the text",
            ),
        ]
        .into_iter()
        .filter_map(|(is_wrong, what)| is_wrong.then_some(what))
    }
}

fn misfit(part: &HunkPart, status: HunkStatus, text: &Text) -> Option<String> {
    let HunkPart { from, to, base, insert: _, conflict, stood: _, rank: _ } = part;
    let Ok(standing) = text.slice(*from..*to) else {
        return Some(format!("is at {from}..{to}, which is no place in a text of {}", text.len()));
    };
    let counts = status.is_open() || status == HunkStatus::Accepted;
    (counts && !conflict && standing != *base)
        .then(|| format!("is about {base:?}, but {standing:?} stands at {from}..{to}"))
}
