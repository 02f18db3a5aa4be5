/** A change that waits for more people, in words. */
import type { EditorState } from '@codemirror/state'
import { useOpenDocument } from '../../document/useOpenDocument.ts'
import { canDecide } from '../../session/roles.ts'
import { useSession } from '../../session/store.ts'
import type { Hunk, HunkVote, ToolApprovalRequest } from '../../wire/generated.ts'
import { currentText } from '../state/hunk.ts'
import { becauseOf } from '../state/markWords.ts'
import { mayDecide, neededFor } from '../state/permissions.ts'
import { useRequests } from '../stores/requests.ts'
import { votesFor } from '../stores/votes.ts'
import { approvedBy, votesOf, votesWords } from '../state/votes.ts'
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
  /** The people who approved it, and those still needed; why, where its marks ask for more. */
  words: string
  /** True if we may decide it. */
  decides: boolean
}

/** Selects the people who approved it, and those still needed: the same in every window. */
export function useApproved(hunk: Hunk | undefined, request?: ToolApprovalRequest): Approved {
  useRequests((state) => hunk && state.requests[hunk.request_id])
  const me = useSession((session) => session.me?.user.id)
  const reviewer = useReviewer()
  const settings = useOpenDocument((state) => state.settings)
  const snapshot = useOpenDocument((state) => (hunk?.status === 'conflict' ? state.snapshot : null))
  if (!hunk || !request) return { by: '', words: '', decides: canDecide(reviewer.role) }
  const votes = votesAsShown(hunk, snapshot)
  const needed = neededFor(request, hunk)
  const decides = mayDecide(needed, reviewer)
  const because = needed === request ? '' : becauseOf(hunk, settings?.policies ?? [])
  // What it needs is said with the reason.
  const words = because && votes.length === 0 ? '' : votesWords(votes, needed, me, decides)
  const why = because && `${votesOf(votes, needed)}, ${because}.`
  return { by: approvedBy(votes, me), words: [words, why].filter(Boolean).join(' '), decides }
}
