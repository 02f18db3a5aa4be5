//! What the store keeps of runs and transcripts, and how it is read back. Pure.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ids::{DocumentId, RequestId, RunId, SessionId, Version};
use crate::store::{MessageRecord, PAST, RunRecord, StoreOp};

use super::usage::UsageTotals;
use crate::agent::AgentRequest;
use crate::agent::conversation::provider_sessions::ProviderSession;
use crate::agent::conversation::transcript::{EntryKind, TranscriptEntry};

/// A run, as it can be taken up again.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Run {
    /// What was asked. Its `content` is gone once the private document has it.
    pub ask: AgentRequest,
    /// When, in milliseconds since 1970.
    pub created_ms: u64,
    /// The version of the document the model had read when it made its latest calls.
    pub base: Option<Version>,
    /// What was selected in that version.
    #[serde(default)]
    pub selection: Option<(usize, usize)>,
    /// The names of the requests of those calls, in block order.
    pub calls: Vec<RequestId>,
    /// A document beside that of an outside call whose text its caller was told of, such as one that it made.
    #[serde(default)]
    pub told: Option<(DocumentId, Version)>,
    /// What it works on.
    pub about: RunSubject,
    /// The model that answers, in full; a restart may have changed the default.
    #[serde(default)]
    pub model: Option<String>,
    /// The conversation of a model that keeps threads by itself ([`crate::agent::conversation::provider_sessions`]).
    #[serde(default)]
    pub thread: Option<ProviderSession>,
    /// What it has used so far.
    #[serde(default)]
    pub spent: UsageTotals,
}

/// What a run works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RunSubject {
    /// A shared document.
    Document,
    /// The session's private document, brought to a text.
    Content,
    /// Nothing: a conversation.
    Nothing,
}

/// The state of a run that has not begun.
pub const QUEUED: &str = "queued";

/// Where a run is in its life; what is not finished is taken up again by a restart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunState<'a> {
    /// It waits for its turn.
    Queued,
    /// It has begun.
    Running,
    /// Ended with this subtype, at this time (milliseconds since 1970).
    Finished(&'a str, u64),
}

impl Run {
    /// A run that was just asked for.
    pub fn new(ask: AgentRequest, created_ms: u64) -> Self {
        let about = match (&ask.document, &ask.content) {
            (Some(_), _) => RunSubject::Document,
            (None, Some(_)) => RunSubject::Content,
            (None, None) => RunSubject::Nothing,
        };
        // The server's text of a shared document counts, not the client's.
        let content = ask.content.clone().filter(|_| about == RunSubject::Content);
        Self {
            base: ask.outside().and_then(|outside| outside.base),
            ask: AgentRequest { content, ..ask },
            created_ms,
            selection: None,
            calls: Vec::new(),
            told: None,
            about,
            model: None,
            thread: None,
            spent: UsageTotals::default(),
        }
    }

    /// The write that keeps it.
    pub fn put(&self, state: RunState<'_>) -> Result<StoreOp, serde_json::Error> {
        let AgentRequest { session, run, document, principal, .. } = &self.ask;
        let (state, finished_ms) = match state {
            RunState::Queued => (QUEUED, None),
            RunState::Running => ("running", None),
            RunState::Finished(subtype, at_ms) => (subtype, Some(at_ms)),
        };
        Ok(StoreOp::PutRun(RunRecord {
            id: RunRecord::key(session, run),
            session: session.clone(),
            document: document.clone(),
            user: principal.user.clone(),
            state: state.to_owned(),
            body: serde_json::to_value(self)?,
            created_ms: self.created_ms,
            finished_ms,
        }))
    }

    /// Reads it back.
    pub fn read(record: RunRecord) -> Result<Self, serde_json::Error> {
        serde_json::from_value(record.body)
    }
}

/// A transcript entry as a message of the store.
#[derive(Serialize, Deserialize)]
struct EntryBody {
    run: RunId,
    #[serde(flatten)]
    kept: EntryKind,
}

/// The write that appends `entries` to a transcript.
pub fn append(
    document: Option<&DocumentId>,
    entry: &TranscriptEntry,
) -> Result<StoreOp, serde_json::Error> {
    let body = EntryBody { run: entry.run.clone(), kept: entry.kept.clone() };
    Ok(StoreOp::AppendMessages {
        session: entry.session.clone(),
        document: document.cloned(),
        messages: vec![MessageRecord {
            role: entry.kept.role().to_owned(),
            body: serde_json::to_value(body)?,
            at_ms: entry.at_ms,
        }],
    })
}

/// The write that makes these entries the beginning of another conversation. Their runs get names that no run of its
/// session has.
pub fn past(
    session: &SessionId,
    document: Option<&DocumentId>,
    said_in: &SessionId,
    entries: &[TranscriptEntry],
) -> Result<StoreOp, serde_json::Error> {
    let message = |entry: &TranscriptEntry| {
        let body = EntryBody { run: RunRecord::key(said_in, &entry.run), kept: entry.kept.clone() };
        let (role, body) = (PAST.to_owned(), serde_json::to_value(body)?);
        Ok(MessageRecord { role, body, at_ms: entry.at_ms })
    };
    let messages = entries.iter().map(message).collect::<Result<_, serde_json::Error>>()?;
    Ok(StoreOp::AppendMessages { session: session.clone(), document: document.cloned(), messages })
}

/// Reads a message back. What this program did not write is left out.
pub fn entry(session: &SessionId, at_ms: u64, body: Value) -> Option<TranscriptEntry> {
    let EntryBody { run, kept } = serde_json::from_value(body).ok()?;
    Some(TranscriptEntry { session: session.clone(), run, at_ms, kept })
}
