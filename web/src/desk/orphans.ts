/** Half-written words about requests of the desk, once those are over: kept, and said so where somebody does not see it. */
import { useEffect, useState } from 'react'
import { useBusy } from '../review/decide.ts'
import { forgetDrafts, orphaned, useDeskDrafts } from '../review/drafts.ts'
import { announced, isWaiting } from '../review/store.ts'
import { useSession, wire } from '../session/store.ts'
import { toast } from '../ui/toasts.ts'
import { CallError } from '../wire/socket.ts'
import { useDesk } from './store.ts'
import { outcomeOf, scopeOf } from './words.ts'

/** Whose words are kept. */
let whose: string | undefined

/** Not while our own decision is on its way, nor before we were told what still waits. */
export function useDeskOrphans(): void {
  const requests = useDesk((desk) => desk.requests)
  const busy = useBusy(({ ids }) => ids)
  const me = useSession((session) => session.me?.user.id)
  const told = useTold()
  useEffect(() => {
    if (me === undefined) return
    // Somebody else has signed in here: these are not their words.
    if (whose !== undefined && whose !== me) forgetDrafts([useDeskDrafts])
    whose = me
  }, [me])
  useEffect(() => {
    if (!told) return
    const open = new Set(Object.values(requests).filter(isWaiting).map(({ request_id }) => request_id))
    const before = useDeskDrafts.getState()
    const after = orphaned(before, open, busy, (id) => {
      const request = requests[id]
      return request && `${scopeOf(request)}: ${outcomeOf(request)}`
    })
    useDeskDrafts.setState(after)
    if (after.orphans.length > before.orphans.length && !useDesk.getState().open) {
      toast('Somebody was faster at the desk. Your words are kept there.', { action: { label: 'Show', run: () => useDesk.setState({ open: true }) }, about: 'orphan' })
    }
  }, [requests, busy, told])
}

/** Whether everything that waits has been told since we connected: a card that is not in it is gone. */
function useTold(): boolean {
  const online = useSession((session) => session.link === 'online')
  const [told, setTold] = useState(false)
  useEffect(() => {
    if (!online) return
    let here = true
    wire.call('list_pending_approvals', {}).then(({ requests }) => {
      if (!here) return
      const ours = requests.filter((request) => request.document_id === null)
      useDesk.setState((desk) => ours.reduce(announced, desk))
      setTold(true)
    }, (error: unknown) => {
      // Without the list, words stay where they are.
      if (!(error instanceof CallError)) throw error
    })
    return () => {
      here = false
      setTold(false)
    }
  }, [online])
  return told
}
