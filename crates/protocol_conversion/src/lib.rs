//! Conversion of values of the application to the wire. Full destructuring makes every new field a
//! decision.

mod administration;
mod comments;
mod decision_batch;
mod deleted_people;
mod errors;
mod files;
mod from_client;
mod history;
mod hunk;
mod imports;
mod lists;
mod names;
mod people;
mod request;
mod rules;
mod run_events;
mod sharing;
mod suggestions;

use std::sync::Arc;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::value::RawValue;

use copydesk_api::{DocumentRecord, WaitingChanges};
use copydesk_document::Update;
use copydesk_ids::permissions::Principal;
use copydesk_ids::{DocumentId, MemberId, ShortDocumentId, Version};
use copydesk_rooms::command::{self, DocumentSnapshot, OpenedContent};
use copydesk_rooms::event::{
    CaretPosition, DocumentChange, PeerInfo, PeersChange, RoomEvent, ServerEvent,
};
use copydesk_rooms::settings::model_access;
use copydesk_rooms::settings::{self, OUTSIDE_TIMEOUT_MS, ServerSettings};
use copydesk_rooms::{EncodedEvent, EncodedForm, recoverable_until_ms};

use copydesk_protocol::client::{self, Range};
use copydesk_protocol::names::ModelAccessKind;
use copydesk_protocol::{rest, server};

pub use administration::{spending, spending_month, storage, wanted_limit, work};
pub use comments::{
    ai_wish, comment_input, new_thread, people_to_mention, thread_answer, thread_list,
};
pub use decision_batch::{DecisionBatch, RefusedDecision};
pub use deleted_people::{person_deletion, person_preview};
pub use errors::{error_details, passed_result, reason_code};
pub use files::file_line;
pub use from_client::{
    MOST_DECISIONS, configure, ended_status, hunk_ids, new_document, question, read_decision,
    server_settings, undo,
};
pub use history::{comparison, provenance};
pub use imports::{converted, imported};
pub use lists::{audit_lines, created, request_page, versions};
pub use names::{permission_mode, run_state};
pub use people::{grant, issued, reached_at, session_ended, token_list};
pub use request::{decision, decision_on, reopened, request, request_state, resolved, told};
pub use rules::{ended, new_rule, remember, rule, rules};
pub use run_events::{entry, response, said};
pub use sharing::{document_role, document_roles, share, unshare};
pub use suggestions::suggestion_answer;

/// Size of changes, in bytes of JSON, up to which updates have a short form.
const LONGEST_SHORT: usize = 8 * 1024;

/// Encodes a [`ServerEvent`] for all clients.
pub fn announcement(news: &ServerEvent) -> Option<EncodedEvent> {
    match news {
        ServerEvent::Created { id, title, version } => {
            let (id, title) = (id.to_string(), title.clone());
            let document = server::CreatedDocument { id, title, version: version.0 };
            message("document:created", &server::DocumentCreated { document })
        }
        ServerEvent::Settings(of) => {
            message("settings:changed", &server::SettingsChanged { settings: settings(of) })
        }
        ServerEvent::Mentions(of) => message("comment:unread", &comments::unread(of)),
    }
}

/// Encodes a [`RoomEvent`].
pub fn event(document: &DocumentId, event: &RoomEvent) -> Option<EncodedEvent> {
    let document_id = document.to_string();
    match event {
        RoomEvent::Updates { room, from, updates, drop, put } => {
            let is_plain = drop.is_empty() && put.is_empty();
            let short = if is_plain { short_updates(*room, *from, updates) } else { None };
            let hunks = (!is_plain).then(|| server::HunkChanges {
                drop: drop.iter().map(ToString::to_string).collect(),
                put: put.iter().map(|(asked, hunk)| hunk::hunk(asked, hunk)).collect(),
            });
            let updates = updates.iter().filter_map(update).collect();
            let payload = server::DocumentUpdates { document_id, from: from.0, updates, hunks };
            let whole = encoded("document:updates", &payload)?;
            Some(EncodedEvent { whole, short })
        }
        RoomEvent::Changed(change) => message("document:changed", &changed(document_id, change)),
        RoomEvent::Peers(peers) => {
            let peers = peers.iter().map(|it| peer(document, it)).collect();
            message("presence:peers", &server::PresencePeers { document_id, peers })
        }
        RoomEvent::PeersChanged(PeersChange { put, left, total, is_complete }) => {
            let payload = server::PresenceChanges {
                document_id,
                put: put.iter().map(|it| peer(document, it)).collect(),
                left: left.iter().map(ToString::to_string).collect(),
                count: *total,
                complete: is_complete.then_some(true),
            };
            message("presence:changes", &payload)
        }
        RoomEvent::Caret(member, at) => {
            let id = member.to_string();
            let caret = caret(*at);
            message("presence:update", &server::PresenceUpdate { document_id, id, caret })
        }
        RoomEvent::Requested(asked) | RoomEvent::RequestedAgain(asked) => {
            message("tool_approval_request", &request(asked))
        }
        RoomEvent::RequestUpdated(update) => {
            message("tool_approval_update", &request::update(update))
        }
        RoomEvent::Resolved(request) => {
            message("tool_approval_resolved", &request::resolved(request))
        }
        RoomEvent::Rules(rules) => message("rules:changed", &rules::changed(document, rules)),
        RoomEvent::PreviewShown(streaming_preview) => {
            message("tool_approval_update", &request::preview_update(document, streaming_preview))
        }
        RoomEvent::PreviewEnded(streaming_preview) => {
            message("tool_approval_update", &request::preview_end(document, streaming_preview))
        }
        RoomEvent::ThreadChanged(version, thread) => {
            message("comment:changed", &comments::changed(document, *version, thread))
        }
        RoomEvent::File(news) => message("document:file", &files::news(document, news)),
        RoomEvent::Said(said) => run_events::said(said),
    }
}

