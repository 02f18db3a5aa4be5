/** The second step before access is taken away. */
import type { ReactNode } from 'react'
import { Button } from './Button.tsx'

interface Props {
  /** Its name for screen readers. */
  name: string
  question?: ReactNode
  yes: string
  onYes: () => void
  onKeep: () => void
}

export function AreYouSure({ name, question, yes, onYes, onKeep }: Props) {
  return (
    <div className="are-you-sure" role="group" aria-label={name}>
      {question && <span>{question}</span>}
      <Button look="danger" autoFocus onClick={onYes}>
        {yes}
      </Button>
      <Button onClick={onKeep}>Keep</Button>
    </div>
  )
}
