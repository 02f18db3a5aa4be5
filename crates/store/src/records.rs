//! Stored records: plain rows, with domain values as JSON that only their owner reads.
//!
//! Times are milliseconds since the Unix epoch (UTC) and end in `_ms`.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sqlx::{ColumnIndex, Decode, FromRow, Row, Type};

use copydesk_ids::permissions::Role;
use copydesk_ids::{
    ClientId, DocumentId, RequestId, RuleId, RunId, SessionId, ThreadId, TokenId, UserId, Version,
};
use copydesk_macros::names;
use copydesk_macros::record;

/// A document without its text.
#[record(Clone, Debug, PartialEq)]
pub struct DocumentRecord {
    /// Identifier of the document.
    pub id: DocumentId,
    /// Title that people see.
    pub title: String,
    /// Time of creation.
    pub created_ms: u64,
    /// Time of the last change of text, title or settings.
    pub updated_ms: u64,
    /// Number of updates; changed by [`StoreOp::AppendUpdates`](super::StoreOp::AppendUpdates)
    /// alone.
    pub version: Version,
    /// Review policy, approvals, timeout, frozen ranges.
    pub settings: Value,
    /// Session that owns this private document; such a document is never listed.
    pub unlisted_owner: Option<SessionId>,
    /// `true` for a deleted document, at `updated_ms`: neither listed nor loaded.
    pub deleted: bool,
    /// `true` for a deleted document that was removed from the trash: it cannot be recovered.
    pub purged: bool,
}

impl DocumentRecord {
    /// Returns a new document without updates or settings of its own.
    pub fn new(id: DocumentId, title: String, now_ms: u64) -> Self {
        Self {
            id,
            title,
            created_ms: now_ms,
            updated_ms: now_ms,
            version: Version(0),
            settings: serde_json::json!({}),
            unlisted_owner: None,
            deleted: false,
            purged: false,
        }
    }
}

/// One committed update, as it was broadcast.
#[record(Clone, Debug, PartialEq, Eq)]
pub struct UpdateRecord {
    /// Editor instance that made it.
    pub client: ClientId,
    /// CodeMirror's `ChangeSet` as JSON, byte for byte what clients received.
    pub changes: Box<str>,
    /// Person it is attributed to.
    pub author: UserId,
    /// Time of the commit.
    pub at_ms: u64,
    /// Cause of the update if no person typed it: the accepted request, for example.
    pub origin: Option<Box<str>>,
}

/// Stored text from which updates are replayed ([`starting_text`](super::Store::starting_text)).
#[derive(Clone, Debug, PartialEq)]
pub struct StartingText {
    /// Document record; its `version` is the requested one, or the newest if that is older.
    pub record: DocumentRecord,
    /// Version of `text`.
    pub snapshot: Version,
    /// Text at `snapshot`.
    pub text: String,
}

/// Document as a room needs it: a [`StartingText`] and the updates from there to now.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadedDocument {
    /// Document record; its `version` is the one that `updates` lead to.
    pub record: DocumentRecord,
    /// Version of `text`.
    pub snapshot: Version,
    /// Text at `snapshot`.
    pub text: String,
    /// One update per version, from `snapshot` on, without gaps.
    pub updates: Vec<UpdateRecord>,
}

/// Entry of a document's history ([`Store::history`](super::Store::history)).
#[record(Clone, Debug, PartialEq, Eq)]
pub struct HistoryRecord {
    /// Version that the update made.
    pub version: Version,
    /// Author of the update.
    pub author: UserId,
    /// Time of the update.
    pub at_ms: u64,
    /// Cause of the update, if no person typed it.
    pub origin: Option<Box<str>>,
    /// CodeMirror's `ChangeSet` as JSON; `None` if it is longer than 8,192 characters.
    pub changes: Option<Box<str>>,
}

