//! Suggestions of people: requests that their writer goes on writing. No input or output.

use std::sync::Arc;
use std::time::{Duration, Instant};

use copydesk_approvals::{
    ApprovalRequest, ArrivedSuggestion, CallOrigin, DecisionError, MOST_SUGGESTED,
    NotAllowedReason, Person, Preview, ProposedAction, ProposedCall, RequestSource, RewrittenHunks,
    SUGGESTION_TOOL, SuggestionState,
};
use copydesk_document::diff::DiffLimits;
use copydesk_document::{ChangeError, ChangeSet, MapOrder};
use copydesk_ids::permissions::{Action, Principal};
use copydesk_ids::{HunkId, RequestId, RunId, SessionId, ToolUseId, Version};
use serde_json::json;

use super::proposals::{announce, check_capacity};
use super::requests::{place, place_changed, put, queue_hunk_changes, queue_request_event};
use super::rules::{self, OwnerRuling};
use super::text::{PUSH_LIMITS, check_length};
use super::{decisions, text};
use crate::actor::room_effects::RoomEffects;
use crate::command::{SuggestionSnapshot, SuggestionUpdate};
use crate::settings::{DocumentSettings, frozen_by};
use crate::state::{ApplyContext, HunkChanges, RoomState};
use crate::work_size::SHORT_REBASING;
use crate::{RoomError, RoomResult};

/// Time after the last update in which a hunk counts as being written.
const WRITING_MS: u64 = 2_000;
/// Time for comparing a long suggestion with the text.
const COMPARING_MS: u64 = 500;

/// Returns the call of a person's suggestion; every suggestion of a person has their id as its
/// session, because no session asked for it.
pub(crate) fn suggested_call(
    id: RequestId,
    by: &Principal,
    source: RequestSource,
    base_version: Version,
    settings: &DocumentSettings,
) -> ProposedCall {
    ProposedCall {
        origin: CallOrigin {
            tool_use: ToolUseId::from(id.as_str()),
            id,
            tool: SUGGESTION_TOOL.to_owned(),
            input: json!({}),
            session: session_of(by),
            // No run made it.
            run: RunId::generate(),
        },
        document: None,
        requester: Person::from(by),
        requester_former: by.former.clone(),
        action: ProposedAction {
            prompt: String::new(),
            base_version,
            scope: None,
            explanation: String::new(),
            preview: Preview::generic(),
            touched: None,
            source,
        },
        policy: settings.policy.into(),
        claimed_author: None,
        again_of: None,
    }
}

/// Returns the session under which the suggestions of a person are stored.
pub(crate) fn session_of(by: &Principal) -> SessionId {
    SessionId::from(by.user.as_str())
}

/// Returns the suggestion that its writer goes on writing.
pub(crate) fn live<'s>(state: &'s RoomState, by: &Principal) -> Option<&'s Arc<ApprovalRequest>> {
    state.open.values().find(|request| request.is_suggestion_of(by))
}

/// Returns the newest suggestion of a person that has ended, of those at hand.
fn last_ended<'s>(state: &'s RoomState, by: &Principal) -> Option<&'s Arc<ApprovalRequest>> {
    let ended = state.ended.iter().filter(|request| request.is_suggestion_of(by));
    ended.max_by_key(|request| request.id())
}

/// Newest suggestion of a person.
enum NewestSuggestion {
    /// The suggestion as an update that has come before left it.
    Same(Arc<ApprovalRequest>),
    /// The update is over it, if there is one; it may have ended.
    Known(Option<Arc<ApprovalRequest>>),
}

/// Returns the newest suggestion, if the update is over it.
fn newest(state: &RoomState, update: &SuggestionUpdate) -> RoomResult<NewestSuggestion> {
    let known = live(state, &update.by).or_else(|| last_ended(state, &update.by)).cloned();
    let of_known = known.as_ref().and_then(|it| it.suggestion.as_ref());
    let is_again = of_known.is_some_and(|it| it.has_taken(&digest(update)));
    let revision = known.as_ref().and_then(|it| it.revision());
    let is_open = known.as_ref().is_some_and(|it| it.status.is_open());
    let is_newest = revision == Some(update.revision) || !is_open && update.revision == 0;
    match known {
        Some(request) if is_open && is_again && revision == Some(update.revision + 1) => {
            Ok(NewestSuggestion::Same(request))
        }
        known if is_newest && !is_again => Ok(NewestSuggestion::Known(known)),
        known => Err(RoomError::StaleSuggestion(known)),
    }
}

