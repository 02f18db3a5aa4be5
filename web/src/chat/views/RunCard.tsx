/** One question and everything that came of it. */
import { OnlineButton } from '../../session/OnlineButton.tsx'
import { memo } from 'react'
import { StreamingProposal } from '../../review/views/cards/StreamingProposal.tsx'
import { isProofread } from '../../review/state/similar.ts'
import { isWaiting } from '../../review/state/requests.ts'
import { shortened } from '../../text/shortened.ts'
import { useSession } from '../../session/store.ts'
import { Icon } from '../../ui/icons.tsx'
import { timeAgo } from '../../ui/timeFormat.ts'
import type { ToolApprovalRequest } from '../../wire/generated.ts'
import { useOpenDocument } from '../../document/useOpenDocument.ts'
import { continueFrom } from '../composer/conversation.ts'
import { usageLine, usageText } from '../usage.ts'
import { goesOnFrom, type ConversationRun, runAhead, useChat } from '../store.ts'
import { toolName } from '../tools.ts'
import { canWrite } from '../../session/roles.ts'
import { useRequests } from '../../review/stores/requests.ts'
import { Step } from './RunStep.tsx'
import { Ending } from './RunEnding.tsx'
import './RunCard.css'

interface Props {
  run: ConversationRun
  requests: readonly ToolApprovalRequest[]
}

/** The same question with the same requests, in whatever list. */
const isSame = (a: Props, b: Props): boolean =>
  a.run === b.run &&
  a.requests.length === b.requests.length &&
  a.requests.every((request, at) => request === b.requests[at])

export const RunCard = memo(function RunCard({ run, requests }: Props) {
  const writing = useRequests((state) => state.writing)
  const mine = useSession((session) => session.me?.sessionId === run.sessionId)
  const growing = Object.values(writing).filter((one) => one.run === run.id)
  const tool = run.entries.findLast((entry) => entry.kind === 'tool')
  const running = run.status === 'running'
  const waiting =
    requests.some(isWaiting) ||
    run.entries.some((entry) => entry.kind === 'tool' && entry.waits && entry.result === null)
  const name = growing[0]?.tool ?? (tool?.kind === 'tool' ? tool.name : undefined)
  const kind =
    name === undefined ? 'Answer' : areCorrections(requests) ? 'Corrections' : toolName(name)
  const who = run.claimedBy ?? `AI, asked by ${run.author || 'somebody'}`
  return (
    <article
      className={`card ${requests.length === 0 ? 'is-answer' : ''}`}
      aria-label={run.prompt ? `${who}: ${run.prompt}` : who}
    >
      <div className="card-head">
        <span className="spark">
          <Icon name={run.claimedBy ? 'person' : 'spark'} />
        </span>
        <h3>{who}</h3>
        <p>
          {kind} ·{' '}
          {!running || waiting
            ? timeAgo(run.at, Date.now())
            : run.begun
              ? 'writing now'
              : 'waiting'}
        </p>
      </div>
      {run.prompt && (
        <p className="prompt" dir="auto">
          {run.prompt}
        </p>
      )}
      {run.entries.map((entry, index) => (
        <Step
          key={index}
          entry={entry}
          request={
            entry.kind === 'tool'
              ? requests.find((request) => request.tool_use_id === entry.id)
              : undefined
          }
        />
      ))}
      {running &&
        growing.map((one) => <StreamingProposal key={one.id} writing={one} mine={mine} />)}
      {running && !waiting && growing.length === 0 && <AtWork run={run} />}
      <Ending run={run} />
      {run.notice && <p className="warn-note">{run.notice}.</p>}
      {!running && <Continue run={run} />}
      {run.spent && (
        <p className="spent" title={usageText(run.spent)}>
          {usageLine(run.spent)}
        </p>
      )}
    </article>
  )
}, isSame)

/** Returns whether all that was proposed are corrections. */
const areCorrections = (requests: readonly ToolApprovalRequest[]): boolean =>
  requests.length > 0 && requests.every((request) => isProofread(request.hunks, request))

/** The way back to where this question was answered. */
function Continue({ run }: { run: ConversationRun }) {
  const mayAsk = useOpenDocument((state) => canWrite(state.role))
  const session = useSession((state) => state.me?.sessionId)
  const goesOn = useChat((chat) => goesOnFrom(chat, session) === run.id)
  // The next question goes on from there as it is.
  if (!mayAsk || !run.begun || goesOn) return null
  return (
    <OnlineButton look="link" className="continue" onClick={() => void continueFrom(run)}>
      Continue from here
    </OnlineButton>
  )
}

/** The state of a run that has nothing to show yet. */
function AtWork({ run }: { run: ConversationRun }) {
  const ahead = useChat((chat) => runAhead(chat, run))
  const reviewed = useRequests((state) =>
    Object.values(state.requests).some(
      (request) => request.requestId === ahead?.id && isWaiting(request),
    ),
  )
  if (!ahead)
    return <div className="dots">{run.entries.length === 0 ? 'Reading the text' : 'Writing'}</div>
  return (
    <p className="waits">
      {`Waits until “${shortened(ahead.prompt, 40)}” is ${reviewed ? 'reviewed' : 'done'}`}
    </p>
  )
}
