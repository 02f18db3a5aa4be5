//! Names on the wire: roles, statuses, kinds and reasons.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
#[cfg(test)]
use ts_rs::TS;

/// Role of a token, from most to least permissions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Permission for everything, tokens and server settings included.
    Owner,
    /// Permission to write, to ask the agent, and to decide.
    Editor,
    /// Permission to read and to decide, but not to write.
    Reviewer,
    /// Permission to read.
    Viewer,
    /// Addition: no permission but in documents in which the person, or a group that they are in,
    /// was given a role. Nobody is issued such a token; people have it who sign in.
    Guest,
}

/// Status of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "lowercase")]
pub enum RequestStatus {
    /// The model is still writing the change; nothing can be decided.
    Streaming,
    /// The request waits for people.
    Pending,
    /// Everything was accepted.
    Approved,
    /// Nothing was accepted.
    Rejected,
    /// Some changes were accepted, and some were not.
    Partly,
    /// No decision was made in time.
    Expired,
    /// The request was withdrawn, or what it was about is gone.
    Cancelled,
    /// The request was approved, but the tool failed.
    Failed,
}

/// Status of a hunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "lowercase")]
pub enum HunkStatus {
    /// The model is still writing it.
    Streaming,
    /// The request waits for people.
    Pending,
    /// The words to replace were changed; it can be accepted with `force` and `seen`.
    Conflict,
    /// The words to replace are gone.
    Obsolete,
    /// The change is in the text.
    Accepted,
    /// The change was rejected.
    Rejected,
    /// No decision was made in time.
    Expired,
}

/// Kind of a change, by what it does to the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "lowercase")]
pub enum HunkKind {
    /// One or two words, or punctuation, became similar ones; the rest of the sentence stays.
    Correction,
    /// Words, sentences or paragraphs were replaced, added or removed.
    Rewrite,
    /// Words were removed in one place and put in at another one.
    Moved,
}

/// Decision on a whole request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "lowercase")]
pub enum DecisionKind {
    /// Accept all pending changes without conflict, or run the tool.
    Approve,
    /// Reject all open changes, or do not run the tool.
    Reject,
    /// Run the tool with another input.
    Edit,
    /// Answer the model instead of running the tool.
    Respond,
}

/// Models that may see the text of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "lowercase")]
pub enum ModelAccessKind {
    /// Every model of the server.
    Any,
    /// Models on the server's own machine.
    Local,
    /// Models that are named.
    Named,
}

/// Decision on one change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "lowercase")]
pub enum HunkChoice {
    /// Accept: the change is put into the text.
    Accept,
    /// Reject: the text stays as it is.
    Reject,
}

/// Policy that says who may decide a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "snake_case")]
pub enum DecisionPolicy {
    /// Any editor or reviewer.
    Any,
    /// Any editor or reviewer except the requester.
    NotRequester,
    /// Two different people.
    Two,
    /// An owner.
    Owner,
}

/// Switch that says whether changes wait for a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "lowercase")]
pub enum ApprovalSwitch {
    /// Every change waits for a person.
    On,
    /// The server applies changes at once; they are logged and can be undone.
    Off,
}

/// Approval mode of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "camelCase")]
pub enum PermissionMode {
    /// People are asked, as the document's settings say.
    #[serde(rename = "sdk")]
    Ask,
    /// Changes are applied at once; for owners, on servers that allow it.
    #[serde(rename = "bypassPermissions")]
    Bypass,
    /// Nothing is changed before people have approved a plan.
    #[serde(rename = "toolApproval")]
    PlanFirst,
    /// The Claude CLI runs with this server's tools.
    #[serde(rename = "mcpProxy")]
    ClaudeCli,
}

/// Origin of a proposed call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "camelCase")]
pub enum RequestSource {
    /// A run whose changes people are asked about.
    #[serde(rename = "sdk")]
    Ask,
    /// A run whose changes are applied at once.
    #[serde(rename = "bypassPermissions")]
    Bypass,
    /// A run that plans first.
    #[serde(rename = "toolApproval")]
    PlanFirst,
    /// A run of the Claude CLI.
    #[serde(rename = "mcpProxy")]
    ClaudeCli,
    /// A client of the Model Context Protocol.
    Mcp,
    /// A client of the Messages API.
    #[serde(rename = "messages_api")]
    MessagesApi,
    /// A client of the REST API.
    Rest,
    /// A person who proposes a request again.
    #[serde(rename = "desk")]
    WorkspaceInbox,
    /// Tracked changes of an imported file.
    Import,
    /// Stored by a version that did not record it.
    #[serde(rename = "")]
    Unknown,
}

/// Reason why nobody was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "snake_case")]
pub enum UnaskedReason {
    /// The run's permission mode was `bypassPermissions`.
    Bypass,
    /// Approvals were off.
    ApprovalsOff,
}

