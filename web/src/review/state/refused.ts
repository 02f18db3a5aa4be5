/** Requests that were not accepted, and their changes. Pure. */
import type { Hunk, RequestStatus, ToolApprovalRequest } from '../../wire/generated.ts'
import { isWaiting, type Requests } from './requests.ts'

/** Returns whether a change can be proposed again. */
export const isRefused = ({ status }: Hunk): boolean =>
  status === 'rejected' || status === 'expired' || status === 'obsolete'

export type Filter = 'all' | 'approved' | 'rejected' | 'expired' | 'cancelled'

export type Statuses = Readonly<Record<Filter, readonly RequestStatus[]>>

/** Statuses of the requests of each filter; a partly accepted one holds what was not. */
export const STATUSES: Statuses = {
  all: ['rejected', 'partly', 'expired', 'cancelled', 'failed'],
  approved: ['approved'],
  rejected: ['rejected', 'partly'],
  expired: ['expired'],
  cancelled: ['cancelled', 'failed'],
}

/** Of a request that is still reviewed, what was refused so far. */
const refusedOnly = (request: ToolApprovalRequest): ToolApprovalRequest =>
  isWaiting(request) ? { ...request, hunks: request.hunks.filter(isRefused) } : request

/**
 * Returns the requests of a bin: those that were read, new ones at the top, without those that are
 * open again. Pure.
 */
export function inBin(
  read: readonly ToolApprovalRequest[],
  filter: Filter,
  live: Requests['requests'],
  statuses: Statuses = STATUSES,
): ToolApprovalRequest[] {
  const fits = (request: ToolApprovalRequest) =>
    isWaiting(request)
      ? statuses[filter].includes('partly') && request.hunks.some(isRefused)
      : statuses[filter].includes(request.status) &&
        (request.hunks.length === 0 || request.hunks.some(isRefused))
  const known = new Set(read.map((request) => request.request_id))
  const oldest = read.at(-1)?.request_id ?? ''
  const fresh = Object.values(live).filter(
    (request) =>
      !known.has(request.request_id) && (isWaiting(request) || request.request_id > oldest),
  )
  const all = [...fresh, ...read.map((request) => live[request.request_id] ?? request)]
  return all
    .filter(fits)
    .map(refusedOnly)
    .toSorted((a, b) => (a.request_id < b.request_id ? 1 : -1))
}
