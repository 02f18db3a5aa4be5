//! Decisions that people made since the last report on a change to the model. The next prompt, or
//! the results of the calls of the next turn, report them once.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::json;

use copydesk_approvals::{ApprovalRequest, HunkDecision, Person};
use copydesk_ids::{DocumentId, RequestId};
use copydesk_tools::model_notes::fenced_lines;

use super::transcript::DecisionNote;

/// Decisions about earlier changes that a prompt or results reported to the model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DecisionUpdates {
    /// Text, a few lines for each change.
    pub lines: Vec<String>,
    /// Document of each text, in the same order; `None` for the conversation's own. Empty in old
    /// records.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub documents: Vec<Option<DocumentId>>,
    /// Random tag that marks the lines as data; empty in old records.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tag: String,
    /// State of each request as it was reported ([`decision_state`]).
    pub told: BTreeMap<RequestId, String>,
}

impl DecisionUpdates {
    /// Returns `true` if there is nothing to report.
    pub fn is_nothing(&self) -> bool {
        self.lines.is_empty()
    }

    /// Adds the text about a request and its state ([`describe_news`]), with its document unless
    /// that is the conversation's own.
    pub fn push(
        &mut self,
        id: RequestId,
        (text, state): (String, String),
        document: Option<DocumentId>,
    ) {
        self.lines.push(text);
        self.documents.push(document);
        self.told.insert(id, state);
    }

    /// Returns the other documents that the texts are about.
    pub fn elsewhere(&self) -> impl Iterator<Item = &DocumentId> {
        self.documents.iter().flatten()
    }

    /// Puts `instead` in place of each text about one of these documents. Returns `true` if there
    /// was any.
    pub fn keep_apart(&mut self, of: &BTreeSet<DocumentId>, instead: &str) -> bool {
        let mut is_any = false;
        for (line, document) in self.lines.iter_mut().zip(&self.documents) {
            if document.as_ref().is_some_and(|id| of.contains(id)) {
                *line = format!("- {instead}");
                is_any = true;
            }
        }
        is_any
    }

    /// Returns the text for the model; later turns repeat it in its place.
    pub fn as_told(&self) -> String {
        let lines = fenced_lines("decisions", &self.tag, &self.lines.join("\n"));
        format!("Decisions people changed since:\n{lines}")
    }

    /// Returns the approximate size in bytes that a later turn is sent.
    pub fn size(&self) -> usize {
        self.lines.iter().map(|line| line.len() + 1).sum()
    }
}

/// Request as the model knows it, for [`describe_news`].
#[derive(Debug)]
pub struct ReportedDecision<'k> {
    /// Status that was reported to the model with the outcome of its call.
    pub first: DecisionNote<'k>,
    /// Time of the latest report to the model, in milliseconds since 1970.
    pub told_ms: u64,
    /// State of the request in that report, if it was reported as a decision update.
    pub stood: Option<&'k str>,
}

/// Returns the lines about a request and its state, or `None` if nothing is new. `newest` is the
/// request that a person proposed in its place, if there is one.
pub fn describe_news(
    known: &ReportedDecision<'_>,
    now: &ApprovalRequest,
    newest: Option<&ApprovalRequest>,
) -> Option<(String, String)> {
    let stands = decision_state(now, newest);
    let is_news = if let Some(stood) = known.stood {
        stood != stands
    } else {
        let status = newest.map_or(now.status, |it| it.status);
        let last_ms = newest.map_or(0, ApprovalRequest::last_decided_ms).max(now.last_decided_ms());
        // An undo was not possible before the report to the model.
        now.undone().is_some() || status != known.first.status || last_ms > known.told_ms
    };
    is_news.then(|| (worded(known, now, newest), stands))
}

/// Returns the state of a request, as far as people influenced it; not the positions of an open
/// change.
fn decision_state(now: &ApprovalRequest, newest: Option<&ApprovalRequest>) -> String {
    let hunks: Vec<_> =
        now.hunks.iter().filter_map(|h| Some((&h.id, h.decided.as_ref()?.at_ms))).collect();
    let closed = now.decisions.closed.as_ref().map(|closed| closed.at_ms);
    let undone = now.undone().and_then(|undone| undone.done_ms);
    let newest = newest.map(|it| (it.id(), decision_state(it, None)));
    json!([now.status.as_str(), closed, hunks, now.decisions.remarks.len(), undone, newest])
        .to_string()
}

fn worded(
    known: &ReportedDecision<'_>,
    now: &ApprovalRequest,
    newest: Option<&ApprovalRequest>,
) -> String {
    let (id, status) = (now.id(), known.first.status);
    let what = known.first.what.unwrap_or(&now.proposal.origin.tool);
    // The explanation is the model's own words; a line of it must not look like one of the report.
    let what = what.split_whitespace().collect::<Vec<_>>().join(" ");
    let head = format!("- {id} ({what}) was {}", status.as_str());
    if let Some(newest) = newest {
        let (again, is) = (newest.id(), newest.status.as_str());
        let line = format!("{head}, and a person proposed it again as {again}, which is {is} now");
        return with_details(line, newest, known.told_ms);
    }
    if let Some(undone) = now.undone() {
        let file = now.proposal.action.preview.file_path.as_deref().unwrap_or("the file");
        let by = &undone.by.name;
        return format!(
            "{head}, and people have undone it since: {file} reads as before (undone by {by})"
        );
    }
    let line = if now.status == status {
        format!("{head}, and people have decided it anew")
    } else {
        format!("{head} and is {} now", now.status.as_str())
    };
    with_details(line, now, known.told_ms)
}

/// Appends the people who decided since, and the report with the new remarks.
fn with_details(mut line: String, now: &ApprovalRequest, since_ms: u64) -> String {
    let names = deciders(now, since_ms);
    if !names.is_empty() {
        line.extend([", by ", &names.join(" and ")]);
    }
    let mut now = now.clone();
    now.decisions.remarks.retain(|remark| remark.at_ms > since_ms);
    let report = now.report().text.replace('\n', "\n  ");
    format!("{line}:\n  {report}")
}

fn deciders(now: &ApprovalRequest, since_ms: u64) -> Vec<&str> {
    let hunks = now.hunks.iter().filter_map(|hunk| hunk.decided.as_ref());
    let hunks = hunks.map(|HunkDecision { by, at_ms, .. }| (by, *at_ms));
    let closed =
        now.decisions.closed.iter().filter_map(|closed| Some((closed.by.as_ref()?, closed.at_ms)));
    let mut names: Vec<&str> = Vec::new();
    for (Person { name, .. }, at_ms) in hunks.chain(closed) {
        if at_ms > since_ms && !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    names
}
