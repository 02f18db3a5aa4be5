/** The active change in the review bar: its number, the way to others, the decisions. */
import type { EditorView } from '@codemirror/view'
import type { Hunk, ToolApprovalRequest } from '../../wire/generated.ts'
import { useReviewState } from '../hooks/useReviewState.ts'
import { useApproved } from '../hooks/useApproved.ts'
import { BarNotes } from './BarNotes.tsx'
import { SHIFT, MOD } from '../../ui/keyNames.ts'
import { go, rejectActive, editActive, acceptActive } from '../actions/keyBindings.ts'
import { Icon } from '../../ui/icons.tsx'
import { usePanel } from '../stores/panel.ts'
import { TextViewChoice } from './cards/TextViewChoice.tsx'
import { useBusy } from '../stores/busy.ts'
import { useSession } from '../../session/store.ts'
import { mayType } from '../state/permissions.ts'
import { useReviewer } from '../stores/reviewer.ts'
import { useHasKeptEdit } from '../stores/keptEdits.ts'
import type { ReviewState } from '../text/reviewField.ts'

interface ChangesProps {
  view: EditorView
  at: number
  hunk: Hunk | undefined
  decides: boolean
  request: ToolApprovalRequest | undefined
}

export function BarChanges({ view, at, hunk, decides, request }: ChangesProps) {
  const { hunks, resolved } = useReviewState(selectActive)
  const approved = useApproved(hunk, request)
  const total = hunks.length
  return (
    <>
      <BarNotes note={resolved?.outcome ?? approved.words} />
      <button
        type="button"
        className="icon-button"
        aria-label="Previous change"
        title={`Previous change (${SHIFT} F8)`}
        onClick={() => go(view, -1)}
      >
        <Icon name="up" />
      </button>
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
      <button
        type="button"
        className="icon-button"
        aria-label="Next change"
        title="Next change (F8)"
        onClick={() => go(view, 1)}
      >
        <Icon name="down" />
      </button>
      <TextViewChoice />
      {decides && <Decisions view={view} hunk={hunk} number={at + 1} />}
    </>
  )
}

interface DecisionsProps {
  view: EditorView
  hunk: Hunk | undefined
  number: number
}

/** The same buttons whatever becomes of the change, so that none comes to stand under a finger. */
function Decisions({ view, hunk, number }: DecisionsProps) {
  const busy = useBusy((state) => hunk !== undefined && state.ids.has(hunk.id))
  const offline = useSession((session) => session.link !== 'online')
  const types = mayType(useReviewer())
  // A button that is switched off loses the focus, and a decision takes but a moment: pressed again
  // meanwhile it does nothing.
  const why = offline ? 'You can review when you’re back online' : undefined
  const common = {
    type: 'button',
    disabled: offline,
    'aria-disabled': busy,
    title: why,
  } as const
  const conflict = hunk?.status === 'conflict'
  const isEdited = useHasKeptEdit(hunk)
  const of = hunk ? `change ${number}` : 'change: it was decided already'
  return (
    <>
      <span className="divide" />
      <button
        {...common}
        data-decides=""
        className="button"
        aria-label={`Reject ${of}`}
        onClick={() => rejectActive(view)}
      >
        Reject <kbd data-keys={`${MOD} ⇧ ↵`} />
      </button>
      {types && (
        <button
          {...common}
          className="icon-button"
          aria-label={`Edit ${of}`}
          title={why ?? 'Edit before accepting (E)'}
          onClick={() => editActive(view)}
        >
          <Icon name="pencil" />
        </button>
      )}
      <button
        {...common}
        data-decides=""
        className="button is-primary"
        aria-label={
          conflict
            ? `Look at it: change ${number}, the text changed`
            : isEdited
              ? `Accept your edit of ${of}`
              : `Accept ${of}`
        }
        onClick={() => acceptActive(view)}
      >
        {conflict ? 'Look at it' : isEdited ? 'Accept your edit' : 'Accept'}{' '}
        <kbd data-keys={`${MOD} ↵`} />
      </button>
    </>
  )
}

export const selectActive = ({ hunks, active, resolved }: ReviewState) => ({
  hunks,
  active,
  resolved,
})
