//! Payloads of the socket.io events that clients send.
//!
//! Fields of the older protocols keep their names and casing; others are camelCase. Unknown fields
//! are ignored, so that newer clients can talk to older servers.

use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

use super::names::{DecisionKind, ModelAccessKind, PermissionMode};
use super::rules::Remember;
use copydesk_approvals::{ApprovalSwitch, DecisionPolicy, HunkChoice, RequestStatus, ToolPolicy};
use copydesk_ids::permissions::Role;
use copydesk_macros::wire;

/// `auth` object of the handshake.
#[wire(Default, Deserialize, TS, camelCase)]
pub struct Handshake {
    /// Secret of a token; may be missing only under `--no-auth`.
    pub token: Option<String>,
    /// Name that the person chooses, 1 to 80 characters after trimming. Others see the name of the
    /// token, and this one beside it where it differs: `Mallory (as Ana)`.
    pub name: Option<String>,
    /// Version of the protocol that the client speaks; only 1 exists.
    pub protocol: Option<u32>,
    /// Session to continue; it must belong to the same person.
    pub session_id: Option<String>,
    /// Additions to the protocol that the client understands: [`PEER_CHANGES`],
    /// [`SHORT_UPDATES`], [`HUNK_CHANGES`] and [`COMMENTS`]. Others are ignored.
    #[serde(default)]
    pub capabilities: Vec<String>,
}

/// Capability of clients that take `presence:changes`.
pub const PEER_CHANGES: &str = "presence-changes";

/// Capability of clients that take `updates`, the short form of `document:updates`.
pub const SHORT_UPDATES: &str = "short-updates";

/// Capability of a client behind another server of several: it is sent nothing that its own server
/// tells it.
pub const RELAYED: &str = "relayed";

/// Capability of such a client that joins the workspace inbox here.
pub const RELAYED_INBOX: &str = "relayed-inbox";

/// Capability of clients that take the hunks that changed, without the others of their request.
pub const HUNK_CHANGES: &str = "hunk-changes";

/// Capability of clients that take `comment:changed`, and threads with documents that they open.
pub const COMMENTS: &str = "comments";

/// Payload without fields.
#[wire(Deserialize, TS)]
pub struct Nothing {}

/// Payload of `document:list`; without fields, all documents are listed at once.
#[wire(Deserialize, TS)]
pub struct ListDocuments {
    /// Maximum number of documents, 1 to 1,000; missing: 200, or all without `before`.
    pub limit: Option<u32>,
    /// Value of `next` of an earlier answer: the documents after those are listed.
    pub before: Option<String>,
}

/// Payload of `document:create`.
#[wire(Deserialize, TS)]
pub struct CreateDocument {
    /// Title; empty or missing: "Untitled".
    pub title: Option<String>,
    /// Text of version 0. Line ends become `\n`.
    pub text: Option<String>,
}

/// Payload of `document:open`.
#[wire(Deserialize, TS, camelCase)]
pub struct OpenDocument {
    /// Document to open.
    pub document_id: Option<String>,
    /// Text file of the workspace to open as a document.
    pub path: Option<String>,
    /// Version that the client has; the answer holds the updates since then, if the log reaches
    /// back that far.
    pub since: Option<u64>,
}

/// Payload of `document:push`.
#[wire(Deserialize, TS, camelCase)]
pub struct PushUpdates {
    /// Document to change.
    pub document_id: String,
    /// Version that the first update was made on.
    pub version: u64,
    /// At least one update, each made on top of the one before.
    pub updates: Vec<PushedUpdate>,
}

/// Update of `document:push`.
#[wire(Deserialize, TS)]
pub struct PushedUpdate {
    /// Editor instance that made the change. It belongs to the first person who uses it.
    #[serde(rename = "clientID")]
    pub client_id: String,
    /// `ChangeSet.toJSON()` of `@codemirror/state`.
    #[cfg_attr(test, ts(type = "unknown"))]
    pub changes: Box<RawValue>,
}

/// Payload of `document:resync`.
#[wire(Deserialize, TS, camelCase)]
pub struct Resync {
    /// Document to synchronise.
    pub document_id: String,
    /// Version that the client has.
    pub version: u64,
}

