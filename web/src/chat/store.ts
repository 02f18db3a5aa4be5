/**
 * The conversation about the open document: what was asked, answered, called and decided. Reducers
 * are pure.
 */
import { create } from 'zustand'
import type {
  AgentEvent,
  ToolApprovalRequest,
  ClaudeResponse,
  ClaudeStream,
} from '../wire/generated.ts'
import { toolEffect } from '../wire/tools.ts'

interface ToolEntry {
  kind: 'tool'
  id: string
  name: string
  result: string | null
  failed: boolean
  /** The document where it waits, if that is another one. */
  waits?: string
}

export type Entry = { kind: 'text'; text: string; open: boolean } | ToolEntry

export type RunStatus =
  'running' | 'success' | 'error' | 'cancelled' | 'max_tokens' | 'refusal' | 'limit'

export interface ConversationRun {
  id: string
  sessionId: string
  prompt: string
  author: string
  /** The person whose own changes these are; else they are the AI's. */
  claimedBy?: string
  at: string
  /**
   * Questions of one person about one document are worked on one after the other: whether this
   * one's turn has come.
   */
  begun: boolean
  status: RunStatus
  problem: string | null
  entries: readonly Entry[]
  /** Tokens that it used; null while it runs, and for models that count no tokens. */
  spent: Spent | null
  /** A notice for people about the answer, such as that only a part of the document was read. */
  notice?: string
}

/** Tokens of a run, and what they cost in US dollars where that is known. */
export interface Spent {
  model: string
  input: number
  cached: number
  output: number
  dollars: number | null
}

/**
 * A conversation of one person that began anew, or goes on from an earlier run of theirs or of
 * others.
 */
export interface ConversationStart {
  id: string
  sessionId: string
  name: string
  at: string
  from: string | null
}

export interface Chat {
  runs: readonly ConversationRun[]
  starts: readonly ConversationStart[]
  /** The position of earlier entries of the conversation; null: all of it is here. */
  before?: string | null
}
export const NO_CHAT: Chat = { runs: [], starts: [], before: null }
export const useChat = create<Chat>()(() => NO_CHAT)

const fresh = (id: string, sessionId: string, at: string): ConversationRun => ({
  id,
  sessionId,
  prompt: '',
  author: '',
  at,
  begun: false,
  status: 'running',
  problem: null,
  entries: [],
  spent: null,
})

/** Puts earlier entries before the known ones: a run may be cut in two. */
export function joined(earlier: Chat, known: Chat): Chat {
  const whole = (run: ConversationRun): ConversationRun => {
    const rest = known.runs.find((other) => other.id === run.id)
    return rest
      ? {
          ...rest,
          prompt: rest.prompt || run.prompt,
          author: rest.author || run.author,
          at: run.at,
          entries: [...run.entries, ...rest.entries],
        }
      : run
  }
  const here = new Set(earlier.runs.map((run) => run.id))
  const starts = earlier.starts.filter((start) => !known.starts.some(({ id }) => id === start.id))
  return {
    runs: [...earlier.runs.map(whole), ...known.runs.filter((run) => !here.has(run.id))],
    starts: [...starts, ...known.starts],
    before: earlier.before ?? null,
  }
}

/** Our own question, shown before the server has answered. */
export function asked(
  chat: Chat,
  run: Pick<ConversationRun, 'id' | 'sessionId' | 'prompt' | 'author' | 'at'>,
): Chat {
  return change(chat, run.id, run.sessionId, run.at, (old) => ({ ...old, ...run }))
}

/** The model begins anew: what it streamed and did not finish is void. */
export function began(chat: Chat, { requestId, sessionId }: ClaudeStream, at: string): Chat {
  return change(chat, requestId, sessionId, at, (run) => ({
    ...run,
    begun: true,
    entries: run.entries.filter((entry) => entry.kind === 'tool' || !entry.open),
  }))
}

export function streamed(
  chat: Chat,
  { requestId, sessionId, text = '' }: ClaudeStream,
  at: string,
): Chat {
  return change(chat, requestId, sessionId, at, (run) => {
    const last = run.entries.at(-1)
    if (last?.kind === 'text' && last.open)
      return { ...run, entries: [...run.entries.slice(0, -1), { ...last, text: last.text + text }] }
    return { ...run, entries: [...run.entries, { kind: 'text', text, open: true }] }
  })
}

