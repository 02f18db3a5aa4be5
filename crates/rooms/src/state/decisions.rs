//! Decisions of people about requests, and requests that end without one. No input or output.

use std::sync::Arc;

use serde_json::json;

use copydesk_approvals::{
    ApprovalRequest, ApprovalRule, Decision, DecisionError, DecisionOutcome, HunkStatus,
    InvalidDecisionReason, JudgedDecision, Person, ReportState, ToolReport,
};
use copydesk_document::ChangeSet;
use copydesk_document::provenance::ServerAct;
use copydesk_failpoint as failpoint;
use copydesk_ids::permissions::{Action, Principal};
use copydesk_ids::{HunkId, RequestId};
use copydesk_store::{DecisionRecord, StoreOp};

use super::comments::moved_passages;
use super::requests::{
    move_scope, open_request, place, place_changed, placements, put, queue_hunk_changes,
    queue_request_event, queue_request_news, writer,
};
use super::text::check_length;
use super::{locked_ranges, rules, streaming_previews};
use crate::actor::room_effects::RoomEffects;
use crate::command::UntakenDecision;
use crate::event::RequestNews;
use crate::settings::frozen_by;
use crate::state::{ApplyContext, ChangeAuthor, HunkChanges, RoomState};
use crate::{RequestResult, RoomError, RoomResult};

/// Takes a decision as a whole, or refuses it with the reason.
pub(crate) fn decide(
    state: &mut RoomState,
    id: &RequestId,
    decision: &Decision,
    by: &Principal,
    now: &ApplyContext,
    effects: &mut RoomEffects,
) -> RequestResult {
    let mut request = Arc::clone(state.request(id).ok_or(RoomError::NoRequest)?);
    let (judged, held) = judge(state, &mut request, decision, by, now)?;
    let text = state.document.text().clone();
    // From here on nothing is refused.
    state.open.remove(id);
    let settings = state.in_force(now);
    let requirements = state.requirements(&settings, now);
    let known = Arc::make_mut(&mut request);
    let mut outcome = known.carry_out(judged, &text, &requirements);
    locked_ranges::release_locked(known, &held, &mut outcome);
    apply_decision(state, request, &outcome, decision, by, now, effects)
}

/// Judges a decision on a request as it is now, and returns it with the hunks that are held back.
/// Nothing else is refused when it is carried out on this request.
fn judge<'d>(
    state: &RoomState,
    request: &mut Arc<ApprovalRequest>,
    decision: &'d Decision,
    by: &Principal,
    now: &ApplyContext,
) -> RoomResult<(JudgedDecision<'d>, Vec<HunkId>)> {
    // A request is long: it is copied only where something has to be changed before the decision
    // is judged, or where others still hold it.
    let held = if decision.accepts_the_rest() && !state.own.frozen.is_empty() {
        locked_ranges::exclude_locked(state, Arc::make_mut(request), decision)
    } else {
        Vec::new()
    };
    let settings = state.in_force(now);
    let requirements = state.requirements(&settings, now);
    let text = state.document.text();
    let judged = request.judge_decision(decision, by, text, now.ms, &requirements)?;
    check(state, judged.changes())?;
    rules::check(state, decision)?;
    Ok((judged, held))
}

/// Returns what would be reported to the model if a decision were taken now, and how much of it is
/// known. It is judged and carried out as [`decide`] does, on a copy.
pub(crate) fn report(
    state: &RoomState,
    untaken: &UntakenDecision,
    now: &ApplyContext,
) -> RoomResult<(ToolReport, ReportState)> {
    let UntakenDecision { request: id, decision, by, fresh } = untaken;
    let mut request = Arc::clone(state.open.get(id).ok_or(RoomError::NoRequest)?);
    let settings = state.in_force(now);
    let requirements = state.requirements(&settings, now);
    if let Some(fresh) = fresh {
        Arc::make_mut(&mut request).refresh_preview(fresh.clone(), &requirements);
    }
    let (judged, held) = judge(state, &mut request, decision, by, now)?;
    let known = Arc::make_mut(&mut request);
    let mut outcome = known.carry_out(judged, state.document.text(), &requirements);
    locked_ranges::release_locked(known, &held, &mut outcome);
    Ok((request.report(), request.report_state()))
}

