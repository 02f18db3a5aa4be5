// Written from crates/protocol/src by `COPYDESK_BLESS=1 cargo test -p copydesk-protocol`; do not edit.

export type DecisionKind = "approve" | "reject" | "edit" | "respond";

export type PermissionMode = "sdk" | "bypassPermissions" | "toolApproval" | "mcpProxy";

export type FileStatus = "saved" | "missing" | "failed";

export type TokenStatus = "active" | "expired" | "revoked";

export type SessionEndCode = "token_revoked" | "token_expired" | "token_changed";

export type HistoryAct = "typed" | "accepted" | "taken_back" | "restored";

export type SpanKind = "person" | "ai" | "import" | "suggestion" | "beginning";

export type UpdateType = "none" | "full" | "partial";

export type AgentEventType = "user" | "assistant" | "result" | "system";

export type AgentEventSubtype = "prompt" | "clear" | "text" | "text_delta" | "tool_use" | "tool_result" | "waiting" | "success" | "error" | "cancelled" | "max_tokens" | "refusal" | "limit";

export type HunkReasonCode = "words_changed" | "place_removed" | "words_deleted" | "already_in_text" | "frozen_since";

export type ModelAccessKind = "any" | "local" | "named";

export type SpendingLimitKind = "server" | "everyone" | "person" | "document";

export type WorkState = "queued" | "running";

export type PersonState = "stored" | "deleting" | "deleted";

export type PrivateDocuments = "keep" | "delete";

export type Role = "owner" | "editor" | "reviewer" | "suggester" | "viewer" | "guest";

export type RequestStatus = "streaming" | "pending" | "approved" | "rejected" | "partly" | "expired" | "cancelled" | "failed";

export type HunkStatus = "streaming" | "pending" | "conflict" | "obsolete" | "accepted" | "rejected" | "expired";

export type HunkKind = "correction" | "rewrite" | "moved";

export type MarkKind = "number" | "date" | "unit" | "name" | "negation" | "modality" | "quantity" | "comparison" | "order" | "quote" | "link" | "code";

export type Mark = { 
/**
 * Kind of the meaning that changed.
 */
kind: MarkKind, 
/**
 * Words before the change; empty if nothing of the kind stood there.
 */
was: string, 
/**
 * Words after the change; empty if nothing of the kind stands there.
 */
now: string, };

export type HunkChoice = "accept" | "reject";

export type ApprovalSwitch = "on" | "off";

export type DecisionPolicy = "any" | "not_requester" | "two" | "owner";

export type ToolPolicy = { 
/**
 * Only requests of this tool; missing: every tool.
 */
tool?: string, 
/**
 * Only requests that delete and insert more than this many UTF-16 code units together;
 * missing: every size.
 */
over?: number, 
/**
 * Only changes that alter one of these kinds of facts, each on its own; missing: all changes.
 */
marks?: Array<MarkKind>, 
/**
 * Policy that says who may decide them.
 */
policy: DecisionPolicy, };

export type RequestSource = "sdk" | "bypassPermissions" | "toolApproval" | "mcpProxy" | "mcp" | "messages_api" | "rest" | "desk" | "import" | "person" | "";

export type UnaskedReason = "bypass" | "approvals_off";

export type PreviewKind = "diff" | "multi_diff" | "command" | "generic";

export type RuleEffect = "allow" | "ask" | "deny";

export type RuleScope = "session" | "document" | "workspace";

export type ClaimedAuthor = { 
/**
 * Name; no account of this server.
 */
name: string, 
/**
 * Time of the newest change in RFC 3339, if the file has one.
 */
at?: string, };

export type Warning = { 
/**
 * Stable code for programs.
 */
code: string, 
/**
 * Text for people.
 */
text: string, };

export type Approvals = { 
/**
 * People who approved.
 */
have: number, 
/**
 * People who are needed.
 */
need: number, };

export type ReportState = { "state": "waiting", 
/**
 * Lines about the changes and remarks of people so far, each after a line break.
 */
so_far: string, } | { "state": "runs", 
/**
 * Text that the model reads before the result.
 */
before: string, 
/**
 * Text that it reads after the result, each line after a line break.
 */
after: string, } | { "state": "complete" };

export type Handshake = { 
/**
 * Secret of a token; may be missing only under `--no-auth`.
 */
token?: string, 
/**
 * Name that the person chooses, 1 to 80 characters after trimming. Others see the name of the
 * token, and this one beside it where it differs: `Mallory (as Ana)`.
 */
name?: string, 
/**
 * Version of the protocol that the client speaks; only 1 exists.
 */
protocol?: number, 
/**
 * Session to continue; it must belong to the same person.
 */
sessionId?: string, 
/**
 * Additions to the protocol that the client understands: [`PEER_CHANGES`],
 * [`SHORT_UPDATES`], [`HUNK_CHANGES`] and [`COMMENTS`]. Others are ignored.
 */
capabilities: Array<string>, };

export type Nothing = Record<symbol, never>;

export type ListDocuments = { 
/**
 * Maximum number of documents, 1 to 1,000; missing: 200, or all without `before`.
 */
limit?: number, 
/**
 * Value of `next` of an earlier answer: the documents after those are listed.
 */
before?: string, };

export type CreateDocument = { 
/**
 * Title; empty or missing: "Untitled".
 */
title?: string, 
/**
 * Text of version 0. Line ends become `\n`.
 */
text?: string, };

export type OpenDocument = { 
/**
 * Document to open.
 */
documentId?: string, 
/**
 * Text file of the workspace to open as a document.
 */
path?: string, 
/**
 * Version that the client has; the answer holds the updates since then, if the log reaches
 * back that far.
 */
since?: number, };

export type PushUpdates = { 
/**
 * Document to change.
 */
documentId: string, 
/**
 * Version that the first update was made on.
 */
version: number, 
/**
 * At least one update, each made on top of the one before.
 */
updates: Array<PushedUpdate>, };

export type PushedUpdate = { 
/**
 * Editor instance that made the change. It belongs to the first person who uses it.
 */
clientID: string, 
/**
 * `ChangeSet.toJSON()` of `@codemirror/state`.
 */
changes: unknown, };

export type Resync = { 
/**
 * Document to synchronise.
 */
documentId: string, 
/**
 * Version that the client has.
 */
version: number, };

export type NameDocument = { 
/**
 * Document that the event is about.
 */
documentId: string, };

export type EmptyTrash = { 
/**
 * Only document to remove; missing: all that the person can recover.
 */
documentId?: string, };

export type RenameDocument = { 
/**
 * Document to rename.
 */
documentId: string, 
/**
 * New title, 1 to 200 characters after trimming.
 */
title: string, };

export type ChangeSettings = { 
/**
 * Document whose settings change.
 */
documentId: string, 
/**
 * Policy that says who may decide.
 */
policy?: DecisionPolicy, 
/**
 * Stricter policies for some tools and sizes. They replace those before.
 */
policies?: Array<ToolPolicy>, 
/**
 * `on`: every change waits for a person. `off`: the server applies changes at once; they are
 * logged and can be undone.
 */
approvals?: ApprovalSwitch, 
/**
 * Seconds until a request expires; 0: never.
 */
timeoutSeconds?: number, 
/**
 * Models that may see the text.
 */
modelAccess?: ModelAccess, 
/**
 * Passages that no tool may change.
 */
frozen?: Freeze, };

export type ModelAccess = { 
/**
 * Kind of the models.
 */
allow: ModelAccessKind, 
/**
 * With `named`: full names of the models.
 */
names?: Array<string>, };

export type Freeze = { 
/**
 * Version that the positions refer to.
 */
version: number, 
/**
 * All frozen passages. They replace those before.
 */
ranges: Array<Range>, };

export type Range = { 
/**
 * First code unit.
 */
from: number, 
/**
 * Code unit after the last one.
 */
to: number, };

export type ReadHistory = { 
/**
 * Document whose history is read.
 */
documentId: string, 
/**
 * Only versions below this one; missing: from the newest.
 */
before?: number, 
/**
 * Maximum number of versions, 1 to 500; missing: 100.
 */
limit?: number, };

export type ReadVersion = { 
/**
 * Document to read.
 */
documentId: string, 
/**
 * Version to read.
 */
version: number, };

export type ReadProvenance = { 
/**
 * Document to read.
 */
documentId: string, 
/**
 * First code unit of the newest text; missing: its beginning.
 */
from?: number, 
/**
 * Code unit after the last one; missing: its end.
 */
to?: number, };

export type CompareVersions = { 
/**
 * Document to compare.
 */
documentId: string, 
/**
 * Version that the positions of the parts refer to.
 */
from: number, 
/**
 * Version to compare with; missing: the newest.
 */
to?: number, };

export type RestoreVersion = { 
/**
 * Document to restore.
 */
documentId: string, 
/**
 * Version to restore.
 */
version: number, 
/**
 * Newest version that the client knows. If there is a newer one, the answer is `resync`.
 */
onlyAt?: number, };

export type Caret = { 
/**
 * Version that the positions refer to.
 */
version: number, 
/**
 * Position where the selection began.
 */
anchor: number, 
/**
 * Position of the caret.
 */
head: number, };

