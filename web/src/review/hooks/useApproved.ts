/** A change that waits for more people, in words. */
import type { EditorState } from '@codemirror/state'
import { useOpenDocument } from '../../document/useOpenDocument.ts'
import { useSession } from '../../session/store.ts'
import type { Hunk, HunkVote, ToolApprovalRequest } from '../../wire/generated.ts'
import { currentText } from '../state/hunk.ts'
import { mayDecide } from '../state/permissions.ts'
import { useReview } from '../stores/requests.ts'
import { votesFor } from '../stores/votes.ts'
import { approvedBy, votesWords } from '../state/votes.ts'
import { useReviewer } from '../stores/reviewer.ts'

/** The votes for a change of the snapshot that count with the words that stand in its place. */
export const votesAsShown = (hunk: Hunk, snapshot: EditorState | null): readonly HunkVote[] =>
  votesFor(
    hunk,
    snapshot && hunk.status === 'conflict' ? currentText(hunk, snapshot.doc) : undefined,
  )

interface Approved {
  /** The people who approved it, for a badge. */
  by: string
  /** The people who approved it, and those still needed. */
  words: string
}

/** Selects the people who approved it, and those still needed: the same in every window. */
export function useApproved(hunk: Hunk | undefined, request?: ToolApprovalRequest): Approved {
  useReview((state) => hunk && state.requests[hunk.request_id])
  const me = useSession((session) => session.me?.user.id)
  const reviewer = useReviewer()
  const snapshot = useOpenDocument((state) => (hunk?.status === 'conflict' ? state.snapshot : null))
  if (!hunk || !request) return { by: '', words: '' }
  const votes = votesAsShown(hunk, snapshot)
  const decides = mayDecide(request, reviewer)
  return { by: approvedBy(votes, me), words: votesWords(votes, request, me, decides) }
}
