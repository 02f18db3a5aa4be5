//! Write operations as statements: one function per operation, inside the writer's transaction.

use copydesk_failpoint as failpoint;
use copydesk_ids::{ClientId, DocumentId, RunId, SessionId, TokenId, UserId};

use super::administration::{deleted_people, document_roles, person_rows, spending};
use super::audit::AuditHead;
use super::records::{
    DecisionRecord, DocumentRecord, LoginRecord, MessageRecord, PAST, RequestRecord, RuleRecord,
    RunRecord, SessionRecord, TokenRecord,
};
use super::updates::LogAppend;
use super::{
    StoreError, StoreOp, WriteBatch, answers, audit, comments, idempotency, open_files, provenance,
    requests, settings, unfinished_undos, updates, webhooks,
};
use crate::database::connection::WriterConnection;
use crate::database::postgres::session::FoundState;
use crate::database::statement_batch::{BatchError, BatchFrame, RowExpectation, StatementBatch};
use crate::queries::snapshots;

/// State of the database that the writer knows without a query.
#[derive(Clone, Debug)]
pub(super) struct WriterCache {
    /// End of the audit log.
    pub head: AuditHead,
    /// `true` if there may be webhooks: only then requests are added to the outbox. One server
    /// alone is the only process that writes webhooks; of several, each looks anew.
    pub webhooks: bool,
}

impl WriterCache {
    fn found(FoundState { seq, hash, webhooks }: FoundState) -> Self {
        let head = match (seq, hash) {
            (Some(seq), Some(hash)) => AuditHead { seq: seq.unsigned_abs(), hash },
            _ => AuditHead::default(),
        };
        Self { head, webhooks }
    }

    pub(super) async fn read(db: &mut WriterConnection) -> Result<Self, StoreError> {
        let head = audit::head(db).await?;
        Ok(Self { head, webhooks: webhooks::are_any(db).await? })
    }
}

/// Writes every operation of `batches`, in order, in a transaction of its own, and commits it.
/// After an error the transaction may still be open.
pub(super) async fn transaction(
    db: &mut WriterConnection,
    batches: &[WriteBatch],
    known: WriterCache,
) -> Result<WriterCache, BatchError> {
    framed(db, BatchFrame::Transaction, batches, known).await
}

pub(super) async fn savepoint(
    db: &mut WriterConnection,
    batch: &WriteBatch,
    known: WriterCache,
) -> Result<WriterCache, BatchError> {
    framed(db, BatchFrame::Savepoint, std::slice::from_ref(batch), known).await
}

async fn framed(
    db: &mut WriterConnection,
    frame: BatchFrame,
    batches: &[WriteBatch],
    mut known: WriterCache,
) -> Result<WriterCache, BatchError> {
    let mut script = db.script();
    script.begin(frame);
    if frame == BatchFrame::Transaction
        && let Some(found) = script.found().await?
    {
        known = WriterCache::found(found);
    }
    let reached = known.head.seq;
    // Texts of a group grow by one pair of statements for all documents. What fails in a group is
    // tried again batch by batch, and then has an error of its own.
    let (is_group, mut appends) = (batches.len() > 1, Vec::new());
    for (index, batch) in batches.iter().enumerate() {
        if index > 0 {
            cut_at("store.grouped", &mut script).await?;
        }
        for op in batch.ops() {
            match op {
                StoreOp::AppendUpdates { document, from, updates } if is_group => {
                    appends.push(LogAppend { document, from: *from, updates });
                }
                op => one(&mut script, &mut known, op).await?,
            }
            if script.is_large() {
                script.send().await?;
            }
        }
    }
    updates::append_all(&mut script, &appends).await?;
    if known.head.seq > reached {
        audit::note_head(&mut script, &known.head);
    }
    cut_at("store.written", &mut script).await?;
    script.end(frame).await?;
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

fn put_request_and_note<'a>(
    script: &mut StatementBatch<'a>,
    known: &WriterCache,
    record: &'a RequestRecord,
) {
    if known.webhooks {
        webhooks::note(script, record);
    }
    requests::put(script, record);
}

