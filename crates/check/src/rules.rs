//! Check of remembered rules: each row must match its rule, and each rule must have been able to
//! decide what it decided.

use std::collections::BTreeMap;

use copydesk_approvals::{ApprovalRule, RuleEffect, RuleScope};
use copydesk_ids::DocumentId;
use copydesk_ids::permissions::{Action, Principal, Role};
use copydesk_store::{AuditRecord, RuleRecord, StoreError, StoreInspection, TokenRecord};

use super::CheckReport;
use super::requests::CheckedRequests;

/// Identifier of the owner's token. Its creation time changes when its secret is replaced; the
/// owner could decide before that, too.
const OWNER_TOKEN: &str = "tok_owner";

/// Tolerance in milliseconds: a room reads who holds which token a moment before it dates a
/// decision.
const MOMENT_MS: u64 = 1_000;

/// Lines of the audit log about one rule.
#[derive(Default)]
struct RuleHistory<'a> {
    /// Line about its creation.
    made: Option<&'a AuditRecord>,
    /// Line about its end.
    ended: Option<&'a AuditRecord>,
    /// Lines about requests that it decided.
    decided: Vec<&'a AuditRecord>,
    /// Lines about calls that it denied.
    denied: Vec<&'a AuditRecord>,
}

/// Checks all rules, and their lines in the audit log if that could be read.
pub(super) async fn check(
    at: &mut StoreInspection,
    log: Option<&[AuditRecord]>,
    requests: &CheckedRequests,
    documents: &[DocumentId],
    report: &mut CheckReport,
) {
    let mut lives = log.map(lives);
    // Damaged tokens are reported by another check.
    let tokens = at.tokens().await.unwrap_or_default();
    let tokens: Vec<TokenRecord> = tokens.into_iter().filter_map(Result::ok).collect();
    let records = at.rules().await;
    for record in report.read("rule.row", "the rules", records).into_iter().flatten() {
        report.seen.rules += 1;
        let record = match record {
            Ok(record) => record,
            Err(error) => {
                if let (StoreError::Corrupt { what, .. }, Some(lives)) = (&error, &mut lives) {
                    lives.remove(what.as_str());
                }
                report.read::<()>("rule.row", "a rule", Err(error));
                continue;
            }
        };
        let life = lives.as_mut().map(|lives| lives.remove(record.id.as_str()).unwrap_or_default());
        let Some(rule) = one(&record, requests, documents, report) else { continue };
        if let Some(life) = life {
            life.check(&rule, &tokens, report);
        }
    }
    // The remaining lines are about rules that do not exist.
    for (id, life) in lives.into_iter().flatten() {
        for line in life.decided.into_iter().chain(life.denied) {
            let message = format!("it was decided by the rule {id}, which does not exist");
            report.find("rule.decision", &place(line), message);
        }
        if let Some(line) = life.made {
            report.find("rule.row", id, format!("{} says that it was made", place(line)));
        }
    }
}

/// Groups the lines of the audit log by the rule they name.
fn lives(log: &[AuditRecord]) -> BTreeMap<&str, RuleHistory<'_>> {
    let mut lives: BTreeMap<&str, RuleHistory<'_>> = BTreeMap::new();
    for line in log {
        let detail = &line.entry.detail;
        match line.entry.action.as_str() {
            "rule.create" => {
                let Some(rule) = detail["id"].as_str() else { continue };
                lives.entry(rule).or_default().made.get_or_insert(line);
            }
            "rule.revoke" | "rule.expire" => {
                let Some(rule) = detail["rule"].as_str() else { continue };
                lives.entry(rule).or_default().ended.get_or_insert(line);
            }
            "rule.deny" => {
                let Some(rule) = detail["rule"].as_str() else { continue };
                lives.entry(rule).or_default().denied.push(line);
            }
            _ => {
                let Some(rule) = detail["decision"]["rule"].as_str() else { continue };
                lives.entry(rule).or_default().decided.push(line);
            }
        }
    }
    lives
}

/// Checks one rule by itself; returns it, if it could be read.
fn one(
    record: &RuleRecord,
    requests: &CheckedRequests,
    documents: &[DocumentId],
    report: &mut CheckReport,
) -> Option<ApprovalRule> {
    let rule: ApprovalRule = match serde_json::from_value(record.body.clone()) {
        Ok(rule) => rule,
        Err(error) => {
            report.find("rule.row", &record.id, format!("cannot be read: {error}"));
            return None;
        }
    };
    for (column, is_same) in columns(record, &rule) {
        if !is_same {
            let message = format!("its row and the rule itself do not have the same {column}");
            report.find("rule.row", &record.id, message);
        }
    }
    if let Some(document) = rule.document.as_ref().filter(|it| !documents.contains(it)) {
        let message = format!("it is for {document}, which does not exist");
        report.find("rule.document", &record.id, message);
    }
    if let Some(request) = rule.request.as_ref().filter(|it| !requests.is_known(it)) {
        let message = format!("it was made with {request}, which does not exist");
        report.find("rule.request", &record.id, message);
    }
    if rule.ended.as_ref().is_some_and(|ended| ended.at_ms < rule.at_ms) {
        report.find("rule", &record.id, "it ended before it was made");
    }
    let reaches = match rule.remember.scope {
        RuleScope::Session => true,
        RuleScope::Document => rule.document.is_some(),
        RuleScope::Workspace => rule.document.is_none(),
    };
    if !reaches {
        report.find("rule", &record.id, "it is for a document, and for none");
    }
    let limits_allowance = rule.remember.max_units.is_some() || rule.remember.unmarked;
    if rule.effect != RuleEffect::Allow && limits_allowance {
        report.find("rule", &record.id, "it does not allow, and says how much it allows");
    }
    Some(rule)
}

