// Written from src/transport/protocol by `COPYDESK_BLESS=1 cargo test --lib typescript`; do not edit.

export type Handshake = { 
/**
 * The secret of a token; may be missing only under `--no-auth`.
 */
token?: string, 
/**
 * What the person wants to be called, 1 to 80 characters after trimming. Others see the name of the token, and this beside
 * it where it differs: `Mallory (as Ana)`.
 */
name?: string, 
/**
 * The protocol the client speaks; only 1 exists.
 */
protocol?: number, 
/**
 * A session to go on with; it must belong to the same person.
 */
sessionId?: string, };

export type Nothing = Record<symbol, never>;

export type CreateDocument = { 
/**
 * Shown in lists; empty or missing becomes "Untitled".
 */
title?: string, 
/**
 * The text of version 0; line ends are normalised to `\n`.
 */
text?: string, };

export type OpenDocument = { 
/**
 * The document to open.
 */
documentId?: string, 
/**
 * A workspace text file to open as a live document.
 */
path?: string, 
/**
 * The version the client already has; answered by updates while the log reaches it.
 */
since?: number, };

export type PushUpdates = { 
/**
 * The document to change.
 */
documentId: string, 
/**
 * The version the first update was made on.
 */
version: number, 
/**
 * At least one update, each on top of the one before.
 */
updates: Array<PushedUpdate>, };

export type PushedUpdate = { 
/**
 * The editor instance that made the change; claimed by the first person who uses it.
 */
clientID: string, 
/**
 * `ChangeSet.toJSON()` of `@codemirror/state`.
 */
changes: unknown, };

export type Resync = { 
/**
 * The document.
 */
documentId: string, 
/**
 * The version the client has.
 */
version: number, };

export type NameDocument = { 
/**
 * The document.
 */
documentId: string, };

export type RenameDocument = { 
/**
 * The document.
 */
documentId: string, 
/**
 * The new title, 1 to 200 characters after trimming.
 */
title: string, };

export type ChangeSettings = { 
/**
 * The document.
 */
documentId: string, 
/**
 * Who may decide: `any`, `not_requester`, `two` or `owner`.
 */
policy?: string, 
/**
 * Stricter policies for some tools and sizes; replaces those before.
 */
policies?: Array<ToolPolicy>, 
/**
 * `on` (the default): every change waits for a person. `off`: the server applies at once, logged and undoable.
 */
approvals?: string, 
/**
 * Seconds until a request expires; 0 waits for ever.
 */
timeoutSeconds?: number, 
/**
 * Ranges no tool may touch, in positions of `version`.
 */
frozen?: Freeze, };

export type Freeze = { 
/**
 * The version the positions are of.
 */
version: number, 
/**
 * All frozen ranges; replaces those before.
 */
ranges: Array<Range>, };

export type Range = { 
/**
 * First unit.
 */
from: number, 
/**
 * One past the last unit.
 */
to: number, };

export type ReadHistory = { 
/**
 * The document.
 */
documentId: string, 
/**
 * Only versions below this one; missing: from the newest.
 */
before?: number, 
/**
 * At most this many, 1 to 500; 100 if missing.
 */
limit?: number, };

export type ReadVersion = { 
/**
 * The document.
 */
documentId: string, 
/**
 * The version whose text is wanted.
 */
version: number, };

export type ReadProvenance = { 
/**
 * The document.
 */
documentId: string, 
/**
 * First unit of the newest text; missing: its beginning.
 */
from?: number, 
/**
 * One past the last unit; missing: its end.
 */
to?: number, };

export type CompareVersions = { 
/**
 * The document.
 */
documentId: string, 
/**
 * The version that the parts are positions of.
 */
from: number, 
/**
 * The version with which it is compared; missing: the newest.
 */
to?: number, };

export type RestoreVersion = { 
/**
 * The document.
 */
documentId: string, 
/**
 * The version whose text is wanted.
 */
version: number, 
/**
 * Only if this is still the newest version; else the answer is `resync`.
 */
onlyAt?: number, };

export type Caret = { 
/**
 * The version the positions are of.
 */
version: number, 
/**
 * Where the selection began.
 */
anchor: number, 
/**
 * Where the caret stands.
 */
head: number, };

export type MoveCaret = { 
/**
 * The document.
 */
documentId: string, 
/**
 * The version the positions are of.
 */
version: number, 
/**
 * Where the selection began.
 */
anchor: number, 
/**
 * Where the caret stands.
 */
head: number, };

export type AskClaudeCode = { 
/**
 * The session that asks; it must be the person's own.
 */
sessionId: string, 
/**
 * What the person typed.
 */
prompt: string, 
/**
 * The client's own name for this request; made by the server if missing.
 */
requestId?: string, 
/**
 * `sdk`, `bypassPermissions`, `toolApproval` or `mcpProxy`; the server's if missing.
 */
permission_mode?: string, 
/**
 * The model to use; the server's if missing.
 */
model?: string, 
/**
 * `false` forgets the conversation so far.
 */
continue?: boolean, 
/**
 * What the request is about.
 */
context: AskContext, };

