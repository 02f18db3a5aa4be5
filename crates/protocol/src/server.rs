//! Answers and events that the server sends over socket.io.

use std::sync::Arc;

use serde_json::Value;

mod aftermath;
mod decision_report;
mod presence;
mod runs;
mod tokens;
mod updates;

pub use aftermath::{Aftermath, HunkVote, Undone};
pub use decision_report::Told;
pub use presence::{Peer, PeerCaret, PresenceChanges, PresencePeers, PresenceUpdate};
pub use runs::{AgentEvent, ClaudeResponse, ClaudeStream, ResponseUpdate, SelectionRange};
pub use tokens::{IssuedToken, LoginLine, NamedPerson, SessionEnded, TokenLine, TokenList};
pub use updates::{DocumentUpdates, HunkChanges, ShortUpdate, ShortUpdates, Update};

use copydesk_document::EncodedText;
use copydesk_macros::wire;

use super::client::{ModelAccess, Range};
use super::comments::CommentThread;
use super::files::FileState;
use super::names::{DecisionKind, HunkReasonCode, PermissionMode};
pub use super::people::Person;
use copydesk_approvals::{
    ApprovalSwitch, ClaimedAuthor, DecisionPolicy, HunkKind, HunkStatus, Mark, PreviewKind,
    PreviewWarning, RequestSource, RequestStatus, ToolPolicy, UnaskedReason, VoteCount,
};
use copydesk_ids::permissions::Role;

/// Reason that an event was refused: the `error` of `{ok: false, error}`.
#[wire(Serialize, TS)]
pub struct WireError {
    /// Stable code for programs: `invalid_payload`, `not_found`, `not_allowed`, …
    pub code: String,
    /// Message for people.
    pub message: String,
    /// Reason in `message`, for programs, where `code` has several: `nothing_done`,
    /// `denied_by_rule`, …
    #[serde(rename = "reasonCode")]
    pub reason_code: Option<String>,
    /// Facts that help to continue, such as a fresh request, the limit that was exceeded, or who
    /// was first.
    #[cfg_attr(test, ts(type = "unknown"))]
    pub details: Option<Value>,
}

/// `sessionRegistered`, sent once after each connect.
#[wire(Serialize, TS, camelCase)]
pub struct SessionRegistered {
    /// Session, new or resumed.
    pub session_id: String,
    /// Person whose token was used.
    pub user: Person,
    /// Role of the token.
    pub role: Role,
    /// Version of the protocol that the server speaks.
    pub protocol: u32,
    /// Names of features beyond the core of the protocol.
    pub capabilities: Vec<String>,
    /// Permission mode of this person's runs that name none.
    #[serde(rename = "permission_mode")]
    pub permission_mode: PermissionMode,
    /// Permission modes that this person's runs may name.
    #[serde(rename = "permission_modes")]
    pub permission_modes: Vec<PermissionMode>,
    /// Models that can be asked, the default first.
    pub models: Vec<String>,
    /// Models on this machine, among `models`.
    #[serde(rename = "local_models")]
    pub local_models: Vec<String>,
    /// Settings of the server.
    pub settings: Settings,
}

/// Settings of the server, in `settings:get` and `settings:set`.
#[wire(Serialize, TS, camelCase)]
pub struct Settings {
    /// Switch for documents without a setting of their own.
    pub approvals: ApprovalSwitch,
    /// Permission mode of new runs.
    #[serde(rename = "permission_mode")]
    pub permission_mode: PermissionMode,
    /// Seconds until a request without a document, or of an outside caller, expires; 0: never.
    pub timeout_seconds: u64,
    /// Seconds until a request in a document without a limit of its own expires; 0: never.
    pub document_timeout_seconds: u64,
}

/// `settings:changed`: an owner changed the server's settings.
#[wire(Serialize, TS)]
pub struct SettingsChanged {
    /// All settings.
    pub settings: Settings,
}

/// Settings of a document that are in force.
#[wire(Serialize, TS, camelCase)]
pub struct DocumentSettings {
    /// Policy that says who may decide.
    pub policy: DecisionPolicy,
    /// Stricter policies for some tools and sizes.
    pub policies: Vec<ToolPolicy>,
    /// Switch that says whether changes wait for a person.
    pub approvals: ApprovalSwitch,
    /// Seconds until a request expires; 0: never.
    pub timeout_seconds: u64,
    /// Models that may see the text.
    pub model_access: ModelAccess,
    /// Passages that no tool may change, in positions of the version that comes with them.
    pub frozen: Vec<Range>,
}

