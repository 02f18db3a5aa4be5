//! A model of the store: it applies all operations of a batch, or none.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use copydesk_approvals::StoredRequest;
use copydesk_document::provenance::{
    Provenance, ProvenanceReplay, ReplayEntry, SourceSpan, SpanSource, UpdatePlacements,
};
use copydesk_document::{ChangeLimits, ChangeSet, Text, Update};
use copydesk_ids::{ClientId, DocumentId, RequestId, RuleId, ThreadId, UserId, Version};
use copydesk_rooms::RoomError;
use copydesk_rooms::simulated_room::SimulatedRoom;
use copydesk_store::{
    DocumentRecord, LoadedDocument, RequestRecord, RuleRecord, StoreOp, ThreadRecord, UpdateRecord,
};
use serde_json::json;

/// A model of the store of one document.
pub struct ModelStore {
    record: DocumentRecord,
    initial_text: String,
    pub updates: Vec<UpdateRecord>,
    snapshots: BTreeMap<Version, String>,
    placements: BTreeMap<Version, UpdatePlacements>,
    pub requests: BTreeMap<RequestId, RequestRecord>,
    /// Number of decisions on each request.
    pub decision_counts: BTreeMap<RequestId, usize>,
    clients: BTreeMap<ClientId, UserId>,
    rules: BTreeMap<RuleId, RuleRecord>,
    threads: BTreeMap<ThreadId, ThreadRecord>,
    /// Rules and the requests they decided, by the recorded decisions.
    pub rule_decisions: BTreeSet<(RequestId, RuleId)>,
    /// Requests that were created, by the audit log.
    pub created: BTreeSet<RequestId>,
}

/// Reads a stored request, whose parts may be of different versions.
pub fn stored_request(record: &RequestRecord) -> StoredRequest {
    StoredRequest::read(&record.body, record.parts()).unwrap()
}

impl ModelStore {
    pub fn new(text: &str) -> Self {
        Self::with_id("doc_1".into(), text)
    }

    /// Creates the store of a document with this identifier.
    pub fn with_id(id: DocumentId, text: &str) -> Self {
        let record = DocumentRecord {
            id,
            title: "Draft".into(),
            created_ms: 0,
            updated_ms: 0,
            version: Version(0),
            settings: json!({}),
            unlisted_owner: None,
            deleted: false,
            purged: false,
        };
        Self {
            record,
            initial_text: text.to_owned(),
            updates: Vec::new(),
            snapshots: BTreeMap::new(),
            placements: BTreeMap::new(),
            requests: BTreeMap::new(),
            decision_counts: BTreeMap::new(),
            clients: BTreeMap::new(),
            rules: BTreeMap::new(),
            threads: BTreeMap::new(),
            rule_decisions: BTreeSet::new(),
            created: BTreeSet::new(),
        }
    }

