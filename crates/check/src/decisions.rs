//! Check of decisions: those stored with requests against the lines of the audit log (person, time
//! and content), whose chain cannot be rewritten.
//!
//! Decisions that an older log does not record in full stay unverified; only contradictions are
//! findings.

use std::collections::HashMap;

use copydesk_approvals::{
    ApprovalRequest, Decision, FinishRest, Hunk, HunkChoice, HunkDecision, HunkStatus,
    RequestVerdict,
};
use copydesk_document::Text;
use copydesk_document::provenance::{PlacementOrigin, ServerAct, UpdatePlacements, WordPlacement};
use copydesk_store::{AuditRecord, DecisionRecord, UpdateRecord};

use super::CheckReport;

/// Lines of the audit log by request, oldest first.
#[derive(Debug, Default)]
pub(super) struct AuditLines(HashMap<String, Vec<AuditRecord>>);

/// Line of the audit log about a decision.
struct DecisionLine<'l> {
    line: &'l AuditRecord,
    decision: Decision,
}

impl DecisionLine<'_> {
    fn is(&self, who: &str, at_ms: u64) -> bool {
        self.line.entry.actor == who && self.line.entry.at_ms == at_ms
    }

    fn says(&self, hunk: &Hunk) -> bool {
        let decided = self.line.entry.detail["decided"].as_array();
        decided.is_some_and(|ids| ids.iter().any(|id| id.as_str() == Some(hunk.id.as_str())))
    }

    /// Returns the choice for a hunk that the line decided, and the text to put there, which may be
    /// the proposed one.
    fn verdict_on(&self, hunk: &Hunk) -> (HunkChoice, Option<String>) {
        let Decision { verdict, hunks, finish, .. } = &self.decision;
        if let Some(named) = hunks.iter().flatten().find(|it| it.id == hunk.id) {
            return (named.choice, named.text.as_deref().map(normalized));
        }
        let rejects = match finish {
            Some(finish) => *finish == FinishRest::Reject,
            None => matches!(verdict, RequestVerdict::Reject | RequestVerdict::Respond { .. }),
        };
        (if rejects { HunkChoice::Reject } else { HunkChoice::Accept }, None)
    }
}

impl AuditLines {
    pub fn new(lines: Vec<AuditRecord>) -> Self {
        let mut by_request: HashMap<String, Vec<AuditRecord>> = HashMap::new();
        for line in lines {
            if let Some(request) = line.entry.request.as_ref() {
                by_request.entry(request.to_string()).or_default().push(line);
            }
        }
        Self(by_request)
    }

    fn of(&self, request: &str) -> &[AuditRecord] {
        self.0.get(request).map_or(&[], Vec::as_slice)
    }

    fn named(&self, request: &str, action: &str) -> impl Iterator<Item = &AuditRecord> {
        self.of(request).iter().filter(move |line| line.entry.action == action)
    }