/// Gated tool call; `body` is the request as `approvals` last wrote it as a whole.
#[record(Clone, Debug, PartialEq)]
pub struct RequestRecord {
    /// Identifier of the request.
    pub id: RequestId,
    /// Document it would change; `None`: the request is in the workspace inbox.
    pub document: Option<DocumentId>,
    /// Session that asked.
    pub session: SessionId,
    /// Run that waits for it.
    pub run: RunId,
    /// Status, by its name on the wire.
    pub status: String,
    /// `true` if it may still be decided.
    #[sqlx(rename = "is_open")]
    pub open: bool,
    /// Time at which it was announced.
    pub created_ms: u64,
    /// Time at which it expires; `None`: never.
    pub expires_ms: Option<u64>,
    /// Time of the newest decision about an ended request; `None`: only the body says if there is
    /// news of it, because it is open, undone, proposed again, or was stored by an older version.
    pub decided_ms: Option<u64>,
    /// Request as JSON, written once because it can be long.
    pub body: String,
    /// Parts of an open request that were stored since its body was.
    #[sqlx(skip)]
    pub changed: Vec<RequestPartRecord>,
}

impl RequestRecord {
    /// Returns the parts stored since the body was: the hunk, the version and the JSON of each.
    pub fn parts(&self) -> impl Iterator<Item = (&str, Version, &str)> {
        self.changed.iter().map(|it| (it.hunk.as_str(), it.version, it.body.as_str()))
    }
}

/// Facts about a request that are known without [its body](RequestRecord::body).
#[record(Clone, Debug, PartialEq, Eq)]
pub struct RequestStanding {
    /// Document it would change; `None`: the request is in the workspace inbox.
    pub document: Option<DocumentId>,
    /// Status, by its name on the wire.
    pub status: String,
    /// `true` if it may still be decided.
    #[sqlx(rename = "is_open")]
    pub open: bool,
    /// See [`RequestRecord::decided_ms`].
    pub decided_ms: Option<u64>,
}

/// Part of an open request, written by [`PutRequestParts`](super::StoreOp::PutRequestParts).
#[record(Clone, Debug, PartialEq, Eq)]
pub struct RequestPartRecord {
    /// Identifier of the request.
    pub request: RequestId,
    /// Identifier of the hunk; empty: everything but the hunks.
    pub hunk: String,
    /// Version of the document that its positions are of.
    pub version: Version,
    /// The part as JSON, as `rooms` writes it.
    pub body: String,
}

/// One decision or vote; never changed or removed.
#[record(Clone, Debug, PartialEq)]
pub struct DecisionRecord {
    /// Request that was decided.
    pub request: RequestId,
    /// Hunk that was decided; `None`: the request as a whole.
    pub hunk: Option<String>,
    /// Person who decided.
    #[sqlx(rename = "user_id")]
    pub user: UserId,
    /// Name of that person at that time.
    pub name: String,
    /// Time of the decision.
    pub at_ms: u64,
    /// Verdict, edited text, note.
    pub body: Value,
}

/// Rule made together with an approval; `body` is the whole rule as `approvals` writes it.
#[record(Clone, Debug, PartialEq)]
pub struct RuleRecord {
    /// Identifier of the rule.
    pub id: RuleId,
    /// Document it was made in; `None`: for work without one.
    pub document: Option<DocumentId>,
    /// Session whose request was approved.
    pub session: SessionId,
    /// Time at which it was made.
    pub created_ms: u64,
    /// Time at which it was revoked or its session ended; `None`: the rule is in force.
    pub ended_ms: Option<u64>,
    /// All other data of the rule.
    pub body: Value,
}

/// Milliseconds without use after which a session is over: 30 days.
const SESSION_TTL_MS: u64 = 30 * 24 * 60 * 60 * 1_000;