export type AskContext = { 
/**
 * The shared document to edit; its text is the server's.
 */
documentId?: string, 
/**
 * Without `documentId`: the text of the session's private document.
 */
documentContent?: string, 
/**
 * What the person has selected.
 */
selection?: AskSelection, 
/**
 * Earlier turns that the server does not have, oldest first.
 */
conversationHistory?: Array<AskHistory>, 
/**
 * Extra instructions for the model.
 */
systemInstructions?: string, };

export type AskSelection = { 
/**
 * The selected words, to recognise a selection that is out of date.
 */
text?: string, 
/**
 * First unit.
 */
start: number, 
/**
 * One past the last unit.
 */
end: number, };

export type AskHistory = { 
/**
 * `user` or `assistant`.
 */
role: string, 
/**
 * What was said.
 */
content: string, };

export type Run = { 
/**
 * What the person typed.
 */
prompt: string, 
/**
 * `true` goes on with the conversation so far; the tool approval protocol starts afresh.
 */
continue?: boolean, 
/**
 * As in `askClaudeCode`.
 */
permission_mode?: string, 
/**
 * `false`: even reading waits for a person.
 */
auto_approve_safe?: boolean, 
/**
 * As in `askClaudeCode`.
 */
requestId?: string, 
/**
 * As in `askClaudeCode`.
 */
model?: string, };

export type ToolApprovalResponse = { 
/**
 * The request to decide.
 */
request_id: string, 
/**
 * Approve or reject, as the tool approval protocol says it.
 */
approved?: boolean, 
/**
 * `approve`, `reject`, `edit` or `respond`; must not contradict `approved`.
 */
decision?: string, 
/**
 * Why it was rejected; told to the model.
 */
feedback?: string, 
/**
 * A remark that goes with an approval; told to the model.
 */
note?: string, 
/**
 * Decisions on single changes; those not named stay open unless `finish` says otherwise.
 */
hunks?: Array<HunkResponse>, 
/**
 * What happens to the changes not named: `accept` or `reject`.
 */
finish?: string, 
/**
 * With `edit`: the input to run instead (same tool). It takes the right to write, and is judged as it will be applied: policies and
 * rules by size and path.
 */
updated_input?: unknown, 
/**
 * With `respond`: the answer given to the model instead of running the tool. Also read as `feedback`.
 */
message?: string, 
/**
 * A rule to remember; only with an approval that rejects nothing.
 */
remember?: Remember, 
/**
 * The preview the person saw; missing: the one first announced.
 */
preview_hash?: string, };

export type HunkResponse = { 
/**
 * The change.
 */
id: string, 
/**
 * `accept` or `reject`.
 */
decision: string, 
/**
 * With `accept`: the text to put there instead of the proposed one. Another than the proposed one takes the right to write, and
 * counts where policies and rules look at sizes.
 */
text?: string, 
/**
 * Accept although the words there were changed meanwhile; needs `seen`.
 */
force?: boolean, 
/**
 * The words that will be overwritten, as the person saw them.
 */
seen?: string, };

export type ToolApprovalBatch = { 
/**
 * Decided one after the other, each on its own.
 */
responses: Array<ToolApprovalResponse>, };

export type ListPendingApprovals = { 
/**
 * Only this document's requests; missing: all the person may see.
 */
documentId?: string, };

export type ListRequests = { 
/**
 * The document; missing or `desk`: those without one that are the person's business.
 */
documentId?: string, 
/**
 * How they ended: `approved`, `rejected`, `partly`, `expired`, `cancelled`, `failed`; missing or empty: however.
 */
status?: Array<string>, 
/**
 * Only those made before this request (the last one of the page before); missing: from the newest.
 */
before?: string, 
/**
 * At most this many, 1 to 100; 20 if missing. A page may hold fewer: `more` says whether there are older ones.
 */
limit?: number, };

export type FocusRequest = { 
/**
 * The request.
 */
request_id: string, 
/**
 * `true` while the person looks at it; repeated every few seconds.
 */
on: boolean, };

export type NameRequest = { 
/**
 * The request.
 */
request_id: string, };

export type UndoRequest = { 
/**
 * The request.
 */
request_id: string, 
/**
 * Only these changes; missing: everything that was accepted.
 */
hunks?: Array<string>, 
/**
 * Undo although the words were touched since; what is overwritten counts where policies look at sizes.
 */
force?: boolean, 
/**
 * What stands there now, as the person saw it: with `force`, nothing else is overwritten.
 */
seen?: Array<SeenWords>, };

