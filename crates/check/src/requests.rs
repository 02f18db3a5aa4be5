//! Check of requests: each row must match its request, and each request must be consistent in
//! itself.

use std::collections::{HashMap, HashSet};

use copydesk_approvals::{ApprovalRequest, HunkDecision, StoredRequest};
use copydesk_document::Text;
use copydesk_document::provenance::UpdatePlacements;
use copydesk_ids::{DocumentId, RequestId};
use copydesk_store::{AuditCounts, DecisionRecord, RequestRecord, StoreInspection, UpdateRecord};

use super::CheckReport;
use super::decisions::AuditLines;

/// All requests that could be read, by the document that they would change.
pub(super) struct CheckedRequests {
    by_document: HashMap<DocumentId, Vec<ApprovalRequest>>,
    /// Those of them that are stored in parts, whose positions may be of different versions.
    in_parts: HashMap<DocumentId, Vec<StoredRequest>>,
    known: HashSet<RequestId>,
    /// Numbers of actions on requests according to the audit log.
    accounted: AuditCounts,
    /// Lines of the audit log about requests.
    lines: AuditLines,
}

impl CheckedRequests {
    pub(super) async fn read(
        at: &mut StoreInspection,
        audit_facts: Option<(AuditCounts, AuditLines)>,
        report: &mut CheckReport,
    ) -> Self {
        let mut requests = Self {
            by_document: HashMap::new(),
            in_parts: HashMap::new(),
            known: HashSet::new(),
            accounted: AuditCounts::new(),
            lines: AuditLines::default(),
        };
        let undos = at.unfinished_undos().await;
        let undos = report.read("request.undo", "the undos in progress", undos).unwrap_or_default();
        let mut after = Vec::new();
        let decisions = decisions(at, report).await;
        let records = at.requests().await;
        for record in report.read("request.row", "the requests", records).into_iter().flatten() {
            report.seen.requests += 1;
            let Some(record) = report.read("request.row", "a request", record) else { continue };
            requests.known.insert(record.id.clone());
            let none = Vec::new();
            let taken = decisions.get(&record.id).unwrap_or(&none);
            let Some((stored, request)) = one(&record, taken, report) else { continue };
            if let Some((_, lines)) = &audit_facts {
                lines.check(&request, report);
            }
            after.extend(AfterEnd::of(&request));
            if let Some(document) = record.document {
                if !record.changed.is_empty() {
                    requests.in_parts.entry(document.clone()).or_default().push(stored);
                }
                requests.by_document.entry(document).or_default().push(request);
            }
        }
        requests.check_aftermaths(&after, &undos, report);
        let Some((accounted, lines)) = audit_facts else { return requests };
        (requests.accounted, requests.lines) = (accounted, lines);
        for AfterEnd { id, is_undone, .. } in after.iter().filter(|it| it.is_in_inbox) {
            match (is_undone, requests.times(id.as_str(), "request.undo")) {
                (true, 1) | (false, 0) => {}
                (true, lines) => {
                    let message = format!("it was undone, and the audit log accounts for {lines}");
                    report.find("audit.undo", id, message);
                }
                (false, _) => {
                    report.find("audit.undo", id, "the audit log accounts for an undo of it");
                }
            }
        }
        for (request, taken) in &decisions {
            requests.lines.check_rows(request.as_str(), taken, report);
            let lines = requests.times(request.as_str(), "request.decide");
            if lines != taken.len() as u64 {
                let decided = taken.len();
                let message =
                    format!("{decided} decisions were taken, the audit log accounts for {lines}");
                report.find("audit.decisions", request, message);
            }
        }
        requests
    }

    /// Checks the actions on requests after they had ended: undone or proposed again.
    fn check_aftermaths(&self, after: &[AfterEnd], undos: &[RequestId], report: &mut CheckReport) {
        for AfterEnd { id, is_being_undone, others, .. } in after {
            if *is_being_undone != undos.contains(id) {
                let message = if *is_being_undone {
                    "an undo in progress is missing from the list of undos"
                } else {
                    "the list of undos has one that is not in progress"
                };
                report.find("request.undo", id, message);
            }
            for other in others.iter().filter(|other| !self.known.contains(*other)) {
                let message =
                    format!("it was proposed again by way of {other}, which does not exist");
                report.find("request.again", id, message);
            }
        }
        for id in undos.iter().filter(|id| after.iter().all(|it| it.id != **id)) {
            report.find("request.undo", id, "the list of undos has one that is not in progress");
        }
    }

    /// Returns the requests about a document that are stored in parts.
    pub(super) fn in_parts_of(&self, document: &DocumentId) -> &[StoredRequest] {
        self.in_parts.get(document).map_or(&[], Vec::as_slice)
    }