/** The agent event objects of the tool approval protocol, live or from the stored transcript. */
export function applyAgentEvent(chat: Chat, event: AgentEvent): Chat {
  if (event.type === 'user' && event.subtype === 'clear') return turned(chat, event)
  return change(chat, event.requestId, event.sessionId, event.at, (run) => ({
    ...step(run, event),
    begun: true,
  }))
}

function turned(chat: Chat, { requestId: id, sessionId, at, content }: AgentEvent): Chat {
  if (chat.starts.some((start) => start.id === id)) return chat
  return {
    ...chat,
    starts: [
      ...chat.starts,
      { id, sessionId, at, name: words(content, 'name'), from: words(content, 'from') || null },
    ],
  }
}

function step(run: ConversationRun, { type, subtype, content, at }: AgentEvent): ConversationRun {
  switch (`${type}/${subtype}`) {
    case 'user/prompt':
      return {
        ...run,
        prompt: words(content, 'text') || words(content, 'prompt') || run.prompt,
        author: nameIn(content) || run.author,
        at,
      }
    case 'assistant/text':
      return { ...run, entries: closeText(run.entries, words(content, 'text')) }
    case 'assistant/tool_use': {
      const id = words(content, 'id')
      if (run.entries.some((entry) => entry.kind === 'tool' && entry.id === id)) return run
      const said = spoken(content)
      if (said) return { ...run, entries: closeText(run.entries, said) }
      return { ...run, entries: [...run.entries, called(id, words(content, 'name'))] }
    }
    case 'system/waiting':
      return changeTool(run, words(content, 'tool_use_id'), (tool) =>
        tool.result === null ? { ...tool, waits: words(content, 'title') } : tool,
      )
    case 'user/tool_result':
      return changeTool(run, words(content, 'tool_use_id'), (tool) => ({
        ...tool,
        result: words(content, 'content'),
        failed: content.is_error === true,
      }))
    default:
      return type === 'result'
        ? {
            ...finish(
              run,
              subtype as RunStatus,
              words(content, 'error') || words(content, 'message') || words(content, 'text'),
            ),
            spent: spentIn(content),
            ...(words(content, 'notice') && { notice: words(content, 'notice') }),
          }
        : run
  }
}

const called = (id: string, name: string): ToolEntry => ({
  kind: 'tool',
  id,
  name,
  result: null,
  failed: false,
})

const changeTool = (
  run: ConversationRun,
  id: string,
  make: (tool: ToolEntry) => ToolEntry,
): ConversationRun => ({
  ...run,
  entries: run.entries.map((entry) =>
    entry.kind === 'tool' && entry.id === id ? make(entry) : entry,
  ),
})

/** The response that a tool gives the person is an answer like any other. */
function spoken({ name, input }: Record<string, unknown>): string {
  if (typeof name !== 'string' || toolEffect(name) !== 'safe') return ''
  return words((input ?? {}) as Record<string, unknown>, 'response')
}

/** The finished block replaces what was streamed of it. */
function closeText(entries: readonly Entry[], text: string): readonly Entry[] {
  const last = entries.at(-1)
  const block: Entry = { kind: 'text', text, open: false }
  return last?.kind === 'text' && last.open ? [...entries.slice(0, -1), block] : [...entries, block]
}

function finish(run: ConversationRun, status: RunStatus, problem: string): ConversationRun {
  const entries = run.entries.map((entry) =>
    entry.kind === 'text' ? { ...entry, open: false } : entry,
  )
  return {
    ...run,
    status,
    entries,
    problem: status === 'success' || status === 'cancelled' ? null : problem || null,
  }
}

/** The run is over, whatever else was missed. */
export function answered(
  chat: Chat,
  { requestId, sessionId, conversationMessage, error, timestamp }: ClaudeResponse,
): Chat {
  return change(chat, requestId, sessionId, timestamp, (run) => {
    const silent = !run.entries.some((entry) => entry.kind === 'text')
    const entries: readonly Entry[] =
      silent && conversationMessage
        ? [...run.entries, { kind: 'text', text: conversationMessage, open: false }]
        : run.entries
    const status =
      run.status !== 'running'
        ? run.status
        : error
          ? error.code === 'cancelled'
            ? 'cancelled'
            : 'error'
          : 'success'
    return finish({ ...run, entries }, status, run.problem ?? error?.message ?? '')
  })
}

