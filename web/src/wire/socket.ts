/** The only place that touches socket.io: typed events in, typed acks out. */
import { io, type Socket } from 'socket.io-client'
import type {
  AddRule,
  AgentEvent,
  ToolApprovalRequest,
  ToolApprovalResolved,
  Trash,
  ToolApprovalResponse,
  ToolApprovalUpdate,
  DecisionResult,
  DeletePerson,
  ChangeSettings,
  ClaudeResponse,
  ClaudeStream,
  Decided,
  Difference,
  DocumentChanged,
  DocumentCreated,
  DocumentFile,
  DocumentLine,
  DocumentRoleLine,
  DocumentRoleList,
  DocumentSettings,
  DocumentUpdates,
  FileList,
  HistoryLine,
  IssuedToken,
  NamedPerson,
  NamePerson,
  PersonDeletion,
  PersonPreview,
  NameToken,
  IssueToken,
  ListRequests,
  MonthSpending,
  Opened,
  PresenceChanges,
  PresencePeers,
  PresenceUpdate,
  ProvenanceSpan,
  ReadSpending,
  ReopenRequest,
  RequestStatus,
  Rule,
  RulesChanged,
  SeenWords,
  SessionEnded,
  SessionRegistered,
  SetSettings,
  SetSpendingLimit,
  SettingsChanged,
  ShareDocument,
  ShortUpdates,
  StopRun,
  StoredSizes,
  TokenList,
  Told,
  UnshareDocument,
  WireError,
  WorkInProgress,
  PermissionMode,
} from './generated.ts'

/** The answer to an event. */
export type Ack<T> = ({ ok: true } & T) | { ok: false; error: WireError }

/** What the server tells us. */
export interface ServerEvents {
  sessionRegistered: SessionRegistered
  sessionEnded: SessionEnded
  'document:updates': DocumentUpdates
  /** The same in short, for the document with this number. */
  updates: ShortUpdates
  'document:changed': DocumentChanged
  'document:created': DocumentCreated
  'settings:changed': SettingsChanged
  'document:file': DocumentFile
  'presence:peers': PresencePeers
  'presence:changes': PresenceChanges
  'presence:update': PresenceUpdate
  tool_approval_request: ToolApprovalRequest
  tool_approval_update: ToolApprovalUpdate
  tool_approval_resolved: ToolApprovalResolved
  'rules:changed': RulesChanged
  claudeStreamStart: ClaudeStream
  claudeStreamChunk: ClaudeStream
  claudeStreamEnd: ClaudeStream
  agent_event: AgentEvent
  claudeResponse: ClaudeResponse
}

/** What we ask, and what the answer holds. */
export interface Calls {
  'document:list': [
    { limit?: number; before?: string },
    { documents: DocumentLine[]; next?: string },
  ]
  'document:create': [
    { title?: string; text?: string },
    { document: { id: string; title: string; version: number } },
  ]
  'document:open': [{ documentId: string; since?: number } | { path: string }, Opened]
  'workspace:files': [{ pattern?: string }, FileList]
  'document:push': [
    { documentId: string; version: number; updates: { clientID: string; changes: unknown }[] },
    { version: number },
  ]
  'document:resync': [{ documentId: string; version: number }, Opened]
  'document:close': [{ documentId: string }, object]
  'document:rename': [{ documentId: string; title: string }, object]
  'document:delete': [{ documentId: string }, object]
  'trash:list': [object, Trash]
  'trash:recover': [{ documentId: string }, object]
  'trash:empty': [{ documentId?: string }, object]
  'document:settings': [ChangeSettings, { settings: DocumentSettings }]
  'document:history': [
    { documentId: string; before?: number; limit?: number },
    { versions: HistoryLine[] },
  ]
  'document:at': [{ documentId: string; version: number }, { text: string }]
  'document:compare': [
    { documentId: string; from: number; to?: number },
    { from: number; to: number; parts: Difference[] },
  ]
  'document:restore': [
    { documentId: string; version: number; onlyAt?: number },
    { version: number },
  ]
  'document:provenance': [
    { documentId: string; from?: number; to?: number },
    { version: number; spans: ProvenanceSpan[] },
  ]
  askClaudeCode: [AskPayload, { requestId: string }]
  run: [
    { prompt: string; continue?: boolean; requestId?: string; permission_mode?: PermissionMode },
    { requestId: string },
  ]
  cancel: [{ requestId: string }, object]
  tool_approval_response: [ToolApprovalResponse, Decided]
  tool_approval_batch: [{ responses: ToolApprovalResponse[] }, { results: DecisionResult[] }]
  list_pending_approvals: [{ documentId?: string }, { requests: ToolApprovalRequest[] }]
  'approval:list': [ListRequests, { requests: ToolApprovalRequest[]; more: boolean }]
  'approval:told': [ToolApprovalResponse, Told]
  'approval:focus': [{ request_id: string; on: boolean }, { status: RequestStatus }]
  'approval:split': [{ request_id: string; hunk_id: string }, Decided]
  'approval:extend': [{ request_id: string }, { status: RequestStatus }]
  'approval:undo': [
    {
      request_id: string
      hunks?: string[]
      force?: boolean
      seen?: SeenWords[]
      votes_only?: boolean
    },
    { status: RequestStatus },
  ]
  'approval:reopen': [
    ReopenRequest,
    { status: RequestStatus; request_id?: string; unplaced?: string[] },
  ]
  'rules:list': [{ documentId?: string }, { rules: Rule[] }]
  'rules:add': [AddRule, { rule: Rule }]
  'rules:revoke': [{ id: string }, object]
  'token:issue': [IssueToken, IssuedToken]
  'token:list': [object, TokenList]
  'document:roles': [{ documentId: string }, DocumentRoleList]
  'document:share': [ShareDocument, DocumentRoleLine]
  'document:unshare': [UnshareDocument, object]
  'token:name': [NameToken, NamedPerson]
  'token:revoke': [{ id: string }, object]
  'spending:get': [ReadSpending, MonthSpending]
  'spending:limit': [SetSpendingLimit, MonthSpending]
  'server:work': [object, WorkInProgress]
  'server:stop': [StopRun, object]
  'server:storage': [object, StoredSizes]
  'person:preview': [NamePerson, PersonPreview]
  'person:delete': [DeletePerson, PersonDeletion]
  'transcript:clear': [{ sessionId: string; documentId?: string }, object]
  'transcript:fork': [
    { sessionId: string; documentId?: string; requestId: string; fromSessionId?: string },
    object,
  ]
  'settings:set': [SetSettings, { settings: SettingsChanged['settings'] }]
  'transcript:get': [
    { sessionId: string; documentId?: string; before?: string },
    { entries: AgentEvent[]; requests?: ToolApprovalRequest[]; before?: string },
  ]
}

