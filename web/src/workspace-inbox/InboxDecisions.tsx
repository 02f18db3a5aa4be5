/**
 * What can be done about a card: a yes, with or without a note, a no with its reason, another
 * input, an answer instead.
 */
import { RememberOffer } from '../rules/RememberOffer.tsx'
import { Countdown } from '../review/views/cards/Countdown.tsx'
import { useBusy } from '../review/stores/busy.ts'
import { useInboxDrafts } from '../review/stores/drafts.ts'
import { ReasonForm } from '../review/views/cards/ReasonForm.tsx'
import { acceptanceOfAll } from '../review/state/responses.ts'
import { feedbackOnApprove } from '../review/state/modelFeedback.ts'
import { ModelFeedback } from '../review/views/cards/ModelFeedback.tsx'
import { respondForm, approveForm, rejectForm } from '../review/state/decisionForms.ts'
import { mayDecide, mayType, onlookers, reasonCannotDecide } from '../review/state/permissions.ts'
import { useSession } from '../session/store.ts'
import { Icon } from '../ui/icons.tsx'
import { ALT, MOD, SHIFT } from '../ui/keyNames.ts'
import type { ToolApprovalRequest, DecisionKind } from '../wire/generated.ts'
import { EditInput } from './EditInput.tsx'
import { approve } from './state/keyBindings.ts'
import { ConfirmStep } from './ConfirmStep.tsx'
import { decideRequest } from './state/decide.ts'
import { type CardActivity, updateCard, useInbox } from './state/store.ts'
import { verbsFor } from './state/wording.ts'
import { useInboxReviewer } from '../review/stores/reviewer.ts'
import { draftOf } from '../review/state/drafts.ts'

const REASONS = ['Not needed', 'Wrong place', 'Too risky']

interface Props {
  request: ToolApprovalRequest
  /** What tells the card from the others. */ scope: string
}

export function InboxDecisions({ request, scope }: Props) {
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

function Ways({ request, scope }: Props) {
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

function Confirm({ request, scope }: Props) {
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

function Choices({ request, scope }: Props) {
  const offline = useSession((session) => session.link !== 'online')
  const busy = useBusy(({ ids }) => ids.has(request.request_id))
  const off = offline || busy
  const careful = request.default_to_no
  const { approve: verb } = verbsFor(request)
  const types = mayType(useInboxReviewer())
  const may = (decision: DecisionKind) =>
    request.allowed_decisions.includes(decision) && (types || decision !== 'edit')
  const begin = (what: CardActivity) => () => updateCard(request.request_id, what)
  const yes = (
    <span className="inbox-yes">
      <button
        data-decides=""
        type="button"
        className="button is-accept"
        disabled={off}
        aria-label={`${verb} ${scope}`}
        title={`${verb} (A, or ${MOD} ↵)`}
        onClick={() => approve(request)}
      >
        {verb}
        {careful && '…'}
      </button>
      <button
        type="button"
        className="button is-quiet"
        disabled={off}
        aria-label={`${verb} ${scope} with a note`}
        title={`${verb} with a note`}
        onClick={begin('noting')}
      >
        <Icon name="speech" size={14} />
      </button>
    </span>
  )
  return (
    <div className="hunk-actions">
      {!careful && yes}
      <button
        type="button"
        className="button"
        disabled={off}
        aria-label={`Reject ${scope}`}
        title={`Reject (R, or ${MOD} ${SHIFT} ↵)`}
        onClick={begin('rejecting')}
      >
        Reject…
      </button>
      {careful && yes}
      {may('edit') && (
        <button
          type="button"
          className="button is-quiet"
          disabled={off}
          aria-label={`Edit ${scope}`}
          title={`Edit before it runs (E, or ${ALT} ↵)`}
          onClick={begin('editing')}
        >
          Edit…
        </button>
      )}
      {may('respond') && (
        <button
          type="button"
          className="button is-quiet"
          disabled={off}
          aria-label={`Answer instead of ${scope}`}
          onClick={begin('answering')}
        >
          Answer instead…
        </button>
      )}
      <RememberOffer
        request={request}
        accept={verb}
        send={(remember) => decideRequest(request, { ...acceptanceOfAll(request), remember })}
      />
    </div>
  )
}
