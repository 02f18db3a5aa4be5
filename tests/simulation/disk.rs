//! What the store would have: everything of a batch, or nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use copydesk::document::{Text, Update};
use copydesk::ids::{ClientId, RequestId, UserId, Version};
use copydesk::room::RoomError;
use copydesk::room::rehearsal::Rehearsal;
use copydesk::store::{DocumentRecord, LoadedDocument, Op, RequestRecord, UpdateRecord};
use serde_json::json;

pub struct Disk {
    record: DocumentRecord,
    first: String,
    pub updates: Vec<UpdateRecord>,
    snapshots: BTreeMap<Version, String>,
    pub requests: BTreeMap<RequestId, RequestRecord>,
    /// How often each request was decided.
    pub decisions: BTreeMap<RequestId, usize>,
    clients: BTreeMap<ClientId, UserId>,
    /// Requests that were ever announced, by the audit log.
    pub created: BTreeSet<RequestId>,
}

impl Disk {
    pub fn new(text: &str) -> Self {
        let record = DocumentRecord {
            id: "doc_1".into(),
            title: "Draft".into(),
            created_ms: 0,
            updated_ms: 0,
            version: Version(0),
            settings: json!({}),
            unlisted_owner: None,
            deleted: false,
        };
        Self {
            record,
            first: text.to_owned(),
            updates: Vec::new(),
            snapshots: BTreeMap::new(),
            requests: BTreeMap::new(),
            decisions: BTreeMap::new(),
            clients: BTreeMap::new(),
            created: BTreeSet::new(),
        }
    }

    pub fn keep<'a>(&mut self, ops: impl Iterator<Item = &'a Op>) {
        for op in ops {
            match op {
                Op::AppendUpdates { from, updates, .. } => {
                    assert_eq!(*from, self.version(), "the log has a gap");
                    self.updates.extend(updates.iter().cloned());
                }
                Op::PutRequest(record) => {
                    self.requests.insert(record.id.clone(), record.clone());
                }
                Op::PutDocument(record) => self.record = record.clone(),
                Op::PutSnapshot { version, text, .. } => {
                    self.snapshots.insert(*version, text.clone());
                }
                Op::AppendDecision(record) => {
                    *self.decisions.entry(record.request.clone()).or_default() += 1;
                }
                Op::ClaimClient { client, user, .. } => {
                    self.clients.insert(client.clone(), user.clone());
                }
                Op::Audit(entry) if entry.action == "request.create" => {
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
    pub fn room(&self) -> Result<Rehearsal, RoomError> {
        let open: Vec<_> = self.requests.values().filter(|it| it.open).cloned().collect();
        let floor = Rehearsal::floor(&self.record.settings, &open, self.version())?;
        let start = self.snapshots.range(..=floor).next_back();
        let (snapshot, text) = start.map_or((Version(0), &self.first), |(at, text)| (*at, text));
        let record = DocumentRecord { version: self.version(), ..self.record.clone() };
        let updates = self.updates[snapshot.0 as usize..].to_vec();
        Rehearsal::load(LoadedDocument { record, snapshot, text: text.clone(), updates }, open)
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

    /// Snapshots are of the text they say.
    pub fn check(&self, text: impl Fn(usize) -> Text) {
        for (version, kept) in &self.snapshots {
            assert_eq!(*kept, text(version.0 as usize).to_string(), "a snapshot of another text");
        }
    }
}