export type MoveCaret = { 
/**
 * Document that the caret is in.
 */
documentId: string, 
/**
 * Version that the positions refer to.
 */
version: number, 
/**
 * Position where the selection began.
 */
anchor: number, 
/**
 * Position of the caret.
 */
head: number, };

export type AskClaudeCode = { 
/**
 * Session of the run; it must be the person's own.
 */
sessionId: string, 
/**
 * Text that the person typed.
 */
prompt: string, 
/**
 * Identifier of the run, chosen by the client; missing: the server chooses one.
 */
requestId?: string, 
/**
 * Approval mode of the run; missing: the server's default.
 */
permission_mode?: PermissionMode, 
/**
 * Model to use; missing: the server's default.
 */
model?: string, 
/**
 * `false`: the run starts a new conversation.
 */
continue?: boolean, 
/**
 * Document and selection that the run is about.
 */
context: AskContext, };

export type AskContext = { 
/**
 * Shared document to edit. The server has its text.
 */
documentId?: string, 
/**
 * Text of the session's private document; only without `documentId`.
 */
documentContent?: string, 
/**
 * Range that the person has selected.
 */
selection?: AskSelection, 
/**
 * Earlier messages that the server does not have, oldest first.
 */
conversationHistory?: Array<AskHistory>, 
/**
 * Further instructions for the model.
 */
systemInstructions?: string, };

export type AskSelection = { 
/**
 * Selected text; it shows if the selection is out of date.
 */
text?: string, 
/**
 * First code unit.
 */
start: number, 
/**
 * Code unit after the last one.
 */
end: number, };

export type AskHistory = { 
/**
 * `user` or `assistant`.
 */
role: string, 
/**
 * Text of the message.
 */
content: string, };

export type Run = { 
/**
 * Text that the person typed.
 */
prompt: string, 
/**
 * `true`: the run continues the conversation; the tool approval protocol starts a new one.
 */
continue?: boolean, 
/**
 * Approval mode of the run; missing: the server's default.
 */
permission_mode?: PermissionMode, 
/**
 * `false`: reading waits for a person too.
 */
auto_approve_safe?: boolean, 
/**
 * Identifier of the run, chosen by the client; missing: the server chooses one.
 */
requestId?: string, 
/**
 * Model to use; missing: the server's default.
 */
model?: string, };

export type ToolApprovalResponse = { 
/**
 * Request to decide.
 */
request_id: string, 
/**
 * `true` approves, `false` rejects, as in the tool approval protocol.
 */
approved?: boolean, 
/**
 * Decision on the whole request; must not contradict `approved`.
 */
decision?: DecisionKind, 
/**
 * Reason for a rejection, for the model.
 */
feedback?: string, 
/**
 * Remark with an approval, for the model.
 */
note?: string, 
/**
 * Decisions on single changes. Changes that are not named stay open unless `finish` decides
 * them.
 */
hunks?: Array<HunkResponse>, 
/**
 * Decision on the changes that `hunks` does not name.
 */
finish?: HunkChoice, 
/**
 * With `edit`: the input that the same tool runs with. It needs the right to write. Policies
 * and rules are checked against it.
 */
updated_input?: unknown, 
/**
 * With `respond`: the answer for the model. Otherwise read as `feedback`.
 */
message?: string, 
/**
 * Rule to remember; only with an approval that rejects nothing.
 */
remember?: Remember, 
/**
 * Preview that the person saw; missing: the one first announced.
 */
preview_hash?: string, };

export type HunkResponse = { 
/**
 * Change to decide.
 */
id: string, 
/**
 * Decision on the change.
 */
decision: HunkChoice, 
/**
 * With `accept`: the text to insert instead of the proposed one. Another text needs the right
 * to write. Policies and rules check its size.
 */
text?: string, 
/**
 * `true`: accept although the words in the text were changed meanwhile; needs `seen`.
 */
force?: boolean, 
/**
 * Words that will be overwritten, as the person saw them.
 */
seen?: string, 
/**
 * `hash` of the change as the person saw it. If all that is named has one, other changes of
 * the request may have other words by now.
 */
hash?: string, };

export type ToolApprovalBatch = { 
/**
 * At most 100 decisions, taken one after the other; each succeeds or fails by itself.
 */
responses: Array<ToolApprovalResponse>, };

export type ListPendingApprovals = { 
/**
 * Document whose requests are listed; missing: all requests that the person may see.
 */
documentId?: string, };

export type ListRequests = { 
/**
 * Document whose requests are listed; missing or `desk`: requests without a document that
 * concern the person.
 */
documentId?: string, 
/**
 * Statuses to list, of those that end a request; missing or empty: all of them.
 */
status?: Array<RequestStatus>, 
/**
 * Last request of the page before; missing: from the newest.
 */
before?: string, 
/**
 * Maximum number of requests, 1 to 100; missing: 20. A page may hold fewer: `more` says if
 * there are older ones.
 */
limit?: number, };

export type FocusRequest = { 
/**
 * Request that the person looks at.
 */
request_id: string, 
/**
 * `true` while the person looks at it; sent again every few seconds.
 */
on: boolean, };

export type NameRequest = { 
/**
 * Request that the event is about.
 */
request_id: string, };

export type SplitRequest = { 
/**
 * Request that the change belongs to.
 */
request_id: string, 
/**
 * Change of several parts that becomes one change for each part.
 */
hunk_id: string, };

export type UndoRequest = { 
/**
 * Request to undo.
 */
request_id: string, 
/**
 * Changes to undo; missing: everything that was accepted, or, if nothing was, one's own votes.
 * The id that a change had before it was split: the split is undone.
 */
hunks?: Array<string>, 
/**
 * `true`: undo although the words were changed since. Policies count what is overwritten.
 */
force?: boolean, 
/**
 * Words that stand in the text now, as the person saw them. With `force`, only these are
 * overwritten.
 */
seen?: Array<SeenWords>, 
/**
 * `true`: withdraw one's own votes and undo nothing else, also if a change was accepted since.
 */
votes_only?: boolean, };

export type SeenWords = { 
/**
 * Change to undo.
 */
id: string, 
/**
 * Words that stand in its place.
 */
stands: string, };

export type ReopenRequest = { 
/**
 * Request to propose again.
 */
request_id: string, 
/**
 * Changes to propose again; missing: all that were rejected, expired or are obsolete.
 */
hunks?: Array<string>, };

export type Cancel = { 
/**
 * Run to stop.
 */
requestId?: string, 
/**
 * Session whose runs are all stopped.
 */
sessionId?: string, };

export type ReadTranscript = { 
/**
 * Session to read; it must be the person's own.
 */
sessionId: string, 
/**
 * Document that the conversation is about; missing: work without a document.
 */
documentId?: string, 
/**
 * `before` of an earlier answer, for older entries; missing: the newest entries.
 */
before?: string, };

export type ClearTranscript = { 
/**
 * Session to clear; it must be the person's own.
 */
sessionId: string, 
/**
 * Document that the conversation is about; missing: work without a document.
 */
documentId?: string, };

export type ForkTranscript = { 
/**
 * Session that continues; it must be the person's own.
 */
sessionId: string, 
/**
 * Document that the conversation is about; missing: work without a document.
 */
documentId?: string, 
/**
 * Run to continue from.
 */
requestId: string, 
/**
 * Session of that run, if it is another one. For a document it may be another person's.
 */
fromSessionId?: string, };

export type SetSettings = { 
/**
 * Switch for documents without a setting of their own.
 */
approvals?: ApprovalSwitch, 
/**
 * Permission mode of runs that name none. `bypassPermissions` and `approvals: on` exclude each
 * other.
 */
permission_mode?: PermissionMode, 
/**
 * Seconds until a request expires; 0: never.
 */
timeoutSeconds?: number, };

export type IssueToken = { 
/**
 * Role that the token gives.
 */
role: Role, 
/**
 * Name of the holder that others see, 1 to 80 characters.
 */
name: string, 
/**
 * Only document that the token reaches; missing: all. An owner's token always reaches all.
 */
documentId?: string, 
/**
 * Lifetime of the token: `12h`, `7d`, `4w`, or `never`; missing: `never`.
 */
expiresIn?: string, };

export type NameToken = { 
/**
 * Name of the asking person that others see, 1 to 80 characters.
 */
name: string, };

export type RevokeToken = { 
/**
 * Identifier of the token, from `token:list`; never its secret.
 */
id: string, };

export type TieToken = { 
/**
 * Identifier of the token.
 */
id: string, 
/**
 * Login to which it belongs from now on.
 */
login: string, };

export type DeferHunk = { 
/**
 * Request that the change belongs to.
 */
request_id: string, 
/**
 * Change that goes to the end of your own list, or back.
 */
hunk_id: string, 
/**
 * `true`: to the end of the list; `false`: back to its place.
 */
on: boolean, };

export type DeferredHunks = { 
/**
 * The changes.
 */
hunks: Array<DeferredHunk>, };

export type DeferredHunk = { 
/**
 * Request that the change belongs to.
 */
request_id: string, 
/**
 * The change.
 */
hunk_id: string, };

