//! Check of the provenance: worked out again along the log, it must cover the text and match the
//! stored one.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use copydesk_approvals::{ApprovalRequest, Hunk, HunkStatus};
use copydesk_document::provenance::{
    Provenance, ProvenanceReplay, ReplayEntry, ServerAct, UpdatePlacements,
};
use copydesk_document::{ChangeSet, Text};
use copydesk_ids::{HunkId, RequestId, Version};
use copydesk_store::{DocumentRecord, StoreInspection, StoreResult, UpdateRecord};

use super::CheckReport;
use super::requests::CheckedRequests;

/// Provenance of a document, as far as the log was followed.
pub(super) struct ProvenanceCheck {
    /// Passages stored beside the updates.
    placements: BTreeMap<Version, UpdatePlacements>,
    /// Numbers of updates that accepted each hunk and that took it back.
    times: HashMap<HunkId, (u64, u64)>,
    /// Stored provenance of versions that are not reached yet.
    kept: VecDeque<(Version, String)>,
    /// Replay of the log; `None` after damage.
    replay: Option<ProvenanceReplay>,
}

impl ProvenanceCheck {
    pub(super) async fn read(
        at: &mut StoreInspection,
        document: &DocumentRecord,
        report: &mut CheckReport,
    ) -> StoreResult<Self> {
        let id = &document.id;
        let mut placements = BTreeMap::new();
        for (version, body) in at.placements(id).await? {
            match serde_json::from_str(&body) {
                Ok(read) => drop(placements.insert(version, read)),
                Err(error) => report.find(
                    "provenance.row",
                    &format!("{id} version {version}"),
                    format!("the stored placements cannot be read: {error}"),
                ),
            }
        }
        let (times, kept) = (times(&placements), at.provenance(id).await?.into());
        Ok(Self { placements, times, kept, replay: None })
    }

    /// Begins with the text the document was created with.
    pub(super) fn begin(&mut self, text: &Text) {
        let first = Provenance::beginning(text.len());
        self.replay = Some(ProvenanceReplay::new(first, Version(0), self.placements.values()));
    }

    /// Returns the stored passages that an update put into the text, if there are any.
    pub(super) fn placed(&self, version: Version) -> Option<&UpdatePlacements> {
        self.placements.get(&version)
    }

    /// Stops the replay at an update that could not be followed.
    pub(super) fn lose(&mut self) {
        self.replay = None;
    }

    /// Follows the next update, which led to the text `after`.
    pub(super) fn follow(
        &mut self,
        update: &UpdateRecord,
        change: &ChangeSet,
        after: &Text,
        subject: &str,
        report: &mut CheckReport,
    ) {
        let Some(replay) = &mut self.replay else { return };
        let version = replay.version().next();
        let origin = update.origin.as_deref().map(RequestId::from);
        let placements = self.placements.get(&version);
        if origin.is_some() && placements.is_none() {
            let message = "it came from a request, and its placements are not stored";
            report.find("provenance.row", subject, message);
        }
        let (author, at_ms) = (&update.author, update.at_ms);
        let entry = ReplayEntry { change, author, at_ms, origin: origin.as_ref(), placements };
        let followed = replay.follow(&entry);
        if followed.is_err() || replay.provenance().len() != after.len() {
            report.find("provenance", subject, "the spans do not cover the text");
            return self.lose();
        }
        if replay.misplaced().last() == Some(&version) {
            let message = "stored placements do not match the text";
            report.find("provenance", subject, message);
        }
        while let Some((_, body)) = self.kept.pop_front_if(|(kept, _)| *kept <= version) {
            match Provenance::from_json(&body) {
                Ok(kept) if kept == *replay.provenance() => {}
                Ok(_) => {
                    let message = "stored provenance differs from the log";
                    report.find("provenance.kept", subject, message);
                }
                Err(error) => {
                    let message = format!("the stored provenance cannot be read: {error}");
                    report.find("provenance.kept", subject, message);
                }
            }
        }
    }

    /// Reports stored data of versions that the log does not reach.
    pub(super) fn end(&self, newest: Version, subject: &str, report: &mut CheckReport) {
        let beyond = self.placements.keys().chain(self.kept.iter().map(|(version, _)| version));
        if let Some(version) = beyond.into_iter().find(|version| **version > newest) {
            let message = format!("provenance for missing version {version}");
            report.find("provenance.row", subject, message);
        }
    }

    /// Compares the effect of a request on the text with the status of its hunks.
    pub(super) fn outcome(
        &self,
        request: &ApprovalRequest,
        requests: &CheckedRequests,
        report: &mut CheckReport,
    ) {
        let was_undone = requests.times(request.id().as_str(), "request.undo") > 0;
        for hunk in &request.hunks {
            let (accepted, taken_back) = self.times.get(&hunk.id).copied().unwrap_or_default();
            let message = match hunk.status {
                HunkStatus::Accepted if changes(hunk) && accepted <= taken_back => {
                    "is accepted, and no update of the document brought it"
                }
                // A change that is taken back where the words had been typed again makes no update.
                _ if was_undone => continue,
                HunkStatus::Accepted if accepted > 1 => "was applied twice",
                HunkStatus::Accepted => continue,
                _ if accepted > taken_back => "is not accepted, and an update brought it",
                _ => continue,
            };
            report.find("request.update", &format!("{} change {}", request.id(), hunk.id), message);
        }
    }
}

/// Counts, for each hunk, the updates that accepted it and those that took it back.
fn times(placements: &BTreeMap<Version, UpdatePlacements>) -> HashMap<HunkId, (u64, u64)> {
    let mut times: HashMap<HunkId, (u64, u64)> = HashMap::new();
    for UpdatePlacements { act, placed, .. } in placements.values() {
        let hunks: BTreeSet<&HunkId> = placed.iter().filter_map(|it| it.hunk.as_ref()).collect();
        for hunk in hunks {
            let (accepted, taken_back) = times.entry(hunk.clone()).or_default();
            match act {
                ServerAct::Accepted => *accepted += 1,
                ServerAct::TakenBack => *taken_back += 1,
                ServerAct::Restored(_) => {}
            }
        }
    }
    times
}

/// Returns `true` if accepting the hunk changed the text.
fn changes(hunk: &Hunk) -> bool {
    hunk.inverse.iter().any(|part| part.base != part.insert)
}
