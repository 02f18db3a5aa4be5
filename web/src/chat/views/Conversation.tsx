/** The conversation in the panel: questions that need a decision first, earlier ones below. */
import { OnlineButton } from '../../session/OnlineButton.tsx'
import { Button } from '../../ui/Button.tsx'
import { type ConversationRun, type ConversationStart, useChat } from '../store.ts'
import type { ToolApprovalRequest } from '../../wire/generated.ts'
import { isWaiting } from '../../review/state/requests.ts'
import { useRequests } from '../../review/stores/requests.ts'
import { shortened } from '../../text/shortened.ts'
import { RunCard } from './RunCard.tsx'
import { useOpenDocument } from '../../document/useOpenDocument.ts'
import { useSession, isCorrector } from '../../session/store.ts'
import { loadEarlier } from '../transcript.ts'
import { canWrite } from '../../session/roles.ts'
import { Icon } from '../../ui/icons.tsx'
import { ask } from '../composer/ask.ts'
import './Conversation.css'

/** Puts first what needs a person now; the rest is below, newest first. */
export function arrange(
  runs: readonly ConversationRun[],
  requests: readonly ToolApprovalRequest[],
): { now: ConversationRun[]; earlier: ConversationRun[] } {
  const waiting = new Set(requests.filter(isWaiting).map((request) => request.requestId))
  const newest = runs.toSorted((a, b) => b.at.localeCompare(a.at))
  const needed = (run: ConversationRun, index: number) =>
    run.status === 'running' || waiting.has(run.id) || index === 0
  return { now: newest.filter(needed), earlier: newest.filter((run, index) => !needed(run, index)) }
}

/** A line among the cards where a person began their conversation anew. */
function StartLine({ start }: { start: ConversationStart }) {
  const of = useChat((chat) => chat.runs.find((run) => run.id === start.from)?.prompt)
  const went =
    start.from === null
      ? 'began a new conversation'
      : of
        ? `went on from “${shortened(of, 40)}”`
        : 'went on from an earlier question'
  return (
    <p className="turn">
      {start.name || 'Somebody'} {went}
    </p>
  )
}

export function Conversation() {
  const runs = useChat((chat) => chat.runs)
  const starts = useChat((chat) => chat.starts)
  const requests = Object.values(useRequests((state) => state.requests))
  if (runs.length === 0) return <Calm />
  const { now, earlier } = arrange(runs, requests)
  const card = (run: ConversationRun) => (
    <RunCard
      key={run.id}
      run={run}
      requests={requests.filter((request) => request.requestId === run.id)}
    />
  )
  const lines = (after: string, before: string) =>
    starts
      .filter(({ at }) => at >= after && at < before)
      .toReversed()
      .map((start) => <StartLine key={start.id} start={start} />)
  const newest = earlier[0]?.at ?? ''
  return (
    <>
      {lines(newest, '~')}
      {now.map(card)}
      {earlier.length > 0 && <h3 className="earlier">Earlier</h3>}
      {earlier.map((run, index) => [card(run), ...lines(earlier[index + 1]?.at ?? '', run.at)])}
      <More />
    </>
  )
}

/** The way to what was said before all that is here. */
function More() {
  const id = useOpenDocument((state) => state.id)
  const is = useChat((chat) => Boolean(chat.before))
  if (!is || id === null) return null
  return (
    <OnlineButton look="link" onClick={() => void loadEarlier(id)}>
      Show earlier questions
    </OnlineButton>
  )
}

function Calm() {
  const empty = useOpenDocument((state) => state.words === 0)
  const mayAsk = useOpenDocument((state) => canWrite(state.role))
  const online = useSession((session) => session.link === 'online')
  const corrector = useSession(({ me }) => isCorrector(me))
  const starters = !empty
    ? ['Fix the grammar', 'Check the spelling']
    : corrector
      ? []
      : ['Draft an outline', 'Write an opening', 'Suggest five titles']
  return (
    <div className="calm">
      <span className="spark">
        <Icon name="spark" size={26} />
      </span>
      <strong>Nothing to review.</strong>
      <p>
        {mayAsk
          ? 'Ask for an edit below. You approve every word before it lands.'
          : 'What the AI suggests for this document shows up here.'}
      </p>
      {online && mayAsk && (
        <div className="chips">
          {starters.map((starter) => (
            <Button look="chip" key={starter} onClick={() => void ask(starter, null)}>
              {starter}
            </Button>
          ))}
        </div>
      )}
    </div>
  )
}
