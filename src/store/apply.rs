//! Each kind of write as statements: one function per operation, inside the writer's transaction.

use sqlx::sqlite::SqliteQueryResult;
use sqlx::{QueryBuilder, Sqlite, SqliteConnection};

use crate::ids::{ClientId, DocumentId, RunId, SessionId, TokenId, UserId, Version};

use super::records::{
    DecisionRecord, DocumentRecord, MessageRecord, RequestRecord, RuleRecord, RunRecord,
    SessionRecord, TokenRecord,
};
use super::rows::int;
use super::{Batch, Op, StoreError, audit, live, once, provenance, updates, webhooks};

/// Newest snapshots kept beside the first one. Two would do; the others are for a reader that
/// looks a document up at a version of a moment ago.
const SNAPSHOTS: i64 = 4;

/// Writes every operation of `batch`, in order, up to the first that fails.
pub(super) async fn batch(db: &mut SqliteConnection, batch: &Batch) -> Result<(), StoreError> {
    for op in batch.ops() {
        one(db, op).await?;
    }
    Ok(())
}

async fn one(db: &mut SqliteConnection, op: &Op) -> Result<(), StoreError> {
    match op {
        Op::CreateDocument { record, text } => create_document(db, record, text).await,
        Op::PutDocument(record) => put_document(db, record).await,
        Op::AppendUpdates { document, from, updates } => {
            updates::append(db, document, *from, updates).await
        }
        Op::PutSnapshot { document, version, text } => {
            put_snapshot(db, document, *version, text).await
        }
        Op::PutPlacements { document, version, body } => {
            provenance::put_placements(db, document, *version, body).await
        }
        Op::PutProvenance { document, version, body } => {
            provenance::put(db, document, *version, body).await
        }
        Op::ClaimClient { document, client, user } => {
            claim_client(db, document, client, user).await
        }
        Op::PutRequest(record) => put_request(db, record).await,
        Op::AppendDecision(record) => append_decision(db, record).await,
        Op::PutRule(record) => put_rule(db, record).await,
        Op::PutSession(record) => put_session(db, record).await,
        Op::AppendMessages { session, document, messages } => {
            append_messages(db, session, document.as_ref(), messages).await
        }
        Op::PutRun(record) => put_run(db, record).await,
        Op::RunHeard { session, run, at_ms } => run_heard(db, session, run, *at_ms).await,
        Op::Audit(entry) => audit::append(db, entry).await,
        Op::PutToken(record) => put_token(db, record).await,
        Op::RevokeToken { token, at_ms } => revoke_token(db, token, *at_ms).await,
        Op::UseToken { token, at_ms } => use_token(db, token, *at_ms).await,
        Op::PutFile(record) => live::put(db, record).await,
        Op::PutOnce(record) => once::put(db, record).await,
        Op::ForgetOnce { user, key } => once::forget(db, user, key).await,
        Op::ForgetOldOnces { before_ms } => once::forget_old(db, *before_ms).await,
        Op::PutWebhook(record) => webhooks::put(db, record).await,
        Op::RemoveWebhook(id) => webhooks::remove(db, id).await,
        Op::Settle { seq, hook, at_ms, outcome } => {
            webhooks::settle(db, *seq, hook, *at_ms, outcome).await
        }
        Op::PutSetting { key, value } => put_setting(db, key, value).await,
    }
}

async fn create_document(
    db: &mut SqliteConnection,
    record: &DocumentRecord,
    text: &str,
) -> Result<(), StoreError> {
    let done = sqlx::query(
        "INSERT INTO documents
             (id, title, created_ms, updated_ms, version, settings, unlisted_owner, deleted)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (id) DO NOTHING",
    )
    .bind(record.id.as_str())
    .bind(&record.title)
    .bind(int(record.created_ms))
    .bind(int(record.updated_ms))
    .bind(int(record.version.0))
    .bind(record.settings.to_string())
    .bind(record.unlisted_owner.as_ref().map(SessionId::as_str))
    .bind(record.deleted)
    .execute(&mut *db)
    .await?;
    if done.rows_affected() == 0 {
        return Err(StoreError::Exists { kind: "document", id: record.id.to_string() });
    }
    put_snapshot(db, &record.id, record.version, text).await
}

async fn put_document(
    db: &mut SqliteConnection,
    record: &DocumentRecord,
) -> Result<(), StoreError> {
    let done = sqlx::query(
        "UPDATE documents SET title = $2, updated_ms = $3, settings = $4, deleted = $5
         WHERE id = $1",
    )
    .bind(record.id.as_str())
    .bind(&record.title)
    .bind(int(record.updated_ms))
    .bind(record.settings.to_string())
    .bind(record.deleted)
    .execute(db)
    .await?;
    must_touch(&done, "document", &record.id)
}