export type DocumentList = { 
/**
 * Documents of this page.
 */
documents: Array<DocumentLine>, 
/**
 * Value of `before` for the documents after these; missing: there are none.
 */
next?: string, };

export type TextOfVersion = { 
/**
 * The text.
 */
text: string, };

export type AskedRun = { 
/**
 * Identifier of the run.
 */
requestId: string, };

export type TranscriptPart = { 
/**
 * Prompts, answers and calls, in order.
 */
entries: Array<AgentEvent>, 
/**
 * Ended requests of the conversation, only with the newest entries; open ones come with
 * `document:open`.
 */
requests: Array<ToolApprovalRequest>, 
/**
 * Place before which there are more entries, to be sent back unchanged.
 */
before?: string, };

export type PendingRequests = { 
/**
 * The requests, each complete.
 */
requests: Array<ToolApprovalRequest>, };

export type EndedRequests = { 
/**
 * Requests of this page, each complete.
 */
requests: Array<ToolApprovalRequest>, 
/**
 * `true` if there are older ones.
 */
more: boolean, };

export type Remember = { 
/**
 * `session`: the session that asked, as long as it lasts. `document`: every session. Neither
 * reaches other documents. Rules that the server reports can also be `workspace`: work without
 * a document, for every session.
 */
scope: RuleScope, 
/**
 * Only files that match this pattern (`*`, `?`, `[a-z]`, `**` for any folders); not for tools
 * that change a document.
 */
path?: string, 
/**
 * Only requests that delete and insert at most this many UTF-16 code units together, at least
 * 1; missing: every size.
 */
max_units?: number, 
/**
 * Only requests of this person, by their user; with an approval: the `author` of the request.
 * Missing: of everybody.
 */
author?: string, 
/**
 * `true`: only changes without marks, which keep the meaning; not for tools that change no
 * document.
 */
unmarked?: boolean, };

export type Rule = { 
/**
 * Identifier of the rule.
 */
id: string, 
/**
 * Document of the rule; `null`: work without a document.
 */
documentId: string | null, 
/**
 * Tool that it is about; `*`: every tool.
 */
tool: string, 
/**
 * Effect of the rule.
 */
effect: RuleEffect, 
/**
 * With `deny` and `ask`: only calls that change more than this many UTF-16 code units;
 * missing: every size.
 */
over?: number, 
/**
 * Matters that it allows; with `deny` and `ask`: those to which it applies.
 */
remember: Remember, 
/**
 * Only person whose requests it is about, with the name of the time when it was made; missing:
 * everybody.
 */
author?: Person, 
/**
 * Session whose request was approved, or in which an owner made the rule.
 */
sessionId: string, 
/**
 * Request that was approved; `null`: an owner made the rule.
 */
request_id: string | null, 
/**
 * Person who made it, and in whose place it decides.
 */
by: Person, 
/**
 * Time of its creation, in RFC 3339.
 */
createdAt: string, };

export type ListRules = { 
/**
 * Document whose rules are listed; missing: those of all documents that the person may read,
 * and those for work without a document that the person may revoke.
 */
documentId?: string, };

export type Rules = { 
/**
 * All rules.
 */
rules: Array<Rule>, };

export type AddRule = { 
/**
 * Document of the rule; `desk`: work without a document.
 */
documentId: string, 
/**
 * `deny`: the call is refused, also where approvals are off. `ask`: people are asked, whatever
 * else was allowed. `allow`: the call is approved in the owner's name, but never a command, or
 * a call with a warning.
 */
effect: RuleEffect, 
/**
 * Tool, by the server's name for it; missing, with `deny` and `ask`: every tool. `Edit` also
 * denies and asks about `MultiEdit`.
 */
tool?: string, 
/**
 * For work without a document: only calls that name a matching file (`*`, `?`, `[a-z]`, `**`
 * for any folders), relative to the workspace. With `deny` and `ask`, a name without `/`
 * matches in every folder, and a folder includes all files in it. Where such a rule denies
 * reading, Glob and Grep leave the file out; where it asks, Grep does. Bash names no files:
 * deny the tool.
 */
path?: string, 
/**
 * With `allow`: only calls that change at most this many UTF-16 code units, at least 1.
 */
max_units?: number, 
/**
 * With `deny` and `ask`: only calls that change more than this many UTF-16 code units, or an
 * unknown number.
 */
over?: number, 
/**
 * Only what this person asks, by their user, who holds a token; missing: what anybody asks.
 */
author?: string, 
/**
 * With `allow` in a document, `true`: only changes without marks, which keep the meaning.
 */
unmarked?: boolean, };

export type RuleAdded = { 
/**
 * New or existing rule.
 */
rule: Rule, };

export type RevokeRule = { 
/**
 * Rule to revoke.
 */
id: string, };

export type RulesChanged = { 
/**
 * Document of the rules.
 */
documentId: string, 
/**
 * Rules now in force, oldest first.
 */
rules: Array<Rule>, };

export type WireError = { 
/**
 * Stable code for programs: `invalid_payload`, `not_found`, `not_allowed`, …
 */
code: string, 
/**
 * Message for people.
 */
message: string, 
/**
 * Reason in `message`, for programs, where `code` has several: `nothing_done`,
 * `denied_by_rule`, …
 */
reasonCode?: string, 
/**
 * Facts that help to continue, such as a fresh request, the limit that was exceeded, or who
 * was first.
 */
details?: unknown, };

export type SessionRegistered = { 
/**
 * Session, new or resumed.
 */
sessionId: string, 
/**
 * Person whose token was used.
 */
user: Person, 
/**
 * Role of the token.
 */
role: Role, 
/**
 * Version of the protocol that the server speaks.
 */
protocol: number, 
/**
 * Names of features beyond the core of the protocol.
 */
capabilities: Array<string>, 
/**
 * Permission mode of this person's runs that name none.
 */
permission_mode: PermissionMode, 
/**
 * Permission modes that this person's runs may name.
 */
permission_modes: Array<PermissionMode>, 
/**
 * Models that can be asked, the default first.
 */
models: Array<string>, 
/**
 * Models on this machine, among `models`.
 */
local_models: Array<string>, 
/**
 * Settings of the server.
 */
settings: Settings, };

export type Person = { 
/**
 * Identifier of the person, the same for all of their connections.
 */
id: string, 
/**
 * Name that others see: the token's, and beside it the name of the handshake, where they
 * differ.
 */
name: string, };

export type Settings = { 
/**
 * Switch for documents without a setting of their own.
 */
approvals: ApprovalSwitch, 
/**
 * Permission mode of new runs.
 */
permission_mode: PermissionMode, 
/**
 * Seconds until a request without a document, or of an outside caller, expires; 0: never.
 */
timeoutSeconds: number, 
/**
 * Seconds until a request in a document without a limit of its own expires; 0: never.
 */
documentTimeoutSeconds: number, };

export type SettingsChanged = { 
/**
 * All settings.
 */
settings: Settings, };

export type DocumentSettings = { 
/**
 * Policy that says who may decide.
 */
policy: DecisionPolicy, 
/**
 * Stricter policies for some tools and sizes.
 */
policies: Array<ToolPolicy>, 
/**
 * Switch that says whether changes wait for a person.
 */
approvals: ApprovalSwitch, 
/**
 * Seconds until a request expires; 0: never.
 */
timeoutSeconds: number, 
/**
 * Models that may see the text.
 */
modelAccess: ModelAccess, 
/**
 * Passages that no tool may change, in positions of the version that comes with them.
 */
frozen: Array<Range>, };

export type DocumentLine = { 
/**
 * Identifier of the document.
 */
id: string, 
/**
 * Title of the document.
 */
title: string, 
/**
 * Newest version.
 */
version: number, 
/**
 * Time of the last change, in RFC 3339.
 */
updatedAt: string, 
/**
 * Role of the person in the document.
 */
role: Role, 
/**
 * File of the workspace that the document is.
 */
path?: string, 
/**
 * Number of changes that wait for a decision.
 */
waiting: number, 
/**
 * Number of them that the person may decide and has not approved yet.
 */
waitingForYou: number, 
/**
 * Number of threads, resolved ones apart, with a comment that mentions the person and that
 * they have not read.
 */
mentions: number, };

export type Trash = { 
/**
 * Documents that the person can recover.
 */
documents: Array<DeletedDocument>, };

export type DeletedDocument = { 
/**
 * Identifier of the document.
 */
id: string, 
/**
 * Title of the document.
 */
title: string, 
/**
 * Time of the deletion, in RFC 3339.
 */
deletedAt: string, 
/**
 * Time until which it can be recovered, in RFC 3339.
 */
recoverableUntil: string, };

export type CreatedDocument = { 
/**
 * Identifier of the document.
 */
id: string, 
/**
 * Title of the document.
 */
title: string, 
/**
 * Version of the first text: 0, or 1 if a request created the document.
 */
version: number, };

export type DocumentCreated = { 
/**
 * New document.
 */
document: CreatedDocument, };

