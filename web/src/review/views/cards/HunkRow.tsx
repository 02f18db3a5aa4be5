/** One change in the panel: quoted, numbered, and with its buttons while it is the active one. */
import { memo } from 'react'
import { openDocument } from '../../../document/openDocument.ts'
import { activate } from '../../text/inView.ts'
import { hunksOf } from '../../text/reviewField.ts'
import { Icon } from '../../../ui/icons.tsx'
import { Quotation } from './Quotation.tsx'
import { type HunkSummary, EDIT_IS_KEPT } from '../../state/hunkSummaries.ts'
import './HunkRow.css'

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
export const HunkRow = memo(function HunkRow({ row, active, children }: RowProps) {
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
export function writeNumbers(list: HTMLElement, numberOf: (id: string) => number): void {
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
