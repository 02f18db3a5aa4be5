//! What the store keeps of runs and transcripts, and how it is read back. Pure.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ids::{DocumentId, RequestId, RunId, SessionId, Version};
use crate::store::{MessageRecord, Op, PAST, RunRecord};

use super::Ask;
use super::spent::Spent;
use super::threads::Thread;
use super::transcript::{Entry, Kept};

/// A run, as it can be taken up again.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Run {
    /// What was asked. Its `content` is gone once the private document has it.
    pub ask: Ask,
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
    pub about: About,
    /// The model that answers, in full; a restart may have changed the default.
    #[serde(default)]
    pub model: Option<String>,
    /// The conversation of a model that keeps threads by itself ([`super::threads`]).
    #[serde(default)]
    pub thread: Option<Thread>,
    /// What it has used so far.
    #[serde(default)]
    pub spent: Spent,
}

/// What a run works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum About {
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
pub enum State<'a> {
    /// It waits for its turn.
    Queued,
    /// It has begun.
    Running,
    /// Ended with this subtype, at this time (milliseconds since 1970).
    Finished(&'a str, u64),
}

impl Run {
    /// A run that was just asked for.
    pub fn new(ask: Ask, created_ms: u64) -> Self {
        let about = match (&ask.document, &ask.content) {
            (Some(_), _) => About::Document,
            (None, Some(_)) => About::Content,
            (None, None) => About::Nothing,
        };
        // The server's text of a shared document counts, not the client's.
        let content = ask.content.clone().filter(|_| about == About::Content);
        Self {
            base: ask.outside().and_then(|outside| outside.base),
            ask: Ask { content, ..ask },
            created_ms,
            selection: None,
            calls: Vec::new(),
            told: None,
            about,
            model: None,
            thread: None,
            spent: Spent::default(),
        }
    }

    /// The write that keeps it.
    pub fn put(&self, state: State<'_>) -> Result<Op, serde_json::Error> {
        let Ask { session, run, document, principal, .. } = &self.ask;
        let (state, finished_ms) = match state {
            State::Queued => (QUEUED, None),
            State::Running => ("running", None),
            State::Finished(subtype, at_ms) => (subtype, Some(at_ms)),
        };
        Ok(Op::PutRun(RunRecord {
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
struct Body {
    run: RunId,
    #[serde(flatten)]
    kept: Kept,
}

/// The write that appends `entries` to a transcript.
pub fn append(document: Option<&DocumentId>, entry: &Entry) -> Result<Op, serde_json::Error> {
    let body = Body { run: entry.run.clone(), kept: entry.kept.clone() };
    Ok(Op::AppendMessages {
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
    entries: &[Entry],
) -> Result<Op, serde_json::Error> {
    let message = |entry: &Entry| {
        let body = Body { run: RunRecord::key(said_in, &entry.run), kept: entry.kept.clone() };
        let (role, body) = (PAST.to_owned(), serde_json::to_value(body)?);
        Ok(MessageRecord { role, body, at_ms: entry.at_ms })
    };
    let messages = entries.iter().map(message).collect::<Result<_, serde_json::Error>>()?;
    Ok(Op::AppendMessages { session: session.clone(), document: document.cloned(), messages })
}

/// Reads a message back. What this program did not write is left out.
pub fn entry(session: &SessionId, at_ms: u64, body: Value) -> Option<Entry> {
    let Body { run, kept } = serde_json::from_value(body).ok()?;
    Some(Entry { session: session.clone(), run, at_ms, kept })
}
