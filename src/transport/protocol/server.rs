//! What the server sends over socket.io: acknowledgements and events.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;
#[cfg(test)]
use ts_rs::TS;

mod aftermath;
mod presence;
mod runs;
mod tokens;

pub use aftermath::{Aftermath, Approvals, Undone, Warning};
pub use presence::{Peer, PeerCaret, PresencePeers, PresenceUpdate};
pub use runs::{AgentEvent, ClaudeResponse, ClaudeStream, ResponseUpdate, SelectionRange};
pub use tokens::{IssuedToken, SessionEnded, TokenLine, TokenList};

use super::client::Range;
use super::files::FileState;
use super::rules::ToolPolicy;

/// Why an event was refused; the `error` of `{ok: false, error}` and the `data` of `connect_error`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS), ts(optional_fields))]
pub struct WireError {
    /// Stable, for programs: `invalid_payload`, `not_found`, `not_allowed`, …
    pub code: String,
    /// For people.
    pub message: String,
    /// What helps to go on: a fresh request, the limit that was passed, who was first.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional, type = "unknown"))]
    pub details: Option<Value>,
}

/// `sessionRegistered`, once after each connect.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "camelCase")]
pub struct SessionRegistered {
    /// The session, new or resumed.
    pub session_id: String,
    /// The person behind the token.
    pub user: Person,
    /// `owner`, `editor`, `reviewer` or `viewer`.
    pub role: String,
    /// The protocol the server speaks.
    pub protocol: u32,
    /// Names of what this server can do beyond the protocol's core.
    pub capabilities: Vec<String>,
    /// The permission mode of this person's runs that name none.
    #[serde(rename = "permission_mode")]
    pub permission_mode: String,
    /// The permission modes that this person's runs may name.
    #[serde(rename = "permission_modes")]
    pub permission_modes: Vec<String>,
    /// The models that can be asked, the default first.
    pub models: Vec<String>,
    /// The server's settings.
    pub settings: Settings,
}

/// A person as others see them.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS))]
pub struct Person {
    /// The principal; the same for all of a person's connections.
    pub id: String,
    /// The name others see: the token's, and beside it what the person said at the handshake, where that differs.
    pub name: String,
}

/// `settings:get` and `settings:set`: the server's settings.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "camelCase")]
pub struct Settings {
    /// `on` or `off`.
    pub approvals: String,
    /// The permission mode of new runs.
    #[serde(rename = "permission_mode")]
    pub permission_mode: String,
    /// Seconds until a request expires; 0 waits for ever.
    pub timeout_seconds: u64,
}

/// `settings:changed`: an owner has changed the server's settings.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct SettingsChanged {
    /// All of them.
    pub settings: Settings,
}

/// A document's own settings, as they are in force.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "camelCase")]
pub struct DocumentSettings {
    /// `any`, `not_requester`, `two` or `owner`.
    pub policy: String,
    /// Stricter policies for some tools and sizes.
    pub policies: Vec<ToolPolicy>,
    /// `on` or `off`.
    pub approvals: String,
    /// Seconds until a request expires; 0 waits for ever.
    pub timeout_seconds: u64,
    /// Ranges no tool may touch, in positions of the version they came with.
    pub frozen: Vec<Range>,
}

/// One line of `document:list`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct DocumentLine {
    /// The document.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Its newest version.
    pub version: u64,
    /// When it last changed, RFC 3339.
    pub updated_at: String,
    /// What the person may do in it.
    pub role: String,
    /// The file of the workspace that it is, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

/// The ack of `document:create`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS))]
pub struct CreatedDocument {
    /// The document.
    pub id: String,
    /// Its title.
    pub title: String,
    /// The version of its first text: 0, or 1 if a request made it.
    pub version: u64,
}

/// `document:created`: there is a new document, for everybody who may open it.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct DocumentCreated {
    /// The document.
    pub document: CreatedDocument,
}

/// The whole document, in the ack of `document:open`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS))]
pub struct WholeDocument {
    /// The document.
    pub id: String,
    /// Its title.
    pub title: String,
    /// The version of `text`.
    pub version: u64,
    /// The text, line ends `\n`.
    pub text: String,
    /// SHA-256 of the text's UTF-8 bytes, in hexadecimal.
    pub hash: String,
    /// The settings in force.
    pub settings: DocumentSettings,
}

/// The ack of `document:open` and `document:resync`: the whole document, or only what is new since a version.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS), ts(optional_fields))]
pub struct Opened {
    /// The whole document; missing if `updates` bring the client up to date.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub document: Option<WholeDocument>,
    /// The version before the first of `updates`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<u64>,
    /// The newest version, with `updates`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    /// What the client missed, in order, without a gap.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updates: Option<Vec<Update>>,
    /// The title, with `updates`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The settings in force, with `updates`; the ranges are of `version`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settings: Option<DocumentSettings>,
    /// A name for a new editor instance, for `collab()`.
    #[serde(rename = "clientID")]
    pub client_id: String,
    /// All requests of the document that people can still decide; a card that is not here is gone.
    #[cfg_attr(test, ts(type = "Array<ToolApprovalRequest>"))]
    pub requests: Vec<ToolApprovalRequest>,
    /// What the model is writing; a card that is not here is gone.
    pub streaming: Vec<Streaming>,
    /// Who is here.
    pub peers: Vec<Peer>,
    /// Which of `peers` is this connection.
    pub member: String,
    /// What the person may do in this document.
    pub role: String,
    /// How the document stands with the file of the workspace that it is; missing if it is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<FileState>,
}

