//! Events about earlier versions: the history, older texts, comparisons, provenance and
//! restoration.

use serde::Serialize;
use serde_json::value::RawValue;

use copydesk_engine::api::Caller;
use copydesk_engine::ids::Version;
use copydesk_protocol::client::{
    CompareVersions, ReadHistory, ReadProvenance, ReadVersion, RestoreVersion,
};
use copydesk_protocol::convert;
use copydesk_protocol::rest::{Comparison, NewVersion, Provenance, VersionPage};

use super::socket_error::{SocketError, SocketResult};
use super::{encode, given};

/// Maximum lines of a history in one answer.
const MOST_HISTORY: u32 = 500;

/// Default number of lines of a history.
const DEFAULT_HISTORY: u32 = 100;

/// Answers `document:history`: returns a page of the versions.
///
/// # Errors
/// `invalid_payload` for a wrong `limit`, `not_found` or `not_allowed` if the person may not read
/// the document; see [`Caller::versions`].
pub async fn history(caller: &Caller, payload: ReadHistory) -> SocketResult<VersionPage> {
    let limit = payload.limit.unwrap_or(DEFAULT_HISTORY);
    if !(1..=MOST_HISTORY).contains(&limit) {
        return Err(SocketError::invalid(format!("`limit` is 1 to {MOST_HISTORY}")));
    }
    let (document, before) = (payload.document_id.into(), payload.before.map(Version));
    let found = caller.versions(&document, before, limit as usize).await?;
    Ok(VersionPage { versions: convert::versions(found), next: None })
}

#[derive(Serialize)]
pub(crate) struct VersionTextAck {
    /// Text as JSON.
    text: Box<RawValue>,
}

/// Length of a text, in UTF-16 units, up to which it is serialized on the worker's own task.
const SHORT_TEXT: usize = 128 * 1024;

/// Answers `document:at`: returns the text of a version.
///
/// # Errors
/// `invalid_payload` for a version that does not exist, `not_found` or `not_allowed` if the person
/// may not read the document; see [`Caller::text_of_version`].
pub async fn at(caller: &Caller, payload: ReadVersion) -> SocketResult<VersionTextAck> {
    let (document, version) = (payload.document_id.into(), Version(payload.version));
    let text = caller.text_of_version(&document, version).await?;
    let is_long = text.len() > SHORT_TEXT;
    Ok(VersionTextAck { text: encode(caller, is_long, move || text.to_string()).await? })
}

/// Answers `document:provenance`: returns the author of every span.
///
/// # Errors
/// `invalid_payload` for a range outside of the text, `not_found` or `not_allowed` if the person
/// may not read the document; see [`Caller::provenance`].
pub async fn provenance(caller: &Caller, payload: ReadProvenance) -> SocketResult<Provenance> {
    let ReadProvenance { document_id, from, to } = payload;
    Ok(convert::provenance(caller.provenance(&document_id.into(), from, to).await?))
}

/// Answers `document:compare`: compares two versions.
///
/// # Errors
/// `invalid_payload` for a version that does not exist, `not_found` or `not_allowed` if the person
/// may not read the document; see [`Caller::compare_versions`].
pub async fn differences(caller: &Caller, payload: CompareVersions) -> SocketResult<Comparison> {
    let CompareVersions { document_id, from, to } = payload;
    let (document, from, to) = (document_id.into(), Version(from), to.map(Version));
    Ok(convert::comparison(caller.compare_versions(&document, from, to).await?))
}

/// Answers `document:restore`: restores the text of an earlier version.
///
/// # Errors
/// `invalid_payload` for a version that does not exist, `resync` if others wrote meanwhile,
/// `not_found`, `not_allowed` for readers; see [`Caller::restore_version`].
pub async fn restore(caller: &Caller, payload: RestoreVersion) -> SocketResult<NewVersion> {
    let RestoreVersion { document_id, version, only_at } = payload;
    let wanted = given((Version(version), only_at.map(Version)));
    let restored = caller.restore_version(&document_id.into(), wanted).await?;
    Ok(NewVersion { version: restored.0 })
}
