/** What can be done about a card: a yes, with or without a note, a no with its reason, another input, an answer instead. */
import { RememberOffer } from '../rules/RememberOffer.tsx'
import { Countdown } from '../review/Countdown.tsx'
import { useBusy } from '../review/decide.ts'
import { draftOf, useDeskDrafts } from '../review/drafts.ts'
import { ReasonForm } from '../review/ReasonForm.tsx'
import { acceptanceOfAll } from '../review/responses.ts'
import { toldOnApprove } from '../review/told.ts'
import { Told } from '../review/Told.tsx'
import { answering, approving, rejecting } from '../review/ways.ts'
import { heldBack, mayDecide, mayType, onlookers, useDeskReviewer } from '../review/who.ts'
import { useSession } from '../session/store.ts'
import { Icon } from '../ui/icons.tsx'
import { ALT, MOD, SHIFT } from '../ui/keys.ts'
import type { ApprovalRequest } from '../wire/types.ts'
import { EditInput } from './EditInput.tsx'
import { approve } from './keys.ts'
import { SecondStep } from './SecondStep.tsx'
import { settle } from './settle.ts'
import { type Doing, doAt, useDesk } from './store.ts'
import { verbsFor } from './words.ts'

const REASONS = ['Not needed', 'Wrong place', 'Too risky']

interface Props { request: ApprovalRequest; /** What tells the card from the others. */ scope: string }

export function Decisions({ request, scope }: Props) {
  const reviewer = useDeskReviewer()
  const focus = useDesk((desk) => desk.focus[request.request_id])
  const decides = mayDecide(request, reviewer)
  return (
    <div className="desk-decisions">
      {decides ? <Ways request={request} scope={scope} /> : <p className="fate">{heldBack(request, reviewer) ?? 'Somebody else decides this.'}</p>}
      <Countdown request={request} others={onlookers(focus ?? [], reviewer.id)} mayDecide={decides} />
    </div>
  )
}

function Ways({ request, scope }: Props) {
  const id = request.request_id
  const doing = useDesk((desk) => desk.doing[id])
  const close = () => doAt(id, null)
  const { approve: verb, confirm } = verbsFor(request)
  const kept = { store: useDeskDrafts, onClose: close }
  switch (doing) {
    case 'rejecting':
      return <ReasonForm {...kept} keptAs={draftOf(id, 'reason')} reasons={REASONS} ways={[rejecting(request, 'Reject', settle, `Reject ${scope}`)]} />
    case 'noting':
      return <ReasonForm {...kept} keptAs={draftOf(id, 'note')} ways={[approving(request, request.default_to_no ? confirm : verb, settle, `${verb} ${scope} with this note`)]} />
    case 'answering':
      return <ReasonForm {...kept} keptAs={draftOf(id, 'answer')} ways={[answering(request, 'Answer', settle, `Answer instead of ${scope}`)]} />
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
  const close = () => doAt(request.request_id, null)
  return (
    <SecondStep id={request.request_id} yes={confirm} name={`${confirm}: ${scope}`} onYes={() => void settle(request, { approved: true }).then((done) => done || close())} onClose={close}>
      <Told response={acceptanceOfAll(request)} otherwise={toldOnApprove('')} />
    </SecondStep>
  )
}

function Choices({ request, scope }: Props) {
  const offline = useSession((session) => session.link !== 'online')
  const busy = useBusy(({ ids }) => ids.has(request.request_id))
  const off = offline || busy
  const careful = request.default_to_no
  const { approve: verb } = verbsFor(request)
  const types = mayType(useDeskReviewer())
  const may = (decision: string) => request.allowed_decisions.includes(decision) && (types || decision !== 'edit')
  const begin = (what: Doing) => () => doAt(request.request_id, what)
  const yes = (
    <span className="desk-yes">
      <button type="button" className="button is-accept" disabled={off} aria-label={`${verb} ${scope}`} title={`${verb} (A, or ${MOD} ↵)`} onClick={() => approve(request)}>{verb}{careful && '…'}</button>
      <button type="button" className="button is-quiet" disabled={off} aria-label={`${verb} ${scope} with a note`} title={`${verb} with a note`} onClick={begin('noting')}>
        <Icon name="speech" size={14} />
      </button>
    </span>
  )
  return (
    <div className="hunk-actions">
      {!careful && yes}
      <button type="button" className="button" disabled={off} aria-label={`Reject ${scope}`} title={`Reject (R, or ${MOD} ${SHIFT} ↵)`} onClick={begin('rejecting')}>Reject…</button>
      {careful && yes}
      {may('edit') && <button type="button" className="button is-quiet" disabled={off} aria-label={`Edit ${scope}`} title={`Edit before it runs (E, or ${ALT} ↵)`} onClick={begin('editing')}>Edit…</button>}
      {may('respond') && <button type="button" className="button is-quiet" disabled={off} aria-label={`Answer instead of ${scope}`} onClick={begin('answering')}>Answer instead…</button>}
      <RememberOffer request={request} accept={verb} send={(remember) => settle(request, { ...acceptanceOfAll(request), remember })} />
    </div>
  )
}