export type WholeDocument = { 
/**
 * Identifier of the document.
 */
id: string, 
/**
 * Title of the document.
 */
title: string, 
/**
 * Version of `text`.
 */
version: number, 
/**
 * Text, with `\n` as line end.
 */
text: string, 
/**
 * SHA-256 of the text's UTF-8 bytes, in hexadecimal.
 */
hash: string, 
/**
 * Settings in force.
 */
settings: DocumentSettings, };

export type Opened = { 
/**
 * Whole document; missing if `updates` are enough.
 */
document?: WholeDocument, 
/**
 * Version before the first of `updates`.
 */
from?: number, 
/**
 * Newest version, with `updates`.
 */
version?: number, 
/**
 * SHA-256 of the text at `version`, with `updates`: a client whose text has another one has to
 * load the document anew.
 */
hash?: string, 
/**
 * Updates that the client does not have, in order and without a gap.
 */
updates?: Array<Update>, 
/**
 * Title, with `updates`.
 */
title?: string, 
/**
 * Settings in force, with `updates`; the ranges are of `version`.
 */
settings?: DocumentSettings, 
/**
 * Identifier of a new editor instance, for `collab()`.
 */
clientID: string, 
/**
 * All open requests of the document. A card for a request that is not here is out of date.
 */
requests: Array<ToolApprovalRequest>, 
/**
 * Changes that the model is writing. A card for a change that is not here is out of date.
 */
streaming: Array<Streaming>, 
/**
 * Connections in the document.
 */
peers: Array<Peer>, 
/**
 * Number of connections in the document, for clients that name the capability
 * `presence-changes`: in a crowd, `peers` leaves out who only reads.
 */
peerCount?: number, 
/**
 * Number that stands for the document in `updates`, for clients that name the capability
 * `short-updates`; it holds for this connection until the document is closed.
 */
shortId?: number, 
/**
 * Threads of comments that are not resolved, oldest first, for clients that name the
 * capability `comments`; the positions are of the newest version.
 */
threads?: Array<CommentThread>, 
/**
 * Identifier of this connection in `peers`.
 */
member: string, 
/**
 * Role of the person in the document.
 */
role: Role, 
/**
 * State of the document's file; missing: the document is no file.
 */
file?: FileState, };

export type Streaming = { 
/**
 * Last update that was sent about it.
 */
update: ToolApprovalUpdate, 
/**
 * Hunks known so far; positions are of the answer's version.
 */
hunks: Array<Hunk>, };

export type Update = { 
/**
 * Editor instance that made it; `ai:…` for an accepted request.
 */
clientID: string, 
/**
 * `ChangeSet.toJSON()`, as committed.
 */
changes: unknown, 
/**
 * Request that the update came from; missing: it was typed.
 */
origin?: string, };

export type DocumentUpdates = { 
/**
 * Document that changed.
 */
documentId: string, 
/**
 * Version before the first update.
 */
from: number, 
/**
 * Updates in order, without a gap; empty if only hunks change.
 */
updates: Array<Update>, 
/**
 * Changes of open hunks that belong to the updates.
 */
hunks?: HunkChanges, };

export type HunkChanges = { 
/**
 * Hunks that are no longer open.
 */
drop: Array<string>, 
/**
 * New or changed hunks; positions are those after the message's updates.
 */
put: Array<Hunk>, };

export type DocumentChanged = { 
/**
 * Document that changed.
 */
documentId: string, 
/**
 * New title.
 */
title?: string, 
/**
 * Settings now in force.
 */
settings?: DocumentSettings, 
/**
 * With `settings`: the version that their ranges refer to.
 */
version?: number, 
/**
 * `true`: the document was deleted.
 */
deleted?: boolean, };

export type Peer = { 
/**
 * Identifier of the connection.
 */
id: string, 
/**
 * Identifier of the person.
 */
user: string, 
/**
 * Name that others see.
 */
name: string, 
/**
 * Role of the person.
 */
role: Role, 
/**
 * Caret colour of the editor, 0 to 3.
 */
color: number, 
/**
 * Editor instances of this connection.
 */
clientIDs: Array<string>, 
/**
 * Position of the caret.
 */
caret?: PeerCaret, };

export type PeerCaret = { 
/**
 * Version that the positions refer to.
 */
version: number, 
/**
 * Position where the selection began.
 */
anchor: number, 
/**
 * Position of the caret.
 */
head: number, };

export type PresenceChanges = { 
/**
 * Document that they are in.
 */
documentId: string, 
/**
 * Connections that came or changed, as they are now.
 */
put: Array<Peer>, 
/**
 * Identifiers of the connections that left.
 */
left: Array<string>, 
/**
 * Number of connections in the document. In a crowd it is larger than the number that is
 * listed: who only reads is counted.
 */
count: number, 
/**
 * `true` if `put` is everybody who is listed, and all others are to be forgotten.
 */
complete?: boolean, };

export type PresencePeers = { 
/**
 * Document that they are in.
 */
documentId: string, 
/**
 * All connections.
 */
peers: Array<Peer>, };

export type PresenceUpdate = { 
/**
 * Document that the caret is in.
 */
documentId: string, 
/**
 * Identifier of the connection.
 */
id: string, 
/**
 * Version that the positions refer to.
 */
version: number, 
/**
 * Position where the selection began.
 */
anchor: number, 
/**
 * Position of the caret.
 */
head: number, };

export type ShortUpdate = [string, unknown];

export type ShortUpdates = [number, number, Array<ShortUpdate>];

export type Hunk = { 
/**
 * Identifier, unique within the document.
 */
id: string, 
/**
 * Request that the hunk belongs to.
 */
request_id: string, 
/**
 * Word-level changes, left to right.
 */
parts: Array<Part>, 
/**
 * Status of the hunk.
 */
status: HunkStatus, 
/**
 * Reason for the status.
 */
reason?: string, 
/**
 * Reason for the status, for programs.
 */
reasonCode?: HunkReasonCode, 
/**
 * Explanation by the model.
 */
explanation?: string, 
/**
 * Hash of its identifier and its words, for a decision that names it; only of hunks that a
 * person suggests or has imported.
 */
hash?: string, 
/**
 * `true`: the person who suggests it is writing in it, and it cannot be decided yet.
 */
writing?: boolean, 
/**
 * Kind of the change, if it is known.
 */
kind?: HunkKind, 
/**
 * Number of the paragraph among those that the request changes, from 1: hunks of one paragraph
 * have the same one.
 */
group?: number, 
/**
 * Facts that the change alters, in the order of the text; missing: it keeps the meaning.
 */
marks?: Array<Mark>, 
/**
 * Decision on the hunk.
 */
decided?: HunkDecided, 
/**
 * Votes that count, where one person is not enough; missing: there are none.
 */
votes?: Array<HunkVote>, 
/**
 * All policies for the hunk, from the mildest to the strictest.
 */
policies?: Array<DecisionPolicy>, 
/**
 * Votes for the hunk.
 */
approvals?: Approvals, };

export type HunkRequired = { 
/**
 * All policies for the hunk, from the mildest to the strictest.
 */
policies?: Array<DecisionPolicy>, 
/**
 * Votes for the hunk.
 */
approvals?: Approvals, };

export type Part = { 
/**
 * First UTF-16 code unit to replace.
 */
from: number, 
/**
 * Code unit after the last one.
 */
to: number, 
/**
 * Words that are replaced.
 */
base: string, 
/**
 * Words that are inserted.
 */
insert: string, 
/**
 * `true`: somebody changed these words, or removed the place.
 */
conflict?: boolean, };

export type HunkDecided = { 
/**
 * Person who decided.
 */
by: Person, 
/**
 * Time of the decision, in RFC 3339.
 */
at: string, 
/**
 * Text that was inserted instead of the proposed one.
 */
text?: string, 
/**
 * Remembered rule that decided in the person's place.
 */
rule?: string, 
/**
 * Reason that was given for a rejection.
 */
feedback?: string, };

export type HunkVote = { 
/**
 * Identifier of the person.
 */
user: string, 
/**
 * Name of the person.
 */
name: string, 
/**
 * Choice that the person made.
 */
decision: HunkChoice, 
/**
 * Time of the vote, in RFC 3339.
 */
at: string, 
/**
 * Text that the person wants instead of the proposed one. Votes count together only for the
 * same text.
 */
text?: string, 
/**
 * Changed words that the vote permits to overwrite. It counts only while they stand there.
 */
seen?: string, 
/**
 * Remembered rule that voted in the person's place.
 */
rule?: string, };