/// Checks what the request itself cannot know: the length of the text, and frozen ranges. A change
/// that is not refused here can be committed.
pub(crate) fn check(state: &RoomState, changes: Option<&ChangeSet>) -> RoomResult<()> {
    let Some(changes) = changes else { return Ok(()) };
    check_fits(state, changes)?;
    let frozen = |range: copydesk_document::ChangedRange<'_>| {
        frozen_by(&state.own.frozen, (range.from_a, range.to_a)).is_some()
    };
    if changes.changed_ranges().any(frozen) {
        return Err(
            DecisionError::InvalidDecision { reason: InvalidDecisionReason::FrozenSince }.into()
        );
    }
    Ok(())
}

pub(super) fn check_fits(state: &RoomState, changes: &ChangeSet) -> RoomResult<()> {
    if changes.new_len() > changes.len() {
        check_length(changes.new_len())?;
    }
    if changes.apply(&mut state.document.text().clone()).is_err() {
        let reason = InvalidDecisionReason::DoesNotFit;
        return Err(DecisionError::InvalidDecision { reason }.into());
    }
    Ok(())
}

/// Carries out a decision that was checked: `request` is as decided, nothing else has changed.
pub(crate) fn apply_decision(
    state: &mut RoomState,
    mut request: Arc<ApprovalRequest>,
    outcome: &DecisionOutcome,
    decision: &Decision,
    by: &Principal,
    now: &ApplyContext,
    effects: &mut RoomEffects,
) -> RequestResult {
    let id = request.id().clone();
    let mut changed = outcome.decided.clone();
    // People see in their own window who approved and who is still needed.
    changed.extend(outcome.voted.iter().cloned());
    let hunks = HunkChanges { drop: outcome.decided.clone(), put: put(&request, &outcome.put) };
    match &outcome.changes {
        Some(text_changes) => {
            let rule = decision.rule.clone();
            let placements = Some(placements(&request, ServerAct::Accepted, outcome, rule));
            let decided = request.hunks_named(&outcome.decided).into_iter();
            let accepted = decided.filter(|it| it.status == HunkStatus::Accepted && it.is_moved());
            let moves = moved_passages(accepted.map(|it| it.parts.as_slice()));
            let (client, user, origin) = (writer(&id), &by.user, Some(&id));
            let author = ChangeAuthor { client, user, origin, placements, moves };
            state.apply_server_change(text_changes, &author, hunks, now, effects)?;
            move_scope(Arc::make_mut(&mut request), text_changes);
        }
        None => queue_hunk_changes(state, hunks, effects),
    }
    keep_decision(state, &request, outcome, decision, by, now, effects);
    for rule in Arc::make_mut(&mut request).granted(outcome) {
        rules::remember(state, &ApprovalRule { at_ms: now.ms, ..rule }, now, effects);
    }
    let moved = outcome.put.iter().chain(&outcome.displaced);
    place_changed(state, Arc::clone(&request), changed.iter().chain(moved), effects);
    queue_request_event(state, &request, &changed, Some(by), now, effects);
    failpoint::pass("room.decided");
    Ok(request)
}

fn keep_decision(
    state: &RoomState,
    request: &ApprovalRequest,
    outcome: &DecisionOutcome,
    decision: &Decision,
    by: &Principal,
    now: &ApplyContext,
    effects: &mut RoomEffects,
) {
    let body = serde_json::to_value(decision).unwrap_or_default();
    let detail = json!({
        "decision": body,
        "decided": outcome.decided,
        "status": request.status.as_str(),
    });
    effects.keep(StoreOp::AppendDecision(DecisionRecord {
        request: request.id().clone(),
        hunk: None,
        user: by.user.clone(),
        name: by.name.clone(),
        at_ms: now.ms,
        body,
    }));
    effects.keep(state.audit("request.decide", by.user.as_str(), Some(request.id()), detail, now));
}