/// Returns the short form of updates that change the text alone. Long ones have none: what is
/// saved is nothing there, and both forms would be held.
fn short_updates(
    room: ShortDocumentId,
    from: Version,
    updates: &[Arc<Update>],
) -> Option<EncodedForm> {
    let bytes: usize = updates.iter().map(|update| update.changes.len()).sum();
    if bytes > LONGEST_SHORT || updates.iter().any(|update| update.origin.is_some()) {
        return None;
    }
    let short = |update: &Arc<Update>| {
        let changes = RawValue::from_string(update.changes.to_string()).ok()?;
        Some(server::ShortUpdate(update.client.to_string(), changes))
    };
    let updates = updates.iter().map(short).collect::<Option<Vec<_>>>()?;
    encoded("updates", &server::ShortUpdates(room.0, from.0, updates))
}

fn message<T: Serialize>(name: &'static str, payload: &T) -> Option<EncodedEvent> {
    Some(EncodedEvent { whole: encoded(name, payload)?, short: None })
}

fn encoded<T: Serialize>(name: &'static str, payload: &T) -> Option<EncodedForm> {
    match serde_json::value::to_raw_value(payload) {
        Ok(payload) => Some(EncodedForm { name, payload }),
        Err(error) => {
            tracing::error!(%error, event.name = name, "cannot encode an event");
            None
        }
    }
}

/// Returns the answer for a client that opens a document.
pub fn opened(
    document: &DocumentId,
    opened: command::OpenedDocument,
    member: &MemberId,
    principal: &Principal,
) -> server::Opened {
    let command::OpenedDocument {
        content,
        client,
        requests,
        streaming_previews,
        peers,
        peer_count,
        number,
        threads,
    } = opened;
    let (OpenedContent::Whole(now) | OpenedContent::Since { reading: now, .. }) = &content;
    let file = now.file.as_ref().map(files::state);
    let (mut title_and_settings, mut hash) = (None, None);
    let (whole, from, version, updates) = match content {
        OpenedContent::Whole(reading) => {
            (Some(whole_document(document, *reading)), None, None, None)
        }
        OpenedContent::Since { from, updates, reading } => {
            let DocumentSnapshot { title, version, text, settings, file: _ } = *reading;
            title_and_settings = Some((title, document_settings(&settings)));
            hash = Some(text.shared_hash().to_string());
            let updates = updates.iter().filter_map(update).collect();
            (None, Some(from.0), Some(version.0), Some(updates))
        }
    };
    let (title, settings) = title_and_settings.unzip();
    server::Opened {
        document: whole,
        from,
        version,
        hash,
        updates,
        title,
        settings,
        client_id: client.to_string(),
        requests: requests.iter().map(|asked| request(asked)).collect(),
        streaming: streaming_previews.iter().map(|it| request::streaming(document, it)).collect(),
        peers: peers.iter().map(|it| peer(document, it)).collect(),
        peer_count,
        short_id: number.map(|number| number.0),
        threads: threads.map(|all| all.iter().map(|it| comments::thread(document, it)).collect()),
        member: member.to_string(),
        role: principal.role_in(Some(document)),
        file,
    }
}

/// Returns a document with its text and the state of its file.
pub fn full_document(document: &DocumentId, reading: DocumentSnapshot) -> rest::FullDocument {
    let file = reading.file.as_ref().map(files::state);
    rest::FullDocument { document: whole_document(document, reading), file }
}

fn whole_document(document: &DocumentId, reading: DocumentSnapshot) -> server::WholeDocument {
    // What there is to say of its file stands beside it.
    let DocumentSnapshot { title, version, text, settings, file: _ } = reading;
    let text = text.encoded();
    server::WholeDocument {
        id: document.to_string(),
        title,
        version: version.0,
        hash: text.hash().to_owned(),
        text,
        settings: document_settings(&settings),
    }
}

fn update(update: &Arc<Update>) -> Option<server::Update> {
    let Update { client, changes, origin } = &**update;
    Some(server::Update {
        client_id: client.to_string(),
        changes: RawValue::from_string(changes.to_string()).ok()?,
        origin: origin.as_deref().map(str::to_owned),
    })
}

