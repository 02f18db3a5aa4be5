/** The ways back from what has ended: propose it again, or undo it. */
import { OnlineButton } from '../../../session/OnlineButton.tsx'
import './UndoReopenButtons.css'

export interface UndoReopenActions {
  /** On the button. */ label: string
  /** Names the request for people who cannot see the card. */ name?: string
  title?: string
  act: () => void
}
interface Props {
  again: UndoReopenActions | null
  undo: UndoReopenActions | null
  busy?: boolean
}

export function UndoReopenButtons({ again, undo, busy = false }: Props) {
  const ways = [again, undo].filter((way) => way !== null)
  if (ways.length === 0) return null
  return (
    <div className="ways-back">
      {ways.map(({ label, name, title, act }) => (
        <OnlineButton key={label} disabled={busy} aria-label={name} title={title} onClick={act}>
          {label}
        </OnlineButton>
      ))}
    </div>
  )
}
