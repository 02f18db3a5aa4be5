/** The desk: everything that waits for a decision and belongs to no document. Reached from every page. */
import { type RefObject, useEffect, useRef } from 'react'
import { canDecide, canWrite } from '../editor/store.ts'
import { useDeskDrafts } from '../review/drafts.ts'
import { useFocusHeartbeat } from '../review/focus.ts'
import { OrphanList } from '../review/OrphanList.tsx'
import { mayDecide, useDeskReviewer } from '../review/who.ts'
import { useCapability, useSession } from '../session/store.ts'
import { Dialog } from '../ui/Dialog.tsx'
import { Icon } from '../ui/icons.tsx'
import { many } from '../ui/when.ts'
import { DeskBin } from './DeskBin.tsx'
import { DeskCard } from './DeskCard.tsx'
import { DeskRules } from './DeskRules.tsx'
import { Errand } from './Errand.tsx'
import { focusCard, press } from './keys.ts'
import { useDeskOrphans } from './orphans.ts'
import { sorted, useDesk } from './store.ts'
import { cardOf, useAttention } from './useAttention.ts'

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
  useDeskOrphans()
  const open = useDesk((desk) => desk.open)
  return open ? <Open /> : null
}

function Open() {
  const { waiting } = sorted(useDesk((desk) => desk.requests))
  const me = useSession((session) => session.me)
  const reviewer = useDeskReviewer()
  const workspace = useCapability('workspace')
  const desk = useRef<HTMLDivElement>(null)
  const at = useAttention(desk, waiting.map(({ request_id }) => request_id))
  const here = waiting.find(({ request_id }) => request_id === at)
  useFocusHeartbeat(at, here !== undefined && mayDecide(here, reviewer))
  useFocusKept(desk, at)
  useWanted(desk)
  useKeys(desk, (event, box) => press(event, box, waiting, at, reviewer))
  return (
    <Dialog title="Desk" className="desk-dialog" onClose={() => useDesk.setState({ open: false })}>
      <div ref={desk}>
        <div role="status" aria-live="polite">
          {waiting.length === 0 ? <p className="desk-none">Nothing waits for a decision.</p> : <p className="hidden-label">{many(waiting.length, 'request')} waiting</p>}
        </div>
        <OrphanList store={useDeskDrafts} />
        {waiting.length > 0 && <ul className="desk-cards" aria-label="Waiting">{waiting.map((request) => <DeskCard key={request.request_id} request={request} active={request.request_id === at} />)}</ul>}
        {workspace && me !== null && canWrite(me.role) && <Errand />}
        <DeskRules />
        <DeskBin />
      </div>
    </Dialog>
  )
}

/** From everywhere in the dialog, its head included. */
function useKeys(desk: RefObject<HTMLDivElement | null>, act: (event: KeyboardEvent, box: HTMLElement) => void): void {
  const latest = useRef(act)
  useEffect(() => {
    latest.current = act
  })
  useEffect(() => {
    const box = desk.current
    const dialog = box?.closest('dialog')
    if (!box || !dialog) return
    const pressed = (event: KeyboardEvent) => latest.current(event, box)
    dialog.addEventListener('keydown', pressed)
    return () => dialog.removeEventListener('keydown', pressed)
  }, [desk])
}

/** Goes to the card that is wanted, as soon as it is there. */
function useWanted(desk: RefObject<HTMLDivElement | null>): void {
  const wanted = useDesk((desk) => desk.wanted)
  const requests = useDesk((desk) => desk.requests)
  useEffect(() => {
    if (wanted !== null && desk.current && focusCard(desk.current, wanted)) useDesk.setState({ wanted: null })
  }, [desk, wanted, requests])
  useEffect(() => () => useDesk.setState({ wanted: null }), [])
}

/** A card that is decided takes the keyboard's place with it: the next one gets it. */
function useFocusKept(desk: RefObject<HTMLDivElement | null>, at: string | null): void {
  const inside = useRef(false)
  useEffect(() => {
    const box = desk.current
    if (box && at !== null && inside.current && (document.activeElement === document.body || document.activeElement === box.closest('dialog'))) focusCard(box, at)
  }, [desk, at])
  useEffect(() => {
    inside.current = cardOf(document.activeElement) !== null
  })
}
