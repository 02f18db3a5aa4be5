//! Types of the REST API alone: pages, short answers, and bodies without a socket.io event.
//!
//! Everything else in the `OpenAPI` document is the type that socket.io uses.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::client::AskContext;
use super::files::{FileLine, FileState};
use super::history::{AuditLine, Difference, HistoryLine, ProvenanceSpan};
use super::names::{PermissionMode, RunStateName, WebhookStatus};
use super::server::{
    ClaudeResponse, CreatedDocument, Decided, DocumentLine, Person, Settings, ToolApprovalRequest,
    WholeDocument, WireError,
};
use copydesk_approvals::RequestStatus;
use copydesk_ids::permissions::Role;
use copydesk_macros::wire;

/// Error (RFC 9457), as `application/problem+json`.
#[wire(Serialize)]
pub struct ProblemDocument {
    /// Always `about:blank`: `code` says which error it is.
    #[serde(rename = "type")]
    pub kind: String,
    /// Meaning of the HTTP status.
    pub title: String,
    /// HTTP status.
    pub status: u16,
    /// Stable code for programs: `not_found`, `not_allowed`, `stale_preview`, …
    pub code: String,
    /// Message for people.
    pub detail: String,
    /// Reason in `detail`, for programs, where `code` has several: `nothing_done`,
    /// `denied_by_rule`, …
    #[serde(rename = "reasonCode")]
    pub reason_code: Option<String>,
    /// Facts that help to continue, such as a fresh request, or who was first.
    pub details: Option<Value>,
}

/// Caller, and what this server offers.
#[wire(Serialize, camelCase, null)]
pub struct Me {
    /// Person whose token was used.
    pub user: Person,
    /// Role of the token.
    pub role: Role,
    /// Only document that the token reaches; `null`: all.
    pub document_id: Option<String>,
    /// Permission mode of this person's runs that name none.
    #[serde(rename = "permission_mode")]
    pub permission_mode: PermissionMode,
    /// Permission modes that this person's runs may name.
    #[serde(rename = "permission_modes")]
    pub permission_modes: Vec<PermissionMode>,
    /// Models that can be asked, the default first.
    pub models: Vec<String>,
    /// Settings of the server.
    pub settings: Settings,
}

/// Headers of the caller's request as they reached the server, behind whatever proxies there are.
/// They show if a proxy is set up as documented. The server believes `host` only if it is allowed,
/// and the others never.
#[wire(PartialEq, Eq, Serialize, camelCase, null)]
pub struct ProxyHeaders {
    /// `Host`.
    pub host: Option<String>,
    /// `X-Forwarded-For`: the address of the client, as the proxies say.
    pub forwarded_for: Option<String>,
    /// `X-Forwarded-Proto`: `https` if the client came over TLS, as the proxies say.
    pub forwarded_proto: Option<String>,
}

/// Documents, last changed first.
#[wire(Serialize)]
pub struct DocumentPage {
    /// Documents of this page.
    pub documents: Vec<DocumentLine>,
    /// Address of the next page; missing: there is none.
    pub next: Option<String>,
}

/// Document with its text.
#[wire(Serialize)]
pub struct FullDocument {
    /// Document.
    #[serde(flatten)]
    pub document: WholeDocument,
    /// State of the document's file, if it is one.
    pub file: Option<FileState>,
}

/// Text files of the workspace, folder by folder, without ignored ones.
#[wire(Serialize, camelCase)]
pub struct FilePage {
    /// Files of this page.
    pub files: Vec<FileLine>,
    /// `true`: the workspace holds more than a search looks at, so that some files are missing.
    pub is_cut: bool,
    /// Address of the next page; missing: there is none.
    pub next: Option<String>,
}

/// Text file of the workspace to open as a document.
#[wire(Deserialize)]
pub struct OpenFile {
    /// Path relative to the workspace.
    pub path: String,
}

/// Change by a person: the whole text as it should be, based on a version.
#[wire(Deserialize)]
pub struct EditDocument {
    /// Version that was read. Only the differences to it are applied, so that later changes stay.
    pub version: u64,
    /// Text as it should be.
    pub text: String,
}

/// Version after a change.
#[wire(Serialize, TS)]
pub struct NewVersion {
    /// New version.
    pub version: u64,
}

/// Versions, newest first.
#[wire(Serialize, TS)]
pub struct VersionPage {
    /// Versions of this page.
    pub versions: Vec<HistoryLine>,
    /// Address of the next page, with older ones; missing: there is none.
    pub next: Option<String>,
}

/// Text at a version.
#[wire(Serialize)]
pub struct VersionText {
    /// Version that was read.
    pub version: u64,
    /// Text at that version.
    pub text: String,
}

