//! The shapes that are kept: plain rows, with domain values as JSON that only their owner reads.
//!
//! Times are milliseconds since the Unix epoch (UTC) and end in `_ms`.

use serde_json::Value;

use crate::ids::{
    ClientId, DocumentId, RequestId, RuleId, RunId, SessionId, TokenId, UserId, Version,
};
use crate::permissions::Role;

/// A document without its text.
#[derive(Clone, Debug, PartialEq)]
pub struct DocumentRecord {
    /// Which document.
    pub id: DocumentId,
    /// What people call it.
    pub title: String,
    /// When it was created.
    pub created_ms: u64,
    /// When its text, title or settings last changed.
    pub updated_ms: u64,
    /// How many updates it has; moved by [`StoreOp::AppendUpdates`](super::StoreOp::AppendUpdates) alone.
    pub version: Version,
    /// Review policy, approvals, timeout, frozen ranges.
    pub settings: Value,
    /// The session whose private text this is; such a document is never listed.
    pub unlisted_owner: Option<SessionId>,
    /// Deleted documents stay on disk and are neither listed nor loaded.
    pub deleted: bool,
}

/// One committed update, as it was broadcast.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpdateRecord {
    /// The editor instance that made it.
    pub client: ClientId,
    /// CodeMirror's `ChangeSet` as JSON, byte for byte what clients received.
    pub changes: Box<str>,
    /// The person it is attributed to.
    pub author: UserId,
    /// When it was committed.
    pub at_ms: u64,
    /// What caused it when nobody typed it: the accepted request, for example.
    pub origin: Option<Box<str>>,
}

/// A text of a document that is kept, to start from.
#[derive(Clone, Debug, PartialEq)]
pub struct StartingText {
    /// The document itself; its `version` is the one that was asked for, or the newest if that is older.
    pub record: DocumentRecord,
    /// The version of `text`.
    pub snapshot: Version,
    /// The text at `snapshot`.
    pub text: String,
}

/// A document as a room needs it: a text and the updates that lead from there to now.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadedDocument {
    /// The document itself; its `version` is the one that `updates` lead to.
    pub record: DocumentRecord,
    /// The version of `text`.
    pub snapshot: Version,
    /// The text at `snapshot`.
    pub text: String,
    /// One update per version, from `snapshot` on, without gaps.
    pub updates: Vec<UpdateRecord>,
}

/// One line of a document's history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryRecord {
    /// The version that the update made.
    pub version: Version,
    /// Who made it.
    pub author: UserId,
    /// When.
    pub at_ms: u64,
    /// What caused it, if nobody typed it.
    pub origin: Option<Box<str>>,
}

/// A gated tool call; `body` is the whole request as `review` writes it.
#[derive(Clone, Debug, PartialEq)]
pub struct RequestRecord {
    /// Which request.
    pub id: RequestId,
    /// The document it would change; none: the desk owns it.
    pub document: Option<DocumentId>,
    /// The session that asked.
    pub session: SessionId,
    /// The run that waits for it.
    pub run: RunId,
    /// The status as it is called on the wire.
    pub status: String,
    /// Whether somebody may still decide it.
    pub open: bool,
    /// When it was announced.
    pub created_ms: u64,
    /// When it expires; none: never.
    pub expires_ms: Option<u64>,
    /// The request itself as JSON, written once: it can be long.
    pub body: String,
}

/// One decision or vote; never changed or removed.
#[derive(Clone, Debug, PartialEq)]
pub struct DecisionRecord {
    /// The request it is about.
    pub request: RequestId,
    /// The hunk it is about; none: the request as a whole.
    pub hunk: Option<String>,
    /// Who decided.
    pub user: UserId,
    /// The name others saw at that time.
    pub name: String,
    /// When.
    pub at_ms: u64,
    /// Verdict, edited text, note.
    pub body: Value,
}

/// A rule made together with an approval; `body` is the whole rule as `review` writes it.
#[derive(Clone, Debug, PartialEq)]
pub struct RuleRecord {
    /// Which rule.
    pub id: RuleId,
    /// The document it was made in; none: for work without one.
    pub document: Option<DocumentId>,
    /// The session whose request was approved.
    pub session: SessionId,
    /// When it was made.
    pub created_ms: u64,
    /// When it was revoked, or its session was over; none: it is in force.
    pub ended_ms: Option<u64>,
    /// Everything else.
    pub body: Value,
}

/// A session that nobody used for this long is over: 30 days.
const SESSION_TTL_MS: u64 = 30 * 24 * 60 * 60 * 1_000;