/// Entry of `document:list`.
#[wire(Serialize, TS, camelCase)]
pub struct DocumentLine {
    /// Identifier of the document.
    pub id: String,
    /// Title of the document.
    pub title: String,
    /// Newest version.
    pub version: u64,
    /// Time of the last change, in RFC 3339.
    pub updated_at: String,
    /// Role of the person in the document.
    pub role: Role,
    /// File of the workspace that the document is.
    pub path: Option<String>,
    /// Number of changes that wait for a decision.
    pub waiting: u64,
    /// Number of them that the person may decide and has not approved yet.
    pub waiting_for_you: u64,
    /// Number of threads, resolved ones apart, with a comment that mentions the person and that
    /// they have not read.
    pub mentions: u64,
}

/// Answer of `trash:list` and `GET /trash`: deleted documents, last deleted first.
#[wire(Serialize, TS)]
pub struct Trash {
    /// Documents that the person can recover.
    pub documents: Vec<DeletedDocument>,
}

/// Deleted document that can be recovered.
#[wire(Serialize, TS, camelCase)]
pub struct DeletedDocument {
    /// Identifier of the document.
    pub id: String,
    /// Title of the document.
    pub title: String,
    /// Time of the deletion, in RFC 3339.
    pub deleted_at: String,
    /// Time until which it can be recovered, in RFC 3339.
    pub recoverable_until: String,
}

/// Answer of `document:create`.
#[wire(Serialize, TS)]
pub struct CreatedDocument {
    /// Identifier of the document.
    pub id: String,
    /// Title of the document.
    pub title: String,
    /// Version of the first text: 0, or 1 if a request created the document.
    pub version: u64,
}

/// `document:created`: a new document, for everybody who may open it.
#[wire(Serialize, TS)]
pub struct DocumentCreated {
    /// New document.
    pub document: CreatedDocument,
}

/// Whole document, in the answer of `document:open`.
#[wire(Serialize, TS)]
pub struct WholeDocument {
    /// Identifier of the document.
    pub id: String,
    /// Title of the document.
    pub title: String,
    /// Version of `text`.
    pub version: u64,
    /// Text, with `\n` as line end.
    #[schemars(with = "String")]
    #[cfg_attr(test, ts(type = "string"))]
    pub text: EncodedText,
    /// SHA-256 of the text's UTF-8 bytes, in hexadecimal.
    pub hash: String,
    /// Settings in force.
    pub settings: DocumentSettings,
}

/// Answer of `document:open` and `document:resync`: the whole document, or the updates since a
/// version.
#[wire(Serialize, TS)]
pub struct Opened {
    /// Whole document; missing if `updates` are enough.
    pub document: Option<WholeDocument>,
    /// Version before the first of `updates`.
    pub from: Option<u64>,
    /// Newest version, with `updates`.
    pub version: Option<u64>,
    /// SHA-256 of the text at `version`, with `updates`: a client whose text has another one has to
    /// load the document anew.
    pub hash: Option<String>,
    /// Updates that the client does not have, in order and without a gap.
    pub updates: Option<Vec<Update>>,
    /// Title, with `updates`.
    pub title: Option<String>,
    /// Settings in force, with `updates`; the ranges are of `version`.
    pub settings: Option<DocumentSettings>,
    /// Identifier of a new editor instance, for `collab()`.
    #[serde(rename = "clientID")]
    pub client_id: String,
    /// All open requests of the document. A card for a request that is not here is out of date.
    #[cfg_attr(test, ts(type = "Array<ToolApprovalRequest>"))]
    pub requests: Vec<ToolApprovalRequest>,
    /// Changes that the model is writing. A card for a change that is not here is out of date.
    pub streaming: Vec<Streaming>,
    /// Connections in the document.
    pub peers: Vec<Peer>,
    /// Number of connections in the document, for clients that name the capability
    /// `presence-changes`: in a crowd, `peers` leaves out who only reads.
    #[serde(rename = "peerCount")]
    pub peer_count: Option<usize>,
    /// Number that stands for the document in `updates`, for clients that name the capability
    /// `short-updates`; it holds for this connection until the document is closed.
    #[serde(rename = "shortId")]
    pub short_id: Option<u32>,
    /// Threads of comments that are not resolved, oldest first, for clients that name the
    /// capability `comments`; the positions are of the newest version.
    pub threads: Option<Vec<CommentThread>>,
    /// Identifier of this connection in `peers`.
    pub member: String,
    /// Role of the person in the document.
    pub role: Role,
    /// State of the document's file; missing: the document is no file.
    pub file: Option<FileState>,
}

