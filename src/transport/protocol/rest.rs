//! What is said over REST alone: pages, short answers, and bodies that the socket has no event for.
//!
//! Everything else in the `OpenAPI` document is the very type the socket uses.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::client::{AskContext, SeenWords, ToolApprovalResponse};
use super::files::{FileLine, FileState};
use super::history::{AuditLine, Difference, HistoryLine, ProvenanceSpan};
use super::server::{
    ClaudeResponse, Decided, DocumentLine, Person, Settings, ToolApprovalRequest, WholeDocument,
    WireError,
};

/// An error (RFC 9457), as `application/problem+json`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ProblemDocument {
    /// Always `about:blank`: `code` says which.
    #[serde(rename = "type")]
    pub kind: String,
    /// What the status means.
    pub title: String,
    /// The HTTP status.
    pub status: u16,
    /// Stable, for programs: `not_found`, `not_allowed`, `stale_preview`, …
    pub code: String,
    /// For people.
    pub detail: String,
    /// What helps to go on: a fresh request, who was first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
}

/// Who asks, and what this server offers.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Me {
    /// The person behind the token.
    pub user: Person,
    /// `owner`, `editor`, `reviewer` or `viewer`.
    pub role: String,
    /// The only document the token reaches; `null`: all.
    pub document_id: Option<String>,
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

/// Documents, last changed first.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct DocumentPage {
    /// One line for each.
    pub documents: Vec<DocumentLine>,
    /// Where the next ones are; missing: there are no more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// A document with its text.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct FullDocument {
    /// The document.
    #[serde(flatten)]
    pub document: WholeDocument,
    /// How it stands with the file that it is, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<FileState>,
}

/// Text files of the workspace, folder by folder; what is ignored is left out.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FilePage {
    /// One line for each.
    pub files: Vec<FileLine>,
    /// There is more in the workspace than a search looks at, and some of it is not told.
    pub is_cut: bool,
    /// Where the next ones are; missing: there are no more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// A text file of the workspace that is to be a document.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct OpenFile {
    /// From the workspace's top.
    pub path: String,
}

/// A new title.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct Rename {
    /// 1 to 200 characters after trimming.
    pub title: String,
}

/// A person's own change: the whole text as it is to be, made on a version.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct EditDocument {
    /// The version that was read. What others wrote since stays: only the differences to it are applied.
    pub version: u64,
    /// The text as it is to be.
    pub text: String,
}

/// An older text becomes the text again.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RestoreText {
    /// The version whose text is wanted.
    pub version: u64,
    /// Only if this is still the newest version.
    pub only_at: Option<u64>,
}

/// The version after a change.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct NewVersion {
    /// The version.
    pub version: u64,
}

/// Versions, newest first.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct VersionPage {
    /// One line for each.
    pub versions: Vec<HistoryLine>,
    /// Where older ones are; missing: there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// The text at a version.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct VersionText {
    /// The version.
    pub version: u64,
    /// Its text.
    pub text: String,
}

/// What is different between two versions.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Comparison {
    /// The version that positions are of.
    pub from: u64,
    /// The other one.
    pub to: u64,
    /// In order, apart from each other.
    pub parts: Vec<Difference>,
}

/// Who wrote what.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Provenance {
    /// The version that positions are of.
    pub version: u64,
    /// Stretches of the text, in order.
    pub spans: Vec<ProvenanceSpan>,
}

/// Lines of the audit log, newest first.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AuditPage {
    /// One for each.
    pub lines: Vec<AuditLine>,
    /// What to ask for as `before` to go on; missing: there are no more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<u64>,
    /// Where older ones are; missing: there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// Requests: open ones oldest first, ended ones newest first. A page may hold fewer than `limit`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RequestPage {
    /// Each complete.
    #[schemars(with = "Vec<ToolApprovalRequest>")]
    pub requests: Vec<Box<RawValue>>,
    /// Where the next ones are; missing: there are no more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// What is to be undone.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct Undo {
    /// Only these changes; missing: everything that was accepted.
    pub hunks: Option<Vec<String>>,
    /// Undo although the words were touched since.
    pub force: Option<bool>,
    /// What stands there now, as the person saw it: with `force`, nothing else is overwritten.
    pub seen: Option<Vec<SeenWords>>,
}

/// What is to be proposed again.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct Reopen {
    /// Only these changes; missing: everything that was rejected, ran out of time or lost its words.
    pub hunks: Option<Vec<String>>,
}

/// A body without fields.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct Empty {}

/// The answer to what is done to a request besides deciding it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RequestState {
    /// The request's status.
    pub status: String,
    /// RFC 3339; `null` waits for ever.
    pub expires_at: Option<String>,
    /// With `reopen`: changes whose words are no longer in the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unplaced: Option<Vec<String>>,
    /// With `reopen`: the request that is pending now; a call as a whole is proposed again by another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

