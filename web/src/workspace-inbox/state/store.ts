/**
 * Requests that belong to no document: files to write, commands to run. The server sends them to
 * everybody who may decide them.
 */
import { create } from 'zustand'
import {
  applyRequest,
  applyResolved,
  applyUpdate,
  isWaiting,
  NO_REQUESTS,
  type Requests,
} from '../../review/state/requests.ts'
import type { Wire } from '../../wire/socket.ts'
import type { ToolApprovalRequest } from '../../wire/generated.ts'

/** The action on a card beyond looking at it. */
export type CardActivity = 'confirming' | 'noting' | 'rejecting' | 'editing' | 'answering'

/** A file that was changed after a call wrote it, as it stands there now. */
export interface FileNow {
  file_path: string
  exists: boolean
  /** From what the call wrote to what is there. */
  diff_lines: string[]
  /** The document it is open as. */
  document_id: string | null
}

interface InboxState extends Requests {
  open: boolean
  /** By request; it is the same when the desk is closed and opened again. */
  doing: Readonly<Record<string, CardActivity>>
  /** Obstacles to an undo, by request. */
  changed: Readonly<Record<string, FileNow>>
  /** The card to go to as soon as it is there. */
  wanted: string | null
  /** The requests that we approved last. */
  approved: string | null
}
export const useInbox = create<InboxState>()(() => ({
  ...NO_REQUESTS,
  open: false,
  doing: {},
  changed: {},
  wanted: null,
  approved: null,
}))

/** Begins something about a card, or ends it. */
export function updateCard(id: string, what: CardActivity | null): void {
  useInbox.setState(({ doing }) => ({ doing: put(doing, id, what) }))
}

/** An undo stopped at a file that was changed since, or does so no more. */
export function changedAt(id: string, now: FileNow | null): void {
  useInbox.setState(({ changed }) => ({ changed: put(changed, id, now) }))
}

function put<T>(
  all: Readonly<Record<string, T>>,
  id: string,
  what: T | null,
): Readonly<Record<string, T>> {
  const others = Object.fromEntries(Object.entries(all).filter(([other]) => other !== id))
  return what === null ? others : { ...others, [id]: what }
}

/** Splits into requests that wait, oldest first, and those that are over, newest first. */
export function splitByWaiting(requests: Requests['requests']): {
  waiting: ToolApprovalRequest[]
  over: ToolApprovalRequest[]
} {
  const all = Object.values(requests).toSorted((a, b) => a.created_at.localeCompare(b.created_at))
  return {
    waiting: all.filter(isWaiting),
    over: all.filter((request) => !isWaiting(request)).toReversed(),
  }
}

/**
 * Keeps {@link useInbox} true: after every connect the server tells what waits, and later what
 * becomes of it.
 */
export function watchInbox(wire: Wire): void {
  wire.on('sessionRegistered', () =>
    useInbox.setState(({ requests }) => ({
      viewers: {},
      requests: Object.fromEntries(
        Object.entries(requests).filter(([, request]) => !isWaiting(request)),
      ),
    })),
  )
  wire.on('tool_approval_request', (request) => {
    if (request.document_id === null) useInbox.setState((inbox) => applyRequest(inbox, request))
  })
  wire.on('tool_approval_update', (update) => {
    if (update.request_id in useInbox.getState().requests)
      useInbox.setState((inbox) => applyUpdate(inbox, update))
  })
  wire.on('tool_approval_resolved', (done) => {
    if (done.request_id in useInbox.getState().requests)
      useInbox.setState((inbox) => applyResolved(inbox, done))
  })
}