/// Change that the model is still writing.
#[wire(Serialize, TS)]
pub struct Streaming {
    /// Last update that was sent about it.
    pub update: ToolApprovalUpdate,
    /// Hunks known so far; positions are of the answer's version.
    pub hunks: Vec<Hunk>,
}

/// `document:changed`: a new title, new settings, or the end of a document.
#[wire(Serialize, TS, camelCase)]
pub struct DocumentChanged {
    /// Document that changed.
    pub document_id: String,
    /// New title.
    pub title: Option<String>,
    /// Settings now in force.
    pub settings: Option<DocumentSettings>,
    /// With `settings`: the version that their ranges refer to.
    pub version: Option<u64>,
    /// `true`: the document was deleted.
    pub deleted: Option<bool>,
}

/// Smallest change that a person accepts or rejects.
#[wire(Serialize, TS)]
pub struct Hunk {
    /// Identifier, unique within the document.
    pub id: String,
    /// Request that the hunk belongs to.
    pub request_id: String,
    /// Word-level changes, left to right.
    pub parts: Vec<Part>,
    /// Status of the hunk.
    pub status: HunkStatus,
    /// Reason for the status.
    pub reason: Option<String>,
    /// Reason for the status, for programs.
    #[serde(rename = "reasonCode")]
    pub reason_code: Option<HunkReasonCode>,
    /// Explanation by the model.
    pub explanation: Option<String>,
    /// Hash of its identifier and its words, for a decision that names it; only of hunks that a
    /// person suggests or has imported.
    pub hash: Option<String>,
    /// `true`: the person who suggests it is writing in it, and it cannot be decided yet.
    pub writing: Option<bool>,
    /// Kind of the change, if it is known.
    pub kind: Option<HunkKind>,
    /// Number of the paragraph among those that the request changes, from 1: hunks of one paragraph
    /// have the same one.
    pub group: Option<u32>,
    /// Facts that the change alters, in the order of the text; missing: it keeps the meaning.
    pub marks: Option<Vec<Mark>>,
    /// Decision on the hunk.
    pub decided: Option<HunkDecided>,
    /// Votes that count, where one person is not enough; missing: there are none.
    pub votes: Option<Vec<HunkVote>>,
    /// Requirement by its marks, where that is more than the request takes.
    #[serde(flatten)]
    pub required: HunkRequired,
}

/// Requirement of a hunk by its marks; empty where that is not more than its request takes.
#[wire(Default, Serialize, TS)]
pub struct HunkRequired {
    /// All policies for the hunk, from the mildest to the strictest.
    pub policies: Option<Vec<DecisionPolicy>>,
    /// Votes for the hunk.
    pub approvals: Option<VoteCount>,
}

/// Word-level change.
#[wire(Serialize, TS)]
pub struct Part {
    /// First UTF-16 code unit to replace.
    pub from: usize,
    /// Code unit after the last one.
    pub to: usize,
    /// Words that are replaced.
    pub base: String,
    /// Words that are inserted.
    pub insert: String,
    /// `true`: somebody changed these words, or removed the place.
    pub conflict: Option<bool>,
}

/// Decision on a hunk.
#[wire(Serialize, TS)]
pub struct HunkDecided {
    /// Person who decided.
    pub by: Person,
    /// Time of the decision, in RFC 3339.
    pub at: String,
    /// Text that was inserted instead of the proposed one.
    pub text: Option<String>,
    /// Remembered rule that decided in the person's place.
    pub rule: Option<String>,
    /// Reason that was given for a rejection.
    pub feedback: Option<String>,
}