export type SeenWords = { 
/**
 * The change.
 */
id: string, 
/**
 * What stands there.
 */
stands: string, };

export type ReopenRequest = { 
/**
 * The request.
 */
request_id: string, 
/**
 * Only these changes; missing: everything that was rejected, ran out of time or lost its words.
 */
hunks?: Array<string>, };

export type Cancel = { 
/**
 * The run to stop.
 */
requestId?: string, 
/**
 * Or every run of this session.
 */
sessionId?: string, };

export type ReadTranscript = { 
/**
 * The session; it must be the person's own.
 */
sessionId: string, 
/**
 * The document the conversation is about; missing: the work without a document.
 */
documentId?: string, 
/**
 * The `before` of an earlier answer, for what was said before that; missing: the newest.
 */
before?: string, };

export type ClearTranscript = { 
/**
 * The session; it must be the person's own.
 */
sessionId: string, 
/**
 * The document the conversation is about; missing: the work without a document.
 */
documentId?: string, };

export type ForkTranscript = { 
/**
 * The session that goes on; it must be the person's own.
 */
sessionId: string, 
/**
 * The document the conversation is about; missing: the work without a document.
 */
documentId?: string, 
/**
 * The run.
 */
requestId: string, 
/**
 * The session that asked for the run, if it is another; about a document it may be anybody's.
 */
fromSessionId?: string, };

export type SetSettings = { 
/**
 * `on` or `off`, for documents that say nothing themselves.
 */
approvals?: string, 
/**
 * The permission mode of runs that name none. `bypassPermissions` and `approvals: on` exclude each other.
 */
permission_mode?: string, 
/**
 * Seconds until a request expires; 0 waits for ever.
 */
timeoutSeconds?: number, };

export type IssueToken = { 
/**
 * `owner`, `editor`, `reviewer` or `viewer`.
 */
role: string, 
/**
 * Who is to hold it: the name others see, 1 to 80 characters.
 */
name: string, 
/**
 * The only document it reaches; missing: all. No owner's token is for one document.
 */
documentId?: string, 
/**
 * How long it lasts: `12h`, `7d`, `4w`, or `never`, which is also what a missing one means.
 */
expiresIn?: string, };

export type RevokeToken = { 
/**
 * The token, as `token:list` names it; never its secret.
 */
id: string, };

export type Remember = { 
/**
 * `session`: as long as the session that asked lives. `document`: whoever asks. Neither reaches into another document.
 * In rules that are told also `workspace`: work without a document, whoever asks.
 */
scope: string, 
/**
 * Only files that match this pattern (`*`, `?`, `[a-z]`, `**` for any folders); not for tools that change a document.
 */
path?: string, 
/**
 * Only requests that delete and insert at most this many UTF-16 units together, at least 1; missing: of every size.
 */
max_units?: number, };

export type Rule = { 
/**
 * The rule.
 */
id: string, 
/**
 * The document it is for; `null`: work without a document.
 */
documentId: string | null, 
/**
 * The tool it is about; `*`: every tool.
 */
tool: string, 
/**
 * What it does: `deny`, `ask` or `allow`. Of all rules that speak of a call the strictest counts, in this order.
 */
effect: string, 
/**
 * With `deny` and `ask`: only calls that change more than this many UTF-16 units; missing: of every size.
 */
over?: number, 
/**
 * What it allows; with `deny` and `ask`, where it holds.
 */
remember: Remember, 
/**
 * The session whose request was approved, or in which an owner made the rule.
 */
sessionId: string, 
/**
 * The request that was approved; `null`: an owner made the rule.
 */
request_id: string | null, 
/**
 * Who made it, and in whose place it decides.
 */
by: Person, 
/**
 * When, RFC 3339.
 */
createdAt: string, };

export type ListRules = { 
/**
 * Only this document's rules; missing: those of every document the person may read, and those for work without a
 * document that the person may revoke.
 */
documentId?: string, };

export type Rules = { 
/**
 * All of them.
 */
rules: Array<Rule>, };

export type AddRule = { 
/**
 * The document; `desk`: work without a document.
 */
documentId: string, 
/**
 * `deny`: the model is told no at once, also where approvals are off. `ask`: people are asked, whatever was allowed.
 * `allow`: approved in the owner's name, but never a command, or what has a warning.
 */
effect: string, 
/**
 * The tool, by the server's own name for it; missing, with `deny` and `ask`: every tool. `Edit` denies and asks about
 * `MultiEdit` too.
 */
tool?: string, 
/**
 * At the desk: only calls that name a file like this (`*`, `?`, `[a-z]`, `**` for any folders), from the top of the
 * workspace. With `deny` and `ask` a name without `/` is meant in every folder, and a folder with all that is in it. Where
 * such a rule denies reading, Glob and Grep leave the file out; where it asks, Grep does. Bash names none: deny it as a tool.
 */
path?: string, 
/**
 * With `allow`: only calls that change at most this many UTF-16 units, at least 1.
 */
max_units?: number, 
/**
 * With `deny` and `ask`: only calls that change more than this many UTF-16 units, or nobody can tell how many.
 */
over?: number, };

