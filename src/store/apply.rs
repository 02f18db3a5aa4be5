//! Write operations as statements: one function per operation, inside the writer's transaction.

use sqlx_sqlite::SqliteConnection;

use crate::failpoint;
use crate::ids::{ClientId, DocumentId, RunId, SessionId, TokenId, UserId};

use super::audit::AuditHead;
use super::records::{
    DecisionRecord, DocumentRecord, MessageRecord, RequestRecord, RuleRecord, RunRecord,
    SessionRecord, TokenRecord,
};
use super::{
    StoreError, StoreOp, WriteBatch, answers, audit, file_undos, idempotency, live, provenance,
    settings, updates, webhooks,
};
use crate::store::queries::snapshots;
use crate::store::sqlite::rows::int;
use crate::store::sqlite::statement_batch::{BatchError, RowExpectation, StatementBatch};

/// State of the database that the writer knows without a query.
#[derive(Clone, Debug)]
pub(super) struct WriterCache {
    /// End of the audit log.
    pub head: AuditHead,
    /// `true` if there may be webhooks; only then requests are added to the outbox. The one server
    /// of a data directory is the only process that writes webhooks.
    pub webhooks: bool,
}

impl WriterCache {
    /// Reads the state from the database.
    pub(super) async fn read(db: &mut SqliteConnection) -> Result<Self, StoreError> {
        let head = audit::head(db).await?;
        Ok(Self { head, webhooks: webhooks::are_any(db).await? })
    }
}

/// Writes every operation of `batches`, in order, in a transaction of its own, and commits it;
/// returns the new state. After an error the transaction may still be open.
pub(super) async fn transaction(
    db: &mut SqliteConnection,
    batches: &[WriteBatch],
    known: WriterCache,
) -> Result<WriterCache, BatchError> {
    // Immediate: take the write lock now, so that what is read inside cannot be outdated.
    framed(db, "BEGIN IMMEDIATE", batches, "COMMIT", known).await
}

/// Writes one batch behind a savepoint of the open transaction; returns the new state.
pub(super) async fn savepoint(
    db: &mut SqliteConnection,
    batch: &WriteBatch,
    known: WriterCache,
) -> Result<WriterCache, BatchError> {
    let only = std::slice::from_ref(batch);
    framed(db, "SAVEPOINT batch", only, "RELEASE SAVEPOINT batch", known).await
}

async fn framed(
    db: &mut SqliteConnection,
    begin: &str,
    batches: &[WriteBatch],
    end: &str,
    mut known: WriterCache,
) -> Result<WriterCache, BatchError> {
    let mut script = StatementBatch::new(db);
    let reached = known.head.seq;
    script.run(begin);
    for (index, batch) in batches.iter().enumerate() {
        if index > 0 {
            cut_at("store.grouped", &mut script).await?;
        }
        for op in batch.ops() {
            one(&mut script, &mut known, op).await?;
            if script.is_large() {
                script.send().await?;
            }
        }
    }
    if known.head.seq > reached {
        audit::note_head(&mut script, &known.head);
    }
    cut_at("store.written", &mut script).await?;
    script.run(end);
    script.send().await?;
    Ok(known)
}

/// Sends the statements so far if a test has armed a failpoint: a test that simulates a loss of
/// power during the transaction needs something to be written by then.
async fn cut_at(place: &'static str, script: &mut StatementBatch<'_>) -> Result<(), BatchError> {
    if failpoint::is_armed() {
        script.send().await?;
        failpoint::pass(place);
    }
    Ok(())
}

/// Stores a request, and adds it to the outbox if there are webhooks.
fn put_request_and_note<'a>(
    script: &mut StatementBatch<'a>,
    known: &WriterCache,
    record: &'a RequestRecord,
) {
    if known.webhooks {
        webhooks::note(script, record);
    }
    put_request(script, record);
}

