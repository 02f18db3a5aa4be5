/** Shows toasts and has them read out: in the dialog that is on top, if one is. */
import { createPortal } from 'react-dom'
import { dismiss, useToasts } from './toasts.ts'
import { useDialogStack } from './dialogStack.ts'

export function Toasts() {
  const top = useDialogStack(({ dialogs }) => dialogs.at(-1))
  return top ? createPortal(<List />, top) : <List />
}

function List() {
  const toasts = useToasts((state) => state.toasts)
  return (
    <div className="toasts" role="status" aria-live="polite">
      {toasts.map(({ id, text, action }) => (
        <div className="toast" key={id}>
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
      ))}
    </div>
  )
}
