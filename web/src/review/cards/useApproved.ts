/** A change that waits for more people, in words. */
import { useSession } from '../../session/store.ts'
import { activeDocument } from '../../editor/sync/activeDocument.ts'
import type { Hunk, HunkVote, ToolApprovalRequest } from '../../wire/generated.ts'
import { currentText } from '../changes/hunk.ts'
import { asItIs } from '../changes/reviewField.ts'
import { useReview } from '../state/store.ts'
import { votesFor } from '../state/votes.ts'
import { mayDecide, useReviewer } from '../wording/permissions.ts'
import { approvedBy, votesWords } from '../wording/votes.ts'

/** The words of others that stand where a conflict is. */
function standing(hunk: Hunk): string | undefined {
  const state = activeDocument()?.view.state
  if (!state || hunk.status !== 'conflict') return undefined
  return currentText(asItIs(state, hunk), state.doc)
}

/** The votes for a change that count as it stands on the screen. */
export const votesAsShown = (hunk: Hunk): readonly HunkVote[] => votesFor(hunk, standing(hunk))

interface Approved {
  /** Who approved it, for a badge. */
  by: string
  /** Who approved it, and who is still needed. */
  words: string
}

/** Who approved it, and who is still needed: the same in every window. */
export function useApproved(hunk: Hunk | undefined, request?: ToolApprovalRequest): Approved {
  useReview((state) => hunk && state.requests[hunk.request_id])
  const me = useSession((session) => session.me?.user.id)
  const reviewer = useReviewer()
  if (!hunk || !request) return { by: '', words: '' }
  const votes = votesAsShown(hunk)
  const decides = mayDecide(request, reviewer)
  return { by: approvedBy(votes, me), words: votesWords(votes, request, me, decides) }
}
