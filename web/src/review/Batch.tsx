/** Several suggestions at once: one decision, one message, each decided on its own. */
import { useDocument } from '../editor/store.ts'
import { useSession } from '../session/store.ts'
import { Icon } from '../ui/icons.tsx'
import { many } from '../ui/when.ts'
import type { ApprovalRequest } from '../wire/types.ts'
import { decideBatch, useBusy } from './decide.ts'
import { usePanel } from './panel.ts'
import { ReasonForm, type Way } from './ReasonForm.tsx'
import { acceptanceOfAll, rejectionOfAll } from './responses.ts'
import { isWaiting, tally, useReview } from './store.ts'
import { toldOnAcceptAll, toldOnRejectAll } from './told.ts'
import { mayDecide, useReviewer } from './who.ts'

/** The names under which the panel remembers that words for all of them are being written. */
const NOTE = 'all, with a note'
const REASON = 'all, with a reason'

export function Batch() {
  const requests = useReview((state) => state.requests)
  const hunks = useDocument((state) => state.hunks)
  const reasoning = usePanel((panel) => panel.reasoning)
  const reviewer = useReviewer()
  const waiting = Object.values(requests).filter((request) => isWaiting(request) && tally(request.hunks).open > 0 && mayDecide(request, reviewer))
  if (waiting.length < 2) return null
  const ready = hunks.filter((hunk) => hunk.status === 'pending' && waiting.some((request) => request.request_id === hunk.request_id))
  const acceptable = waiting.filter((request) => ready.some((hunk) => hunk.request_id === request.request_id))
  const open = waiting.reduce((sum, request) => sum + tally(request.hunks).open, 0)
  const accept = `Accept all ${ready.length} ${inAll(acceptable)}`
  const [first] = waiting
  return (
    <section className="card batch" aria-label="All suggestions">
      {reasoning === NOTE && acceptable.length > 0 ? <ReasonForm ways={[acceptingAll(acceptable, accept)]} />
        : reasoning === REASON && first ? <ReasonForm ways={[rejectingAll(waiting, first, open)]} />
          : <Choices waiting={waiting} acceptable={acceptable} accept={accept} open={open} />}
    </section>
  )
}

const inAll = (requests: readonly ApprovalRequest[]): string => `in ${many(requests.length, 'suggestion')}`

/** What the AI is told is shown for the first of them: each hears the same words. */
function acceptingAll(requests: readonly ApprovalRequest[], label: string): Way {
  return {
    verdict: 'accept', label,
    draft: (words) => acceptanceOfAll(requests[0]!, words), told: toldOnAcceptAll,
    send: (words) => decideBatch(requests, (request) => acceptanceOfAll(request, words)),
  }
}

function rejectingAll(requests: readonly ApprovalRequest[], first: ApprovalRequest, open: number): Way {
  return {
    verdict: 'reject', label: `Reject all ${open} ${inAll(requests)}`,
    draft: (words) => rejectionOfAll(first, words), told: (words) => toldOnRejectAll(first, words),
    send: (words) => decideBatch(requests, (request) => rejectionOfAll(request, words)),
  }
}

interface ChoicesProps { waiting: readonly ApprovalRequest[]; acceptable: readonly ApprovalRequest[]; accept: string; open: number }

function Choices({ waiting, acceptable, accept, open }: ChoicesProps) {
  const busy = useBusy((state) => state.ids.size > 0)
  const offline = useSession((session) => session.link !== 'online')
  const off = busy || offline
  return (
    <>
      <p>{many(waiting.length, 'suggestion')} wait for you.</p>
      <div className="hunk-actions">
        {acceptable.length > 0 && (
          <>
            <button type="button" className="button is-accept" disabled={off} onClick={() => void decideBatch(acceptable, (request) => acceptanceOfAll(request))}>{accept}</button>
            <button type="button" className="button is-quiet" disabled={off} aria-label={`${accept}, with a note`} title="Accept with a note" onClick={() => usePanel.setState({ reasoning: NOTE, editing: null })}>
              <Icon name="speech" size={14} />
            </button>
          </>
        )}
        <button type="button" className="button" disabled={off} onClick={() => usePanel.setState({ reasoning: REASON, editing: null })}>Reject all {open}…</button>
      </div>
    </>
  )
}