/// Differences between two versions.
#[wire(Serialize, TS)]
pub struct Comparison {
    /// Version that the positions refer to.
    pub from: u64,
    /// Version that it was compared with.
    pub to: u64,
    /// Differences in order, without overlaps.
    pub parts: Vec<Difference>,
}

/// Authors of the text.
#[wire(Serialize, TS)]
pub struct Provenance {
    /// Version that the positions refer to.
    pub version: u64,
    /// Passages of the text, in order.
    pub spans: Vec<ProvenanceSpan>,
}

/// Entries of the audit log, newest first.
#[wire(Serialize)]
pub struct AuditPage {
    /// Entries of this page.
    pub lines: Vec<AuditLine>,
    /// Value of `before` for the next page; missing: there is none.
    pub before: Option<u64>,
    /// Address of the next page, with older ones; missing: there is none.
    pub next: Option<String>,
}

/// Requests: open ones oldest first, ended ones newest first. A page may hold fewer than `limit`.
#[wire(Serialize)]
pub struct RequestPage {
    /// Requests of this page, each complete.
    #[schemars(with = "Vec<ToolApprovalRequest>")]
    pub requests: Vec<Box<RawValue>>,
    /// Address of the next page; missing: there is none.
    pub next: Option<String>,
}

/// State of a request after an action other than a decision.
#[wire(Serialize, TS)]
pub struct RequestState {
    /// Status of the request.
    pub status: RequestStatus,
    /// Time at which it expires, in RFC 3339; `null`: never.
    #[null]
    pub expires_at: Option<String>,
    /// With `reopen`: changes whose words are no longer in the text.
    pub unplaced: Option<Vec<String>>,
    /// With `reopen`: the request that is pending now; a whole call is proposed again by another
    /// request.
    pub request_id: Option<String>,
}

/// Results of several decisions.
#[wire(Serialize, TS)]
pub struct DecisionResults {
    /// Results, in the order of the decisions.
    pub results: Vec<DecisionResult>,
}

/// Result of one of several decisions.
#[wire(Serialize, TS)]
#[serde(untagged)]
pub enum DecisionResult {
    /// The decision was taken.
    Decided {
        /// `true`.
        #[cfg_attr(test, ts(type = "true"))]
        ok: bool,
        /// The request.
        request_id: String,
        /// Outcome of the request.
        #[serde(flatten)]
        decided: Decided,
    },
    /// The decision was refused.
    Refused {
        /// `false`.
        #[cfg_attr(test, ts(type = "false"))]
        ok: bool,
        /// The request, if it was named.
        request_id: Option<String>,
        /// Reason why the decision failed.
        error: WireError,
    },
    /// Result of another server of several, as it came.
    #[schemars(skip)]
    #[cfg_attr(test, ts(skip))]
    Passed(Value),
}

/// Prompt for the agent.
#[wire(Deserialize, camelCase)]
pub struct StartRun {
    /// Text of the prompt.
    pub prompt: String,
    /// Session to continue, which must be the caller's own; missing: a new one.
    pub session_id: Option<String>,
    /// Document and selection that the run is about; missing: work without a document.
    pub context: Option<AskContext>,
    /// Approval mode of the run; missing: as in `/api/v1/me`.
    #[serde(rename = "permission_mode")]
    pub permission_mode: Option<PermissionMode>,
    /// Model to use; missing: the server's default.
    pub model: Option<String>,
    /// `false`: the run starts a new conversation.
    #[serde(rename = "continue")]
    pub keep_conversation: Option<bool>,
    /// Without `context`: `false` makes reading wait for a person too.
    #[serde(rename = "auto_approve_safe")]
    pub auto_approve_safe: Option<bool>,
}

/// Run that was started.
#[wire(Serialize, camelCase)]
pub struct StartedRun {
    /// Identifier of the run.
    pub id: String,
    /// Session of the run.
    pub session_id: String,
    /// Address of its state and its result.
    pub url: String,
}

/// Run of a session, in the path of a route.
#[wire(Deserialize)]
pub struct NameRun {
    /// Identifier of the run.
    pub run: String,
}

/// State of a run.
#[wire(Serialize, camelCase)]
pub struct RunState {
    /// Identifier of the run.
    pub id: String,
    /// Session of the run.
    pub session_id: String,
    /// Document that the run is about; `null`: none.
    #[null]
    pub document_id: Option<String>,
    /// State of the run.
    pub state: RunStateName,
    /// Text of the prompt.
    pub prompt: String,
    /// Time of its start, in RFC 3339.
    pub created_at: String,
    /// Time of its end, in RFC 3339; `null`: it has not ended.
    #[null]
    pub finished_at: Option<String>,
    /// Its requests that wait for people.
    pub waiting: Vec<String>,
    /// Result, once it has ended.
    pub result: Option<ClaudeResponse>,
}

