//! Conversions of rows to records. Nothing else trusts the contents of the database; a bad value is
//! reported as [`StoreError::Corrupt`].

use serde_json::Value;
use sqlx::Row;
use sqlx::sqlite::SqliteRow;

use crate::ids::Version;
use crate::permissions::Role;

use crate::store::StoreError;
use crate::store::records::{
    AuditEntry, AuditRecord, DecisionRecord, DocumentRecord, FileRecord, HistoryRecord,
    MessageRecord, RequestRecord, RuleRecord, RunRecord, SessionRecord, TokenRecord, UpdateRecord,
};
use crate::store::records::{EntrySize, TranscriptCursor};

type RowResult<T> = Result<T, StoreError>;

/// Converts a time or version for the database. Databases have no unsigned integers; the largest
/// signed one is 292 million years from now.
pub(crate) fn int(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

pub(crate) fn document(row: &SqliteRow) -> RowResult<DocumentRecord> {
    Ok(DocumentRecord {
        id: text(row, "id")?.into(),
        title: text(row, "title")?,
        created_ms: number(row, "created_ms")?,
        updated_ms: number(row, "updated_ms")?,
        version: Version(number(row, "version")?),
        settings: json(row, "settings")?,
        unlisted_owner: maybe_text(row, "unlisted_owner")?.map(Into::into),
        deleted: row.try_get("deleted")?,
    })
}

pub(crate) fn update(row: &SqliteRow) -> RowResult<UpdateRecord> {
    Ok(UpdateRecord {
        client: text(row, "client")?.into(),
        changes: text(row, "changes")?.into(),
        author: text(row, "author")?.into(),
        at_ms: number(row, "at_ms")?,
        origin: maybe_text(row, "origin")?.map(Into::into),
    })
}

pub(crate) fn history(row: &SqliteRow) -> RowResult<HistoryRecord> {
    Ok(HistoryRecord {
        version: Version(number(row, "version")?),
        author: text(row, "author")?.into(),
        at_ms: number(row, "at_ms")?,
        origin: maybe_text(row, "origin")?.map(Into::into),
    })
}

pub(crate) fn request(row: &SqliteRow) -> RowResult<RequestRecord> {
    Ok(RequestRecord {
        id: text(row, "id")?.into(),
        document: maybe_text(row, "document")?.map(Into::into),
        session: text(row, "session")?.into(),
        run: text(row, "run")?.into(),
        status: text(row, "status")?,
        open: row.try_get("is_open")?,
        created_ms: number(row, "created_ms")?,
        expires_ms: maybe_number(row, "expires_ms")?,
        body: text(row, "body")?,
    })
}

pub(crate) fn decision(row: &SqliteRow) -> RowResult<DecisionRecord> {
    Ok(DecisionRecord {
        request: text(row, "request")?.into(),
        hunk: maybe_text(row, "hunk")?,
        user: text(row, "user_id")?.into(),
        name: text(row, "name")?,
        at_ms: number(row, "at_ms")?,
        body: json(row, "body")?,
    })
}

pub(crate) fn rule(row: &SqliteRow) -> RowResult<RuleRecord> {
    Ok(RuleRecord {
        id: text(row, "id")?.into(),
        document: maybe_text(row, "document")?.map(Into::into),
        session: text(row, "session")?.into(),
        created_ms: number(row, "created_ms")?,
        ended_ms: maybe_number(row, "ended_ms")?,
        body: json(row, "body")?,
    })
}

pub(crate) fn session(row: &SqliteRow) -> RowResult<SessionRecord> {
    Ok(SessionRecord {
        id: text(row, "id")?.into(),
        user: text(row, "user_id")?.into(),
        created_ms: number(row, "created_ms")?,
        seen_ms: number(row, "seen_ms")?,
        permission_mode: maybe_text(row, "permission_mode")?,
        body: json(row, "body")?,
    })
}

pub(crate) fn message(row: &SqliteRow) -> RowResult<MessageRecord> {
    Ok(MessageRecord {
        role: text(row, "role")?,
        body: json(row, "body")?,
        at_ms: number(row, "at_ms")?,
    })
}

fn said_at(row: &SqliteRow) -> RowResult<TranscriptCursor> {
    let (at_ms, session, seq) = (number(row, "at_ms")?, text(row, "session")?, number(row, "seq")?);
    Ok(TranscriptCursor { at_ms, session, seq })
}

pub(crate) fn placed(row: &SqliteRow) -> RowResult<(TranscriptCursor, MessageRecord)> {
    Ok((said_at(row)?, message(row)?))
}

pub(crate) fn place(row: &SqliteRow) -> RowResult<(TranscriptCursor, u64)> {
    Ok((said_at(row)?, number(row, "bytes")?))
}

pub(crate) fn size(row: &SqliteRow) -> RowResult<EntrySize> {
    Ok(EntrySize {
        seq: number(row, "seq")?,
        role: text(row, "role")?,
        bytes: number(row, "bytes")?,
    })
}

pub(crate) fn run(row: &SqliteRow) -> RowResult<RunRecord> {
    Ok(RunRecord {
        id: text(row, "id")?.into(),
        session: text(row, "session")?.into(),
        document: maybe_text(row, "document")?.map(Into::into),
        user: text(row, "user_id")?.into(),
        state: text(row, "state")?.as_str().into(),
        body: json(row, "body")?,
        created_ms: number(row, "created_ms")?,
        finished_ms: maybe_number(row, "finished_ms")?,
    })
}

pub(crate) fn token(row: &SqliteRow) -> RowResult<TokenRecord> {
    let role = text(row, "role")?;
    Ok(TokenRecord {
        id: text(row, "id")?.into(),
        hash: text(row, "hash")?,
        user: text(row, "user_id")?.into(),
        name: text(row, "name")?,
        role: Role::parse(&role)
            .ok_or_else(|| StoreError::corrupt("token", &format!("unknown role {role:?}")))?,
        document: maybe_text(row, "document")?.map(Into::into),
        created_ms: number(row, "created_ms")?,
        expires_ms: maybe_number(row, "expires_ms")?,
        revoked_ms: maybe_number(row, "revoked_ms")?,
        used_ms: maybe_number(row, "used_ms")?,
    })
}

pub(crate) fn file(row: &SqliteRow) -> RowResult<FileRecord> {
    let next = maybe_number(row, "next_version")?.map(Version);
    Ok(FileRecord {
        document: text(row, "document")?.into(),
        path: text(row, "path")?,
        version: Version(number(row, "version")?),
        stamp: text(row, "stamp")?,
        disk: maybe_text(row, "disk")?,
        form: text(row, "form")?,
        writing: next.zip(maybe_text(row, "next_stamp")?),
    })
}

/// Reads the newest version of the document that a row is about.
pub(crate) fn newest(row: &SqliteRow) -> RowResult<Version> {
    Ok(Version(number(row, "newest")?))
}

pub(crate) fn audit(row: &SqliteRow) -> RowResult<AuditRecord> {
    Ok(AuditRecord {
        seq: number(row, "seq")?,
        entry: AuditEntry {
            at_ms: number(row, "at_ms")?,
            actor: text(row, "actor")?,
            action: text(row, "action")?,
            document: maybe_text(row, "document")?.map(Into::into),
            request: maybe_text(row, "request")?.map(Into::into),
            detail: json(row, "detail")?,
        },
        prev_hash: text(row, "prev_hash")?,
        hash: text(row, "hash")?,
    })
}

fn text(row: &SqliteRow, column: &'static str) -> RowResult<String> {
    Ok(row.try_get(column)?)
}

fn maybe_text(row: &SqliteRow, column: &'static str) -> RowResult<Option<String>> {
    Ok(row.try_get(column)?)
}

fn number(row: &SqliteRow, column: &'static str) -> RowResult<u64> {
    unsigned(column, row.try_get(column)?)
}

fn maybe_number(row: &SqliteRow, column: &'static str) -> RowResult<Option<u64>> {
    let value: Option<i64> = row.try_get(column)?;
    value.map(|value| unsigned(column, value)).transpose()
}

fn unsigned(column: &'static str, value: i64) -> RowResult<u64> {
    u64::try_from(value).map_err(|error| StoreError::corrupt(format!("{column} {value}"), &error))
}

fn json(row: &SqliteRow, column: &'static str) -> RowResult<Value> {
    let text: &str = row.try_get(column)?;
    serde_json::from_str(text).map_err(|error| StoreError::corrupt(column, &error))
}