/// Payload of `document:close`, `document:delete`, `trash:recover` and other events that only name
/// a document.
#[wire(Deserialize, TS, camelCase)]
pub struct NameDocument {
    /// Document that the event is about.
    pub document_id: String,
}

/// Payload of `trash:empty`.
#[wire(Deserialize, TS, camelCase)]
pub struct EmptyTrash {
    /// Only document to remove; missing: all that the person can recover.
    pub document_id: Option<String>,
}

/// Payload of `document:rename`.
#[wire(Deserialize, TS, camelCase)]
pub struct RenameDocument {
    /// Document to rename.
    pub document_id: String,
    /// New title, 1 to 200 characters after trimming.
    pub title: String,
}

/// Payload of `document:settings`. Missing fields stay as they are.
#[wire(Deserialize, TS, camelCase)]
pub struct ChangeSettings {
    /// Document whose settings change.
    pub document_id: String,
    /// Policy that says who may decide.
    pub policy: Option<DecisionPolicy>,
    /// Stricter policies for some tools and sizes. They replace those before.
    pub policies: Option<Vec<ToolPolicy>>,
    /// `on`: every change waits for a person. `off`: the server applies changes at once; they are
    /// logged and can be undone.
    pub approvals: Option<ApprovalSwitch>,
    /// Seconds until a request expires; 0: never.
    pub timeout_seconds: Option<u64>,
    /// Models that may see the text.
    pub model_access: Option<ModelAccess>,
    /// Passages that no tool may change.
    pub frozen: Option<Freeze>,
}

/// Models that may see the text of a document.
#[wire(Deserialize, Serialize, TS)]
pub struct ModelAccess {
    /// Kind of the models.
    pub allow: ModelAccessKind,
    /// With `named`: full names of the models.
    pub names: Option<Vec<String>>,
}

/// Frozen passages of `document:settings`.
#[wire(Deserialize, TS)]
pub struct Freeze {
    /// Version that the positions refer to.
    pub version: u64,
    /// All frozen passages. They replace those before.
    pub ranges: Vec<Range>,
}

/// Range in UTF-16 code units, half-open.
#[wire(Copy, Deserialize, Serialize, TS)]
pub struct Range {
    /// First code unit.
    pub from: usize,
    /// Code unit after the last one.
    pub to: usize,
}

/// Payload of `document:history`.
#[wire(Deserialize, TS, camelCase)]
pub struct ReadHistory {
    /// Document whose history is read.
    pub document_id: String,
    /// Only versions below this one; missing: from the newest.
    pub before: Option<u64>,
    /// Maximum number of versions, 1 to 500; missing: 100.
    pub limit: Option<u32>,
}

/// Payload of `document:at`.
#[wire(Deserialize, TS, camelCase)]
pub struct ReadVersion {
    /// Document to read.
    pub document_id: String,
    /// Version to read.
    pub version: u64,
}

/// Payload of `document:provenance`, an addition: who wrote what.
#[wire(Deserialize, TS, camelCase)]
pub struct ReadProvenance {
    /// Document to read.
    pub document_id: String,
    /// First code unit of the newest text; missing: its beginning.
    pub from: Option<usize>,
    /// Code unit after the last one; missing: its end.
    pub to: Option<usize>,
}

/// Payload of `document:compare`, an addition: the differences between two versions.
#[wire(Deserialize, TS, camelCase)]
pub struct CompareVersions {
    /// Document to compare.
    pub document_id: String,
    /// Version that the positions of the parts refer to.
    pub from: u64,
    /// Version to compare with; missing: the newest.
    pub to: Option<u64>,
}

/// Payload of `document:restore`, an addition: makes an older text the newest.
#[wire(Deserialize, TS, camelCase)]
pub struct RestoreVersion {
    /// Document to restore.
    pub document_id: String,
    /// Version to restore.
    pub version: u64,
    /// Newest version that the client knows. If there is a newer one, the answer is `resync`.
    pub only_at: Option<u64>,
}

/// Caret of `presence:update`.
#[wire(Copy, Deserialize, TS)]
pub struct Caret {
    /// Version that the positions refer to.
    pub version: u64,
    /// Position where the selection began.
    pub anchor: usize,
    /// Position of the caret.
    pub head: usize,
}

