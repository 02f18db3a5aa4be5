//! Deletion of people's data, on the wire.

use copydesk_api as api;
use copydesk_api::{DeletionObstacle, DocumentRecord, PersonCounts, PersonDeletionReport};
use copydesk_protocol::administration::{
    DeletedRecords, KeptRecords, PersonDeletion, PersonPreview, PrivateDocument, RenamedRecords,
};
use copydesk_protocol::names;

use super::time;

/// Returns what is stored of a person.
pub fn person_preview(found: api::PersonPreview) -> PersonPreview {
    let api::PersonPreview { users, name, email, counts, unfinished_runs, .. } = found;
    let api::PersonPreview { private_documents, obstacle, deletion, .. } = found;
    let mut ids = users.iter().map(ToString::to_string);
    let (deleted, renamed, kept) = records(&counts);
    PersonPreview {
        id: ids.next().unwrap_or_default(),
        former_ids: ids.collect(),
        name,
        email,
        state: deletion.as_ref().map_or(names::PersonState::Stored, state),
        obstacle: obstacle.map(DeletionObstacle::message).map(str::to_owned),
        unfinished_runs,
        waiting_requests: counts.open_requests,
        deleted,
        renamed,
        kept,
        private_documents: private_documents.into_iter().map(private_document).collect(),
    }
}

/// Returns how far a deletion is.
pub fn person_deletion(report: &PersonDeletionReport) -> PersonDeletion {
    let PersonDeletionReport { person, begun_ms, ended_ms, counts, private_documents } = report;
    let (deleted, renamed, kept) = records(counts);
    PersonDeletion {
        id: person.to_string(),
        state: state(report),
        begun_at: time(*begun_ms),
        ended_at: ended_ms.map(time),
        deleted,
        renamed,
        kept,
        private_documents: *private_documents,
    }
}

fn state(report: &PersonDeletionReport) -> names::PersonState {
    match report.ended_ms {
        Some(_) => names::PersonState::Deleted,
        None => names::PersonState::Deleting,
    }
}

fn records(counts: &PersonCounts) -> (DeletedRecords, RenamedRecords, KeptRecords) {
    let &PersonCounts { tokens, logins, sessions, messages, runs, answers, limits, .. } = counts;
    let &PersonCounts { requests, decisions, rules, threads, .. } = counts;
    let &PersonCounts { updates, audit_lines, spending, .. } = counts;
    (
        DeletedRecords { logins, conversations: sessions, messages, runs, answers, limits },
        RenamedRecords { tokens, requests, decisions, rules, threads },
        KeptRecords { updates, audit_lines, spending },
    )
}

fn private_document(record: DocumentRecord) -> PrivateDocument {
    let DocumentRecord { id, title, version, updated_ms, .. } = record;
    let (id, updated_at) = (id.to_string(), time(updated_ms));
    PrivateDocument { id, title, version: version.0, updated_at }
}
