/**
 * Notes during a review, right above the bar: page is kept free there, so that they never lie over
 * the change to decide.
 */
import { useLayoutEffect } from 'react'
import { openDocument } from '../../document/openDocument.ts'
import { ToastCard } from '../../ui/Toasts.tsx'
import { useDialogStack } from '../../ui/dialogStack.ts'
import { PRESS_TOAST, type Toast, useToasts } from '../../ui/toasts.ts'
import { hasOpenSheet, keepClear } from '../text/inView.ts'
import { activeHunk } from '../text/reviewField.ts'
import { usePanel } from '../stores/panel.ts'
import { DECISION_TOAST } from '../actions/undo.ts'
import './BarNotes.css'

/** `note`: what became of the change one looks at. */
export function BarNotes({ note }: { note: string }) {
  const { toasts, docked } = useToasts()
  const covered = useDialogStack(({ dialogs }) => dialogs.length > 0)
  useDock()
  const shown = docked && !covered ? notesOf(toasts) : []
  // A screen reader has announced the decision along with the next change.
  const live = shown.some(({ about }) => about !== DECISION_TOAST) ? 'polite' : 'off'
  const ids = shown.map(({ id }) => id).join()
  useLayoutEffect(() => {
    const view = openDocument()?.view
    const hunk = view && activeHunk(view.state)
    if (hunk) keepClear(view, hunk)
  }, [ids, note])
  return (
    <div className="bar-notes">
      {note !== '' && <span className="review-note">{note}</span>}
      <div className="bar-toast" role="status" aria-live={live}>
        {shown.map((toast) => (
          <ToastCard key={toast.id} toast={toast} />
        ))}
      </div>
    </div>
  )
}

/**
 * The newest toast, and why a press decided nothing: the answer to the press before may come after
 * that, and neither hides the other.
 */
function notesOf(toasts: readonly Toast[]): Toast[] {
  return toasts.filter((toast, at) => at === toasts.length - 1 || toast.about === PRESS_TOAST)
}

/** Leaves toasts in their usual place where the panel lies over the bar. */
function useDock(): void {
  const open = usePanel((panel) => panel.open)
  useLayoutEffect(() => {
    const look = () => useToasts.setState({ docked: !hasOpenSheet() })
    look()
    window.addEventListener('resize', look)
    return () => {
      window.removeEventListener('resize', look)
      useToasts.setState({ docked: false })
    }
  }, [open])
}
