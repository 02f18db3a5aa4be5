/**
 * The bar at the bottom: where we are among the changes, and the two decisions. Single letters work
 * here.
 */
import type { EditorView } from '@codemirror/view'
import { useLayoutEffect, useRef } from 'react'
import { cancelRun } from '../../chat/composer/ask.ts'
import { useActiveRun } from '../../chat/activeRun.ts'
import { useOpenDocument } from '../../document/useOpenDocument.ts'
import { useSession } from '../../session/store.ts'
import { Icon } from '../../ui/icons.tsx'
import { MOD, SHIFT } from '../../ui/keyNames.ts'
import type { Hunk, ToolApprovalRequest } from '../../wire/generated.ts'
import { BarNotes } from './BarNotes.tsx'
import { TextViewChoice } from './cards/TextViewChoice.tsx'
import { actionOf, type KeyPress } from '../state/keyActions.ts'
import { acceptActive, editActive, go, rejectActive, splitActive } from '../actions/keyBindings.ts'
import type { ReviewState } from '../text/reviewField.ts'
import { useApproved } from '../hooks/useApproved.ts'
import { useBusy } from '../stores/busy.ts'
import { useFocusHeartbeat } from '../actions/focusHeartbeat.ts'
import { useHasKeptEdit } from '../stores/keptEdits.ts'
import { usePanel } from '../stores/panel.ts'
import { isWaiting } from '../state/requests.ts'
import { undoLastDecision } from '../actions/undo.ts'
import { useReviewState } from '../hooks/useReviewState.ts'
import { mayDecide, mayType } from '../state/permissions.ts'
import { canDecide, canWrite } from '../../session/roles.ts'
import { useReview } from '../stores/requests.ts'
import { useReviewer } from '../stores/reviewer.ts'

const selectActive = ({ hunks, active, resolved }: ReviewState) => ({ hunks, active, resolved })

interface Props {
  view: EditorView
  onShortcuts: () => void
}

export function ReviewBar({ view, onShortcuts }: Props) {
  const { hunks, active, resolved } = useReviewState(selectActive)
  const finished = usePanel((panel) => panel.finished)
  const running = useActiveRun()
  const at = hunks.findIndex((hunk) => hunk.id === active)
  const hunk = hunks[at]
  const reviewer = useReviewer()
  // Between a decision and the next change, they still look at the same suggestion.
  const looked = hunk ?? resolved?.hunk
  const request = useReview((state) => (looked ? state.requests[looked.request_id] : undefined))
  const decides = request ? mayDecide(request, reviewer) : canDecide(reviewer.role)
  useFocusHeartbeat(request && isWaiting(request) ? request.request_id : null, decides)
  if (hunks.length > 0 || resolved)
    return (
      <Bar view={view} onShortcuts={onShortcuts} decides={decides}>
        <Changes view={view} at={at} hunk={hunk} decides={decides} request={request} />
      </Bar>
    )
  if (finished)
    return (
      <Bar view={view} onShortcuts={onShortcuts} decides={decides}>
        <Finished view={view} />
      </Bar>
    )
  return running && <Writing id={running.id} />
}

interface BarProps extends Props {
  decides: boolean
  children: React.ReactNode
}

function Bar({ view, onShortcuts, decides, children }: BarProps) {
  return (
    <div
      className="review-bar"
      role="toolbar"
      aria-label="Review changes"
      data-review-bar
      tabIndex={-1}
      onKeyDown={(event) => handleBarKey(event, view, decides, onShortcuts)}
    >
      {children}
    </div>
  )
}

interface ChangesProps {
  view: EditorView
  at: number
  hunk: Hunk | undefined
  decides: boolean
  request: ToolApprovalRequest | undefined
}

function Changes({ view, at, hunk, decides, request }: ChangesProps) {
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

/** The last change is decided: who worked the bar is still in it. */
function Finished({ view }: { view: EditorView }) {
  const words = useRef<HTMLSpanElement>(null)
  useLayoutEffect(() => {
    const bar = words.current?.parentElement
    bar?.focus({ preventScroll: true })
    const leave = ({ target }: FocusEvent) => {
      if (target instanceof Node && !bar?.contains(target)) usePanel.setState({ finished: false })
    }
    document.addEventListener('focusin', leave)
    return () => document.removeEventListener('focusin', leave)
  }, [])
  return (
    <>
      <BarNotes note="" />
      <span className="count" ref={words}>
        All changes are reviewed
      </span>
      <span className="divide" />
      <button type="button" className="button" onClick={() => void undoLastDecision()}>
        Undo <kbd data-keys="U" />
      </button>
      <button type="button" className="button" onClick={() => leaveBar(view)}>
        Back to the text <kbd data-keys="Esc" />
      </button>
    </>
  )
}

function leaveBar(view: EditorView): void {
  view.focus()
  usePanel.setState({ finished: false })
}

function Writing({ id }: { id: string }) {
  return (
    <div className="review-bar" role="group" aria-label="The AI is writing">
      <span className="count" style={{ padding: '0 10px' }}>
        Writing…
      </span>
      <span className="divide" />
      <button type="button" className="button" onClick={() => cancelRun(id)}>
        <Icon name="stop" size={13} /> Stop
      </button>
    </div>
  )
}

/** The letters of the bar; others are left to the browser. What is held down decides once. */
export function handleBarKey(
  event: KeyPress & Pick<KeyboardEvent, 'preventDefault' | 'repeat'>,
  view: EditorView,
  mayDecide: boolean,
  onShortcuts: () => void,
): void {
  const act = actionOf(event, mayDecide, canWrite(useOpenDocument.getState().role))
  if (!act) return
  event.preventDefault()
  if (event.repeat && act !== 'next' && act !== 'previous') return
  switch (act) {
    case 'next':
      return void go(view, 1)
    case 'previous':
      return void go(view, -1)
    case 'accept':
      return void acceptActive(view)
    case 'reject':
      return void rejectActive(view)
    case 'edit':
      return void editActive(view)
    case 'split':
      return void splitActive(view)
    case 'undo':
      return void undoLastDecision()
    case 'shortcuts':
      return onShortcuts()
    case 'text':
      return leaveBar(view)
  }
}