    pub(super) fn of(&self, document: &DocumentId) -> &[ApprovalRequest] {
        self.by_document.get(document).map_or(&[], Vec::as_slice)
    }

    /// Returns how often an action was taken on a request, according to the audit log.
    pub(super) fn times(&self, request: &str, action: &str) -> u64 {
        let key = (request.to_owned(), action.to_owned());
        self.accounted.get(&key).copied().unwrap_or_default()
    }

    /// Returns the contradictions between an update of a request and the audit log, if that request
    /// is about this document.
    pub(super) fn wrong_update(
        &self,
        document: &DocumentId,
        update: &UpdateRecord,
        placements: &UpdatePlacements,
        after: &Text,
    ) -> Vec<String> {
        let origin = update.origin.as_deref();
        let of = self.of(document).iter().find(|it| Some(it.id().as_str()) == origin);
        of.map(|request| self.lines.check_update(update, placements, request, after))
            .unwrap_or_default()
    }

    pub(super) fn is_known(&self, request: &RequestId) -> bool {
        self.known.contains(request)
    }

    /// Reports requests about documents that do not exist.
    pub(super) fn check_orphans(&self, documents: &[DocumentId], report: &mut CheckReport) {
        for (document, requests) in &self.by_document {
            if documents.contains(document) {
                continue;
            }
            for request in requests {
                let message = format!("it is about {document}, which does not exist");
                report.find("request.document", request.id(), message);
            }
        }
    }
}

/// Actions on a request after it had ended.
struct AfterEnd {
    id: RequestId,
    /// `true` if the request has no document, and so is in the workspace inbox.
    is_in_inbox: bool,
    is_undone: bool,
    is_being_undone: bool,
    /// Requests that this one repeats, or that repeat it.
    others: Vec<RequestId>,
}

impl AfterEnd {
    /// Returns the actions after the end; `None` if there cannot be any.
    fn of(request: &ApprovalRequest) -> Option<Self> {
        let others = request.proposal.again_of.iter().chain(&request.aftermath.again_as).cloned();
        let aftermath = Self {
            id: request.id().clone(),
            is_in_inbox: request.proposal.document.is_none(),
            is_undone: request.undone().is_some(),
            is_being_undone: request.is_being_undone(),
            others: others.collect(),
        };
        let is_any = request.aftermath.reversal.is_some() || !aftermath.others.is_empty();
        (is_any || aftermath.is_in_inbox).then_some(aftermath)
    }
}

/// Reads all decisions, by request.
async fn decisions(
    at: &mut StoreInspection,
    report: &mut CheckReport,
) -> HashMap<RequestId, Vec<DecisionRecord>> {
    let mut decisions: HashMap<RequestId, Vec<DecisionRecord>> = HashMap::new();
    let rows = at.decisions().await;
    for row in report.read("decision.read", "the decisions", rows).into_iter().flatten() {
        if let Some(row) = report.read("decision.read", "a decision", row) {
            decisions.entry(row.request.clone()).or_default().push(row);
        }
    }
    decisions
}

/// Checks one request by itself; returns it as it is stored and with all its parts, if it could be
/// read.
fn one(
    record: &RequestRecord,
    taken: &[DecisionRecord],
    report: &mut CheckReport,
) -> Option<(StoredRequest, ApprovalRequest)> {
    let stored = match StoredRequest::read(&record.body, record.parts()) {
        Ok(stored) => stored,
        Err(error) => {
            report.find("request.row", &record.id, format!("cannot be read: {error}"));
            return None;
        }
    };
    let request = stored.clone().finish();
    for (column, is_same) in columns(record, &request) {
        if !is_same {
            let message = format!("its row and the request itself do not have the same {column}");
            report.find("request.row", &record.id, message);
        }
    }
    for message in request.contradictions() {
        report.find("request", &record.id, message);
    }
    let decided = request.hunks.iter().filter_map(|hunk| Some((hunk, hunk.decided.as_ref()?)));
    for (hunk, HunkDecision { by, .. }) in decided {
        if !taken.iter().any(|row| row.user == by.user) {
            let message = format!("no decision by {} is stored that decided it", by.user);
            report.find("request.decision", &format!("{} change {}", record.id, hunk.id), message);
        }
    }
    Some((stored, request))
}

fn columns(record: &RequestRecord, request: &ApprovalRequest) -> [(&'static str, bool); 7] {
    let proposal = &request.proposal;
    [
        ("id", record.id == proposal.origin.id),
        ("document", record.document == proposal.document),
        ("session", record.session == proposal.origin.session),
        ("run", record.run == proposal.origin.run),
        ("status", record.status == request.status.as_str()),
        ("openness", record.open == request.status.is_open()),
        ("time of expiry", record.expires_ms == request.clock.expires_ms),
    ]
}
