/**
 * Half-written words about requests of the desk, once those are over: kept, and announced where the
 * person does not see it.
 */
import { useEffect, useState } from 'react'
import { useBusy } from '../../review/stores/busy.ts'
import { forgetDrafts, useInboxDrafts } from '../../review/stores/drafts.ts'
import { orphaned } from '../../review/state/orphans.ts'
import { applyRequest, isWaiting } from '../../review/state/requests.ts'
import { attempt } from '../../session/attempt.ts'
import { useSession, wire } from '../../session/store.ts'
import { toast } from '../../ui/toasts.ts'
import { useInbox } from './store.ts'
import { outcomeOf, scopeOf } from './wording.ts'

/** The person whose words are kept. */
let whose: string | undefined

/** Not while our own decision is on its way, nor before the list of waiting requests has come. */
export function useInboxOrphans(): void {
  const requests = useInbox((inbox) => inbox.requests)
  const busy = useBusy(({ ids }) => ids)
  const me = useSession((session) => session.me?.user.id)
  const told = useTold()
  useEffect(() => {
    if (me === undefined) return
    // Another person has signed in here: these are not their words.
    if (whose !== undefined && whose !== me) forgetDrafts([useInboxDrafts])
    whose = me
  }, [me])
  useEffect(() => {
    if (!told) return
    const open = new Set(
      Object.values(requests)
        .filter(isWaiting)
        .map(({ request_id }) => request_id),
    )
    const before = useInboxDrafts.getState()
    const find = (id: string) => {
      const request = requests[id]
      return request && `${scopeOf(request)}: ${outcomeOf(request)}`
    }
    const after = orphaned(before, { open, sending: busy, find })
    useInboxDrafts.setState(after)
    if (after.orphans.length > before.orphans.length && !useInbox.getState().open) {
      toast('A request in the Desk was decided without your words. They are kept there.', {
        action: { label: 'Show', run: () => useInbox.setState({ open: true }) },
        about: 'orphan',
      })
    }
  }, [requests, busy, told])
}

/**
 * True once all waiting requests have come since we connected: a card that is not among them is
 * gone.
 */
function useTold(): boolean {
  const online = useSession((session) => session.link === 'online')
  const [told, setTold] = useState(false)
  useEffect(() => {
    if (!online) return
    let here = true
    // Without the list, words stay where they are.
    void attempt(wire.call('list_pending_approvals', {}), () => undefined).then((list) => {
      if (!here || !list) return
      const ours = list.requests.filter((request) => request.document_id === null)
      useInbox.setState((inbox) => ours.reduce(applyRequest, inbox))
      setTold(true)
    })
    return () => {
      here = false
      setTold(false)
    }
  }, [online])
  return told
}