/// `tool_approval_request` (tool approval protocol, with additions): a tool call that waits for
/// people.
#[wire(Serialize, TS)]
pub struct ToolApprovalRequest {
    /// Always `tool_approval_request`, as in the tool approval protocol.
    #[serde(rename = "type")]
    pub kind: String,
    /// Identifier of the request.
    pub request_id: String,
    /// Tool that the model called.
    pub tool_name: String,
    /// Input of the call.
    #[cfg_attr(test, ts(type = "unknown"))]
    pub tool_input: Value,
    /// Identifier of the call, given by the model.
    pub tool_use_id: String,
    /// Kind of the preview.
    pub preview_type: PreviewKind,
    /// Facts about the preview.
    #[cfg_attr(test, ts(type = "unknown"))]
    pub preview_data: Value,
    /// Title of the document, or path of the file.
    #[null]
    pub file_path: Option<String>,
    /// Text before the change, as the model knew it.
    #[null]
    pub original_content: Option<Arc<str>>,
    /// Text that the model proposed.
    #[null]
    pub new_content: Option<Arc<str>>,
    /// Unified diff.
    pub diff_lines: Vec<String>,
    /// Session that asked.
    pub session_id: String,
    /// Run that asked (`requestId` of `askClaudeCode`).
    #[serde(rename = "requestId")]
    pub run_id: String,
    /// Document that the call would change.
    #[null]
    pub document_id: Option<String>,
    /// Version that the model had read.
    pub base_version: u64,
    /// Version that the positions of the hunks refer to.
    pub version: u64,
    /// Status of the request.
    pub status: RequestStatus,
    /// Changes that the call would make.
    pub hunks: Vec<Hunk>,
    /// Explanation by the model.
    pub explanation: String,
    /// Prompt of the run.
    pub prompt: String,
    /// Person who asked, or who imported the file.
    pub author: Person,
    /// Author of the changes as an imported file names them; missing for other requests.
    #[serde(rename = "claimedAuthor")]
    pub claimed_author: Option<ClaimedAuthor>,
    /// Time of the request, in RFC 3339.
    pub created_at: String,
    /// Time at which it expires, in RFC 3339; `null`: never.
    #[null]
    pub expires_at: Option<String>,
    /// `true`: the countdown is paused, because a person looks at the request.
    pub paused: bool,
    /// Warnings about the call.
    pub warnings: Vec<PreviewWarning>,
    /// Decisions that the request can take; `edit` needs the right to write.
    pub allowed_decisions: Vec<DecisionKind>,
    /// Hash of everything shown; send it back with the decision.
    pub preview_hash: String,
    /// Policy that says who may accept what is open now: the strictest of `policies`. A decision
    /// with a person's own words can need a stricter one; a rejection never does.
    pub policy: DecisionPolicy,
    /// All policies that apply, from the mildest. Each of them holds.
    pub policies: Vec<DecisionPolicy>,
    /// UTF-16 code units that the call deletes and inserts together: changes of a text as they were
    /// proposed, a call as its current preview shows; `null`: unknown.
    #[null]
    pub units: Option<usize>,
    /// Votes, and how many are needed.
    pub approvals: VoteCount,
    /// `true`: a single key must never approve it.
    pub default_to_no: bool,
    /// Origin of the call.
    pub source: RequestSource,
    /// Revision of a person's suggestion, which rises with each update and each decision; missing
    /// for other requests, and for a suggestion that was reopened after its end.
    pub revision: Option<u64>,
    /// Person who resolved the request.
    #[null]
    pub by: Option<Person>,
    /// Remembered rule that resolved it in the person's place.
    #[null]
    pub rule: Option<String>,
    /// Reason why nobody was asked; `by` is then the person whose run it was.
    #[null]
    pub unasked: Option<UnaskedReason>,
    /// Reason for the rejection.
    #[null]
    pub feedback: Option<String>,
    /// Report for the model: what it was told, or would be told if the request were finished now.
    pub report: String,
    /// Later events, and what can be done now; missing: there is nothing to say.
    pub aftermath: Option<Aftermath>,
}

