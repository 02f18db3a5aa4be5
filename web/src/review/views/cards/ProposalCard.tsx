/** One request: what would change, row by row, and the decisions about all of it. */
import { OnlineButton } from '../../../session/OnlineButton.tsx'
import { Button } from '../../../ui/Button.tsx'
import { attempt } from '../../../session/attempt.ts'
import { useSession, wire } from '../../../session/store.ts'
import { plural } from '../../../ui/timeFormat.ts'
import type { Hunk, ToolApprovalRequest } from '../../../wire/generated.ts'
import { proposeAgain } from '../../actions/reopen.ts'
import { useReviewState } from '../../hooks/useReviewState.ts'
import { TextViewChoice } from './TextViewChoice.tsx'
import { ApprovalCount } from './ApprovalCount.tsx'
import { Countdown } from './Countdown.tsx'
import { DecidedHunks } from './DecidedHunks.tsx'
import { usePanel } from '../../stores/panel.ts'
import { wordChange } from '../../state/snippet.ts'
import { onlookers, reasonCannotDecide } from '../../state/permissions.ts'
import { isWaitingHunk, tally } from '../../state/requests.ts'
import { canDecide } from '../../../session/roles.ts'
import { useRequests } from '../../stores/requests.ts'
import { useReviewer } from '../../stores/reviewer.ts'
import { isRefused } from '../../state/refused.ts'
import { arranged } from '../../state/marks.ts'
import { ListChoice } from './ListChoice.tsx'
import { HunkRows } from './HunkRows.tsx'
import { DecideAll } from './DecideAll.tsx'
import { Explanation } from './Explanation.tsx'
import './ProposalCard.css'

export function ProposalCard({ request }: { request: ToolApprovalRequest }) {
  const all = useReviewState(({ hunks }) => hunks)
  const reviewer = useReviewer()
  const ofThis = (hunk: Hunk) => hunk.request_id === request.request_id
  const hunks = all.filter(ofThis)
  const shown = arranged(
    all,
    usePanel(({ list }) => list),
  ).filter(ofThis)
  const viewers = useRequests((state) => state.viewers[request.request_id])
  const me = useSession((session) => session.me?.user.id)
  const held = reasonCannotDecide(request, reviewer)
  const mayDecide = canDecide(reviewer.role) && held === null
  const isOwn = request.source === 'person' && request.author.id === me
  const others = onlookers(viewers ?? [], me)
  const { open, total } = tally(request.hunks)
  // What is being written needs the room.
  const writing = usePanel(({ editing, reasoning }) =>
    hunks.some(({ id }) => id === editing || id === reasoning),
  )
  const conflicts = hunks.filter((hunk) => hunk.status === 'conflict').length
  return (
    <div className="proposal">
      {request.explanation && <Explanation words={request.explanation} />}
      {request.warnings.map((warning) => (
        <p key={warning.code} className="warn-note">
          {warning.text}
        </p>
      ))}
      <div className="meta">
        <span>
          {open === total ? plural(total, 'change') : `${open} of ${plural(total, 'change')} left`}
        </span>
        {conflicts > 0 && (
          <span className="badge">
            {conflicts} {conflicts === 1 ? 'needs' : 'need'} a look
          </span>
        )}
        <ApprovalCount request={request} />
        {hunks.length > 0 && (
          <Button
            look="link"
            aria-label="Compare side by side"
            aria-haspopup="dialog"
            title="Original and proposed text side by side"
            onClick={() =>
              usePanel.setState({ comparing: { request: request.request_id, paragraphOf: null } })
            }
          >
            Compare
          </Button>
        )}
        <Words request={request} />
        <span className="on-phone">
          <TextViewChoice />
        </span>
        <Countdown request={request} others={others} mayDecide={mayDecide} />
      </div>
      <div
        className="progress"
        role="progressbar"
        aria-label="Reviewed"
        aria-valuemin={0}
        aria-valuemax={total}
        aria-valuenow={total - open}
      >
        <span style={{ width: `${total === 0 ? 0 : (100 * (total - open)) / total}%` }} />
      </div>
      {hunks.length === 0 && request.diff_lines.length > 0 && (
        <pre className="diff-lines">{request.diff_lines.join('\n')}</pre>
      )}
      <ListChoice all={all} shown={shown.length} of={hunks} />
      <HunkRows request={request} hunks={shown} all={all} />
      {isOwn && <OwnSuggestion request={request} shown={hunks.length > 0} />}
      {held && <p className="card-note">{held}</p>}
      <AlreadyDecided request={request} mayDecide={mayDecide} />
      {mayDecide && hunks.length > 0 && (
        <div className={`proposal-foot ${writing ? 'is-still' : ''}`}>
          <DecideAll request={request} hunks={hunks} />
        </div>
      )}
    </div>
  )
}

/** The person's own suggestion: while they write on it, it is in their text. */
function OwnSuggestion({ request, shown }: { request: ToolApprovalRequest; shown: boolean }) {
  const { request_id } = request
  return (
    <>
      {!shown && (
        <p className="card-note">
          You are writing this: it is in your text. Others see and decide it here.
        </p>
      )}
      <OnlineButton
        look="link"
        onClick={() => void attempt(wire.call('approval:withdraw', { request_id }))}
      >
        Withdraw your suggestion
      </OnlineButton>
    </>
  )
}

/**
 * Changes that are no longer open, with the people who decided them; a change that lost its words
 * can come back with them.
 */
function AlreadyDecided({
  request,
  mayDecide,
}: {
  request: ToolApprovalRequest
  mayDecide: boolean
}) {
  const decided = request.hunks.filter((hunk) => !isWaitingHunk(hunk))
  const refused = decided.filter(isRefused).length
  return (
    <>
      <DecidedHunks label={`${decided.length} decided`} hunks={decided} />
      {mayDecide && refused > 0 && (
        <Button look="link" onClick={() => void proposeAgain(request)}>
          {refused === 1 ? 'Bring back the rejected change' : 'Bring back rejected changes'}
        </Button>
      )}
    </>
  )
}

/** The number of words still to be decided. */
function Words({ request }: { request: ToolApprovalRequest }) {
  const sums = request.hunks.filter(isWaitingHunk).map(wordChange)
  const plus = sums.reduce((sum, hunk) => sum + hunk.plus, 0)
  const minus = sums.reduce((sum, hunk) => sum + hunk.minus, 0)
  return (
    <span className="plus">
      <b>+{plus}</b> <i>−{minus}</i> words
    </span>
  )
}
