//! Checks of the invariants of all stored data: logs, texts, requests, rules, the audit log, and
//! tokens.
//!
//! A check reads one moment of the store and changes nothing, also while a server runs. Every
//! broken invariant is a [`CheckFinding`] of its own, and the check continues after it as far as
//! that makes sense.

mod access;
mod comments;
mod decisions;
mod files;
mod log;
mod provenance;
mod requests;
mod rules;

use std::collections::HashMap;
use std::fmt;

use async_recursion::async_recursion as boxed;
use serde::Serialize;

use copydesk_store::{AuditFacts, AuditFlaw, Store, StoreError, StoreInspection, StoreResult};

use decisions::AuditLines;
use requests::CheckedRequests;

/// Invariant that does not hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CheckFinding {
    /// Code of the broken invariant, for programs: `log.gap`, `audit.chain`, …
    pub code: &'static str,
    /// Place of the damage: `doc_… version 7`, `req_…`, `audit line 12`.
    pub subject: String,
    /// Description of the damage, for people.
    pub message: String,
}

impl fmt::Display for CheckFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} [{}]", self.subject, self.message, self.code)
    }
}

/// Numbers of the records that a check read, for a [`CheckReport`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CheckCounts {
    /// Documents, deleted and private ones too.
    pub documents: u64,
    /// Updates of their logs.
    pub updates: u64,
    /// Requests, ended ones too.
    pub requests: u64,
    /// Rules, ended ones too.
    pub rules: u64,
    /// Threads of comments, resolved ones too.
    pub threads: u64,
}

/// Result of a check.
#[derive(Clone, Debug, Default, Serialize)]
pub struct CheckReport {
    /// Broken invariants; empty if the data is intact.
    pub findings: Vec<CheckFinding>,
    /// Numbers of the records that were read.
    pub seen: CheckCounts,
}

impl CheckReport {
    fn find(
        &mut self,
        code: &'static str,
        subject: &(impl ToString + ?Sized),
        message: impl Into<String>,
    ) {
        let (subject, message) = (subject.to_string(), message.into());
        self.findings.push(CheckFinding { code, subject, message });
    }

    /// Returns a value that could be read; for one that could not, adds a finding.
    fn read<T>(&mut self, code: &'static str, what: &str, result: StoreResult<T>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(StoreError::Corrupt { what, reason }) => {
                self.find(code, &what, format!("cannot be read: {reason}"));
                None
            }
            Err(error) => {
                self.find(code, what, format!("cannot be read: {error}"));
                None
            }
        }
    }
}

/// Checks everything that is stored, and counts the records that were read.
///
/// # Errors
/// Any [`StoreError`] that keeps the store from being read at all.
#[boxed]
pub async fn report(store: &Store) -> StoreResult<CheckReport> {
    let mut at = store.inspect().await?;
    let mut report = CheckReport::default();
    database(&mut at, &mut report).await?;
    let mut first_texts = HashMap::new();
    let (audit_facts, about_rules) = match audit(&mut at, &mut report).await {
        Some(facts) => {
            let AuditFacts { accounted, about_rules, about_requests, .. } = facts;
            first_texts = facts.first_texts;
            (Some((accounted, AuditLines::new(about_requests))), Some(about_rules))
        }
        None => (None, None),
    };
    let requests = CheckedRequests::read(&mut at, audit_facts, &mut report).await;
    let documents = at.documents().await;
    let (mut known, mut versions) = (Vec::new(), HashMap::new());
    for document in report.read("document.row", "the documents", documents).into_iter().flatten() {
        report.seen.documents += 1;
        let Some(document) = report.read("document.row", "a document", document) else { continue };
        let first = first_texts.remove(&document.id);
        let walked = log::walk(&mut at, &document, first, &requests, &mut report).await;
        report.read("log.read", document.id.as_str(), walked);
        versions.insert(document.id.clone(), document.version);
        known.push(document.id);
    }
    requests.check_orphans(&known, &mut report);
    files::files(&mut at, &versions, &mut report).await;
    access::tokens(&mut at, &known, &mut report).await;
    access::runs(&mut at, &mut report).await;
    rules::check(&mut at, about_rules.as_deref(), &requests, &known, &mut report).await;
    Ok(report)
}

/// Checks the database file and the triggers that protect the logs.
async fn database(at: &mut StoreInspection, report: &mut CheckReport) -> StoreResult<()> {
    for line in at.integrity().await? {
        report.find("database.integrity", "the database", line);
    }
    for guard in at.missing_guards().await? {
        let message = format!("the trigger {guard} is gone, so a log could be rewritten");
        report.find("database.guard", "the database", message);
    }
    for message in at.foreign_schema().await? {
        report.find("database.schema", "the database", message);
    }
    Ok(())
}

/// Checks the chain of the audit log; returns the contents of the log, if it could be read.
async fn audit(at: &mut StoreInspection, report: &mut CheckReport) -> Option<AuditFacts> {
    let walked = at.audit().await;
    let audit_facts = report.read("audit.read", "the audit log", walked)?;
    for AuditFlaw { line, reason } in &audit_facts.flaws {
        report.find("audit.chain", &format!("audit line {line}"), reason);
    }
    Some(audit_facts)
}
