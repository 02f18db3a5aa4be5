/** The way to the desk, with how much waits there. */
import { Button } from '../ui/Button.tsx'
import { useCapability, useSession } from '../session/store.ts'
import { Icon } from '../ui/icons.tsx'
import { plural } from '../ui/timeFormat.ts'
import { splitByWaiting, useInbox } from './state/store.ts'
import { canDecide } from '../session/roles.ts'
import './InboxButton.css'

export function InboxButton() {
  const role = useSession((session) => session.me?.role)
  const workspace = useCapability('workspace')
  const { waiting, over } = splitByWaiting(useInbox((inbox) => inbox.requests))
  if (!role || !canDecide(role) || (!workspace && waiting.length + over.length === 0)) return null
  const words = waiting.length === 0 ? 'Desk' : `Desk: ${plural(waiting.length, 'request')} waiting`
  return (
    <Button
      look="quiet"
      className="inbox-button"
      aria-label={words}
      title="Desk: what the AI wants to do outside of documents, such as writing files"
      aria-haspopup="dialog"
      onClick={() => useInbox.setState({ open: true })}
    >
      <Icon name="tray" /> <span>Desk</span>
      {waiting.length > 0 && (
        <span className="inbox-count" aria-hidden="true">
          {waiting.length}
        </span>
      )}
    </Button>
  )
}
