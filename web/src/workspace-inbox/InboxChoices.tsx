/** Buttons that decide a request without a document. */
import { Button } from '../ui/Button.tsx'
import { useSession } from '../session/store.ts'
import { useBusy } from '../review/stores/busy.ts'
import { verbsFor } from './state/wording.ts'
import { mayType } from '../review/state/permissions.ts'
import { useInboxReviewer } from '../review/stores/reviewer.ts'
import type { DecisionKind } from '../wire/generated.ts'
import type { CardProps } from './cardProps.ts'
import { type CardActivity, updateCard } from './state/store.ts'
import { MOD, SHIFT, ALT } from '../ui/keyNames.ts'
import { approve } from './state/keyBindings.ts'
import { Icon } from '../ui/icons.tsx'
import { RememberOffer } from '../rules/RememberOffer.tsx'
import { decideRequest } from './state/decide.ts'
import { acceptanceOfAll } from '../review/state/responses.ts'
import './InboxChoices.css'

export function Choices({ request, scope }: CardProps) {
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
      <Button
        look="accept"
        data-decides=""
        disabled={off}
        aria-label={`${verb} ${scope}`}
        title={`${verb} (A, or ${MOD} ↵)`}
        onClick={() => approve(request)}
      >
        {verb}
        {careful && '…'}
      </Button>
      <Button
        look="quiet"
        disabled={off}
        aria-label={`${verb} ${scope} with a note`}
        title={`${verb} with a note`}
        onClick={begin('noting')}
      >
        <Icon name="speech" size={14} />
      </Button>
    </span>
  )
  return (
    <div className="hunk-actions">
      {!careful && yes}
      <Button
        disabled={off}
        aria-label={`Reject ${scope}`}
        title={`Reject (R, or ${MOD} ${SHIFT} ↵)`}
        onClick={begin('rejecting')}
      >
        Reject…
      </Button>
      {careful && yes}
      {may('edit') && (
        <Button
          look="quiet"
          disabled={off}
          aria-label={`Edit ${scope}`}
          title={`Edit before it runs (E, or ${ALT} ↵)`}
          onClick={begin('editing')}
        >
          Edit…
        </Button>
      )}
      {may('respond') && (
        <Button
          look="quiet"
          disabled={off}
          aria-label={`Answer instead of ${scope}`}
          onClick={begin('answering')}
        >
          Answer instead…
        </Button>
      )}
      <RememberOffer
        request={request}
        accept={verb}
        send={(remember) => decideRequest(request, { ...acceptanceOfAll(request), remember })}
      />
    </div>
  )
}
