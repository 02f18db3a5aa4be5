/** The changes of one request, row by row. */
import type { ToolApprovalRequest, Hunk } from '../../../wire/generated.ts'
import { useOpenDocument } from '../../../document/useOpenDocument.ts'
import { useReviewState } from '../../hooks/useReviewState.ts'
import { useSession } from '../../../session/store.ts'
import { useKeptWords } from '../../stores/keptEdits.ts'
import { memo, useRef, useLayoutEffect } from 'react'
import { EDIT_IS_KEPT, type HunkSummary, hunkSummaries } from '../../state/hunkSummaries.ts'
import { approvedBy } from '../../state/votes.ts'
import { votesAsShown } from '../../hooks/useApproved.ts'
import { usePanel } from '../../stores/panel.ts'
import { HunkBody } from './HunkBody.tsx'
import './HunkRow.css'
import { Quotation } from './Quotation.tsx'
import { Icon } from '../../../ui/icons.tsx'
import { hunksOf } from '../../text/reviewField.ts'
import { activate } from '../../text/inView.ts'
import { openDocument } from '../../../document/openDocument.ts'

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

interface RowProps {
  row: HunkSummary
  active: boolean
  /** Content of the active change only. */
  children?: React.ReactNode
}

/**
 * Drawn anew only when it shows something else: there may be hundreds. Its number is written by
 * {@link writeNumbers}.
 */
const HunkRow = memo(function HunkRow({ row, active, children }: RowProps) {
  const { id, isConflict, isMoved, isLater, isWriting, isEdited, approvedBy, sign } = row
  return (
    <li className={`hunk-row ${active ? 'is-active' : ''}`} data-row={id}>
      <button
        type="button"
        className="hunk-open"
        aria-current={active ? 'true' : undefined}
        onClick={() => showHunk(id)}
      >
        <span aria-hidden="true" data-number="" />
        <span className="hidden-label">
          Change <span data-number="" />. {row.label}
        </span>
        <span className="words" dir="auto" aria-hidden="true">
          <Quotation pieces={row.pieces} />
          {isConflict && !active && <span className="badge">Text changed</span>}
          {isMoved && !active && <span className="badge is-calm">Moved</span>}
          {isLater && <span className="badge is-calm">Later</span>}
          {isWriting && <span className="badge is-calm">Writing…</span>}
          {isEdited && <span className="badge is-calm">{EDIT_IS_KEPT}</span>}
          {approvedBy !== '' && !active && <span className="badge is-calm">{approvedBy}</span>}
        </span>
        {sign !== '' && !active && (
          <span className="badge hunk-sign" aria-hidden="true">
            <Icon name="differs" size={11} /> {sign}
          </span>
        )}
      </button>
      {children}
    </li>
  )
})

/** Writes the numbers of the rows: one change less would else draw all rows behind it anew. */
function writeNumbers(list: HTMLElement, numberOf: (id: string) => number): void {
  for (const row of list.querySelectorAll<HTMLElement>('[data-row]')) {
    const number = String(numberOf(row.dataset.row!))
    for (const place of row.querySelectorAll('[data-number]'))
      if (place.textContent !== number) place.textContent = number
  }
}

/** Goes to a change where it is now. */
function showHunk(id: string): void {
  const view = openDocument()?.view
  const hunk = view && hunksOf(view.state).find((other) => other.id === id)
  if (hunk) activate(view, hunk)
}