export type ToolApprovalRequest = { 
/**
 * Always `tool_approval_request`, as in the tool approval protocol.
 */
type: string, 
/**
 * Identifier of the request.
 */
request_id: string, 
/**
 * Tool that the model called.
 */
tool_name: string, 
/**
 * Input of the call.
 */
tool_input: unknown, 
/**
 * Identifier of the call, given by the model.
 */
tool_use_id: string, 
/**
 * Kind of the preview.
 */
preview_type: PreviewKind, 
/**
 * Facts about the preview.
 */
preview_data: unknown, 
/**
 * Title of the document, or path of the file.
 */
file_path: string | null, 
/**
 * Text before the change, as the model knew it.
 */
original_content: string | null, 
/**
 * Text that the model proposed.
 */
new_content: string | null, 
/**
 * Unified diff.
 */
diff_lines: Array<string>, 
/**
 * Session that asked.
 */
session_id: string, 
/**
 * Run that asked (`requestId` of `askClaudeCode`).
 */
requestId: string, 
/**
 * Document that the call would change.
 */
document_id: string | null, 
/**
 * Version that the model had read.
 */
base_version: number, 
/**
 * Version that the positions of the hunks refer to.
 */
version: number, 
/**
 * Status of the request.
 */
status: RequestStatus, 
/**
 * Changes that the call would make.
 */
hunks: Array<Hunk>, 
/**
 * Explanation by the model.
 */
explanation: string, 
/**
 * Prompt of the run.
 */
prompt: string, 
/**
 * Person who asked, or who imported the file.
 */
author: Person, 
/**
 * Author of the changes as an imported file names them; missing for other requests.
 */
claimedAuthor?: ClaimedAuthor, 
/**
 * Time of the request, in RFC 3339.
 */
created_at: string, 
/**
 * Time at which it expires, in RFC 3339; `null`: never.
 */
expires_at: string | null, 
/**
 * `true`: the countdown is paused, because a person looks at the request.
 */
paused: boolean, 
/**
 * Warnings about the call.
 */
warnings: Array<Warning>, 
/**
 * Decisions that the request can take; `edit` needs the right to write.
 */
allowed_decisions: Array<DecisionKind>, 
/**
 * Hash of everything shown; send it back with the decision.
 */
preview_hash: string, 
/**
 * Policy that says who may accept what is open now: the strictest of `policies`. A decision
 * with a person's own words can need a stricter one; a rejection never does.
 */
policy: DecisionPolicy, 
/**
 * All policies that apply, from the mildest. Each of them holds.
 */
policies: Array<DecisionPolicy>, 
/**
 * UTF-16 code units that the call deletes and inserts together: changes of a text as they were
 * proposed, a call as its current preview shows; `null`: unknown.
 */
units: number | null, 
/**
 * Votes, and how many are needed.
 */
approvals: Approvals, 
/**
 * `true`: a single key must never approve it.
 */
default_to_no: boolean, 
/**
 * Origin of the call.
 */
source: RequestSource, 
/**
 * Revision of a person's suggestion, which rises with each update and each decision; missing
 * for other requests, and for a suggestion that was reopened after its end.
 */
revision?: number, 
/**
 * Person who resolved the request.
 */
by: Person | null, 
/**
 * Remembered rule that resolved it in the person's place.
 */
rule: string | null, 
/**
 * Reason why nobody was asked; `by` is then the person whose run it was.
 */
unasked: UnaskedReason | null, 
/**
 * Reason for the rejection.
 */
feedback: string | null, 
/**
 * Report for the model: what it was told, or would be told if the request were finished now.
 */
report: string, 
/**
 * Later events, and what can be done now; missing: there is nothing to say.
 */
aftermath?: Aftermath, };

export type Aftermath = { 
/**
 * `true`: something of it can be undone now (`approval:undo`) by people who may decide it.
 */
can_undo: boolean, 
/**
 * `true`: something of it can be proposed again now (`approval:reopen`).
 */
can_reopen: boolean, 
/**
 * Undo of what the call did to a file; missing: it was not undone.
 */
undone?: Undone, 
/**
 * Request that this one proposes again.
 */
again_of?: string, 
/**
 * Request that proposes this one again.
 */
again_as?: string, };

export type Undone = { 
/**
 * Person who undid it.
 */
by: Person, 
/**
 * Time of the undo, in RFC 3339.
 */
at: string, 
/**
 * `true`: the file had been changed since.
 */
forced: boolean, };

export type ToolApprovalUpdate = { 
/**
 * Identifier of the request.
 */
request_id: string, 
/**
 * Document that the call would change.
 */
document_id?: string | null, 
/**
 * Status of the request.
 */
status: RequestStatus, 
/**
 * Time at which it expires, in RFC 3339; `null`: never.
 */
expires_at?: string | null, 
/**
 * `true`: the countdown is paused, because a person looks at the request.
 */
paused: boolean, 
/**
 * People who look at the request.
 */
focused_by: Array<Person>, 
/**
 * Hash of the current preview.
 */
preview_hash: string, 
/**
 * Revision of a person's suggestion, which rises with each update and each decision; missing
 * for other requests, and for a suggestion that was reopened after its end.
 */
revision?: number, 
/**
 * Policies that apply now; missing while there is no request.
 */
policies?: Array<DecisionPolicy>, 
/**
 * Votes, and how many are needed.
 */
approvals: Approvals, 
/**
 * Hunks whose state changed.
 */
hunks: Array<HunkState>, 
/**
 * Person who caused the change.
 */
by?: Person | null, 
/**
 * Text so far, while the model writes (`status` is `streaming`): there is no request yet, and
 * nothing to decide. Its hunks come with `document:updates`. If the change comes to nothing,
 * `status` is `cancelled`.
 */
text?: string, 
/**
 * With `text`: the number of complete paragraphs (headings, list items, lines of code).
 */
paragraphs?: number, 
/**
 * While there is no request: the tool that the model is calling.
 */
tool_name?: string, 
/**
 * While there is no request: the identifier of the call, given by the model.
 */
tool_use_id?: string, 
/**
 * While there is no request: the session that asked.
 */
session_id?: string, 
/**
 * While there is no request: the run that asked.
 */
requestId?: string, 
/**
 * While there is no request: the person who asked.
 */
author?: Person, 
/**
 * Whole request, if its preview changed because a file changed.
 */
fresh?: ToolApprovalRequest, 
/**
 * Report for the model, when an approved call has ended or was undone.
 */
report?: string, 
/**
 * Later events, whenever they change without a decision: the call has ended, was undone, or
 * was proposed again.
 */
aftermath?: Aftermath, };

export type HunkState = { 
/**
 * Identifier of the hunk.
 */
id: string, 
/**
 * Status of the hunk.
 */
status: HunkStatus, 
/**
 * Person who decided it; missing: nobody did.
 */
by?: Person, 
/**
 * Time of the decision, in RFC 3339.
 */
at?: string, 
/**
 * Text that was inserted instead of the proposed one.
 */
text?: string, 
/**
 * Remembered rule that decided in the person's place.
 */
rule?: string, 
/**
 * Reason that was given for a rejection.
 */
feedback?: string, 
/**
 * All votes that count, where one person is not enough; missing: there are none.
 */
votes?: Array<HunkVote>, 
/**
 * All policies for the hunk, from the mildest to the strictest.
 */
policies?: Array<DecisionPolicy>, 
/**
 * Votes for the hunk.
 */
approvals?: Approvals, };

export type ToolApprovalResolved = { 
/**
 * Identifier of the request.
 */
request_id: string, 
/**
 * Document that the call would have changed.
 */
document_id: string | null, 
/**
 * Status that the request ended with.
 */
status: RequestStatus, 
/**
 * Person who decided last; `null`: nobody, because it expired or the run ended.
 */
by: Person | null, 
/**
 * Remembered rule that decided in the person's place.
 */
rule: string | null, 
/**
 * Reason why nobody was asked; `by` is then the person whose run it was.
 */
unasked: UnaskedReason | null, 
/**
 * Reason for the rejection.
 */
feedback: string | null, 
/**
 * State of every hunk.
 */
hunks: Array<HunkState>, 
/**
 * Revision of a person's suggestion, which rises with each update and each decision; missing
 * for other requests, and for a suggestion that was reopened after its end.
 */
revision?: number, 
/**
 * Report that the model was given.
 */
report: string, 
/**
 * Later events, and what can be done now; missing: there is nothing to say.
 */
aftermath?: Aftermath, };

export type Decided = { 
/**
 * Status of the request.
 */
status: RequestStatus, 
/**
 * State of every hunk.
 */
hunks: Array<HunkState>, 
/**
 * Hash of the current preview.
 */
preview_hash: string, 
/**
 * Votes, and how many are needed.
 */
approvals: Approvals, };

export type Told = { 
/**
 * Text of the report.
 */
text: string, 
/**
 * `true`: the report is marked as an error.
 */
is_error: boolean, } & ({ "state": "waiting", 
/**
 * Lines about the changes and remarks of people so far, each after a line break.
 */
so_far: string, } | { "state": "runs", 
/**
 * Text that the model reads before the result.
 */
before: string, 
/**
 * Text that it reads after the result, each line after a line break.
 */
after: string, } | { "state": "complete" });

export type ClaudeStream = { 
/**
 * Session that asked.
 */
sessionId: string, 
/**
 * Identifier of the run.
 */
requestId: string, 
/**
 * Document that the run is about.
 */
documentId?: string, 
/**
 * With `claudeStreamChunk`: more text.
 */
text?: string, };

