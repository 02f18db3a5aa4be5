/** The plan of a run: read it, change it, approve it. Nothing happens before. */
import { useState } from 'react'
import { settle } from '../desk/settle.ts'
import { useSession } from '../session/store.ts'
import { Icon } from '../ui/icons.tsx'
import { Markdown } from '../ui/Markdown.tsx'
import type { ApprovalRequest } from '../wire/types.ts'
import { canDecide } from '../editor/store.ts'
import { Countdown } from './Countdown.tsx'
import { useBusy } from './decide.ts'
import { summary } from './fate.ts'
import { useFocusHeartbeat } from './focus.ts'
import { usePanel } from './panel.ts'
import { ReasonForm } from './ReasonForm.tsx'
import { useReview } from './store.ts'
import { heldBack, useReviewer } from './who.ts'

export const isPlan = (request: ApprovalRequest): boolean => request.tool_name === 'ExitPlanMode'

/** The plan as the model wrote it, or as it was edited. */
export function planOf(request: ApprovalRequest): string {
  const { plan } = (request.tool_input ?? {}) as { plan?: unknown }
  return request.new_content ?? (typeof plan === 'string' ? plan : '')
}

const APPROVED = 'The approved plan:\n\n'

/** The plan as it was approved, in the words the AI was told: somebody may have edited it. */
export function approvedPlan(request: ApprovalRequest): string {
  const at = request.report.indexOf(APPROVED)
  return at < 0 ? planOf(request) : request.report.slice(at + APPROVED.length)
}

export function PlanCard({ request }: { request: ApprovalRequest }) {
  const reviewer = useReviewer()
  const held = heldBack(request, reviewer)
  const mayDecide = canDecide(reviewer.role) && held === null
  const me = useSession((session) => session.me?.user.id)
  const focus = useReview((state) => state.focus[request.request_id])
  const others = focus?.filter((person) => person.id !== me).map((person) => person.name) ?? []
  const [edited, setEdited] = useState<string | null>(null)
  useFocusHeartbeat(request.request_id, mayDecide)
  return (
    <section className="plan" aria-label="Proposed plan">
      <div className="meta"><span>Plan</span>{request.approvals.need > 1 && <span className="badge">{request.approvals.have} of {request.approvals.need} approvals</span>}</div>
      {edited === null ? <Markdown text={planOf(request)} /> : <Edit text={edited} onChange={setEdited} />}
      {held && <p className="fate">{held}</p>}
      <div className="proposal-foot">
        {mayDecide && <Decisions request={request} edited={edited} onEdit={setEdited} />}
        <Countdown request={request} others={others} mayDecide={mayDecide} />
      </div>
    </section>
  )
}

function Edit({ text, onChange }: { text: string; onChange: (text: string) => void }) {
  const rows = Math.min(18, Math.max(4, text.split('\n').length + 1))
  return (
    <label className="desk-field" onKeyDown={(event) => event.stopPropagation()}>
      <span>The plan, in Markdown</span>
      <textarea className="field" rows={rows} autoFocus value={text} onInput={(event) => onChange(event.currentTarget.value)} />
    </label>
  )
}

interface Deciding { request: ApprovalRequest; edited: string | null; onEdit: (text: string | null) => void }

function Decisions({ request, edited, onEdit }: Deciding) {
  const offline = useSession((session) => session.link !== 'online')
  const busy = useBusy(({ ids }) => ids.has(request.request_id))
  const reasoning = usePanel((panel) => panel.reasoning) === request.request_id
  const off = offline || busy
  if (reasoning) {
    const rejection = (feedback: string) => ({ approved: false, ...(feedback && { feedback }) })
    return (
      <ReasonForm
        reasons={['Not what I meant', 'Too much', 'Something is missing']}
        ways={[{
          verdict: 'reject', label: 'Reject the plan',
          draft: (words) => ({ request_id: request.request_id, ...rejection(words) }),
          told: (words) => (words ? `User rejected: ${words}` : 'User rejected the operation'),
          send: (words) => settle(request, rejection(words)),
        }]}
      />
    )
  }
  if (edited !== null) {
    const changed = edited !== planOf(request)
    const response = changed ? { decision: 'edit', updated_input: { plan: edited } } : { approved: true }
    return (
      <div className="hunk-actions">
        <button type="button" className="button is-accept" disabled={off || edited.trim() === ''} onClick={() => void settle(request, response)}>
          {changed ? 'Approve as edited' : 'Approve the plan'}
        </button>
        <button type="button" className="button is-quiet" onClick={() => onEdit(null)}>Cancel</button>
      </div>
    )
  }
  return (
    <div className="hunk-actions">
      <button type="button" className="button is-accept" disabled={off} onClick={() => void settle(request, { approved: true })}>Approve the plan</button>
      <button type="button" className="button" disabled={off} onClick={() => onEdit(planOf(request))}>Edit…</button>
      <button type="button" className="button" disabled={off} onClick={() => usePanel.setState({ reasoning: request.request_id, editing: null })}>Reject…</button>
    </div>
  )
}

/** A plan that was decided, or that nobody decided. */
export function PlanOutcome({ request }: { request: ApprovalRequest }) {
  const good = request.status === 'approved'
  return (
    <>
      <p className="tool-line">
        <Icon name={good ? 'check' : 'cross'} size={13} />
        <span>Plan: {summary(request)}{request.feedback ? `: “${request.feedback}”` : ''}</span>
      </p>
      <details className="told">
        <summary>{good ? 'The approved plan' : 'What it was'}</summary>
        <Markdown text={good ? approvedPlan(request) : planOf(request)} />
      </details>
    </>
  )
}
