//! Answer to `askClaudeCode`, computed from the transcript of its run.

use copydesk_rooms::command::DocumentSnapshot;
use copydesk_rooms::event::{DecidedUpdate, ResponseUpdate, RunResponse};
use copydesk_store::{RunEndKind, RunState};
use copydesk_tools::{DecidedChange, ToolCall};

use super::transcript::{EntryKind, TranscriptEntry};
use crate::run::end_reason::RunEndReason;

/// Returns the answer of a run that is over; `now` is its document.
pub fn response(entries: &[TranscriptEntry], now: Option<&DocumentSnapshot>) -> RunResponse {
    let outcomes = || entries.iter().flat_map(|entry| entry.kind.results());
    let changes: Vec<&DecidedChange> =
        outcomes().filter_map(|outcome| outcome.change.as_ref()).collect();
    let mut words = spoken(entries);
    if words.is_empty() {
        // Only applied changes may be reported as done.
        let applied =
            outcomes().filter(|it| it.change.as_ref().is_some_and(|change| change.applied));
        words = applied.filter_map(|outcome| outcome.explanation.clone()).collect();
    }
    RunResponse {
        message: words.join("\n"),
        update: update(&changes, now),
        updates: changes
            .iter()
            .map(|it| DecidedUpdate {
                request: it.request.clone(),
                status: it.status,
                extent: it.extent(),
                version: it.version,
            })
            .collect(),
        error: entries.iter().find_map(|entry| {
            let EntryKind::End { code, message, .. } = &entry.kind else { return None };
            Some((code.as_ref()?.as_str().to_owned(), message.clone()))
        }),
    }
}

/// Returns the kind, the sentence and the reason of the `result` of a run that is over. A run that
/// never began has no entries; its `state` is then all that is known.
pub fn end(
    entries: &[TranscriptEntry],
    state: RunState,
) -> (RunEndKind, &str, Option<RunEndReason>) {
    let end = entries.iter().find_map(|entry| {
        let EntryKind::End { subtype, message, code, .. } = &entry.kind else { return None };
        Some((*subtype, message.as_str(), code.clone()))
    });
    end.unwrap_or_else(|| {
        let kind = match state {
            RunState::Ended(kind) => kind,
            RunState::Queued | RunState::Running => RunEndKind::Error,
        };
        let reason = (kind != RunEndKind::Success).then_some(RunEndReason::Kind(kind));
        (kind, "The run ended before it began", reason)
    })
}

/// Returns the answer of a run that is over, also of one that never began.
pub fn how_it_ended(
    entries: &[TranscriptEntry],
    state: RunState,
    now: Option<&DocumentSnapshot>,
) -> RunResponse {
    let mut response = response(entries, now);
    if entries.is_empty()
        && let (_, message, Some(reason)) = end(entries, state)
    {
        response.error = Some((reason.into(), message.to_owned()));
    }
    response
}

/// Returns text blocks and `respond_conversation_only` responses, in the model's order.
fn spoken(entries: &[TranscriptEntry]) -> Vec<String> {
    let mut words = Vec::new();
    for (index, entry) in entries.iter().enumerate() {
        let EntryKind::Answer { content, .. } = &entry.kind else { continue };
        let mut outcomes = entries.get(index + 1).into_iter().flat_map(|it| it.kind.results());
        for block in content {
            if let Some(text) = block.as_text() {
                words.push(text.to_owned());
            } else if ToolCall::of(block).is_some() {
                words.extend(outcomes.next().and_then(|outcome| outcome.said.clone()));
            }
        }
    }
    words
}

/// Returns the update of a run. Several accepted changes are reported as the resulting document.
fn update(changes: &[&DecidedChange], now: Option<&DocumentSnapshot>) -> ResponseUpdate {
    let applied: Vec<&&DecidedChange> = changes.iter().filter(|change| change.applied).collect();
    match (applied.as_slice(), now) {
        ([], _) | (_, None) => ResponseUpdate::None,
        ([DecidedChange { range: Some(range), version, .. }], _) => ResponseUpdate::Partial {
            text: range.text.clone(),
            start: range.start,
            end: range.end,
            version: *version,
        },
        (_, Some(now)) => ResponseUpdate::Full { text: now.text.to_string(), version: now.version },
    }
}