#[expect(clippy::too_many_lines, reason = "an arm for each operation")]
async fn one<'a>(
    script: &mut StatementBatch<'a>,
    known: &mut WriterCache,
    op: &'a StoreOp,
) -> Result<(), BatchError> {
    match op {
        StoreOp::CreateDocument { record, text } => create_document(script, record, text),
        StoreOp::PutDocument(record) => put_document(script, record),
        StoreOp::AppendUpdates { document, from, updates } => {
            updates::append(script, LogAppend { document, from: *from, updates }).await?;
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
        StoreOp::PutRequestParts { request, expires_ms, parts } => {
            requests::put_parts(script, request, *expires_ms, parts);
        }
        StoreOp::AppendDecision(record) => append_decision(script, record),
        StoreOp::BeginUndo(request) => unfinished_undos::begin(script, request),
        StoreOp::EndUndo(request) => unfinished_undos::end(script, request),
        StoreOp::PutRule(record) => put_rule(script, record),
        StoreOp::PutSession(record) => put_session(script, record),
        StoreOp::AppendMessages { session, document, messages } => {
            append_messages(script, session, document.as_ref(), messages);
        }
        StoreOp::PutRun(record) => put_run(script, record),
        StoreOp::RemoveRun(id) => script.run("DELETE FROM runs WHERE id = $1", &[id]),
        StoreOp::ForgetRun { document, session, run } => {
            forget_run(script, document, session, run);
        }
        StoreOp::RunHeard { session, run, at_ms } => run_heard(script, session, run, *at_ms),
        StoreOp::Audit(entry) => audit::append(script, &mut known.head, entry),
        StoreOp::PutToken(record) => put_token(script, record),
        StoreOp::PutLogin(record) => put_login(script, record),
        StoreOp::RemoveEndedSignIns { user, now_ms } => {
            remove_ended_sign_ins(script, user, *now_ms);
        }
        StoreOp::ChangeTokensOf { user, at_ms } => change_tokens_of(script, user, *at_ms),
        StoreOp::RevokeToken { token, at_ms } => revoke_token(script, token, *at_ms),
        StoreOp::UseToken { token, at_ms } => use_token(script, token, *at_ms),
        StoreOp::PutFile(record) => open_files::put(script, record),
        StoreOp::BeginOnce(record) => idempotency::begin(script, record),
        StoreOp::PutOnce(record) => idempotency::put(script, record),
        StoreOp::ForgetOnce { user, key } => idempotency::forget(script, user, key),
        StoreOp::ForgetOldOnces { before_ms } => idempotency::forget_old(script, *before_ms),
        StoreOp::PutAnswer(record) => answers::put(script, record),
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
        StoreOp::LogPending { documents } => updates::log_pending(script, *documents),
        StoreOp::RemoveSetting(key) => settings::remove(script, key),
        StoreOp::AddSpending(entry) => spending::add(script, entry),
        StoreOp::PutSpendingLimit { scope, amount } => spending::put_limit(script, scope, *amount),
        StoreOp::MoveSpending { from, to } => spending::move_to(script, from, to),
        StoreOp::PutDocumentRole(record) => document_roles::put(script, record),
        StoreOp::RemoveDocumentRole { document, grantee } => {
            document_roles::remove(script, document, grantee);
        }
        StoreOp::RemoveDocumentRoles(document) => document_roles::remove_all(script, document),
        StoreOp::BeginPersonDeletion(deletion) => deleted_people::begin(script, deletion),
        StoreOp::PutPersonDeletion(deletion) => deleted_people::put(script, deletion),
        StoreOp::ChangePersonRow(op) => person_rows::write(script, op),
        StoreOp::PutThread(record) => comments::put(script, record),
        StoreOp::MoveThreads(anchors) => comments::move_to(script, anchors),
        StoreOp::RemoveThread(thread) => comments::remove(script, thread),
        StoreOp::PutThreadReads { user, threads } => comments::put_reads(script, user, threads),
    }
    Ok(())
}

fn create_document<'a>(script: &mut StatementBatch<'a>, record: &'a DocumentRecord, text: &str) {
    let DocumentRecord { id, title, created_ms, updated_ms, version, .. } = record;
    let DocumentRecord { settings, unlisted_owner: owner, deleted, .. } = record;
    let sql = "INSERT INTO documents
             (id, title, created_ms, updated_ms, version, settings, unlisted_owner, deleted)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (id) DO NOTHING";
    script.run(sql, &[id, title, created_ms, updated_ms, version, settings, owner, deleted]);
    script.must(RowExpectation::BeNew { kind: "document", id: id.as_str() });
    snapshots::put(script, id, (*version, text), 0, true);
}

