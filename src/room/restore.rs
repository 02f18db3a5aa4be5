//! From what was kept to a room as it was, everything mapped to the newest version one update at a time. Pure.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use crate::document::{ChangeSet, Document, Limits, Text, Update};
use crate::ids::Version;
use crate::review::{Request, Rule};
use crate::store::{LoadedDocument, RequestRecord, RuleRecord, StoreError, UpdateRecord};

use super::settings::OwnSettings;
use super::state::RoomState;
use super::{RoomError, requests};

/// A document's settings as they are kept: the ranges are of `version`.
#[derive(Default, Deserialize)]
#[serde(default)]
struct KeptSettings {
    own: OwnSettings,
    version: Version,
}

/// The oldest version that anything kept has its positions in, or `at_hand` if nothing is older.
pub(super) fn floor(
    settings: &Value,
    requests: &[Request],
    at_hand: Version,
) -> Result<Version, RoomError> {
    let kept = kept_settings(settings)?;
    let frozen = if kept.own.frozen.is_empty() { at_hand } else { kept.version };
    let oldest = requests.iter().map(|request| request.version).min();
    Ok(oldest.unwrap_or(at_hand).min(frozen).min(at_hand))
}

/// The room of a document that was loaded from its [`floor`] on, with its open requests.
pub(super) fn room(loaded: LoadedDocument, mut open: Vec<Request>) -> Result<RoomState, RoomError> {
    let LoadedDocument { record, snapshot, text, updates } = loaded;
    let KeptSettings { mut own, version: of } = kept_settings(&record.settings)?;
    let mut document = Document::new(Text::new(&text), snapshot);
    for update in &updates {
        let change = change(record.id.as_str(), &update.changes)?;
        let origin = update.origin.as_deref();
        let committed = document.commit(&change, &update.client, origin);
        committed.map_err(|error| corrupt(record.id.as_str(), &error))?;
        let version = document.version();
        for request in open.iter_mut().filter(|request| request.version < version) {
            requests::advance(request, &change, document.text(), record.updated_ms);
        }
        if of < version {
            own.follow(&change);
        }
    }
    let open = open.into_iter().map(|request| (request.id().clone(), Arc::new(request)));
    Ok(RoomState::new(record, own, document, open.collect(), updates.len()))
}

/// A request that ended at the version of `text`, brought up to date by the `changes` since; how it ended stays.
pub(super) fn catch_up(
    ended: &mut Request,
    mut text: Text,
    changes: impl IntoIterator<Item = Box<str>>,
) -> Result<(), RoomError> {
    for json in changes {
        let change = change(ended.id().as_str(), &json)?;
        change.apply(&mut text).map_err(|error| corrupt(ended.id().as_str(), &error))?;
        requests::advance(ended, &change, &text, 0);
    }
    Ok(())
}

/// The text of a document as it was loaded.
pub(super) fn text(loaded: &LoadedDocument) -> Result<Text, RoomError> {
    let mut text = Text::new(&loaded.text);
    for update in &loaded.updates {
        let applied = change(loaded.record.id.as_str(), &update.changes)?.apply(&mut text);
        applied.map_err(|error| corrupt(loaded.record.id.as_str(), &error))?;
    }
    Ok(text)
}

/// A request as it was kept.
pub(super) fn request(record: &RequestRecord) -> Result<Request, RoomError> {
    serde_json::from_str(&record.body).map_err(|error| corrupt(record.id.as_str(), &error))
}

/// A rule as it was kept.
pub(super) fn rule(record: RuleRecord) -> Result<Rule, RoomError> {
    serde_json::from_value(record.body).map_err(|error| corrupt(record.id.as_str(), &error))
}

/// An update as it was told.
pub(super) fn update(record: UpdateRecord) -> Update {
    let UpdateRecord { client, changes, author: _, at_ms: _, origin } = record;
    Update { client, changes, origin }
}

fn kept_settings(value: &Value) -> Result<KeptSettings, RoomError> {
    KeptSettings::deserialize(value).map_err(|error| corrupt("settings", &error))
}

fn change(what: &str, json: &str) -> Result<ChangeSet, RoomError> {
    ChangeSet::parse(json, &Limits::NONE).map_err(|error| corrupt(what, &error))
}

fn corrupt(what: &str, reason: &impl ToString) -> RoomError {
    RoomError::store(StoreError::Corrupt { what: what.to_owned(), reason: reason.to_string() })
}
