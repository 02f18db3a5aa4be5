//! Who wrote every span, worked out again along the log: whether it covers the text, and is what was kept.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use crate::approvals::{ApprovalRequest, Hunk, HunkStatus};
use crate::document::provenance::{
    Provenance, ProvenanceReplay, ReplayEntry, ServerAct, UpdatePlacements,
};
use crate::document::{ChangeSet, Text};
use crate::ids::{HunkId, RequestId, Version};
use crate::store::{DocumentRecord, StoreError, StoreInspection, UpdateRecord};

use super::CheckReport;
use super::requests::CheckedRequests;

/// Who wrote a document, as far as the log was followed.
pub(super) struct ProvenanceCheck {
    /// What is kept beside the updates.
    placements: BTreeMap<Version, UpdatePlacements>,
    /// How many updates accepted each change, and how many took it back.
    times: HashMap<HunkId, (u64, u64)>,
    /// What was worked out before, not reached yet.
    kept: VecDeque<(Version, String)>,
    /// Nothing behind damage.
    replay: Option<ProvenanceReplay>,
}

impl ProvenanceCheck {
    pub(super) async fn read(
        at: &mut StoreInspection,
        document: &DocumentRecord,
        report: &mut CheckReport,
    ) -> Result<Self, StoreError> {
        let id = &document.id;
        let mut placements = BTreeMap::new();
        for (version, body) in at.placements(id).await? {
            match serde_json::from_str(&body) {
                Ok(read) => drop(placements.insert(version, read)),
                Err(error) => report.find(
                    "provenance.row",
                    &format!("{id} version {version}"),
                    format!("what was put into the text cannot be read: {error}"),
                ),
            }
        }
        let (times, kept) = (times(&placements), at.provenance(id).await?.into());
        Ok(Self { placements, times, kept, replay: None })
    }

    /// The text the document was created with.
    pub(super) fn begin(&mut self, text: &Text) {
        let first = Provenance::beginning(text.len());
        self.replay = Some(ProvenanceReplay::new(first, Version(0), self.placements.values()));
    }

    /// What an update put into the text, if that is kept.
    pub(super) fn placed(&self, version: Version) -> Option<&UpdatePlacements> {
        self.placements.get(&version)
    }

    /// An update that could not be followed.
    pub(super) fn lose(&mut self) {
        self.replay = None;
    }

    /// The next update, which led to the text `after`.
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
            let message = "it came from a request, and what it put into the text is not kept";
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
            let message = "it says of words that it put them there, or that they had stood before, and that is not so";
            report.find("provenance", subject, message);
        }
        while let Some((_, body)) = self.kept.pop_front_if(|(kept, _)| *kept <= version) {
            match Provenance::from_json(&body) {
                Ok(kept) if kept == *replay.provenance() => {}
                Ok(_) => {
                    let message = "who wrote what, as it is kept, is not what the log leads to";
                    report.find("provenance.kept", subject, message);
                }
                Err(error) => {
                    let message = format!("who wrote what cannot be read: {error}");
                    report.find("provenance.kept", subject, message);
                }
            }
        }
    }

    /// What is left over when the log has ended.
    pub(super) fn end(&self, newest: Version, subject: &str, report: &mut CheckReport) {
        let beyond = self.placements.keys().chain(self.kept.iter().map(|(version, _)| version));
        if let Some(version) = beyond.into_iter().find(|version| **version > newest) {
            let message = format!("something is kept of version {version}, which is not there");
            report.find("provenance.row", subject, message);
        }
    }

    /// What a request did to the text, against what became of its changes.
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
                // What is taken back where the words had been typed again makes no update.
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

/// How many updates accepted each change, and how many took it back.
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

/// Whether accepting it changed the text.
fn changes(hunk: &Hunk) -> bool {
    hunk.inverse.iter().any(|part| part.base != part.insert)
}