export type AgentEvent = { 
/**
 * `user`, `assistant`, `result`, or `system` with `waiting`: a call waits in the document of
 * its file.
 */
type: AgentEventType | (string & {}), 
/**
 * `prompt`, `text`, `text_delta`, `tool_use`, `tool_result`, `success`, `error`, …
 */
subtype: AgentEventSubtype | (string & {}), 
/**
 * Content as in the tool approval protocol. A `result` also has `model`, `usage` (tokens, as
 * in the Messages API) and `cost_usd`, where they are known, `notice` if people should know
 * something about the answer, and `reasonCode` unless the run was a success.
 */
content: Record<string, unknown>, 
/**
 * Session that asked.
 */
sessionId: string, 
/**
 * Identifier of the run.
 */
requestId: string, 
/**
 * Document that the run is about.
 */
documentId?: string, 
/**
 * Time of the event, in RFC 3339.
 */
at: string, };

export type ClaudeResponse = { 
/**
 * Session that asked.
 */
sessionId: string, 
/**
 * Identifier of the run.
 */
requestId: string, 
/**
 * Text that the model wrote.
 */
conversationMessage: string, 
/**
 * Extent of the document update.
 */
updateType: UpdateType, 
/**
 * `full`: the resulting document. `partial`: the text that now stands in the original range.
 */
documentUpdate?: string, 
/**
 * With `partial`: the original range.
 */
selectionRange?: SelectionRange, 
/**
 * Version of the document after the run.
 */
documentVersion?: number, 
/**
 * All changes of documents that the run made, in order.
 */
updates?: Array<ResponseUpdate>, 
/**
 * Time of the end, in RFC 3339.
 */
timestamp: string, 
/**
 * Reason that there is no answer.
 */
error?: WireError, };

export type ResponseUpdate = { 
/**
 * Extent of the change: `full` or `partial`.
 */
updateType: UpdateType, 
/**
 * Request that people decided.
 */
request_id: string, 
/**
 * Status of the request.
 */
status: RequestStatus, 
/**
 * Version of the document after the change.
 */
documentVersion: number, };

export type SelectionRange = { 
/**
 * First code unit.
 */
start: number, 
/**
 * Code unit after the last one.
 */
end: number, };

export type IssuedToken = { 
/**
 * Secret of the token.
 */
token: string, 
/**
 * Identifier of the token, for revoking it.
 */
id: string, 
/**
 * Link that signs its holder in.
 */
url: string, 
/**
 * Time at which it expires, in RFC 3339; `null`: never.
 */
expiresAt: string | null, };

export type LoginLine = { 
/**
 * Identifier of the login, and of its person.
 */
id: string, 
/**
 * Name that others see.
 */
name: string, 
/**
 * Mail address that the provider has verified; `null`: none.
 */
email: string | null, 
/**
 * Groups of the identity provider that the person was in at the last sign-in.
 */
groups: Array<string>, 
/**
 * Address of the provider.
 */
issuer: string, 
/**
 * Name by which the provider knows the person.
 */
subject: string, 
/**
 * Time of the first sign-in, in RFC 3339.
 */
createdAt: string, 
/**
 * Time of the last sign-in, in RFC 3339.
 */
signedInAt: string, };

export type NamedPerson = { 
/**
 * Asking person, under the name that their token has now.
 */
user: Person, };

export type TokenLine = { 
/**
 * Identifier of the token, for revoking it.
 */
id: string, 
/**
 * Identifier of its person.
 */
user: string, 
/**
 * Name of its person.
 */
name: string, 
/**
 * Role that it gives.
 */
role: Role, 
/**
 * Only document that it reaches; `null`: all.
 */
documentId: string | null, 
/**
 * Status of the token.
 */
status: TokenStatus, 
/**
 * Time of its creation, in RFC 3339.
 */
createdAt: string, 
/**
 * Time at which it expires, in RFC 3339; `null`: never.
 */
expiresAt: string | null, 
/**
 * Time of its last use, in RFC 3339 and to the minute; `null`: never used.
 */
lastUsedAt: string | null, 
/**
 * Time of its revocation, in RFC 3339; `null`: not revoked.
 */
revokedAt: string | null, 
/**
 * `true`: the token of the asking connection.
 */
current: boolean, 
/**
 * Login that it belongs to: an entry of `logins`; `null`: none.
 */
login: string | null, 
/**
 * `true`: an owner issued it and tied it to the login; `false`: it came from signing in.
 */
tied: boolean, };

export type TokenList = { 
/**
 * All tokens.
 */
tokens: Array<TokenLine>, 
/**
 * Everybody who has signed in with an identity provider, oldest first.
 */
logins: Array<LoginLine>, };

export type SessionEnded = { 
/**
 * Reason for the end.
 */
code: SessionEndCode, 
/**
 * Message for people.
 */
message: string, 
/**
 * Time at which the token ended, in RFC 3339.
 */
at: string, };

export type ThreadStatus = "open" | "resolved" | "orphaned";

export type ListComments = { 
/**
 * The document.
 */
documentId: string, 
/**
 * Only threads with this status.
 */
status?: ThreadStatus, 
/**
 * Only threads that were begun before this one.
 */
before?: string, 
/**
 * At most this many, 1 to 1,000; 100 if missing. A long page may have fewer.
 */
limit?: number, };

export type CreateComment = { 
/**
 * The document.
 */
documentId: string, 
/**
 * Version that the positions are of; missing: the newest.
 */
version?: number, 
/**
 * First UTF-16 code unit of the passage.
 */
from?: number, 
/**
 * Code unit after the last one.
 */
to?: number, 
/**
 * Request that the thread is about.
 */
request_id?: string, 
/**
 * Hunk of that request; missing: the request as a whole.
 */
hunk_id?: string, 
/**
 * First comment, 1 to 10,000 characters.
 */
text: string, 
/**
 * Ids of users whom it mentions, and `ai`: the AI is asked, and answers in the thread.
 */
mentions?: Array<string>, 
/**
 * Way in which the changes of that answer are approved; missing: as in `askClaudeCode`.
 */
permission_mode?: PermissionMode, 
/**
 * Model that answers; missing: the default one.
 */
model?: string, };

export type ReplyToComment = { 
/**
 * The thread.
 */
threadId: string, 
/**
 * Text of the answer, 1 to 10,000 characters.
 */
text: string, 
/**
 * Ids of users whom it mentions, and `ai`: the AI is asked, and answers in the thread.
 */
mentions?: Array<string>, 
/**
 * Way in which the changes of that answer are approved; missing: as in `askClaudeCode`.
 */
permission_mode?: PermissionMode, 
/**
 * Model that answers; missing: the default one.
 */
model?: string, };

export type EditComment = { 
/**
 * The comment.
 */
commentId: string, 
/**
 * Its thread, if the address names one.
 */
threadId?: string, 
/**
 * New text, 1 to 10,000 characters.
 */
text: string, };

export type DeleteComment = { 
/**
 * The comment.
 */
commentId: string, 
/**
 * Its thread, if the address names one.
 */
threadId?: string, };

export type ResolveThread = { 
/**
 * The thread.
 */
threadId: string, 
/**
 * `true` to end the discussion, `false` to reopen it.
 */
resolved: boolean, };

export type ReadThreads = { 
/**
 * The document.
 */
documentId: string, 
/**
 * Threads that were read; missing: all.
 */
threadIds?: Array<string>, };

export type CommentThread = { 
/**
 * Identifier of the thread.
 */
id: string, 
/**
 * Document that it is in.
 */
documentId: string, 
/**
 * Passage; of an orphaned thread the place where its words were, with `to` equal to `from`.
 * `null`: the whole document, or a whole request.
 */
anchor: Range | null, 
/**
 * Words of the passage when the thread was begun, at most 1,000 UTF-16 code units.
 */
quote: string, 
/**
 * Status: `open`, `resolved` or `orphaned`.
 */
status: ThreadStatus, 
/**
 * Request that the thread is about.
 */
request_id?: string, 
/**
 * Hunk of that request.
 */
hunk_id?: string, 
/**
 * Run of the AI: the newest one that answers a comment here, or else the one that wrote the
 * first comment or made that request.
 */
requestId?: string, 
/**
 * Comments in the order in which they were written. If all are deleted, the thread is gone.
 */
comments: Array<Comment>, 
/**
 * Person who resolved the thread.
 */
resolvedBy?: Person, 
/**
 * Time at which it was resolved, in RFC 3339.
 */
resolvedAt?: string, };

export type Comment = { 
/**
 * Identifier of the comment.
 */
id: string, 
/**
 * Person who wrote it, or who imported the file that it came with, or the AI.
 */
author: CommentAuthor, 
/**
 * Author whom that file names; that person has no account here.
 */
claimedAuthor?: ClaimedAuthor, 
/**
 * Person who asked the AI for a comment that it wrote.
 */
askedBy?: Person, 
/**
 * Run that answers this comment of a person, or that wrote this comment of the AI.
 */
requestId?: string, 
/**
 * `true` as long as that answer is to come.
 */
waiting?: boolean, 
/**
 * Requests that the answer to this comment has made in the document, oldest first.
 */
proposals?: Array<ThreadProposal>, 
/**
 * Code of the reason why the AI gives no answer here, or only a part of one.
 */
reasonCode?: string, 
/**
 * Text; empty if it is deleted.
 */
text: string, 
/**
 * Time of writing, in RFC 3339.
 */
at: string, 
/**
 * Time of the last edit, in RFC 3339.
 */
editedAt?: string, 
/**
 * `true` if the text was deleted.
 */
deleted?: boolean, 
/**
 * Ids of users whom it mentions, and `ai`.
 */
mentions: Array<string>, };

