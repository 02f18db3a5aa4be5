/** The changes of one request, row by row. */
import type { ToolApprovalRequest, Hunk } from '../../../wire/generated.ts'
import { useOpenDocument } from '../../../document/useOpenDocument.ts'
import { useReviewState } from '../../hooks/useReviewState.ts'
import { useSession } from '../../../session/store.ts'
import { useKeptWords } from '../../stores/keptEdits.ts'
import { useRef, useLayoutEffect } from 'react'
import { type HunkSummary, hunkSummaries } from '../../state/hunkSummaries.ts'
import { writeNumbers, HunkRow } from './HunkRow.tsx'
import { approvedBy } from '../../state/votes.ts'
import { votesAsShown } from '../../hooks/useApproved.ts'
import { usePanel } from '../../stores/panel.ts'
import { HunkBody } from './HunkBody.tsx'

interface HunkRowsProps {
  request: ToolApprovalRequest
  /** Of this request, and of all. */
  hunks: readonly Hunk[]
  all: readonly Hunk[]
}

export function HunkRows({ request, hunks, all }: HunkRowsProps) {
  const snapshot = useOpenDocument((state) => state.snapshot)
  const active = useReviewState((review) => review.active)
  const me = useSession((session) => session.me?.user.id)
  const edits = useKeptWords()
  const later = usePanel(({ list }) => list.later)
  const kept = useRef<readonly HunkSummary[]>([])
  const list = useRef<HTMLOListElement>(null)
  const numbers = new Map(all.map(({ id }, at) => [id, at + 1]))
  useLayoutEffect(() => {
    if (list.current) writeNumbers(list.current, (id) => numbers.get(id)!)
  })
  if (!snapshot) return null
  const approved = (hunk: Hunk) => approvedBy(votesAsShown(hunk, snapshot), me)
  const rows = hunkSummaries(
    hunks,
    snapshot.doc,
    { approvedBy: approved, edits, later },
    kept.current,
  )
  kept.current = rows
  return (
    <ol ref={list} aria-label="Changes">
      {rows.map((row, at) => (
        <HunkRow key={row.id} row={row} active={row.id === active}>
          {row.id === active && (
            <HunkBody
              hunk={hunks[at]!}
              number={numbers.get(row.id)!}
              total={all.length}
              request={request}
            />
          )}
        </HunkRow>
      ))}
    </ol>
  )
}
