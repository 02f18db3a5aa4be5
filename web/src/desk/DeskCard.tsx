/** One request without a document: what would happen, what to look out for, and the decisions about it. */
import { useState } from 'react'
import { canDecide } from '../editor/store.ts'
import { toolName } from '../chat/tools.ts'
import { Countdown } from '../review/Countdown.tsx'
import { useBusy } from '../review/decide.ts'
import { ReasonForm } from '../review/ReasonForm.tsx'
import { usePanel } from '../review/panel.ts'
import { isWaiting } from '../review/store.ts'
import { whoseRule } from '../rules/wording.ts'
import { useSession } from '../session/store.ts'
import { ago } from '../ui/when.ts'
import type { ApprovalRequest } from '../wire/types.ts'
import { EditInput } from './EditInput.tsx'
import { Preview } from './Preview.tsx'
import { settle } from './settle.ts'
import { visible } from './shown.ts'
import { useDesk } from './store.ts'

const OUTCOMES: Record<string, string> = { approved: 'Approved', rejected: 'Rejected', expired: 'Expired', cancelled: 'Cancelled', failed: 'Failed', partly: 'Partly' }

export function DeskCard({ request }: { request: ApprovalRequest }) {
  const waiting = isWaiting(request)
  const file = request.file_path
  const me = useSession((session) => session.me?.user.id)
  const isNew = (request.preview_data as { is_new_file?: boolean } | null)?.is_new_file === true
  return (
    <li className="desk-card" aria-label={`${request.tool_name}${file ? ` ${file}` : ''}`}>
      <div className="desk-card-head">
        <strong>{visible(toolName(request.tool_name))}</strong>
        {file && <code>{visible(file)}</code>}
        {isNew && <span className="badge">{request.tool_name === 'create_new_document' ? 'new document' : 'new file'}</span>}
        {request.approvals.need > 1 && waiting && <span className="badge">{request.approvals.have} of {request.approvals.need} approvals</span>}
        {!waiting && <span className={`desk-outcome is-${request.status}`}>{OUTCOMES[request.status] ?? request.status}{request.rule !== null && ` by ${whoseRule(request.by, me)}`}</span>}
      </div>
      <p className="desk-asked">{request.author.name}, {ago(request.created_at, Date.now())}: {visible(request.prompt)}</p>
      {request.explanation && <p className="desk-says"><b>The AI says:</b> {visible(request.explanation)}</p>}
      {waiting && request.warnings.length > 0 && (
        <ul className="desk-warnings" aria-label="Warnings">
          {request.warnings.map((warning) => <li key={warning.code + warning.text} className="warn-note">{visible(warning.text)}</li>)}
        </ul>
      )}
      {waiting ? <Preview request={request} /> : <Over request={request} />}
      {waiting && <Decisions request={request} />}
    </li>
  )
}

/** What came of it, in the words the AI was told. */
function Over({ request }: { request: ApprovalRequest }) {
  return (
    <>
      {request.report && <p className="desk-report">{visible(request.report)}</p>}
      <details className="desk-steps">
        <summary>What it was about</summary>
        <Preview request={request} />
      </details>
    </>
  )
}

type Doing = 'nothing' | 'confirming' | 'editing' | 'answering'

function Decisions({ request }: { request: ApprovalRequest }) {
  const [doing, setDoing] = useState<Doing>('nothing')
  const me = useSession((session) => session.me)
  const offline = useSession((session) => session.link !== 'online')
  const busy = useBusy(({ ids }) => ids.has(request.request_id))
  const reasoning = usePanel((panel) => panel.reasoning) === request.request_id
  const focus = useDesk((desk) => desk.focus[request.request_id])
  const others = focus?.filter((person) => person.id !== me?.user.id).map((person) => person.name) ?? []
  const mayDecide = me !== null && canDecide(me.role) && (request.preview_type !== 'command' || me.role === 'owner')
  const close = () => setDoing('nothing')
  const may = (decision: string) => request.allowed_decisions.includes(decision)
  if (!mayDecide) return <p className="countdown">Somebody else decides this.</p>
  if (reasoning) {
    const rejection = (feedback: string) => ({ approved: false, ...(feedback && { feedback }) })
    return (
      <ReasonForm
        reasons={['Not needed', 'Wrong place', 'Too risky']}
        ways={[{
          verdict: 'reject', label: 'Reject',
          draft: (words) => ({ request_id: request.request_id, ...rejection(words) }),
          told: (words) => (words ? `User rejected: ${words}` : 'User rejected the operation'),
          send: (words) => settle(request, rejection(words)),
        }]}
      />
    )
  }
  if (doing === 'editing') return <EditInput request={request} onClose={close} />
  if (doing === 'answering') return <Answer request={request} onClose={close} />
  const careful = request.default_to_no
  const approve = () => void settle(request, { approved: true }).then((done) => done || close())
  return (
    <div className="desk-decisions">
      <div className="hunk-actions">
        {careful && <Reject request={request} disabled={offline} />}
        {doing === 'confirming' ? (
          <>
            <button type="button" className="button is-danger" disabled={offline || busy} onClick={approve}>{request.preview_type === 'command' ? 'Yes, run it' : 'Yes, approve'}</button>
            <button type="button" className="button is-quiet" onClick={close}>Cancel</button>
          </>
        ) : (
          <button type="button" className="button is-accept" disabled={offline || busy} onClick={careful ? () => setDoing('confirming') : approve}>
            {careful ? (request.preview_type === 'command' ? 'Run…' : 'Approve…') : 'Approve'}
          </button>
        )}
        {!careful && <Reject request={request} disabled={offline} />}
        {may('edit') && <button type="button" className="button is-quiet" disabled={offline} onClick={() => setDoing('editing')}>Edit…</button>}
        {may('respond') && <button type="button" className="button is-quiet" disabled={offline} onClick={() => setDoing('answering')}>Answer instead…</button>}
      </div>
      <Countdown request={request} others={others} mayDecide={mayDecide} />
    </div>
  )
}

function Reject({ request, disabled }: { request: ApprovalRequest; disabled: boolean }) {
  return (
    <button type="button" className="button" disabled={disabled} onClick={() => usePanel.setState({ reasoning: request.request_id, editing: null })}>
      Reject…
    </button>
  )
}

/** Words for the AI instead of running the tool. */
function Answer({ request, onClose }: { request: ApprovalRequest; onClose: () => void }) {
  const [message, setMessage] = useState('')
  return (
    <form
      className="desk-form" onKeyDown={(event) => event.stopPropagation()}
      onSubmit={(event) => {
        event.preventDefault()
        void settle(request, { decision: 'respond', message: message.trim() }).then((done) => done && onClose())
      }}
    >
      <label className="desk-field">
        <span>Told to the AI instead of running it</span>
        <textarea className="field" rows={3} autoFocus value={message} onInput={(event) => setMessage(event.currentTarget.value)} />
      </label>
      <div className="hunk-actions">
        <button type="submit" className="button is-primary" disabled={message.trim() === ''}>Answer</button>
        <button type="button" className="button is-quiet" onClick={onClose}>Cancel</button>
      </div>
    </form>
  )
}
