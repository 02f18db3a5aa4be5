//! What a client sends over socket.io: one struct for each event's payload.
//!
//! Names and casing are the seeds' where a seed named the field, camelCase elsewhere (`protocol.md` is the contract).
//! Unknown fields are ignored, so that newer clients can talk to older servers.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
#[cfg(test)]
use ts_rs::TS;

use super::rules::{Remember, ToolPolicy};

/// The handshake's `auth` object.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(test, derive(TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct Handshake {
    /// The secret of a token; may be missing only under `--no-auth`.
    pub token: Option<String>,
    /// What the person wants to be called, 1 to 80 characters after trimming. Others see the name of the token, and this beside
    /// it where it differs: `Mallory (as Ana)`.
    pub name: Option<String>,
    /// The protocol the client speaks; only 1 exists.
    pub protocol: Option<u32>,
    /// A session to go on with; it must belong to the same person.
    pub session_id: Option<String>,
}

/// An event without fields.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(TS))]
pub struct Nothing {}

/// `document:create`
#[derive(Debug, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(TS), ts(optional_fields))]
pub struct CreateDocument {
    /// Shown in lists; empty or missing becomes "Untitled".
    pub title: Option<String>,
    /// The text of version 0; line ends are normalised to `\n`.
    pub text: Option<String>,
}

/// `document:open`
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct OpenDocument {
    /// The document to open.
    pub document_id: Option<String>,
    /// A workspace text file to open as a live document.
    pub path: Option<String>,
    /// The version the client already has; answered by updates while the log reaches it.
    pub since: Option<u64>,
}

/// `document:push`
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "camelCase")]
pub struct PushUpdates {
    /// The document to change.
    pub document_id: String,
    /// The version the first update was made on.
    pub version: u64,
    /// At least one update, each on top of the one before.
    pub updates: Vec<PushedUpdate>,
}

/// One update of `document:push`.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(TS))]
pub struct PushedUpdate {
    /// The editor instance that made the change; claimed by the first person who uses it.
    #[serde(rename = "clientID")]
    pub client_id: String,
    /// `ChangeSet.toJSON()` of `@codemirror/state`.
    #[cfg_attr(test, ts(type = "unknown"))]
    pub changes: Box<RawValue>,
}

/// `document:resync`
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "camelCase")]
pub struct Resync {
    /// The document.
    pub document_id: String,
    /// The version the client has.
    pub version: u64,
}

/// `document:close`, `document:delete` and other events that only name a document.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "camelCase")]
pub struct NameDocument {
    /// The document.
    pub document_id: String,
}

/// `document:rename`
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "camelCase")]
pub struct RenameDocument {
    /// The document.
    pub document_id: String,
    /// The new title, 1 to 200 characters after trimming.
    pub title: String,
}

/// `document:settings`
#[derive(Debug, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ChangeSettings {
    /// The document.
    pub document_id: String,
    /// Who may decide: `any`, `not_requester`, `two` or `owner`.
    pub policy: Option<String>,
    /// Stricter policies for some tools and sizes; replaces those before.
    pub policies: Option<Vec<ToolPolicy>>,
    /// `on` (the default): every change waits for a person. `off`: the server applies at once, logged and undoable.
    pub approvals: Option<String>,
    /// Seconds until a request expires; 0 waits for ever.
    pub timeout_seconds: Option<u64>,
    /// Ranges no tool may touch, in positions of `version`.
    pub frozen: Option<Freeze>,
}

/// The frozen ranges of `document:settings`.
#[derive(Debug, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(TS))]
pub struct Freeze {
    /// The version the positions are of.
    pub version: u64,
    /// All frozen ranges; replaces those before.
    pub ranges: Vec<Range>,
}

/// A range in UTF-16 code units, half-open.
#[derive(Clone, Copy, Debug, Deserialize, serde::Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS))]
pub struct Range {
    /// First unit.
    pub from: usize,
    /// One past the last unit.
    pub to: usize,
}

/// `document:history`
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ReadHistory {
    /// The document.
    pub document_id: String,
    /// Only versions below this one; missing: from the newest.
    pub before: Option<u64>,
    /// At most this many, 1 to 500; 100 if missing.
    pub limit: Option<u32>,
}

/// `document:at`
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "camelCase")]
pub struct ReadVersion {
    /// The document.
    pub document_id: String,
    /// The version whose text is wanted.
    pub version: u64,
}

/// `document:provenance` (an addition): who wrote what.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ReadProvenance {
    /// The document.
    pub document_id: String,
    /// First unit of the newest text; missing: its beginning.
    pub from: Option<usize>,
    /// One past the last unit; missing: its end.
    pub to: Option<usize>,
}

/// `document:compare` (an addition): what is different between two versions.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct CompareVersions {
    /// The document.
    pub document_id: String,
    /// The version that the parts are positions of.
    pub from: u64,
    /// The version with which it is compared; missing: the newest.
    pub to: Option<u64>,
}

/// `document:restore` (an addition): the text becomes again what it was.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct RestoreVersion {
    /// The document.
    pub document_id: String,
    /// The version whose text is wanted.
    pub version: u64,
    /// Only if this is still the newest version; else the answer is `resync`.
    pub only_at: Option<u64>,
}