export type RuleAdded = { 
/**
 * The rule.
 */
rule: Rule, };

export type RevokeRule = { 
/**
 * The rule.
 */
id: string, };

export type RulesChanged = { 
/**
 * The document.
 */
documentId: string, 
/**
 * The rules now in force, oldest first.
 */
rules: Array<Rule>, };

export type ToolPolicy = { 
/**
 * Only requests of this tool; missing: of every tool.
 */
tool?: string, 
/**
 * Only requests that delete and insert more than this many UTF-16 units together; missing: of every size.
 */
over?: number, 
/**
 * Who may decide those.
 */
policy: string, };

export type WireError = { 
/**
 * Stable, for programs: `invalid_payload`, `not_found`, `not_allowed`, …
 */
code: string, 
/**
 * For people.
 */
message: string, 
/**
 * What helps to go on: a fresh request, the limit that was passed, who was first.
 */
details?: unknown, };

export type SessionRegistered = { 
/**
 * The session, new or resumed.
 */
sessionId: string, 
/**
 * The person behind the token.
 */
user: Person, 
/**
 * `owner`, `editor`, `reviewer` or `viewer`.
 */
role: string, 
/**
 * The protocol the server speaks.
 */
protocol: number, 
/**
 * Names of what this server can do beyond the protocol's core.
 */
capabilities: Array<string>, 
/**
 * The permission mode of this person's runs that name none.
 */
permission_mode: string, 
/**
 * The permission modes that this person's runs may name.
 */
permission_modes: Array<string>, 
/**
 * The models that can be asked, the default first.
 */
models: Array<string>, 
/**
 * The server's settings.
 */
settings: Settings, };

export type Person = { 
/**
 * The principal; the same for all of a person's connections.
 */
id: string, 
/**
 * The name others see: the token's, and beside it what the person said at the handshake, where that differs.
 */
name: string, };

export type Settings = { 
/**
 * `on` or `off`.
 */
approvals: string, 
/**
 * The permission mode of new runs.
 */
permission_mode: string, 
/**
 * Seconds until a request expires; 0 waits for ever.
 */
timeoutSeconds: number, };

export type SettingsChanged = { 
/**
 * All of them.
 */
settings: Settings, };

export type DocumentSettings = { 
/**
 * `any`, `not_requester`, `two` or `owner`.
 */
policy: string, 
/**
 * Stricter policies for some tools and sizes.
 */
policies: Array<ToolPolicy>, 
/**
 * `on` or `off`.
 */
approvals: string, 
/**
 * Seconds until a request expires; 0 waits for ever.
 */
timeoutSeconds: number, 
/**
 * Ranges no tool may touch, in positions of the version they came with.
 */
frozen: Array<Range>, };

export type DocumentLine = { 
/**
 * The document.
 */
id: string, 
/**
 * Its title.
 */
title: string, 
/**
 * Its newest version.
 */
version: number, 
/**
 * When it last changed, RFC 3339.
 */
updatedAt: string, 
/**
 * What the person may do in it.
 */
role: string, 
/**
 * The file of the workspace that it is, if it is one.
 */
path?: string, };

export type CreatedDocument = { 
/**
 * The document.
 */
id: string, 
/**
 * Its title.
 */
title: string, 
/**
 * The version of its first text: 0, or 1 if a request made it.
 */
version: number, };

export type DocumentCreated = { 
/**
 * The document.
 */
document: CreatedDocument, };

export type WholeDocument = { 
/**
 * The document.
 */
id: string, 
/**
 * Its title.
 */
title: string, 
/**
 * The version of `text`.
 */
version: number, 
/**
 * The text, line ends `\n`.
 */
text: string, 
/**
 * SHA-256 of the text's UTF-8 bytes, in hexadecimal.
 */
hash: string, 
/**
 * The settings in force.
 */
settings: DocumentSettings, };

export type Opened = { 
/**
 * The whole document; missing if `updates` bring the client up to date.
 */
document?: WholeDocument, 
/**
 * The version before the first of `updates`.
 */
from?: number, 
/**
 * The newest version, with `updates`.
 */
version?: number, 
/**
 * What the client missed, in order, without a gap.
 */
updates?: Array<Update>, 
/**
 * The title, with `updates`.
 */
title?: string, 
/**
 * The settings in force, with `updates`; the ranges are of `version`.
 */
settings?: DocumentSettings, 
/**
 * A name for a new editor instance, for `collab()`.
 */
clientID: string, 
/**
 * All requests of the document that people can still decide; a card that is not here is gone.
 */
requests: Array<ToolApprovalRequest>, 
/**
 * What the model is writing; a card that is not here is gone.
 */
streaming: Array<Streaming>, 
/**
 * Who is here.
 */
peers: Array<Peer>, 
/**
 * Which of `peers` is this connection.
 */
member: string, 
/**
 * What the person may do in this document.
 */
role: string, 
/**
 * How the document stands with the file of the workspace that it is; missing if it is none.
 */
file?: FileState, };

