//! What the store would have: everything of a batch, or nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use copydesk::approvals::StoredRequest;
use copydesk::document::provenance::{
    Provenance, ProvenanceReplay, ReplayEntry, SourceSpan, SpanSource, UpdatePlacements,
};
use copydesk::document::{ChangeLimits, ChangeSet, Text, Update};
use copydesk::ids::{ClientId, DocumentId, RequestId, RuleId, UserId, Version};
use copydesk::rooms::RoomError;
use copydesk::rooms::simulated_room::SimulatedRoom;
use copydesk::store::{
    DocumentRecord, LoadedDocument, RequestRecord, RuleRecord, StoreOp, UpdateRecord,
};
use serde_json::json;

pub struct Disk {
    record: DocumentRecord,
    first: String,
    pub updates: Vec<UpdateRecord>,
    snapshots: BTreeMap<Version, String>,
    placements: BTreeMap<Version, UpdatePlacements>,
    pub requests: BTreeMap<RequestId, RequestRecord>,
    /// How often each request was decided.
    pub decisions: BTreeMap<RequestId, usize>,
    clients: BTreeMap<ClientId, UserId>,
    rules: BTreeMap<RuleId, RuleRecord>,
    /// Which rules decided which requests, by the decisions on record and by the updates they made.
    pub ruled: BTreeSet<(RequestId, RuleId)>,
    /// Requests that were ever announced, by the audit log.
    pub created: BTreeSet<RequestId>,
}

/// A request as it is stored, whose parts may be of different versions.
pub fn stored_request(record: &RequestRecord) -> StoredRequest {
    StoredRequest::read(&record.body, record.parts()).unwrap()
}

impl Disk {
    pub fn new(text: &str) -> Self {
        Self::of("doc_1".into(), text)
    }

    /// That of a document of this name.
    pub fn of(id: DocumentId, text: &str) -> Self {
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
            first: text.to_owned(),
            updates: Vec::new(),
            snapshots: BTreeMap::new(),
            placements: BTreeMap::new(),
            requests: BTreeMap::new(),
            decisions: BTreeMap::new(),
            clients: BTreeMap::new(),
            rules: BTreeMap::new(),
            ruled: BTreeSet::new(),
            created: BTreeSet::new(),
        }
    }

    pub fn keep<'a>(&mut self, ops: impl Iterator<Item = &'a StoreOp>) {
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
                    assert!(record.open, "only what is open is stored in parts");
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
                    assert_eq!(self.placements.insert(*version, read), None, "kept twice");
                }
                StoreOp::AppendDecision(record) => {
                    *self.decisions.entry(record.request.clone()).or_default() += 1;
                    if let Some(rule) = record.body["rule"].as_str() {
                        self.ruled.insert((record.request.clone(), RuleId::from(rule)));
                    }
                }
                StoreOp::PutRule(record) => {
                    self.rules.insert(record.id.clone(), record.clone());
                }
                StoreOp::ClaimClient { client, user, .. } => {
                    self.clients.insert(client.clone(), user.clone());
                }
                StoreOp::Audit(entry) if entry.action == "request.create" => {
                    let request = entry.request.clone().unwrap();
                    assert!(self.created.insert(request), "a request was announced twice");
                }
                _ => {}
            }
        }
    }

    pub fn version(&self) -> Version {
        Version(self.updates.len() as u64)
    }

    /// The room as a restart finds it.
    pub fn room(&self) -> Result<SimulatedRoom, RoomError> {
        let open: Vec<_> = self.requests.values().filter(|it| it.open).cloned().collect();
        let floor = SimulatedRoom::floor(&self.record.settings, &open, self.version())?;
        let start = self.snapshots.range(..=floor).next_back();
        let (snapshot, text) = start.map_or((Version(0), &self.first), |(at, text)| (*at, text));
        let record = DocumentRecord { version: self.version(), ..self.record.clone() };
        let updates = self.updates[snapshot.0 as usize..].to_vec();
        let rules = self.rules.values().filter(|rule| rule.ended_ms.is_none()).cloned().collect();
        let kept = LoadedDocument { record, snapshot, text: text.clone(), updates };
        SimulatedRoom::load(kept, &open, rules)
    }

    /// The updates between a version and the log at hand.
    pub fn older(&self, since: Version, at_hand: Version) -> Vec<Arc<Update>> {
        let older = self.updates.get(since.0 as usize..at_hand.0 as usize).unwrap_or_default();
        let told = |it: &UpdateRecord| Update {
            client: it.client.clone(),
            changes: it.changes.clone(),
            origin: it.origin.clone(),
        };
        older.iter().map(|it| Arc::new(told(it))).collect()
    }

    /// What was written after a version.
    pub fn since(&self, version: Version) -> &[UpdateRecord] {
        &self.updates[version.0 as usize..]
    }

    /// Snapshots are of the text they say, and of every word is known who wrote it.
    pub fn check(&self, text: impl Fn(usize) -> Text) {
        self.everything_was_written_by_somebody(&text(self.updates.len()));
        for (version, kept) in &self.snapshots {
            assert_eq!(*kept, text(version.0 as usize).to_string(), "a snapshot of another text");
        }
    }

    fn everything_was_written_by_somebody(&self, text: &Text) {
        let first = Provenance::beginning(Text::new(&self.first).len());
        let mut replay = ProvenanceReplay::new(first, Version(0), self.placements.values());
        for update in &self.updates {
            let change = ChangeSet::parse(&update.changes, &ChangeLimits::NONE).unwrap();
            let origin = update.origin.as_deref().map(RequestId::from);
            let placements = self.placements.get(&replay.version().next());
            assert_eq!(origin.is_some(), placements.is_some(), "an accept that says nothing");
            let rule = placements.and_then(|it| it.rule.clone());
            let by_rule = origin.clone().zip(rule);
            assert!(by_rule.is_none_or(|it| self.ruled.contains(&it)), "a rule did not decide it");
            let (author, at_ms) = (&update.author, update.at_ms);
            let origin = origin.as_ref();
            replay
                .follow(&ReplayEntry { change: &change, author, at_ms, origin, placements })
                .unwrap();
        }
        assert_eq!(replay.misplaced(), [], "words that are not where they are said to be");
        let spans = replay.provenance().spans(0..text.len());
        assert_eq!(spans.last().map_or(0, |span| span.to), text.len(), "words of nobody");
        assert!(spans.iter().all(|span| text.is_boundary(span.to)), "half a character");
        let unknown =
            |span: &SourceSpan| matches!(&span.source, SpanSource::Request { hunk: None, .. });
        assert!(!spans.iter().any(unknown), "words of no change");
    }
}
