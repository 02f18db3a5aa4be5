//! Check of a document's log, replayed from its first text: every update and, at its version,
//! everything that has positions.

use std::collections::{BTreeMap, VecDeque};

use copydesk_approvals::{ApprovalRequest, StoredRequest};
use copydesk_document::{ChangeSet, Text};
use copydesk_ids::{ClientId, RequestId, UserId, Version};
use copydesk_store::{DocumentRecord, StoreInspection, StoreResult, UpdateRecord, text_hash};

use super::CheckReport;
use super::comments::CheckedThreads;
use super::provenance::ProvenanceCheck;
use super::requests::CheckedRequests;

/// Number of updates that are read at a time.
const PAGE: u32 = 2_000;

/// Replay of one document's log.
struct LogWalk<'a> {
    document: &'a DocumentRecord,
    requests: &'a CheckedRequests,
    clients: BTreeMap<ClientId, UserId>,
    /// Snapshots that are not reached yet, oldest first.
    snapshots: VecDeque<(Version, String)>,
    /// Text at `version`; `None` after damage, until the next snapshot.
    text: Option<Text>,
    version: Version,
    /// Open requests, rebased along the log.
    open: Vec<ApprovalRequest>,
    /// Requests stored in parts, from the version of the oldest to that of the newest.
    arriving: Vec<StoredRequest>,
    authors: ProvenanceCheck,
    threads: CheckedThreads,
}

/// Replays the log of a document. `first_text` is the hash of the text that it was made with.
pub(super) async fn walk(
    at: &mut StoreInspection,
    document: &DocumentRecord,
    first_text: Option<String>,
    requests: &CheckedRequests,
    report: &mut CheckReport,
) -> StoreResult<()> {
    let id = &document.id;
    let mut walk = LogWalk {
        document,
        requests,
        clients: at.clients(id).await?,
        snapshots: at.snapshots(id).await?.into(),
        text: None,
        version: Version(0),
        open: Vec::new(),
        arriving: Vec::new(),
        authors: ProvenanceCheck::read(at, document, report).await?,
        threads: CheckedThreads::read(at, document, report).await,
    };
    walk.begin(first_text, report);
    loop {
        let page = at.log(id, walk.version, PAGE).await?;
        if page.is_empty() {
            break;
        }
        for (version, update) in page {
            report.seen.updates += 1;
            walk.step(version, &update, report);
        }
    }
    walk.end(report);
    Ok(())
}

