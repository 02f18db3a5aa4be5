/** Which suggestions can be decided together. Pure. */
import type { ToolApprovalRequest, Hunk } from '../../wire/generated.ts'
import { isWaiting, type Requests, tally } from './requests.ts'
import { mayDecide, neededFor, type Reviewer } from './permissions.ts'

export interface Batch {
  waiting: readonly ToolApprovalRequest[]
  /** Requests with something that can be accepted now, and those changes. */
  acceptable: readonly ToolApprovalRequest[]
  ready: readonly Hunk[]
  /** Number of open changes. */
  open: number
}

/** `null`: there are not several. */
export function batchOf(
  requests: Requests['requests'],
  hunks: readonly Hunk[],
  reviewer: Reviewer,
): Batch | null {
  const waiting = Object.values(requests).filter(
    (request) =>
      isWaiting(request) && tally(request.hunks).open > 0 && mayDecide(request, reviewer),
  )
  if (waiting.length < 2) return null
  const ready = hunks.filter((hunk) => {
    const request = waiting.find(({ request_id }) => request_id === hunk.request_id)
    return hunk.status === 'pending' && request && mayDecide(neededFor(request, hunk), reviewer)
  })
  const acceptable = waiting.filter((request) =>
    ready.some((hunk) => hunk.request_id === request.request_id),
  )
  return {
    waiting,
    acceptable,
    ready,
    open: waiting.reduce((sum, request) => sum + tally(request.hunks).open, 0),
  }
}
