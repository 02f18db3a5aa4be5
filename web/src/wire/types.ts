/** The generated shapes, narrowed where the server's types only say `string` or leave a part open. */
import type * as wire from './generated.ts'

export type {
  AddRule, AgentEvent, Approvals, ClaudeResponse, ClaudeStream, Difference, DocumentCreated, FileConflict, FileLine, FileList, HunkDecided, IssuedToken, ListRequests, PeerCaret, Person, PresenceUpdate, Range, Remember, ReopenRequest, Rule, RulesChanged,
  SeenWords, SessionEnded, SetSettings, SettingsChanged, Told, Update, Warning, WireError,
} from './generated.ts'

type With<T, Narrow> = Omit<T, keyof Narrow> & Narrow

export type FileState = With<wire.FileState, { status: 'saved' | 'missing' | 'failed' }>
export type DocumentFile = With<wire.DocumentFile, { file: FileState }>

export type Ack<T> = ({ ok: true } & T) | { ok: false; error: wire.WireError }
export type Role = 'owner' | 'editor' | 'reviewer' | 'viewer'
export type HunkStatus = 'streaming' | 'pending' | 'conflict' | 'obsolete' | 'accepted' | 'rejected' | 'expired'
export type RequestStatus = 'streaming' | 'pending' | 'approved' | 'rejected' | 'partly' | 'expired' | 'cancelled' | 'failed'

export type Act = 'typed' | 'accepted' | 'taken_back' | 'restored'
export type HistoryLine = With<wire.HistoryLine, { act: Act }>
export type ProvenanceSpan = With<wire.ProvenanceSpan, { kind: 'person' | 'ai' | 'beginning' }>
export type TokenStatus = 'active' | 'expired' | 'revoked'

export type SessionRegistered = With<wire.SessionRegistered, { role: Role }>
export type TokenLine = With<wire.TokenLine, { role: Role; status: TokenStatus }>
export type IssueToken = With<wire.IssueToken, { role: Role }>
export type DocumentLine = With<wire.DocumentLine, { role: Role }>
export type Peer = With<wire.Peer, { role: Role }>
export type PresencePeers = With<wire.PresencePeers, { peers: Peer[] }>

export type Policy = 'any' | 'not_requester' | 'two' | 'owner'
export type ToolPolicy = With<wire.ToolPolicy, { policy: Policy }>
export type DocumentSettings = With<wire.DocumentSettings, { policy: Policy; policies: ToolPolicy[]; approvals: 'on' | 'off' }>
export type ChangeSettings = With<wire.ChangeSettings, { policy?: Policy; policies?: ToolPolicy[]; approvals?: 'on' | 'off' }>
export type DocumentChanged = With<wire.DocumentChanged, { settings?: DocumentSettings }>
export type WholeDocument = With<wire.WholeDocument, { settings: DocumentSettings }>

export type Part = wire.Part
export type Hunk = With<wire.Hunk, { status: HunkStatus }>
export type HunkState = With<wire.HunkState, { status: HunkStatus }>
export type HunkChanges = With<wire.HunkChanges, { put: Hunk[] }>
export type DocumentUpdates = With<wire.DocumentUpdates, { hunks?: HunkChanges }>

/** Why nobody was asked. */
export type Unasked = 'bypass' | 'approvals_off'
export type ApprovalRequest = With<wire.ToolApprovalRequest, { status: RequestStatus; hunks: Hunk[]; unasked: Unasked | null }>
export type ApprovalUpdate = With<wire.ToolApprovalUpdate, { status: RequestStatus; hunks: HunkState[]; fresh?: ApprovalRequest; document_id?: string | null; expires_at?: string | null; by?: wire.Person | null }>
export type ApprovalResolved = With<wire.ToolApprovalResolved, { status: RequestStatus; hunks: HunkState[]; unasked: Unasked | null }>
export type HunkResponse = With<wire.HunkResponse, { decision: 'accept' | 'reject' }>
export type ApprovalResponse = With<wire.ToolApprovalResponse, { hunks?: HunkResponse[] }>
export type Decided = With<wire.Decided, { status: RequestStatus; hunks: HunkState[] }>
export type BatchResult = ({ ok: true; request_id: string } & Decided) | { ok: false; request_id: string | null; error: wire.WireError }
export type Streaming = With<wire.Streaming, { update: ApprovalUpdate; hunks: Hunk[] }>
export type Opened = With<wire.Opened, { document?: WholeDocument; settings?: DocumentSettings; requests: ApprovalRequest[]; streaming: Streaming[]; peers: Peer[]; role: Role; file?: FileState }>