/// Splits a hunk into one for each of its parts; announced like a new preview.
pub(crate) fn split(
    state: &mut RoomState,
    id: &RequestId,
    hunk: &HunkId,
    by: &Principal,
    now: &ApplyContext,
    effects: &mut RoomEffects,
) -> RequestResult {
    let known = state.request(id).ok_or(RoomError::NoRequest)?;
    let mut request = ApprovalRequest::clone(known);
    let parts = request.split(hunk, by, now.ms)?;
    let detail = json!({ "hunk": hunk, "parts": parts });
    effects.keep(state.audit("request.split", by.user.as_str(), Some(id), detail, now));
    let request = Arc::new(request);
    Ok(replace_hunks(state, request, vec![hunk.clone()], &parts, by, now, effects))
}

/// Puts a hunk at the end of a person's own list, or back, without an event for others.
pub(crate) fn defer(
    state: &mut RoomState,
    id: &RequestId,
    hunk: &HunkId,
    on: bool,
    by: &Principal,
    now: &ApplyContext,
    effects: &mut RoomEffects,
) -> RequestResult {
    let mut request = Arc::clone(state.request(id).ok_or(RoomError::NoRequest)?);
    if request.would_defer(hunk, on, by, now.ms)? {
        Arc::make_mut(&mut request).defer(hunk, on, by);
        place_changed(state, Arc::clone(&request), [hunk], effects);
    }
    Ok(request)
}

pub(super) fn replace_hunks(
    state: &mut RoomState,
    request: Arc<ApprovalRequest>,
    drop: Vec<HunkId>,
    new: &[HunkId],
    by: &Principal,
    now: &ApplyContext,
    effects: &mut RoomEffects,
) -> Arc<ApprovalRequest> {
    queue_hunk_changes(state, HunkChanges { drop, put: put(&request, new) }, effects);
    place(state, Arc::clone(&request), effects);
    if request.status.is_open() {
        queue_request_news(state, &request, RequestNews::Preview, effects);
    } else {
        queue_request_event(state, &request, new, Some(by), now, effects);
    }
    request
}

/// Withdraws a request for its requester or an owner, or because its run was cancelled.
pub(crate) fn withdraw(
    state: &mut RoomState,
    id: &RequestId,
    by: Option<&Principal>,
    now: &ApplyContext,
    effects: &mut RoomEffects,
) -> RequestResult {
    let mut request = open_request(state, id)?;
    let requester = &request.proposal.requester.user;
    let document = Some(state.id());
    if !by.is_none_or(|by| by.is(requester) || by.may(Action::Overrule, document)) {
        return Err(RoomError::NotAllowed);
    }
    let dropped = request.cancel(by.map(Person::from), now.ms).unwrap_or_default();
    Ok(end(state, request, dropped, "request.withdraw", by, now, effects))
}

pub(crate) fn end_all(
    state: &mut RoomState,
    by: &Principal,
    now: &ApplyContext,
    effects: &mut RoomEffects,
) {
    for event in streaming_previews::forget(state) {
        effects.queue_event(event);
    }
    for request in std::mem::take(&mut state.open).into_values() {
        let mut request = Arc::unwrap_or_clone(request);
        let dropped = request.cancel(Some(Person::from(by)), now.ms).unwrap_or_default();
        end(state, request, dropped, "request.cancel", Some(by), now, effects);
    }
}

pub(crate) fn end(
    state: &mut RoomState,
    request: ApprovalRequest,
    dropped: Vec<HunkId>,
    action: &str,
    by: Option<&Principal>,
    now: &ApplyContext,
    effects: &mut RoomEffects,
) -> Arc<ApprovalRequest> {
    let request = Arc::new(request);
    let actor = by.map_or("server", |by| by.user.as_str());
    let detail = json!({ "status": request.status.as_str(), "hunks": dropped });
    effects.keep(state.audit(action, actor, Some(request.id()), detail, now));
    place(state, Arc::clone(&request), effects);
    queue_hunk_changes(state, HunkChanges { drop: dropped, put: Vec::new() }, effects);
    queue_request_event(state, &request, &[], by, now, effects);
    request
}
