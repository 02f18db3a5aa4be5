/** Who approved changes that wait for more people: as the server says, in every window. */
import { useSession } from '../../session/store.ts'
import type { Hunk, HunkVote, ToolApprovalRequest } from '../../wire/generated.ts'
import { isWaitingHunk, useReview } from './store.ts'

/**
 * The votes that count as the change stands: words that somebody changed since were approved by
 * nobody, until they are back. Pure.
 */
export function countedVotes(
  { status, votes = [] }: Pick<Hunk, 'status' | 'votes'>,
  stands?: string,
): readonly HunkVote[] {
  if (status !== 'conflict') return votes.filter(({ seen }) => seen === undefined)
  return votes.filter(({ seen }) => seen !== undefined && (stands === undefined || seen === stands))
}

/** The votes for a change on the screen; of a conflict, with the words that stand there. */
export function votesFor({ id, request_id, status }: Hunk, stands?: string): readonly HunkVote[] {
  const known = useReview.getState().requests[request_id]?.hunks.find((hunk) => hunk.id === id)
  return countedVotes({ status, ...(known?.votes && { votes: known.votes }) }, stands)
}

/** Whether we have approved it, and it waits for others. */
export function hasVoted(hunk: Hunk): boolean {
  const me = useSession.getState().me?.user.id
  return votesFor(hunk).some(({ user }) => user === me)
}

/** How many open changes somebody has approved, and how many are open. Pure. */
export function votedOf(requests: readonly Pick<ToolApprovalRequest, 'hunks'>[]): {
  voted: number
  open: number
} {
  const open = requests.flatMap(({ hunks }) => hunks.filter(isWaitingHunk))
  return { voted: open.filter((hunk) => countedVotes(hunk).length > 0).length, open: open.length }
}