/// Kind of a preview.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "snake_case")]
pub enum PreviewKind {
    /// One text changes.
    Diff,
    /// One text changes in several steps.
    MultiDiff,
    /// A command would run.
    Command,
    /// Anything else: the input as JSON.
    Generic,
}

/// Effect of a rule. The strictest matching rule wins: `deny`, `ask`, `allow`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "lowercase")]
pub enum RuleEffect {
    /// The call is refused, and nobody is asked.
    Deny,
    /// People are asked, whatever else was allowed.
    Ask,
    /// The call is approved in the name of the rule's maker.
    Allow,
}

/// Scope of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "lowercase")]
pub enum RuleScope {
    /// The session that asked, as long as it lasts.
    Session,
    /// The document, for every session.
    Document,
    /// Work without a document, for every session.
    Workspace,
}

/// Synchronisation status of a document's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "lowercase")]
pub enum FileStatus {
    /// The file has the text of `version`.
    Saved,
    /// The file is gone; it is created when somebody writes.
    Missing,
    /// The file cannot be read or written.
    Failed,
}

/// Status of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "lowercase")]
pub enum TokenStatus {
    /// The token gives access.
    Active,
    /// The token's time is over.
    Expired,
    /// An owner revoked the token.
    Revoked,
}

/// State of a run that has not ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "lowercase")]
pub enum WorkState {
    /// The run waits for another run of its conversation.
    Queued,
    /// The run has begun; it may wait for people.
    Running,
}

/// Calls of models that a spending limit is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "lowercase")]
pub enum SpendingLimitKind {
    /// All calls of the server.
    Server,
    /// Calls of each person who has no limit of their own.
    Everyone,
    /// Calls of one person.
    Person,
    /// Calls about one document.
    Document,
}

/// State of a person's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "snake_case")]
pub enum PersonState {
    /// The data is stored.
    Stored,
    /// The data is being deleted; the person has no access any more.
    Deleting,
    /// The data was deleted.
    Deleted,
}

/// Treatment of documents that only a person who is deleted can see.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "lowercase")]
pub enum PrivateDocuments {
    /// They stay.
    #[default]
    Keep,
    /// They are deleted.
    Delete,
}

/// Reason why a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "snake_case")]
pub enum SessionEndCode {
    /// An owner revoked the token.
    TokenRevoked,
    /// The token's time is over.
    TokenExpired,
    /// An owner tied the token to a login, or another one to the same login. It is still good for
    /// connecting again.
    TokenChanged,
}

/// Kind of an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "snake_case")]
pub enum HistoryAct {
    /// A person typed it.
    Typed,
    /// Changes of a request were accepted.
    Accepted,
    /// Accepted changes were undone.
    TakenBack,
    /// An older text was restored.
    Restored,
}

/// Origin of a passage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "lowercase")]
pub enum SpanKind {
    /// A person typed it.
    Person,
    /// The agent proposed it, and it was accepted.
    Ai,
    /// It was a tracked change of an imported file, and it was accepted.
    Import,
    /// The document was created with it.
    Beginning,
}

/// Extent of a document update in `claudeResponse`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "lowercase")]
pub enum UpdateType {
    /// The document was not changed.
    None,
    /// The whole document.
    Full,
    /// The selected range.
    Partial,
}

/// Status of a webhook.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "lowercase")]
pub enum WebhookStatus {
    /// Deliveries are accepted.
    Active,
    /// The receiver accepts nothing; delivery is tried again for a day.
    Failing,
    /// Nothing is sent.
    Paused,
}

/// Type of an agent event: its speaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "lowercase")]
pub enum AgentEventType {
    /// A person, or the tool that people decided about.
    User,
    /// The model.
    Assistant,
    /// The end of the run.
    Result,
    /// The server: a call waits in the document of its file.
    System,
}

/// Subtype of an agent event. That of a `result` is the way in which the run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "snake_case")]
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
    /// The model finished its answer.
    Success,
    /// Something failed.
    Error,
    /// A person stopped the run.
    Cancelled,
    /// The model's answer was longer than allowed.
    MaxTokens,
    /// The model declined to answer.
    Refusal,
    /// The run reached a limit.
    Limit,
}

/// State of a run: `queued`, `running`, or the way in which it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunStateName {
    /// The run waits in its queue.
    Queued,
    /// The run has begun.
    Running,
    /// The model finished its answer.
    Success,
    /// Something failed.
    Error,
    /// A person stopped the run.
    Cancelled,
    /// The model's answer was longer than allowed.
    MaxTokens,
    /// The model declined to answer.
    Refusal,
    /// The run reached a limit.
    Limit,
}

/// Reason for the status of a hunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "snake_case")]
pub enum HunkReasonCode {
    /// Somebody changed the words to replace.
    WordsChanged,
    /// Somebody removed the place of the insertion.
    PlaceRemoved,
    /// All words to replace were deleted.
    WordsDeleted,
    /// An equal change was accepted from another request.
    AlreadyInText,
    /// The words were frozen after the change was proposed.
    FrozenSince,
}