/// Takes over a suggestion as its writer has it now.
pub(crate) fn update(
    state: &mut RoomState,
    update: &SuggestionUpdate,
    now: &ApplyContext,
    effects: &mut RoomEffects,
) -> RoomResult<SuggestionSnapshot> {
    state.exists()?;
    let (by, newest_version) = (&update.by, state.version());
    if update.version > newest_version {
        return Err(RoomError::Ahead { asked: update.version, newest: newest_version });
    }
    let known = match newest(state, update)? {
        NewestSuggestion::Same(request) => return Ok(snapshot(state, Some(&request))),
        NewestSuggestion::Known(known) => known,
    };
    let open = known.as_ref().filter(|request| request.status.is_open());
    let wanted = ChangeSet::parse(&update.changes, &PUSH_LIMITS).map_err(unfit)?;
    let is_withdrawn = wanted.is_empty();
    let settings = state.in_force(now);
    let is_new = open.is_none();
    let mut request = match open {
        Some(request) => ApprovalRequest::clone(request),
        None => begun(state, by, known.as_deref(), &settings, now),
    };
    drop(known);
    let writing_until_ms = now.ms + WRITING_MS;
    let limits =
        DiffLimits { deadline: Some(Instant::now() + Duration::from_millis(COMPARING_MS)) };
    let arrived = arrived(state, update, wanted, &request, &limits)?;
    if is_new {
        if is_withdrawn {
            return Ok(snapshot(state, None));
        }
        check_capacity(state, by)?;
    }
    let rewritten = request
        .rewrite(arrived, state.document.text(), writing_until_ms, &limits)
        .map_err(unfit)?;
    if let Some(suggestion) = &mut request.suggestion {
        suggestion.take(digest(update), update.revision);
    }
    let open_hunks = request.hunks.iter().filter(|hunk| hunk.status.is_open()).count();
    if open_hunks == 0 || is_withdrawn {
        return Ok(withdraw(state, update, now, effects));
    }
    if open_hunks > MOST_SUGGESTED {
        let reason = format!("a suggestion has at most {MOST_SUGGESTED} changes that are open");
        return Err(RoomError::Invalid(reason));
    }
    check_frozen(state, &request, &rewritten.put)?;
    if let OwnerRuling::Deny(_) = rules::judge(state, &request, now, effects) {
        let reason = NotAllowedReason::DeniedByRule;
        return Err(DecisionError::NotAllowed { reason }.into());
    }
    request.set_policy(&state.requirements(&settings, now));
    if is_new {
        request.announced = request.preview_hash();
        let request = Arc::new(request);
        announce(state, &request, now, effects);
        return Ok(snapshot(state, Some(&request)));
    }
    Ok(put_rewritten(state, request, rewritten, by, now, effects))
}

/// Stores and announces what an update changed.
fn put_rewritten(
    state: &mut RoomState,
    request: ApprovalRequest,
    rewritten: RewrittenHunks,
    by: &Principal,
    now: &ApplyContext,
    effects: &mut RoomEffects,
) -> SuggestionSnapshot {
    let RewrittenHunks { put: changed, drop, is_relisted } = rewritten;
    let request = Arc::new(request);
    queue_hunk_changes(state, HunkChanges { drop, put: put(&request, &changed) }, effects);
    let mut changed = changed;
    if let Some(before) = state.open.get(request.id()) {
        // What others take may depend on how much is suggested in all.
        changed.extend(request.voted_otherwise(before));
    }
    if is_relisted {
        place(state, Arc::clone(&request), effects);
    } else {
        place_changed(state, Arc::clone(&request), &changed, effects);
    }
    queue_request_event(state, &request, &changed, Some(by), now, effects);
    snapshot(state, Some(&request))
}

fn begun(
    state: &RoomState,
    by: &Principal,
    before: Option<&ApprovalRequest>,
    settings: &DocumentSettings,
    now: &ApplyContext,
) -> ApprovalRequest {
    // The newest suggestion of a person is the one that sorts last, whichever server began it.
    let id = before.map(|it| RequestId::generate_after(it.id()));
    let id = id.unwrap_or_else(RequestId::generate);
    let call = suggested_call(id, by, RequestSource::Person, state.version(), settings);
    let call = ProposedCall { document: state.about(), ..call };
    ApprovalRequest::begin_suggestion(call, state.version(), now.ms, before)
}

/// Withdraws what is open, because the writer suggests nothing any more.
fn withdraw(
    state: &mut RoomState,
    update: &SuggestionUpdate,
    now: &ApplyContext,
    effects: &mut RoomEffects,
) -> SuggestionSnapshot {
    let by = &update.by;
    let Some(known) = live(state, by) else { return snapshot(state, None) };
    let mut request = ApprovalRequest::clone(known);
    let dropped = request.withdraw_open(Person::from(by), now.ms);
    if let Some(suggestion) = &mut request.suggestion {
        suggestion.take(digest(update), update.revision);
    }
    let ended = decisions::end(state, request, dropped, "request.withdraw", Some(by), now, effects);
    snapshot(state, Some(&ended))
}

fn unfit(source: ChangeError) -> RoomError {
    RoomError::BadUpdate { index: 0, source }
}

