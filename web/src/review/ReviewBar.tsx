/** The bar at the bottom: where we are among the changes, and the two decisions. Single letters work here. */
import type { EditorView } from '@codemirror/view'
import { cancelRun } from '../chat/ask.ts'
import { useActiveRun } from '../chat/activeRun.ts'
import { canDecide, canWrite, useDocument } from '../editor/store.ts'
import { useSession } from '../session/store.ts'
import { Icon } from '../ui/icons.tsx'
import { MOD, SHIFT } from '../ui/keyNames.ts'
import type { Hunk } from '../wire/generated.ts'
import { actionOf, type KeyPress } from './changes/keyActions.ts'
import { rejectHunk, undoLastAccept, useBusy } from './state/decide.ts'
import { useFocusHeartbeat } from './state/focusHeartbeat.ts'
import { accept, edit, go } from './changes/keyBindings.ts'
import { usePanel } from './state/panel.ts'
import { useFocusTextAfterwards } from './changes/keyboardFocus.ts'
import { useReview } from './state/store.ts'
import { mayDecide, useReviewer } from './wording/permissions.ts'

interface Props {
  view: EditorView
  onShortcuts: () => void
}

export function ReviewBar({ view, onShortcuts }: Props) {
  const { hunks, active } = useDocument()
  const running = useActiveRun()
  const at = hunks.findIndex((hunk) => hunk.id === active)
  const hunk = hunks[at]
  const reviewer = useReviewer()
  const request = useReview((state) => (hunk ? state.requests[hunk.request_id] : undefined))
  const decides = request ? mayDecide(request, reviewer) : canDecide(reviewer.role)
  useFocusHeartbeat(hunk?.request_id ?? null, decides)
  if (hunks.length > 0)
    return (
      <Bar
        view={view}
        onShortcuts={onShortcuts}
        at={at}
        total={hunks.length}
        hunk={hunk}
        decides={decides}
      />
    )
  return running && <Writing id={running.id} />
}

interface BarProps extends Props {
  at: number
  total: number
  hunk: Hunk | undefined
  decides: boolean
}

function Bar({ view, onShortcuts, at, total, hunk, decides }: BarProps) {
  const bar = useFocusTextAfterwards()
  return (
    <div
      ref={bar}
      className="review-bar"
      role="toolbar"
      aria-label="Review changes"
      data-review-bar
      tabIndex={-1}
      onKeyDown={(event) => handleBarKey(event, view, hunk, decides, onShortcuts)}
    >
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
        aria-label={`Change ${at + 1} of ${total}. Show in the list`}
        onClick={() => usePanel.setState({ open: true })}
      >
        <b>{at + 1}</b> of {total}
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
      {hunk && decides && <Decisions hunk={hunk} number={at + 1} />}
    </div>
  )
}

function Decisions({ hunk, number }: { hunk: Hunk; number: number }) {
  const busy = useBusy((state) => state.ids.has(hunk.id))
  const offline = useSession((session) => session.link !== 'online')
  // A button that is switched off loses the focus, and a decision takes but a moment: pressed again meanwhile it does nothing.
  const why = offline ? 'Reviewing waits until you are back online' : undefined
  return (
    <>
      <span className="divide" />
      <button
        type="button"
        className="button"
        disabled={offline}
        aria-disabled={busy}
        title={why}
        aria-label={`Reject change ${number}`}
        onClick={() => void rejectHunk(hunk)}
      >
        Reject <kbd data-keys={`${MOD} ⇧ ↵`} />
      </button>
      <button
        type="button"
        className="button is-primary"
        disabled={offline}
        aria-disabled={busy}
        title={why}
        aria-label={
          hunk.status === 'conflict'
            ? `Look at it: change ${number}, the text changed`
            : `Accept change ${number}`
        }
        onClick={() => accept(hunk)}
      >
        {hunk.status === 'conflict' ? 'Look at it' : 'Accept'} <kbd data-keys={`${MOD} ↵`} />
      </button>
    </>
  )
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

/** The letters of the bar; others are left to the browser. */
export function handleBarKey(
  event: KeyPress & Pick<KeyboardEvent, 'preventDefault'>,
  view: EditorView,
  hunk: Hunk | undefined,
  mayDecide: boolean,
  onShortcuts: () => void,
): void {
  const act = actionOf(event, mayDecide, canWrite(useDocument.getState().role))
  if (!act) return
  event.preventDefault()
  switch (act) {
    case 'next':
      return void go(view, 1)
    case 'previous':
      return void go(view, -1)
    case 'accept':
      return hunk && accept(hunk)
    case 'reject':
      return void (hunk && rejectHunk(hunk))
    case 'edit':
      return hunk && edit(hunk)
    case 'undo':
      return void undoLastAccept()
    case 'sheet':
      return onShortcuts()
    case 'text':
      return view.focus()
  }
}
