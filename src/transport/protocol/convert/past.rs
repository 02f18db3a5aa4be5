//! What was: histories, who wrote what, differences, the audit log.

use std::collections::HashMap;
use std::hash::BuildHasher;

use crate::approvals::{AiCredit, AuthorSpan, Person, SpanAuthor};
use crate::document::diff::DraftPart;
use crate::document::provenance::{ServerAct, UpdatePlacements};
use crate::ids::{RequestId, UserId};
use crate::store::{AuditEntry, AuditRecord, HistoryRecord};

use super::super::history;
use super::{rules, server, time};

/// One line of a history; `names` are those of the people who hold tokens, `placements` what is kept beside the update.
pub fn history_line(
    line: HistoryRecord,
    placements: Option<&UpdatePlacements>,
    names: &HashMap<UserId, String, impl BuildHasher>,
) -> history::HistoryLine {
    let HistoryRecord { version, author, at_ms, origin } = line;
    let (act, restored) = match placements.map(|it| it.act) {
        Some(ServerAct::Restored(version)) => ("restored", Some(version.0)),
        Some(ServerAct::TakenBack) => ("taken_back", None),
        Some(ServerAct::Accepted) => ("accepted", None),
        None if origin.is_some() => ("accepted", None),
        None => ("typed", None),
    };
    history::HistoryLine {
        version: version.0,
        author: named(&author, names),
        at: time(at_ms),
        origin: origin.map(String::from),
        act: act.to_owned(),
        restored,
    }
}

/// Who wrote what.
pub fn provenance(credits: Vec<AuthorSpan>) -> Vec<history::ProvenanceSpan> {
    credits.into_iter().map(span).collect()
}

fn span(credit: AuthorSpan) -> history::ProvenanceSpan {
    let AuthorSpan { from, to, author, at_ms } = credit;
    let (kind, author, ai) = match author {
        SpanAuthor::Beginning(by) => ("beginning", person(by), None),
        SpanAuthor::Person(by) => ("person", person(by), None),
        SpanAuthor::Ai(AiCredit { requester, request, hunk, approver, rule, edited }) => {
            ("ai", person(requester), Some((request, hunk, approver, rule, edited)))
        }
    };
    let (request, hunk, approver, rule, edited) = match ai {
        Some((request, hunk, approver, rule, edited)) => {
            (Some(request), hunk, approver, rule, edited.then_some(true))
        }
        None => (None, None, None, None, None),
    };
    history::ProvenanceSpan {
        from,
        to,
        kind: kind.to_owned(),
        author,
        request: request.as_ref().map(RequestId::to_string),
        hunk: hunk.as_ref().map(ToString::to_string),
        approver: approver.map(person),
        rule: rule.as_deref().map(rules::credit),
        edited,
        at: time(at_ms),
    }
}

/// What is different between two versions.
pub fn differences(parts: Vec<DraftPart>) -> Vec<history::Difference> {
    let difference =
        |DraftPart { from, to, base, insert }| history::Difference { from, to, base, insert };
    parts.into_iter().map(difference).collect()
}

/// One line of the audit log.
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

fn person(person: Person) -> server::Person {
    let Person { user, name } = person;
    server::Person { id: user.to_string(), name }
}