export type Streaming = { 
/**
 * As it was last told.
 */
update: ToolApprovalUpdate, 
/**
 * What is known of the change so far; positions are of the version of the ack.
 */
hunks: Array<Hunk>, };

export type Update = { 
/**
 * Who made it; `ai:…` for an accepted request.
 */
clientID: string, 
/**
 * `ChangeSet.toJSON()`, as committed.
 */
changes: unknown, 
/**
 * Where it came from, if not from typing: the request's id.
 */
origin?: string, };

export type DocumentUpdates = { 
/**
 * The document.
 */
documentId: string, 
/**
 * The version before the first update.
 */
from: number, 
/**
 * In order, without a gap; may be empty when only hunks change.
 */
updates: Array<Update>, 
/**
 * Changes to pending hunks that belong together with the updates.
 */
hunks?: HunkChanges, };

export type HunkChanges = { 
/**
 * No longer open.
 */
drop: Array<string>, 
/**
 * New, or changed; positions are those after the message's updates.
 */
put: Array<Hunk>, };

export type DocumentChanged = { 
/**
 * The document.
 */
documentId: string, 
/**
 * The new title.
 */
title?: string, 
/**
 * The settings now in force.
 */
settings?: DocumentSettings, 
/**
 * With `settings`: the version their ranges are of.
 */
version?: number, 
/**
 * `true`: the document is gone.
 */
deleted?: boolean, };

export type Peer = { 
/**
 * The connection.
 */
id: string, 
/**
 * The person.
 */
user: string, 
/**
 * The name others see.
 */
name: string, 
/**
 * What the person may do.
 */
role: string, 
/**
 * One of the editor's caret colours, 0 to 3.
 */
color: number, 
/**
 * The editor instances of this connection.
 */
clientIDs: Array<string>, 
/**
 * Where the caret is, in positions of `version`.
 */
caret?: PeerCaret, };

export type PeerCaret = { 
/**
 * The version the positions are of.
 */
version: number, 
/**
 * Where the selection began.
 */
anchor: number, 
/**
 * Where the caret stands.
 */
head: number, };

export type PresencePeers = { 
/**
 * The document.
 */
documentId: string, 
/**
 * Everyone who is here.
 */
peers: Array<Peer>, };

export type PresenceUpdate = { 
/**
 * The document.
 */
documentId: string, 
/**
 * The connection.
 */
id: string, 
/**
 * The version the positions are of.
 */
version: number, 
/**
 * Where the selection began.
 */
anchor: number, 
/**
 * Where the caret stands.
 */
head: number, };

export type Hunk = { 
/**
 * Unique within the document.
 */
id: string, 
/**
 * The request it belongs to.
 */
request_id: string, 
/**
 * What changes, word by word, left to right.
 */
parts: Array<Part>, 
/**
 * `streaming`, `pending`, `conflict`, `obsolete`, `accepted`, `rejected` or `expired`.
 */
status: string, 
/**
 * Why it is in that state.
 */
reason?: string, 
/**
 * What the model says about this change.
 */
explanation?: string, 
/**
 * Who decided it, and when.
 */
decided?: HunkDecided, };

export type Part = { 
/**
 * First UTF-16 unit to replace.
 */
from: number, 
/**
 * One past the last.
 */
to: number, 
/**
 * The words that stand there.
 */
base: string, 
/**
 * The words that will.
 */
insert: string, 
/**
 * `true`: somebody changed these words, or removed the place.
 */
conflict?: boolean, };

export type HunkDecided = { 
/**
 * The person.
 */
by: Person, 
/**
 * When, RFC 3339.
 */
at: string, 
/**
 * The text that was put there instead of the proposed one.
 */
text?: string, 
/**
 * The remembered rule that decided in that person's place.
 */
rule?: string, };

