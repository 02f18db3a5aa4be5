//! What must hold of everything that is kept, looked up: the log, the texts, the requests, the rules, the audit log, the
//! tokens.
//!
//! Reads one moment of the store and changes nothing, also while a server runs. Every rule that is broken is a
//! [`CheckFinding`] of its own, and reading goes on behind it as far as that makes sense.

mod access;
mod decisions;
mod files;
mod log;
mod provenance;
mod requests;
mod rules;

use std::collections::HashMap;
use std::fmt;

use serde::Serialize;

use crate::store::{AuditFacts, AuditFlaw, Store, StoreError, StoreInspection};

use decisions::AuditLines;
use requests::CheckedRequests;

/// Something that must hold and does not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CheckFinding {
    /// Which rule is broken, for programs: `log.gap`, `audit.chain`, …
    pub code: &'static str,
    /// Where: `doc_… version 7`, `req_…`, `audit line 12`.
    pub subject: String,
    /// What is wrong, for people.
    pub message: String,
}

impl fmt::Display for CheckFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} [{}]", self.subject, self.message, self.code)
    }
}

/// How much there was to look at.
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
}

/// What a check came to.
#[derive(Clone, Debug, Default, Serialize)]
pub struct CheckReport {
    /// What is wrong; nothing if all is fine.
    pub findings: Vec<CheckFinding>,
    /// What was looked at.
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

    /// Takes what could be read; what could not is a finding.
    fn read<T>(
        &mut self,
        code: &'static str,
        what: &str,
        result: Result<T, StoreError>,
    ) -> Option<T> {
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

/// Everything that is wrong with a store; nothing if it is fine.
///
/// # Errors
/// When the store cannot be read at all.
pub async fn check(store: &Store) -> Result<Vec<CheckFinding>, StoreError> {
    Ok(report(store).await?.findings)
}

/// As [`check`], with how much there was to look at.
///
/// # Errors
/// When the store cannot be read at all.
pub async fn report(store: &Store) -> Result<CheckReport, StoreError> {
    let mut at = store.inspect().await?;
    let mut report = CheckReport::default();
    database(&mut at, &mut report).await?;
    let (told, about_rules) = match audit(&mut at, &mut report).await {
        Some(AuditFacts { flaws: _, accounted, about_rules, about_requests }) => {
            (Some((accounted, AuditLines::new(about_requests))), Some(about_rules))
        }
        None => (None, None),
    };
    let requests = CheckedRequests::read(&mut at, told, &mut report).await;
    let documents = at.documents().await;
    let (mut known, mut versions) = (Vec::new(), HashMap::new());
    for document in report.read("document.row", "the documents", documents).into_iter().flatten() {
        report.seen.documents += 1;
        let Some(document) = report.read("document.row", "a document", document) else { continue };
        let walked = log::walk(&mut at, &document, &requests, &mut report).await;
        report.read("log.read", document.id.as_str(), walked);
        versions.insert(document.id.clone(), document.version);
        known.push(document.id);
    }
    requests.homeless(&known, &mut report);
    files::files(&mut at, &versions, &mut report).await;
    access::tokens(&mut at, &known, &mut report).await;
    rules::check(&mut at, about_rules.as_deref(), &requests, &known, &mut report).await;
    Ok(report)
}

/// What the database says of itself.
async fn database(at: &mut StoreInspection, report: &mut CheckReport) -> Result<(), StoreError> {
    for line in at.integrity().await? {
        report.find("database.integrity", "the database", line);
    }
    for guard in at.missing_guards().await? {
        let message = format!("the trigger {guard} is gone, so a log could be rewritten");
        report.find("database.guard", "the database", message);
    }
    Ok(())
}

/// The chain; gives what the log tells, if it could be read.
async fn audit(at: &mut StoreInspection, report: &mut CheckReport) -> Option<AuditFacts> {
    let walked = at.audit().await;
    let told = report.read("audit.read", "the audit log", walked)?;
    for AuditFlaw { line, reason } in &told.flaws {
        report.find("audit.chain", &format!("audit line {line}"), reason);
    }
    Some(told)
}