export type CommentAuthor = { 
/**
 * Identifier of the person; `ai` for the AI.
 */
id: string, 
/**
 * Name that others see.
 */
name: string, 
/**
 * `true` for the AI.
 */
ai?: boolean, };

export type ThreadProposal = { 
/**
 * The request.
 */
request_id: string, 
/**
 * Its status.
 */
status: RequestStatus, 
/**
 * Number of its changes that were accepted.
 */
accepted: number, 
/**
 * Number of its changes.
 */
of: number, };

export type ThreadList = { 
/**
 * Version that the positions are of.
 */
version: number, 
/**
 * Threads of this part.
 */
threads: Array<CommentThread>, 
/**
 * `true` if there are older threads.
 */
more: boolean, 
/**
 * Those of `threads` with comments of others that the caller has not read.
 */
unread: Array<string>, };

export type PeopleToMention = { 
/**
 * People who may read the document or have commented on it, by name, at most 1,000.
 */
people: Array<Person>, };

export type ThreadAnswer = { 
/**
 * Version that the positions are of.
 */
version: number, 
/**
 * Thread as it is now.
 */
thread: CommentThread, };

export type CommentChanged = { 
/**
 * Document that the thread is in.
 */
documentId: string, 
/**
 * Version that the positions are of.
 */
version: number, 
/**
 * Thread as it is now.
 */
thread: CommentThread, };

export type CommentUnread = { 
/**
 * The document.
 */
documentId: string, 
/**
 * Number of threads, resolved ones apart, with a comment that mentions the person and that
 * they have not read.
 */
mentions: number, 
/**
 * Threads that the person has just read on one of their devices.
 */
read: Array<ReadThread>, };

export type ReadThread = { 
/**
 * The thread.
 */
id: string, 
/**
 * Number of comments that it had then.
 */
comments: number, };

export type UpdateSuggestion = { 
/**
 * Document that the person suggests to change.
 */
documentId: string, 
/**
 * Version that `changes` start from.
 */
version: number, 
/**
 * Revision of the person's newest suggestion that `changes` take the place of; 0: there is
 * none that can still be decided.
 */
revision: number, 
/**
 * `ChangeSet.toJSON()` of `@codemirror/state`: from the document at `version` to the document
 * as the person suggests it. Without a change, the open hunks are withdrawn.
 */
changes: unknown, };

export type SuggestionAnswer = { 
/**
 * Request that holds the suggestion; `null`: there was nothing to withdraw.
 */
request_id: string | null, 
/**
 * Revision of the suggestion now.
 */
revision: number, 
/**
 * Version that the positions of the hunks are of.
 */
version: number, 
/**
 * All open hunks of the suggestion, in the order of the text.
 */
hunks: Array<Hunk>, 
/**
 * Hash of everything shown, as in the request.
 */
preview_hash: string, };

export type ShareDocument = { 
/**
 * The document.
 */
documentId: string, 
/**
 * Role in the document: `editor`, `reviewer`, `suggester` or `viewer`.
 */
role: Role, 
/**
 * Person who has signed in: an entry of `logins` in `token:list`.
 */
login?: string, 
/**
 * Mail address of a person, who may not have signed in yet. It counts if the identity provider
 * has verified it.
 */
email?: string, 
/**
 * Group of the identity provider.
 */
group?: string, };

export type UnshareDocument = { 
/**
 * The document.
 */
documentId: string, 
/**
 * Person to whom the role was given.
 */
login?: string, 
/**
 * Mail address to which the role was given.
 */
email?: string, 
/**
 * Group to which the role was given.
 */
group?: string, };

export type DocumentRoleLine = { 
/**
 * Person to whom it was given.
 */
login: string | null, 
/**
 * Mail address to which it was given.
 */
email: string | null, 
/**
 * Group of the identity provider to which it was given.
 */
group: string | null, 
/**
 * Name of the person; `null` for a group, and for an address that no one has signed in with.
 */
name: string | null, 
/**
 * The role.
 */
role: Role, 
/**
 * Time at which it was given, in RFC 3339.
 */
givenAt: string, 
/**
 * Name of the owner who gave it; `null`: they have no token any more.
 */
givenBy: string | null, };

export type DocumentRoleList = { 
/**
 * All roles that were given in the document.
 */
roles: Array<DocumentRoleLine>, };

export type NewVersion = { 
/**
 * New version.
 */
version: number, };

export type VersionPage = { 
/**
 * Versions of this page.
 */
versions: Array<HistoryLine>, 
/**
 * Address of the next page, with older ones; missing: there is none.
 */
next?: string, };

export type Comparison = { 
/**
 * Version that the positions refer to.
 */
from: number, 
/**
 * Version that it was compared with.
 */
to: number, 
/**
 * Differences in order, without overlaps.
 */
parts: Array<Difference>, };

export type Provenance = { 
/**
 * Version that the positions refer to.
 */
version: number, 
/**
 * Passages of the text, in order.
 */
spans: Array<ProvenanceSpan>, };

export type RequestState = { 
/**
 * Status of the request.
 */
status: RequestStatus, 
/**
 * Time at which it expires, in RFC 3339; `null`: never.
 */
expires_at: string | null, 
/**
 * With `reopen`: changes whose words are no longer in the text.
 */
unplaced?: Array<string>, 
/**
 * With `reopen`: the request that is pending now; a whole call is proposed again by another
 * request.
 */
request_id?: string, };

export type DecisionResults = { 
/**
 * Results, in the order of the decisions.
 */
results: Array<DecisionResult>, };

export type DecisionResult = { 
/**
 * `true`.
 */
ok: true, 
/**
 * The request.
 */
request_id: string, 
/**
 * Status of the request.
 */
status: RequestStatus, 
/**
 * State of every hunk.
 */
hunks: Array<HunkState>, 
/**
 * Hash of the current preview.
 */
preview_hash: string, 
/**
 * Votes, and how many are needed.
 */
approvals: Approvals, } | { 
/**
 * `false`.
 */
ok: false, 
/**
 * The request, if it was named.
 */
request_id: string | null, 
/**
 * Reason why the decision failed.
 */
error: WireError, };

export type ImportedDocument = { 
/**
 * Document.
 */
document: CreatedDocument, 
/**
 * Requests for the tracked changes of a Word file, one for each author.
 */
requests: Array<ToolApprovalRequest>, 
/**
 * Number of comments that the document's threads hold.
 */
comments: number, 
/**
 * Things that were left out, and decisions of the reader.
 */
report: ImportReport, };

export type ConvertedHtml = { 
/**
 * Markdown.
 */
markdown: string, 
/**
 * Things that were left out, and decisions of the reader.
 */
report: ImportReport, };

export type ImportReport = { 
/**
 * Kinds of things that are not in the text.
 */
leftOut: Array<LeftOut>, 
/**
 * Kinds of choices that were made.
 */
decided: Array<ImportChoice>, };

export type LeftOut = { 
/**
 * Name of the kind in the singular, such as `picture` or `comment`.
 */
kind: string, 
/**
 * Number of things of this kind.
 */
count: number, 
/**
 * First of them in short, at most 80 characters.
 */
example?: string, };

export type ImportChoice = { 
/**
 * Name of the choice, such as `merged cell`.
 */
kind: string, 
/**
 * Number of places.
 */
count: number, };

export type ReadSpending = { 
/**
 * Month such as `2026-11`; missing: this one.
 */
month?: string, };

export type SetSpendingLimit = { 
/**
 * Calls of models that the limit is about.
 */
for: SpendingLimitKind, 
/**
 * Identifier of the person or document; missing with `server` and `everyone`.
 */
id?: string, 
/**
 * Limit of a month, from 0 to 1,000,000; `null` removes the limit.
 */
usd: number | null, };

export type MonthSpending = { 
/**
 * Month, such as `2026-11`.
 */
month: string, 
/**
 * Time at which the next month begins, in RFC 3339: limits renew.
 */
renewsAt: string, 
/**
 * Cost of all calls.
 */
usd: number, 
/**
 * Limit of the whole server; `null`: none.
 */
limitUsd: number | null, 
/**
 * Limit of each person who has no limit of their own; `null`: none.
 */
personLimitUsd: number | null, 
/**
 * People, the highest sum first, at most 500 and those who have a limit.
 */
people: Array<SpendingLine>, 
/**
 * Documents, the highest sum first, at most 500 and those that have a limit.
 */
documents: Array<SpendingLine>, 
/**
 * Models whose price is not known: their calls are in no sum.
 */
unpriced: Array<UnpricedModel>, };

export type SpendingLine = { 
/**
 * Identifier of the person or document; `null`: calls about no document.
 */
id: string | null, 
/**
 * Name of the person, or title of the document; `null` if it is not known.
 */
name: string | null, 
/**
 * Cost of the calls.
 */
usd: number, 
/**
 * Number of calls.
 */
calls: number, 
/**
 * Number of calls whose price is not known; they are not in `usd`.
 */
unpricedCalls: number, 
/**
 * Tokens sent and received.
 */
tokens: number, 
/**
 * Limit of this person or document; `null`: none of its own.
 */
limitUsd: number | null, };

