/**
 * The bar at the bottom: where we are among the changes, and the two decisions. Single letters work
 * here.
 */
import { Button } from '../../ui/Button.tsx'
import type { EditorView } from '@codemirror/view'
import { useLayoutEffect, useRef } from 'react'
import { cancelRun } from '../../chat/composer/ask.ts'
import { useActiveRun } from '../../chat/activeRun.ts'
import { Icon } from '../../ui/icons.tsx'
import { BarNotes } from './BarNotes.tsx'
import { useFocusHeartbeat } from '../actions/focusHeartbeat.ts'
import { usePanel } from '../stores/panel.ts'
import { isWaiting } from '../state/requests.ts'
import { undoLastDecision } from '../actions/undo.ts'
import { useReviewState } from '../hooks/useReviewState.ts'
import { mayDecide, neededFor } from '../state/permissions.ts'
import { canDecide } from '../../session/roles.ts'
import { useRequests } from '../stores/requests.ts'
import { useReviewer } from '../stores/reviewer.ts'
import { BarChanges, selectActive } from './BarChanges.tsx'
import { StreakRemark } from './StreakRemark.tsx'
import { handleBarKey, leaveBar } from './barKeys.ts'
import './ReviewBar.css'

interface Props {
  view: EditorView
  onShortcuts: () => void
}

export function ReviewBar({ view, onShortcuts }: Props) {
  const { hunks, active, resolved } = useReviewState(selectActive)
  const finished = usePanel((panel) => panel.finished)
  const hasRemark = usePanel((panel) => panel.remark !== null)
  const running = useActiveRun()
  const at = hunks.findIndex((hunk) => hunk.id === active)
  const hunk = hunks[at]
  const reviewer = useReviewer()
  // Between a decision and the next change, they still look at the same suggestion.
  const looked = hunk ?? resolved?.hunk
  const request = useRequests((state) => (looked ? state.requests[looked.request_id] : undefined))
  const decides = request
    ? mayDecide(neededFor(request, looked!), reviewer)
    : canDecide(reviewer.role)
  useFocusHeartbeat(request && isWaiting(request) ? request.request_id : null, decides)
  const shown =
    hunks.length > 0 || resolved ? (
      <BarChanges view={view} at={at} hunk={hunk} decides={decides} request={request} />
    ) : (
      finished && <Finished view={view} />
    )
  if (shown)
    return (
      <Bar view={view} onShortcuts={onShortcuts} decides={decides}>
        {shown}
      </Bar>
    )
  if (running) return <Writing id={running.id} />
  return (
    hasRemark && (
      <div className="review-bar is-remark">
        <StreakRemark />
      </div>
    )
  )
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
      <Button onClick={() => void undoLastDecision()}>
        Undo <kbd data-keys="U" />
      </Button>
      <Button onClick={() => leaveBar(view)}>
        Back to the text <kbd data-keys="Esc" />
      </Button>
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
      <Button onClick={() => cancelRun(id)}>
        <Icon name="stop" size={13} /> Stop
      </Button>
    </div>
  )
}
