//! Events of a room for the people in it; the transports encode each event for the wire.

use std::sync::Arc;

use serde_json::Value;

use copydesk_approvals::{
    ApprovalRequest, ApprovalRule, Hunk, HunkDraft, HunkStatus, Person, RequestStatus,
};
use copydesk_comments::CommentThread;
use copydesk_document::{Text, Update};
use copydesk_ids::permissions::Principal;
use copydesk_ids::{
    ClientId, DocumentId, HunkId, MemberId, RequestId, RunId, SessionId, ShortDocumentId, ThreadId,
    ToolUseId, UserId, Version,
};
use copydesk_macros::names;
use copydesk_store::RunEndKind;

use super::file_state::FileState;
use super::settings::{DocumentSettings, ServerSettings};

/// Event of a room.
#[derive(Clone, Debug)]
pub enum RoomEvent {
    /// Text and hunk changes that belong together; `updates` are consecutive from `from` on.
    Updates {
        /// Number of the room.
        room: ShortDocumentId,
        /// Version before the first update.
        from: Version,
        /// Committed updates, in order.
        updates: Vec<Arc<Update>>,
        /// Hunks that are no longer open.
        drop: Vec<HunkId>,
        /// Hunks that changed otherwise than by being mapped through the updates.
        put: Vec<(RequestId, Hunk)>,
    },
    /// New title or settings, or deletion of the document.
    Changed(DocumentChange),
    /// All connections, for those that take no [`PeersChanged`](Self::PeersChanged).
    Peers(Vec<PeerInfo>),
    /// Connections that came, changed and left.
    PeersChanged(PeersChange),
    /// Move of a caret.
    Caret(MemberId, CaretPosition),
    /// Pending request, now durable.
    Requested(Arc<ApprovalRequest>),
    /// Pending request with hunks open again, for connections that do not take these hunks alone.
    RequestedAgain(Arc<ApprovalRequest>),
    /// Change of a pending request.
    RequestUpdated(RequestUpdate),
    /// Resolution of a request.
    Resolved(Arc<ApprovalRequest>),
    /// All rules in force, after a change.
    Rules(Vec<Arc<ApprovalRule>>),
    /// New words of a streaming preview.
    PreviewShown(Arc<StreamingPreview>),
    /// End of a streaming preview without a request.
    PreviewEnded(Arc<StreamingPreview>),
    /// Change of a thread of comments at a version, or its end, for connections that take them.
    ThreadChanged(Version, Box<CommentThread>),
    /// New state of the document's file.
    File(FileState),
    /// Event of a run.
    Said(Arc<RunEvent>),
}

impl RoomEvent {
    /// Returns `true` if the event may concern people who are not in the document. Events of a run
    /// concern the person who asked; a changed text, a new title and a deletion concern those who
    /// keep a list or a copy of documents.
    pub fn concerns_others(&self) -> bool {
        match self {
            Self::Said(_) | Self::Changed(DocumentChange::Title(_) | DocumentChange::Deleted) => {
                true
            }
            Self::Updates { updates, .. } => !updates.is_empty(),
            Self::Changed(DocumentChange::Settings(..))
            | Self::Peers(_)
            | Self::PeersChanged(_)
            | Self::Caret(..)
            | Self::Requested(_)
            | Self::RequestedAgain(_)
            | Self::RequestUpdated(_)
            | Self::Resolved(_)
            | Self::Rules(_)
            | Self::PreviewShown(_)
            | Self::PreviewEnded(_)
            | Self::ThreadChanged(..)
            | Self::File(_) => false,
        }
    }
}

/// Change that [`RoomEvent::Changed`] announces.
#[derive(Clone, Debug)]
pub enum DocumentChange {
    /// New title.
    Title(String),
    /// Settings now in force, and the version that their ranges are of.
    Settings(DocumentSettings, Version),
    /// Deletion of the document.
    Deleted,
}

/// Connection in a document; see [`RoomEvent::Peers`].
#[derive(Clone, Debug)]
pub struct PeerInfo {
    /// Identifier of the connection.
    pub member: MemberId,
    /// Person, under the name that this connection gave.
    pub principal: Principal,
    /// Index of one of four caret colours, chosen so that neighbours differ.
    pub color: u8,
    /// Editor instances of this connection.
    pub clients: Vec<ClientId>,
    /// Position of the caret, if known.
    pub caret: Option<CaretPosition>,
    /// `true` if it is announced to others. In a crowd, those who only read are counted.
    pub is_listed: bool,
    /// `true` if it takes [`RoomEvent::PeersChanged`].
    pub takes_changes: bool,
    /// `true` if it takes no [`RoomEvent::RequestedAgain`].
    pub takes_hunk_changes: bool,
}

