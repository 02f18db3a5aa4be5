//! What a room tells the people in it; the edges turn each event into words on the wire.

use std::sync::Arc;

use serde_json::Value;

use crate::approvals::{ApprovalRequest, ApprovalRule, Hunk, HunkStatus};
use crate::document::Update;
use crate::ids::{ClientId, DocumentId, HunkId, MemberId, RequestId, RunId, SessionId, Version};
use crate::permissions::Principal;

use super::command::StreamingPreview;
use super::file::FileState;
use super::settings::{DocumentSettings, ServerSettings};

/// Everything that can be told.
#[derive(Clone, Debug)]
pub enum RoomEvent {
    /// Text and hunk changes that belong together; `updates` are consecutive and start after `from`.
    Updates {
        /// The version before the first update.
        from: Version,
        /// Committed updates, in order.
        updates: Vec<Arc<Update>>,
        /// Hunks that are no longer open.
        drop: Vec<HunkId>,
        /// Hunks that changed otherwise than by being mapped through the updates.
        put: Vec<(RequestId, Hunk)>,
    },
    /// The title or the settings changed, or the document is gone.
    Changed(DocumentChange),
    /// Who is here.
    Peers(Vec<PeerInfo>),
    /// Somebody's caret moved.
    Caret(MemberId, CaretPosition),
    /// A request is pending, and durable.
    Requested(Arc<ApprovalRequest>),
    /// A pending request changed.
    RequestUpdated(RequestUpdate),
    /// A request was resolved.
    Resolved(Arc<ApprovalRequest>),
    /// The rules in force are others now; all of them.
    Rules(Vec<Arc<ApprovalRule>>),
    /// The model has written more of a change it may propose.
    Sketched(Arc<StreamingPreview>),
    /// Nothing comes of it.
    Unsketched(Arc<StreamingPreview>),
    /// How the document stands with the file that it is.
    File(FileState),
    /// A run says something.
    Said(Arc<RunEvent>),
}

impl RoomEvent {
    /// Whether somebody may want to hear of it who is not in the document: whoever asked, of what their run says; whoever keeps
    /// a list or a copy of documents, that one reads differently, has another title or is gone.
    pub fn concerns_others(&self) -> bool {
        match self {
            Self::Said(_) | Self::Changed(DocumentChange::Title(_) | DocumentChange::Deleted) => {
                true
            }
            Self::Updates { updates, .. } => !updates.is_empty(),
            Self::Changed(DocumentChange::Settings(..))
            | Self::Peers(_)
            | Self::Caret(..)
            | Self::Requested(_)
            | Self::RequestUpdated(_)
            | Self::Resolved(_)
            | Self::Rules(_)
            | Self::Sketched(_)
            | Self::Unsketched(_)
            | Self::File(_) => false,
        }
    }
}

/// What [`RoomEvent::Changed`] tells.
#[derive(Clone, Debug)]
pub enum DocumentChange {
    /// A new title.
    Title(String),
    /// The settings now in force, and the version their ranges are of.
    Settings(DocumentSettings, Version),
    /// The document is gone.
    Deleted,
}

/// A connection in a document.
#[derive(Clone, Debug)]
pub struct PeerInfo {
    /// The connection.
    pub member: MemberId,
    /// The person, under the name this connection gave.
    pub principal: Principal,
    /// One of four caret colours, chosen so that neighbours differ.
    pub color: u8,
    /// The editor instances of this connection.
    pub clients: Vec<ClientId>,
    /// Where the caret is.
    pub caret: Option<CaretPosition>,
}

/// A caret, in positions of `version`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CaretPosition {
    /// The version the positions are of.
    pub version: Version,
    /// Where the selection began, in UTF-16 code units.
    pub anchor: usize,
    /// Where the caret stands, in UTF-16 code units.
    pub head: usize,
}

/// A change of a pending request.
#[derive(Clone, Debug)]
pub struct RequestUpdate {
    /// The request, as it is now.
    pub request: Arc<ApprovalRequest>,
    /// The hunks whose state changed, by whatever cause.
    pub changed: Vec<(HunkId, HunkStatus)>,
    /// Who caused the change.
    pub by: Option<Principal>,
    /// Who has the request open; the countdown stands still meanwhile.
    pub focused: Vec<Principal>,
    /// What is new besides.
    pub news: RequestNews,
}

/// What is new about a request besides its state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestNews {
    /// Nothing.
    Nothing,
    /// The call would do something else than people were shown.
    Preview,
    /// The approved call is over.
    Result,
    /// What it did was taken back, or it was proposed again.
    Aftermath,
}

/// News for everybody who is connected.
#[derive(Clone, Debug)]
pub enum ServerEvent {
    /// There is a new document; for those who may read it.
    Created {
        /// Which one.
        id: DocumentId,
        /// Its title.
        title: String,
        /// The version of its first text.
        version: Version,
    },
    /// An owner has changed the server's settings.
    Settings(ServerSettings),
}

/// Something a run says to everyone in the document.
#[derive(Clone, Debug)]
pub struct RunEvent {
    /// The session that asked.
    pub session: SessionId,
    /// The run.
    pub run: RunId,
    /// The shared document, if the run is about one (never a session's private one).
    pub document: Option<DocumentId>,
    /// Milliseconds since 1970.
    pub at_ms: u64,
    /// What it says.
    pub saying: RunEventKind,
}

/// What a run says.
#[derive(Clone, Debug)]
pub enum RunEventKind {
    /// The model begins to answer.
    StreamStart,
    /// More of its text.
    StreamChunk(String),
    /// It has stopped.
    StreamEnd,
    /// One of the agent event objects: type, subtype, content.
    Agent(&'static str, &'static str, Value),
    /// The answer to `askClaudeCode`, exactly once for each.
    Response(RunResponse),
    /// The run is over, and everything about it has been said. Nobody is told; it says who has heard the end.
    Over,
}

/// The answer to `askClaudeCode`.
#[derive(Clone, Debug)]
pub struct RunResponse {
    /// What the model said.
    pub message: String,
    /// What became of the text.
    pub update: ResponseUpdate,
    /// Every document change of the run, in order: request, status, kind, version afterwards.
    pub updates: Vec<(RequestId, String, &'static str, Version)>,
    /// Why there is no answer: code and message.
    pub error: Option<(String, String)>,
}

/// What an answer did to the text.
#[derive(Clone, Debug)]
pub enum ResponseUpdate {
    /// Nothing.
    None,
    /// The whole document was rewritten; this is the result.
    Full {
        /// The resulting document.
        text: String,
        /// Its version.
        version: Version,
    },
    /// A range was rewritten.
    Partial {
        /// What now stands in the original range.
        text: String,
        /// Start of the original range, UTF-16 code units.
        start: usize,
        /// End of the original range, UTF-16 code units.
        end: usize,
        /// The document's version.
        version: Version,
    },
}
