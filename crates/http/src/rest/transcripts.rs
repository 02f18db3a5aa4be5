//! Transcripts: `GET /api/v1/sessions/{session}/transcript`, page by page.

use axum::Json;
use axum::extract::OriginalUri;

use super::problem::RestResult;
use crate::rest::middleware::pagination::{PageQuery, PathId, QueryParams, next};
use copydesk_api::{Caller, TranscriptCursor};
use copydesk_ids::permissions::Action;
use copydesk_ids::{DocumentId, SessionId};
use copydesk_protocol::queries::TranscriptQuery;
use copydesk_protocol::rest::Transcript;
use copydesk_protocol::server::AgentEvent;
use copydesk_protocol_conversion as wire;

/// Place of an event: its entry in the conversation, and its index among the entry's events.
type EntryPlace = (TranscriptCursor, usize);

/// Returns the questions, answers, calls and decisions of a conversation.
///
/// # Errors
/// 400 `invalid_request` for a wrong `limit` or `cursor`, 404 `not_found` for an unknown session or
/// document, 403 `not_allowed` for another person's; see
/// [`Caller::require_conversation`].
pub async fn transcript(
    caller: Caller,
    PathId(session): PathId<SessionId>,
    QueryParams(TranscriptQuery { document_id, limit, cursor }): QueryParams<TranscriptQuery>,
    OriginalUri(here): OriginalUri,
) -> RestResult<Json<Transcript>> {
    let page = PageQuery::<EntryPlace>::read(limit, cursor.as_deref())?;
    let document = document_id.map(DocumentId::from);
    caller.require_conversation(document.as_ref()).await?;
    if document.is_none() {
        caller.require(Action::Read)?;
    }
    let document = document.as_ref();
    let mut found = said(&caller, &session, document, &page).await?;
    let more = found.len() > page.limit;
    found.truncate(page.limit);
    let next = found.last().filter(|_| more).map(|(last, _)| next(&here, last));
    let requests = match page.after {
        None => caller.application.agents.decided(&session, document).await?,
        Some(_) => Vec::new(),
    };
    let requests = requests.iter().map(wire::request).collect();
    let entries = found.into_iter().map(|(_, event)| event).collect();
    Ok(Json(Transcript { entries, requests, next }))
}

/// Returns the events after the previous page: as many as the page has and, if any, one more.
async fn said(
    caller: &Caller,
    session: &SessionId,
    document: Option<&DocumentId>,
    page: &PageQuery<EntryPlace>,
) -> RestResult<Vec<(EntryPlace, AgentEvent)>> {
    let mut from = page.after.as_ref().map(|(place, _)| place.clone()).unwrap_or_default();
    // Some events of the first entry may have been on the previous page. Every later batch begins
    // with the last entry of the one before.
    let mut skipped = page.after.as_ref().map_or(0, |(_, index)| index + 1);
    let batch = page.limit as u32 + 2;
    let mut found = Vec::new();
    loop {
        let entries = caller.application.agents.said_from(session, document, &from, batch).await?;
        let is_last = entries.len() < batch as usize;
        let end = entries.last().map(|(place, _)| place.clone());
        for (place, entry) in entries {
            let skip = if place == from { skipped } else { 0 };
            let events = entry.iter().flat_map(|entry| wire::entry(entry, document));
            found.extend(
                events.enumerate().skip(skip).map(|(index, event)| ((place.clone(), index), event)),
            );
        }
        match end {
            Some(end) if !is_last && found.len() <= page.limit => {
                (from, skipped) = (end, usize::MAX);
            }
            _ => return Ok(found),
        }
    }
}
