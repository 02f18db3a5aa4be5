/** One request: what would change, row by row, and the decisions about all of it. */
import { useLayoutEffect, useRef, useState } from 'react'
import { useOpenDocument } from '../../../document/useOpenDocument.ts'
import { RememberOffer } from '../../../rules/RememberOffer.tsx'
import { canRemember } from '../../../rules/wording.ts'
import { useCapability, useSession } from '../../../session/store.ts'
import { Icon } from '../../../ui/icons.tsx'
import { plural } from '../../../ui/timeFormat.ts'
import type { Hunk, ToolApprovalRequest } from '../../../wire/generated.ts'
import { proposeAgain } from '../../actions/reopen.ts'
import { useReviewState } from '../../hooks/useReviewState.ts'
import { TextViewChoice } from './TextViewChoice.tsx'
import { ApprovalCount } from './ApprovalCount.tsx'
import { Countdown } from './Countdown.tsx'
import { DecidedHunks } from './DecidedHunks.tsx'
import { acceptAll, acceptHunk, rejectAll } from '../../actions/decide.ts'
import { keptEdits } from '../../stores/drafts.ts'
import { useHasKeptEdit, useKeptWords } from '../../stores/keptEdits.ts'
import { HunkBody, HunkRow, writeNumbers } from './HunkRow.tsx'
import { usePanel } from '../../stores/panel.ts'
import { ReasonForm } from './ReasonForm.tsx'
import { acceptanceOfAll, rejectionOfAll } from '../../state/responses.ts'
import { corrections, isProofread } from '../../state/similar.ts'
import { wordChange } from '../../state/snippet.ts'
import { onlookers, reasonCannotDecide } from '../../state/permissions.ts'
import { type HunkSummary, hunkSummaries } from '../../state/hunkSummaries.ts'
import { votesAsShown } from '../../hooks/useApproved.ts'
import { isWaitingHunk, tally } from '../../state/requests.ts'
import { feedbackOnAcceptAll, feedbackOnRejectAll } from '../../state/modelFeedback.ts'
import { canDecide } from '../../../session/roles.ts'
import { useReview } from '../../stores/requests.ts'
import { approvedBy } from '../../state/votes.ts'
import { useReviewer } from '../../stores/reviewer.ts'
import { isRefused } from '../../state/refused.ts'
import { draftOf } from '../../state/drafts.ts'

export function ProposalCard({ request }: { request: ToolApprovalRequest }) {
  const all = useReviewState(({ hunks }) => hunks)
  const reviewer = useReviewer()
  const hunks = all.filter((hunk) => hunk.request_id === request.request_id)
  const viewers = useReview((state) => state.viewers[request.request_id])
  const me = useSession((session) => session.me?.user.id)
  const held = reasonCannotDecide(request, reviewer)
  const mayDecide = canDecide(reviewer.role) && held === null
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
          <button
            type="button"
            className="link"
            aria-label="Compare side by side"
            aria-haspopup="dialog"
            title="Original and proposed text side by side"
            onClick={() =>
              usePanel.setState({ comparing: { request: request.request_id, paragraphOf: null } })
            }
          >
            Compare
          </button>
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
      <Rows request={request} hunks={hunks} all={all} mayDecide={mayDecide} />
      {held && <p className="card-note">{held}</p>}
      <AlreadyDecided request={request} mayDecide={mayDecide} />
      <div className={`proposal-foot ${writing ? 'is-still' : ''}`}>
        {mayDecide && <All request={request} hunks={hunks} />}
      </div>
    </div>
  )
}

interface RowsProps {
  request: ToolApprovalRequest
  /** Of this request, and of all. */
  hunks: readonly Hunk[]
  all: readonly Hunk[]
  mayDecide: boolean
}

function Rows({ request, hunks, all, mayDecide }: RowsProps) {
  const snapshot = useOpenDocument((state) => state.snapshot)
  const active = useReviewState((review) => review.active)
  const me = useSession((session) => session.me?.user.id)
  const edits = useKeptWords()
  const kept = useRef<readonly HunkSummary[]>([])
  const list = useRef<HTMLOListElement>(null)
  const numbers = new Map(all.map(({ id }, at) => [id, at + 1]))
  useLayoutEffect(() => {
    if (list.current) writeNumbers(list.current, (id) => numbers.get(id)!)
  })
  if (!snapshot) return null
  const approved = (hunk: Hunk) => approvedBy(votesAsShown(hunk, snapshot), me)
  const rows = hunkSummaries(hunks, snapshot.doc, { approvedBy: approved, edits }, kept.current)
  kept.current = rows
  return (
    <ol ref={list} aria-label="Changes">
      {rows.map((row, at) => (
        <HunkRow key={row.id} row={row} active={row.id === active}>
          {row.id === active && (
            <HunkBody
              hunk={hunks[at]!}
              number={numbers.get(row.id)!}
              total={all.length}
              mayDecide={mayDecide}
              request={request}
            />
          )}
        </HunkRow>
      ))}
    </ol>
  )
}

