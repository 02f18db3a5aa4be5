/** Shows toasts and has them read out. */
import { dismiss, useToasts } from './toasts.ts'

export function Toasts() {
  const toasts = useToasts((state) => state.toasts)
  return (
    <div className="toasts" role="status" aria-live="polite">
      {toasts.map(({ id, text, action }) => (
        <div className="toast" key={id}>
          <span>{text}</span>
          {action && (
            <button type="button" onClick={() => { action.run(); dismiss(id) }}>
              {action.label}
            </button>
          )}
        </div>
      ))}
    </div>
  )
}