/// Change of the connections in a document; see [`RoomEvent::PeersChanged`].
#[derive(Clone, Debug)]
pub struct PeersChange {
    /// Connections that came or changed, as they are now.
    pub put: Vec<PeerInfo>,
    /// Connections that left.
    pub left: Vec<MemberId>,
    /// Number of connections in the document, with those that are only counted.
    pub total: usize,
    /// `true` if `put` holds everyone who is listed.
    pub is_complete: bool,
}

/// Caret and selection, in positions of [`version`](Self::version).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CaretPosition {
    /// Version that the positions are of.
    pub version: Version,
    /// Start of the selection, in UTF-16 code units.
    pub anchor: usize,
    /// Position of the caret, in UTF-16 code units.
    pub head: usize,
}

/// Change of a pending request; see [`RoomEvent::RequestUpdated`].
#[derive(Clone, Debug)]
pub struct RequestUpdate {
    /// Request as it is now.
    pub request: Arc<ApprovalRequest>,
    /// Hunks whose state changed, for whatever reason.
    pub changed: Vec<(HunkId, HunkStatus)>,
    /// Person who caused the change.
    pub by: Option<Principal>,
    /// People who have the request open; the countdown is paused meanwhile.
    pub focused: Vec<Principal>,
    /// News besides the state.
    pub news: RequestNews,
}

/// News about a request besides its state; see [`RequestUpdate::news`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestNews {
    /// No news.
    Nothing,
    /// New preview: the call would do something else than people were shown.
    Preview,
    /// End of the approved call.
    Result,
    /// Undo of the call, or a new proposal of it.
    Aftermath,
}

/// Event for every connection to the server; see
/// [`EventSink::announce`](super::EventSink::announce).
#[derive(Clone, Debug)]
pub enum ServerEvent {
    /// New document; for those who may read it.
    Created {
        /// Identifier of the document.
        id: DocumentId,
        /// Title of the document.
        title: String,
        /// Version of the document's first text.
        version: Version,
    },
    /// Server settings that an owner has changed.
    Settings(ServerSettings),
    /// Mentions of a person that they have not read; for their own connections.
    Mentions(UnreadMentions),
}

/// Counts of what a person has not read of a document, and has just read; see
/// [`ServerEvent::Mentions`].
#[derive(Clone, Debug)]
pub struct UnreadMentions {
    /// The person.
    pub user: UserId,
    /// The document.
    pub document: DocumentId,
    /// Number of threads with a comment that mentions them and that they have not read.
    pub mentions: u64,
    /// Threads that they have just read, with the number of comments that they have read of each.
    pub read: Vec<(ThreadId, u64)>,
}

/// Event of a run, for everyone in the document; see [`RoomEvent::Said`].
#[derive(Clone, Debug)]
pub struct RunEvent {
    /// Session that asked.
    pub session: SessionId,
    /// Run that the event is about.
    pub run: RunId,
    /// Shared document that the run is about, if any; never a private document of a session.
    pub document: Option<DocumentId>,
    /// Time of the event, in milliseconds since 1970.
    pub at_ms: u64,
    /// Kind and content of the event.
    pub saying: RunEventKind,
}

/// Kind and content of a [`RunEvent`].
#[derive(Clone, Debug)]
pub enum RunEventKind {
    /// Start of the model's answer.
    StreamStart,
    /// Further text of the model.
    StreamChunk(String),
    /// End of the model's answer.
    StreamEnd,
    /// Agent event object.
    Agent(AgentObject),
    /// Answer to `askClaudeCode`, exactly once for each.
    Response(RunResponse),
    /// End of the run, after all its events were delivered. Not sent to clients; the event sink
    /// notes with it that the end was delivered.
    Over,
}

/// Agent event object, as sent live and by `transcript:get`; see [`RunEventKind::Agent`].
#[derive(Clone, Debug, PartialEq)]
pub struct AgentObject {
    /// Type of the event.
    pub kind: AgentEventType,
    /// Subtype of the event.
    pub subtype: AgentEventSubtype,
    /// Content of the event.
    pub content: Value,
}