async fn one<'a>(
    script: &mut StatementBatch<'a>,
    known: &mut WriterCache,
    op: &'a StoreOp,
) -> Result<(), BatchError> {
    match op {
        StoreOp::CreateDocument { record, text } => create_document(script, record, text),
        StoreOp::PutDocument(record) => put_document(script, record),
        StoreOp::AppendUpdates { document, from, updates } => {
            updates::append(script, document, *from, updates).await?;
        }
        StoreOp::PutSnapshot { document, version, text, replayed_bytes, permanent } => {
            snapshots::put(script, document, (*version, text), *replayed_bytes, *permanent);
        }
        StoreOp::PutPlacements { document, version, body } => {
            provenance::put_placements(script, document, *version, body);
        }
        StoreOp::PutProvenance { document, version, body } => {
            provenance::put(script, document, *version, body);
        }
        StoreOp::ClaimClient { document, client, user } => {
            claim_client(script, document, client, user);
        }
        StoreOp::PutRequest(record) => put_request_and_note(script, known, record),
        StoreOp::AppendDecision(record) => append_decision(script, record),
        StoreOp::BeginUndo(request) => file_undos::begin(script, request),
        StoreOp::EndUndo(request) => file_undos::end(script, request),
        StoreOp::PutRule(record) => put_rule(script, record),
        StoreOp::PutSession(record) => put_session(script, record),
        StoreOp::AppendMessages { session, document, messages } => {
            append_messages(script, session, document.as_ref(), messages);
        }
        StoreOp::PutRun(record) => put_run(script, record),
        StoreOp::RunHeard { session, run, at_ms } => run_heard(script, session, run, *at_ms),
        StoreOp::Audit(entry) => audit::append(script, &mut known.head, entry),
        StoreOp::PutToken(record) => put_token(script, record),
        StoreOp::RevokeToken { token, at_ms } => revoke_token(script, token, *at_ms),
        StoreOp::UseToken { token, at_ms } => use_token(script, token, *at_ms),
        StoreOp::PutFile(record) => live::put(script, record),
        StoreOp::PutOnce(record) => idempotency::put(script, record),
        StoreOp::ForgetOnce { user, key } => idempotency::forget(script, user, key),
        StoreOp::ForgetOldOnces { before_ms } => idempotency::forget_old(script, *before_ms),
        StoreOp::PutAnswer(record) => answers::put(script, record),
        StoreOp::DropAnswer { user, key } => answers::drop(script, user, key),
        StoreOp::UseAnswers { user, keys, at_ms } => answers::touch(script, user, keys, *at_ms),
        StoreOp::ForgetAnswers { user, before_ms, most_bytes } => {
            answers::forget(script, user, *before_ms, *most_bytes);
        }
        StoreOp::PutWebhook(record) => {
            known.webhooks = true;
            webhooks::put(script, record);
        }
        StoreOp::RemoveWebhook(id) => webhooks::remove(script, id),
        StoreOp::Settle { seq, hook, at_ms, outcome } => {
            webhooks::settle(script, *seq, hook, *at_ms, outcome);
        }
        StoreOp::PutSetting { key, value } => settings::put(script, key, value),
    }
    Ok(())
}

fn create_document<'a>(script: &mut StatementBatch<'a>, record: &'a DocumentRecord, text: &str) {
    script
        .run(
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
        .bind(record.deleted);
    script.must(RowExpectation::BeNew { kind: "document", id: record.id.as_str() });
    snapshots::put(script, &record.id, (record.version, text), 0, true);
}

fn put_document<'a>(script: &mut StatementBatch<'a>, record: &'a DocumentRecord) {
    script
        .run(
            "UPDATE documents SET title = $2, updated_ms = $3, settings = $4, deleted = $5
         WHERE id = $1",
        )
        .bind(record.id.as_str())
        .bind(&record.title)
        .bind(int(record.updated_ms))
        .bind(record.settings.to_string())
        .bind(record.deleted);
    script.must(RowExpectation::BeThere { kind: "document", id: record.id.as_str() });
}

fn claim_client<'a>(
    script: &mut StatementBatch<'a>,
    document: &'a DocumentId,
    client: &'a ClientId,
    user: &UserId,
) {
    script
        .run(
            "INSERT INTO clients (document, client, user_id) VALUES ($1, $2, $3)
         ON CONFLICT (document, client) DO UPDATE SET user_id = excluded.user_id
         WHERE clients.user_id = excluded.user_id",
        )
        .bind(document.as_str())
        .bind(client.as_str())
        .bind(user.as_str());
    script.must(RowExpectation::BeOwn { document, client });
}