fn changed(document_id: String, change: &DocumentChange) -> server::DocumentChanged {
    let nothing = server::DocumentChanged {
        document_id,
        title: None,
        settings: None,
        version: None,
        deleted: None,
    };
    match change {
        DocumentChange::Title(title) => {
            server::DocumentChanged { title: Some(title.clone()), ..nothing }
        }
        DocumentChange::Settings(settings, version) => server::DocumentChanged {
            settings: Some(document_settings(settings)),
            version: Some(version.0),
            ..nothing
        },
        DocumentChange::Deleted => server::DocumentChanged { deleted: Some(true), ..nothing },
    }
}

fn peer(document: &DocumentId, peer: &PeerInfo) -> server::Peer {
    let PeerInfo { member, principal, color, clients, caret: at, .. } = peer;
    server::Peer {
        id: member.to_string(),
        user: principal.user.to_string(),
        name: principal.name.clone(),
        role: principal.role_in(Some(document)),
        color: *color,
        client_ids: clients.iter().map(ToString::to_string).collect(),
        caret: at.map(caret),
    }
}

fn caret(caret: CaretPosition) -> server::PeerCaret {
    let CaretPosition { version, anchor, head } = caret;
    server::PeerCaret { version: version.0, anchor, head }
}

/// Returns a [`Principal`] as others see them.
fn principal(of: &Principal) -> server::Person {
    server::Person { id: of.user.to_string(), name: of.name.clone() }
}

/// Returns an entry of the list of documents; `path` is its file, `waiting` the number of changes
/// that wait in it.
pub fn document_line(
    record: DocumentRecord,
    path: Option<String>,
    (waiting, mentions): (WaitingChanges, u64),
    principal: &Principal,
) -> server::DocumentLine {
    let DocumentRecord {
        id,
        title,
        created_ms: _,
        updated_ms,
        version,
        settings: _,
        unlisted_owner: _,
        deleted: _,
        purged: _,
    } = record;
    server::DocumentLine {
        id: id.to_string(),
        title,
        version: version.0,
        updated_at: time(updated_ms),
        role: principal.role_in(Some(&id)),
        path,
        waiting: waiting.all,
        waiting_for_you: waiting.for_caller,
        mentions,
    }
}

/// Returns the list of deleted documents.
pub fn trash(records: Vec<DocumentRecord>) -> server::Trash {
    let line = |record: DocumentRecord| server::DeletedDocument {
        deleted_at: time(record.updated_ms),
        recoverable_until: time(recoverable_until_ms(&record)),
        id: record.id.to_string(),
        title: record.title,
    };
    server::Trash { documents: records.into_iter().map(line).collect() }
}

/// Returns the settings of a document that are in force.
pub fn document_settings(of: &settings::DocumentSettings) -> server::DocumentSettings {
    let settings::DocumentSettings {
        policy,
        policies,
        approvals,
        timeout_ms,
        outside_timeout_ms: _,
        models,
        frozen,
    } = of;
    server::DocumentSettings {
        policy: *policy,
        policies: policies.clone(),
        approvals: *approvals,
        timeout_seconds: timeout_ms / 1_000,
        model_access: model_access(models),
        frozen: frozen.iter().map(|&(from, to)| Range { from, to }).collect(),
    }
}

fn model_access(of: &model_access::ModelAccess) -> client::ModelAccess {
    let (allow, names) = match of {
        model_access::ModelAccess::Any => (ModelAccessKind::Any, None),
        model_access::ModelAccess::Local => (ModelAccessKind::Local, None),
        model_access::ModelAccess::Named(names) => (ModelAccessKind::Named, Some(names.clone())),
    };
    client::ModelAccess { allow, names }
}

/// Returns the server's settings.
pub fn settings(of: &ServerSettings) -> server::Settings {
    let ServerSettings { approvals, timeout_ms, permission_mode } = of;
    server::Settings {
        approvals: *approvals,
        permission_mode: names::permission_mode(*permission_mode),
        timeout_seconds: timeout_ms.unwrap_or(OUTSIDE_TIMEOUT_MS) / 1_000,
        document_timeout_seconds: timeout_ms.unwrap_or(0) / 1_000,
    }
}

/// Formats milliseconds since 1970 in RFC 3339.
pub fn time(at_ms: u64) -> String {
    let at = i64::try_from(at_ms).ok().and_then(|at_ms| Timestamp::from_millisecond(at_ms).ok());
    // Always with three digits: clients order times as they order texts.
    format!("{:.3}", at.unwrap_or(Timestamp::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_in_order_as_texts() {
        assert_eq!(time(1_000), "1970-01-01T00:00:01.000Z");
        let times = [0, 20, 100, 103, 999, 1_000, 1_010].map(time);
        assert!(times.is_sorted(), "{times:?}");
    }
}
