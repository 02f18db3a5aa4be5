/** Offers to accept the changes without marks, where there are others too. */
import { OnlineButton } from '../../../session/OnlineButton.tsx'
import type { ToolApprovalRequest } from '../../../wire/generated.ts'
import { useReviewState } from '../../hooks/useReviewState.ts'
import { isMarked } from '../../state/marks.ts'
import { useKeptEdits } from '../../stores/keptEdits.ts'
import { usePanel } from '../../stores/panel.ts'
import { hasVoted } from '../../stores/votes.ts'

/** `of`: requests that we may decide. */
export function KeepMeaningButton({ of }: { of: readonly ToolApprovalRequest[] }) {
  const all = useReviewState((review) => review.hunks)
  // The marks of a change are those of the proposed words.
  const isEdited = useKeptEdits()
  const needs = new Map(of.map(({ request_id, approvals }) => [request_id, approvals.need]))
  const open = all.filter((hunk) => needs.has(hunk.request_id))
  const hunks = open.filter(
    (hunk) =>
      hunk.status === 'pending' &&
      !isMarked(hunk) &&
      !isEdited.has(hunk.id) &&
      !(needs.get(hunk.request_id)! > 1 && hasVoted(hunk)),
  )
  if (hunks.length === 0 || !open.some(isMarked)) return null
  return (
    <OnlineButton
      aria-haspopup="dialog"
      onClick={() =>
        usePanel.setState({
          together: { title: 'Changes that keep the meaning', hunks, keepsMeaning: true },
        })
      }
    >
      Accept all that keep the meaning ({hunks.length})…
    </OnlineButton>
  )
}