fn put_request(script: &mut StatementBatch<'_>, record: &RequestRecord) {
    script
        .run(
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
        .bind(&record.body);
}

fn append_decision(script: &mut StatementBatch<'_>, record: &DecisionRecord) {
    script
        .run(
            "INSERT INTO decisions (request, hunk, user_id, name, at_ms, body)
         VALUES ($1, $2, $3, $4, $5, $6)",
        )
        .bind(record.request.as_str())
        .bind(&record.hunk)
        .bind(record.user.as_str())
        .bind(&record.name)
        .bind(int(record.at_ms))
        .bind(record.body.to_string());
}

fn put_rule(script: &mut StatementBatch<'_>, record: &RuleRecord) {
    script
        .run(
            "INSERT INTO rules (id, document, session, created_ms, ended_ms, body)
         VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT (id) DO UPDATE SET ended_ms = excluded.ended_ms, body = excluded.body",
        )
        .bind(record.id.as_str())
        .bind(record.document.as_ref().map(DocumentId::as_str))
        .bind(record.session.as_str())
        .bind(int(record.created_ms))
        .bind(record.ended_ms.map(int))
        .bind(record.body.to_string());
}

fn put_session(script: &mut StatementBatch<'_>, record: &SessionRecord) {
    script
        .run(
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
        .bind(record.body.to_string());
}

fn append_messages(
    script: &mut StatementBatch<'_>,
    session: &SessionId,
    document: Option<&DocumentId>,
    messages: &[MessageRecord],
) {
    let document = document.map_or("", DocumentId::as_str);
    for message in messages {
        script
            .run(
                "INSERT INTO messages (session, document, seq, role, body, at_ms)
                 SELECT $1, $2, COALESCE(MAX(seq), 0) + 1, $3, $4, $5
                 FROM messages WHERE session = $1 AND document = $2",
            )
            .bind(session.as_str())
            .bind(document)
            .bind(&message.role)
            .bind(message.body.to_string())
            .bind(int(message.at_ms));
    }
}

fn run_heard(script: &mut StatementBatch<'_>, session: &SessionId, run: &RunId, at_ms: u64) {
    script
        .run("UPDATE runs SET heard_ms = $3 WHERE session = $1 AND id = $2")
        .bind(session.as_str())
        .bind(RunRecord::key(session, run).to_string())
        .bind(int(at_ms));
}

fn put_run(script: &mut StatementBatch<'_>, record: &RunRecord) {
    script.run("INSERT INTO runs (id, session, document, user_id, state, body, created_ms, finished_ms)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
         ON CONFLICT (id) DO UPDATE SET state = excluded.state, body = excluded.body,
             finished_ms = excluded.finished_ms")
    .bind(record.id.as_str())
    .bind(record.session.as_str())
    .bind(record.document.as_ref().map(DocumentId::as_str))
    .bind(record.user.as_str())
    .bind(record.state.as_str())
    .bind(record.body.to_string())
    .bind(int(record.created_ms))
    .bind(record.finished_ms.map(int));
}

fn put_token(script: &mut StatementBatch<'_>, record: &TokenRecord) {
    script
        .run(
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
        .bind(record.revoked_ms.map(int));
}

fn revoke_token<'a>(script: &mut StatementBatch<'a>, token: &'a TokenId, at_ms: u64) {
    script
        .run("UPDATE tokens SET revoked_ms = COALESCE(revoked_ms, $2) WHERE id = $1")
        .bind(token.as_str())
        .bind(int(at_ms));
    script.must(RowExpectation::BeThere { kind: "token", id: token.as_str() });
}

fn use_token(script: &mut StatementBatch<'_>, token: &TokenId, at_ms: u64) {
    script
        .run("UPDATE tokens SET used_ms = $2 WHERE id = $1")
        .bind(token.as_str())
        .bind(int(at_ms));
}