/// A change that the model is still writing.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Streaming {
    /// As it was last told.
    pub update: ToolApprovalUpdate,
    /// What is known of the change so far; positions are of the version of the ack.
    pub hunks: Vec<Hunk>,
}

/// One committed update.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS), ts(optional_fields))]
pub struct Update {
    /// Who made it; `ai:…` for an accepted request.
    #[serde(rename = "clientID")]
    pub client_id: String,
    /// `ChangeSet.toJSON()`, as committed.
    #[cfg_attr(test, ts(type = "unknown"))]
    pub changes: Box<RawValue>,
    /// Where it came from, if not from typing: the request's id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
}

/// `document:updates`
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct DocumentUpdates {
    /// The document.
    pub document_id: String,
    /// The version before the first update.
    pub from: u64,
    /// In order, without a gap; may be empty when only hunks change.
    pub updates: Vec<Update>,
    /// Changes to pending hunks that belong together with the updates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hunks: Option<HunkChanges>,
}

/// Hunks that changed otherwise than by being mapped through updates.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct HunkChanges {
    /// No longer open.
    pub drop: Vec<String>,
    /// New, or changed; positions are those after the message's updates.
    pub put: Vec<Hunk>,
}

/// `document:changed`
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct DocumentChanged {
    /// The document.
    pub document_id: String,
    /// The new title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The settings now in force.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settings: Option<DocumentSettings>,
    /// With `settings`: the version their ranges are of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    /// `true`: the document is gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deleted: Option<bool>,
}

/// The smallest thing a person accepts or rejects.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS), ts(optional_fields))]
pub struct Hunk {
    /// Unique within the document.
    pub id: String,
    /// The request it belongs to.
    pub request_id: String,
    /// What changes, word by word, left to right.
    pub parts: Vec<Part>,
    /// `streaming`, `pending`, `conflict`, `obsolete`, `accepted`, `rejected` or `expired`.
    pub status: String,
    /// Why it is in that state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What the model says about this change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explanation: Option<String>,
    /// Who decided it, and when.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided: Option<HunkDecided>,
}

/// A word-level change.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS), ts(optional_fields))]
pub struct Part {
    /// First UTF-16 unit to replace.
    pub from: usize,
    /// One past the last.
    pub to: usize,
    /// The words that stand there.
    pub base: String,
    /// The words that will.
    pub insert: String,
    /// `true`: somebody changed these words, or removed the place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conflict: Option<bool>,
}

/// Who decided a hunk.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS), ts(optional_fields))]
pub struct HunkDecided {
    /// The person.
    pub by: Person,
    /// When, RFC 3339.
    pub at: String,
    /// The text that was put there instead of the proposed one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The remembered rule that decided in that person's place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
}

/// `tool_approval_request` (tool approval protocol, with additions)
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS))]
pub struct ToolApprovalRequest {
    /// Always `tool_approval_request`, as in the tool approval protocol.
    #[serde(rename = "type")]
    pub kind: String,
    /// The request.
    pub request_id: String,
    /// The tool the model called.
    pub tool_name: String,
    /// Its input.
    #[cfg_attr(test, ts(type = "unknown"))]
    pub tool_input: Value,
    /// The call, as the model named it.
    pub tool_use_id: String,
    /// `diff`, `multi_diff`, `command` or `generic`.
    pub preview_type: String,
    /// Facts about the preview.
    #[cfg_attr(test, ts(type = "unknown"))]
    pub preview_data: Value,
    /// The document's title, or the file.
    pub file_path: Option<String>,
    /// The text before, as the model knew it.
    pub original_content: Option<Arc<str>>,
    /// The text the model proposed.
    pub new_content: Option<Arc<str>>,
    /// A unified diff.
    pub diff_lines: Vec<String>,
    /// The session that asked.
    pub session_id: String,
    /// The run that asked (`requestId` of `askClaudeCode`).
    #[serde(rename = "requestId")]
    pub run_id: String,
    /// The document it would change.
    pub document_id: Option<String>,
    /// The version the model had read.
    pub base_version: u64,
    /// The version the hunks' positions are of.
    pub version: u64,
    /// `streaming`, `pending`, `approved`, `rejected`, `partly`, `expired`, `cancelled` or `failed`.
    pub status: String,
    /// What would change.
    pub hunks: Vec<Hunk>,
    /// What the model says it does.
    pub explanation: String,
    /// What the person had asked for.
    pub prompt: String,
    /// Who asked.
    pub author: Person,
    /// RFC 3339.
    pub created_at: String,
    /// RFC 3339; `null` waits for ever.
    pub expires_at: Option<String>,
    /// The countdown stands still because somebody is looking.
    pub paused: bool,
    /// What to look out for.
    pub warnings: Vec<Warning>,
    /// `approve`, `reject`, `edit`, `respond`: what the request can take; `edit` is for people who may write.
    pub allowed_decisions: Vec<String>,
    /// Covers everything shown; send it back with the decision.
    pub preview_hash: String,
    /// Who may accept what is open, as it stands now: the strictest of what the document says for it. A decision with a person's own
    /// words can take more, a rejection never does.
    pub policy: String,
    /// All that it says, from the mildest; each of them holds.
    pub policies: Vec<String>,
    /// How many UTF-16 units it deletes and inserts together: changes of a text as they were proposed, a call as its current preview
    /// shows; `null`: nobody can tell.
    pub units: Option<usize>,
    /// How many people said yes, and how many are needed.
    pub approvals: Approvals,
    /// `true`: never approve by a single stray key.
    pub default_to_no: bool,
    /// The door it came through: `sdk`, `mcpProxy`, `messages_api`, …
    pub source: String,
    /// Who resolved it.
    pub by: Option<Person>,
    /// The remembered rule that resolved it in that person's place.
    pub rule: Option<String>,
    /// Why nobody was asked: `bypass` (the run's permission mode) or `approvals_off`; `by` is then who had asked for it.
    pub unasked: Option<String>,
    /// Why it was rejected.
    pub feedback: Option<String>,
    /// What the model was told, or would be told were the request finished now.
    pub report: String,
    /// What became of it besides, and what can be done about it; missing: nothing and nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub aftermath: Option<Aftermath>,
}

