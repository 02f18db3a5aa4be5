/** A whole page that says what went wrong and what helps. */
import type { ReactNode } from 'react'
import { Button } from './Button.tsx'
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
        <Button look="primary" onClick={action.run}>
          {action.label}
        </Button>
      )}
    </div>
  )
}
