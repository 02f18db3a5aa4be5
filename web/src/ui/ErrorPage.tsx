/** A whole page that says what went wrong and what helps. */
import type { ReactNode } from 'react'
import './ErrorPage.css'

interface Props {
  title: string
  children: ReactNode
  action?: { label: string; run: () => void }
}

export function ErrorPage({ title, children, action }: Props) {
  return (
    <div className="fault">
      <h2>{title}</h2>
      <p>{children}</p>
      {action && (
        <button type="button" className="button is-primary" onClick={action.run}>
          {action.label}
        </button>
      )}
    </div>
  )
}
