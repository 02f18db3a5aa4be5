/** One request: what would change, row by row, and the decisions about all of it. */
import { canDecide, useDocument } from '../editor/store.ts'
import { RememberOffer } from '../rules/RememberOffer.tsx'
import { useCapability, useSession } from '../session/store.ts'
import { Icon } from '../ui/icons.tsx'
import { many } from '../ui/when.ts'
import type { ApprovalRequest } from '../wire/types.ts'
import { proposeAgain, isRefused } from './again.ts'
import { Consent } from './Consent.tsx'
import { Countdown } from './Countdown.tsx'
import { Decided } from './Decided.tsx'
import { acceptAll, rejectAll } from './decide.ts'
import { draftOf } from './drafts.ts'
import { HunkRow } from './HunkRow.tsx'
import { usePanel } from './panel.ts'
import { ReasonForm } from './ReasonForm.tsx'
import { acceptanceOfAll, rejectionOfAll } from './responses.ts'
import { wordChange } from './snippet.ts'
import { heldBack, onlookers, useReviewer } from './who.ts'
import { isWaitingHunk, tally, useReview } from './store.ts'
import { toldOnAcceptAll, toldOnRejectAll } from './told.ts'

export function ProposalCard({ request }: { request: ApprovalRequest }) {
  const { hunks: all, active } = useDocument()
  const reviewer = useReviewer()
  const hunks = all.filter((hunk) => hunk.request_id === request.request_id)
  const focus = useReview((state) => state.focus[request.request_id])
  const me = useSession((session) => session.me?.user.id)
  const held = heldBack(request, reviewer)
  const mayDecide = canDecide(reviewer.role) && held === null
  const others = onlookers(focus ?? [], me)
  const { open, total } = tally(request.hunks)
  // What is being written needs the room.
  const writing = usePanel(({ editing, reasoning }) => hunks.some(({ id }) => id === editing || id === reasoning))
  const conflicts = hunks.filter((hunk) => hunk.status === 'conflict').length
  return (
    <div className="proposal">
      {request.explanation && <p className="answer">{request.explanation}</p>}
      {request.warnings.map((warning) => <p key={warning.code} className="warn-note">{warning.text}</p>)}
      <div className="meta">
        <span>{open === total ? many(total, 'change') : `${open} of ${many(total, 'change')} left`}</span>
        {conflicts > 0 && <span className="badge">{conflicts} {conflicts === 1 ? 'needs' : 'need'} a look</span>}
        <Consent request={request} />
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
      {held && <p className="fate">{held}</p>}
      <AlreadyDecided request={request} mayDecide={mayDecide} />
      <div className={`proposal-foot ${writing ? 'is-still' : ''}`}>
        {mayDecide && <All request={request} ready={hunks.length - conflicts} open={hunks.length} />}
        <Countdown request={request} others={others} mayDecide={mayDecide} />
      </div>
    </div>
  )
}

/** Those that are no longer open, with who decided them; what lost its words can come back with them. */
function AlreadyDecided({ request, mayDecide }: { request: ApprovalRequest; mayDecide: boolean }) {
  const canReopen = useCapability('reopen')
  const decided = request.hunks.filter((hunk) => !isWaitingHunk(hunk))
  return (
    <>
      <Decided label={`${decided.length} decided`} hunks={decided} />
      {mayDecide && canReopen && decided.some(isRefused) && (
        <button type="button" className="link" onClick={() => void proposeAgain(request)}>Propose what was not accepted again</button>
      )}
    </>
  )
}

/** What is still to be decided. */
function Words({ request }: { request: ApprovalRequest }) {
  const sums = request.hunks.filter(isWaitingHunk).map(wordChange)
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
    return <ReasonForm keptAs={draftOf(request.request_id, 'reason')} ways={[{ verdict: 'reject', label: `Reject all ${open}`, draft: (words) => rejectionOfAll(request, words), told: (words) => toldOnRejectAll(request, words), send: (words) => rejectAll(request, words) }]} />
  }
  if (reasoning === noteFor(request)) {
    return <ReasonForm keptAs={draftOf(request.request_id, 'note')} ways={[{ verdict: 'accept', label: accept, draft: (words) => acceptanceOfAll(request, words), told: toldOnAcceptAll, send: (words) => acceptAll(request, words) }]} />
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
      {ready > 0 && ready === open && <RememberOffer request={request} accept={accept} send={(wish) => acceptAll(request, '', wish)} />}
    </>
  )
}
