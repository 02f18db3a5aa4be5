//! Documents: `/api/v1/documents` and the routes below one, except requests and files.

use axum::Json;
use axum::extract::{OriginalUri, Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::HttpState;
use super::problem::Problem;
use crate::cpu_pool;
use crate::ids::Version;
use crate::permissions::Action;
use crate::rooms::{NewDocument, RoomHandle, compare, placements, text_at};
use crate::store::DocumentRecord;
use crate::transport::protocol::client::{ChangeSettings, CreateDocument};
use crate::transport::protocol::convert;
use crate::transport::protocol::rest::{
    Comparison, DocumentPage, EditDocument, NewVersion, Rename, RestoreText, VersionPage,
    VersionText,
};
use crate::transport::protocol::server::{CreatedDocument, DocumentSettings};
use crate::transport::rest::middleware::auth_session::Authenticated;
use crate::transport::rest::middleware::body;
use crate::transport::rest::middleware::pagination::{ListPart, PathId, QueryParams, next};

/// Length of a text, in UTF-16 units, above which it is serialized on the CPU pool.
const SHORT_TEXT: usize = 128 * 1024;

/// Lists the documents that the caller may read, last changed first. A document that changes
/// between two pages may be on both.
pub(crate) async fn list(
    State(door): State<HttpState>,
    caller: Authenticated,
    QueryParams(part): QueryParams<ListPart>,
    OriginalUri(here): OriginalUri,
) -> Result<Json<DocumentPage>, Problem> {
    let page = part.read::<(u64, String)>()?;
    let only = caller.principal.document.as_ref();
    // One more, to see whether there is more.
    let limit = page.limit as u32 + 1;
    let mut records = door.store.documents(only, page.after.as_ref(), limit).await?;
    records.retain(|record| caller.principal.may(Action::Read, Some(&record.id)));
    let more = records.len() > page.limit;
    records.truncate(page.limit);
    let last = records.last().filter(|_| more);
    let next = last.map(|last| next(&here, &(last.updated_ms, &last.id)));
    let line = |record: DocumentRecord| {
        let path = door.files.as_ref().and_then(|files| files.path_of(&record.id));
        convert::document_line(record, path, &caller.principal)
    };
    Ok(Json(DocumentPage { documents: records.into_iter().map(line).collect(), next }))
}

/// Creates a document.
pub(crate) async fn create(
    State(door): State<HttpState>,
    caller: Authenticated,
    request: Request,
) -> Result<Response, Problem> {
    caller.must(Action::Create)?;
    let CreateDocument { title, text } = body::read(request).await?;
    let new = NewDocument {
        title: title.unwrap_or_default(),
        text: text.unwrap_or_default(),
        unlisted_owner: None,
    };
    let room = door.rooms.create(new, &caller.principal).await?;
    let reading = room.read().await?;
    let id = room.document().to_string();
    let there = [(header::LOCATION, format!("/api/v1/documents/{id}"))];
    let created = CreatedDocument { id, title: reading.title, version: reading.version.0 };
    Ok((StatusCode::CREATED, there, Json(created)).into_response())
}

/// Returns a document with its text.
pub(crate) async fn read(
    State(door): State<HttpState>,
    caller: Authenticated,
    PathId(document): PathId<String>,
) -> Result<Response, Problem> {
    let room = caller.room(&door, &document, Action::Read).await?;
    settle(&door, &room).await;
    let (id, reading) = (room.document().clone(), room.read().await?);
    let units = reading.text.len();
    written(&caller, units, move || convert::full_document(&id, reading)).await
}

/// Returns an answer with a text of `units` UTF-16 units. A long one is serialized on the CPU pool,
/// where it delays nobody.
async fn written<T: Serialize>(
    caller: &Authenticated,
    units: usize,
    answer: impl FnOnce() -> T + Send + 'static,
) -> Result<Response, Problem> {
    let person = caller.principal.user.as_str();
    let write = move || Json(answer()).into_response();
    cpu_pool::run_if(units > SHORT_TEXT, person, write).await.map_err(|_| Problem::internal())
}

/// Changes the title.
pub(crate) async fn rename(
    State(door): State<HttpState>,
    caller: Authenticated,
    PathId(document): PathId<String>,
    request: Request,
) -> Result<StatusCode, Problem> {
    let room = caller.room(&door, &document, Action::Write).await?;
    let Rename { title } = body::read(request).await?;
    room.rename(title, caller.principal).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Deletes a document.
pub(crate) async fn delete(
    State(door): State<HttpState>,
    caller: Authenticated,
    PathId(document): PathId<String>,
) -> Result<StatusCode, Problem> {
    let room = caller.room(&door, &document, Action::Manage).await?;
    // The file stays, with every acknowledged change.
    settle(&door, &room).await;
    room.delete(caller.principal).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Brings the document of a [`RoomHandle`] and its file to the same content, if it has a file: the
/// file is not watched while no connection is in the document.
async fn settle(door: &HttpState, room: &RoomHandle) {
    if let Some(files) = &door.files {
        files.settle(room.document()).await;
    }
}

/// Returns the review settings in force.
pub(crate) async fn settings(
    State(door): State<HttpState>,
    caller: Authenticated,
    PathId(document): PathId<String>,
) -> Result<Json<DocumentSettings>, Problem> {
    let room = caller.room_or_desk(&door, &document, Action::Read).await?;
    Ok(Json(convert::document_settings(&room.read().await?.settings)))
}

/// Changes review settings; missing fields stay as they are.
pub(crate) async fn configure(
    State(door): State<HttpState>,
    caller: Authenticated,
    PathId(document): PathId<String>,
    request: Request,
) -> Result<Json<DocumentSettings>, Problem> {
    let room = caller.room_or_desk(&door, &document, Action::Manage).await?;
    let wish: ChangeSettings = body::read_about(request, "documentId", &document).await?;
    let configure = convert::configure(wish).map_err(Problem::unprocessable)?;
    door.agents.check_policies(&configure, &room).await?;
    let settings = room.configure(configure, caller.principal).await?;
    Ok(Json(convert::document_settings(&settings)))
}

/// Applies a person's own change: the differences between the text of a version and the new text.
pub(crate) async fn edit(
    State(door): State<HttpState>,
    caller: Authenticated,
    PathId(document): PathId<String>,
    request: Request,
) -> Result<Json<NewVersion>, Problem> {
    let room = caller.room(&door, &document, Action::Write).await?;
    let EditDocument { version, text } = body::read(request).await?;
    let made = room.edit(&door.store, Version(version), &text, &caller.principal).await?;
    Ok(Json(NewVersion { version: made.0 }))
}

/// Restores the text of an earlier version.
pub(crate) async fn restore(
    State(door): State<HttpState>,
    caller: Authenticated,
    PathId(document): PathId<String>,
    request: Request,
) -> Result<Json<NewVersion>, Problem> {
    let room = caller.room(&door, &document, Action::Write).await?;
    let RestoreText { version, only_at } = body::read(request).await?;
    happened(version, room.read().await?.version)?;
    let (wanted, only_at) = (Version(version), only_at.map(Version));
    let made = room.restore(&door.store, wanted, only_at, &caller.principal).await?;
    Ok(Json(NewVersion { version: made.0 }))
}

/// Lists the versions with their authors, newest first.
pub(crate) async fn versions(
    State(door): State<HttpState>,
    caller: Authenticated,
    PathId(document): PathId<String>,
    QueryParams(part): QueryParams<ListPart>,
    OriginalUri(here): OriginalUri,
) -> Result<Json<VersionPage>, Problem> {
    let room = caller.room(&door, &document, Action::Read).await?;
    let page = part.read::<u64>()?;
    let before = page.after.map(Version);
    let mut lines = door.store.history(room.document(), before, page.limit as u32 + 1).await?;
    let more = lines.len() > page.limit;
    lines.truncate(page.limit);
    let newest = lines.first().map_or(Version(0), |line| line.version);
    let oldest = lines.last().map_or(Version(0), |line| line.version);
    let before_oldest = Version(oldest.0.saturating_sub(1));
    let acts = placements(&door.store, room.document(), before_oldest, newest).await?;
    let names = door.auth.names(lines.iter().map(|line| &line.author)).await?;
    let line = |line: crate::store::HistoryRecord| {
        let act = acts.get(&line.version);
        convert::history_line(line, act, &names)
    };
    let next = more.then(|| next(&here, &oldest.0));
    Ok(Json(VersionPage { versions: lines.into_iter().map(line).collect(), next }))
}

/// Returns the text of a version.
pub(crate) async fn text(
    State(door): State<HttpState>,
    caller: Authenticated,
    PathId((document, version)): PathId<(String, u64)>,
) -> Result<Response, Problem> {
    let room = caller.room(&door, &document, Action::Read).await?;
    if version > room.read().await?.version.0 {
        return Err(Problem::not_found("version"));
    }
    let text =
        text_at(&door.store, room.document(), Version(version), caller.principal.user.as_str())
            .await?;
    written(&caller, text.len(), move || VersionText { version, text: text.to_string() }).await
}

/// Two versions.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct TwoVersions {
    /// The version that positions are of.
    from: u64,
    /// The other one; missing: the newest.
    to: Option<u64>,
}

/// Returns the differences between two versions.
pub(crate) async fn differences(
    State(door): State<HttpState>,
    caller: Authenticated,
    PathId(document): PathId<String>,
    QueryParams(TwoVersions { from, to }): QueryParams<TwoVersions>,
) -> Result<Json<Comparison>, Problem> {
    let room = caller.room(&door, &document, Action::Read).await?;
    let newest = room.read().await?.version;
    let to = to.unwrap_or(newest.0);
    happened(from.max(to), newest)?;
    let parts = compare(
        &door.store,
        room.document(),
        Version(from),
        Version(to),
        caller.principal.user.as_str(),
    )
    .await?;
    Ok(Json(Comparison { from, to, parts: convert::differences(parts) }))
}

fn happened(version: u64, newest: Version) -> Result<(), Problem> {
    if version <= newest.0 {
        return Ok(());
    }
    Err(Problem::invalid(format!("the newest version is {newest}")))
}
