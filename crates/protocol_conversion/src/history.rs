//! Histories, authors, differences and the audit log, on the wire.

use std::collections::HashMap;
use std::hash::BuildHasher;

use copydesk_api::{AuditEntry, AuditRecord, HistoryRecord, is_large_update};
use copydesk_approvals::{AuthorSpan, Person, RequestCredit, SpanAuthor};
use copydesk_comments::CommentThread;
use copydesk_document::diff::DraftPart;
use copydesk_document::provenance::{ServerAct, UpdatePlacements};
use copydesk_ids::{HunkId, RequestId, UserId, Version};

use super::{rest, rules, server, time};
use copydesk_protocol::history;
use copydesk_protocol::names::{HistoryAct, SpanKind};

/// Largest number of threads that a passage names.
const MOST_THREADS: usize = 10;

/// Returns an entry of a history. `names` are those of all holders of tokens, `placements` the data
/// stored beside the update.
pub fn history_line(
    line: HistoryRecord,
    placements: Option<&UpdatePlacements>,
    names: &HashMap<UserId, String, impl BuildHasher>,
) -> history::HistoryLine {
    let is_large = is_large_update(&line).then_some(true);
    let HistoryRecord { version, author, at_ms, origin, changes: _ } = line;
    let (act, restored) = match placements.map(|it| it.act) {
        Some(ServerAct::Restored(version)) => (HistoryAct::Restored, Some(version.0)),
        Some(ServerAct::TakenBack) => (HistoryAct::TakenBack, None),
        Some(ServerAct::Accepted) => (HistoryAct::Accepted, None),
        None if origin.is_some() => (HistoryAct::Accepted, None),
        None => (HistoryAct::Typed, None),
    };
    history::HistoryLine {
        version: version.0,
        author: named(&author, names),
        at: time(at_ms),
        origin: origin.map(String::from),
        act,
        restored,
        is_large,
    }
}

/// Returns the passages of a version with their authors, and with those of `threads` that are about
/// the changes that they came from.
pub fn provenance(
    (version, spans): (Version, Vec<AuthorSpan>),
    threads: &[CommentThread],
) -> rest::Provenance {
    let spans = spans.into_iter().map(|it| span(it, threads));
    rest::Provenance { version: version.0, spans: spans.collect() }
}

/// Returns the first threads about a change: about its hunk, or about its whole request.
fn discussions(
    request: &RequestId,
    hunk: Option<&HunkId>,
    threads: &[CommentThread],
) -> Vec<String> {
    let is_about = |thread: &&CommentThread| {
        let about = thread.content.about.as_ref().filter(|it| it.request == *request);
        about.is_some_and(|it| it.hunk.is_none() || hunk.is_none() || it.hunk.as_ref() == hunk)
    };
    threads.iter().filter(is_about).take(MOST_THREADS).map(|it| it.id.to_string()).collect()
}

fn span(credit: AuthorSpan, threads: &[CommentThread]) -> history::ProvenanceSpan {
    let AuthorSpan { from, to, author, at_ms } = credit;
    let at = time(at_ms);
    let plain = |kind, by| history::ProvenanceSpan {
        from,
        to,
        kind,
        author: person(by),
        claimed_author: None,
        request: None,
        hunk: None,
        approver: None,
        rule: None,
        edited: None,
        threads: None,
        at,
    };
    let (kind, claimed_author, credit) = match author {
        SpanAuthor::Beginning(by) => return plain(SpanKind::Beginning, by),
        SpanAuthor::Person(by) => return plain(SpanKind::Person, by),
        SpanAuthor::Ai(credit) => (SpanKind::Ai, None, credit),
        SpanAuthor::Suggested(credit) => (SpanKind::Suggestion, None, credit),
        SpanAuthor::Claimed(name, credit) => (SpanKind::Import, Some(name), credit),
    };
    let RequestCredit { requester, request, hunk, approver, rule, edited } = credit;
    let threads = discussions(&request, hunk.as_ref(), threads);
    history::ProvenanceSpan {
        claimed_author,
        threads: (!threads.is_empty()).then_some(threads),
        request: Some(request.to_string()),
        hunk: hunk.as_ref().map(ToString::to_string),
        approver: approver.map(person),
        rule: rule.as_deref().map(rules::credit),
        edited: edited.then_some(true),
        ..plain(kind, requester)
    }
}

/// Returns the differences between two versions.
pub fn comparison(from: Version, to: Version, parts: Vec<DraftPart>) -> rest::Comparison {
    let difference =
        |DraftPart { from, to, base, insert }| history::Difference { from, to, base, insert };
    rest::Comparison { from: from.0, to: to.0, parts: parts.into_iter().map(difference).collect() }
}

/// Returns an entry of the audit log.
pub fn audit_line(
    line: AuditRecord,
    names: &HashMap<UserId, String, impl BuildHasher>,
) -> history::AuditLine {
    let AuditRecord { seq, entry, prev_hash, hash } = line;
    let AuditEntry { at_ms, actor, action, document, request, detail } = entry;
    history::AuditLine {
        seq,
        at: time(at_ms),
        actor: named(&UserId::from(actor), names),
        action,
        document: document.as_ref().map(ToString::to_string),
        request: request.as_ref().map(RequestId::to_string),
        detail,
        prev_hash,
        hash,
    }
}

fn named(user: &UserId, names: &HashMap<UserId, String, impl BuildHasher>) -> server::Person {
    let name = names.get(user).cloned().unwrap_or_else(|| user.to_string());
    server::Person { id: user.to_string(), name }
}

pub(super) fn person(person: Person) -> server::Person {
    let Person { user, name } = person;
    server::Person { id: user.to_string(), name }
}