/// Session: the conversations of one person's client.
#[record(Clone, Debug, PartialEq)]
pub struct SessionRecord {
    /// Identifier of the session.
    pub id: SessionId,
    /// Person it belongs to.
    #[sqlx(rename = "user_id")]
    pub user: UserId,
    /// Time of its beginning.
    pub created_ms: u64,
    /// Time at which its person was last connected; sessions that are old enough are forgotten.
    pub seen_ms: u64,
    /// Permission mode chosen last; `None`: the server's.
    pub permission_mode: Option<String>,
    /// Other data of the session.
    pub body: Value,
}

impl SessionRecord {
    /// Returns a new session of this person.
    pub fn begin(user: UserId, now_ms: u64) -> Self {
        Self {
            id: SessionId::generate(),
            user,
            created_ms: now_ms,
            seen_ms: now_ms,
            permission_mode: None,
            body: serde_json::json!({}),
        }
    }

    /// Returns `true` if the session was unused for so long that it is not resumed any more.
    pub fn is_over(&self, now_ms: u64) -> bool {
        now_ms.saturating_sub(self.seen_ms) > SESSION_TTL_MS
    }
}

/// Role of a message with which a session's conversation begins anew.
pub const CLEAR: &str = "clear";
/// Role of messages of an earlier conversation, which this one continues.
pub const PAST: &str = "past";

/// Message of a transcript. The store numbers messages in the order in which they were appended.
#[record(Clone, Debug, PartialEq)]
pub struct MessageRecord {
    /// `user`, `assistant`, or `result` for the end of a run; [`CLEAR`] and [`PAST`].
    pub role: String,
    /// Contents of the message, as the agent writes them.
    pub body: Value,
    /// Time of the message.
    pub at_ms: u64,
}

/// Run of the agent.
#[record(Clone, Debug, PartialEq)]
pub struct RunRecord {
    /// Identifier, made by [`RunRecord::key`].
    pub id: RunId,
    /// Session it belongs to.
    pub session: SessionId,
    /// Document it works on, if any.
    pub document: Option<DocumentId>,
    /// Person who asked.
    #[sqlx(rename = "user_id")]
    pub user: UserId,
    /// State of the run.
    pub state: RunState,
    /// Data the agent needs to continue after a restart.
    pub body: Value,
    /// Time at which it was asked for.
    pub created_ms: u64,
    /// Time at which it ended; `None`: it is taken up again after a restart.
    pub finished_ms: Option<u64>,
}

/// State of a run. A run that has not ended is resumed after a restart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunState {
    /// The run waits in its queue.
    Queued,
    /// The run has begun.
    Running,
    /// The run has ended.
    Ended(RunEndKind),
}

impl RunState {
    /// Returns the name in the store.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Ended(kind) => kind.as_str(),
        }
    }

    /// Returns `true` if the run is over.
    pub fn has_ended(self) -> bool {
        matches!(self, Self::Ended(_))
    }
}

impl From<&str> for RunState {
    fn from(name: &str) -> Self {
        match name {
            "queued" => Self::Queued,
            "running" => Self::Running,
            kind => Self::Ended(kind.into()),
        }
    }
}

/// Kind of a run's end.
#[names(Deserialize, Serialize, snake_case)]
#[serde(from = "String")]
pub enum RunEndKind {
    /// The model finished its answer.
    Success,
    /// Something failed.
    Error,
    /// A person stopped the run.
    Cancelled,
    /// The model's answer was longer than allowed.
    MaxTokens,
    /// The model declined to answer.
    Refusal,
    /// The run reached a limit.
    Limit,
}

impl RunEndKind {
    /// All kinds.
    pub const ALL: [Self; 6] =
        [Self::Success, Self::Error, Self::Cancelled, Self::MaxTokens, Self::Refusal, Self::Limit];
}

impl From<&str> for RunEndKind {
    /// Reads a stored name; an unknown one counts as an error.
    fn from(name: &str) -> Self {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name).unwrap_or(Self::Error)
    }
}

impl From<String> for RunEndKind {
    fn from(name: String) -> Self {
        name.as_str().into()
    }
}

