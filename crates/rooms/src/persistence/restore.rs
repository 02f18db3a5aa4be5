//! Restoring a room from what was stored, mapped to the newest version one update at a time. No
//! input or output.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use copydesk_approvals::{ApprovalRequest, ApprovalRule, StoredRequest};
use copydesk_comments::{AnchorUpdate, CommentThread};
use copydesk_document::{ChangeLimits, ChangeSet, Document, Text, Update};
use copydesk_ids::{DocumentId, Version};
use copydesk_store::{
    DocumentRecord, RequestRecord, RuleRecord, StartingText, StoreError, ThreadRecord, UpdateRecord,
};

use crate::RoomError;
use crate::settings::OwnSettings;
use crate::state::comments::RoomThreads;
use crate::state::{RoomState, SinceSnapshot, requests};

/// Settings of a document as they are stored: the ranges are of `version`.
#[derive(Default, Deserialize)]
#[serde(default)]
struct StoredSettings {
    own: OwnSettings,
    version: Version,
}

/// Returns the oldest version that stored positions are of, or `at_hand` if none is older.
pub(crate) fn floor(
    settings: &Value,
    requests: &[StoredRequest],
    threads: &[CommentThread],
    at_hand: Version,
) -> Result<Version, RoomError> {
    let kept = kept_settings(settings)?;
    let frozen = if kept.own.frozen.is_empty() { at_hand } else { kept.version };
    let anchored = threads.iter().filter(|thread| thread.anchor.is_some());
    let requests = requests.iter().map(|request| request.reached().version);
    let oldest = requests.chain(anchored.map(|thread| thread.version)).min();
    Ok(oldest.unwrap_or(at_hand).min(frozen).min(at_hand))
}

/// Room that is being restored from its [`floor`] on, the log piece by piece.
pub(crate) struct RestoringState {
    record: DocumentRecord,
    own: OwnSettings,
    settings_of: Version,
    document: Document,
    open: Vec<StoredRequest>,
    threads: Vec<CommentThread>,
    unsnapshotted: SinceSnapshot,
}

impl RestoringState {
    pub(crate) fn new(
        start: StartingText,
        open: Vec<StoredRequest>,
        threads: Vec<CommentThread>,
    ) -> Result<Self, RoomError> {
        let StartingText { record, snapshot, text } = start;
        let StoredSettings { own, version: settings_of } = kept_settings(&record.settings)?;
        let document = Document::new(Text::new(&text), snapshot);
        let unsnapshotted = SinceSnapshot::default();
        Ok(Self { record, own, settings_of, document, open, threads, unsnapshotted })
    }

    pub(crate) fn version(&self) -> Version {
        self.document.version()
    }

    pub(crate) fn follow(&mut self, updates: Vec<UpdateRecord>) -> Result<(), RoomError> {
        for update in updates {
            let update = self::update(update);
            let change = change(self.record.id.as_str(), &update.changes)?;
            let origin = update.origin.as_deref();
            let committed = self.document.commit(&change, &update.client, origin);
            committed.map_err(|error| corrupt(self.record.id.as_str(), &error))?;
            let (version, text) = (self.document.version(), self.document.text());
            let updated_ms = self.record.updated_ms;
            for request in self.open.iter_mut().filter(|it| it.reached().version < version) {
                request.advance(|it| requests::advance(it, &change, text, updated_ms));
            }
            if self.threads.iter().any(|thread| thread.version < version) {
                let moved = AnchorUpdate::new(&change, text, origin, &[]);
                for thread in self.threads.iter_mut().filter(|it| it.version < version) {
                    thread.follow(&moved);
                }
            }
            if self.settings_of < version {
                self.own.follow(&change);
            }
            self.unsnapshotted.add(&update);
        }
        Ok(())
    }

    pub(crate) fn finish(self) -> RoomState {
        let Self { record, own, settings_of: _, document, open, mut threads, unsnapshotted } = self;
        for thread in &mut threads {
            thread.version = document.version();
        }
        let open = open.into_iter().map(StoredRequest::finish);
        let open = open.map(|mut request| {
            request.mark_hunks();
            (request.id().clone(), Arc::new(request))
        });
        let (open, threads) = (open.collect(), RoomThreads::new(threads));
        RoomState::new(record, own, document, open, threads, unsnapshotted)
    }
}

/// Restores the room of a document that was loaded from its [`floor`] on, with its open requests.
#[cfg(feature = "rehearsal")]
pub(crate) fn room(
    loaded: copydesk_store::LoadedDocument,
    open: Vec<StoredRequest>,
    threads: Vec<CommentThread>,
) -> Result<RoomState, RoomError> {
    let copydesk_store::LoadedDocument { record, snapshot, text, updates } = loaded;
    let mut restoring =
        RestoringState::new(StartingText { record, snapshot, text }, open, threads)?;
    restoring.follow(updates)?;
    Ok(restoring.finish())
}

/// Maps a request that ended at the version of `text` over the `changes` since, and applies them to
/// `text`; how the request ended stays.
pub(crate) fn catch_up<'a>(
    ended: &mut ApprovalRequest,
    text: &mut Text,
    changes: impl IntoIterator<Item = &'a str>,
) -> Result<(), RoomError> {
    for json in changes {
        let change = change(ended.id().as_str(), json)?;
        change.apply(text).map_err(|error| corrupt(ended.id().as_str(), &error))?;
        requests::advance(ended, &change, text, 0);
    }
    Ok(())
}

pub(crate) fn follow(
    document: &DocumentId,
    text: &mut Text,
    updates: &[UpdateRecord],
) -> Result<(), RoomError> {
    for update in updates {
        let applied = change(document.as_str(), &update.changes)?.apply(text);
        applied.map_err(|error| corrupt(document.as_str(), &error))?;
    }
    Ok(())
}

pub(crate) fn request(record: &RequestRecord) -> Result<ApprovalRequest, RoomError> {
    stored_request(record).map(StoredRequest::finish)
}

/// Parses a stored request, whose parts may be of different versions.
pub(crate) fn stored_request(record: &RequestRecord) -> Result<StoredRequest, RoomError> {
    let read = StoredRequest::read(&record.body, record.parts());
    read.map_err(|error| corrupt(record.id.as_str(), &error))
}

/// Parses a stored thread of comments.
pub(crate) fn thread(record: &ThreadRecord) -> Result<CommentThread, RoomError> {
    let ThreadRecord { id, version, anchor, body, .. } = record;
    let read = CommentThread::read(id.clone(), *version, anchor, body);
    read.map_err(|error| corrupt(id.as_str(), &error))
}

pub(crate) fn rule(record: RuleRecord) -> Result<ApprovalRule, RoomError> {
    serde_json::from_value(record.body).map_err(|error| corrupt(record.id.as_str(), &error))
}

pub(crate) fn update(record: UpdateRecord) -> Update {
    let UpdateRecord { client, changes, author: _, at_ms: _, origin } = record;
    Update { client, changes, origin }
}

fn kept_settings(value: &Value) -> Result<StoredSettings, RoomError> {
    StoredSettings::deserialize(value).map_err(|error| corrupt("settings", &error))
}

fn change(what: &str, json: &str) -> Result<ChangeSet, RoomError> {
    ChangeSet::parse(json, &ChangeLimits::NONE).map_err(|error| corrupt(what, &error))
}

fn corrupt(what: &str, reason: &impl ToString) -> RoomError {
    RoomError::from(StoreError::Corrupt { what: what.to_owned(), reason: reason.to_string() })
}
