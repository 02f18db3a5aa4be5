//! What a store would have kept.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::document::provenance::{Entry, Placements, Provenance, Replay, Source, Span};
use crate::document::{ChangeSet, Limits, Text, Update};
use crate::ids::{RequestId, Version};
use crate::review::Request;
use crate::room::restore;
use crate::room::state::RoomState;
use crate::store::{Batch, DocumentRecord, LoadedDocument, Op, RequestRecord, UpdateRecord};

pub(super) struct Disk {
    record: DocumentRecord,
    first: String,
    updates: Vec<UpdateRecord>,
    snapshots: BTreeMap<Version, String>,
    placements: BTreeMap<Version, Placements>,
    requests: BTreeMap<RequestId, RequestRecord>,
}

impl Disk {
    pub(super) fn new(record: DocumentRecord, text: &str) -> Self {
        let (updates, snapshots, requests) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
        let placements = BTreeMap::new();
        Self { record, first: text.to_owned(), updates, snapshots, placements, requests }
    }

    pub(super) fn keep(&mut self, batch: &Batch) {
        for op in batch.ops() {
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
                Op::PutPlacements { version, body, .. } => {
                    let read = serde_json::from_value(body.clone()).unwrap();
                    assert_eq!(self.placements.insert(*version, read), None, "kept twice");
                }
                Op::Audit(_) | Op::AppendDecision(_) | Op::ClaimClient { .. } => {}
                other => panic!("a room never writes {other:?}"),
            }
        }
        let newest =
            self.snapshots.last_key_value().filter(|_| batch.ops().iter().any(is_snapshot));
        if let Some((version, text)) = newest {
            assert_eq!(*text, self.text_at(*version).to_string(), "a snapshot of another text");
            self.everything_was_written_by_somebody();
        }
    }

    /// What is kept beside the updates says of every word who wrote it.
    fn everything_was_written_by_somebody(&self) {
        let first = Provenance::beginning(Text::new(&self.first).len());
        let mut replay = Replay::new(first, Version(0), self.placements.values());
        for update in &self.updates {
            let change = ChangeSet::parse(&update.changes, &Limits::NONE).unwrap();
            let origin = update.origin.as_deref().map(RequestId::from);
            let placements = self.placements.get(&replay.version().next());
            assert_eq!(origin.is_some(), placements.is_some(), "an accept that says nothing");
            let (author, at_ms) = (&update.author, update.at_ms);
            let entry =
                Entry { change: &change, author, at_ms, origin: origin.as_ref(), placements };
            replay.follow(&entry).unwrap();
        }
        assert_eq!(replay.misplaced(), [], "words that are not where they are said to be");
        let text = self.text_at(self.version());
        let spans = replay.provenance().spans(0..text.len());
        assert_eq!(spans.last().map_or(0, |span| span.to), text.len(), "words of nobody");
        assert!(spans.iter().all(|span| text.is_boundary(span.to)), "half a character");
        let unknown = |span: &Span| matches!(&span.source, Source::Request { hunk: None, .. });
        assert!(!spans.iter().any(unknown), "words of no change");
    }

    pub(super) fn version(&self) -> Version {
        Version(self.updates.len() as u64)
    }

    /// A room as it is loaded, with a log from `at_hand` on at least.
    pub(super) fn room(&self, at_hand: Version) -> RoomState {
        let open = self.requests.values().filter(|record| record.open).cloned();
        let open: Vec<_> = open.map(|record| restore::request(record).unwrap()).collect();
        let at_hand = at_hand.min(self.version());
        let floor = restore::floor(&self.record.settings, &open, at_hand).unwrap();
        let start = self.snapshots.range(..=floor).next_back();
        let (snapshot, text) = start.map_or((Version(0), &self.first), |(v, text)| (*v, text));
        let record = DocumentRecord { version: self.version(), ..self.record.clone() };
        let updates = self.updates[snapshot.0 as usize..].to_vec();
        restore::room(LoadedDocument { record, snapshot, text: text.clone(), updates }, open)
            .unwrap()
    }

    /// A request that ended, brought up to today.
    pub(super) fn caught_up(&self, id: &RequestId) -> Request {
        let mut ended = restore::request(self.requests[id].clone()).unwrap();
        let (text, since) = (self.text_at(ended.version), ended.version.0 as usize);
        restore::catch_up(&mut ended, text, &self.updates[since..]).unwrap();
        ended
    }

    pub(super) fn ended(&self) -> Vec<RequestId> {
        let ended = self.requests.values().filter(|record| !record.open);
        ended.map(|record| record.id.clone()).collect()
    }

    /// The updates between a version and the log at hand.
    pub(super) fn older(&self, since: Version, start: Version) -> Vec<Arc<Update>> {
        let older = self.updates.get(since.0 as usize..start.0 as usize).unwrap_or_default();
        older.iter().map(|update| Arc::new(restore::update(update.clone()))).collect()
    }

    fn text_at(&self, version: Version) -> Text {
        let record = self.record.clone();
        let updates = self.updates[..version.0 as usize].to_vec();
        let (snapshot, text) = (Version(0), self.first.clone());
        restore::text(&LoadedDocument { record, snapshot, text, updates }).unwrap()
    }
}

fn is_snapshot(op: &Op) -> bool {
    matches!(op, Op::PutSnapshot { .. })
}
