/** One question and everything that came of it. */
import { memo } from 'react'
import { canDecide, useDocument } from '../editor/store.ts'
import { proposeAgain, undoRequest } from '../review/decide.ts'
import { ProposalCard } from '../review/ProposalCard.tsx'
import { Growing } from '../review/Growing.tsx'
import { isWaiting, tally, useReview } from '../review/store.ts'
import { whoseRule } from '../rules/wording.ts'
import { useCapability, useSession } from '../session/store.ts'
import { Icon } from '../ui/icons.tsx'
import { ago, many } from '../ui/when.ts'
import type { ApprovalRequest } from '../wire/types.ts'
import { spentLine, spentWords } from './spent.ts'
import { type Entry, type Run, runAhead, useChat } from './store.ts'
import { toolName } from './tools.ts'

export const RunCard = memo(function RunCard({ run, requests }: { run: Run; requests: readonly ApprovalRequest[] }) {
  const writing = useReview((state) => state.writing)
  const mine = useSession((session) => session.me?.sessionId === run.sessionId)
  const growing = Object.values(writing).filter((one) => one.run === run.id)
  const tool = run.entries.findLast((entry) => entry.kind === 'tool')
  const running = run.status === 'running'
  const waiting = requests.some(isWaiting)
  const name = growing[0]?.tool ?? (tool?.kind === 'tool' ? tool.name : undefined)
  const kind = name === undefined ? 'Answer' : toolName(name)
  return (
    <article className={`card ${requests.length === 0 ? 'is-answer' : ''}`} aria-label={run.prompt ? `AI for ${run.author}: ${run.prompt}` : `AI for ${run.author}`}>
      <div className="card-head">
        <span className="spark"><Icon name="spark" /></span>
        <h3>AI for {run.author || 'somebody'}</h3>
        <p>{kind} · {!running || waiting ? ago(run.at, Date.now()) : run.begun ? 'writing now' : 'waiting'}</p>
      </div>
      {run.prompt && <p className="prompt">{run.prompt}</p>}
      {run.entries.map((entry, index) => (
        <Step key={index} entry={entry} request={entry.kind === 'tool' ? requests.find((request) => request.tool_use_id === entry.id) : undefined} />
      ))}
      {running && growing.map((one) => <Growing key={one.id} writing={one} mine={mine} />)}
      {running && !waiting && growing.length === 0 && <AtWork run={run} />}
      <Ending run={run} />
      {run.spent && <p className="spent" title={spentWords(run.spent)}>{spentLine(run.spent)}</p>}
    </article>
  )
})

/** What a run does that has nothing to show yet. */
function AtWork({ run }: { run: Run }) {
  const ahead = useChat((chat) => runAhead(chat, run))
  const reviewed = useReview((state) => Object.values(state.requests).some((request) => request.requestId === ahead?.id && isWaiting(request)))
  if (!ahead) return <div className="dots">{run.entries.length === 0 ? 'Reading the text' : 'Writing'}</div>
  const which = ahead.prompt.length > 40 ? `${ahead.prompt.slice(0, 40).toWellFormed()}…` : ahead.prompt
  return <p className="waits">{reviewed ? `Waits until “${which}” is reviewed` : `Waits until “${which}” is done`}</p>
}

function Step({ entry, request }: { entry: Entry; request: ApprovalRequest | undefined }) {
  if (entry.kind === 'text') return entry.text.trim() === '' ? null : <p className="answer">{entry.text}</p>
  if (!request) return entry.result ? <Result words={entry.result} failed={entry.failed} /> : null
  if (isWaiting(request)) return <ProposalCard request={request} />
  return <Outcome request={request} />
}

/** What came of a call whose request this tab has not seen. */
function Result({ words, failed }: { words: string; failed: boolean }) {
  const [first = '', ...rest] = words.split('\n')
  return (
    <>
      <p className="tool-line"><Icon name={failed ? 'cross' : 'check'} size={13} /> <span>{first}</span></p>
      {rest.length > 0 && (
        <details className="told">
          <summary>What the AI was told</summary>
          <pre>{words}</pre>
        </details>
      )}
    </>
  )
}

/** What people decided, and what the AI was told about it. */
function Outcome({ request }: { request: ApprovalRequest }) {
  const canReopen = useCapability('reopen')
  const { accepted, rejected, expired } = tally(request.hunks)
  // Several changes may have been decided by several people; the request only knows who was last.
  const by = request.by && request.rule === null && request.hunks.length <= 1 ? ` by ${request.by.name}` : ''
  const parts = [accepted > 0 && `${accepted} accepted`, rejected > 0 && `${rejected} rejected`, expired > 0 && `${expired} expired`].filter(Boolean)
  const words: Partial<Record<ApprovalRequest['status'], string>> = { cancelled: 'Cancelled', failed: 'Could not be applied', expired: 'Expired before anybody decided' }
  const what = parts.length > 0 ? `${many(request.hunks.length, 'change')}: ${parts.join(', ')}` : (words[request.status] ?? request.status)
  return (
    <>
      {request.explanation && <p className="answer">{request.explanation}</p>}
      <p className="tool-line">
        <Icon name={request.status === 'approved' || request.status === 'partly' ? 'check' : 'cross'} size={13} />
        <span>{what}{by}{request.feedback ? `: “${request.feedback}”` : ''}</span>
      </p>
      {request.rule !== null && <Automatic request={request} />}
      {canReopen && (request.status === 'rejected' || request.status === 'expired') && (
        <button type="button" className="button" style={{ marginTop: 8 }} onClick={() => proposeAgain(request)}>Propose again</button>
      )}
      {request.report && (
        <details className="told">
          <summary>What the AI was told</summary>
          <pre>{request.report}</pre>
        </details>
      )}
    </>
  )
}

/** Nobody was asked: a rule of somebody accepted it, and anybody who may decide can take it back. */
function Automatic({ request }: { request: ApprovalRequest }) {
  const canUndo = useCapability('undo')
  const mayDecide = useDocument((state) => canDecide(state.role))
  const { link, me } = useSession()
  return (
    <p className="by-rule">
      <span className="badge is-rule"><Icon name="clock" size={12} /> Accepted by {whoseRule(request.by, me?.user.id)}</span>
      {canUndo && mayDecide && tally(request.hunks).accepted > 0 && (
        <button type="button" className="button" disabled={link !== 'online'} onClick={() => undoRequest(request)}>Undo</button>
      )}
    </p>
  )
}

function Ending({ run }: { run: Run }) {
  switch (run.status) {
    case 'running':
    case 'success':
      return null
    case 'cancelled':
      return <p className="tool-line"><Icon name="stop" size={13} /> Stopped.</p>
    case 'max_tokens':
      return <p className="warn-note">The answer was cut off: it grew too long.</p>
    default:
      return <p className="warn-note" role="alert">{run.problem ? `The AI could not finish this: ${run.problem}` : 'The AI could not finish this.'}</p>
  }
}