impl LogWalk<'_> {
    fn find(&self, report: &mut CheckReport, code: &'static str, message: impl Into<String>) {
        report.find(code, &format!("{} version {}", self.document.id, self.version), message);
    }

    fn begin(&mut self, first_text: Option<String>, report: &mut CheckReport) {
        match self.snapshots.front() {
            Some((Version(0), text)) if first_text.is_some_and(|it| it != text_hash(text)) => {
                let message = "the text is not the one the document was created with";
                self.find(report, "log.start", message);
            }
            Some((Version(0), _)) => {}
            _ => {
                let message = "the text the document was created with is not there";
                self.find(report, "log.start", message);
            }
        }
        self.arrive(report);
        if let Some(text) = &self.text {
            self.authors.begin(text);
        }
    }

    /// Follows one more update, which is stored as making `version`.
    fn step(&mut self, version: Version, update: &UpdateRecord, report: &mut CheckReport) {
        if version != self.version.next() {
            let next = self.version.next();
            let message = format!("update {next} is missing; the log goes on with {version}");
            self.find(report, "log.gap", message);
            self.text = None;
            self.authors.lose();
        }
        self.version = version;
        self.author(update, report);
        if let Some(mut text) = self.text.take() {
            match change(update).and_then(|change| {
                change.apply(&mut text).map_err(|error| error.to_string())?;
                Ok(change)
            }) {
                Ok(change) => {
                    let subject = format!("{} version {version}", self.document.id);
                    self.follow(&change, &text, update);
                    let wrong = self.authors.placed(version).map(|placements| {
                        let document = &self.document.id;
                        self.requests.wrong_update(document, update, placements, &text)
                    });
                    for message in wrong.into_iter().flatten() {
                        report.find("audit.update", &subject, message);
                    }
                    self.authors.follow(update, &change, &text, &subject, report);
                    self.text = Some(text);
                }
                Err(reason) => {
                    let message = format!("the update cannot be applied to the text: {reason}");
                    self.find(report, "log.update", message);
                    self.authors.lose();
                }
            }
        }
        self.arrive(report);
    }

    /// Checks the author of the update and the request it came from.
    fn author(&mut self, update: &UpdateRecord, report: &mut CheckReport) {
        let Some(origin) = update.origin.as_deref().map(RequestId::from) else {
            // Private documents are brought up to date by the server.
            let is_own = update.client.as_str().starts_with("ai:");
            match self.clients.get(&update.client) {
                Some(owner) if *owner == update.author => {}
                Some(owner) => {
                    let message = format!(
                        "it is by {}, but the editor {} belongs to {owner}",
                        update.author, update.client
                    );
                    self.find(report, "log.author", message);
                }
                None if is_own => {}
                None => {
                    let message = format!("the editor {} belongs to nobody", update.client);
                    self.find(report, "log.author", message);
                }
            }
            return;
        };
        if !self.requests.is_known(&origin) {
            let message = format!("it was caused by {origin}, which does not exist");
            self.find(report, "log.origin", message);
        }
    }

    fn follow(&mut self, change: &ChangeSet, after: &Text, update: &UpdateRecord) {
        for request in &mut self.arriving {
            request.advance(|request| request.rebase(change, after, 0));
        }
        let origin = update.origin.as_deref();
        for request in &mut self.open {
            if origin != Some(request.id().as_str()) {
                request.rebase(change, after, 0);
            }
        }
    }

    /// Compares the stored data of this version with the text.
    fn arrive(&mut self, report: &mut CheckReport) {
        while let Some((version, kept)) =
            self.snapshots.pop_front_if(|(version, _)| *version <= self.version)
        {
            if version < self.version {
                continue;
            }
            let kept = Text::new(&kept);
            match &self.text {
                Some(text) if *text != kept => {
                    self.find(report, "snapshot", "the stored text differs from the log");
                }
                Some(_) => {}
                // After damage, or at the very start.
                None => self.text = Some(kept),
            }
        }
        self.threads.arrive(self.version, self.text.as_ref(), report);
        let Some(text) = &self.text else { return };
        let in_parts = self.requests.in_parts_of(&self.document.id);
        let begun = in_parts.iter().filter(|request| request.reached().version == self.version);
        self.arriving.extend(begun.cloned());
        let complete = |request: &mut StoredRequest| request.newest() <= self.version;
        let complete = self.arriving.extract_if(.., complete).map(StoredRequest::finish);
        let is_whole = |request: &&ApprovalRequest| {
            in_parts.iter().all(|parts| parts.reached().id() != request.id())
        };
        let here = self.requests.of(&self.document.id).iter().filter(is_whole);
        let here = here.filter(|request| request.version == self.version).cloned();
        for request in complete.chain(here) {
            for message in request.misfits(text) {
                report.find(
                    "request.fit",
                    request.id(),
                    format!("{message}, at version {}", self.version),
                );
            }
            if request.status.is_open() {
                self.open.push(request);
            }
        }
        self.frozen(report);
    }

    /// Checks that the frozen ranges, which are stored as positions of one version, are places in
    /// the text.
    fn frozen(&self, report: &mut CheckReport) {
        let (Some(text), settings) = (&self.text, &self.document.settings) else { return };
        if settings["version"].as_u64().unwrap_or(0) != self.version.0 {
            return;
        }
        for range in settings["own"]["frozen"].as_array().into_iter().flatten() {
            let place =
                |index: usize| range[index].as_u64().and_then(|at| usize::try_from(at).ok());
            let fits =
                place(0).zip(place(1)).is_some_and(|(from, to)| text.slice(from..to).is_ok());
            if !fits {
                self.find(
                    report,
                    "document.frozen",
                    format!("the frozen range {range} is not in the text"),
                );
            }
        }
    }

    fn end(self, report: &mut CheckReport) {
        let newest = self.document.version;
        if self.version != newest {
            let message = format!("the log ends here, but the document is at version {newest}");
            self.find(report, "log.end", message);
        }
        if let Some((version, _)) = self.snapshots.front() {
            let message =
                format!("a text is stored for version {version}, which the log does not reach");
            self.find(report, "snapshot", message);
        }
        self.authors.end(newest, self.document.id.as_str(), report);
        self.threads.end(report);
        for request in self.requests.of(&self.document.id) {
            self.outcome(request, report);
        }
        let Some(text) = &self.text else { return };
        for request in &self.open {
            let still = request.misfits(text);
            for message in still {
                report.find(
                    "request.fit",
                    request.id(),
                    format!("{message}, at the newest version"),
                );
            }
            if !request.status.is_open() {
                let message = "it is open, but nothing of it is left to decide";
                report.find("request.fit", request.id(), message);
            }
        }
    }

    /// Compares the status of a request with its effect on the text.
    fn outcome(&self, request: &ApprovalRequest, report: &mut CheckReport) {
        if request.version > self.document.version {
            let message =
                format!("its positions are of version {}, which does not exist", request.version);
            report.find("request.fit", request.id(), message);
        }
        if self.document.deleted && request.status.is_open() {
            report.find(
                "request.document",
                request.id(),
                "it is open, and its document is deleted",
            );
        }
        self.authors.outcome(request, self.requests, report);
    }
}

fn change(update: &UpdateRecord) -> Result<ChangeSet, String> {
    use copydesk_document::ChangeLimits;
    ChangeSet::parse(&update.changes, &ChangeLimits::NONE).map_err(|error| error.to_string())
}
