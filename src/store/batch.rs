//! What can be written, and batches of it that happen together or not at all.

use serde_json::Value;

use crate::ids::{
    ClientId, DocumentId, RequestId, RunId, SessionId, TokenId, UserId, Version, WebhookId,
};
use crate::permissions::Role;

use super::answers::AnswerRecord;
use super::idempotency::IdempotencyRecord;
use super::records::{
    AuditEntry, DecisionRecord, DocumentRecord, FileRecord, MessageRecord, RequestRecord,
    RuleRecord, RunRecord, SessionRecord, TokenRecord, UpdateRecord,
};
use super::webhooks::{DeliveryOutcome, WebhookRecord};

/// One write.
#[derive(Clone, Debug, PartialEq)]
pub enum StoreOp {
    /// A new document with its first text, which becomes the snapshot of `record.version`.
    CreateDocument {
        /// The document; an id that is in use fails as [`Exists`](super::StoreError::Exists).
        record: DocumentRecord,
        /// Its text, with line ends normalised.
        text: String,
    },
    /// Changed title, settings, `updated_ms` or `deleted`; the version and the rest are left alone.
    PutDocument(DocumentRecord),
    /// Updates that lead on from version `from`; several are one statement.
    ///
    /// Fails as [`Conflict`](super::StoreError::Conflict) unless the document is at `from`.
    AppendUpdates {
        /// The document.
        document: DocumentId,
        /// The version before the first of them, as on the wire.
        from: Version,
        /// In order; the first makes version `from + 1`.
        updates: Vec<UpdateRecord>,
    },
    /// The text at a version. The first snapshot, the newest few and the permanent ones are kept: those that are asked to be,
    /// and one wherever much was written since the permanent one before.
    PutSnapshot {
        /// The document.
        document: DocumentId,
        /// The version of `text`.
        version: Version,
        /// The text.
        text: String,
        /// Bytes of the updates between the snapshot before and this one.
        replayed_bytes: u64,
        /// Whether it stays in any case.
        permanent: bool,
    },
    /// What an update made by the server put into the text; once for each version.
    PutPlacements {
        /// The document.
        document: DocumentId,
        /// The version the update makes.
        version: Version,
        /// As the room writes it.
        body: Value,
    },
    /// Who wrote every span at a version, worked out from the log. The newest few are kept.
    PutProvenance {
        /// The document.
        document: DocumentId,
        /// The version.
        version: Version,
        /// As the room writes it, JSON.
        body: String,
    },
    /// An editor instance belongs to the first person who pushes with it; anybody else's claim
    /// fails as [`ClientTaken`](super::StoreError::ClientTaken).
    ClaimClient {
        /// The document.
        document: DocumentId,
        /// The editor instance.
        client: ClientId,
        /// Who claims it.
        user: UserId,
    },
    /// A new request, or its new state.
    PutRequest(RequestRecord),
    /// A decision or vote.
    AppendDecision(DecisionRecord),
    /// What a request did to a file is being taken back.
    BeginUndo(RequestId),
    /// It is over, whatever came of it.
    EndUndo(RequestId),
    /// A new rule, or its end.
    PutRule(RuleRecord),
    /// A new session, or its new state.
    PutSession(SessionRecord),
    /// More of a conversation.
    AppendMessages {
        /// The session.
        session: SessionId,
        /// The document the conversation is about, if any; each has its own transcript.
        document: Option<DocumentId>,
        /// In order.
        messages: Vec<MessageRecord>,
    },
    /// A new run, or its new state.
    PutRun(RunRecord),
    /// The session was told how one of its runs ended; one that is not there is no error.
    RunHeard {
        /// The session.
        session: SessionId,
        /// The run, as the session calls it.
        run: RunId,
        /// When.
        at_ms: u64,
    },
    /// One line of the audit log; place and hashes are added by the writer.
    Audit(AuditEntry),
    /// A new token, or its new state.
    PutToken(TokenRecord),
    /// Nothing is written; the batch fails as [`NotAllowed`](super::StoreError::NotAllowed) unless this holds when it is.
    Provided(RequiredRight),
    /// The token stops working; revoking twice keeps the first time.
    RevokeToken {
        /// Which token; an unknown one fails as [`Missing`](super::StoreError::Missing).
        token: TokenId,
        /// When.
        at_ms: u64,
    },
    /// Somebody came in with the token. One that is gone is no error.
    UseToken {
        /// Which token.
        token: TokenId,
        /// When.
        at_ms: u64,
    },
    /// How far a file of the workspace and its document agree.
    PutFile(FileRecord),
    /// A write that named a key was begun, or answered.
    PutOnce(IdempotencyRecord),
    /// A write that named a key came to nothing.
    ForgetOnce {
        /// Whose key it is.
        user: UserId,
        /// The key.
        key: String,
    },
    /// Keys that are too old to count.
    ForgetOldOnces {
        /// Those begun before this.
        before_ms: u64,
    },
    /// An answer to a program that was not shown everything.
    PutAnswer(AnswerRecord),
    /// What was kept under a key is of no use any more.
    DropAnswer {
        /// Whose program was answered.
        user: UserId,
        /// The key.
        key: String,
    },
    /// The conversation of such answers went on.
    UseAnswers {
        /// Whose program it is.
        user: UserId,
        /// Their keys.
        keys: Vec<String>,
        /// When.
        at_ms: u64,
    },
    /// Such answers that are too old, or too many.
    ForgetAnswers {
        /// Whose may be too many.
        user: UserId,
        /// Anybody's that were last used before this.
        before_ms: u64,
        /// Bytes that one person's may have.
        most_bytes: u64,
    },
    /// A new webhook, or its new address or activity.
    PutWebhook(WebhookRecord),
    /// The webhook is told nothing any more.
    RemoveWebhook(WebhookId),
    /// What became of a delivery.
    Settle {
        /// Its place in the outbox.
        seq: i64,
        /// Whom it was for.
        hook: WebhookId,
        /// When.
        at_ms: u64,
        /// What.
        outcome: DeliveryOutcome,
    },
    /// One of the server's own values.
    PutSetting {
        /// Its name.
        key: String,
        /// Its value.
        value: String,
    },
}

