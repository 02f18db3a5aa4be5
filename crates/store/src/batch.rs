//! Write operations, and batches of them that are written completely or not at all.

use serde_json::Value;

use copydesk_ids::{
    ClientId, DocumentId, RequestId, RunId, SessionId, ThreadId, TokenId, UserId, Version,
    WebhookId,
};

use super::administration::person_records::{PersonDeletion, PersonRowOp};
use super::administration::records::{DocumentRoleRecord, Grantee, SpendingEntry, SpendingScope};
use super::database::columns::list;
use super::records::{
    AnswerRecord, AuditEntry, DecisionRecord, DocumentRecord, FileRecord, IdempotencyRecord,
    LoginRecord, MessageRecord, RequestPartRecord, RequestRecord, RuleRecord, RunRecord,
    SessionRecord, TokenRecord, UpdateRecord,
};
use super::records::{ThreadAnchor, ThreadRecord};
use super::webhooks::records::{DeliveryOutcome, WebhookRecord};

/// One write operation.
#[derive(Clone, Debug, PartialEq)]
pub enum StoreOp {
    /// Creates a document with its first text, which becomes the snapshot of `record.version`.
    CreateDocument {
        /// The document; an id that is in use fails as [`Exists`](super::StoreError::Exists).
        record: DocumentRecord,
        /// Text, with line ends normalised.
        text: String,
    },
    /// Stores a changed title, settings, `updated_ms`, `deleted` or `purged`, and nothing else.
    PutDocument(DocumentRecord),
    /// Appends updates in one statement; fails as [`Conflict`](super::StoreError::Conflict) unless
    /// the document is at `from`.
    AppendUpdates {
        /// The document.
        document: DocumentId,
        /// Version before the first of them, as on the wire.
        from: Version,
        /// Updates in order; the first makes version `from + 1`.
        updates: Vec<UpdateRecord>,
    },
    /// Stores the text at a version. Kept are the first, the newest few, and permanent ones: those
    /// marked so, and one wherever much was written since the permanent one before.
    PutSnapshot {
        /// The document.
        document: DocumentId,
        /// Version of `text`.
        version: Version,
        /// Text at `version`.
        text: String,
        /// Bytes of the updates between the snapshot before and this one.
        replayed_bytes: u64,
        /// `true` if the snapshot is always kept.
        permanent: bool,
    },
    /// Stores the passages that an update made by the server put into the text, once per version.
    PutPlacements {
        /// The document.
        document: DocumentId,
        /// Version that the update makes.
        version: Version,
        /// Passages, as the room writes them.
        body: Value,
    },
    /// Stores the provenance of a version, worked out from the log. The newest few are kept.
    PutProvenance {
        /// The document.
        document: DocumentId,
        /// The version.
        version: Version,
        /// Authors of every span as JSON, as the room writes it.
        body: String,
    },
    /// Binds an editor instance to the first person who pushes with it; another person's claim
    /// fails as [`ClientTaken`](super::StoreError::ClientTaken).
    ClaimClient {
        /// The document.
        document: DocumentId,
        /// The editor instance.
        client: ClientId,
        /// Person who claims it.
        user: UserId,
    },
    /// Stores a new request, or its new state as a whole.
    PutRequest(RequestRecord),
    /// Stores the parts of a request that changed, which stays open and keeps its other parts.
    PutRequestParts {
        /// The request.
        request: RequestId,
        /// Time at which it expires; `None`: never.
        expires_ms: Option<u64>,
        /// Parts of the request.
        parts: Vec<RequestPartRecord>,
    },
    /// Stores a decision or vote.
    AppendDecision(DecisionRecord),
    /// Records that a request's effect on a file is being taken back.
    BeginUndo(RequestId),
    /// Records that taking back a request's effect has ended, with whatever outcome.
    EndUndo(RequestId),
    /// Stores a new rule, or its end.
    PutRule(RuleRecord),
    /// Stores a new session, or its new state.
    PutSession(SessionRecord),
    /// Appends messages to a transcript.
    AppendMessages {
        /// The session.
        session: SessionId,
        /// The document the conversation is about, if any; each has its own transcript.
        document: Option<DocumentId>,
        /// Messages in order.
        messages: Vec<MessageRecord>,
    },
    /// Stores a new run, or its new state.
    PutRun(RunRecord),
    /// Removes a run that was a part of another one, by the store's name, if it exists.
    RemoveRun(RunId),
    /// Removes what was said in a run about a document, also in conversations that go on from it,
    /// and the run if it has ended.
    ForgetRun {
        /// The document.
        document: DocumentId,
        /// Session of the run.
        session: SessionId,
        /// Name of the run within its session, which is unique.
        run: RunId,
    },
    /// Records that a session was notified of the end of one of its runs, if that is known.
    RunHeard {
        /// The session.
        session: SessionId,
        /// Name of the run within its session.
        run: RunId,
        /// Time, in ms.
        at_ms: u64,
    },
    /// Appends a line to the audit log; the writer adds its place and hashes.
    Audit(AuditEntry),
    /// Stores a new token, or its new state.
    PutToken(TokenRecord),
    /// Stores a new login, or its newest data. The first person of an issuer's subject stays.
    PutLogin(LoginRecord),
    /// Removes the tokens of a person that came from signing in and have ended by `now_ms`.
    RemoveEndedSignIns {
        /// Person of the login.
        user: UserId,
        /// Time, in ms.
        now_ms: u64,
    },
    /// Records that the person behind the tokens of a login is known by more names than before.
    ChangeTokensOf {
        /// Person of the login.
        user: UserId,
        /// Time, in ms.
        at_ms: u64,
    },
    /// Revokes a token; revoking twice keeps the first time.
    RevokeToken {
        /// Token; an unknown one fails as [`Missing`](super::StoreError::Missing).
        token: TokenId,
        /// Time, in ms.
        at_ms: u64,
    },
    /// Records a use of a token. A token that is gone is no error.
    UseToken {
        /// Token that was used.
        token: TokenId,
        /// Time, in ms.
        at_ms: u64,
    },
    /// Stores how far a workspace file and its document agree.
    PutFile(FileRecord),
    /// Stores that a write with an idempotency key begins; a key in use fails as
    /// [`Exists`](super::StoreError::Exists).
    BeginOnce(IdempotencyRecord),
    /// Stores a write with an idempotency key that was begun, or answered.
    PutOnce(IdempotencyRecord),
    /// Removes a write with an idempotency key that came to nothing.
    ForgetOnce {
        /// Person whose key it is.
        user: UserId,
        /// The key.
        key: String,
    },
    /// Removes idempotency keys that are too old to count.
    ForgetOldOnces {
        /// Time in ms; keys begun before it are removed.
        before_ms: u64,
    },
    /// Stores an answer to a program that was not shown everything.
    PutAnswer(AnswerRecord),
    /// Records that a conversation with answers of [`PutAnswer`](Self::PutAnswer) went on.
    UseAnswers {
        /// Person whose program was answered.
        user: UserId,
        /// Keys of the answers.
        keys: Vec<String>,
        /// Time, in ms.
        at_ms: u64,
    },
    /// Removes answers of [`PutAnswer`](Self::PutAnswer) that are too old or too many.
    ForgetAnswers {
        /// Person whose answers are limited to `most_bytes`.
        user: UserId,
        /// Time in ms; all people's answers last used before it are removed.
        before_ms: u64,
        /// Bytes that the answers of `user` may have.
        most_bytes: u64,
    },
    /// Stores a new webhook, or its new address or activity.
    PutWebhook(WebhookRecord),
    /// Removes a webhook and its outbox.
    RemoveWebhook(WebhookId),
    /// Stores the outcome of a delivery.
    Settle {
        /// Place of the delivery in the outbox.
        seq: i64,
        /// Webhook that it was for.
        hook: WebhookId,
        /// Time, in ms.
        at_ms: u64,
        /// Outcome of the delivery.
        outcome: DeliveryOutcome,
    },
    /// Stores one of the server's own values.
    PutSetting {
        /// Name of the value.
        key: String,
        /// The value.
        value: String,
    },
    /// Puts the updates that are pending in SQLite into the log. The writer does this by itself.
    LogPending {
        /// Number of the documents that have pending updates.
        documents: usize,
    },
    /// Adds the cost of calls to what a month has cost so far.
    AddSpending(SpendingEntry),
    /// Stores a spending limit, or removes it.
    PutSpendingLimit {
        /// Calls that the limit is about.
        scope: SpendingScope,
        /// Limit of a calendar month, in billionths of a US dollar; `None`: no limit.
        amount: Option<u64>,
    },
    /// Counts what one person has spent for another, who also gets their limit if without one.
    MoveSpending {
        /// Person who has spent it.
        from: UserId,
        /// Person for whom it counts from now on.
        to: UserId,
    },
    /// Stores a role in a document, or another one for the same people.
    PutDocumentRole(DocumentRoleRecord),
    /// Removes the role of these people in a document; having none is no error.
    RemoveDocumentRole {
        /// The document.
        document: DocumentId,
        /// People who had the role.
        grantee: Grantee,
    },
    /// Removes all roles that were given in a document.
    RemoveDocumentRoles(DocumentId),
    /// Begins the deletion of a person's data: revokes tokens, removes login and limits. One that
    /// is under way fails as [`Exists`](super::StoreError::Exists).
    BeginPersonDeletion(PersonDeletion),
    /// Stores how far the deletion of a person's data is, or its end.
    PutPersonDeletion(PersonDeletion),
    /// Changes a row that names a person whose data is deleted, or removes one of theirs.
    ChangePersonRow(PersonRowOp),
    /// Removes one of the server's own values.
    RemoveSetting(String),
    /// Stores a new thread of comments, or its new state.
    PutThread(ThreadRecord),
    /// Stores where threads are at a newer version.
    MoveThreads(Vec<ThreadAnchor>),
    /// Removes a thread, and what people have read of it.
    RemoveThread(ThreadId),
    /// Stores how many comments of threads a person has read; fewer than before change nothing.
    PutThreadReads {
        /// The person.
        user: UserId,
        /// Number of comments, by thread.
        threads: Vec<(ThreadId, u64)>,
    },
}

