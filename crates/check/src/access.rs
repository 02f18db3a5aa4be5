//! Check of tokens, roles in documents, sessions and runs: their fields must not contradict each
//! other.

use std::collections::HashSet;

use copydesk_ids::DocumentId;
use copydesk_ids::permissions::Role;
use copydesk_store::{StoreInspection, TokenRecord};

use super::CheckReport;

/// Length of a SHA-256 in hexadecimal digits.
const HASH_DIGITS: usize = 64;

pub async fn tokens(at: &mut StoreInspection, documents: &[DocumentId], report: &mut CheckReport) {
    let tokens = at.tokens().await;
    for token in report.read("token.row", "the tokens", tokens).into_iter().flatten() {
        let Some(token) = report.read("token.row", "a token", token) else { continue };
        for message in complaints(&token, documents) {
            report.find("token", token.id.as_str(), message);
        }
    }
    let given = at.document_roles().await;
    for given in report.read("role.row", "the roles in documents", given).into_iter().flatten() {
        let subject =
            format!("{} {} {}", given.document, given.grantee.kind(), given.grantee.name());
        if !documents.contains(&given.document) {
            report.find("role", &subject, "its document does not exist");
        }
        if !given.role.is_for_one_document() {
            report.find("role", &subject, "it cannot be given in one document");
        }
    }
    let mut ids = HashSet::new();
    let sessions = at.sessions().await;
    for session in report.read("session.row", "the sessions", sessions).into_iter().flatten() {
        let Some(session) = report.read("session.row", "a session", session) else { continue };
        if session.seen_ms < session.created_ms {
            report.find("session", session.id.as_str(), "it was last seen before it began");
        }
        ids.insert(session.id);
    }
}

pub async fn runs(at: &mut StoreInspection, report: &mut CheckReport) {
    let runs = at.runs().await;
    for run in report.read("run.row", "the runs", runs).into_iter().flatten() {
        let Some(run) = report.read("run.row", "a run", run) else { continue };
        let has_ended = run.state.has_ended();
        if has_ended != run.finished_ms.is_some() {
            report.find("run", run.id.as_str(), "its state and its end contradict each other");
        }
    }
}

fn complaints(token: &TokenRecord, documents: &[DocumentId]) -> Vec<&'static str> {
    let is_digit = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
    let is_hash = token.hash.len() == HASH_DIGITS && token.hash.chars().all(is_digit);
    let is_bound = token.document.as_ref();
    [
        (!is_hash, "its hash is not a SHA-256 hash"),
        (token.user.as_str().is_empty(), "it belongs to nobody"),
        (
            is_bound.is_some() && token.role == Role::Owner,
            "an owner's token is bound to a document",
        ),
        (is_bound.is_some_and(|only| !documents.contains(only)), "its document does not exist"),
        (
            token.expires_ms.is_some_and(|at| at < token.created_ms),
            "it expired before it was issued",
        ),
        (
            token.revoked_ms.is_some_and(|at| at < token.created_ms),
            "it was revoked before it was issued",
        ),
    ]
    .into_iter()
    .filter_map(|(is_wrong, what)| is_wrong.then_some(what))
    .collect()
}