/// Several decisions, each on its own.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct Decisions {
    /// At most 100, decided one after the other.
    #[schemars(with = "Vec<ToolApprovalResponse>")]
    pub responses: Vec<Value>,
}

/// What became of several decisions.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct DecisionResults {
    /// In the order of the decisions.
    pub results: Vec<DecisionResult>,
}

/// What became of one of several decisions.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum DecisionResult {
    /// It was taken.
    Decided {
        /// `true`.
        ok: bool,
        /// The request.
        request_id: String,
        /// What became of it.
        #[serde(flatten)]
        decided: Decided,
    },
    /// It was refused.
    Refused {
        /// `false`.
        ok: bool,
        /// The request, if it was named.
        request_id: Option<String>,
        /// Why.
        error: WireError,
    },
}

/// Asks the agent.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StartRun {
    /// What is asked.
    pub prompt: String,
    /// The session to go on with, which must be the person's own; missing: a new one.
    pub session_id: Option<String>,
    /// What it is about; missing: work without a document.
    pub context: Option<AskContext>,
    /// `sdk`, `bypassPermissions`, `toolApproval` or `mcpProxy`; as in `/api/v1/me` if missing.
    #[serde(rename = "permission_mode")]
    pub permission_mode: Option<String>,
    /// The model to use; the server's if missing.
    pub model: Option<String>,
    /// `false` forgets the conversation so far.
    #[serde(rename = "continue")]
    pub keep_conversation: Option<bool>,
    /// Without `context`: `false` lets even reading wait for a person.
    #[serde(rename = "auto_approve_safe")]
    pub auto_approve_safe: Option<bool>,
}

/// A run that was started.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StartedRun {
    /// The run.
    pub id: String,
    /// Its session.
    pub session_id: String,
    /// Where its state and its result are.
    pub url: String,
}

/// A run, as it is now.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunState {
    /// The run.
    pub id: String,
    /// Its session.
    pub session_id: String,
    /// The document it is about; `null`: none.
    pub document_id: Option<String>,
    /// `queued`, `running`, or how it ended: `success`, `error`, `cancelled`, `max_tokens`, `refusal`, `limit`.
    pub state: String,
    /// What was asked.
    pub prompt: String,
    /// RFC 3339.
    pub created_at: String,
    /// RFC 3339; `null`: it has not ended.
    pub finished_at: Option<String>,
    /// Requests of it that wait for people.
    pub waiting: Vec<String>,
    /// What came of it, once it has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<ClaudeResponse>,
}

/// A conversation of one person.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionLine {
    /// The session.
    pub id: String,
    /// RFC 3339.
    pub created_at: String,
    /// When its person last came in with it, RFC 3339.
    pub seen_at: String,
}

/// A person's own sessions, newest first.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SessionPage {
    /// One line for each.
    pub sessions: Vec<SessionLine>,
    /// Where older ones are; missing: there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// What was said in a session.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Transcript {
    /// What was asked, answered and called, in order.
    pub entries: Vec<super::server::AgentEvent>,
    /// What was asked for in it and has ended; only on the first page.
    pub requests: Vec<ToolApprovalRequest>,
    /// Where what was said later is; missing: nothing was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// Wants to be told of requests.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreateWebhook {
    /// Where to send it: `https`, unless the server says otherwise.
    pub url: String,
    /// Only requests of this document; missing: all but those of private documents.
    pub document_id: Option<String>,
}

/// What changes about a webhook; what is not said stays.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct ChangeWebhook {
    /// Another address. What waits is tried there at once.
    pub url: Option<String>,
    /// `false`: nothing is sent, and what happens meanwhile is not kept for it.
    pub active: Option<bool>,
}

/// A webhook that was registered.
#[derive(Clone, Serialize, JsonSchema)]
pub struct CreatedWebhook {
    /// What signs each delivery, told this once.
    pub secret: String,
    /// The webhook.
    #[serde(flatten)]
    pub webhook: Webhook,
}

/// A webhook, and how it goes with it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Webhook {
    /// The webhook.
    pub id: String,
    /// Where it is sent.
    pub url: String,
    /// Only requests of this document; `null`: all but those of private documents.
    pub document_id: Option<String>,
    /// `active`, `failing` (the receiver takes nothing; it is tried again for a day) or `paused`.
    pub state: String,
    /// RFC 3339.
    pub created_at: String,
    /// When the receiver last took something, RFC 3339; `null`: never.
    pub delivered_at: Option<String>,
    /// Since when it takes nothing, RFC 3339; `null`: it does.
    pub failing_since: Option<String>,
    /// Why it takes nothing.
    pub error: Option<String>,
    /// Deliveries that wait.
    pub waiting: u64,
    /// Deliveries that were given up.
    pub dropped: u64,
}

/// All webhooks, oldest first.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Webhooks {
    /// One for each.
    pub webhooks: Vec<Webhook>,
}
