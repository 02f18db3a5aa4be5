/** A second step; the focus is on the safe side until the person goes to the other. */
import type { ReactNode } from 'react'
import { Button } from '../ui/Button.tsx'
import { useBusy } from '../review/stores/busy.ts'
import { useSession } from '../session/store.ts'
import { useFocusOnce } from '../ui/useFocusOnce.ts'
import './ConfirmStep.css'

interface Props {
  /** The request it is about. */
  id: string
  yes: string
  /** The meaning of a yes, for people who cannot see the card above it. */
  name: string
  onYes: () => void
  onClose: () => void
  children: ReactNode
}

export function ConfirmStep({ id, yes, name, onYes, onClose, children }: Props) {
  const busy = useBusy(({ ids }) => ids.has(id))
  const offline = useSession((session) => session.link !== 'online')
  const safe = useFocusOnce<HTMLButtonElement>()
  return (
    <div className="inbox-confirm">
      {children}
      <div className="hunk-actions">
        <Button
          look="danger"
          data-decides=""
          disabled={offline || busy}
          aria-label={name}
          onClick={onYes}
        >
          {yes}
        </Button>
        <button ref={safe} type="button" className="button is-quiet" onClick={onClose}>
          Cancel
        </button>
      </div>
    </div>
  )
}
