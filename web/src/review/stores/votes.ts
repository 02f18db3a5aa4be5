/** Votes for changes, as the store of requests has them. */
import type { Hunk, HunkVote } from '../../wire/generated.ts'
import { useRequests } from './requests.ts'
import { countedVotes } from '../state/votes.ts'
import { useSession } from '../../session/store.ts'

/** The votes for a change on the screen; of a conflict, with the words that stand there. */
export function votesFor({ id, request_id, status }: Hunk, stands?: string): readonly HunkVote[] {
  const known = useRequests.getState().requests[request_id]?.hunks.find((hunk) => hunk.id === id)
  return countedVotes({ status, ...(known?.votes && { votes: known.votes }) }, stands)
}

/** Returns whether we have approved it, and it waits for others. */
export function hasVoted(hunk: Hunk): boolean {
  const me = useSession.getState().me?.user.id
  return votesFor(hunk).some(({ user }) => user === me)
}
