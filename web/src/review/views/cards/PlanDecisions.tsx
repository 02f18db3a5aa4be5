/** The decisions about a plan. */
import { OnlineButton } from '../../../session/OnlineButton.tsx'
import { Button } from '../../../ui/Button.tsx'
import type { ToolApprovalRequest, ToolApprovalResponse } from '../../../wire/generated.ts'
import { useBusy } from '../../stores/busy.ts'
import { usePanel } from '../../stores/panel.ts'
import { ReasonForm } from './ReasonForm.tsx'
import { draftOf } from '../../state/drafts.ts'
import { rejectForm } from '../../state/decisionForms.ts'
import { decideRequest } from '../../../workspace-inbox/state/decide.ts'
import { planOf } from './PlanOutcome.tsx'

interface Deciding {
  request: ToolApprovalRequest
  edited: string | null
  /** True if the person may put in words of their own. */ types: boolean
  /** The edited words are sent, or not wanted. */ onForget: () => void
}

export function Decisions({ request, edited, types, onForget }: Deciding) {
  const busy = useBusy(({ ids }) => ids.has(request.request_id))
  const reasoning = usePanel((panel) => panel.reasoning) === request.request_id
  if (reasoning) {
    const reasons = ['Not what I meant', 'Too much', 'Something is missing']
    return (
      <ReasonForm
        keptAs={draftOf(request.request_id, 'reason')}
        reasons={reasons}
        forms={[rejectForm(request, 'Reject the plan', decideRequest)]}
      />
    )
  }
  if (edited !== null) {
    const changed = edited !== planOf(request)
    const response: Omit<ToolApprovalResponse, 'request_id'> = changed
      ? { decision: 'edit', updated_input: { plan: edited } }
      : { approved: true }
    const close = () => {
      onForget()
      usePanel.setState({ editing: null })
    }
    return (
      <div className="hunk-actions">
        <OnlineButton
          look="accept"
          data-decides=""
          disabled={busy || edited.trim() === ''}
          onClick={() => void decideRequest(request, response).then((done) => done && close())}
        >
          {changed ? 'Approve as edited' : 'Approve the plan'}
        </OnlineButton>
        <Button look="quiet" onClick={close}>
          Cancel
        </Button>
      </div>
    )
  }
  return (
    <div className="hunk-actions">
      <OnlineButton
        look="accept"
        data-decides=""
        disabled={busy}
        onClick={() => void decideRequest(request, { approved: true })}
      >
        Approve the plan
      </OnlineButton>
      {types && (
        <OnlineButton
          disabled={busy}
          onClick={() => usePanel.setState({ editing: request.request_id, reasoning: null })}
        >
          Edit…
        </OnlineButton>
      )}
      <OnlineButton
        disabled={busy}
        onClick={() => usePanel.setState({ reasoning: request.request_id, editing: null })}
      >
        Reject…
      </OnlineButton>
    </div>
  )
}