impl RunRecord {
    /// Returns the store's name of a session's run: clients choose names for one session.
    pub fn key(session: &SessionId, run: &RunId) -> RunId {
        format!("{session}/{run}").into()
    }
}

/// Issued token. The secret itself is never stored.
#[record(Clone, Debug, PartialEq, Eq)]
pub struct TokenRecord {
    /// Identifier of the token.
    pub id: TokenId,
    /// SHA-256 of the secret, as lower-case hex.
    pub hash: String,
    /// Person who holds it.
    #[sqlx(rename = "user_id")]
    pub user: UserId,
    /// Name of that person.
    pub name: String,
    /// Role that it allows.
    pub role: Role,
    /// Only document it reaches; `None`: all.
    pub document: Option<DocumentId>,
    /// Time at which it was issued.
    pub created_ms: u64,
    /// Time at which it expires; `None`: never.
    pub expires_ms: Option<u64>,
    /// Time at which it was revoked; `None`: it was not. Equal to `expires_ms` once found expired.
    pub revoked_ms: Option<u64>,
    /// Time of its last use, to the minute; `None`: it was never used.
    pub used_ms: Option<u64>,
    /// Login that it belongs to, by signing in or tied; its person has the same identifier.
    pub login: Option<UserId>,
    /// Person who held it before it was tied to a login.
    pub former_user: Option<UserId>,
    /// Time at which the person behind it changed; connections that came in before end.
    pub changed_ms: Option<u64>,
}

/// Open file: how far a workspace file and its document agree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRecord {
    /// The document.
    pub document: DocumentId,
    /// Path of the file, relative to the workspace; a path has one document.
    pub path: String,
    /// Version whose text is in the file.
    pub version: Version,
    /// Stamp that identifies the file's content; `absent`: the file did not exist yet.
    pub stamp: String,
    /// Text of the file, line ends normalised, if it differs from the text of `version`: both sides
    /// were changed and merged, and the file lacks the changes of people.
    pub disk: Option<String>,
    /// Properties of the file besides its text, as `file_sync` writes them.
    pub form: String,
    /// Write in progress: the version and the stamp that the file will have.
    pub writing: Option<(Version, String)>,
}

impl<'r, R: Row> FromRow<'r, R> for FileRecord
where
    &'static str: ColumnIndex<R>,
    DocumentId: Decode<'r, R::Database> + Type<R::Database>,
    String: Decode<'r, R::Database> + Type<R::Database>,
    Version: Decode<'r, R::Database> + Type<R::Database>,
{
    fn from_row(row: &'r R) -> sqlx::Result<Self> {
        let next: Option<Version> = row.try_get("next_version")?;
        Ok(Self {
            document: row.try_get("document")?,
            path: row.try_get("path")?,
            version: row.try_get("version")?,
            stamp: row.try_get("stamp")?,
            disk: row.try_get("disk")?,
            form: row.try_get("form")?,
            writing: next.zip(row.try_get("next_stamp")?),
        })
    }
}

/// Event for the audit log, written by [`StoreOp::Audit`](super::StoreOp::Audit).
#[record(Clone, Debug, PartialEq)]
pub struct AuditEntry {
    /// Time of the event.
    pub at_ms: u64,
    /// User, or the part of the server that acted by itself.
    pub actor: String,
    /// Kind of event, as `noun.verb`: `request.approved`.
    pub action: String,
    /// Document it touched.
    pub document: Option<DocumentId>,
    /// Request it belongs to.
    pub request: Option<RequestId>,
    /// All other data of the event.
    pub detail: Value,
}

impl AuditEntry {
    /// Returns an event that touches no document and belongs to no request.
    pub fn new(action: &str, actor: &UserId, detail: Value, at_ms: u64) -> Self {
        let (actor, action) = (actor.to_string(), action.to_owned());
        Self { at_ms, actor, action, document: None, request: None, detail }
    }
}