/// `tool_approval_update`: a pending request changed.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS), ts(optional_fields))]
pub struct ToolApprovalUpdate {
    /// The request.
    pub request_id: String,
    /// The document it would change.
    pub document_id: Option<String>,
    /// Its status.
    pub status: String,
    /// RFC 3339; `null` waits for ever.
    pub expires_at: Option<String>,
    /// The countdown stands still because somebody is looking.
    pub paused: bool,
    /// Who has it open.
    pub focused_by: Vec<Person>,
    /// The current preview.
    pub preview_hash: String,
    /// Who may decide now, as in the request; missing while there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policies: Option<Vec<String>>,
    /// Votes.
    pub approvals: Approvals,
    /// Hunks whose state changed.
    pub hunks: Vec<HunkState>,
    /// Who caused the change.
    pub by: Option<Person>,
    /// The text so far, while the model still writes (`status` is `streaming`): there is no request yet, and nothing to decide.
    /// Its hunks come with `document:updates`. When nothing comes of it, `status` is `cancelled`, and nothing is left of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// With `text`: how many of its paragraphs (headings, list items, lines of code) are complete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paragraphs: Option<usize>,
    /// While there is no request: the tool the model is calling.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
    /// While there is no request: the call, as the model named it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<String>,
    /// While there is no request: the session that asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// While there is no request: the run that asked.
    #[serde(rename = "requestId", skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// While there is no request: the person who asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author: Option<Person>,
    /// The request anew, when it would do something else than people were shown: a file changed meanwhile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fresh: Option<Box<ToolApprovalRequest>>,
    /// What the model was told, when an approved call that acts is over, or was undone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report: Option<String>,
    /// As in the request, whenever it has changed although people's decision has not: the call is over, was undone, or was
    /// proposed again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aftermath: Option<Aftermath>,
}

/// A hunk's state.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS), ts(optional_fields))]
pub struct HunkState {
    /// The hunk.
    pub id: String,
    /// Its status.
    pub status: String,
    /// Who decided it; missing while nobody has, or nobody did in time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<Person>,
    /// When it was decided, RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// The text that was put there instead of the proposed one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The remembered rule that decided in that person's place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
}

/// `tool_approval_resolved`
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS))]
pub struct ToolApprovalResolved {
    /// The request.
    pub request_id: String,
    /// The document it would have changed.
    pub document_id: Option<String>,
    /// `approved`, `rejected`, `partly`, `expired`, `cancelled` or `failed`.
    pub status: String,
    /// Who decided last; `null`: nobody, time ran out or the run ended.
    pub by: Option<Person>,
    /// The remembered rule that decided in that person's place.
    pub rule: Option<String>,
    /// Why nobody was asked: `bypass` (the run's permission mode) or `approvals_off`; `by` is then who had asked for it.
    pub unasked: Option<String>,
    /// Why it was rejected.
    pub feedback: Option<String>,
    /// All hunks, as decided.
    pub hunks: Vec<HunkState>,
    /// What the model was told.
    pub report: String,
    /// As in the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub aftermath: Option<Aftermath>,
}

/// The ack of `tool_approval_response`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS))]
pub struct Decided {
    /// The request's status.
    pub status: String,
    /// All its hunks.
    pub hunks: Vec<HunkState>,
    /// The current preview.
    pub preview_hash: String,
    /// Votes.
    pub approvals: Approvals,
}

/// The ack of `approval:told`: what the model would be told if that decision were taken now.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS))]
pub struct Told {
    /// The words.
    pub text: String,
    /// Whether the model is to take it for a failure.
    pub is_error: bool,
}