export type ToolApprovalRequest = { 
/**
 * Always `tool_approval_request`, as in the tool approval protocol.
 */
type: string, 
/**
 * The request.
 */
request_id: string, 
/**
 * The tool the model called.
 */
tool_name: string, 
/**
 * Its input.
 */
tool_input: unknown, 
/**
 * The call, as the model named it.
 */
tool_use_id: string, 
/**
 * `diff`, `multi_diff`, `command` or `generic`.
 */
preview_type: string, 
/**
 * Facts about the preview.
 */
preview_data: unknown, 
/**
 * The document's title, or the file.
 */
file_path: string | null, 
/**
 * The text before, as the model knew it.
 */
original_content: string | null, 
/**
 * The text the model proposed.
 */
new_content: string | null, 
/**
 * A unified diff.
 */
diff_lines: Array<string>, 
/**
 * The session that asked.
 */
session_id: string, 
/**
 * The run that asked (`requestId` of `askClaudeCode`).
 */
requestId: string, 
/**
 * The document it would change.
 */
document_id: string | null, 
/**
 * The version the model had read.
 */
base_version: number, 
/**
 * The version the hunks' positions are of.
 */
version: number, 
/**
 * `streaming`, `pending`, `approved`, `rejected`, `partly`, `expired`, `cancelled` or `failed`.
 */
status: string, 
/**
 * What would change.
 */
hunks: Array<Hunk>, 
/**
 * What the model says it does.
 */
explanation: string, 
/**
 * What the person had asked for.
 */
prompt: string, 
/**
 * Who asked.
 */
author: Person, 
/**
 * RFC 3339.
 */
created_at: string, 
/**
 * RFC 3339; `null` waits for ever.
 */
expires_at: string | null, 
/**
 * The countdown stands still because somebody is looking.
 */
paused: boolean, 
/**
 * What to look out for.
 */
warnings: Array<Warning>, 
/**
 * `approve`, `reject`, `edit`, `respond`: what the request can take; `edit` is for people who may write.
 */
allowed_decisions: Array<string>, 
/**
 * Covers everything shown; send it back with the decision.
 */
preview_hash: string, 
/**
 * Who may accept what is open, as it stands now: the strictest of what the document says for it. A decision with a person's own
 * words can take more, a rejection never does.
 */
policy: string, 
/**
 * All that it says, from the mildest; each of them holds.
 */
policies: Array<string>, 
/**
 * How many UTF-16 units it deletes and inserts together: changes of a text as they were proposed, a call as its current preview
 * shows; `null`: nobody can tell.
 */
units: number | null, 
/**
 * How many people said yes, and how many are needed.
 */
approvals: Approvals, 
/**
 * `true`: never approve by a single stray key.
 */
default_to_no: boolean, 
/**
 * The door it came through: `sdk`, `mcpProxy`, `messages_api`, …
 */
source: string, 
/**
 * Who resolved it.
 */
by: Person | null, 
/**
 * The remembered rule that resolved it in that person's place.
 */
rule: string | null, 
/**
 * Why nobody was asked: `bypass` (the run's permission mode) or `approvals_off`; `by` is then who had asked for it.
 */
unasked: string | null, 
/**
 * Why it was rejected.
 */
feedback: string | null, 
/**
 * What the model was told, or would be told were the request finished now.
 */
report: string, 
/**
 * What became of it besides, and what can be done about it; missing: nothing and nothing.
 */
aftermath?: Aftermath, };

export type Aftermath = { 
/**
 * Whether something of it could be undone now (`approval:undo`), by whoever may decide it.
 */
can_undo: boolean, 
/**
 * Whether something of it could be proposed again now (`approval:reopen`).
 */
can_reopen: boolean, 
/**
 * Who took back what the call had done to a file; missing: nobody has.
 */
undone?: Undone, 
/**
 * The request that a person proposed again with this one.
 */
again_of?: string, 
/**
 * The request with which a person has proposed this one again.
 */
again_as?: string, };

export type Undone = { 
/**
 * By whom.
 */
by: Person, 
/**
 * When, RFC 3339.
 */
at: string, 
/**
 * Although the file had been changed since.
 */
forced: boolean, };

export type Warning = { 
/**
 * Stable, for programs.
 */
code: string, 
/**
 * For people.
 */
text: string, };

export type Approvals = { 
/**
 * People who said yes.
 */
have: number, 
/**
 * People needed.
 */
need: number, };

export type ToolApprovalUpdate = { 
/**
 * The request.
 */
request_id: string, 
/**
 * The document it would change.
 */
document_id?: string, 
/**
 * Its status.
 */
status: string, 
/**
 * RFC 3339; `null` waits for ever.
 */
expires_at?: string, 
/**
 * The countdown stands still because somebody is looking.
 */
paused: boolean, 
/**
 * Who has it open.
 */
focused_by: Array<Person>, 
/**
 * The current preview.
 */
preview_hash: string, 
/**
 * Who may decide now, as in the request; missing while there is none.
 */
policies?: Array<string>, 
/**
 * Votes.
 */
approvals: Approvals, 
/**
 * Hunks whose state changed.
 */
hunks: Array<HunkState>, 
/**
 * Who caused the change.
 */
by?: Person, 
/**
 * The text so far, while the model still writes (`status` is `streaming`): there is no request yet, and nothing to decide.
 * Its hunks come with `document:updates`. When nothing comes of it, `status` is `cancelled`, and nothing is left of it.
 */
text?: string, 
/**
 * With `text`: how many of its paragraphs (headings, list items, lines of code) are complete.
 */
paragraphs?: number, 
/**
 * While there is no request: the tool the model is calling.
 */
tool_name?: string, 
/**
 * While there is no request: the call, as the model named it.
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
 * The request anew, when it would do something else than people were shown: a file changed meanwhile.
 */
fresh?: ToolApprovalRequest, 
/**
 * What the model was told, when an approved call that acts is over, or was undone.
 */
report?: string, 
/**
 * As in the request, whenever it has changed although people's decision has not: the call is over, was undone, or was
 * proposed again.
 */
aftermath?: Aftermath, };