    pub fn commit<'a>(&mut self, ops: impl Iterator<Item = &'a StoreOp>) {
        for op in ops {
            match op {
                StoreOp::AppendUpdates { from, updates, .. } => {
                    assert_eq!(*from, self.version(), "the log has a gap");
                    self.updates.extend(updates.iter().cloned());
                }
                StoreOp::PutRequest(record) => {
                    self.requests.insert(record.id.clone(), record.clone());
                }
                StoreOp::PutRequestParts { request, expires_ms, parts } => {
                    let record = self.requests.get_mut(request).unwrap();
                    assert!(record.open, "only open requests are stored in parts");
                    record.expires_ms = *expires_ms;
                    for part in parts {
                        record.changed.retain(|known| known.hunk != part.hunk);
                        record.changed.push(part.clone());
                    }
                }
                StoreOp::PutDocument(record) => self.record = record.clone(),
                StoreOp::PutSnapshot { version, text, .. } => {
                    self.snapshots.insert(*version, text.clone());
                }
                StoreOp::PutPlacements { version, body, .. } => {
                    let read = serde_json::from_value(body.clone()).unwrap();
                    assert_eq!(
                        self.placements.insert(*version, read),
                        None,
                        "the placements of a version were stored twice"
                    );
                }
                StoreOp::AppendDecision(record) => {
                    *self.decision_counts.entry(record.request.clone()).or_default() += 1;
                    if let Some(rule) = record.body["rule"].as_str() {
                        self.rule_decisions.insert((record.request.clone(), RuleId::from(rule)));
                    }
                }
                StoreOp::PutRule(record) => {
                    self.rules.insert(record.id.clone(), record.clone());
                }
                StoreOp::PutThread(record) => {
                    self.threads.insert(record.id.clone(), record.clone());
                }
                StoreOp::MoveThreads(anchors) => {
                    for moved in anchors {
                        let Some(thread) = self.threads.get_mut(&moved.thread) else { continue };
                        (thread.version, thread.anchor) = (moved.version, moved.anchor.clone());
                    }
                }
                StoreOp::RemoveThread(id) => drop(self.threads.remove(id)),
                StoreOp::ClaimClient { client, user, .. } => {
                    self.clients.insert(client.clone(), user.clone());
                }
                StoreOp::Audit(entry) if entry.action == "request.create" => {
                    let request = entry.request.clone().unwrap();
                    assert!(self.created.insert(request), "a request was created twice");
                }
                _ => {}
            }
        }
    }

    pub fn version(&self) -> Version {
        Version(self.updates.len() as u64)
    }

    /// Loads the room as a restart does.
    pub fn load_room(&self) -> Result<SimulatedRoom, RoomError> {
        let open: Vec<_> = self.requests.values().filter(|it| it.open).cloned().collect();
        let threads: Vec<_> = self.threads.values().cloned().collect();
        let settings = &self.record.settings;
        let floor = SimulatedRoom::floor(settings, &open, &threads, self.version())?;
        let start = self.snapshots.range(..=floor).next_back();
        let (snapshot, text) =
            start.map_or((Version(0), &self.initial_text), |(at, text)| (*at, text));
        let record = DocumentRecord { version: self.version(), ..self.record.clone() };
        let updates = self.updates[snapshot.0 as usize..].to_vec();
        let rules = self.rules.values().filter(|rule| rule.ended_ms.is_none()).cloned().collect();
        let loaded = LoadedDocument { record, snapshot, text: text.clone(), updates };
        SimulatedRoom::load(loaded, &open, rules, &threads)
    }

    /// Returns the updates between two versions.
    pub fn updates_between(&self, since: Version, until: Version) -> Vec<Arc<Update>> {
        let range = self.updates.get(since.0 as usize..until.0 as usize).unwrap_or_default();
        let to_update = |it: &UpdateRecord| Update {
            client: it.client.clone(),
            changes: it.changes.clone(),
            origin: it.origin.clone(),
        };
        range.iter().map(|it| Arc::new(to_update(it))).collect()
    }

    /// Returns the updates after a version.
    pub fn updates_since(&self, version: Version) -> &[UpdateRecord] {
        &self.updates[version.0 as usize..]
    }

    /// Checks that snapshots have the text of their version, and that the source of all text is
    /// known.
    pub fn check(&self, text: impl Fn(usize) -> Text) {
        self.check_provenance(&text(self.updates.len()));
        for (version, loaded) in &self.snapshots {
            assert_eq!(
                *loaded,
                text(version.0 as usize).to_string(),
                "a snapshot has another text"
            );
        }
    }

    fn check_provenance(&self, text: &Text) {
        let initial_text = Provenance::beginning(Text::new(&self.initial_text).len());
        let mut replay = ProvenanceReplay::new(initial_text, Version(0), self.placements.values());
        for update in &self.updates {
            let change = ChangeSet::parse(&update.changes, &ChangeLimits::NONE).unwrap();
            let origin = update.origin.as_deref().map(RequestId::from);
            let placements = self.placements.get(&replay.version().next());
            assert_eq!(
                origin.is_some(),
                placements.is_some(),
                "an accept has no placements, or another update has some"
            );
            let rule = placements.and_then(|it| it.rule.clone());
            let by_rule = origin.clone().zip(rule);
            assert!(
                by_rule.is_none_or(|it| self.rule_decisions.contains(&it)),
                "no decision of this rule is recorded"
            );
            let (author, at_ms) = (&update.author, update.at_ms);
            let origin = origin.as_ref();
            replay
                .follow(&ReplayEntry { change: &change, author, at_ms, origin, placements })
                .unwrap();
        }
        assert_eq!(replay.misplaced(), [], "placements are wrong");
        let spans = replay.provenance().spans(0..text.len());
        assert_eq!(
            spans.last().map_or(0, |span| span.to),
            text.len(),
            "the source of some text is not known"
        );
        assert!(
            spans.iter().all(|span| text.is_boundary(span.to)),
            "a span ends inside a character"
        );
        let unknown =
            |span: &SourceSpan| matches!(&span.source, SpanSource::Request { hunk: None, .. });
        assert!(!spans.iter().any(unknown), "text of a request has no hunk");
    }
}
