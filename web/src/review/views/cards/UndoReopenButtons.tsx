/** The ways back from what has ended: propose it again, or undo it. */
import { OnlineButton } from '../../../session/OnlineButton.tsx'
import './UndoReopenButtons.css'

interface UndoReopenActions {
  /** On the button. */ label: string
  /** Names the request for people who cannot see the card. */ name?: string
  title?: string
  act: () => void
}
interface Props {
  /** Those that are possible now. */
  ways: readonly (UndoReopenActions | false)[]
  busy?: boolean
}

export function UndoReopenButtons({ ways, busy = false }: Props) {
  const possible = ways.filter((way) => way !== false)
  if (possible.length === 0) return null
  return (
    <div className="ways-back">
      {possible.map(({ label, name, title, act }) => (
        <OnlineButton key={label} disabled={busy} aria-label={name} title={title} onClick={act}>
          {label}
        </OnlineButton>
      ))}
    </div>
  )
}