/**
 * Those that are no longer open, with who decided them; what lost its words can come back with
 * them.
 */
function AlreadyDecided({
  request,
  mayDecide,
}: {
  request: ToolApprovalRequest
  mayDecide: boolean
}) {
  const canReopen = useCapability('reopen')
  const decided = request.hunks.filter((hunk) => !isWaitingHunk(hunk))
  const refused = decided.filter(isRefused).length
  return (
    <>
      <DecidedHunks label={`${decided.length} decided`} hunks={decided} whole />
      {mayDecide && canReopen && refused > 0 && (
        <button type="button" className="link" onClick={() => void proposeAgain(request)}>
          {refused === 1 ? 'Bring back the rejected change' : 'Bring back rejected changes'}
        </button>
      )}
    </>
  )
}

/** What is still to be decided. */
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

/** The name under which the panel remembers that a note is being written. */
const noteFor = (request: ToolApprovalRequest): string => `note:${request.request_id}`

/** Conflicted changes stay open when the rest is accepted; rejecting takes them too. */
function All({ request, hunks }: { request: ToolApprovalRequest; hunks: readonly Hunk[] }) {
  const reasoning = usePanel((panel) => panel.reasoning)
  const offline = useSession((session) => session.link !== 'online')
  const hasRules = useCapability('rules')
  const open = hunks.length
  const ready = hunks.filter((hunk) => hunk.status === 'pending')
  const only = ready.length === 1 ? ready[0] : undefined
  const remembers = hasRules && ready.length === open && canRemember(request)
  const isEdited = useHasKeptEdit(only)
  const accept = !only
    ? `Accept all ${ready.length}`
    : isEdited
      ? 'Accept your edit'
      : 'Accept 1 change'
  if (reasoning === request.request_id) {
    return (
      <ReasonForm
        keptAs={draftOf(request.request_id, 'reason')}
        forms={[
          {
            verdict: 'reject',
            label: `Reject all ${open}`,
            draft: (words) => rejectionOfAll(request, words),
            told: (words) => feedbackOnRejectAll(request, words),
            send: (words) => rejectAll(request, words),
          },
        ]}
      />
    )
  }
  if (reasoning === noteFor(request)) {
    return (
      <ReasonForm
        keptAs={draftOf(request.request_id, 'note')}
        forms={[
          {
            verdict: 'accept',
            label: accept,
            draft: (words) => acceptanceOfAll(request, words, keptEdits()),
            told: feedbackOnAcceptAll,
            send: (words) => acceptAll(request, words),
          },
        ]}
      />
    )
  }
  const note = (
    <button
      type="button"
      className="button is-quiet"
      disabled={offline}
      onClick={() => usePanel.setState({ reasoning: noteFor(request), editing: null })}
    >
      <Icon name="speech" size={14} /> {accept} with a note
    </button>
  )
  return (
    <>
      {ready.length > 0 && (
        <button
          data-decides=""
          type="button"
          className="button is-accept"
          disabled={offline}
          onClick={() =>
            only ? void acceptHunk(only) : list(`All changes: ${ready.length}`, ready)
          }
        >
          {only ? accept : `${accept}…`}
        </button>
      )}
      <button
        type="button"
        className="button"
        disabled={offline}
        onClick={() => usePanel.setState({ reasoning: request.request_id, editing: null })}
      >
        {open === 1 ? 'Reject 1 change…' : `Reject all ${open}…`}
      </button>
      {!isProofread(request.hunks, request) && (
        <Corrections hunks={corrections(hunks, request)} of={ready.length} />
      )}
      {ready.length > 0 && !remembers && note}
      {ready.length > 0 && remembers && (
        <details className="more-decisions">
          <summary>More</summary>
          {note}
          <RememberOffer
            request={request}
            accept={accept}
            send={(wish) => acceptAll(request, '', wish)}
          />
        </details>
      )}
    </>
  )
}

/** Those that put a word or two right, all at once, where they are not all that can be accepted. */
function Corrections({ hunks: found, of }: { hunks: readonly Hunk[]; of: number }) {
  if (found.length === 0 || found.length === of) return null
  return (
    <button type="button" className="button" onClick={() => list('Corrections', found)}>
      {found.length === 1 ? 'Accept 1 correction…' : `Accept all ${found.length} corrections…`}
    </button>
  )
}

/** Lists changes, before they are decided together. */
function list(title: string, hunks: readonly Hunk[]): void {
  usePanel.setState({ together: { title, ids: hunks.map(({ id }) => id) } })
}

/** Longer than this, the beginning is shown first: the changes need the room. */
const SHORT = 110

function Explanation({ words }: { words: string }) {
  const [whole, setWhole] = useState(false)
  if (words.length <= SHORT) return <p className="answer">{words}</p>
  return (
    <p className={`answer ${whole ? '' : 'is-clamped'}`}>
      <span>{words}</span>{' '}
      <button type="button" className="link" onClick={() => setWhole(!whole)}>
        {whole ? 'Less' : 'More'}
        <span className="hidden-label"> of the explanation</span>
      </button>
    </p>
  )
}
