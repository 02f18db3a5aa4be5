/** The requests that wait for people, and those decided since. Reducers are pure. */
import type {
  ToolApprovalRequest,
  ToolApprovalResolved,
  ToolApprovalUpdate,
  Hunk,
  HunkChanges,
  HunkState,
  Person,
  Streaming,
} from '../../wire/generated.ts'
import { isOpen } from './hunk.ts'

export interface Requests {
  /** By id, open and resolved. */
  requests: Readonly<Record<string, ToolApprovalRequest>>
  /** The people who have a request open just now. */
  viewers: Readonly<Record<string, readonly Person[]>>
  /** Changes that the model is still writing, by the id their request will have. */
  writing: Readonly<Record<string, StreamingProposalState>>
  /** Changes that are not in the text any more. */
  dropped: ReadonlySet<string>
}

/** A change the model is still writing: everybody watches, no one can decide yet. */
export interface StreamingProposalState {
  id: string
  run: string
  tool: string
  text: string
  paragraphs: number
}

export const NO_REQUESTS: Requests = { requests: {}, viewers: {}, writing: {}, dropped: new Set() }

export const isWaiting = (request: ToolApprovalRequest): boolean =>
  request.status === 'pending' || request.status === 'streaming'

export function applyRequest(state: Requests, request: ToolApprovalRequest): Requests {
  return {
    ...state,
    writing: without(state.writing, request.request_id),
    requests: { ...state.requests, [request.request_id]: request },
  }
}

const byId = (requests: readonly ToolApprovalRequest[]): Requests['requests'] =>
  Object.fromEntries(requests.map((request) => [request.request_id, request]))

/** Adds requests as they were read; those that are known are newer. */
export const withOlder = (
  { requests }: Requests,
  read: readonly ToolApprovalRequest[],
): Pick<Requests, 'requests'> => ({ requests: { ...byId(read), ...requests } })

/**
 * The complete lists of an ack: open cards that are not in it are gone, resolved ones stay
 * readable.
 */
export function applySnapshot(
  state: Requests,
  open: readonly ToolApprovalRequest[],
  streaming: readonly Streaming[] = [],
): Requests {
  const resolved = Object.values(state.requests).filter((request) => !isWaiting(request))
  const writing = Object.fromEntries(
    streaming.map(({ update }) => [update.request_id, written(update)]),
  )
  return { viewers: {}, writing, dropped: new Set(), requests: byId([...resolved, ...open]) }
}

export function applyUpdate(state: Requests, update: ToolApprovalUpdate): Requests {
  const known = state.requests[update.request_id]
  const viewers = { ...state.viewers, [update.request_id]: update.focused_by }
  if (!known) {
    const writing = without(state.writing, update.request_id)
    // Anything else than more of it is its end: nothing is left.
    return {
      ...state,
      writing:
        update.status === 'streaming'
          ? { ...writing, [update.request_id]: written(update) }
          : writing,
    }
  }
  if (update.status === 'streaming') return state
  // It would do something else by now: the update holds all of it.
  if (update.fresh)
    return { ...state, viewers, requests: { ...state.requests, [known.request_id]: update.fresh } }
  const {
    status,
    expires_at = null,
    paused,
    preview_hash,
    policies = known.policies,
    approvals,
    report = known.report,
    aftermath = known.aftermath,
  } = update
  const request = {
    ...known,
    ...(aftermath && { aftermath }),
    report,
    status,
    expires_at,
    paused,
    preview_hash,
    policies,
    approvals,
    hunks: withStates(known.hunks, update.hunks).filter(
      // Its writer has put other words in its place.
      ({ id, status }) => !(isOpen(status) && state.dropped.has(id)),
    ),
  }
  return { ...state, viewers, requests: { ...state.requests, [known.request_id]: request } }
}

export function applyResolved(
  state: Requests,
  { request_id, hunks, ...ended }: ToolApprovalResolved,
): Requests {
  const writing = without(state.writing, request_id)
  const known = state.requests[request_id]
  if (!known) return { ...state, writing }
  const request = { ...known, ...ended, hunks: withStates(known.hunks, hunks) }
  return { ...state, writing, requests: { ...state.requests, [request_id]: request } }
}

/**
 * The server's word on single hunks, as it comes with an update of the text. What became of those
 * that went is in the next state of their request.
 */
export function hunksChanged(before: Requests, { drop, put }: HunkChanges): Requests {
  const dropped = new Set([...before.dropped, ...drop])
  // Brought back.
  for (const { id } of put) dropped.delete(id)
  const state = { ...before, dropped }
  return put.reduce((all, hunk) => {
    const known = all.requests[hunk.request_id]
    if (!known) return all
    const hunks = known.hunks.some(({ id }) => id === hunk.id)
      ? known.hunks.map((old) => (old.id === hunk.id ? hunk : old))
      : [...known.hunks, hunk]
    return { ...all, requests: { ...all.requests, [hunk.request_id]: { ...known, hunks } } }
  }, state)
}

function written({
  request_id,
  requestId = '',
  tool_name = '',
  text = '',
  paragraphs = 0,
}: ToolApprovalUpdate): StreamingProposalState {
  return { id: request_id, run: requestId, tool: tool_name, text, paragraphs }
}

function without(writing: Requests['writing'], id: string): Requests['writing'] {
  return Object.fromEntries(Object.entries(writing).filter(([other]) => other !== id))
}

function withStates(hunks: Hunk[], states: readonly HunkState[]): Hunk[] {
  if (states.length === 0) return hunks
  const known = new Map(states.map((state) => [state.id, state]))
  return hunks.map((hunk) => withState(hunk, known.get(hunk.id)))
}

/**
 * Takes over the decision, its reason, the votes and what marks ask for; an open change has no
 * decision.
 */
function withState(hunk: Hunk, state: HunkState | undefined): Hunk {
  if (!state) return hunk
  const { status, by, at, text, rule, feedback, votes, policies, approvals } = state
  const now: Hunk = { ...hunk, status, policies, approvals }
  delete now.decided
  delete now.votes
  if (votes) now.votes = votes
  return by && at ? { ...now, decided: { by, at, text, rule, feedback } } : now
}

/** Still to be decided. */
export const isWaitingHunk = (hunk: Hunk): boolean => isOpen(hunk.status)

export interface Tally {
  accepted: number
  rejected: number
  expired: number
  obsolete: number
  open: number
  total: number
}

export function tally(hunks: readonly Hunk[]): Tally {
  const count = (wanted: (hunk: Hunk) => boolean) => hunks.filter(wanted).length
  return {
    accepted: count((hunk) => hunk.status === 'accepted'),
    rejected: count((hunk) => hunk.status === 'rejected'),
    expired: count((hunk) => hunk.status === 'expired'),
    obsolete: count((hunk) => hunk.status === 'obsolete'),
    open: count((hunk) => isOpen(hunk.status)),
    total: hunks.length,
  }
}