fn put_document<'a>(script: &mut StatementBatch<'a>, record: &'a DocumentRecord) {
    let DocumentRecord { id, title, updated_ms, settings, deleted, purged, .. } = record;
    let sql = "UPDATE documents SET title = $2, updated_ms = $3, settings = $4, deleted = $5,
             purged = $6
         WHERE id = $1";
    script.run(sql, &[id, title, updated_ms, settings, deleted, purged]);
    script.must(RowExpectation::BeThere { kind: "document", id: id.as_str() });
}

fn claim_client<'a>(
    script: &mut StatementBatch<'a>,
    document: &'a DocumentId,
    client: &'a ClientId,
    user: &UserId,
) {
    let sql = "INSERT INTO clients (document, client, user_id) VALUES ($1, $2, $3)
         ON CONFLICT (document, client) DO UPDATE SET user_id = excluded.user_id
         WHERE clients.user_id = excluded.user_id";
    script.run(sql, &[document, client, user]);
    script.must(RowExpectation::BeOwn { document, client });
}

fn append_decision(script: &mut StatementBatch<'_>, record: &DecisionRecord) {
    let DecisionRecord { request, hunk, user, name, at_ms, body } = record;
    let sql = "INSERT INTO decisions (request, hunk, user_id, name, at_ms, body)
         VALUES ($1, $2, $3, $4, $5, $6)";
    script.run(sql, &[request, hunk, user, name, at_ms, body]);
}

fn put_rule(script: &mut StatementBatch<'_>, record: &RuleRecord) {
    let RuleRecord { id, document, session, created_ms, ended_ms, body } = record;
    let sql = "INSERT INTO rules (id, document, session, created_ms, ended_ms, body)
         VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT (id) DO UPDATE SET ended_ms = excluded.ended_ms, body = excluded.body";
    script.run(sql, &[id, document, session, created_ms, ended_ms, body]);
}

fn put_session(script: &mut StatementBatch<'_>, record: &SessionRecord) {
    let SessionRecord { id, user, created_ms, seen_ms, permission_mode, body } = record;
    // Whatever a person does whose data is being deleted leaves nothing.
    let sql = "INSERT INTO sessions (id, user_id, created_ms, seen_ms, permission_mode, body)
         SELECT $1, $2, $3, $4, $5, $6
         WHERE NOT EXISTS (SELECT 1 FROM deleted_people WHERE user_id = $2)
         ON CONFLICT (id) DO UPDATE SET permission_mode = excluded.permission_mode,
             body = excluded.body,
             seen_ms = CASE WHEN excluded.seen_ms < sessions.created_ms
                 THEN sessions.created_ms ELSE excluded.seen_ms END";
    // The clock may have been set back since the session began, or be that of another server, which
    // may have begun it at the same moment.
    let seen_ms = (*seen_ms).max(*created_ms);
    script.run(sql, &[id, user, created_ms, &seen_ms, permission_mode, body]);
}

fn append_messages(
    script: &mut StatementBatch<'_>,
    session: &SessionId,
    document: Option<&DocumentId>,
    messages: &[MessageRecord],
) {
    let document = document.map_or("", DocumentId::as_str);
    let sql = "INSERT INTO messages (session, document, seq, role, body, at_ms)
         SELECT $1, $2, COALESCE(MAX(seq), 0) + 1, $3, $4, $5
         FROM messages WHERE session = $1 AND document = $2";
    for MessageRecord { role, body, at_ms } in messages {
        script.run(sql, &[session, &document, role, body, at_ms]);
    }
}

fn forget_run(
    script: &mut StatementBatch<'_>,
    document: &DocumentId,
    session: &SessionId,
    run: &RunId,
) {
    // In other conversations, the names of sessions stand before that of the run.
    let sql = r#"DELETE FROM messages WHERE document = $1
         AND (session = $2 AND body LIKE '%"run":"' || $3 || '"%'
             OR role = $4 AND body LIKE '%/' || $3 || '"%')"#;
    script.run(sql, &[document, session, run, &PAST]);
    let sql = "DELETE FROM runs WHERE id = $1 AND finished_ms IS NOT NULL";
    script.run(sql, &[&RunRecord::key(session, run)]);
}

fn run_heard(script: &mut StatementBatch<'_>, session: &SessionId, run: &RunId, at_ms: u64) {
    let sql = "UPDATE runs SET heard_ms = $3 WHERE session = $1 AND id = $2";
    script.run(sql, &[session, &RunRecord::key(session, run), &at_ms]);
}

