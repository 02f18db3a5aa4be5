//! Stored form of runs and transcripts.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use copydesk_ids::{DocumentId, RequestId, RunId, SessionId, Version};
use copydesk_store::{MessageRecord, PAST, RunEndKind, RunRecord, RunState, StoreOp};

use super::usage::UsageTotals;
use crate::AgentQuestion;
use crate::conversation::transcript::{EntryKind, TranscriptEntry};

/// Thread of a model that keeps conversations by itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProviderSession {
    /// Name of the thread, a UUID.
    pub(crate) id: String,
    /// Name of the previous run's thread.
    pub(crate) from: Option<String>,
}

/// Run, in the form in which it can be resumed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Run {
    /// Question of the run. Its `content` is removed once the private document has it.
    pub ask: AgentQuestion,
    /// Time of the request, in milliseconds since 1970.
    pub created_ms: u64,
    /// Version of the document that the model had read when it made its latest calls.
    #[serde(rename = "base")]
    pub read_version: Option<Version>,
    /// Selection at `read_version`, from and to, in UTF-16 code units.
    #[serde(default)]
    pub selection: Option<(usize, usize)>,
    /// Ids of the requests of the model's latest calls, in the order of the calls in its answer.
    pub calls: Vec<RequestId>,
    /// Another document whose text the caller of an external call got, such as one that the call
    /// created.
    #[serde(rename = "told", default)]
    pub other_document: Option<(DocumentId, Version)>,
    /// Subject of the run.
    pub about: RunSubject,
    /// Full name of the model that answers; a restart may have changed the default.
    #[serde(default)]
    pub model: Option<String>,
    /// Thread of a model that keeps threads by itself
    /// ([`crate::conversation::provider_sessions`]).
    #[serde(default)]
    pub thread: Option<ProviderSession>,
    /// Usage so far.
    #[serde(default)]
    pub spent: UsageTotals,
}

/// Subject of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RunSubject {
    /// A shared document.
    Document,
    /// The session's private document, whose text is replaced first.
    Content,
    /// No document: a conversation.
    Nothing,
}

impl Run {
    /// Creates the record of a new run.
    pub fn new(ask: AgentQuestion, created_ms: u64) -> Self {
        let about = match (&ask.document, &ask.content) {
            (Some(_), _) => RunSubject::Document,
            (None, Some(_)) => RunSubject::Content,
            (None, None) => RunSubject::Nothing,
        };
        // The server's text of a shared document counts, not the client's.
        let content = ask.content.clone().filter(|_| about == RunSubject::Content);
        Self {
            read_version: ask.outside().and_then(|outside| outside.base),
            ask: AgentQuestion { content, ..ask },
            created_ms,
            selection: None,
            calls: Vec::new(),
            other_document: None,
            about,
            model: None,
            thread: None,
            spent: UsageTotals::default(),
        }
    }

    /// Returns the write that stores the run.
    pub fn put(&self, state: RunState) -> Result<StoreOp, serde_json::Error> {
        self.record(state, None)
    }

    /// Returns the write that stores the run as ended at this time, in milliseconds since 1970.
    pub fn put_ended(&self, kind: RunEndKind, at_ms: u64) -> Result<StoreOp, serde_json::Error> {
        self.record(RunState::Ended(kind), Some(at_ms))
    }

    fn record(
        &self,
        state: RunState,
        finished_ms: Option<u64>,
    ) -> Result<StoreOp, serde_json::Error> {
        let AgentQuestion { session, run, document, principal, .. } = &self.ask;
        Ok(StoreOp::PutRun(RunRecord {
            id: RunRecord::key(session, run),
            session: session.clone(),
            document: document.clone(),
            user: principal.user.clone(),
            state,
            body: serde_json::to_value(self)?,
            created_ms: self.created_ms,
            finished_ms,
        }))
    }

    /// Reads a run back.
    pub fn read(record: RunRecord) -> Result<Self, serde_json::Error> {
        serde_json::from_value(record.body)
    }
}

/// Returns `true` for the record of a call that one of several servers makes for a run.
pub fn is_part_of_run(record: &RunRecord) -> bool {
    record.body["ask"]["kind"].get("Forwarded").is_some()
}

#[derive(Serialize, Deserialize)]
struct EntryBody {
    run: RunId,
    #[serde(flatten)]
    kind: EntryKind,
}

/// Returns the write that appends `entry` to a transcript.
pub fn append(
    document: Option<&DocumentId>,
    entry: &TranscriptEntry,
) -> Result<StoreOp, serde_json::Error> {
    let body = EntryBody { run: entry.run.clone(), kind: entry.kind.clone() };
    Ok(StoreOp::AppendMessages {
        session: entry.session.clone(),
        document: document.cloned(),
        messages: vec![MessageRecord {
            role: entry.kind.role().to_owned(),
            body: serde_json::to_value(body)?,
            at_ms: entry.at_ms,
        }],
    })
}

/// Returns the write that makes these entries the beginning of another conversation, with new run
/// names.
pub fn past(
    session: &SessionId,
    document: Option<&DocumentId>,
    said_in: &SessionId,
    entries: &[TranscriptEntry],
) -> Result<StoreOp, serde_json::Error> {
    let message = |entry: &TranscriptEntry| {
        let body = EntryBody { run: RunRecord::key(said_in, &entry.run), kind: entry.kind.clone() };
        let (role, body) = (PAST.to_owned(), serde_json::to_value(body)?);
        Ok(MessageRecord { role, body, at_ms: entry.at_ms })
    };
    let messages = entries.iter().map(message).collect::<Result<_, serde_json::Error>>()?;
    Ok(StoreOp::AppendMessages { session: session.clone(), document: document.cloned(), messages })
}

/// Reads a message back; `None` if this program did not write it.
pub fn entry(session: &SessionId, at_ms: u64, body: Value) -> Option<TranscriptEntry> {
    let EntryBody { run, kind } = serde_json::from_value(body).ok()?;
    Some(TranscriptEntry { session: session.clone(), run, at_ms, kind })
}
