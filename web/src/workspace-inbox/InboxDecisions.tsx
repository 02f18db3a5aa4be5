/**
 * The decisions about a card: a yes, with or without a note, a no with its reason, another input,
 * an answer instead.
 */
import { Countdown } from '../review/views/cards/Countdown.tsx'
import { useInboxDrafts } from '../review/stores/drafts.ts'
import { ReasonForm } from '../review/views/cards/ReasonForm.tsx'
import { acceptanceOfAll } from '../review/state/responses.ts'
import { feedbackOnApprove } from '../review/state/modelFeedback.ts'
import { ModelFeedback } from '../review/views/cards/ModelFeedback.tsx'
import { respondForm, approveForm, rejectForm } from '../review/state/decisionForms.ts'
import { mayDecide, onlookers, reasonCannotDecide } from '../review/state/permissions.ts'
import { EditInput } from './EditInput.tsx'
import { ConfirmStep } from './ConfirmStep.tsx'
import { decideRequest } from './state/decide.ts'
import { updateCard, useInbox } from './state/store.ts'
import { verbsFor } from './state/wording.ts'
import { useInboxReviewer } from '../review/stores/reviewer.ts'
import { draftOf } from '../review/state/drafts.ts'
import type { CardProps } from './cardProps.ts'
import { Choices } from './InboxChoices.tsx'
import './InboxDecisions.css'

const REASONS = ['Not needed', 'Wrong place', 'Too risky']

export function InboxDecisions({ request, scope }: CardProps) {
  const reviewer = useInboxReviewer()
  const viewers = useInbox((inbox) => inbox.viewers[request.request_id])
  const decides = mayDecide(request, reviewer)
  return (
    <div className="inbox-decisions">
      {decides ? (
        <Ways request={request} scope={scope} />
      ) : (
        <p className="card-note">
          {reasonCannotDecide(request, reviewer) ?? 'Somebody else decides this.'}
        </p>
      )}
      <Countdown
        request={request}
        others={onlookers(viewers ?? [], reviewer.id)}
        mayDecide={decides}
      />
    </div>
  )
}

function Ways({ request, scope }: CardProps) {
  const id = request.request_id
  const doing = useInbox((inbox) => inbox.doing[id])
  const close = () => updateCard(id, null)
  const { approve: verb, confirm } = verbsFor(request)
  const kept = { store: useInboxDrafts, onClose: close }
  switch (doing) {
    case 'rejecting':
      return (
        <ReasonForm
          {...kept}
          keptAs={draftOf(id, 'reason')}
          reasons={REASONS}
          forms={[rejectForm(request, 'Reject', decideRequest, `Reject ${scope}`)]}
        />
      )
    case 'noting':
      return (
        <ReasonForm
          {...kept}
          keptAs={draftOf(id, 'note')}
          forms={[
            approveForm(
              request,
              request.default_to_no ? confirm : verb,
              decideRequest,
              `${verb} ${scope} with this note`,
            ),
          ]}
        />
      )
    case 'answering':
      return (
        <ReasonForm
          {...kept}
          keptAs={draftOf(id, 'answer')}
          forms={[respondForm(request, 'Answer', decideRequest, `Answer instead of ${scope}`)]}
        />
      )
    case 'editing':
      return <EditInput request={request} scope={scope} onClose={close} />
    case 'confirming':
      return <Confirm request={request} scope={scope} />
    case undefined:
      return <Choices request={request} scope={scope} />
  }
}

function Confirm({ request, scope }: CardProps) {
  const { confirm } = verbsFor(request)
  const close = () => updateCard(request.request_id, null)
  return (
    <ConfirmStep
      id={request.request_id}
      yes={confirm}
      name={`${confirm}: ${scope}`}
      onYes={() => void decideRequest(request, { approved: true }).then((done) => done || close())}
      onClose={close}
    >
      <ModelFeedback response={acceptanceOfAll(request)} otherwise={feedbackOnApprove('')} />
    </ConfirmStep>
  )
}
