/** The plan of a run: read it, change it, approve it. Nothing happens before. */
import { decideRequest } from '../../../workspace-inbox/state/decide.ts'
import { useSession } from '../../../session/store.ts'
import { Icon } from '../../../ui/icons.tsx'
import { Markdown } from '../../../ui/Markdown.tsx'
import { useFocusOnce } from '../../../ui/useFocusOnce.ts'
import type { ToolApprovalRequest, ToolApprovalResponse } from '../../../wire/generated.ts'
import { ApprovalCount } from './ApprovalCount.tsx'
import { Countdown } from './Countdown.tsx'
import { useBusy } from '../../stores/busy.ts'
import { useDraft } from '../../stores/drafts.ts'
import { outcomeSummary } from '../../state/outcomeSummary.ts'
import { useFocusHeartbeat } from '../../actions/focusHeartbeat.ts'
import { usePanel } from '../../stores/panel.ts'
import { ReasonForm } from './ReasonForm.tsx'
import { rejectForm } from '../../state/decisionForms.ts'
import { mayType, reasonCannotDecide } from '../../state/permissions.ts'
import { canDecide } from '../../../session/roles.ts'
import { useReview } from '../../stores/requests.ts'
import { useReviewer } from '../../stores/reviewer.ts'
import { draftOf } from '../../state/drafts.ts'

export const isPlan = (request: ToolApprovalRequest): boolean =>
  request.tool_name === 'ExitPlanMode'

/** The plan as the model wrote it, or as it was edited. */
export function planOf(request: ToolApprovalRequest): string {
  const { plan } = (request.tool_input ?? {}) as { plan?: unknown }
  return request.new_content ?? (typeof plan === 'string' ? plan : '')
}

const APPROVED = 'The approved plan:\n\n'

/** The plan as it was approved, in the words the AI was told: somebody may have edited it. */
export function approvedPlan(request: ToolApprovalRequest): string {
  const at = request.report.indexOf(APPROVED)
  return at < 0 ? planOf(request) : request.report.slice(at + APPROVED.length)
}

export function PlanCard({ request }: { request: ToolApprovalRequest }) {
  const reviewer = useReviewer()
  const held = reasonCannotDecide(request, reviewer)
  const mayDecide = canDecide(reviewer.role) && held === null
  const me = useSession((session) => session.me?.user.id)
  const viewers = useReview((state) => state.viewers[request.request_id])
  const others = viewers?.filter((person) => person.id !== me).map((person) => person.name) ?? []
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
  /** Whether they may put in words of their own. */ types: boolean
  /** The edited words are sent, or not wanted. */ onForget: () => void
}

function Decisions({ request, edited, types, onForget }: Deciding) {
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

/** A plan that was decided, or that nobody decided. */
export function PlanOutcome({ request }: { request: ToolApprovalRequest }) {
  const good = request.status === 'approved'
  return (
    <>
      <p className="tool-line">
        <Icon name={good ? 'check' : 'cross'} size={13} />
        <span>
          Plan: {outcomeSummary(request)}
          {request.feedback ? `: “${request.feedback}”` : ''}
        </span>
      </p>
      <details className="told">
        <summary>{good ? 'The approved plan' : 'What it was'}</summary>
        <Markdown text={good ? approvedPlan(request) : planOf(request)} />
      </details>
    </>
  )
}