/// That somebody holds a token that is good, reaches something, and has one of these roles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequiredRight {
    /// Who.
    pub user: UserId,
    /// The roles that will do.
    pub roles: Vec<Role>,
    /// What it must reach; `None`: the server as a whole.
    pub document: Option<DocumentId>,
    /// When, in milliseconds since the epoch.
    pub now_ms: u64,
}

/// Writes that take effect together or not at all, in this order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WriteBatch {
    ops: Vec<StoreOp>,
}

impl WriteBatch {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The batch with `op` as its last write.
    #[must_use]
    pub fn with(mut self, op: StoreOp) -> Self {
        self.push(op);
        self
    }

    /// Adds `op` as the last write.
    pub fn push(&mut self, op: StoreOp) {
        self.ops.push(op);
    }

    /// Whether there is nothing to write.
    pub fn is_empty(&self) -> bool {
        self.ops.is_empty()
    }

    /// Whether somebody outside may have to be told something.
    pub(super) fn is_news(&self) -> bool {
        self.ops.iter().any(|op| matches!(op, StoreOp::PutRequest(_) | StoreOp::PutWebhook(_)))
    }

    /// Bytes of the texts it writes, as far as they can be long.
    pub(super) fn text_bytes(&self) -> usize {
        let of = |op: &StoreOp| match op {
            StoreOp::CreateDocument { text, .. } | StoreOp::PutSnapshot { text, .. } => text.len(),
            StoreOp::AppendUpdates { updates, .. } => {
                updates.iter().map(|update| update.changes.len()).sum()
            }
            StoreOp::PutRequest(record) => record.body.len(),
            StoreOp::PutProvenance { body, .. } => body.len(),
            _ => 0,
        };
        self.ops.iter().map(of).sum()
    }

    /// The writes, in order.
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

/// Which requests or rules are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueryScope<'a> {
    /// Those that would change one document.
    Document(&'a DocumentId),
    /// Those without a document.
    Desk,
    /// All.
    Everything,
}
