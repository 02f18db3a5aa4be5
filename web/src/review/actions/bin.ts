/** Ended requests, of a document or of the desk: read page by page, newest first. */
import { create, type StoreApi, type UseBoundStore } from 'zustand'
import { useOpenDocument } from '../../document/useOpenDocument.ts'
import { attempt } from '../../session/attempt.ts'
import { wire } from '../../session/store.ts'
import type { ToolApprovalRequest } from '../../wire/generated.ts'
import { withOlder } from '../state/requests.ts'
import { useRequests } from '../stores/requests.ts'
import { type Filter, type Statuses, STATUSES } from '../state/refused.ts'

interface Pages {
  /** The document, or the desk. */
  documentId: string | null
  filter: Filter
  requests: readonly ToolApprovalRequest[]
  /** True if there are older ones. */
  more: boolean
  state: 'loading' | 'ready' | 'failed'
}

export const EMPTY_BIN: Pages = {
  documentId: null,
  filter: 'all',
  requests: [],
  more: false,
  state: 'loading',
}
const pages = (): UseBoundStore<StoreApi<Pages>> => create<Pages>()(() => EMPTY_BIN)

/** A bin: what of it was read, and what belongs into it. */
export interface BinPlace {
  use: UseBoundStore<StoreApi<Pages>>
  statuses: Statuses
  /** Requests on a page; missing: as many as the server likes. */
  limit?: number
  /** Called with each page that was read, before it is shown. */
  keep?: (requests: readonly ToolApprovalRequest[]) => void
}

/** That of the open document: what was not accepted. */
export const ofDocument: BinPlace = { use: pages(), statuses: STATUSES }
export const useBin = ofDocument.use

/** The name of the desk where a document is named. */
export const WORKSPACE_INBOX = 'desk'

/**
 * That of the desk: whatever has ended, for what was approved has no text in which it could be
 * found again.
 */
export function inboxBin(keep: NonNullable<BinPlace['keep']>): BinPlace {
  // They hold whole files.
  return {
    use: pages(),
    statuses: { ...STATUSES, all: [...STATUSES.all, ...STATUSES.approved] },
    limit: 10,
    keep,
  }
}

/** Reads the newest page. */
export async function loadBin(documentId: string, filter: Filter, bin = ofDocument): Promise<void> {
  bin.use.setState((was) => ({
    ...(was.documentId === documentId && was.filter === filter ? was : EMPTY_BIN),
    documentId,
    filter,
    state: 'loading',
  }))
  await read(bin, documentId, filter)
}

/** Reads the next page. */
export async function loadMore(bin = ofDocument): Promise<void> {
  const { documentId, filter, requests, state } = bin.use.getState()
  const last = requests.at(-1)
  if (documentId === null || !last || state === 'loading') return
  bin.use.setState({ state: 'loading' })
  await read(bin, documentId, filter, last.request_id)
}

async function read(
  { use, statuses, limit, keep }: BinPlace,
  documentId: string,
  filter: Filter,
  before?: string,
): Promise<void> {
  const asked = () => use.getState().documentId === documentId && use.getState().filter === filter
  const answer = wire.call('approval:list', {
    documentId,
    status: [...statuses[filter]],
    ...(limit && { limit }),
    ...(before && { before }),
  })
  const page = await attempt(answer, ({ code }) => {
    // A person who may not read it has nothing in it.
    if (asked()) use.setState({ state: code === 'not_allowed' ? 'ready' : 'failed' })
  })
  if (page) keep?.(page.requests)
  // Another filter may have been chosen meanwhile.
  if (page && asked())
    use.setState(({ requests }) => ({
      requests: before ? [...requests, ...page.requests] : page.requests,
      more: page.more,
      state: 'ready',
    }))
}

/**
 * The newest requests that have ended, for the cards of the conversation: who decided, and the way
 * back.
 */
export async function loadEnded(documentId: string): Promise<void> {
  const answer = wire.call('approval:list', { documentId, limit: 50 })
  const page = await attempt(answer, () => undefined)
  // Another document may have been opened meanwhile.
  if (page && useOpenDocument.getState().id === documentId)
    useRequests.setState((state) => withOlder(state, page.requests))
}
