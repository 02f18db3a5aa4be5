/** Several suggestions at once: one decision, one message, each decided on its own. */
import { useSession } from '../../session/store.ts'
import { Icon } from '../../ui/icons.tsx'
import { plural } from '../../ui/timeFormat.ts'
import type { Hunk, ToolApprovalRequest } from '../../wire/generated.ts'
import { batchOf } from '../state/batch.ts'
import { useReviewState } from '../hooks/useReviewState.ts'
import { useBusy } from '../stores/busy.ts'
import { decideBatch } from '../actions/decide.ts'
import { keptEdits } from '../stores/drafts.ts'
import { usePanel } from '../stores/panel.ts'
import { DecideTogether } from './DecideTogether.tsx'
import { ReasonForm } from './cards/ReasonForm.tsx'
import { acceptanceOfAll, rejectionOfAll } from '../state/responses.ts'
import { votedOf, votedCount } from '../state/votes.ts'
import { feedbackOnAcceptAll, feedbackOnRejectAll } from '../state/modelFeedback.ts'
import { useReview } from '../stores/requests.ts'
import { useReviewer } from '../stores/reviewer.ts'
import { ALL_REQUESTS, draftOf } from '../state/drafts.ts'
import type { DecisionForm } from '../state/decisionForms.ts'
import './BatchDecision.css'

/** The names under which the panel remembers that words for all of them are being written. */
const NOTE = draftOf(ALL_REQUESTS, 'note')
const REASON = draftOf(ALL_REQUESTS, 'reason')

export function BatchDecision() {
  const requests = useReview((state) => state.requests)
  const hunks = useReviewState(({ hunks }) => hunks)
  const reasoning = usePanel((panel) => panel.reasoning)
  const together = batchOf(requests, hunks, useReviewer())
  if (together === null) return <DecideTogether />
  const { waiting, acceptable, ready, open } = together
  const accept = `Accept all ${ready} ${inAll(acceptable)}`
  const [first] = waiting
  return (
    <>
      <DecideTogether />
      <section className="card batch" aria-label="All suggestions">
        {reasoning === NOTE && acceptable.length > 0 ? (
          <ReasonForm keptAs={NOTE} forms={[acceptingAll(acceptable, accept)]} />
        ) : reasoning === REASON && first ? (
          <ReasonForm keptAs={REASON} forms={[rejectingAll(waiting, first, open)]} />
        ) : (
          <Choices
            waiting={waiting}
            ready={pendingOf(acceptable, hunks)}
            accept={accept}
            open={open}
          />
        )}
      </section>
    </>
  )
}

const pendingOf = (
  requests: readonly ToolApprovalRequest[],
  hunks: readonly Hunk[],
): readonly string[] =>
  hunks
    .filter((hunk) => hunk.status === 'pending')
    .filter((hunk) => requests.some(({ request_id }) => request_id === hunk.request_id))
    .map(({ id }) => id)

const inAll = (requests: readonly ToolApprovalRequest[]): string =>
  `in ${plural(requests.length, 'suggestion')}`

/** The words for the AI are shown for the first of them: each request gets the same words. */
function acceptingAll(requests: readonly ToolApprovalRequest[], label: string): DecisionForm {
  return {
    verdict: 'accept',
    label,
    draft: (words) => acceptanceOfAll(requests[0]!, words, keptEdits()),
    feedback: feedbackOnAcceptAll,
    send: (words) =>
      decideBatch(requests, (request) => acceptanceOfAll(request, words, keptEdits())),
  }
}

function rejectingAll(
  requests: readonly ToolApprovalRequest[],
  first: ToolApprovalRequest,
  open: number,
): DecisionForm {
  return {
    verdict: 'reject',
    label: `Reject all ${open} ${inAll(requests)}`,
    draft: (words) => rejectionOfAll(first, words),
    feedback: (words) => feedbackOnRejectAll(first, words),
    send: (words) => decideBatch(requests, (request) => rejectionOfAll(request, words)),
  }
}

interface ChoicesProps {
  waiting: readonly ToolApprovalRequest[]
  /** The changes that can be accepted now. */
  ready: readonly string[]
  accept: string
  open: number
}

function Choices({ waiting, ready, accept, open }: ChoicesProps) {
  const busy = useBusy((state) => state.ids.size > 0)
  const offline = useSession((session) => session.link !== 'online')
  const off = busy || offline
  return (
    <>
      <p>
        {plural(waiting.length, 'suggestion')} to review. {votedCount(votedOf(waiting))}
      </p>
      <div className="hunk-actions">
        {ready.length > 0 && (
          <>
            <button
              data-decides=""
              type="button"
              className="button is-accept"
              disabled={off}
              onClick={() => usePanel.setState({ together: { title: accept, ids: ready } })}
            >
              {accept}…
            </button>
            <button
              type="button"
              className="button is-quiet"
              disabled={off}
              aria-label={`${accept}, with a note`}
              title="Accept with a note"
              onClick={() => usePanel.setState({ reasoning: NOTE, editing: null })}
            >
              <Icon name="speech" size={14} />
            </button>
          </>
        )}
        <button
          type="button"
          className="button"
          disabled={off}
          onClick={() => usePanel.setState({ reasoning: REASON, editing: null })}
        >
          Reject all {open}…
        </button>
      </div>
    </>
  )
}
