//! Events about earlier versions: the history, older texts, comparisons, provenance and
//! restoration.

use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use crate::cpu_pool;
use crate::ids::Version;
use crate::permissions::Action;
use crate::rooms::{compare, credits, placements, text_at};
use crate::transport::protocol::client::{
    CompareVersions, ReadHistory, ReadProvenance, ReadVersion, RestoreVersion,
};
use crate::transport::protocol::convert;
use crate::transport::protocol::history::{Difference, HistoryLine, ProvenanceSpan};

use super::SocketConnection;
use super::socket_error::SocketError;

/// Maximum lines of a history in one answer.
const MOST_HISTORY: u32 = 500;
/// Default number of lines of a history.
const DEFAULT_HISTORY: u32 = 100;

#[derive(Serialize)]
pub(crate) struct HistoryAck {
    versions: Vec<HistoryLine>,
}

pub(crate) async fn history(
    connection: &mut SocketConnection,
    payload: ReadHistory,
) -> Result<HistoryAck, SocketError> {
    let room = connection.room(&payload.document_id, Action::Read).await?;
    let limit = payload.limit.unwrap_or(DEFAULT_HISTORY);
    if !(1..=MOST_HISTORY).contains(&limit) {
        return Err(SocketError::invalid(format!("`limit` is 1 to {MOST_HISTORY}")));
    }
    let (store, before) = (&connection.door.store, payload.before.map(Version));
    let lines = store.history(room.document(), before, limit).await?;
    let newest = lines.first().map_or(Version(0), |line| line.version);
    let oldest = lines.last().map_or(Version(0), |line| line.version);
    let before_oldest = Version(oldest.0.saturating_sub(1));
    let acts = placements(store, room.document(), before_oldest, newest).await?;
    let names = connection.door.auth.names(lines.iter().map(|line| &line.author)).await?;
    let line = |line: crate::store::HistoryRecord| {
        let act = acts.get(&line.version);
        convert::history_line(line, act, &names)
    };
    Ok(HistoryAck { versions: lines.into_iter().map(line).collect() })
}

#[derive(Serialize)]
pub(crate) struct VersionTextAck {
    /// Text as JSON.
    text: Box<RawValue>,
}

/// Length of a text, in UTF-16 units, up to which it is serialized on the worker's own task.
const SHORT_TEXT: usize = 128 * 1024;

pub(crate) async fn at(
    connection: &mut SocketConnection,
    payload: ReadVersion,
) -> Result<VersionTextAck, SocketError> {
    let room = connection.room(&payload.document_id, Action::Read).await?;
    happened(payload.version, room.read().await?.version)?;
    let store = &connection.door.store;
    let person = connection.principal.user.as_str();
    let text = text_at(store, room.document(), Version(payload.version), person).await?;
    let long = text.len() > SHORT_TEXT;
    let write = move || to_raw_value(&text.to_string());
    match cpu_pool::run_if(long, person, write).await {
        Ok(Ok(text)) => Ok(VersionTextAck { text }),
        Ok(Err(_)) | Err(_) => Err(SocketError::internal()),
    }
}

#[derive(Serialize)]
pub(crate) struct ProvenanceAck {
    version: u64,
    spans: Vec<ProvenanceSpan>,
}

pub(crate) async fn provenance(
    connection: &mut SocketConnection,
    payload: ReadProvenance,
) -> Result<ProvenanceAck, SocketError> {
    let room = connection.room(&payload.document_id, Action::Read).await?;
    let now = room.read().await?;
    let (from, to) = (payload.from.unwrap_or(0), payload.to.unwrap_or(now.text.len()));
    if from > to || to > now.text.len() {
        let len = now.text.len();
        return Err(SocketError::invalid(format!("`from` and `to` are 0 to {len}, in order")));
    }
    let store = &connection.door.store;
    let credits = credits(store, room.document(), now.version, from..to).await?;
    Ok(ProvenanceAck { version: now.version.0, spans: convert::provenance(credits) })
}

#[derive(Serialize)]
pub(crate) struct CompareAck {
    from: u64,
    to: u64,
    parts: Vec<Difference>,
}

pub(crate) async fn differences(
    connection: &mut SocketConnection,
    payload: CompareVersions,
) -> Result<CompareAck, SocketError> {
    let room = connection.room(&payload.document_id, Action::Read).await?;
    let newest = room.read().await?.version;
    let (from, to) = (payload.from, payload.to.unwrap_or(newest.0));
    happened(from.max(to), newest)?;
    let store = &connection.door.store;
    let person = connection.principal.user.as_str();
    let parts = compare(store, room.document(), Version(from), Version(to), person).await?;
    Ok(CompareAck { from, to, parts: convert::differences(parts) })
}

#[derive(Serialize)]
pub(crate) struct RestoreAck {
    version: u64,
}

pub(crate) async fn restore(
    connection: &mut SocketConnection,
    payload: RestoreVersion,
) -> Result<RestoreAck, SocketError> {
    let room = connection.room(&payload.document_id, Action::Write).await?;
    happened(payload.version, room.read().await?.version)?;
    let (store, only_at) = (&connection.door.store, payload.only_at.map(Version));
    let wanted = Version(payload.version);
    let version = room.restore(store, wanted, only_at, &connection.principal).await?;
    Ok(RestoreAck { version: version.0 })
}

fn happened(version: u64, newest: Version) -> Result<(), SocketError> {
    if version <= newest.0 {
        return Ok(());
    }
    Err(SocketError::invalid(format!("the newest version is {newest}")))
}