/// Writes ([`StoreOp`]) that take effect together or not at all, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WriteBatch {
    ops: Vec<StoreOp>,
}

impl WriteBatch {
    /// Returns an empty batch.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the batch with `op` as its last write.
    #[must_use]
    pub fn with(mut self, op: StoreOp) -> Self {
        self.push(op);
        self
    }

    /// Adds `op` as the last write.
    pub fn push(&mut self, op: StoreOp) {
        self.ops.push(op);
    }

    /// Returns `true` if there is nothing to write.
    pub fn is_empty(&self) -> bool {
        self.ops.is_empty()
    }

    /// Returns `true` if webhooks may have to be notified.
    pub(super) fn is_news(&self) -> bool {
        self.ops.iter().any(|op| matches!(op, StoreOp::PutRequest(_) | StoreOp::PutWebhook(_)))
    }

    pub(super) fn text_bytes(&self) -> usize {
        let of = |op: &StoreOp| match op {
            StoreOp::CreateDocument { text, .. } | StoreOp::PutSnapshot { text, .. } => text.len(),
            StoreOp::AppendUpdates { updates, .. } => {
                updates.iter().map(|update| update.changes.len()).sum()
            }
            StoreOp::PutRequest(record) => record.body.len(),
            StoreOp::PutRequestParts { parts, .. } => parts.iter().map(|it| it.body.len()).sum(),
            StoreOp::PutProvenance { body, .. } => body.len(),
            StoreOp::ChangePersonRow(op) => op.text_bytes(),
            StoreOp::PutThread(record) => record.anchor.len() + record.body.len(),
            StoreOp::MoveThreads(anchors) => anchors.iter().map(|it| it.anchor.len()).sum(),
            _ => 0,
        };
        self.ops.iter().map(of).sum()
    }

