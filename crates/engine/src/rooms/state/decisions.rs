//! Decisions of people about requests, and requests that end without one. Pure.

use std::sync::Arc;

use serde_json::json;

use crate::approvals::{
    ApprovalRequest, ApprovalRule, Decision, DecisionError, DecisionOutcome, InvalidDecisionReason,
    Person,
};
use crate::document::provenance::ServerAct;
use crate::failpoint;
use crate::ids::{HunkId, RequestId};
use crate::permissions::{Action, Principal};
use crate::store::{DecisionRecord, StoreOp};

use super::requests::{
    move_scope, notify, notify_hunks, notify_news, open_request, place, placements, put, writer,
};
use super::text::check_length;
use super::{locked_ranges, rules, streaming_previews};
use crate::rooms::actor::room_effects::RoomEffects;
use crate::rooms::event::RequestNews;
use crate::rooms::settings::frozen_by;
use crate::rooms::state::{ApplyContext, ChangeAuthor, HunkChanges, RoomState};
use crate::rooms::{RequestResult, RoomError};

/// Takes a decision as a whole, or refuses it with the reason.
pub(crate) fn decide(
    state: &mut RoomState,
    id: &RequestId,
    decision: &Decision,
    by: &Principal,
    now: &ApplyContext,
    effects: &mut RoomEffects,
) -> RequestResult {
    let known = state.request(id).ok_or(RoomError::NoRequest)?;
    let mut request = ApprovalRequest::clone(known);
    let held = locked_ranges::exclude_locked(state, &mut request, decision);
    let settings = state.in_force(now);
    let requirements = state.requirements(&settings, now);
    let text = state.document.text();
    let mut outcome = request.decide(decision, by, text, now.ms, &requirements)?;
    locked_ranges::release_locked(&mut request, &held, &mut outcome);
    check(state, &outcome)?;
    rules::check(state, &outcome)?;
    apply_decision(state, request, &outcome, decision, by, now, effects)
}

/// Checks what the request itself cannot know: the length of the text, and frozen ranges.
pub(crate) fn check(state: &RoomState, outcome: &DecisionOutcome) -> Result<(), RoomError> {
    let Some(changes) = &outcome.changes else { return Ok(()) };
    if changes.new_len() > changes.len() {
        check_length(changes.new_len())?;
    }
    let frozen = |range: crate::document::ChangedRange<'_>| {
        frozen_by(&state.own.frozen, (range.from_a, range.to_a)).is_some()
    };
    if changes.changed_ranges().any(frozen) {
        return Err(
            DecisionError::InvalidDecision { reason: InvalidDecisionReason::FrozenSince }.into()
        );
    }
    Ok(())
}

/// Carries out a decision that was checked: `request` is as decided, and nothing else has changed
/// yet.
pub(crate) fn apply_decision(
    state: &mut RoomState,
    mut request: ApprovalRequest,
    outcome: &DecisionOutcome,
    decision: &Decision,
    by: &Principal,
    now: &ApplyContext,
    effects: &mut RoomEffects,
) -> RequestResult {
    let id = request.id().clone();
    let mut changed = outcome.decided.clone();
    // People see in their own window who approved and who is still needed.
    changed.extend(state.request(&id).map(|it| request.voted_otherwise(it)).unwrap_or_default());
    let hunks = HunkChanges { drop: outcome.decided.clone(), put: put(&request, &outcome.put) };
    match &outcome.changes {
        Some(text_changes) => {
            let rule = decision.rule.clone();
            let placements = Some(placements(&request, ServerAct::Accepted, outcome, rule));
            let author =
                ChangeAuthor { client: writer(&id), user: &by.user, origin: Some(&id), placements };
            state.apply_server_change(text_changes, &author, hunks, now, effects)?;
            move_scope(&mut request, text_changes);
        }
        None => notify_hunks(state, hunks, effects),
    }
    keep_decision(state, &request, outcome, decision, by, now, effects);
    for rule in request.granted(outcome) {
        rules::remember(state, &ApprovalRule { at_ms: now.ms, ..rule }, now, effects);
    }
    let request = Arc::new(request);
    place(state, Arc::clone(&request), effects);
    notify(state, &request, &changed, Some(by), now, effects);
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

/// Splits a hunk into one for each of its parts. People are told like of a new preview.
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
    Ok(replace_hunks(state, request, vec![hunk.clone()], &parts, by, now, effects))
}

/// Stores a request some of whose hunks were replaced by others, and announces the new preview.
pub(super) fn replace_hunks(
    state: &mut RoomState,
    request: ApprovalRequest,
    drop: Vec<HunkId>,
    new: &[HunkId],
    by: &Principal,
    now: &ApplyContext,
    effects: &mut RoomEffects,
) -> Arc<ApprovalRequest> {
    notify_hunks(state, HunkChanges { drop, put: put(&request, new) }, effects);
    let request = Arc::new(request);
    place(state, Arc::clone(&request), effects);
    if request.status.is_open() {
        notify_news(state, &request, RequestNews::Preview, effects);
    } else {
        notify(state, &request, new, Some(by), now, effects);
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
    if !by.is_none_or(|by| by.user == *requester || by.may(Action::Overrule, document)) {
        return Err(RoomError::NotAllowed);
    }
    let dropped = request.cancel(by.map(Person::from), now.ms).unwrap_or_default();
    Ok(end(state, request, dropped, "request.withdraw", by, now, effects))
}

/// Ends every open request, because the document is deleted.
pub(crate) fn end_all(
    state: &mut RoomState,
    by: &Principal,
    now: &ApplyContext,
    effects: &mut RoomEffects,
) {
    for event in streaming_previews::forget(state) {
        effects.notify(event);
    }
    for request in std::mem::take(&mut state.open).into_values() {
        let mut request = Arc::unwrap_or_clone(request);
        let dropped = request.cancel(Some(Person::from(by)), now.ms).unwrap_or_default();
        end(state, request, dropped, "request.cancel", Some(by), now, effects);
    }
}

/// Ends a request without a decision.
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
    notify_hunks(state, HunkChanges { drop: dropped, put: Vec::new() }, effects);
    notify(state, &request, &[], by, now, effects);
    request
}
