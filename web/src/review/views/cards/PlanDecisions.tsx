/** The decisions about a plan. */
import type { ToolApprovalRequest, ToolApprovalResponse } from '../../../wire/generated.ts'
import { useSession } from '../../../session/store.ts'
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
  const offline = useSession((session) => session.link !== 'online')
  const busy = useBusy(({ ids }) => ids.has(request.request_id))
  const reasoning = usePanel((panel) => panel.reasoning) === request.request_id
  const off = offline || busy
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
        <button
          data-decides=""
          type="button"
          className="button is-accept"
          disabled={off || edited.trim() === ''}
          onClick={() => void decideRequest(request, response).then((done) => done && close())}
        >
          {changed ? 'Approve as edited' : 'Approve the plan'}
        </button>
        <button type="button" className="button is-quiet" onClick={close}>
          Cancel
        </button>
      </div>
    )
  }
  return (
    <div className="hunk-actions">
      <button
        data-decides=""
        type="button"
        className="button is-accept"
        disabled={off}
        onClick={() => void decideRequest(request, { approved: true })}
      >
        Approve the plan
      </button>
      {types && (
        <button
          type="button"
          className="button"
          disabled={off}
          onClick={() => usePanel.setState({ editing: request.request_id, reasoning: null })}
        >
          Edit…
        </button>
      )}
      <button
        type="button"
        className="button"
        disabled={off}
        onClick={() => usePanel.setState({ reasoning: request.request_id, editing: null })}
      >
        Reject…
      </button>
    </div>
  )
}