    /// Returns the decisions about a request; `None` if the log does not have all of them in full.
    fn taken(&self, request: &str) -> Option<Vec<DecisionLine<'_>>> {
        let lines = self.named(request, "request.decide");
        let taken = lines.map(|line| {
            let decision = serde_json::from_value(line.entry.detail["decision"].clone()).ok()?;
            line.entry.detail["decided"].is_array().then_some(DecisionLine { line, decision })
        });
        taken.collect::<Option<Vec<_>>>().filter(|taken| !taken.is_empty())
    }

    /// Checks that the stored decisions match the lines of the log.
    pub fn check_rows(&self, request: &str, rows: &[DecisionRecord], report: &mut CheckReport) {
        let lines: Vec<_> = self.named(request, "request.decide").collect();
        // A different number is a finding of its own.
        for (line, row) in lines.iter().zip(rows).filter(|_| lines.len() == rows.len()) {
            let entry = &line.entry;
            let said = &entry.detail["decision"];
            let same = [
                ("by somebody else", entry.actor == row.user.as_str()),
                ("at another time", entry.at_ms == row.at_ms),
                ("otherwise", said.is_null() || *said == row.body),
            ];
            for (how, _) in same.into_iter().filter(|(_, is_same)| !is_same) {
                let message = format!("{} says that it was decided {how}", place(line));
                report.find("audit.decision", request, message);
            }
        }
    }

    /// Checks that the decisions stored in a request match the log.
    pub fn check(&self, request: &ApprovalRequest, report: &mut CheckReport) {
        let id = request.id().as_str();
        let requester = &request.proposal.requester.user;
        if let Some(line) = self.named(id, "request.create").next()
            && line.entry.actor != requester.as_str()
        {
            let message = format!("{} says that {} asked for it", place(line), line.entry.actor);
            report.find("audit.request", id, message);
        }
        if let Some(message) = self.wrong_end(request) {
            report.find("audit.request", id, message);
        }
        let Some(taken) = self.taken(id) else { return };
        for hunk in &request.hunks {
            let Some(decided) = &hunk.decided else { continue };
            if let Some(message) = wrong_decision(hunk, decided, &taken) {
                report.find("audit.request", &format!("{id} change {}", hunk.id), message);
            }
        }
        for message in wrong_remarks(request, &taken) {
            report.find("audit.request", id, message);
        }
    }

    /// Returns the contradiction between the log and the request about who ended it and when, if
    /// there is one.
    fn wrong_end(&self, request: &ApprovalRequest) -> Option<String> {
        let closed = request.decisions.closed.as_ref()?;
        let lines = self.of(request.id().as_str());
        if let Some(by) = &closed.by {
            let is_same = |line: &AuditRecord| {
                line.entry.actor == by.user.as_str() && line.entry.at_ms == closed.at_ms
            };
            let is_told = lines.is_empty() || lines.iter().any(is_same);
            return (!is_told)
                .then(|| format!("no audit line says that {} ended it then", by.user));
        }
        let ends = |line: &&AuditRecord| {
            line.entry.action == "request.decide"
                && line.entry.at_ms == closed.at_ms
                && line.entry.detail["status"] == request.status.as_str()
        };
        let line = lines.iter().find(ends)?;
        Some(format!("{} says that {} ended it", place(line), line.entry.actor))
    }

    /// Returns the contradictions between the log and an update of a request: its passages and its
    /// author. `after` is the text it led to.
    pub fn check_update(
        &self,
        update: &UpdateRecord,
        placements: &UpdatePlacements,
        request: &ApprovalRequest,
        after: &Text,
    ) -> Vec<String> {
        let mut wrong = Vec::new();
        let requester = &request.proposal.requester.user;
        if placements.requester.as_ref().is_some_and(|it| it != requester) {
            wrong.push(format!("it says that somebody other than {requester} asked for it"));
        }
        let id = request.id().as_str();
        let author = update.author.as_str();
        let is_line =
            |line: &&AuditRecord| line.entry.actor == author && line.entry.at_ms == update.at_ms;
        match placements.act {
            ServerAct::Accepted => {
                let Some(taken) = self.taken(id) else { return wrong };
                match taken.iter().find(|it| it.is(author, update.at_ms)) {
                    Some(taken) => wrong.extend(wrong_words(placements, request, taken, after)),
                    None => wrong.push(format!("no audit line says that {author} decided then")),
                }
            }
            ServerAct::TakenBack => {
                let mut lines = self.named(id, "request.undo").peekable();
                if lines.peek().is_some() && !lines.any(|line| is_line(&line)) {
                    wrong.push(format!("no audit line says that {author} undid it then"));
                }
            }
            ServerAct::Restored(_) => {}
        }
        wrong
    }
}