/// `presence:update`
#[derive(Clone, Copy, Debug, Deserialize)]
#[cfg_attr(test, derive(TS))]
pub struct Caret {
    /// The version the positions are of.
    pub version: u64,
    /// Where the selection began.
    pub anchor: usize,
    /// Where the caret stands.
    pub head: usize,
}

/// `presence:update`, with its document.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "camelCase")]
pub struct MoveCaret {
    /// The document.
    pub document_id: String,
    /// Where the caret is.
    #[serde(flatten)]
    pub caret: Caret,
}

/// `askClaudeCode` (document agent protocol)
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct AskClaudeCode {
    /// The session that asks; it must be the person's own.
    pub session_id: String,
    /// What the person typed.
    pub prompt: String,
    /// The client's own name for this request; made by the server if missing.
    pub request_id: Option<String>,
    /// `sdk`, `bypassPermissions`, `toolApproval` or `mcpProxy`; the server's if missing.
    #[serde(rename = "permission_mode")]
    pub permission_mode: Option<String>,
    /// The model to use; the server's if missing.
    pub model: Option<String>,
    /// `false` forgets the conversation so far.
    #[serde(rename = "continue")]
    pub keep_conversation: Option<bool>,
    /// What the request is about.
    #[serde(default, deserialize_with = "or_default")]
    pub context: AskContext,
}

/// `null` is what some clients send for nothing.
fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// The context of `askClaudeCode` (document agent protocol).
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct AskContext {
    /// The shared document to edit; its text is the server's.
    pub document_id: Option<String>,
    /// Without `documentId`: the text of the session's private document.
    pub document_content: Option<String>,
    /// What the person has selected.
    pub selection: Option<AskSelection>,
    /// Earlier turns that the server does not have, oldest first.
    pub conversation_history: Option<Vec<AskHistory>>,
    /// Extra instructions for the model.
    pub system_instructions: Option<String>,
}

/// The selection of `askClaudeCode`: UTF-16 code units, half-open.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(TS), ts(optional_fields))]
pub struct AskSelection {
    /// The selected words, to recognise a selection that is out of date.
    pub text: Option<String>,
    /// First unit.
    pub start: i64,
    /// One past the last unit.
    pub end: i64,
}

/// One earlier turn of `conversationHistory`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(TS))]
pub struct AskHistory {
    /// `user` or `assistant`.
    pub role: String,
    /// What was said.
    pub content: String,
}

/// `run` (tool approval protocol): work without a document.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(TS), ts(optional_fields))]
pub struct Run {
    /// What the person typed.
    pub prompt: String,
    /// `true` goes on with the conversation so far; the tool approval protocol starts afresh.
    #[serde(rename = "continue")]
    pub keep_conversation: Option<bool>,
    /// As in `askClaudeCode`.
    pub permission_mode: Option<String>,
    /// `false`: even reading waits for a person.
    pub auto_approve_safe: Option<bool>,
    /// As in `askClaudeCode`.
    #[serde(rename = "requestId")]
    pub request_id: Option<String>,
    /// As in `askClaudeCode`.
    pub model: Option<String>,
}

/// `tool_approval_response` (tool approval protocol, with additions)
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(TS), ts(optional_fields))]
pub struct ToolApprovalResponse {
    /// The request to decide.
    pub request_id: String,
    /// Approve or reject, as the tool approval protocol says it.
    pub approved: Option<bool>,
    /// `approve`, `reject`, `edit` or `respond`; must not contradict `approved`.
    pub decision: Option<String>,
    /// Why it was rejected; told to the model.
    pub feedback: Option<String>,
    /// A remark that goes with an approval; told to the model.
    pub note: Option<String>,
    /// Decisions on single changes; those not named stay open unless `finish` says otherwise.
    pub hunks: Option<Vec<HunkResponse>>,
    /// What happens to the changes not named: `accept` or `reject`.
    pub finish: Option<String>,
    /// With `edit`: the input to run instead (same tool). It takes the right to write, and is judged as it will be applied: policies and
    /// rules by size and path.
    #[cfg_attr(test, ts(optional, type = "unknown"))]
    pub updated_input: Option<Value>,
    /// With `respond`: the answer given to the model instead of running the tool. Also read as `feedback`.
    pub message: Option<String>,
    /// A rule to remember; only with an approval that rejects nothing.
    pub remember: Option<Remember>,
    /// The preview the person saw; missing: the one first announced.
    pub preview_hash: Option<String>,
}

/// One change's decision in `tool_approval_response`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(TS), ts(optional_fields))]
pub struct HunkResponse {
    /// The change.
    pub id: String,
    /// `accept` or `reject`.
    pub decision: String,
    /// With `accept`: the text to put there instead of the proposed one. Another than the proposed one takes the right to write, and
    /// counts where policies and rules look at sizes.
    pub text: Option<String>,
    /// Accept although the words there were changed meanwhile; needs `seen`.
    pub force: Option<bool>,
    /// The words that will be overwritten, as the person saw them.
    pub seen: Option<String>,
}