/// A conversation of one person.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionRecord {
    /// Which session.
    pub id: SessionId,
    /// Whose it is.
    pub user: UserId,
    /// When it began.
    pub created_ms: u64,
    /// When its person was last connected; sessions that are old enough are forgotten.
    pub seen_ms: u64,
    /// The permission mode chosen last; none: the server's.
    pub permission_mode: Option<String>,
    /// Room for what else a session remembers.
    pub body: Value,
}

impl SessionRecord {
    /// A new session of this person.
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

    /// Whether nobody has used it for so long that it is not resumed any more.
    pub fn is_over(&self, now_ms: u64) -> bool {
        now_ms.saturating_sub(self.seen_ms) > SESSION_TTL_MS
    }
}

/// The role of a message with which a session's conversation begins anew.
pub const CLEAR: &str = "clear";
/// The role of messages that were said in an earlier conversation, with which this one goes on.
pub const PAST: &str = "past";

/// One message of a transcript. The store numbers them in the order they were appended.
#[derive(Clone, Debug, PartialEq)]
pub struct MessageRecord {
    /// `user`, `assistant`, or `result` for the end of a run; [`CLEAR`] and [`PAST`].
    pub role: String,
    /// What was said, as the agent writes it.
    pub body: Value,
    /// When it was said.
    pub at_ms: u64,
}

/// One run of the agent.
#[derive(Clone, Debug, PartialEq)]
pub struct RunRecord {
    /// Which run.
    pub id: RunId,
    /// The session it belongs to.
    pub session: SessionId,
    /// The document it works on, if any.
    pub document: Option<DocumentId>,
    /// Who asked.
    pub user: UserId,
    /// `queued`, `running`, or how it ended.
    pub state: String,
    /// What the agent needs to go on after a restart.
    pub body: Value,
    /// When it was asked for.
    pub created_ms: u64,
    /// When it ended; none: it has to be taken up again after a restart.
    pub finished_ms: Option<u64>,
}

impl RunRecord {
    /// The store's name of a session's run: clients choose the names of runs, so they are unique within a session only.
    pub fn key(session: &SessionId, run: &RunId) -> RunId {
        format!("{session}/{run}").into()
    }
}

/// An issued token. The secret itself is never kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenRecord {
    /// Which token.
    pub id: TokenId,
    /// SHA-256 of the secret, as lower-case hex.
    pub hash: String,
    /// The person who holds it.
    pub user: UserId,
    /// Their name.
    pub name: String,
    /// What it allows.
    pub role: Role,
    /// The only document it reaches; none: all.
    pub document: Option<DocumentId>,
    /// When it was issued.
    pub created_ms: u64,
    /// When it stops working; none: never.
    pub expires_ms: Option<u64>,
    /// When it was revoked; none: it was not. The same as `expires_ms` where it was seen to have run out.
    pub revoked_ms: Option<u64>,
    /// When somebody last came in with it, to the minute; none: nobody has.
    pub used_ms: Option<u64>,
}

/// A text file of the workspace that is a document too: how far both agree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRecord {
    /// The document.
    pub document: DocumentId,
    /// The file, from the workspace's top; a path has one document.
    pub path: String,
    /// The version whose text is in the file.
    pub version: Version,
    /// What tells the file's content from every other; `absent`: it was not there yet.
    pub stamp: String,
    /// What the file reads, line ends normalised, if that is not the text of `version`: changes of both sides came
    /// together there, and the file has not got those of people yet.
    pub disk: Option<String>,
    /// What the file has besides its text, as `files` writes it.
    pub form: String,
    /// A write that is under way: the version and the stamp the file then has.
    pub writing: Option<(Version, String)>,
}

/// Something that happened and must be accounted for.
#[derive(Clone, Debug, PartialEq)]
pub struct AuditEntry {
    /// When.
    pub at_ms: u64,
    /// Who: a user, or the part of the server that acted by itself.
    pub actor: String,
    /// What, as `noun.verb`: `request.approved`.
    pub action: String,
    /// The document it touched.
    pub document: Option<DocumentId>,
    /// The request it belongs to.
    pub request: Option<RequestId>,
    /// Everything else.
    pub detail: Value,
}

/// An [`AuditEntry`] in its place in the chain.
#[derive(Clone, Debug, PartialEq)]
pub struct AuditRecord {
    /// Place in the log, from 1, without gaps.
    pub seq: u64,
    /// What happened.
    pub entry: AuditEntry,
    /// The `hash` of the record before this one.
    pub prev_hash: String,
    /// SHA-256 over `prev_hash` and this record, as lower-case hex.
    pub hash: String,
}
