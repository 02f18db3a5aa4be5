/** Changes that were decided, one by one: what they were, who decided, and the way back. */
import { OnlineButton } from '../../../session/OnlineButton.tsx'
import { useState } from 'react'
import { useOpenDocument } from '../../../document/useOpenDocument.ts'
import { useSession } from '../../../session/store.ts'
import type { Hunk } from '../../../wire/generated.ts'
import { proposeOneAgain, useUnplacedHunks } from '../../actions/reopen.ts'
import { undo } from '../../actions/undo.ts'
import { decidedHunkText, describeHunkOutcome } from '../../state/outcomeSummary.ts'
import { Meaning } from './Meaning.tsx'
import { Quotation } from './Quotation.tsx'
import { canDecide } from '../../../session/roles.ts'
import type { SnippetPiece } from '../../state/snippet.ts'
import { isRefused } from '../../state/refused.ts'
import './DecidedHunks.css'

interface Props {
  label: string
  hunks: readonly Hunk[]
  open?: boolean
}

export function DecidedHunks({ label, hunks, open = false }: Props) {
  // There may be hundreds, which few people open.
  const [isOpen, setOpen] = useState(open)
  if (hunks.length === 0) return null
  // The card has the button then.
  const single = hunks.filter(isRefused).length < 2
  return (
    <details
      className="decided"
      open={open}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary>{label}</summary>
      {isOpen && (
        <ol aria-label={label}>
          {hunks.map((hunk) => (
            <DecidedHunkRow key={hunk.id} hunk={hunk} single={single} />
          ))}
        </ol>
      )}
    </details>
  )
}

interface RowProps {
  hunk: Hunk
  single: boolean
  /** The change where it stood, if that is known. */
  pieces?: readonly SnippetPiece[]
}

export function DecidedHunkRow({ hunk, single, pieces }: RowProps) {
  const me = useSession((session) => session.me?.user.id)
  const mayDecide = canDecide(useOpenDocument((state) => state.role))
  const canUndo = mayDecide && hunk.status === 'accepted'
  const canReopen = mayDecide && !single && isRefused(hunk)
  const reason = hunk.decided?.feedback ?? ''
  const unplaced = useUnplacedHunks(({ ids }) => ids.has(hunk.id)) && hunk.status !== 'accepted'
  return (
    <li className="decided-row">
      <p className="words">
        <Quotation pieces={pieces ?? decidedHunkText(hunk)} />
      </p>
      <Meaning hunk={hunk} />
      <p className="card-note">
        <span>
          {describeHunkOutcome(hunk, me) || 'To be decided'}
          {hunk.status === 'rejected' && reason !== '' && `: “${reason}”`}
        </span>
        {unplaced && <span className="badge">No place for it in today’s text</span>}
        {(canUndo || canReopen) && (
          <OnlineButton
            look="link"
            onClick={() =>
              void (canUndo ? undo(hunk.request_id, [hunk.id]) : proposeOneAgain(hunk))
            }
          >
            {canUndo ? 'Undo' : 'Bring back'}
          </OnlineButton>
        )}
      </p>
    </li>
  )
}