/// Payload of `presence:update`.
#[wire(Deserialize, TS, camelCase)]
pub struct MoveCaret {
    /// Document that the caret is in.
    pub document_id: String,
    /// Position of the caret.
    #[serde(flatten)]
    pub caret: Caret,
}

/// Payload of `askClaudeCode` (document agent protocol).
#[wire(Deserialize, TS, camelCase)]
pub struct AskClaudeCode {
    /// Session of the run; it must be the person's own.
    pub session_id: String,
    /// Text that the person typed.
    pub prompt: String,
    /// Identifier of the run, chosen by the client; missing: the server chooses one.
    pub request_id: Option<String>,
    /// Approval mode of the run; missing: the server's default.
    #[serde(rename = "permission_mode")]
    pub permission_mode: Option<PermissionMode>,
    /// Model to use; missing: the server's default.
    pub model: Option<String>,
    /// `false`: the run starts a new conversation.
    #[serde(rename = "continue")]
    pub keep_conversation: Option<bool>,
    /// Document and selection that the run is about.
    #[serde(default, deserialize_with = "or_default")]
    pub context: AskContext,
}

/// `null` is what some clients send for nothing.
fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// Context of `askClaudeCode` (document agent protocol).
#[wire(Default, Deserialize, TS, camelCase)]
pub struct AskContext {
    /// Shared document to edit. The server has its text.
    pub document_id: Option<String>,
    /// Text of the session's private document; only without `documentId`.
    pub document_content: Option<String>,
    /// Range that the person has selected.
    pub selection: Option<AskSelection>,
    /// Earlier messages that the server does not have, oldest first.
    pub conversation_history: Option<Vec<AskHistory>>,
    /// Further instructions for the model.
    pub system_instructions: Option<String>,
}

/// Selection of `askClaudeCode`, in UTF-16 code units, half-open.
#[wire(Deserialize, TS)]
pub struct AskSelection {
    /// Selected text; it shows if the selection is out of date.
    pub text: Option<String>,
    /// First code unit.
    pub start: i64,
    /// Code unit after the last one.
    pub end: i64,
}

/// Earlier message of `conversationHistory`.
#[wire(Deserialize, TS)]
pub struct AskHistory {
    /// `user` or `assistant`.
    pub role: String,
    /// Text of the message.
    pub content: String,
}

/// Payload of `run` (tool approval protocol): work without a document.
#[wire(Deserialize, TS)]
pub struct Run {
    /// Text that the person typed.
    pub prompt: String,
    /// `true`: the run continues the conversation; the tool approval protocol starts a new one.
    #[serde(rename = "continue")]
    pub keep_conversation: Option<bool>,
    /// Approval mode of the run; missing: the server's default.
    pub permission_mode: Option<PermissionMode>,
    /// `false`: reading waits for a person too.
    pub auto_approve_safe: Option<bool>,
    /// Identifier of the run, chosen by the client; missing: the server chooses one.
    #[serde(rename = "requestId")]
    pub request_id: Option<String>,
    /// Model to use; missing: the server's default.
    pub model: Option<String>,
}

/// Payload of `tool_approval_response` (tool approval protocol, with additions): a decision on a
/// request.
#[wire(Deserialize, TS)]
pub struct ToolApprovalResponse {
    /// Request to decide.
    pub request_id: String,
    /// `true` approves, `false` rejects, as in the tool approval protocol.
    pub approved: Option<bool>,
    /// Decision on the whole request; must not contradict `approved`.
    pub decision: Option<DecisionKind>,
    /// Reason for a rejection, for the model.
    pub feedback: Option<String>,
    /// Remark with an approval, for the model.
    pub note: Option<String>,
    /// Decisions on single changes. Changes that are not named stay open unless `finish` decides
    /// them.
    pub hunks: Option<Vec<HunkResponse>>,
    /// Decision on the changes that `hunks` does not name.
    pub finish: Option<HunkChoice>,
    /// With `edit`: the input that the same tool runs with. It needs the right to write. Policies
    /// and rules are checked against it.
    #[cfg_attr(test, ts(type = "unknown"))]
    pub updated_input: Option<Value>,
    /// With `respond`: the answer for the model. Otherwise read as `feedback`.
    pub message: Option<String>,
    /// Rule to remember; only with an approval that rejects nothing.
    pub remember: Option<Remember>,
    /// Preview that the person saw; missing: the one first announced.
    pub preview_hash: Option<String>,
}