    /// Returns the writes, in order.
    pub fn ops(&self) -> &[StoreOp] {
        &self.ops
    }
}

impl From<StoreOp> for WriteBatch {
    fn from(op: StoreOp) -> Self {
        Self { ops: vec![op] }
    }
}

impl FromIterator<StoreOp> for WriteBatch {
    fn from_iter<I: IntoIterator<Item = StoreOp>>(ops: I) -> Self {
        Self { ops: ops.into_iter().collect() }
    }
}

impl IntoIterator for WriteBatch {
    type Item = StoreOp;
    type IntoIter = std::vec::IntoIter<StoreOp>;

    fn into_iter(self) -> Self::IntoIter {
        self.ops.into_iter()
    }
}

impl Extend<StoreOp> for WriteBatch {
    fn extend<I: IntoIterator<Item = StoreOp>>(&mut self, ops: I) {
        self.ops.extend(ops);
    }
}

/// Scope of a query for requests or rules, as in [`Store::requests`](super::Store::requests).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueryScope<'a> {
    /// Requests or rules of one document.
    Document(&'a DocumentId),
    /// Requests or rules of these documents.
    Documents(&'a [DocumentId]),
    /// Requests or rules without a document.
    WorkspaceInbox,
    /// All requests or rules.
    Everything,
}

impl QueryScope<'_> {
    /// Returns `$1` of a query with [`QueryScope::condition`].
    pub(super) fn value(self) -> Option<String> {
        match self {
            Self::Document(document) => Some(document.to_string()),
            Self::Documents(documents) => Some(list(documents).to_string()),
            Self::WorkspaceInbox | Self::Everything => None,
        }
    }

    pub(super) fn condition(self) -> &'static str {
        match self {
            Self::Document(_) => "document = $1",
            Self::Documents(_) => "document IN (SELECT value ->> 0 FROM json_each($1))",
            Self::WorkspaceInbox => "$1 IS NULL AND document IS NULL",
            Self::Everything => "$1 IS NULL",
        }
    }
}
