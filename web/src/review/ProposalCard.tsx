/** One request: what would change, row by row, and the decisions about all of it. */
import { canDecide, useDocument } from '../editor/store.ts'
import { useSession } from '../session/store.ts'
import { Icon } from '../ui/icons.tsx'
import { many } from '../ui/when.ts'
import type { ApprovalRequest } from '../wire/types.ts'
import { Countdown } from './Countdown.tsx'
import { acceptAll, acceptanceOfAll, rejectAll, rejectionOfAll } from './decide.ts'
import { isOpen } from './hunk.ts'
import { HunkRow } from './HunkRow.tsx'
import { usePanel } from './panel.ts'
import { REASONS, ReasonForm } from './ReasonForm.tsx'
import { wordChange } from './snippet.ts'
import { tally, useReview } from './store.ts'
import { toldOnAcceptAll, toldOnRejectAll } from './told.ts'

export function ProposalCard({ request }: { request: ApprovalRequest }) {
  const { hunks: all, active, role } = useDocument()
  const mayDecide = canDecide(role)
  const hunks = all.filter((hunk) => hunk.request_id === request.request_id)
  const focus = useReview((state) => state.focus[request.request_id])
  const me = useSession((session) => session.me?.user.id)
  const others = focus?.filter((person) => person.id !== me).map((person) => person.name) ?? []
  const { open, total } = tally(request.hunks)
  const conflicts = hunks.filter((hunk) => hunk.status === 'conflict').length
  return (
    <div className="proposal">
      {request.explanation && <p className="answer">{request.explanation}</p>}
      {request.warnings.map((warning) => <p key={warning.code} className="warn-note">{warning.text}</p>)}
      <div className="meta">
        <span>{open === total ? many(total, 'change') : `${open} of ${many(total, 'change')} left`}</span>
        {conflicts > 0 && <span className="badge">{conflicts} {conflicts === 1 ? 'needs' : 'need'} a look</span>}
        {request.approvals.need > 1 && <span className="badge">{request.approvals.have} of {request.approvals.need} approvals</span>}
        <Words request={request} />
      </div>
      <div className="progress" role="progressbar" aria-label="Reviewed" aria-valuemin={0} aria-valuemax={total} aria-valuenow={total - open}>
        <span style={{ width: `${total === 0 ? 0 : (100 * (total - open)) / total}%` }} />
      </div>
      {hunks.length === 0 && request.diff_lines.length > 0 && <pre className="diff-lines">{request.diff_lines.join('\n')}</pre>}
      <ol aria-label="Changes">
        {hunks.map((hunk) => (
          <HunkRow key={hunk.id} hunk={hunk} number={all.indexOf(hunk) + 1} total={all.length} active={hunk.id === active} mayDecide={mayDecide} request={request} />
        ))}
      </ol>
      <div className="proposal-foot">
        {mayDecide && <All request={request} ready={hunks.length - conflicts} open={hunks.length} />}
        {others.length > 0 && <p className="countdown">{others.join(', ')} {others.length === 1 ? 'is' : 'are'} looking at this.</p>}
        <Countdown request={request} />
      </div>
    </div>
  )
}

function Words({ request }: { request: ApprovalRequest }) {
  // What is still to be read: it shrinks with every decision.
  const sums = request.hunks.filter((hunk) => isOpen(hunk.status)).map(wordChange)
  const plus = sums.reduce((sum, hunk) => sum + hunk.plus, 0)
  const minus = sums.reduce((sum, hunk) => sum + hunk.minus, 0)
  return <span className="plus"><b>+{plus}</b> <i>−{minus}</i> words</span>
}

/** The name under which the panel remembers that a note is being written. */
const noteFor = (request: ApprovalRequest): string => `note:${request.request_id}`

/** Conflicted changes stay open when the rest is accepted; rejecting takes them too. */
function All({ request, ready, open }: { request: ApprovalRequest; ready: number; open: number }) {
  const reasoning = usePanel((panel) => panel.reasoning)
  const offline = useSession((session) => session.link !== 'online')
  const accept = ready === 1 ? 'Accept 1 change' : `Accept all ${ready}`
  if (reasoning === request.request_id) {
    return <ReasonForm label={`Reject all ${open}`} look="is-danger" reasons={REASONS} draft={(words) => rejectionOfAll(request, words)} told={(words) => toldOnRejectAll(request, words)} onSend={(words) => rejectAll(request, words)} />
  }
  if (reasoning === noteFor(request)) {
    return <ReasonForm label={accept} look="is-accept" reasons={[]} draft={(words) => acceptanceOfAll(request, words)} told={toldOnAcceptAll} onSend={(words) => acceptAll(request, words)} />
  }
  return (
    <>
      {ready > 0 && (
        <button type="button" className="button is-accept" disabled={offline} onClick={() => void acceptAll(request)}>
          {accept}
        </button>
      )}
      {ready > 0 && (
        <button type="button" className="button is-quiet" disabled={offline} aria-label={`${accept} with a note`} title="Accept with a note" onClick={() => usePanel.setState({ reasoning: noteFor(request), editing: null })}>
          <Icon name="speech" size={14} />
        </button>
      )}
      <button type="button" className="button" disabled={offline} onClick={() => usePanel.setState({ reasoning: request.request_id, editing: null })}>
        {open === 1 ? 'Reject 1 change…' : `Reject all ${open}…`}
      </button>
    </>
  )
}