/// Decision on one change, in `tool_approval_response`.
#[wire(Deserialize, TS)]
pub struct HunkResponse {
    /// Change to decide.
    pub id: String,
    /// Decision on the change.
    pub decision: HunkChoice,
    /// With `accept`: the text to insert instead of the proposed one. Another text needs the right
    /// to write. Policies and rules check its size.
    pub text: Option<String>,
    /// `true`: accept although the words in the text were changed meanwhile; needs `seen`.
    pub force: Option<bool>,
    /// Words that will be overwritten, as the person saw them.
    pub seen: Option<String>,
    /// `hash` of the change as the person saw it. If all that is named has one, other changes of
    /// the request may have other words by now.
    pub hash: Option<String>,
}

/// Payload of `tool_approval_batch`.
#[wire(Deserialize, TS)]
pub struct ToolApprovalBatch {
    /// At most 100 decisions, taken one after the other; each succeeds or fails by itself.
    #[schemars(with = "Vec<ToolApprovalResponse>")]
    #[cfg_attr(test, ts(type = "Array<ToolApprovalResponse>"))]
    pub responses: Vec<Value>,
}

/// Payload of `list_pending_approvals`.
#[wire(Deserialize, TS, camelCase)]
pub struct ListPendingApprovals {
    /// Document whose requests are listed; missing: all requests that the person may see.
    pub document_id: Option<String>,
}

/// Payload of `approval:list`, an addition: requests that have ended, newest first.
#[wire(Deserialize, TS, camelCase)]
pub struct ListRequests {
    /// Document whose requests are listed; missing or `desk`: requests without a document that
    /// concern the person.
    pub document_id: Option<String>,
    /// Statuses to list, of those that end a request; missing or empty: all of them.
    pub status: Option<Vec<RequestStatus>>,
    /// Last request of the page before; missing: from the newest.
    pub before: Option<String>,
    /// Maximum number of requests, 1 to 100; missing: 20. A page may hold fewer: `more` says if
    /// there are older ones.
    pub limit: Option<u32>,
}

/// Payload of `approval:focus`.
#[wire(Deserialize, TS)]
pub struct FocusRequest {
    /// Request that the person looks at.
    pub request_id: String,
    /// `true` while the person looks at it; sent again every few seconds.
    pub on: bool,
}

/// Payload of `approval:extend` and `approval:withdraw`.
#[wire(Deserialize, TS)]
pub struct NameRequest {
    /// Request that the event is about.
    pub request_id: String,
}

/// Payload of `approval:split`.
#[wire(Deserialize, TS)]
pub struct SplitRequest {
    /// Request that the change belongs to.
    pub request_id: String,
    /// Change of several parts that becomes one change for each part.
    pub hunk_id: String,
}

/// Payload of `approval:undo`.
#[wire(Deserialize, TS)]
pub struct UndoRequest {
    /// Request to undo.
    pub request_id: String,
    /// Changes to undo; missing: everything that was accepted, or, if nothing was, one's own votes.
    /// The id that a change had before it was split: the split is undone.
    pub hunks: Option<Vec<String>>,
    /// `true`: undo although the words were changed since. Policies count what is overwritten.
    pub force: Option<bool>,
    /// Words that stand in the text now, as the person saw them. With `force`, only these are
    /// overwritten.
    pub seen: Option<Vec<SeenWords>>,
    /// `true`: withdraw one's own votes and undo nothing else, also if a change was accepted since.
    pub votes_only: Option<bool>,
}

/// Words that a person saw where a change would be undone, as the refusal named them.
#[wire(Deserialize, TS)]
pub struct SeenWords {
    /// Change to undo.
    pub id: String,
    /// Words that stand in its place.
    pub stands: String,
}

