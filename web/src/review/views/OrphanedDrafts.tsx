/** Half-written edits, reasons and notes about what was decided otherwise. */
import { useEffect } from 'react'
import { openDocument } from '../../document/openDocument.ts'
import { useOpenDocument } from '../../document/useOpenDocument.ts'
import { batchOf } from '../state/batch.ts'
import { useReviewState } from '../hooks/useReviewState.ts'
import { useBusy } from '../stores/busy.ts'
import { useDrafts } from '../stores/drafts.ts'
import { orphaned } from '../state/orphans.ts'
import { outcomeSummary } from '../state/outcomeSummary.ts'
import { isOpen } from '../state/hunk.ts'
import { OrphanedDraftList } from './OrphanedDraftList.tsx'
import { isWaiting } from '../state/requests.ts'
import { wasDecidedHere } from '../actions/undo.ts'
import { canWrite } from '../../session/roles.ts'
import { useRequests } from '../stores/requests.ts'
import { useReviewer } from '../stores/reviewer.ts'
import { ALL_REQUESTS } from '../state/drafts.ts'

export function OrphanedDrafts() {
  useOrphans()
  const writes = useOpenDocument((state) => canWrite(state.role))
  return <OrphanedDraftList onPutIn={writes ? putIn : undefined} />
}

/** As one's own typing: it needs no approval. */
function putIn(text: string): void {
  const view = openDocument()?.view
  if (!view) return
  view.dispatch(view.state.replaceSelection(text), { scrollIntoView: true, userEvent: 'input' })
  view.focus()
}

/**
 * Offers drafts back once the screen shows something as decided, and not while our own decision
 * about it is on its way.
 */
function useOrphans(): void {
  const hunks = useReviewState(({ hunks }) => hunks)
  const phase = useOpenDocument((state) => state.phase)
  const reviewer = useReviewer()
  const requests = useRequests((state) => state.requests)
  const busy = useBusy((state) => state.ids)
  const { id: me, role } = reviewer
  useEffect(() => {
    if (phase !== 'open') return
    const asked = Object.values(requests)
    const all = asked.flatMap((request) => request.hunks)
    const waiting = asked.filter(isWaiting).map((request) => request.request_id)
    const together = batchOf(requests, hunks, { id: me, role }) ? [ALL_REQUESTS] : []
    const open = new Set(
      [...hunks, ...all.filter((hunk) => isOpen(hunk.status))]
        .map((hunk) => hunk.id)
        .concat(waiting, together),
    )
    // What is sent about a request names its changes.
    const sending = new Set([
      ...busy,
      ...all.filter((hunk) => busy.has(hunk.id)).map((hunk) => hunk.request_id),
      ...(busy.size > 0 ? [ALL_REQUESTS] : []),
    ])
    const hunk = (id: string) => all.find((one) => one.id === id)
    const find = (about: string) =>
      hunk(about) ?? (requests[about] && outcomeSummary(requests[about], me))
    // Another person may have decided anew a change that was decided here and taken back.
    const isOwn = (about: string) =>
      wasDecidedHere(about) && (hunk(about)?.decided?.by.id ?? me) === me
    useDrafts.setState((drafts) => orphaned(drafts, { open, sending, find, isOwn }))
  }, [hunks, phase, requests, busy, me, role])
}