/// `tool_approval_batch`
#[derive(Debug, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(TS))]
pub struct ToolApprovalBatch {
    /// Decided one after the other, each on its own.
    #[cfg_attr(test, ts(type = "Array<ToolApprovalResponse>"))]
    pub responses: Vec<Value>,
}

/// `list_pending_approvals`
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ListPendingApprovals {
    /// Only this document's requests; missing: all the person may see.
    pub document_id: Option<String>,
}

/// `approval:list` (an addition): requests that have ended, newest first.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ListRequests {
    /// The document; missing or `desk`: those without one that are the person's business.
    pub document_id: Option<String>,
    /// How they ended: `approved`, `rejected`, `partly`, `expired`, `cancelled`, `failed`; missing or empty: however.
    pub status: Option<Vec<String>>,
    /// Only those made before this request (the last one of the page before); missing: from the newest.
    pub before: Option<String>,
    /// At most this many, 1 to 100; 20 if missing. A page may hold fewer: `more` says whether there are older ones.
    pub limit: Option<u32>,
}

/// `approval:focus`
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(TS))]
pub struct FocusRequest {
    /// The request.
    pub request_id: String,
    /// `true` while the person looks at it; repeated every few seconds.
    pub on: bool,
}

/// `approval:extend`, `approval:withdraw`
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(TS))]
pub struct NameRequest {
    /// The request.
    pub request_id: String,
}

/// `approval:undo`
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(TS), ts(optional_fields))]
pub struct UndoRequest {
    /// The request.
    pub request_id: String,
    /// Only these changes; missing: everything that was accepted.
    pub hunks: Option<Vec<String>>,
    /// Undo although the words were touched since; what is overwritten counts where policies look at sizes.
    pub force: Option<bool>,
    /// What stands there now, as the person saw it: with `force`, nothing else is overwritten.
    pub seen: Option<Vec<SeenWords>>,
}

/// What a person saw standing where a change would be undone, as the refusal has told it.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(TS))]
pub struct SeenWords {
    /// The change.
    pub id: String,
    /// What stands there.
    pub stands: String,
}

/// `approval:reopen`
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(TS), ts(optional_fields))]
pub struct ReopenRequest {
    /// The request.
    pub request_id: String,
    /// Only these changes; missing: everything that was rejected, ran out of time or lost its words.
    pub hunks: Option<Vec<String>>,
}

/// `cancel`
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct Cancel {
    /// The run to stop.
    pub request_id: Option<String>,
    /// Or every run of this session.
    pub session_id: Option<String>,
}

/// `transcript:get` (an addition): what was asked, answered, called and decided.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ReadTranscript {
    /// The session; it must be the person's own.
    pub session_id: String,
    /// The document the conversation is about; missing: the work without a document.
    pub document_id: Option<String>,
    /// The `before` of an earlier answer, for what was said before that; missing: the newest.
    pub before: Option<String>,
}

/// `transcript:clear` (an addition): the conversation begins anew; what was said stays on record.
#[derive(Debug, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ClearTranscript {
    /// The session; it must be the person's own.
    pub session_id: String,
    /// The document the conversation is about; missing: the work without a document.
    pub document_id: Option<String>,
}

/// `transcript:fork` (an addition): the conversation goes on from where an earlier run ended.
#[derive(Debug, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ForkTranscript {
    /// The session that goes on; it must be the person's own.
    pub session_id: String,
    /// The document the conversation is about; missing: the work without a document.
    pub document_id: Option<String>,
    /// The run.
    pub request_id: String,
    /// The session that asked for the run, if it is another; about a document it may be anybody's.
    pub from_session_id: Option<String>,
}

/// `token:issue`, and the body of `POST /api/v1/tokens`. For owners.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct IssueToken {
    /// `owner`, `editor`, `reviewer` or `viewer`.
    pub role: String,
    /// Who is to hold it: the name others see, 1 to 80 characters.
    pub name: String,
    /// The only document it reaches; missing: all. No owner's token is for one document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub document_id: Option<String>,
    /// How long it lasts: `12h`, `7d`, `4w`, or `never`, which is also what a missing one means.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_in: Option<String>,
}

/// The body of `PUT /api/v1/server-tools`, and the answer of both its methods.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UseServerTools {
    /// What programs may use over the Messages API with a token of this person; at first nothing.
    pub tools: Vec<ServerTool>,
}

/// A kind of tools that run on this server.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ServerTool {
    /// Those for the document that a request names (`x-copydesk-document`).
    Document,
    /// Those for the server's workspace.
    Workspace,
}

/// `token:revoke`
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(TS))]
pub struct RevokeToken {
    /// The token, as `token:list` names it; never its secret.
    pub id: String,
}

/// `settings:set`
#[derive(Debug, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct SetSettings {
    /// `on` or `off`, for documents that say nothing themselves.
    pub approvals: Option<String>,
    /// The permission mode of runs that name none. `bypassPermissions` and `approvals: on` exclude each other.
    #[serde(rename = "permission_mode")]
    pub permission_mode: Option<String>,
    /// Seconds until a request expires; 0 waits for ever.
    pub timeout_seconds: Option<u64>,
}