/// Returns `true` if others may have changed words that an update replaces, since its version.
pub(crate) fn is_overtaken(state: &RoomState, update: &SuggestionUpdate) -> bool {
    let Some(missed) = state.document.since(update.version) else { return false };
    if missed.len() == 0 {
        return false;
    }
    // To look closer would take longer than to read the text of that version.
    if missed.len() as u64 * update.changes.len() as u64 > SHORT_REBASING.steps {
        return true;
    }
    let mut wanted = ChangeSet::parse(&update.changes, &PUSH_LIMITS);
    for missed in missed {
        let (Ok(now), Ok(over)) = (&wanted, missed.change_set()) else { return false };
        let index = over.index();
        if now.changed_ranges().any(|it| index.changes_inside(it.from_a, it.to_a)) {
            return true;
        }
        wanted = now.map(&over, MapOrder::After);
    }
    false
}

/// Returns a suggestion, mapped to the newest version.
fn arrived(
    state: &RoomState,
    update: &SuggestionUpdate,
    mut wanted: ChangeSet,
    request: &ApprovalRequest,
    limits: &DiffLimits,
) -> RoomResult<ArrivedSuggestion> {
    let missed = state.document.since(update.version).ok_or(RoomError::Resync)?;
    let steps = (missed.len() as u64).saturating_mul(update.changes.len() as u64);
    if steps > text::REBASING.steps {
        return Err(RoomError::TooCostly);
    }
    let missed: Vec<_> =
        missed.map(|it| it.change_set()).collect::<Result<_, _>>().map_err(unfit)?;
    let arrived = if let Some(base) = &update.base {
        request.arrive(&wanted, base, &missed, limits).map_err(unfit)?
    } else {
        for over in &missed {
            wanted = wanted.map(over, MapOrder::After).map_err(unfit)?;
        }
        wanted.into()
    };
    let (change, text) = (arrived.wanted.len(), state.document.text().len());
    if change != text {
        return Err(unfit(ChangeError::LengthMismatch { change, text }));
    }
    if arrived.wanted.new_len() > change {
        check_length(arrived.wanted.new_len())?;
    }
    Ok(arrived)
}

/// Refuses hunks that change frozen words.
fn check_frozen(state: &RoomState, request: &ApprovalRequest, put: &[HunkId]) -> RoomResult<()> {
    let written = request.hunks_named(put).into_iter().filter(|hunk| hunk.is_being_written());
    let parts = written.flat_map(|hunk| &hunk.parts);
    let touched = parts.filter_map(|part| frozen_by(&state.own.frozen, (part.from, part.to)));
    let mut ranges: Vec<_> = touched.collect();
    ranges.sort_unstable();
    ranges.dedup();
    if ranges.is_empty() {
        return Ok(());
    }
    Err(RoomError::Frozen { version: state.version(), ranges })
}

fn digest(update: &SuggestionUpdate) -> String {
    SuggestionState::digest(update.version, update.revision, &update.changes)
}

fn snapshot(state: &RoomState, request: Option<&Arc<ApprovalRequest>>) -> SuggestionSnapshot {
    SuggestionSnapshot { version: state.version(), request: request.cloned() }
}

/// Ends the writing in hunks whose writer has paused.
pub(crate) fn end_writing(state: &mut RoomState, now: &ApplyContext, effects: &mut RoomEffects) {
    let is_due =
        |request: &Arc<ApprovalRequest>| request.writing_ends_ms().is_some_and(|at| at <= now.ms);
    let due: Vec<_> = state.open.values().filter(|it| is_due(it)).cloned().collect();
    for mut request in due {
        let ended = Arc::make_mut(&mut request).end_writing(now.ms);
        let hunks = HunkChanges { drop: Vec::new(), put: put(&request, &ended) };
        queue_hunk_changes(state, hunks, effects);
        state.open.insert(request.id().clone(), request);
    }
}

/// Returns `true` if the document has a suggestion that its writer goes on writing.
pub(crate) fn any_live(state: &RoomState) -> bool {
    state.open.values().any(|request| request.revision().is_some())
}

/// Ends the suggestions of people who have a token and may no longer suggest anything here.
/// `people` are all who hold a valid token now.
pub(crate) fn end_lost(
    state: &mut RoomState,
    people: &[Principal],
    now: &ApplyContext,
    effects: &mut RoomEffects,
) {
    let document = state.about();
    let is_lost = |request: &&Arc<ApprovalRequest>| {
        let own = || people.iter().filter(|who| request.is_suggestion_of(who));
        own().next().is_some() && !own().any(|who| who.may(Action::Suggest, document.as_ref()))
    };
    let lost: Vec<_> = state.open.values().filter(is_lost).cloned().collect();
    for request in lost {
        let mut request = Arc::unwrap_or_clone(request);
        let dropped = request.cancel(None, now.ms).unwrap_or_default();
        decisions::end(state, request, dropped, "request.cancel", None, now, effects);
    }
}
