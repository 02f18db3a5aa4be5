//! What people did since with changes the model knows of: told with a prompt, once, in the report's own words. Pure.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::approvals::{ApprovalRequest, HunkDecision, Person};
use crate::ids::RequestId;
use crate::tools::document_updates::fenced_lines;

use super::transcript::DecisionNote;

/// What a prompt told the model of earlier changes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DecisionUpdates {
    /// A few lines for each change.
    pub lines: Vec<String>,
    /// Random; marks the lines as data. None in what older versions kept.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tag: String,
    /// How each of them stood then ([`stand`]).
    pub told: BTreeMap<RequestId, String>,
}

impl DecisionUpdates {
    /// Whether there was nothing to tell.
    pub fn is_nothing(&self) -> bool {
        self.lines.is_empty()
    }

    /// As a later turn is sent it, before what was typed then.
    pub fn as_told(&self) -> String {
        let lines = fenced_lines("decisions", &self.tag, &self.lines.join("\n"));
        format!("Decisions people changed since:\n{lines}")
    }

    /// Bytes that a later turn is sent of it, near enough.
    pub fn size(&self) -> usize {
        self.lines.iter().map(|line| line.len() + 1).sum()
    }
}

/// What the model knows of a request.
#[derive(Debug)]
pub struct ReportedDecision<'k> {
    /// What it was told when its call was answered.
    pub first: DecisionNote<'k>,
    /// When it was told of it last, in milliseconds since 1970.
    pub told_ms: u64,
    /// How it stood then, if that was news once.
    pub stood: Option<&'k str>,
}

/// What there is to tell of a request; `newest` is the one that a person proposed in its place, if one did.
pub fn told(
    known: &ReportedDecision<'_>,
    now: &ApprovalRequest,
    newest: Option<&ApprovalRequest>,
) -> Option<(String, String)> {
    let stands = stand(now, newest);
    let is_news = if let Some(stood) = known.stood {
        stood != stands
    } else {
        let status = newest.map_or(now.status, |it| it.status).as_str();
        let last_ms = newest.map_or(0, last_ms).max(last_ms(now));
        // Nobody could undo it before the model was told.
        now.undone().is_some() || status != known.first.status || last_ms > known.told_ms
    };
    is_news.then(|| (worded(known, now, newest), stands))
}

/// How a request stands, as far as people had a hand in it; where the words of an open change are is not it.
fn stand(now: &ApprovalRequest, newest: Option<&ApprovalRequest>) -> String {
    let hunks: Vec<_> =
        now.hunks.iter().filter_map(|h| Some((&h.id, h.decided.as_ref()?.at_ms))).collect();
    let closed = now.closed.as_ref().map(|closed| closed.at_ms);
    let undone = now.undone().and_then(|undone| undone.done_ms);
    let newest = newest.map(|it| (it.id(), stand(it, None)));
    json!([now.status.as_str(), closed, hunks, now.remarks.len(), undone, newest]).to_string()
}

/// When somebody decided or said anything about it last.
fn last_ms(now: &ApprovalRequest) -> u64 {
    let hunks = now.hunks.iter().filter_map(|hunk| hunk.decided.as_ref()).map(|it| it.at_ms);
    let ends = now.closed.iter().map(|closed| closed.at_ms);
    let undone = now.undone().and_then(|undone| undone.done_ms);
    let remarks = now.remarks.iter().map(|remark| remark.at_ms);
    hunks.chain(ends).chain(undone).chain(remarks).max().unwrap_or_default()
}

fn worded(
    known: &ReportedDecision<'_>,
    now: &ApprovalRequest,
    newest: Option<&ApprovalRequest>,
) -> String {
    let (id, status) = (now.id(), known.first.status);
    let what = known.first.what.unwrap_or(&now.proposal.tool);
    // In the model's own words; a line of them is not to look like one of ours.
    let what = what.split_whitespace().collect::<Vec<_>>().join(" ");
    let head = format!("- {id} ({what}) was {status}");
    if let Some(newest) = newest {
        let (again, is) = (newest.id(), newest.status.as_str());
        let line = format!("{head}, and a person proposed it again as {again}, which is {is} now");
        return with_details(line, newest, known.told_ms);
    }
    if let Some(undone) = now.undone() {
        let file = now.proposal.preview.file_path.as_deref().unwrap_or("the file");
        let by = &undone.by.name;
        return format!(
            "{head}, and people have undone it since: {file} reads as before (undone by {by})"
        );
    }
    let line = match now.status.as_str() {
        same if same == status => format!("{head}, and people have decided it anew"),
        other => format!("{head} and is {other} now"),
    };
    with_details(line, now, known.told_ms)
}

/// Who decided since, and the report, with the remarks that are new.
fn with_details(mut line: String, now: &ApprovalRequest, since_ms: u64) -> String {
    let names = deciders(now, since_ms);
    if !names.is_empty() {
        line.extend([", by ", &names.join(" and ")]);
    }
    let mut now = now.clone();
    now.remarks.retain(|remark| remark.at_ms > since_ms);
    let report = now.report().text.replace('\n', "\n  ");
    format!("{line}:\n  {report}")
}

/// Who decided since, in the order of the text, each once.
fn deciders(now: &ApprovalRequest, since_ms: u64) -> Vec<&str> {
    let hunks = now.hunks.iter().filter_map(|hunk| hunk.decided.as_ref());
    let hunks = hunks.map(|HunkDecision { by, at_ms, .. }| (by, *at_ms));
    let closed = now.closed.iter().filter_map(|closed| Some((closed.by.as_ref()?, closed.at_ms)));
    let mut names: Vec<&str> = Vec::new();
    for (Person { name, .. }, at_ms) in hunks.chain(closed) {
        if at_ms > since_ms && !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    names
}
