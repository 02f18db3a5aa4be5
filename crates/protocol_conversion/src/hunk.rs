//! Hunks and their states, on the wire.

use std::collections::HashMap;

use copydesk_approvals as approvals;
use copydesk_approvals::{ApprovalRequest, HunkChoice, HunkDecision, HunkStatus};
use copydesk_ids::{HunkId, RequestId};
use copydesk_protocol::server;

use super::names::hunk_reason_code;
use super::request::person;
use super::time;

/// Returns a hunk with the request it belongs to.
pub(crate) fn hunk(request: &RequestId, hunk: &approvals::Hunk) -> server::Hunk {
    let approvals::Hunk {
        id,
        parts,
        status,
        reason,
        explanation,
        decided,
        votes: _, // As `counted_votes` returns them.
        gaps: _,
        around: _,
        inverse: _,
        kind,
        marks: _, // As `marks` returns them.
        marks_of_whole: _,
        required: _,
        group,
        split_of: _,
        split_gap: _,
        deferred_by: _, // Each person receives their own.
        suggested,
    } = hunk;
    let marks = hunk.marks();
    server::Hunk {
        id: id.to_string(),
        request_id: request.to_string(),
        parts: parts.iter().map(part).collect(),
        status: *status,
        reason: reason.clone().map(String::from),
        reason_code: reason.as_ref().and_then(hunk_reason_code),
        explanation: explanation.clone(),
        hash: suggested.as_ref().map(|_| hunk.words_hash()),
        writing: hunk.is_being_written().then_some(true),
        kind: *kind,
        group: *group,
        marks: (!marks.is_empty()).then(|| marks.to_vec()),
        decided: decided.as_ref().map(self::decided),
        votes: votes(hunk),
        required: required(hunk),
    }
}

fn required(hunk: &approvals::Hunk) -> server::HunkRequired {
    let votes = hunk.own_votes();
    let policies = votes.map(|_| hunk.required.policies());
    server::HunkRequired { policies, approvals: votes }
}

/// Returns the votes for a hunk that count; `None` if there are none.
fn votes(hunk: &approvals::Hunk) -> Option<Vec<server::HunkVote>> {
    let vote = |vote: &approvals::Vote| {
        let approvals::Vote { by, at_ms, text, seen, rule, wish: _, under: _ } = vote;
        server::HunkVote {
            user: by.user.to_string(),
            name: by.name.clone(),
            decision: HunkChoice::Accept,
            at: time(*at_ms),
            text: text.clone(),
            seen: seen.clone(),
            rule: rule.as_ref().map(ToString::to_string),
        }
    };
    let votes: Vec<_> = hunk.counted_votes().into_iter().map(vote).collect();
    (!votes.is_empty()).then_some(votes)
}

fn part(part: &approvals::HunkPart) -> server::Part {
    let approvals::HunkPart { from, to, base, insert, conflict, stood: _, rank: _ } = part;
    let conflict = conflict.then_some(true);
    server::Part { from: *from, to: *to, base: base.clone(), insert: insert.clone(), conflict }
}

fn decided(decision: &HunkDecision) -> server::HunkDecided {
    let HunkDecision { by, at_ms, text, forced_over: _, rule, feedback } = decision;
    let (text, feedback) = (text.clone(), feedback.clone());
    let rule = rule.as_ref().map(ToString::to_string);
    server::HunkDecided { by: person(by), at: time(*at_ms), text, rule, feedback }
}

pub(crate) fn hunk_states(request: &ApprovalRequest) -> Vec<server::HunkState> {
    request.hunks.iter().map(|hunk| hunk_state(hunk, hunk.status)).collect()
}

/// Returns the new states of some hunks of a request.
pub(crate) fn changed_states(
    request: &ApprovalRequest,
    changed: &[(HunkId, HunkStatus)],
) -> Vec<server::HunkState> {
    let statuses: HashMap<_, _> = changed.iter().map(|(id, status)| (id, *status)).collect();
    let ids: Vec<_> = changed.iter().map(|(id, _)| id.clone()).collect();
    let hunks = request.hunks_named(&ids).into_iter();
    hunks
        .map(|hunk| hunk_state(hunk, statuses.get(&hunk.id).copied().unwrap_or(hunk.status)))
        .collect()
}

pub(crate) fn hunk_state(hunk: &approvals::Hunk, status: HunkStatus) -> server::HunkState {
    let (id, decided) = (&hunk.id, hunk.decided.as_ref().map(self::decided));
    let (id, votes, required) = (id.to_string(), votes(hunk), required(hunk));
    let Some(server::HunkDecided { by, at, text, rule, feedback }) = decided else {
        let (by, at, text, rule, feedback) = (None, None, None, None, None);
        return server::HunkState { id, status, by, at, text, rule, feedback, votes, required };
    };
    let (by, at) = (Some(by), Some(at));
    server::HunkState { id, status, by, at, text, rule, feedback, votes, required }
}