/// `tool_approval_update`: a change of an open request.
#[wire(Serialize, TS)]
pub struct ToolApprovalUpdate {
    /// Identifier of the request.
    pub request_id: String,
    /// Document that the call would change.
    #[null]
    #[cfg_attr(test, ts(optional = nullable))]
    pub document_id: Option<String>,
    /// Status of the request.
    pub status: RequestStatus,
    /// Time at which it expires, in RFC 3339; `null`: never.
    #[null]
    #[cfg_attr(test, ts(optional = nullable))]
    pub expires_at: Option<String>,
    /// `true`: the countdown is paused, because a person looks at the request.
    pub paused: bool,
    /// People who look at the request.
    pub focused_by: Vec<Person>,
    /// Hash of the current preview.
    pub preview_hash: String,
    /// Revision of a person's suggestion, which rises with each update and each decision; missing
    /// for other requests, and for a suggestion that was reopened after its end.
    pub revision: Option<u64>,
    /// Policies that apply now; missing while there is no request.
    pub policies: Option<Vec<DecisionPolicy>>,
    /// Votes, and how many are needed.
    pub approvals: VoteCount,
    /// Hunks whose state changed.
    pub hunks: Vec<HunkState>,
    /// Person who caused the change.
    #[null]
    #[cfg_attr(test, ts(optional = nullable))]
    pub by: Option<Person>,
    /// Text so far, while the model writes (`status` is `streaming`): there is no request yet, and
    /// nothing to decide. Its hunks come with `document:updates`. If the change comes to nothing,
    /// `status` is `cancelled`.
    pub text: Option<String>,
    /// With `text`: the number of complete paragraphs (headings, list items, lines of code).
    pub paragraphs: Option<usize>,
    /// While there is no request: the tool that the model is calling.
    pub tool_name: Option<String>,
    /// While there is no request: the identifier of the call, given by the model.
    pub tool_use_id: Option<String>,
    /// While there is no request: the session that asked.
    pub session_id: Option<String>,
    /// While there is no request: the run that asked.
    #[serde(rename = "requestId")]
    pub run_id: Option<String>,
    /// While there is no request: the person who asked.
    pub author: Option<Person>,
    /// Whole request, if its preview changed because a file changed.
    pub fresh: Option<Box<ToolApprovalRequest>>,
    /// Report for the model, when an approved call has ended or was undone.
    pub report: Option<String>,
    /// Later events, whenever they change without a decision: the call has ended, was undone, or
    /// was proposed again.
    pub aftermath: Option<Aftermath>,
}

/// State of a hunk.
#[wire(Serialize, TS)]
pub struct HunkState {
    /// Identifier of the hunk.
    pub id: String,
    /// Status of the hunk.
    pub status: HunkStatus,
    /// Person who decided it; missing: nobody did.
    pub by: Option<Person>,
    /// Time of the decision, in RFC 3339.
    pub at: Option<String>,
    /// Text that was inserted instead of the proposed one.
    pub text: Option<String>,
    /// Remembered rule that decided in the person's place.
    pub rule: Option<String>,
    /// Reason that was given for a rejection.
    pub feedback: Option<String>,
    /// All votes that count, where one person is not enough; missing: there are none.
    pub votes: Option<Vec<HunkVote>>,
    /// Requirement by its marks, where that is more than the request takes.
    #[serde(flatten)]
    pub required: HunkRequired,
}

/// `tool_approval_resolved`: the end of a request.
#[wire(Serialize, TS)]
pub struct ToolApprovalResolved {
    /// Identifier of the request.
    pub request_id: String,
    /// Document that the call would have changed.
    #[null]
    pub document_id: Option<String>,
    /// Status that the request ended with.
    pub status: RequestStatus,
    /// Person who decided last; `null`: nobody, because it expired or the run ended.
    #[null]
    pub by: Option<Person>,
    /// Remembered rule that decided in the person's place.
    #[null]
    pub rule: Option<String>,
    /// Reason why nobody was asked; `by` is then the person whose run it was.
    #[null]
    pub unasked: Option<UnaskedReason>,
    /// Reason for the rejection.
    #[null]
    pub feedback: Option<String>,
    /// State of every hunk.
    pub hunks: Vec<HunkState>,
    /// Revision of a person's suggestion, which rises with each update and each decision; missing
    /// for other requests, and for a suggestion that was reopened after its end.
    pub revision: Option<u64>,
    /// Report that the model was given.
    pub report: String,
    /// Later events, and what can be done now; missing: there is nothing to say.
    pub aftermath: Option<Aftermath>,
}

/// Answer of `tool_approval_response`.
#[wire(Serialize, TS)]
pub struct Decided {
    /// Status of the request.
    pub status: RequestStatus,
    /// State of every hunk.
    pub hunks: Vec<HunkState>,
    /// Hash of the current preview.
    pub preview_hash: String,
    /// Votes, and how many are needed.
    pub approvals: VoteCount,
}
