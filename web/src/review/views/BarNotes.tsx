/**
 * Notes during a review, right above the bar: page is kept free there, so that they never lie over
 * the change to decide.
 */
import { useLayoutEffect } from 'react'
import { openDocument } from '../../document/openDocument.ts'
import { ToastCard } from '../../ui/Toasts.tsx'
import { useDialogStack } from '../../ui/dialogStack.ts'
import { useToasts } from '../../ui/toasts.ts'
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
  const shown = docked && !covered ? toasts.at(-1) : undefined
  // A screen reader has announced the decision along with the next change.
  const live = shown && shown.about !== DECISION_TOAST ? 'polite' : 'off'
  useLayoutEffect(() => {
    const view = openDocument()?.view
    const hunk = view && activeHunk(view.state)
    if (hunk) keepClear(view, hunk)
  }, [shown?.id, note])
  return (
    <div className="bar-notes">
      {note !== '' && <span className="review-note">{note}</span>}
      <div className="bar-toast" role="status" aria-live={live}>
        {shown && <ToastCard key={shown.id} toast={shown} />}
      </div>
    </div>
  )
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