async fn put_snapshot(
    db: &mut SqliteConnection,
    document: &DocumentId,
    version: Version,
    text: &str,
) -> Result<(), StoreError> {
    sqlx::query(
        "INSERT INTO snapshots (document, version, content) VALUES ($1, $2, $3)
         ON CONFLICT (document, version) DO UPDATE SET content = excluded.content",
    )
    .bind(document.as_str())
    .bind(int(version.0))
    .bind(text)
    .execute(&mut *db)
    .await?;
    // The first one stays: with the log it gives the text at every version there ever was.
    sqlx::query(
        "DELETE FROM snapshots WHERE document = $1
           AND version > (SELECT MIN(version) FROM snapshots WHERE document = $1)
           AND version NOT IN
             (SELECT version FROM snapshots WHERE document = $1 ORDER BY version DESC LIMIT $2)",
    )
    .bind(document.as_str())
    .bind(SNAPSHOTS)
    .execute(db)
    .await?;
    Ok(())
}

async fn claim_client(
    db: &mut SqliteConnection,
    document: &DocumentId,
    client: &ClientId,
    user: &UserId,
) -> Result<(), StoreError> {
    let done = sqlx::query(
        "INSERT INTO clients (document, client, user_id) VALUES ($1, $2, $3)
         ON CONFLICT (document, client) DO UPDATE SET user_id = excluded.user_id
         WHERE clients.user_id = excluded.user_id",
    )
    .bind(document.as_str())
    .bind(client.as_str())
    .bind(user.as_str())
    .execute(db)
    .await?;
    if done.rows_affected() == 0 {
        return Err(StoreError::ClientTaken { document: document.clone(), client: client.clone() });
    }
    Ok(())
}

async fn put_request(db: &mut SqliteConnection, record: &RequestRecord) -> Result<(), StoreError> {
    webhooks::note(db, record).await?;
    sqlx::query(
        "INSERT INTO requests
             (id, document, session, run, status, is_open, created_ms, expires_ms, body)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
         ON CONFLICT (id) DO UPDATE SET status = excluded.status, is_open = excluded.is_open,
             expires_ms = excluded.expires_ms, body = excluded.body",
    )
    .bind(record.id.as_str())
    .bind(record.document.as_ref().map(DocumentId::as_str))
    .bind(record.session.as_str())
    .bind(record.run.as_str())
    .bind(&record.status)
    .bind(record.open)
    .bind(int(record.created_ms))
    .bind(record.expires_ms.map(int))
    .bind(record.body.to_string())
    .execute(db)
    .await?;
    Ok(())
}

async fn append_decision(
    db: &mut SqliteConnection,
    record: &DecisionRecord,
) -> Result<(), StoreError> {
    sqlx::query(
        "INSERT INTO decisions (request, hunk, user_id, name, at_ms, body)
         VALUES ($1, $2, $3, $4, $5, $6)",
    )
    .bind(record.request.as_str())
    .bind(&record.hunk)
    .bind(record.user.as_str())
    .bind(&record.name)
    .bind(int(record.at_ms))
    .bind(record.body.to_string())
    .execute(db)
    .await?;
    Ok(())
}

async fn put_rule(db: &mut SqliteConnection, record: &RuleRecord) -> Result<(), StoreError> {
    sqlx::query(
        "INSERT INTO rules (id, document, session, created_ms, ended_ms, body)
         VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT (id) DO UPDATE SET ended_ms = excluded.ended_ms, body = excluded.body",
    )
    .bind(record.id.as_str())
    .bind(record.document.as_ref().map(DocumentId::as_str))
    .bind(record.session.as_str())
    .bind(int(record.created_ms))
    .bind(record.ended_ms.map(int))
    .bind(record.body.to_string())
    .execute(db)
    .await?;
    Ok(())
}

async fn put_session(db: &mut SqliteConnection, record: &SessionRecord) -> Result<(), StoreError> {
    sqlx::query(
        "INSERT INTO sessions (id, user_id, created_ms, seen_ms, permission_mode, body)
         VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT (id) DO UPDATE SET seen_ms = excluded.seen_ms,
             permission_mode = excluded.permission_mode, body = excluded.body",
    )
    .bind(record.id.as_str())
    .bind(record.user.as_str())
    .bind(int(record.created_ms))
    .bind(int(record.seen_ms))
    .bind(&record.permission_mode)
    .bind(record.body.to_string())
    .execute(db)
    .await?;
    Ok(())
}