/// Payload of `approval:reopen`.
#[wire(Deserialize, TS)]
pub struct ReopenRequest {
    /// Request to propose again.
    pub request_id: String,
    /// Changes to propose again; missing: all that were rejected, expired or are obsolete.
    pub hunks: Option<Vec<String>>,
}

/// Payload of `cancel`.
#[wire(Deserialize, TS, camelCase)]
pub struct Cancel {
    /// Run to stop.
    pub request_id: Option<String>,
    /// Session whose runs are all stopped.
    pub session_id: Option<String>,
}

/// Payload of `transcript:get`, an addition: the conversation with its calls and decisions.
#[wire(Deserialize, TS, camelCase)]
pub struct ReadTranscript {
    /// Session to read; it must be the person's own.
    pub session_id: String,
    /// Document that the conversation is about; missing: work without a document.
    pub document_id: Option<String>,
    /// `before` of an earlier answer, for older entries; missing: the newest entries.
    pub before: Option<String>,
}

/// Payload of `transcript:clear`, an addition: starts a new conversation. The old one stays on
/// record.
#[wire(Deserialize, TS, camelCase)]
pub struct ClearTranscript {
    /// Session to clear; it must be the person's own.
    pub session_id: String,
    /// Document that the conversation is about; missing: work without a document.
    pub document_id: Option<String>,
}

/// Payload of `transcript:fork`, an addition: continues the conversation from the end of an earlier
/// run.
#[wire(Deserialize, TS, camelCase)]
pub struct ForkTranscript {
    /// Session that continues; it must be the person's own.
    pub session_id: String,
    /// Document that the conversation is about; missing: work without a document.
    pub document_id: Option<String>,
    /// Run to continue from.
    pub request_id: String,
    /// Session of that run, if it is another one. For a document it may be another person's.
    pub from_session_id: Option<String>,
}

/// Payload of `token:issue`, and body of `POST /api/v1/tokens`. For owners.
#[wire(Deserialize, Serialize, TS, camelCase)]
pub struct IssueToken {
    /// Role that the token gives.
    pub role: Role,
    /// Name of the holder that others see, 1 to 80 characters.
    pub name: String,
    /// Only document that the token reaches; missing: all. An owner's token always reaches all.
    pub document_id: Option<String>,
    /// Lifetime of the token: `12h`, `7d`, `4w`, or `never`; missing: `never`.
    pub expires_in: Option<String>,
}

/// Body of `PUT /api/v1/server-tools`, and answer of both methods.
#[wire(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct UseServerTools {
    /// Tools that programs may use over the Messages API with a token of this person; none at
    /// first.
    pub tools: Vec<ServerTool>,
}

/// A kind of tools that run on this server.
#[wire(Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize, snake_case)]
pub enum ServerTool {
    /// Those for the document that a request names (`x-copydesk-document`).
    Document,
    /// Those for the server's workspace.
    Workspace,
}

/// Payload of `token:name`. For owners.
#[wire(Deserialize, TS)]
pub struct NameToken {
    /// Name of the asking person that others see, 1 to 80 characters.
    pub name: String,
}

/// Payload of `token:revoke`.
#[wire(Deserialize, TS)]
pub struct RevokeToken {
    /// Identifier of the token, from `token:list`; never its secret.
    pub id: String,
}

/// Payload of `token:tie`, and body of `POST /api/v1/tokens/{id}/tie`. For owners.
#[wire(Deserialize, Serialize, TS)]
#[serde(deny_unknown_fields)]
pub struct TieToken {
    /// Identifier of the token.
    pub id: String,
    /// Login to which it belongs from now on.
    pub login: String,
}

/// Payload of `settings:set`. Missing fields stay as they are.
#[wire(Deserialize, TS, camelCase)]
pub struct SetSettings {
    /// Switch for documents without a setting of their own.
    pub approvals: Option<ApprovalSwitch>,
    /// Permission mode of runs that name none. `bypassPermissions` and `approvals: on` exclude each
    /// other.
    #[serde(rename = "permission_mode")]
    pub permission_mode: Option<PermissionMode>,
    /// Seconds until a request expires; 0: never.
    pub timeout_seconds: Option<u64>,
}
