/** Reasons for a decision that came to nothing, in words for people. Pure. */
import type { CallError } from '../../wire/socket.ts'
import type {
  ToolApprovalRequest,
  HunkStatus,
  Person,
  RequestStatus,
} from '../../wire/generated.ts'
import { clockTime } from '../../ui/timeFormat.ts'

const WORDS: Record<string, string> = {
  already_resolved: 'Someone already reviewed that change.',
  not_found: 'That suggestion is no longer there.',
  expired: 'That suggestion has expired. Propose it again to get it on today’s text.',
  conflicted: 'The text there changed again. Look once more.',
  offline: 'You can review when you’re back online.',
  timeout: 'The server did not answer. Your decision may not have arrived.',
}

/** Of a change whose writer is in the middle of it. */
export const STILL_WRITING = 'This is still being written. Decide it in a moment.'

/** The server's facts about the person who was first. */
interface First {
  status?: RequestStatus
  hunk?: { id: string; status: HunkStatus } | null
  by?: Person | null
  at?: string | null
}

const DID: Partial<Record<RequestStatus | HunkStatus, string>> = {
  accepted: 'accepted',
  approved: 'accepted',
  rejected: 'rejected',
  partly: 'finished',
  cancelled: 'withdrew',
  expired: 'let expire',
}

export function wordsFor({ code, message, details }: CallError): string {
  if (code === 'already_resolved') return tooLate(details) ?? WORDS.already_resolved!
  const { reasonCode } = (details ?? {}) as { reasonCode?: unknown }
  return reasonCode === 'still_writing' ? STILL_WRITING : (WORDS[code] ?? message)
}

/** "Bo accepted that change at 14:02." */
function tooLate(details: unknown): string | undefined {
  if (typeof details !== 'object' || details === null) return undefined
  const { status, hunk, by, at } = details as First
  const did = DID[hunk?.status ?? status ?? 'failed']
  const what = hunk ? 'that change' : 'that suggestion'
  if (hunk?.status === 'obsolete') return 'The words of that change were deleted meanwhile.'
  if (!by || !did) return undefined
  return `${by.name} ${did} ${what}${at ? ` at ${clockTime(at)}` : ''}.`
}

/** The suggestion as it is now, where the answer holds it. */
export function freshRequest(details: unknown): ToolApprovalRequest | undefined {
  const found =
    details && typeof details === 'object' && 'request' in details ? details.request : details
  return found && typeof found === 'object' && 'request_id' in found && 'hunks' in found
    ? (found as ToolApprovalRequest)
    : undefined
}
