//! A document of the model database. What is committed is checked against the invariants.

use std::collections::{BTreeMap, BTreeSet};
use std::iter::once;

use copydesk_approvals::{ApprovalRequest, HunkStatus};
use copydesk_ids::{DocumentId, HunkId, RequestId, UserId, Version};
use copydesk_rooms::RoomError;
use copydesk_rooms::simulated_room::SimulatedRoom;
use copydesk_store::{RequestRecord, StoreOp, WriteBatch};

use super::committed_suggestions::CommittedSuggestions;
use super::committed_threads::CommittedThreads;
use super::sent_writes::WriteKey;
use crate::invariants::Invariant::{
    DecisionsPersist, NothingIsAppliedTwice, OnlyPeopleDecideSuggestions,
};
use crate::invariants::{CheckResult, ensure};
use crate::model_store::{ModelStore, stored_request};
use crate::reference_document::ReferenceDocument;

/// A stored document with its reference model, and what people did with it.
pub struct DatabaseDocument {
    pub store: ModelStore,
    pub reference: ReferenceDocument,
    pub threads: CommittedThreads,
    pub suggestions: CommittedSuggestions,
    /// The decision on each hunk.
    decided_hunks: BTreeMap<HunkId, String>,
    /// Number of times that each write was applied.
    applied: BTreeMap<WriteKey, usize>,
}

/// The decisions of people in a batch: by request, who decided.
type BatchDecisions = BTreeSet<(RequestId, UserId)>;

impl DatabaseDocument {
    pub fn new(id: DocumentId, text: &str) -> Self {
        Self {
            store: ModelStore::with_id(id, text),
            reference: ReferenceDocument::new(text),
            threads: CommittedThreads::default(),
            suggestions: CommittedSuggestions::default(),
            decided_hunks: BTreeMap::new(),
            applied: BTreeMap::new(),
        }
    }

    /// Returns how often a write was applied.
    pub fn applied(&self, key: &WriteKey) -> usize {
        self.applied.get(key).copied().unwrap_or_default()
    }

    /// Returns the newest request of a session, as `Store::newest_request` does.
    pub fn newest_request(&self, session: &str) -> Option<RequestRecord> {
        let requests = self.store.requests.values();
        requests.rev().find(|record| record.session.as_str() == session).cloned()
    }

    /// Loads the room, and checks its threads.
    pub fn load_room(&self) -> (Result<SimulatedRoom, RoomError>, CheckResult) {
        let room = self.store.load_room();
        let check = room.as_ref().map_or(Ok(()), |room| self.threads.check_loaded(&room.threads()));
        (room, check)
    }

    /// Commits a batch.
    pub fn commit(&mut self, batch: &WriteBatch) -> CheckResult {
        let version = self.store.version();
        let (mut touched, mut decisions) = (BTreeSet::new(), BatchDecisions::new());
        for op in batch.ops() {
            self.store.commit(once(op));
            match op {
                StoreOp::PutRequest(RequestRecord { id: request, .. })
                | StoreOp::PutRequestParts { request, .. } => {
                    touched.insert(request.clone());
                    let request = self.request(request);
                    if let Some(update) = self.suggestions.commit(&request)? {
                        self.apply(&update)?;
                    }
                }
                StoreOp::AppendDecision(record) => {
                    let Some(label) = record.body["note"].as_str() else { continue };
                    decisions.insert((record.request.clone(), record.user.clone()));
                    self.apply(&WriteKey::Decision(label.to_owned()))?;
                }
                _ => {}
            }
        }
        self.commit_text(version, batch, &decisions)?;
        touched.iter().try_for_each(|id| self.check_decided(id, &decisions))
    }

    fn request(&self, id: &RequestId) -> ApprovalRequest {
        stored_request(&self.store.requests[id]).finish()
    }

    fn apply(&mut self, key: &WriteKey) -> CheckResult {
        let count = self.applied.entry(key.clone()).or_default();
        *count += 1;
        ensure(NothingIsAppliedTwice, *count == 1, || format!("{key:?} was applied {count} times"))
    }

    /// Follows the updates of a batch, and the threads that it stores, each at its version.
    fn commit_text(
        &mut self,
        version: Version,
        batch: &WriteBatch,
        decisions: &BatchDecisions,
    ) -> CheckResult {
        let (threads, written) = self.threads.commit(batch.ops().iter())?;
        written.into_iter().try_for_each(|text| self.apply(&WriteKey::Comment(text)))?;
        for update in self.store.updates_between(version, self.store.version()) {
            let here = self.reference.version() as u64;
            for thread in threads.iter().filter(|thread| thread.version.0 == here) {
                self.threads.place(thread, &self.reference)?;
            }
            if let Some(origin) = update.origin.as_deref().map(RequestId::from) {
                let is_decided = decisions.iter().any(|(request, _)| *request == origin);
                let is_suggestion = self.request(&origin).suggestion.is_some();
                ensure(OnlyPeopleDecideSuggestions, is_decided || !is_suggestion, || {
                    format!("{origin} was applied, and nobody has decided that")
                })?;
            }
            self.reference.append(&update)?;
            self.threads.follow(&self.reference)?;
        }
        let newest = self.store.version();
        let at_newest = threads.iter().filter(|thread| thread.version == newest);
        at_newest.cloned().try_for_each(|thread| self.threads.place(&thread, &self.reference))
    }

    /// Checks that what was decided stays so, and that people have decided it.
    fn check_decided(&mut self, id: &RequestId, decisions: &BatchDecisions) -> CheckResult {
        let request = self.request(id);
        for hunk in &request.hunks {
            let is_decided = matches!(
                hunk.status,
                HunkStatus::Accepted | HunkStatus::Rejected | HunkStatus::Expired
            );
            let now = format!("{:?} {:?}", hunk.status, hunk.decided);
            match self.decided_hunks.get(&hunk.id) {
                Some(before) => ensure(DecisionsPersist, *before == now, || {
                    format!("{} was {before}, now it is {now}", hunk.id)
                })?,
                None if is_decided => {
                    let by =
                        hunk.decided.as_ref().map(|decided| (id.clone(), decided.by.user.clone()));
                    let by_person = by.is_some_and(|by| decisions.contains(&by));
                    ensure(
                        OnlyPeopleDecideSuggestions,
                        by_person || request.suggestion.is_none(),
                        || format!("nobody decided {hunk:?}"),
                    )?;
                    self.decided_hunks.insert(hunk.id.clone(), now);
                }
                None => {}
            }
        }
        let prefix = format!("{id}.");
        let mut decided = self.decided_hunks.keys().filter(|it| it.as_str().starts_with(&prefix));
        let gone = decided.find(|hunk| request.hunk(hunk).is_none());
        ensure(DecisionsPersist, gone.is_none(), || format!("{gone:?} was decided and is gone"))
    }
}