impl AgentObject {
    /// Creates an event.
    pub fn new(kind: AgentEventType, subtype: AgentEventSubtype, content: Value) -> Self {
        Self { kind, subtype, content }
    }

    /// Returns the event of a call that waits in another document.
    pub fn waiting(content: Value) -> Self {
        Self::new(AgentEventType::System, AgentEventSubtype::Waiting, content)
    }
}

/// Type of an [`AgentObject`]: its speaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentEventType {
    /// A person, or the tool that people decided about.
    User,
    /// The model.
    Assistant,
    /// The end of the run.
    Result,
    /// The server.
    System,
}

/// Subtype of an [`AgentObject`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentEventSubtype {
    /// Prompt of a person.
    Prompt,
    /// Beginning of a new conversation.
    Clear,
    /// Complete text block.
    Text,
    /// Piece of a text block that is still being written.
    TextDelta,
    /// Call of a tool.
    ToolUse,
    /// Outcome of a call.
    ToolResult,
    /// Call that waits in another document.
    Waiting,
    /// End of the run.
    Ended(RunEndKind),
}

impl AgentEventSubtype {
    /// Returns the name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Prompt => "prompt",
            Self::Clear => "clear",
            Self::Text => "text",
            Self::TextDelta => "text_delta",
            Self::ToolUse => "tool_use",
            Self::ToolResult => "tool_result",
            Self::Waiting => "waiting",
            Self::Ended(kind) => kind.as_str(),
        }
    }
}

/// Answer to `askClaudeCode`; see [`RunEventKind::Response`].
#[derive(Clone, Debug)]
pub struct RunResponse {
    /// Message of the model.
    pub message: String,
    /// Change of the text.
    pub update: ResponseUpdate,
    /// Every document change of the run, in order.
    pub updates: Vec<DecidedUpdate>,
    /// Code and message of the error, if there is no answer.
    pub error: Option<(String, String)>,
}

/// Change of a document in a [`RunResponse`] that people decided about.
#[derive(Clone, Debug)]
pub struct DecidedUpdate {
    /// Request of the change.
    pub request: RequestId,
    /// Final status of the request.
    pub status: RequestStatus,
    /// Extent of the change.
    pub extent: UpdateExtent,
    /// Version of the document afterwards.
    pub version: Version,
}

/// Extent of a document update, in the words of the document agent protocol.
#[names(lowercase)]
pub enum UpdateExtent {
    /// No change of the document.
    None,
    /// Change of the whole document.
    Full,
    /// Change of a range.
    Partial,
}

/// Change of the text by a [`RunResponse`].
#[derive(Clone, Debug)]
pub enum ResponseUpdate {
    /// No change of the text.
    None,
    /// Rewrite of the whole document.
    Full {
        /// Text of the whole document afterwards.
        text: String,
        /// Version of the document afterwards.
        version: Version,
    },
    /// Rewrite of a range.
    Partial {
        /// Text that now stands in the original range.
        text: String,
        /// Start of the original range, in UTF-16 code units.
        start: usize,
        /// End of the original range, in UTF-16 code units.
        end: usize,
        /// Version of the document afterwards.
        version: Version,
    },
}

/// Change that the model is still writing; see [`RoomEvent::PreviewShown`]. People see it but
/// cannot decide it, and it is not stored.
#[derive(Clone, Debug)]
pub struct StreamingPreview {
    /// Identifier that its request will have.
    pub id: RequestId,
    /// Name of the tool.
    pub tool: String,
    /// Identifier of the call, as the model named it.
    pub tool_use: ToolUseId,
    /// Session that asked.
    pub session: SessionId,
    /// Run that asked.
    pub run: RunId,
    /// Person who asked.
    pub author: Person,
    /// New text so far.
    pub text: String,
    /// Number of complete paragraphs in `text`.
    pub paragraphs: usize,
    /// Version that the model read.
    pub base_version: Version,
    /// Text that the model read.
    pub base: Text,
    /// Hunks known so far, in positions of [`base_version`](StreamingPreview::base_version).
    pub hunks: Vec<HunkDraft>,
}

/// Selection of streaming previews; see [`RoomEvent::PreviewEnded`].
#[derive(Clone, Debug)]
pub enum StreamingPreviewScope {
    /// The preview of this request.
    One(RequestId),
    /// All previews of a run.
    OfRun(SessionId, RunId),
}