async fn append_messages(
    db: &mut SqliteConnection,
    session: &SessionId,
    document: Option<&DocumentId>,
    messages: &[MessageRecord],
) -> Result<(), StoreError> {
    let document = document.map_or("", DocumentId::as_str);
    let mut seq: i64 = sqlx::query_scalar(
        "SELECT COALESCE(MAX(seq), 0) FROM messages WHERE session = $1 AND document = $2",
    )
    .bind(session.as_str())
    .bind(document)
    .fetch_one(&mut *db)
    .await?;
    for rows in messages.chunks(updates::ROWS) {
        let mut insert = QueryBuilder::<Sqlite>::new(
            "INSERT INTO messages (session, document, seq, role, body, at_ms) ",
        );
        insert.push_values(rows, |mut row, message| {
            seq += 1;
            row.push_bind(session.as_str())
                .push_bind(document)
                .push_bind(seq)
                .push_bind(&message.role)
                .push_bind(message.body.to_string())
                .push_bind(int(message.at_ms));
        });
        insert.build().execute(&mut *db).await?;
    }
    Ok(())
}

async fn run_heard(
    db: &mut SqliteConnection,
    session: &SessionId,
    run: &RunId,
    at_ms: u64,
) -> Result<(), StoreError> {
    sqlx::query("UPDATE runs SET heard_ms = $3 WHERE session = $1 AND id = $2")
        .bind(session.as_str())
        .bind(RunRecord::key(session, run).to_string())
        .bind(int(at_ms))
        .execute(db)
        .await?;
    Ok(())
}

async fn put_run(db: &mut SqliteConnection, record: &RunRecord) -> Result<(), StoreError> {
    sqlx::query(
        "INSERT INTO runs (id, session, document, user_id, state, body, created_ms, finished_ms)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
         ON CONFLICT (id) DO UPDATE SET state = excluded.state, body = excluded.body,
             finished_ms = excluded.finished_ms",
    )
    .bind(record.id.as_str())
    .bind(record.session.as_str())
    .bind(record.document.as_ref().map(DocumentId::as_str))
    .bind(record.user.as_str())
    .bind(&record.state)
    .bind(record.body.to_string())
    .bind(int(record.created_ms))
    .bind(record.finished_ms.map(int))
    .execute(db)
    .await?;
    Ok(())
}

async fn put_token(db: &mut SqliteConnection, record: &TokenRecord) -> Result<(), StoreError> {
    sqlx::query(
        "INSERT INTO tokens
             (id, hash, user_id, name, role, document, created_ms, expires_ms, revoked_ms)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
         ON CONFLICT (id) DO UPDATE SET hash = excluded.hash, user_id = excluded.user_id,
             name = excluded.name, role = excluded.role, document = excluded.document,
             expires_ms = excluded.expires_ms, revoked_ms = excluded.revoked_ms",
    )
    .bind(record.id.as_str())
    .bind(&record.hash)
    .bind(record.user.as_str())
    .bind(&record.name)
    .bind(record.role.as_str())
    .bind(record.document.as_ref().map(DocumentId::as_str))
    .bind(int(record.created_ms))
    .bind(record.expires_ms.map(int))
    .bind(record.revoked_ms.map(int))
    .execute(db)
    .await?;
    Ok(())
}

async fn revoke_token(
    db: &mut SqliteConnection,
    token: &TokenId,
    at_ms: u64,
) -> Result<(), StoreError> {
    let done = sqlx::query("UPDATE tokens SET revoked_ms = COALESCE(revoked_ms, $2) WHERE id = $1")
        .bind(token.as_str())
        .bind(int(at_ms))
        .execute(db)
        .await?;
    must_touch(&done, "token", token)
}

async fn use_token(
    db: &mut SqliteConnection,
    token: &TokenId,
    at_ms: u64,
) -> Result<(), StoreError> {
    sqlx::query("UPDATE tokens SET used_ms = $2 WHERE id = $1")
        .bind(token.as_str())
        .bind(int(at_ms))
        .execute(db)
        .await?;
    Ok(())
}

pub(super) async fn put_setting(
    db: &mut SqliteConnection,
    key: &str,
    value: &str,
) -> Result<(), StoreError> {
    sqlx::query(
        "INSERT INTO settings (key, value) VALUES ($1, $2)
         ON CONFLICT (key) DO UPDATE SET value = excluded.value",
    )
    .bind(key)
    .bind(value)
    .execute(db)
    .await?;
    Ok(())
}

fn must_touch(
    done: &SqliteQueryResult,
    kind: &'static str,
    id: &(impl ToString + ?Sized),
) -> Result<(), StoreError> {
    if done.rows_affected() == 0 { Err(StoreError::missing(kind, id)) } else { Ok(()) }
}
