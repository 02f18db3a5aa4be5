//! Names on the wire: roles, statuses, kinds and reasons.

use copydesk_macros::wire;

/// Decision on a whole request.
#[wire(Copy, PartialEq, Eq, Deserialize, Serialize, TS, lowercase)]
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
#[wire(Copy, PartialEq, Eq, Deserialize, Serialize, TS, lowercase)]
pub enum ModelAccessKind {
    /// Every model of the server.
    Any,
    /// Models on the server's own machine.
    Local,
    /// Models that are named.
    Named,
}

/// Approval mode of a run.
#[wire(Copy, PartialEq, Eq, Deserialize, Serialize, TS, camelCase)]
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

/// Synchronisation status of a document's file.
#[wire(Copy, PartialEq, Eq, Deserialize, Serialize, TS, lowercase)]
pub enum FileStatus {
    /// The file has the text of `version`.
    Saved,
    /// The file is gone; it is created when someone writes.
    Missing,
    /// The file cannot be read or written.
    Failed,
}

/// Status of a token.
#[wire(Copy, PartialEq, Eq, Deserialize, Serialize, TS, lowercase)]
pub enum TokenStatus {
    /// The token gives access.
    Active,
    /// The token's time is over.
    Expired,
    /// An owner revoked the token.
    Revoked,
}

/// State of a run that has not ended.
#[wire(Copy, PartialEq, Eq, Deserialize, Serialize, TS, lowercase)]
pub enum WorkState {
    /// The run waits for another run of its conversation.
    Queued,
    /// The run has begun; it may wait for people.
    Running,
}

/// Calls of models that a spending limit is about.
#[wire(Copy, PartialEq, Eq, Deserialize, Serialize, TS, lowercase)]
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
#[wire(Copy, PartialEq, Eq, Deserialize, Serialize, TS, snake_case)]
pub enum PersonState {
    /// The data is stored.
    Stored,
    /// The data is being deleted; the person has no access any more.
    Deleting,
    /// The data was deleted.
    Deleted,
}

/// Treatment of documents that only a person who is deleted can see.
#[wire(Copy, Default, PartialEq, Eq, Deserialize, Serialize, TS, lowercase)]
pub enum PrivateDocuments {
    /// They stay.
    #[default]
    Keep,
    /// They are deleted.
    Delete,
}

/// Reason why a session ended.
#[wire(Copy, PartialEq, Eq, Deserialize, Serialize, TS, snake_case)]
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
#[wire(Copy, PartialEq, Eq, Deserialize, Serialize, TS, snake_case)]
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
#[wire(Copy, PartialEq, Eq, Deserialize, Serialize, TS, lowercase)]
pub enum SpanKind {
    /// A person typed it.
    Person,
    /// The agent proposed it, and it was accepted.
    Ai,
    /// It was a tracked change of an imported file, and it was accepted.
    Import,
    /// A person suggested it, and it was accepted.
    Suggestion,
    /// The document was created with it.
    Beginning,
}

/// Extent of a document update in `claudeResponse`.
#[wire(Copy, PartialEq, Eq, Deserialize, Serialize, TS, lowercase)]
pub enum UpdateType {
    /// The document was not changed.
    None,
    /// The whole document.
    Full,
    /// The selected range.
    Partial,
}

/// Status of a webhook.
#[wire(Copy, PartialEq, Eq, Deserialize, Serialize, TS, lowercase)]
pub enum WebhookStatus {
    /// Deliveries are accepted.
    Active,
    /// The receiver accepts nothing; delivery is tried again for a day.
    Failing,
    /// Nothing is sent.
    Paused,
}

/// Type of an agent event: its speaker.
#[wire(Copy, PartialEq, Eq, Deserialize, Serialize, TS, lowercase)]
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
#[wire(Copy, PartialEq, Eq, Deserialize, Serialize, TS, snake_case)]
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
#[wire(Copy, PartialEq, Eq, Deserialize, Serialize, snake_case)]
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
#[wire(Copy, PartialEq, Eq, Deserialize, Serialize, TS, snake_case)]
pub enum HunkReasonCode {
    /// Someone changed the words to replace.
    WordsChanged,
    /// Someone removed the place of the insertion.
    PlaceRemoved,
    /// All words to replace were deleted.
    WordsDeleted,
    /// An equal change was accepted from another request.
    AlreadyInText,
    /// The words were frozen after the change was proposed.
    FrozenSince,
}