/// Returns the reason why a hunk cannot have been decided as it is recorded, if there is one.
fn wrong_decision(
    hunk: &Hunk,
    decided: &HunkDecision,
    taken: &[DecisionLine<'_>],
) -> Option<String> {
    let HunkDecision { by, at_ms, text, forced_over: _, rule, feedback } = decided;
    let fits = |it: &&DecisionLine<'_>| it.is(by.user.as_str(), *at_ms) && it.says(hunk);
    let Some(taken) = taken.iter().find(fits) else {
        return Some(format!("no audit line says that {} decided it then", by.user));
    };
    let said = place(taken.line);
    let (choice, said_text) = taken.verdict_on(hunk);
    let is_accepted = hunk.status == HunkStatus::Accepted;
    if is_accepted != (choice == HunkChoice::Accept) {
        return Some(format!("{said} says that it was decided the other way"));
    }
    // The proposed text, sent back unchanged, is no edit; older versions stored it as one.
    let proposed = hunk.proposed();
    let other = |text: &String| *text != proposed;
    if text.clone().filter(other) != said_text.filter(other) {
        return Some(format!("{said} says that another text was put there"));
    }
    if feedback.is_some() && *feedback != taken.decision.feedback {
        return Some(format!("{said} gives another reason"));
    }
    (*rule != taken.decision.rule).then(|| format!("{said} names another rule"))
}

/// Returns remarks that no line of the log has, and lines whose remark is missing from the request.
fn wrong_remarks(request: &ApprovalRequest, taken: &[DecisionLine<'_>]) -> Vec<String> {
    let is_same = |taken: &DecisionLine<'_>, remark: &copydesk_approvals::DecisionRemark| {
        taken.is(remark.by.user.as_str(), remark.at_ms)
            && taken.decision.feedback == remark.feedback
            && taken.decision.note == remark.note
    };
    let made_up =
        request.decisions.remarks.iter().filter(|it| !taken.iter().any(|line| is_same(line, it)));
    let made_up =
        made_up.map(|it| format!("no audit line has what {} is said to have remarked", it.by.user));
    let remarked =
        |it: &&DecisionLine<'_>| it.decision.feedback.is_some() || it.decision.note.is_some();
    let lost = taken.iter().filter(remarked);
    let lost = lost.filter(|line| !request.decisions.remarks.iter().any(|it| is_same(line, it)));
    made_up.chain(lost.map(|it| format!("{} has a remark that is gone", place(it.line)))).collect()
}

/// Returns the passages that the update did not put there as the decision says.
fn wrong_words(
    placements: &UpdatePlacements,
    request: &ApprovalRequest,
    taken: &DecisionLine<'_>,
    after: &Text,
) -> Vec<String> {
    let mut wrong = Vec::new();
    let line = place(taken.line);
    if placements.rule != taken.decision.rule {
        wrong.push(format!("{line} names another rule than the update"));
    }
    for WordPlacement { from, to, hunk, origin } in &placements.placed {
        let Some(hunk) = hunk.as_ref().and_then(|id| request.hunk(id)) else { continue };
        let Ok(words) = after.slice(*from..*to) else { continue };
        let (choice, text) = taken.verdict_on(hunk);
        let fits = match (&text, origin) {
            // A person's own words for a moved change leave its removal as it is.
            (Some(_), PlacementOrigin::Proposed) if hunk.is_moved() && words.is_empty() => true,
            (Some(text), PlacementOrigin::Edited) => *text == words,
            (text, PlacementOrigin::Proposed) => {
                text.as_ref().is_none_or(|text| *text == hunk.proposed())
                    && hunk.parts.iter().any(|part| part.insert == words)
            }
            (None, PlacementOrigin::Stood(_)) if hunk.is_moved() => {
                hunk.parts.iter().any(|part| part.insert.trim() == words)
            }
            (_, PlacementOrigin::Stood(_)) | (None, PlacementOrigin::Edited) => false,
        };
        if !fits || choice == HunkChoice::Reject {
            wrong.push(format!("{line} does not say that {words:?} was put there like this"));
        }
    }
    wrong
}

/// Normalises line ends to `\n`, as in every document.
fn normalized(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

fn place(line: &AuditRecord) -> String {
    format!("audit line {}", line.seq)
}
