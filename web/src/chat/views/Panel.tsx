/** The side of the page where edits are asked for and reviewed; a bottom sheet on small screens. */
import { Suspense, useEffect } from 'react'
import { useOpenDocument } from '../../document/useOpenDocument.ts'
import { BatchDecision } from '../../review/views/BatchDecision.tsx'
import { Bin } from '../../review/views/Bin.tsx'
import { loadEnded } from '../../review/actions/bin.ts'
import { OrphanedDrafts } from '../../review/views/OrphanedDrafts.tsx'
import { ReviewSettings } from '../../review/views/ReviewSettings.tsx'
import { usePanel } from '../../review/stores/panel.ts'
import { isWaiting } from '../../review/state/requests.ts'
import { Rules } from '../../rules/Rules.tsx'
import { isCorrector, useCapability, useSession, wire } from '../../session/store.ts'
import { Icon } from '../../ui/icons.tsx'
import { lazyPart } from '../../ui/lazyPart.tsx'
import type { ToolApprovalRequest } from '../../wire/generated.ts'
import { ask } from '../composer/ask.ts'
import { Composer } from './Composer.tsx'
import { clearConversation } from '../composer/conversation.ts'
import { RunCard } from './RunCard.tsx'
import {
  answered,
  applyAgentEvent,
  began,
  remembers,
  type ConversationRun,
  streamed,
  type ConversationStart,
  useChat,
} from '../store.ts'
import { loadEarlier, loadTranscript } from '../transcript.ts'
import { canWrite } from '../../session/roles.ts'
import { useReview } from '../../review/stores/requests.ts'

const CompareDialog = lazyPart(() =>
  import('../../review/views/CompareDialog.tsx').then((all) => all.CompareDialog),
)

export function Panel() {
  const id = useOpenDocument((state) => state.id)
  const open = usePanel((panel) => panel.open)
  const view = usePanel((panel) => panel.view)
  const comparing = usePanel((panel) => panel.comparing)
  useConversation(id)
  const isBin = view === 'bin'
  return (
    <aside
      className={`panel ${open ? 'is-open' : ''}`}
      aria-label="Suggestions"
      onKeyDown={(event) => {
        if (event.key === 'Escape' && isBin) usePanel.setState({ view: 'suggestions' })
      }}
    >
      <div className="panel-head">
        <h2>{isBin ? 'Bin' : 'Suggestions'}</h2>
        <button
          type="button"
          className="button is-quiet"
          title={
            isBin ? 'Back to the suggestions (Esc)' : 'Rejected and expired changes are kept here'
          }
          onClick={() => usePanel.setState({ view: isBin ? 'suggestions' : 'bin' })}
        >
          <Icon name={isBin ? 'cross' : 'archive'} size={14} /> {isBin ? 'Close bin' : 'Bin'}
        </button>
        {!isBin && <NewConversation />}
        <ReviewSettings />
        <Rules />
        <button
          type="button"
          className="icon-button close-sheet"
          aria-label="Close suggestions"
          onClick={() => usePanel.setState({ open: false })}
        >
          <Icon name="cross" />
        </button>
      </div>
      <OrphanedDrafts />
      <div className="panel-body" tabIndex={-1}>
        {isBin ? (
          <Bin />
        ) : (
          <>
            <BatchDecision />
            <Conversation />
          </>
        )}
      </div>
      <Composer />
      <Suspense fallback={null}>{comparing && <CompareDialog of={comparing} />}</Suspense>
    </aside>
  )
}

/** What needs somebody now stands first; the rest is below, newest first. */
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

/** There is something to forget, and nobody at work on it. */
function NewConversation() {
  const can = useCapability('conversations')
  const me = useSession((session) => session.me?.sessionId)
  const online = useSession((session) => session.link === 'online')
  const mayAsk = useOpenDocument((state) => canWrite(state.role))
  const said = useChat((chat) => remembers(chat, me))
  if (!can || !mayAsk) return null
  return (
    <button
      type="button"
      className="button is-quiet"
      aria-label="New conversation"
      title="New conversation: the AI forgets what was said so far; the record stays"
      disabled={!online || !said}
      onClick={() => void clearConversation()}
    >
      <Icon name="plus" size={14} />
    </button>
  )
}

/**
 * What was said about whose conversation, where it was begun anew: at its place among the cards.
 */
function StartLine({ start }: { start: ConversationStart }) {
  const of = useChat((chat) => chat.runs.find((run) => run.id === start.from)?.prompt)
  const went =
    start.from === null
      ? 'began a new conversation'
      : of
        ? `went on from “${of.length > 40 ? `${of.slice(0, 40).toWellFormed()}…` : of}”`
        : 'went on from an earlier question'
  return (
    <p className="turn">
      {start.name || 'Somebody'} {went}
    </p>
  )
}

function Conversation() {
  const runs = useChat((chat) => chat.runs)
  const starts = useChat((chat) => chat.starts)
  const requests = Object.values(useReview((state) => state.requests))
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
  const online = useSession((session) => session.link === 'online')
  if (!is || id === null) return null
  return (
    <button type="button" className="link" disabled={!online} onClick={() => void loadEarlier(id)}>
      Show earlier questions
    </button>
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
            <button
              type="button"
              className="chip"
              key={starter}
              onClick={() => void ask(starter, null)}
            >
              {starter}
            </button>
          ))}
        </div>
      )}
    </div>
  )
}

/** Follows the conversation about one document, live and from its transcript. */
function useConversation(id: string | null): void {
  const online = useSession((session) => session.link === 'online')
  useEffect(() => {
    if (id === null || !online) return
    const ours =
      <T extends { documentId?: string | null; sessionId: string }>(act: (payload: T) => void) =>
      (payload: T) => {
        if (
          payload.documentId === id ||
          (payload.documentId === undefined &&
            payload.sessionId === useSession.getState().me?.sessionId)
        )
          act(payload)
      }
    const stops = [
      wire.on(
        'claudeStreamStart',
        ours((stream) => useChat.setState((chat) => began(chat, stream, new Date().toISOString()))),
      ),
      wire.on(
        'claudeStreamChunk',
        ours((stream) =>
          useChat.setState((chat) => streamed(chat, stream, new Date().toISOString())),
        ),
      ),
      wire.on(
        'agent_event',
        ours((event) => useChat.setState((chat) => applyAgentEvent(chat, event))),
      ),
      wire.on('claudeResponse', (response) =>
        useChat.setState((chat) =>
          chat.runs.some((run) => run.id === response.requestId) ? answered(chat, response) : chat,
        ),
      ),
    ]
    void loadTranscript(id)
    void loadEnded(id)
    return () => stops.forEach((stop) => stop())
  }, [id, online])
}
