/** The desk: everything that waits for a decision and belongs to no document. Reached from every page. */
import { canDecide, canWrite } from '../editor/store.ts'
import { useFocusHeartbeat } from '../review/focus.ts'
import { useCapability, useSession } from '../session/store.ts'
import { Dialog } from '../ui/Dialog.tsx'
import { Icon } from '../ui/icons.tsx'
import { many } from '../ui/when.ts'
import { DeskCard } from './DeskCard.tsx'
import { DeskRules } from './DeskRules.tsx'
import { Errand } from './Errand.tsx'
import { sorted, useDesk } from './store.ts'

/** The way in, with how much waits. */
export function DeskButton() {
  const role = useSession((session) => session.me?.role)
  const workspace = useCapability('workspace')
  const { waiting, over } = sorted(useDesk((desk) => desk.requests))
  if (!role || !canDecide(role) || (!workspace && waiting.length + over.length === 0)) return null
  const words = waiting.length === 0 ? 'Desk' : `Desk: ${many(waiting.length, 'request')} waiting`
  return (
    <button type="button" className="icon-button desk-button" aria-label={words} title={words} aria-haspopup="dialog" onClick={() => useDesk.setState({ open: true })}>
      <Icon name="tray" size={18} />
      {waiting.length > 0 && <span className="desk-count" aria-hidden="true">{waiting.length}</span>}
    </button>
  )
}

export function DeskPanel() {
  const open = useDesk((desk) => desk.open)
  return open ? <Open /> : null
}

function Open() {
  const { waiting, over } = sorted(useDesk((desk) => desk.requests))
  const me = useSession((session) => session.me)
  const workspace = useCapability('workspace')
  useFocusHeartbeat(waiting[0]?.request_id ?? null, me !== null && canDecide(me.role))
  return (
    <Dialog title="Desk" onClose={() => useDesk.setState({ open: false })}>
      <div className="desk-panel" role="status" aria-live="polite">
        {waiting.length === 0 && <p className="desk-none">Nothing waits for a decision.</p>}
      </div>
      {waiting.length > 0 && <ul className="desk-cards" aria-label="Waiting">{waiting.map((request) => <DeskCard key={request.request_id} request={request} />)}</ul>}
      {workspace && me !== null && canWrite(me.role) && <Errand />}
      <DeskRules />
      {over.length > 0 && (
        <>
          <h3 className="earlier">Earlier</h3>
          <ul className="desk-cards" aria-label="Earlier">{over.map((request) => <DeskCard key={request.request_id} request={request} />)}</ul>
        </>
      )}
    </Dialog>
  )
}