export interface AskPayload {
  sessionId: string
  prompt: string
  requestId: string
  permission_mode?: PermissionMode
  context: { documentId: string; selection?: { text: string; start: number; end: number } }
}

/** An event was refused, or nobody answered; `code` is the server's, or `offline` / `timeout`. */
export class CallError extends Error {
  readonly code: string
  readonly details: unknown
  constructor(error: WireError) {
    super(error.message)
    this.code = error.code
    this.details = error.details
  }
}

/** Reads the message of a refused handshake: `CODE: words`. */
export function connectRefusal(message: string): WireError {
  const end = message.indexOf(':')
  return end < 0
    ? { code: '', message }
    : { code: message.slice(0, end), message: message.slice(end + 1).trim() }
}

export type Auth = {
  token?: string
  name?: string
  protocol: 1
  sessionId?: string
  capabilities: string[]
}
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- socket.io's own signature
type Listener = (payload: any) => void

/**
 * How long an answer may take before the call counts as lost; a lost push is sent again and
 * recognised by the server.
 */
const ANSWER_MS = 15_000

export class Wire {
  private readonly socket: Socket

  /** `auth` is asked again at every connect, so that a resumed session is named. */
  constructor(auth: () => Auth, url?: string) {
    const options = {
      auth: (send: (auth: object) => void) => send(auth()),
      autoConnect: false,
      reconnectionDelay: 400,
      reconnectionDelayMax: 5_000,
    }
    this.socket = url === undefined ? io(options) : io(url, options)
  }

  get connected(): boolean {
    return this.socket.connected
  }

  connect(): void {
    this.socket.connect()
  }

  disconnect(): void {
    this.socket.disconnect()
  }

  on<E extends keyof ServerEvents>(
    event: E,
    listener: (payload: ServerEvents[E]) => void,
  ): () => void {
    this.socket.on(event as string, listener as Listener)
    return () => this.socket.off(event as string, listener as Listener)
  }

  onConnect(listener: () => void): () => void {
    this.socket.on('connect', listener)
    return () => this.socket.off('connect', listener)
  }

  /**
   * `byServer` is set when the server ended the connection on purpose: then nobody connects again
   * by themselves.
   */
  onDisconnect(listener: (byServer: boolean) => void): () => void {
    const relay = (reason: string) => listener(reason === 'io server disconnect')
    this.socket.on('disconnect', relay)
    return () => this.socket.off('disconnect', relay)
  }

  /**
   * `refusal` is set when the server answered no, and missing when it could not be reached: then
   * the socket goes on trying.
   */
  onConnectError(listener: (refusal?: WireError) => void): () => void {
    const relay = (error: Error) =>
      listener(this.socket.active ? undefined : connectRefusal(error.message))
    this.socket.on('connect_error', relay)
    return () => this.socket.off('connect_error', relay)
  }

  /** Rejects with a {@link CallError}; never waits for a connection to come back. */
  async call<E extends keyof Calls>(event: E, payload: Calls[E][0]): Promise<Calls[E][1]> {
    if (!this.socket.connected)
      throw new CallError({ code: 'offline', message: 'The server cannot be reached just now.' })
    let answer: Ack<Calls[E][1]>
    try {
      answer = (await this.socket.timeout(ANSWER_MS).emitWithAck(event, payload)) as Ack<
        Calls[E][1]
      >
    } catch {
      throw new CallError({ code: 'timeout', message: 'The server did not answer.' })
    }
    if (!answer.ok) throw new CallError(answer.error)
    return answer
  }

  /** Fire and forget: dropped when the connection is slow. */
  volatile(event: 'presence:update', payload: PresenceUpdatePayload): void {
    if (this.socket.connected) this.socket.volatile.emit(event, payload)
  }
}

export interface PresenceUpdatePayload {
  documentId: string
  version: number
  anchor: number
  head: number
}
