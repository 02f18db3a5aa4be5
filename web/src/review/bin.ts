/** What was refused in a document, ran out of time or was taken back: read page by page, newest first. */
import { create } from 'zustand'
import { wire } from '../session/store.ts'
import { CallError } from '../wire/socket.ts'
import type { ApprovalRequest, RequestStatus } from '../wire/types.ts'
import { isRefused } from './again.ts'
import { isWaiting, type Requests, useReview } from './store.ts'

export type Filter = 'all' | 'rejected' | 'expired' | 'cancelled'

/** How the requests of each filter ended; a partly accepted one holds what was not. */
const STATUSES: Record<Filter, RequestStatus[]> = {
  all: ['rejected', 'partly', 'expired', 'cancelled', 'failed'],
  rejected: ['rejected', 'partly'],
  expired: ['expired'],
  cancelled: ['cancelled', 'failed'],
}

interface Bin {
  documentId: string | null
  filter: Filter
  requests: readonly ApprovalRequest[]
  /** Whether there are older ones. */
  more: boolean
  state: 'loading' | 'ready' | 'failed'
}

export const EMPTY_BIN: Bin = { documentId: null, filter: 'all', requests: [], more: false, state: 'loading' }
export const useBin = create<Bin>()(() => EMPTY_BIN)

/** Reads the newest page. */
export async function loadBin(documentId: string, filter: Filter): Promise<void> {
  useBin.setState((bin) => ({ ...(bin.documentId === documentId && bin.filter === filter ? bin : EMPTY_BIN), documentId, filter, state: 'loading' }))
  await read(documentId, filter)
}

/** Reads the next page. */
export async function loadMore(): Promise<void> {
  const { documentId, filter, requests, state } = useBin.getState()
  const last = requests.at(-1)
  if (documentId === null || !last || state === 'loading') return
  useBin.setState({ state: 'loading' })
  await read(documentId, filter, last.request_id)
}

async function read(documentId: string, filter: Filter, before?: string): Promise<void> {
  const asked = () => useBin.getState().documentId === documentId && useBin.getState().filter === filter
  try {
    const page = await wire.call('approval:list', { documentId, status: STATUSES[filter], ...(before && { before }) })
    // Another filter may have been chosen meanwhile.
    if (asked()) useBin.setState(({ requests }) => ({ requests: before ? [...requests, ...page.requests] : page.requests, more: page.more, state: 'ready' }))
  } catch (error) {
    if (!(error instanceof CallError)) throw error
    if (asked()) useBin.setState({ state: 'failed' })
  }
}

/** What was read, with what has happened since: new ones at the top, those that are open again gone. Pure. */
export function inBin(read: readonly ApprovalRequest[], filter: Filter, live: Requests['requests']): ApprovalRequest[] {
  const fits = (request: ApprovalRequest) => STATUSES[filter].includes(request.status) && (request.hunks.length === 0 || request.hunks.some(isRefused))
  const known = new Set(read.map((request) => request.request_id))
  const oldest = read.at(-1)?.request_id ?? ''
  const fresh = Object.values(live).filter((request) => !known.has(request.request_id) && request.request_id > oldest)
  const all = [...fresh, ...read.map((request) => live[request.request_id] ?? request)]
  return all.filter((request) => !isWaiting(request) && fits(request)).toSorted((a, b) => (a.request_id < b.request_id ? 1 : -1))
}

/** The newest requests that have ended, for the cards of the conversation: who decided, and the way back. */
export async function loadEnded(documentId: string): Promise<void> {
  try {
    const { requests } = await wire.call('approval:list', { documentId, limit: 50 })
    useReview.setState((state) => ({ requests: { ...Object.fromEntries(requests.map((request) => [request.request_id, request])), ...state.requests } }))
  } catch (error) {
    if (!(error instanceof CallError)) throw error
  }
}
