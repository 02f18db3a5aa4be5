/** Shows toasts and has them read out: in the dialog that is on top, if one is. */
import { createPortal } from 'react-dom'
import { dismiss, type Toast, useToasts } from './toasts.ts'
import { useDialogStack } from './dialogStack.ts'
import './Toasts.css'

export function Toasts() {
  const top = useDialogStack(({ dialogs }) => dialogs.at(-1))
  const { toasts, docked } = useToasts()
  if (top) return createPortal(<List toasts={toasts} />, top)
  return <List toasts={docked ? [] : toasts} />
}

function List({ toasts }: { toasts: readonly Toast[] }) {
  return (
    <div className="toasts" role="status" aria-live="polite">
      {toasts.map((toast) => (
        <ToastCard key={toast.id} toast={toast} />
      ))}
    </div>
  )
}

export function ToastCard({ toast: { id, text, action } }: { toast: Toast }) {
  return (
    <div className="toast">
      <span>{text}</span>
      {action && (
        <button
          type="button"
          onClick={() => {
            action.run()
            dismiss(id)
          }}
        >
          {action.label}
        </button>
      )}
    </div>
  )
}