export type UnpricedModel = { 
/**
 * Name of the model, as its provider has it.
 */
model: string, 
/**
 * Number of calls whose price is not known.
 */
calls: number, 
/**
 * Tokens sent and received.
 */
tokens: number, };

export type WorkInProgress = { 
/**
 * Runs that have not ended, oldest first, at most 500.
 */
runs: Array<UnfinishedRun>, 
/**
 * Number of runs beyond those.
 */
runsLeftOut: number, 
/**
 * Number of requests that wait for people.
 */
openRequests: number, };

export type UnfinishedRun = { 
/**
 * Session that asked.
 */
sessionId: string, 
/**
 * Identifier of the run within its session.
 */
requestId: string, 
/**
 * Person who asked.
 */
by: Person, 
/**
 * Document that it is about; `null`: none.
 */
documentId: string | null, 
/**
 * Title of the document.
 */
title: string | null, 
/**
 * State of the run.
 */
state: WorkState, 
/**
 * Time at which it was asked for, in RFC 3339.
 */
createdAt: string, };

export type StopRun = { 
/**
 * Session of the run.
 */
sessionId: string, 
/**
 * Identifier of the run within its session.
 */
requestId: string, };

export type StoredSizes = { 
/**
 * Number of documents in lists.
 */
documents: number, 
/**
 * Number of documents in the trash.
 */
deletedDocuments: number, 
/**
 * Bytes of all stored texts: versions of documents from which others are computed.
 */
textBytes: number, 
/**
 * Number of updates of all documents.
 */
updates: number, 
/**
 * Bytes of their change sets.
 */
updateBytes: number, 
/**
 * Bytes of the whole database, its free space included.
 */
databaseBytes: number, };

export type NamePerson = { 
/**
 * Identifier of the person: any user that they are or were.
 */
id: string, };

export type DeletePerson = { 
/**
 * Identifier of the person: any user that they are or were.
 */
id: string, 
/**
 * Treatment of the person's private documents; missing: they stay.
 */
privateDocuments?: PrivateDocuments, };

export type PersonPreview = { 
/**
 * Identifier of the person: that of their login, if they have one.
 */
id: string, 
/**
 * Other users that they were, before tokens were tied to their login.
 */
formerIds: Array<string>, 
/**
 * Name that others see.
 */
name: string, 
/**
 * Mail address of the login; `null`: none.
 */
email: string | null, 
/**
 * State of the data.
 */
state: PersonState, 
/**
 * Reason why the person cannot be deleted, in words; `null`: they can.
 */
obstacle: string | null, 
/**
 * Runs that have not ended, which would be stopped.
 */
unfinishedRuns: number, 
/**
 * Requests of the person's conversations that wait for people, most of which would be
 * withdrawn.
 */
waitingRequests: number, 
/**
 * Records that would be deleted.
 */
deleted: DeletedRecords, 
/**
 * Records in which the name would be replaced.
 */
renamed: RenamedRecords, 
/**
 * Records that would stay as they are.
 */
kept: KeptRecords, 
/**
 * Documents that only this person can see.
 */
privateDocuments: Array<PrivateDocument>, };

export type DeletedRecords = { 
/**
 * Logins.
 */
logins: number, 
/**
 * Sessions with their conversations.
 */
conversations: number, 
/**
 * Entries of these conversations: questions, answers, results.
 */
messages: number, 
/**
 * Runs of the agent.
 */
runs: number, 
/**
 * Stored answers to programs.
 */
answers: number, 
/**
 * Spending limits of the person.
 */
limits: number, };

export type RenamedRecords = { 
/**
 * Tokens, which are revoked.
 */
tokens: number, 
/**
 * Requests that name the person.
 */
requests: number, 
/**
 * Decisions of the person.
 */
decisions: number, 
/**
 * Rules that name the person.
 */
rules: number, 
/**
 * Threads of comments that name the person.
 */
threads: number, };

export type KeptRecords = { 
/**
 * Updates of texts, which have the identifier of their author and no name.
 */
updates: number, 
/**
 * Lines of the audit log, with the name where they have one.
 */
auditLines: number, 
/**
 * Sums of spending, which have the identifier of the person and no name.
 */
spending: number, };

export type PrivateDocument = { 
/**
 * Identifier of the document.
 */
id: string, 
/**
 * Title of the document.
 */
title: string, 
/**
 * Number of updates.
 */
version: number, 
/**
 * Time of the last change, in RFC 3339.
 */
updatedAt: string, };

export type PersonDeletion = { 
/**
 * Identifier of the person: that of their login, if they had one.
 */
id: string, 
/**
 * State of the data: `deleting` or `deleted`.
 */
state: PersonState, 
/**
 * Time of the beginning, in RFC 3339.
 */
begunAt: string, 
/**
 * Time of the end, in RFC 3339; `null` while it is under way.
 */
endedAt: string | null, 
/**
 * Records that are deleted, as they were counted at the beginning.
 */
deleted: DeletedRecords, 
/**
 * Records in which the name is replaced.
 */
renamed: RenamedRecords, 
/**
 * Records that stay as they are.
 */
kept: KeptRecords, 
/**
 * Number of private documents that are deleted.
 */
privateDocuments: number, };

export type ListFiles = { 
/**
 * Words that the path contains, in any order and case; missing: all files.
 */
pattern?: string, };

export type FileList = { 
/**
 * Files, with paths relative to the workspace.
 */
files: Array<FileLine>, 
/**
 * `true`: there are more files than listed.
 */
isCut: boolean, };

export type FileLine = { 
/**
 * Path relative to the workspace.
 */
path: string, 
/**
 * Document of the file, if there is one already.
 */
documentId?: string, };

export type FileState = { 
/**
 * Path relative to the workspace.
 */
path: string, 
/**
 * Synchronisation status.
 */
status: FileStatus, 
/**
 * Newest version that is in the file.
 */
version: number, 
/**
 * Reason for a failure, for people.
 */
reason?: string, };

export type DocumentFile = { 
/**
 * Document of the file.
 */
documentId: string, 
/**
 * State of the file.
 */
file: FileState, 
/**
 * Result of merging changes of the file.
 */
merged?: FileMerged, };

export type FileMerged = { 
/**
 * Changes that are not in the text, because people had changed the same words. The people's
 * words stay, and replace the file's.
 */
kept: Array<FileConflict>, };

export type FileConflict = { 
/**
 * Words before both changes.
 */
base: string, 
/**
 * Words in the file.
 */
disk: string, 
/**
 * Words in the document, which stay.
 */
kept: string, };

export type HistoryLine = { 
/**
 * Version that the update made.
 */
version: number, 
/**
 * Person who made it.
 */
author: Person, 
/**
 * Time of the update, in RFC 3339.
 */
at: string, 
/**
 * Request that the update came from; missing: it was typed.
 */
origin?: string, 
/**
 * Kind of the update.
 */
act: HistoryAct, 
/**
 * With `restored`: the version that was restored.
 */
restored?: number, 
/**
 * `true` if the update removed 200 UTF-16 units or more, or inserted a long text: the version
 * before it is worth showing by itself. Missing otherwise.
 */
isLarge?: boolean, };

export type ProvenanceSpan = { 
/**
 * First code unit.
 */
from: number, 
/**
 * Code unit after the last one.
 */
to: number, 
/**
 * Origin of the passage.
 */
kind: SpanKind, 
/**
 * Person who wrote it; with `ai`: the person who asked; with `import`: the person who imported
 * the file; with `beginning`: the person who created the document.
 */
author: Person, 
/**
 * With `import`: the author as the file names them.
 */
claimedAuthor?: string, 
/**
 * With `ai`, `import` and `suggestion`: the request that it came from.
 */
request?: string, 
/**
 * With `ai`, `import` and `suggestion`: the hunk that it came from, if known.
 */
hunk?: string, 
/**
 * With `ai`, `import` and `suggestion`: the person who accepted it; missing: approvals were
 * off.
 */
approver?: Person, 
/**
 * With `approver`: the rule that accepted it in the approver's place. It may have ended since.
 */
rule?: RuleCredit, 
/**
 * `true`: a person replaced the proposed words before they were accepted.
 */
edited?: boolean, 
/**
 * Threads of comments about the change that it came from, oldest first, at most ten.
 */
threads?: Array<string>, 
/**
 * Time at which it came into the text, in RFC 3339; typing is dated to the minute.
 */
at: string, };

export type RuleCredit = { 
/**
 * Identifier of the rule.
 */
id: string, 
/**
 * Person who made it.
 */
by: Person, 
/**
 * Tool that it is about.
 */
tool: string, 
/**
 * Scope and limits of the rule.
 */
remember: Remember, };

export type Difference = { 
/**
 * First code unit in the text of the first version.
 */
from: number, 
/**
 * Code unit after the last one.
 */
to: number, 
/**
 * Words in the first version.
 */
base: string, 
/**
 * Words in the other version.
 */
insert: string, };
