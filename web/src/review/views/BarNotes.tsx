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
import type { Hunk } from '../../wire/generated.ts'
import { isMarked } from '../state/marks.ts'
import { Meaning, Reason } from './cards/Meaning.tsx'
import { StreakRemark } from './StreakRemark.tsx'
import './BarNotes.css'

/** `note`: what became of the change one looks at; `hunk`: that change, while it is open. */
export function BarNotes({ note, hunk }: { note: string; hunk?: Hunk | undefined }) {
  const { toasts, docked } = useToasts()
  const covered = useDialogStack(({ dialogs }) => dialogs.length > 0)
  const remark = usePanel((panel) => panel.remark)
  useDock()
  const shown = docked && !covered ? notesOf(toasts) : []
  // A screen reader has announced the decision along with the next change.
  const live = shown.some(({ about }) => about !== DECISION_TOAST) ? 'polite' : 'off'
  const ids = shown.map(({ id }) => id).join()
  useLayoutEffect(() => {
    const view = openDocument()?.view
    const active = view && activeHunk(view.state)
    if (active) keepClear(view, active)
  }, [ids, note, hunk, remark])
  return (
    <div className="bar-notes">
      {hunk && (isMarked(hunk) || hunk.explanation) && (
        <div className="review-note bar-meaning">
          <Meaning hunk={hunk} />
          <Reason hunk={hunk} />
        </div>
      )}
      {note !== '' && <span className="review-note">{note}</span>}
      <StreakRemark />
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
