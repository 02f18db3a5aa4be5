/** The active change in the review bar: its number, the way to others, the decisions. */
import type { EditorView } from '@codemirror/view'
import type { Hunk, ToolApprovalRequest } from '../../wire/generated.ts'
import { useReviewState } from '../hooks/useReviewState.ts'
import { useApproved } from '../hooks/useApproved.ts'
import { BarNotes } from './BarNotes.tsx'
import { SHIFT } from '../../ui/keyNames.ts'
import { go } from '../actions/activeChange.ts'
import { IconButton } from '../../ui/Button.tsx'
import { usePanel } from '../stores/panel.ts'
import { TextViewChoice } from './cards/TextViewChoice.tsx'
import { DecisionButtons } from './cards/DecisionButtons.tsx'
import type { ReviewState } from '../text/reviewField.ts'

interface ChangesProps {
  view: EditorView
  at: number
  hunk: Hunk | undefined
  request: ToolApprovalRequest | undefined
  decides: boolean
}

export function BarChanges({ view, at, hunk, decides, request }: ChangesProps) {
  const { hunks, resolved } = useReviewState(selectActive)
  const approved = useApproved(hunk, request)
  const total = hunks.length
  return (
    <>
      <BarNotes note={resolved?.outcome ?? approved.words} hunk={hunk} />
      <IconButton
        label="Previous change"
        name="up"
        title={`Previous change (${SHIFT} F8)`}
        onClick={() => go(view, -1)}
      />
      <button
        type="button"
        className="count"
        title="Show in the list"
        aria-label={hunk ? `Change ${at + 1} of ${total}. Show in the list` : `${total} left`}
        onClick={() => usePanel.setState({ open: true })}
      >
        {hunk ? (
          <>
            <b>{at + 1}</b> of {total}
          </>
        ) : (
          `${total} left`
        )}
      </button>
      <IconButton
        label="Next change"
        name="down"
        title="Next change (F8)"
        onClick={() => go(view, 1)}
      />
      <TextViewChoice />
      {decides && (
        <>
          <span className="divide" />
          <DecisionButtons
            hunk={hunk}
            of={hunk ? `change ${at + 1}` : 'change: it was decided already'}
          />
        </>
      )}
    </>
  )
}

export const selectActive = ({ hunks, active, resolved }: ReviewState) => ({
  hunks,
  active,
  resolved,
})