export type HunkState = { 
/**
 * The hunk.
 */
id: string, 
/**
 * Its status.
 */
status: string, 
/**
 * Who decided it; missing while nobody has, or nobody did in time.
 */
by?: Person, 
/**
 * When it was decided, RFC 3339.
 */
at?: string, 
/**
 * The text that was put there instead of the proposed one.
 */
text?: string, 
/**
 * The remembered rule that decided in that person's place.
 */
rule?: string, };

export type ToolApprovalResolved = { 
/**
 * The request.
 */
request_id: string, 
/**
 * The document it would have changed.
 */
document_id: string | null, 
/**
 * `approved`, `rejected`, `partly`, `expired`, `cancelled` or `failed`.
 */
status: string, 
/**
 * Who decided last; `null`: nobody, time ran out or the run ended.
 */
by: Person | null, 
/**
 * The remembered rule that decided in that person's place.
 */
rule: string | null, 
/**
 * Why nobody was asked: `bypass` (the run's permission mode) or `approvals_off`; `by` is then who had asked for it.
 */
unasked: string | null, 
/**
 * Why it was rejected.
 */
feedback: string | null, 
/**
 * All hunks, as decided.
 */
hunks: Array<HunkState>, 
/**
 * What the model was told.
 */
report: string, 
/**
 * As in the request.
 */
aftermath?: Aftermath, };

export type Decided = { 
/**
 * The request's status.
 */
status: string, 
/**
 * All its hunks.
 */
hunks: Array<HunkState>, 
/**
 * The current preview.
 */
preview_hash: string, 
/**
 * Votes.
 */
approvals: Approvals, };

export type Told = { 
/**
 * The words.
 */
text: string, 
/**
 * Whether the model is to take it for a failure.
 */
is_error: boolean, };

export type ClaudeStream = { 
/**
 * The session that asked.
 */
sessionId: string, 
/**
 * The run.
 */
requestId: string, 
/**
 * The document, if the run is about one.
 */
documentId?: string, 
/**
 * With `claudeStreamChunk`: more text.
 */
text?: string, };

export type AgentEvent = { 
/**
 * `user`, `assistant`, `result`; `system` with `waiting`: a call waits in the document that its file is.
 */
type: string, 
/**
 * `prompt`, `text`, `text_delta`, `tool_use`, `tool_result`, `success`, `error`, …
 */
subtype: string, 
/**
 * What the tool approval protocol puts there. With a `result`, if tokens were counted, also `model`, `usage` (tokens, as in the Messages
 * API) and, where the price is known, `cost_usd`; `notice` if people should know something about the answer.
 */
content: Record<string, unknown>, 
/**
 * The session that asked.
 */
sessionId: string, 
/**
 * The run.
 */
requestId: string, 
/**
 * The document, if the run is about one.
 */
documentId?: string, 
/**
 * When, RFC 3339.
 */
at: string, };

export type ClaudeResponse = { 
/**
 * The session that asked.
 */
sessionId: string, 
/**
 * The run.
 */
requestId: string, 
/**
 * What the model said.
 */
conversationMessage: string, 
/**
 * `none`, `full` or `partial`.
 */
updateType: string, 
/**
 * `full`: the resulting document. `partial`: what now stands in the original range.
 */
documentUpdate?: string, 
/**
 * With `partial`: the original range.
 */
selectionRange?: SelectionRange, 
/**
 * The document's version afterwards.
 */
documentVersion?: number, 
/**
 * Every document change of the run, in order.
 */
updates?: Array<ResponseUpdate>, 
/**
 * RFC 3339.
 */
timestamp: string, 
/**
 * Why there is no answer.
 */
error?: WireError, };

export type ResponseUpdate = { 
/**
 * `full` or `partial`.
 */
updateType: string, 
/**
 * The request people decided.
 */
request_id: string, 
/**
 * What they decided.
 */
status: string, 
/**
 * The document's version afterwards.
 */
documentVersion: number, };

export type SelectionRange = { 
/**
 * First unit.
 */
start: number, 
/**
 * One past the last unit.
 */
end: number, };