/** Our question did not get through. */
export function failed(chat: Chat, id: string, problem: string): Chat {
  return {
    ...chat,
    runs: chat.runs.map((run) => (run.id === id ? { ...run, status: 'error', problem } : run)),
  }
}

/** Returns the words for a person whose own changes a request holds; `undefined`: the AI's. */
const suggestedBy = ({ claimedAuthor, source, author }: ToolApprovalRequest): string | undefined =>
  claimedAuthor
    ? `${claimedAuthor.name} in Word`
    : source === 'person'
      ? `${author.name} suggests`
      : undefined

/** A request tells who asked for what, also when the beginning was missed. */
export function requested(chat: Chat, request: ToolApprovalRequest): Chat {
  return change(chat, request.requestId, request.session_id, request.created_at, (run) => {
    const known = run.entries.some(
      (entry) => entry.kind === 'tool' && entry.id === request.tool_use_id,
    )
    const tool = called(request.tool_use_id, request.tool_name)
    return {
      ...run,
      prompt: run.prompt || request.prompt,
      author: run.author || request.author.name,
      // Nothing runs: a person made these changes elsewhere.
      ...(suggestedBy(request) && {
        claimedBy: suggestedBy(request)!,
        status: 'success' as const,
      }),
      entries: known ? run.entries : [...run.entries, tool],
    }
  })
}

/** The question of the same person that has to be done with before this one's turn comes. */
export function runAhead(chat: Chat, run: ConversationRun): ConversationRun | undefined {
  if (run.begun || run.status !== 'running') return undefined
  const earlier = chat.runs.filter(
    (other) =>
      other.id !== run.id &&
      other.sessionId === run.sessionId &&
      other.status === 'running' &&
      other.at <= run.at,
  )
  return earlier.find((other) => other.begun) ?? earlier[0]
}

/** The run from which this session's next question goes on; none after a new beginning. */
export function goesOnFrom({ runs, starts }: Chat, sessionId: string | undefined): string | null {
  const start = starts.findLast((other) => other.sessionId === sessionId)
  const run = runs.findLast(
    (other) => other.sessionId === sessionId && (start === undefined || other.at > start.at),
  )
  return run?.id ?? start?.from ?? null
}

/** Returns whether the AI would go by anything that was said in this session's conversation. */
export function remembers(chat: Chat, sessionId: string | undefined): boolean {
  return goesOnFrom(chat, sessionId) !== null
}

/** A run of ours that is at work, not one that waits for people. */
export function working(
  chat: Chat,
  sessionId: string | undefined,
  waiting: ReadonlySet<string>,
): ConversationRun | undefined {
  return chat.runs.find(
    (run) => run.status === 'running' && run.sessionId === sessionId && !waiting.has(run.id),
  )
}

function change(
  chat: Chat,
  id: string,
  sessionId: string,
  at: string,
  make: (run: ConversationRun) => ConversationRun,
): Chat {
  if (!chat.runs.some((run) => run.id === id))
    return { ...chat, runs: [...chat.runs, make(fresh(id, sessionId, at))] }
  return { ...chat, runs: chat.runs.map((run) => (run.id === id ? make(run) : run)) }
}

function words(content: Record<string, unknown>, field: string): string {
  const value = content[field]
  return typeof value === 'string' ? value : ''
}

function spentIn({ model, usage, cost_usd: cost }: Record<string, unknown>): Spent | null {
  if (!usage || typeof usage !== 'object') return null
  const count = (name: string) => {
    const value = (usage as Record<string, unknown>)[name]
    return typeof value === 'number' ? value : 0
  }
  const cached = count('cache_read_input_tokens')
  const input = count('input_tokens') + count('cache_creation_input_tokens') + cached
  return {
    model: typeof model === 'string' ? model : '',
    input,
    cached,
    output: count('output_tokens'),
    dollars: typeof cost === 'number' ? cost : null,
  }
}

function nameIn(content: Record<string, unknown>): string {
  const by = content.by ?? content.author
  if (by && typeof by === 'object' && 'name' in by && typeof by.name === 'string') return by.name
  return words(content, 'name')
}
