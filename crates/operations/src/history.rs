//! Earlier versions: the history, older texts, comparisons, provenance and restoration.

use copydesk_api::{ApiError, ApiResult, Caller};
use copydesk_ids::Version;
use copydesk_ids::permissions::Action::{Read, Write};
use copydesk_operation_table::{OnDocument, Operation, operation, transport_handled};
use copydesk_protocol::answers::TextOfVersion;
use copydesk_protocol::client::{
    CompareVersions, Nothing, ReadHistory, ReadProvenance, ReadVersion, RestoreVersion,
};
use copydesk_protocol::queries::ListPart;
use copydesk_protocol::rest::{Comparison, NewVersion, Provenance, VersionPage, VersionText};
use copydesk_protocol_conversion as wire;
use copydesk_rooms::RoomHandle;

use crate::documents::SHORT_TEXT;
use crate::encode;

/// Maximum lines of a history in one answer.
const MOST_HISTORY: u32 = 500;
/// Default number of lines of a history.
const DEFAULT_HISTORY: u32 = 100;

/// Operations of this file.
#[rustfmt::skip]
pub(crate) fn operations() -> Vec<Operation> {
    vec![
        operation("Versions and their authors, newest first", OnDocument(Read), versions).event("document:history").only_reads(),
        transport_handled::<_, ListPart, VersionPage>("Versions and their authors, newest first", OnDocument(Read)).get("/documents/{id=documentId}/versions", "listVersions"),
        operation("The text at a version", OnDocument(Read), text).event("document:at").only_reads(),
        transport_handled::<_, Nothing, VersionText>("The text at a version", OnDocument(Read)).get("/documents/{id=documentId}/versions/{version}", "getVersion"),
        operation("Differences between two versions", OnDocument(Read), compare).event("document:compare").get("/documents/{id=documentId}/compare", "compareVersions"),
        operation("Restore an earlier version", OnDocument(Write), restore).event("document:restore").post("/documents/{id=documentId}/restore", "restoreDocument"),
        operation("Who wrote what", OnDocument(Read), provenance).event("document:provenance").get("/documents/{id=documentId}/provenance", "getProvenance"),
    ]
}

async fn versions(caller: Caller, room: RoomHandle, input: ReadHistory) -> ApiResult<VersionPage> {
    let limit = input.limit.unwrap_or(DEFAULT_HISTORY);
    if !(1..=MOST_HISTORY).contains(&limit) {
        return Err(ApiError::invalid(format!("`limit` is 1 to {MOST_HISTORY}")));
    }
    let before = input.before.map(Version);
    let found = caller.versions(room.document(), before, limit as usize).await?;
    Ok(VersionPage { versions: wire::versions(found), next: None })
}

async fn text(caller: Caller, room: RoomHandle, input: ReadVersion) -> ApiResult<TextOfVersion> {
    let text = caller.text_of_version(&room, Version(input.version)).await?;
    let is_long = text.len() > SHORT_TEXT;
    Ok(TextOfVersion { text: encode(&caller, is_long, move || text.to_string()).await? })
}

async fn provenance(
    caller: Caller,
    room: RoomHandle,
    input: ReadProvenance,
) -> ApiResult<Provenance> {
    let found = caller.provenance(&room, input.from, input.to).await?;
    Ok(wire::provenance(found, &room.threads().await?.threads))
}

async fn compare(
    caller: Caller,
    room: RoomHandle,
    input: CompareVersions,
) -> ApiResult<Comparison> {
    let from = Version(input.from);
    let (to, parts) = caller.compare_versions(&room, from, input.to.map(Version)).await?;
    Ok(wire::comparison(from, to, parts))
}

async fn restore(caller: Caller, room: RoomHandle, input: RestoreVersion) -> ApiResult<NewVersion> {
    let (version, only_at) = (Version(input.version), input.only_at.map(Version));
    let restored = caller.restore_version(&room, version, only_at).await?;
    Ok(NewVersion { version: restored.0 })
}