fn put_run<'a>(script: &mut StatementBatch<'a>, record: &'a RunRecord) {
    let RunRecord { id, session, document, user, state, body, created_ms, finished_ms } = record;
    // Runs of a person whose data is deleted end; none begins.
    let sql =
        "INSERT INTO runs (id, session, document, user_id, state, body, created_ms, finished_ms)
         SELECT $1, $2, $3, $4, $5, $6, $7, $8
         WHERE NOT EXISTS (SELECT 1 FROM deleted_people WHERE user_id = $4)
             OR EXISTS (SELECT 1 FROM runs WHERE id = $1)
         ON CONFLICT (id) DO UPDATE SET state = excluded.state, body = excluded.body,
             finished_ms = excluded.finished_ms";
    script.run(sql, &[id, session, document, user, state, body, created_ms, finished_ms]);
    script.must(RowExpectation::BeThere { kind: "person", id: user.as_str() });
}

/// Stores a token. Another one may have revoked or tied it since it was read: both last.
fn put_token<'a>(script: &mut StatementBatch<'a>, record: &'a TokenRecord) {
    let TokenRecord { id, hash, user, name, role, document, .. } = record;
    let TokenRecord { created_ms, expires_ms, revoked_ms, .. } = record;
    let TokenRecord { login, former_user: former, changed_ms, .. } = record;
    let sql = "INSERT INTO tokens
             (id, hash, user_id, name, role, document, created_ms, expires_ms, revoked_ms,
              login, former_user, changed_ms)
         SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12
         WHERE NOT EXISTS (SELECT 1 FROM deleted_people WHERE user_id = $3)
         ON CONFLICT (id) DO UPDATE SET hash = excluded.hash,
             user_id = CASE WHEN tokens.login IS NOT NULL THEN tokens.user_id
                 ELSE excluded.user_id END,
             name = excluded.name, role = excluded.role, document = excluded.document,
             expires_ms = excluded.expires_ms,
             revoked_ms = COALESCE(tokens.revoked_ms, excluded.revoked_ms),
             login = COALESCE(tokens.login, excluded.login),
             former_user = COALESCE(tokens.former_user, excluded.former_user),
             changed_ms = COALESCE(excluded.changed_ms, tokens.changed_ms)";
    script.run(
        sql,
        &[
            id, hash, user, name, role, document, created_ms, expires_ms, revoked_ms, login,
            former, changed_ms,
        ],
    );
    script.must(RowExpectation::BeThere { kind: "person", id: user.as_str() });
}

fn put_login(script: &mut StatementBatch<'_>, record: &LoginRecord) {
    let LoginRecord { user, issuer, subject, name, email, groups, .. } = record;
    let LoginRecord { created_ms, signed_in_ms, .. } = record;
    let sql = "INSERT INTO logins
             (user_id, issuer, subject, name, email, group_names, created_ms, signed_in_ms)
         SELECT $1, $2, $3, $4, $5, $6, $7, $8
         WHERE NOT EXISTS (SELECT 1 FROM deleted_people WHERE user_id = $1)
         ON CONFLICT (issuer, subject) DO UPDATE SET name = excluded.name, email = excluded.email,
             group_names = excluded.group_names, signed_in_ms = excluded.signed_in_ms";
    let groups = serde_json::json!(groups);
    script.run(sql, &[user, issuer, subject, name, email, &groups, created_ms, signed_in_ms]);
}

fn remove_ended_sign_ins(script: &mut StatementBatch<'_>, user: &UserId, now_ms: u64) {
    let sql = "DELETE FROM tokens WHERE user_id = $1 AND login IS NOT NULL AND former_user IS NULL
         AND (revoked_ms IS NOT NULL OR expires_ms <= $2)";
    script.run(sql, &[user, &now_ms]);
}

fn change_tokens_of(script: &mut StatementBatch<'_>, user: &UserId, at_ms: u64) {
    script.run("UPDATE tokens SET changed_ms = $2 WHERE user_id = $1", &[user, &at_ms]);
}

fn revoke_token<'a>(script: &mut StatementBatch<'a>, token: &'a TokenId, at_ms: u64) {
    let sql = "UPDATE tokens SET revoked_ms = COALESCE(revoked_ms, $2) WHERE id = $1";
    script.run(sql, &[token, &at_ms]);
    script.must(RowExpectation::BeThere { kind: "token", id: token.as_str() });
}

fn use_token(script: &mut StatementBatch<'_>, token: &TokenId, at_ms: u64) {
    script.run("UPDATE tokens SET used_ms = $2 WHERE id = $1", &[token, &at_ms]);
}