/// Session of a person.
#[wire(Serialize, camelCase)]
pub struct SessionLine {
    /// Identifier of the session.
    pub id: String,
    /// Time of its creation, in RFC 3339.
    pub created_at: String,
    /// Time of its last use, in RFC 3339.
    pub seen_at: String,
}

/// Sessions of the caller, newest first.
#[wire(Serialize)]
pub struct SessionPage {
    /// Sessions of this page.
    pub sessions: Vec<SessionLine>,
    /// Address of the next page, with older ones; missing: there is none.
    pub next: Option<String>,
}

/// Conversation of a session.
#[wire(Serialize)]
pub struct Transcript {
    /// Prompts, answers and calls, in order.
    pub entries: Vec<super::server::AgentEvent>,
    /// Requests of the session that have ended; only on the first page.
    pub requests: Vec<ToolApprovalRequest>,
    /// Address of the next page, with later entries; missing: there is none.
    pub next: Option<String>,
}

/// New webhook.
#[wire(Deserialize, camelCase)]
pub struct CreateWebhook {
    /// Address to send to: `https`, unless the server's options say otherwise.
    pub url: String,
    /// Document whose requests are sent; missing: those of all documents except private ones.
    pub document_id: Option<String>,
}

/// Webhook that a request is about.
#[wire(Deserialize)]
pub struct NameWebhook {
    /// Identifier of the webhook.
    pub id: String,
}

/// Change of a webhook. Missing fields stay as they are.
#[wire(Deserialize)]
pub struct ChangeWebhook {
    /// Identifier of the webhook.
    pub id: String,
    /// New address. Waiting deliveries are sent there at once.
    pub url: Option<String>,
    /// `false`: nothing is sent, and what happens meanwhile is not kept.
    pub active: Option<bool>,
}

/// Webhook with its secret.
#[derive(Clone, Serialize, JsonSchema)]
pub struct CreatedWebhook {
    /// Secret that signs each delivery. It is shown only here.
    pub secret: String,
    /// Webhook.
    #[serde(flatten)]
    pub webhook: Webhook,
}

/// Webhook and its status.
#[wire(Serialize, camelCase, null)]
pub struct Webhook {
    /// Identifier of the webhook.
    pub id: String,
    /// Address that is sent to.
    pub url: String,
    /// Document whose requests are sent; `null`: those of all documents except private ones.
    pub document_id: Option<String>,
    /// Status of the webhook.
    pub state: WebhookStatus,
    /// Time of its creation, in RFC 3339.
    pub created_at: String,
    /// Time of the last accepted delivery, in RFC 3339; `null`: none.
    pub delivered_at: Option<String>,
    /// Time since which the receiver accepts nothing, in RFC 3339; `null`: it does.
    pub failing_since: Option<String>,
    /// Reason that the receiver accepts nothing.
    pub error: Option<String>,
    /// Number of waiting deliveries.
    pub waiting: u64,
    /// Number of deliveries that were given up.
    pub dropped: u64,
}

/// All webhooks, oldest first.
#[wire(Serialize)]
pub struct Webhooks {
    /// All webhooks.
    pub webhooks: Vec<Webhook>,
}

/// Answer of `GET /api/v1/sign-in`.
#[wire(Serialize, null)]
pub struct SignInOffer {
    /// Address at which a browser signs in; `null`: this server has no identity provider.
    pub url: Option<String>,
}

/// Document of an imported file.
#[wire(Serialize, TS)]
pub struct ImportedDocument {
    /// Document.
    pub document: CreatedDocument,
    /// Requests for the tracked changes of a Word file, one for each author.
    pub requests: Vec<ToolApprovalRequest>,
    /// Number of comments that the document's threads hold.
    pub comments: u32,
    /// Things that were left out, and decisions of the reader.
    pub report: ImportReport,
}

/// HTML as Markdown.
#[wire(Serialize, TS)]
pub struct ConvertedHtml {
    /// Markdown.
    pub markdown: String,
    /// Things that were left out, and decisions of the reader.
    pub report: ImportReport,
}

/// Things that were left out of a text while it was read, and decisions about it. Two empty lists:
/// nothing was lost.
#[wire(Serialize, TS, camelCase)]
pub struct ImportReport {
    /// Kinds of things that are not in the text.
    pub left_out: Vec<LeftOut>,
    /// Kinds of choices that were made.
    pub decided: Vec<ImportChoice>,
}

/// Kind of thing that is not in an imported text.
#[wire(Serialize, TS)]
pub struct LeftOut {
    /// Name of the kind in the singular, such as `picture` or `comment`.
    pub kind: String,
    /// Number of things of this kind.
    pub count: u32,
    /// First of them in short, at most 80 characters.
    pub example: Option<String>,
}

/// Kind of choice that was made while a text was imported.
#[wire(Serialize, TS)]
pub struct ImportChoice {
    /// Name of the choice, such as `merged cell`.
    pub kind: String,
    /// Number of places.
    pub count: u32,
}