export type IssuedToken = { 
/**
 * The secret.
 */
token: string, 
/**
 * Its name, for revoking it.
 */
id: string, 
/**
 * A link that brings its holder in.
 */
url: string, 
/**
 * RFC 3339; `null`: never.
 */
expiresAt: string | null, };

export type TokenLine = { 
/**
 * Its name, for revoking it.
 */
id: string, 
/**
 * The person it stands for.
 */
user: string, 
/**
 * Their name.
 */
name: string, 
/**
 * What it allows.
 */
role: string, 
/**
 * The only document it reaches; `null`: all.
 */
documentId: string | null, 
/**
 * `active`, `expired` or `revoked`.
 */
status: string, 
/**
 * RFC 3339.
 */
createdAt: string, 
/**
 * RFC 3339; `null`: never.
 */
expiresAt: string | null, 
/**
 * RFC 3339, to the minute; `null`: nobody has come in with it yet.
 */
lastUsedAt: string | null, 
/**
 * RFC 3339; `null`: it was not.
 */
revokedAt: string | null, 
/**
 * The one that the asking connection came in with.
 */
current: boolean, };

export type TokenList = { 
/**
 * One line for each.
 */
tokens: Array<TokenLine>, };

export type SessionEnded = { 
/**
 * `token_revoked` or `token_expired`.
 */
code: string, 
/**
 * For people.
 */
message: string, 
/**
 * When the token ended, RFC 3339.
 */
at: string, };

export type ListFiles = { 
/**
 * Words that the path contains, in any order, whatever the case; all files without it.
 */
pattern?: string, };

export type FileList = { 
/**
 * From the workspace's top.
 */
files: Array<FileLine>, 
/**
 * There are more than are told.
 */
isCut: boolean, };

export type FileLine = { 
/**
 * From the workspace's top.
 */
path: string, 
/**
 * The document that it is already.
 */
documentId?: string, };

export type FileState = { 
/**
 * From the workspace's top.
 */
path: string, 
/**
 * `saved`: the file has the text of `version`; `missing`: it is gone, and made again when somebody writes; `failed`:
 * it cannot be read or written.
 */
status: string, 
/**
 * The newest version that the file has.
 */
version: number, 
/**
 * Why it failed, for people.
 */
reason?: string, };

export type DocumentFile = { 
/**
 * The document.
 */
documentId: string, 
/**
 * How both stand now.
 */
file: FileState, 
/**
 * Somebody changed the file, and this came of it.
 */
merged?: FileMerged, };

export type FileMerged = { 
/**
 * Those that are not, because people had changed the same words: theirs stay, and replace the file's.
 */
kept: Array<FileConflict>, };

export type FileConflict = { 
/**
 * What both had read.
 */
base: string, 
/**
 * What stood in the file.
 */
disk: string, 
/**
 * What people wrote, and what stays.
 */
kept: string, };

export type HistoryLine = { 
/**
 * The version this update made.
 */
version: number, 
/**
 * Who made it.
 */
author: Person, 
/**
 * When, RFC 3339.
 */
at: string, 
/**
 * The request it came from, if not from typing.
 */
origin?: string, 
/**
 * `typed`, `accepted` (changes of a request), `taken_back` (changes that had been accepted) or `restored`.
 */
act: string, 
/**
 * With `restored`: the version whose text it is again.
 */
restored?: number, };

export type ProvenanceSpan = { 
/**
 * First unit.
 */
from: number, 
/**
 * One past the last.
 */
to: number, 
/**
 * `person`, `ai`, or `beginning`: the document was created with it.
 */
kind: string, 
/**
 * Who wrote it; `ai`: for whom; `beginning`: who created the document.
 */
author: Person, 
/**
 * With `ai`: the request it came from.
 */
request?: string, 
/**
 * With `ai`: which of its changes, if that is known.
 */
hunk?: string, 
/**
 * With `ai`: who let it in; missing where approvals are off.
 */
approver?: Person, 
/**
 * With `approver`: the rule that let it in, in the approver's place. It may have ended since.
 */
rule?: RuleCredit, 
/**
 * `true`: a person put other words in place of the proposed ones before they went in.
 */
edited?: boolean, 
/**
 * When it came into the text, RFC 3339; typing is dated to the minute.
 */
at: string, };

export type RuleCredit = { 
/**
 * The rule.
 */
id: string, 
/**
 * Who made it.
 */
by: Person, 
/**
 * The tool it is about.
 */
tool: string, 
/**
 * What it allows.
 */
remember: Remember, };

export type Difference = { 
/**
 * First unit in the text of the first version.
 */
from: number, 
/**
 * One past the last.
 */
to: number, 
/**
 * The words that stood there.
 */
base: string, 
/**
 * The words that stand there in the other version.
 */
insert: string, };