/// [`AuditEntry`] in its place in the chain.
#[record(Clone, Debug, PartialEq)]
pub struct AuditRecord {
    /// Place in the log, from 1, without gaps.
    pub seq: u64,
    /// Event.
    #[sqlx(flatten)]
    pub entry: AuditEntry,
    /// `hash` of the record before this one.
    pub prev_hash: String,
    /// SHA-256 over `prev_hash` and this record, as lower-case hex.
    pub hash: String,
}

/// Stored answer to a program of the Messages API.
#[record(Clone, Debug, PartialEq)]
pub struct AnswerRecord {
    /// Person whose program was answered.
    #[sqlx(rename = "user_id")]
    pub user: UserId,
    /// Key of the conversation up to the answer.
    pub key: String,
    /// Time of the last use, in ms.
    pub used_ms: u64,
    /// Contents that the program was not shown.
    pub body: Value,
}

/// Write that named an idempotency key, read by [`Store::once`](super::Store::once).
#[derive(Clone, Debug, PartialEq)]
pub struct IdempotencyRecord {
    /// Person whose key it is.
    pub user: UserId,
    /// Key chosen by the client.
    pub key: String,
    /// SHA-256 over the request, as lower-case hex.
    pub fingerprint: String,
    /// Time of the beginning, in ms.
    pub at_ms: u64,
    /// Answer; `None`: the write was begun, and its outcome is unknown.
    pub answer: Option<Value>,
}

/// Place of an entry in the transcripts of all sessions.
#[record(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TranscriptCursor {
    /// Time of the entry, in ms.
    pub at_ms: u64,
    /// Session it belongs to.
    pub session: String,
    /// Place in the transcript of that session.
    pub seq: u64,
}

/// Size of a [`MessageRecord`], without its contents, which may be long.
#[record(Clone, Debug, PartialEq, Eq)]
pub struct EntrySize {
    /// Place in the transcript.
    pub seq: u64,
    /// Role of the speaker, as in [`MessageRecord::role`].
    pub role: String,
    /// Bytes of its contents.
    pub bytes: u64,
}

/// Person who has signed in with an identity provider.
#[record(Clone, Debug, PartialEq, Eq)]
pub struct LoginRecord {
    /// Person; all tokens of the login are theirs.
    #[sqlx(rename = "user_id")]
    pub user: UserId,
    /// Address of the provider.
    pub issuer: String,
    /// Name by which the provider knows the person, for ever and never for another person.
    pub subject: String,
    /// Name that others see, as the provider said it last.
    pub name: String,
    /// Address that the provider has verified.
    pub email: Option<String>,
    /// Groups that the person was in at the last sign-in.
    #[sqlx(rename = "group_names")]
    pub groups: Vec<String>,
    /// Time of the first sign-in.
    pub created_ms: u64,
    /// Time of the last sign-in.
    pub signed_in_ms: u64,
}

/// Thread of comments; `anchor` and `body` are JSON as `comments` writes them.
#[record(Clone, Debug, PartialEq, Eq)]
pub struct ThreadRecord {
    /// Identifier of the thread.
    pub id: ThreadId,
    /// Document that it is in.
    pub document: DocumentId,
    /// `true` if the discussion has ended.
    pub resolved: bool,
    /// Version that the positions of `anchor` are of.
    pub version: Version,
    /// Passage that it is about.
    pub anchor: String,
    /// Everything but the passage.
    pub body: String,
    /// People whom the thread mentions, and for each the number of the newest comment that does;
    /// written beside the thread, and empty in a thread that is read.
    #[sqlx(skip)]
    pub mentions: Vec<(UserId, u64)>,
}

/// Place of a thread at a version, as in [`ThreadRecord`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadAnchor {
    /// The thread.
    pub thread: ThreadId,
    /// Version of the document that the positions are of.
    pub version: Version,
    /// Passage that it is about.
    pub anchor: String,
}
