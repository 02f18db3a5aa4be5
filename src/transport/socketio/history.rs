//! Events about earlier versions: the history, older texts, comparisons, provenance and
//! restoration.

use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use crate::cpu_pool;
use crate::ids::Version;
use crate::transport::protocol::client::{
    CompareVersions, ReadHistory, ReadProvenance, ReadVersion, RestoreVersion,
};
use crate::transport::protocol::convert;
use crate::transport::protocol::rest::{Comparison, NewVersion, Provenance, VersionPage};

use super::socket_error::{SocketError, SocketResult};
use super::{SocketConnection, given};

/// Maximum lines of a history in one answer.
const MOST_HISTORY: u32 = 500;
/// Default number of lines of a history.
const DEFAULT_HISTORY: u32 = 100;

pub(crate) async fn history(
    connection: &mut SocketConnection,
    payload: ReadHistory,
) -> SocketResult<VersionPage> {
    let limit = payload.limit.unwrap_or(DEFAULT_HISTORY);
    if !(1..=MOST_HISTORY).contains(&limit) {
        return Err(SocketError::invalid(format!("`limit` is 1 to {MOST_HISTORY}")));
    }
    let (document, before) = (payload.document_id.into(), payload.before.map(Version));
    let found = connection.caller.versions(&document, before, limit as usize).await?;
    Ok(VersionPage { versions: convert::versions(found), next: None })
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
) -> SocketResult<VersionTextAck> {
    let (document, version) = (payload.document_id.into(), Version(payload.version));
    let caller = &connection.caller;
    let text = caller.text_of_version(&document, version).await?;
    let person = caller.principal.user.as_str();
    let long = text.len() > SHORT_TEXT;
    let write = move || to_raw_value(&text.to_string());
    match cpu_pool::run_if(long, person, write).await {
        Ok(Ok(text)) => Ok(VersionTextAck { text }),
        Ok(Err(_)) | Err(_) => Err(SocketError::internal()),
    }
}

pub(crate) async fn provenance(
    connection: &mut SocketConnection,
    payload: ReadProvenance,
) -> SocketResult<Provenance> {
    let ReadProvenance { document_id, from, to } = payload;
    let document = document_id.into();
    let (version, spans) = connection.caller.provenance(&document, from, to).await?;
    Ok(Provenance { version: version.0, spans: convert::provenance(spans) })
}

pub(crate) async fn differences(
    connection: &mut SocketConnection,
    payload: CompareVersions,
) -> SocketResult<Comparison> {
    let CompareVersions { document_id, from, to } = payload;
    let (document, from, to) = (document_id.into(), Version(from), to.map(Version));
    let compared = connection.caller.compare_versions(&document, from, to).await?;
    let parts = convert::differences(compared.parts);
    Ok(Comparison { from: compared.from.0, to: compared.to.0, parts })
}

pub(crate) async fn restore(
    connection: &mut SocketConnection,
    payload: RestoreVersion,
) -> SocketResult<NewVersion> {
    let RestoreVersion { document_id, version, only_at } = payload;
    let wanted = given((Version(version), only_at.map(Version)));
    let document = document_id.into();
    let restored = connection.caller.restore_version(&document, wanted).await?;
    Ok(NewVersion { version: restored.0 })
}
