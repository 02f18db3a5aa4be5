/** The plan of a run: read it, change it, approve it. Nothing happens before. */
import { useSession } from '../../../session/store.ts'
import { Markdown } from '../../../ui/Markdown.tsx'
import { useFocusOnce } from '../../../ui/useFocusOnce.ts'
import type { ToolApprovalRequest, ToolApprovalResponse } from '../../../wire/generated.ts'
import { ApprovalCount } from './ApprovalCount.tsx'
import { Countdown } from './Countdown.tsx'
import { useDraft } from '../../stores/drafts.ts'
import { useFocusHeartbeat } from '../../actions/focusHeartbeat.ts'
import { usePanel } from '../../stores/panel.ts'
import { mayType, onlookers, reasonCannotDecide } from '../../state/permissions.ts'
import { canDecide } from '../../../session/roles.ts'
import { useRequests } from '../../stores/requests.ts'
import { useReviewer } from '../../stores/reviewer.ts'
import { draftOf } from '../../state/drafts.ts'
import { planOf } from './PlanOutcome.tsx'
import { OnlineButton } from '../../../session/OnlineButton.tsx'
import { Button } from '../../../ui/Button.tsx'
import { useBusy } from '../../stores/busy.ts'
import { ReasonForm } from './ReasonForm.tsx'
import { rejectForm } from '../../state/decisionForms.ts'
import { decideRequest } from '../../../workspace-inbox/state/decide.ts'
import './PlanCard.css'

export function PlanCard({ request }: { request: ToolApprovalRequest }) {
  const reviewer = useReviewer()
  const held = reasonCannotDecide(request, reviewer)
  const mayDecide = canDecide(reviewer.role) && held === null
  const me = useSession((session) => session.me?.user.id)
  const viewers = useRequests((state) => state.viewers[request.request_id])
  const others = onlookers(viewers ?? [], me)
  const editing = usePanel((panel) => panel.editing) === request.request_id && mayType(reviewer)
  const [draft = planOf(request), keep] = useDraft(draftOf(request.request_id, 'input'))
  const edited = editing ? draft : null
  useFocusHeartbeat(request.request_id, mayDecide)
  return (
    <section className="plan" aria-label="Proposed plan">
      <div className="meta">
        <span>Plan</span>
        <ApprovalCount request={request} />
      </div>
      {edited === null ? (
        <Markdown text={planOf(request)} />
      ) : (
        <Edit text={edited} onChange={(text) => keep(text === planOf(request) ? null : text)} />
      )}
      {held && <p className="card-note">{held}</p>}
      <div className="proposal-foot">
        {mayDecide && (
          <Decisions
            request={request}
            edited={edited}
            types={mayType(reviewer)}
            onForget={() => keep(null)}
          />
        )}
        <Countdown request={request} others={others} mayDecide={mayDecide} />
      </div>
    </section>
  )
}

function Edit({ text, onChange }: { text: string; onChange: (text: string) => void }) {
  const field = useFocusOnce<HTMLTextAreaElement>()
  const rows = Math.min(18, Math.max(4, text.split('\n').length + 1))
  return (
    <label className="inbox-field" onKeyDown={(event) => event.stopPropagation()}>
      <span>The plan, in Markdown</span>
      <textarea
        className="field"
        rows={rows}
        ref={field}
        value={text}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
    </label>
  )
}

interface Deciding {
  request: ToolApprovalRequest
  edited: string | null
  /** True if the person may put in words of their own. */ types: boolean
  /** The edited words are sent, or not wanted. */ onForget: () => void
}

/** The decisions about the plan. */
function Decisions({ request, edited, types, onForget }: Deciding) {
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
