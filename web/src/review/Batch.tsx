/** Several suggestions at once: one decision, one message, each decided on its own. */
import { useDocument } from '../editor/store.ts'
import { useSession } from '../session/store.ts'
import { many } from '../ui/when.ts'
import { decideBatch, useBusy } from './decide.ts'
import { usePanel } from './panel.ts'
import { ReasonForm } from './ReasonForm.tsx'
import { acceptanceOfAll, rejectionOfAll } from './responses.ts'
import { isWaiting, tally, useReview } from './store.ts'
import { mayDecide, useReviewer } from './who.ts'
import { toldOnRejectAll } from './told.ts'

/** The name under which the panel remembers that a reason for all of them is being written. */
const ALL = 'all'

export function Batch() {
  const requests = useReview((state) => state.requests)
  const hunks = useDocument((state) => state.hunks)
  const reasoning = usePanel((panel) => panel.reasoning)
  const busy = useBusy((state) => state.ids.size > 0)
  const reviewer = useReviewer()
  const offline = useSession((session) => session.link !== 'online')
  const waiting = Object.values(requests).filter((request) => isWaiting(request) && tally(request.hunks).open > 0 && mayDecide(request, reviewer))
  if (waiting.length < 2) return null
  const ids = new Set(waiting.map((request) => request.request_id))
  const ready = hunks.filter((hunk) => ids.has(hunk.request_id) && hunk.status === 'pending')
  const acceptable = waiting.filter((request) => ready.some((hunk) => hunk.request_id === request.request_id))
  const open = waiting.reduce((sum, request) => sum + tally(request.hunks).open, 0)
  const inAll = (count: number) => `in ${many(count, 'suggestion')}`
  if (reasoning === ALL) {
    const [first] = waiting
    return (
      <section className="card batch" aria-label="All suggestions">
        <ReasonForm ways={[{
          verdict: 'reject', label: `Reject all ${open} ${inAll(waiting.length)}`,
          draft: (words) => rejectionOfAll(first!, words), told: (words) => toldOnRejectAll(first!, words),
          send: (words) => decideBatch(waiting, (request) => rejectionOfAll(request, words)),
        }]}
        />
      </section>
    )
  }
  return (
    <section className="card batch" aria-label="All suggestions">
      <p>{many(waiting.length, 'suggestion')} wait for you.</p>
      <div className="hunk-actions">
        {ready.length > 0 && (
          <button type="button" className="button is-accept" disabled={busy || offline} onClick={() => void decideBatch(acceptable, (request) => acceptanceOfAll(request))}>
            Accept all {ready.length} {inAll(acceptable.length)}
          </button>
        )}
        <button type="button" className="button" disabled={busy || offline} onClick={() => usePanel.setState({ reasoning: ALL, editing: null })}>
          Reject all {open}…
        </button>
      </div>
    </section>
  )
}
