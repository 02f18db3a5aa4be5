/** Several suggestions at once: one decision, one message, each decided on its own. */
import { OnlineButton } from '../../session/OnlineButton.tsx'
import { Icon } from '../../ui/icons.tsx'
import { plural } from '../../ui/timeFormat.ts'
import type { ToolApprovalRequest } from '../../wire/generated.ts'
import { type Batch, batchOf } from '../state/batch.ts'
import { useReviewState } from '../hooks/useReviewState.ts'
import { useBusy } from '../stores/busy.ts'
import { decideBatch } from '../actions/decide.ts'
import { keptEdits } from '../stores/drafts.ts'
import { usePanel } from '../stores/panel.ts'
import { KeepMeaningButton } from './cards/KeepMeaningButton.tsx'
import { ReasonForm } from './cards/ReasonForm.tsx'
import { acceptanceOfAll, rejectionOfAll } from '../state/responses.ts'
import { votedOf, votedCount } from '../state/votes.ts'
import { useRequests } from '../stores/requests.ts'
import { useReviewer } from '../stores/reviewer.ts'
import { ALL_REQUESTS, draftOf } from '../state/drafts.ts'
import { acceptAllForm, type DecisionForm, rejectForm } from '../state/decisionForms.ts'
import './BatchDecision.css'

/** The names under which the panel remembers that words for all of them are being written. */
const NOTE = draftOf(ALL_REQUESTS, 'note')
const REASON = draftOf(ALL_REQUESTS, 'reason')

export function BatchDecision() {
  const requests = useRequests((state) => state.requests)
  const hunks = useReviewState(({ hunks }) => hunks)
  const reasoning = usePanel((panel) => panel.reasoning)
  const together = batchOf(requests, hunks, useReviewer())
  if (together === null) return null
  const { waiting, acceptable, ready, open } = together
  const accept = `Accept all ${ready.length} ${inAll(acceptable)}`
  const [first] = waiting
  return (
    <section className="card batch" aria-label="All suggestions">
      {reasoning === NOTE && acceptable.length > 0 ? (
        <ReasonForm keptAs={NOTE} forms={[acceptingAll(acceptable, accept)]} />
      ) : reasoning === REASON && first ? (
        <ReasonForm keptAs={REASON} forms={[rejectingAll(waiting, first, open)]} />
      ) : (
        <Choices batch={together} accept={accept} />
      )}
    </section>
  )
}

const inAll = (requests: readonly ToolApprovalRequest[]): string =>
  `in ${plural(requests.length, 'suggestion')}`

/** The words for the AI are shown for the first of them: each request gets the same words. */
const acceptingAll = (requests: readonly ToolApprovalRequest[], label: string): DecisionForm =>
  acceptAllForm(
    requests[0]!,
    label,
    (_, { note }) =>
      decideBatch(requests, (request) => acceptanceOfAll(request, note, keptEdits())),
    keptEdits(),
  )

const rejectingAll = (
  requests: readonly ToolApprovalRequest[],
  first: ToolApprovalRequest,
  open: number,
): DecisionForm =>
  rejectForm(first, `Reject all ${open} ${inAll(requests)}`, (_, { feedback }) =>
    decideBatch(requests, (request) => rejectionOfAll(request, feedback)),
  )

function Choices({ batch, accept }: { batch: Batch; accept: string }) {
  const { waiting, acceptable, ready, open } = batch
  const busy = useBusy((state) => state.ids.size > 0)
  return (
    <>
      <p>
        {plural(waiting.length, 'suggestion')} to review. {votedCount(votedOf(waiting))}
      </p>
      <div className="hunk-actions">
        {ready.length > 0 && (
          <>
            <OnlineButton
              look="accept"
              data-decides=""
              disabled={busy}
              onClick={() => usePanel.setState({ together: { title: accept, hunks: ready } })}
            >
              {accept}…
            </OnlineButton>
            <OnlineButton
              look="quiet"
              disabled={busy}
              aria-label={`${accept}, with a note`}
              title="Accept with a note"
              onClick={() => usePanel.setState({ reasoning: NOTE, editing: null })}
            >
              <Icon name="speech" size={14} />
            </OnlineButton>
          </>
        )}
        <KeepMeaningButton of={acceptable} />
        <OnlineButton
          disabled={busy}
          onClick={() => usePanel.setState({ reasoning: REASON, editing: null })}
        >
          Reject all {open}…
        </OnlineButton>
      </div>
    </>
  )
}