fn columns(record: &RuleRecord, rule: &ApprovalRule) -> [(&'static str, bool); 5] {
    [
        ("id", record.id == *rule.id()),
        ("document", record.document == rule.document),
        ("session", record.session == rule.session),
        ("time of making", record.created_ms == rule.at_ms),
        ("end", record.ended_ms == rule.ended.as_ref().map(|ended| ended.at_ms)),
    ]
}

impl RuleHistory<'_> {
    /// Checks that the log and the rule agree, and that the rule could decide what it decided.
    fn check(&self, rule: &ApprovalRule, tokens: &[TokenRecord], report: &mut CheckReport) {
        let id = rule.id();
        match self.made {
            None => report.find("rule.log", id, "the audit log does not say that it was made"),
            Some(line) if rule.by.user.as_str() != line.entry.actor => {
                let message = format!("{} says that {} made it", place(line), line.entry.actor);
                report.find("rule.log", id, message);
            }
            Some(_) => {}
        }
        if self.ended.is_some() != rule.ended.is_some() {
            let says = if self.ended.is_some() { "says" } else { "does not say" };
            report.find("rule.log", id, format!("the audit log {says} that it ended"));
        }
        for line in self.decided.iter().chain(&self.denied) {
            for message in self.untimely(line, rule) {
                report.find("rule.decision", &place(line), format!("{message} [{id}]"));
            }
        }
        for line in &self.decided {
            for message in wrongs(line, rule, tokens) {
                report.find("rule.decision", &place(line), format!("{message} [{id}]"));
            }
        }
        for line in self.denied.iter().filter(|_| rule.effect != RuleEffect::Deny) {
            let message = format!("a rule denied it that denies nothing [{id}]");
            report.find("rule.decision", &place(line), message);
        }
    }

    /// Returns the reasons why the rule was not in force at that time and in that document.
    fn untimely(&self, line: &AuditRecord, rule: &ApprovalRule) -> Vec<String> {
        let entry = &line.entry;
        let mut wrongs = Vec::new();
        if self.made.is_some_and(|made| made.seq > line.seq) || rule.at_ms > entry.at_ms {
            wrongs.push("a rule decided it before it was made".to_owned());
        }
        let ended = rule.ended.as_ref().map(|ended| ended.at_ms);
        if self.ended.is_some_and(|ended| ended.seq < line.seq)
            || ended.is_some_and(|ended| ended < entry.at_ms)
        {
            wrongs.push("a rule decided it after it had ended".to_owned());
        }
        if entry.document != rule.document {
            wrongs.push("a rule for another document decided it".to_owned());
        }
        wrongs
    }
}

/// Returns the reasons why a rule could not decide a request.
fn wrongs(line: &AuditRecord, rule: &ApprovalRule, tokens: &[TokenRecord]) -> Vec<String> {
    let entry = &line.entry;
    let by = &rule.by.user;
    let mut wrongs = Vec::new();
    if rule.effect != RuleEffect::Allow {
        wrongs.push("a rule decided it that allows nothing".to_owned());
    }
    if entry.actor != by.as_str() {
        wrongs.push(format!("a rule of {by} decided it in the name of {}", entry.actor));
    }
    if !tokens.iter().any(|token| could_decide(token, rule, entry.at_ms)) {
        wrongs.push(format!("a rule decided it when {by} could not"));
    }
    wrongs
}

/// Returns `true` if this token let the maker of a rule decide at that time.
fn could_decide(token: &TokenRecord, rule: &ApprovalRule, at_ms: u64) -> bool {
    let TokenRecord { user, former_user, name, role, document, login, .. } = token;
    // The person of a login may have had a role in the document at that time. Which roles were
    // given is stored as of today.
    let given = rule.document.iter().filter(|_| login.is_some());
    let granted = given.map(|document| (document.clone(), Role::Editor)).collect();
    let document = document.clone();
    let holder =
        Principal { document, granted, ..Principal::new(user.clone(), name.clone(), *role) };
    let before = |end: Option<u64>| end.is_none_or(|end| at_ms < end.saturating_add(MOMENT_MS));
    (*user == rule.by.user || former_user.as_ref() == Some(&rule.by.user))
        && (token.created_ms <= at_ms || token.id.as_str() == OWNER_TOKEN)
        && before(token.revoked_ms)
        && before(token.expires_ms)
        && holder.may(Action::Decide, rule.document.as_ref())
}

fn place(line: &AuditRecord) -> String {
    format!("audit line {}", line.seq)
}
