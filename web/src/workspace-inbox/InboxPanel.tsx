/**
 * The desk: everything that waits for a decision and belongs to no document. Reached from every
 * page.
 */
import { type RefObject, useEffect, useRef } from 'react'
import { useInboxDrafts } from '../review/stores/drafts.ts'
import { useFocusHeartbeat } from '../review/actions/focusHeartbeat.ts'
import { OrphanedDraftList } from '../review/views/OrphanedDraftList.tsx'
import { mayDecide } from '../review/state/permissions.ts'
import { useCapability, useSession } from '../session/store.ts'
import { Dialog } from '../ui/Dialog.tsx'
import { plural } from '../ui/timeFormat.ts'
import { InboxBin } from './InboxBin.tsx'
import { InboxCard } from './InboxCard.tsx'
import { InboxRules } from './InboxRules.tsx'
import { PromptBox } from './PromptBox.tsx'
import { focusCard, handleInboxKey } from './state/keyBindings.ts'
import { useInboxOrphans } from './state/orphanedDrafts.ts'
import { splitByWaiting, useInbox } from './state/store.ts'
import { cardOf, useFocusedCard } from './state/useFocusedCard.ts'
import { canWrite } from '../session/roles.ts'
import { useInboxReviewer } from '../review/stores/reviewer.ts'
import './InboxPanel.css'

export function InboxPanel() {
  useInboxOrphans()
  const open = useInbox((inbox) => inbox.open)
  return open ? <Open /> : null
}

function Open() {
  const { waiting } = splitByWaiting(useInbox((inbox) => inbox.requests))
  const me = useSession((session) => session.me)
  const reviewer = useInboxReviewer()
  const workspace = useCapability('workspace')
  const desk = useRef<HTMLDivElement>(null)
  const at = useFocusedCard(
    desk,
    waiting.map(({ request_id }) => request_id),
  )
  const here = waiting.find(({ request_id }) => request_id === at)
  useFocusHeartbeat(at, here !== undefined && mayDecide(here, reviewer))
  useFocusKept(desk, at)
  useWanted(desk)
  useKeys(desk, (event, box) => handleInboxKey(event, box, waiting, at, reviewer))
  return (
    <Dialog
      title="Desk"
      className="inbox-dialog"
      onClose={() => useInbox.setState({ open: false })}
    >
      <div ref={desk}>
        <div role="status" aria-live="polite">
          {waiting.length === 0 ? (
            <>
              <p className="inbox-none">Nothing waits for a decision.</p>
              <p className="inbox-none">
                What the AI wants to do outside of a document waits here: make a document, write a
                file, run a command.
              </p>
            </>
          ) : (
            <p className="hidden-label">{plural(waiting.length, 'request')} waiting</p>
          )}
        </div>
        <OrphanedDraftList store={useInboxDrafts} />
        {waiting.length > 0 && (
          <ul className="inbox-cards" aria-label="Waiting">
            {waiting.map((request) => (
              <InboxCard
                key={request.request_id}
                request={request}
                active={request.request_id === at}
              />
            ))}
          </ul>
        )}
        {workspace && me !== null && canWrite(me.role) && <PromptBox />}
        <InboxRules />
        <InboxBin />
      </div>
    </Dialog>
  )
}

/** From everywhere in the dialog, its head included. */
function useKeys(
  desk: RefObject<HTMLDivElement | null>,
  act: (event: KeyboardEvent, box: HTMLElement) => void,
): void {
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
  const wanted = useInbox((inbox) => inbox.wanted)
  const requests = useInbox((inbox) => inbox.requests)
  useEffect(() => {
    if (wanted !== null && desk.current && focusCard(desk.current, wanted))
      useInbox.setState({ wanted: null })
  }, [desk, wanted, requests])
  useEffect(() => () => useInbox.setState({ wanted: null }), [])
}

/** A card that is decided takes the keyboard's place with it: the next one gets it. */
function useFocusKept(desk: RefObject<HTMLDivElement | null>, at: string | null): void {
  const inside = useRef(false)
  useEffect(() => {
    const box = desk.current
    if (
      box &&
      at !== null &&
      inside.current &&
      (document.activeElement === document.body || document.activeElement === box.closest('dialog'))
    )
      focusCard(box, at)
  }, [desk, at])
  useEffect(() => {
    inside.current = cardOf(document.activeElement) !== null
  })
}
