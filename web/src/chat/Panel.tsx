/** The side of the page where edits are asked for and reviewed; a bottom sheet on small screens. */
import { useEffect } from 'react'
import { canWrite, useDocument } from '../editor/store.ts'
import { Batch } from '../review/Batch.tsx'
import { Bin } from '../review/Bin.tsx'
import { loadEnded } from '../review/bin.ts'
import { Orphans } from '../review/Orphans.tsx'
import { ReviewSettings } from '../review/ReviewSettings.tsx'
import { usePanel } from '../review/panel.ts'
import { isWaiting, useReview } from '../review/store.ts'
import { useSession, wire } from '../session/store.ts'
import { Icon } from '../ui/icons.tsx'
import type { ApprovalRequest } from '../wire/types.ts'
import { ask } from './ask.ts'
import { Composer } from './Composer.tsx'
import { RunCard } from './RunCard.tsx'
import { answered, began, happened, type Run, streamed, useChat } from './store.ts'
import { loadTranscript } from './transcript.ts'

export function Panel() {
  const id = useDocument((state) => state.id)
  const open = usePanel((panel) => panel.open)
  const view = usePanel((panel) => panel.view)
  useConversation(id)
  const isBin = view === 'bin'
  return (
    <aside className={`panel ${open ? 'is-open' : ''}`} aria-label="Suggestions">
      <div className="panel-head">
        <h2>{isBin ? 'Bin' : 'Suggestions'}</h2>
        <button type="button" className="icon-button" aria-label="Bin" title={isBin ? 'Back to the suggestions' : 'Bin: what was not accepted'} aria-pressed={isBin} onClick={() => usePanel.setState({ view: isBin ? 'suggestions' : 'bin' })}>
          <Icon name="trash" />
        </button>
        <ReviewSettings />
        <button type="button" className="icon-button close-sheet" aria-label="Close suggestions" onClick={() => usePanel.setState({ open: false })}>
          <Icon name="cross" />
        </button>
      </div>
      <div className="panel-body" tabIndex={-1}>
        <Orphans />
        {isBin ? <Bin /> : <><Batch /><Conversation /></>}
      </div>
      <Composer />
    </aside>
  )
}

/** What needs somebody now stands first; the rest is below, newest first. */
export function arrange(runs: readonly Run[], requests: readonly ApprovalRequest[]): { now: Run[]; earlier: Run[] } {
  const waiting = new Set(requests.filter(isWaiting).map((request) => request.requestId))
  const newest = runs.toSorted((a, b) => b.at.localeCompare(a.at))
  const needed = (run: Run, index: number) => run.status === 'running' || waiting.has(run.id) || index === 0
  return { now: newest.filter(needed), earlier: newest.filter((run, index) => !needed(run, index)) }
}

function Conversation() {
  const runs = useChat((chat) => chat.runs)
  const requests = Object.values(useReview((state) => state.requests))
  if (runs.length === 0) return <Calm />
  const { now, earlier } = arrange(runs, requests)
  const card = (run: Run) => <RunCard key={run.id} run={run} requests={requests.filter((request) => request.requestId === run.id)} />
  return (
    <>
      {now.map(card)}
      {earlier.length > 0 && <h3 className="earlier">Earlier</h3>}
      {earlier.map(card)}
    </>
  )
}

function Calm() {
  const empty = useDocument((state) => state.words === 0)
  const mayAsk = useDocument((state) => canWrite(state.role))
  const online = useSession((session) => session.link === 'online')
  // The copy editor that needs no model can correct, but not invent.
  const corrector = useSession((session) => session.me?.models[0]?.startsWith('harper') ?? false)
  const starters = !empty ? ['Fix the grammar', 'Check the spelling'] : corrector ? [] : ['Draft an outline', 'Write an opening', 'Suggest five titles']
  return (
    <div className="calm">
      <span className="spark"><Icon name="spark" size={26} /></span>
      <strong>Nothing to review.</strong>
      <p>{mayAsk ? 'Ask for an edit below. You approve every word before it lands.' : 'What the AI suggests for this document shows up here.'}</p>
      {online && mayAsk && (
        <div className="chips">
          {starters.map((starter) => <button type="button" className="chip" key={starter} onClick={() => void ask(starter, null)}>{starter}</button>)}
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
    const ours = <T extends { documentId?: string | null; sessionId: string }>(act: (payload: T) => void) => (payload: T) => {
      if (payload.documentId === id || (payload.documentId === undefined && payload.sessionId === useSession.getState().me?.sessionId)) act(payload)
    }
    const stops = [
      wire.on('claudeStreamStart', ours((stream) => useChat.setState((chat) => began(chat, stream, new Date().toISOString())))),
      wire.on('claudeStreamChunk', ours((stream) => useChat.setState((chat) => streamed(chat, stream, new Date().toISOString())))),
      wire.on('agent_event', ours((event) => useChat.setState((chat) => happened(chat, event)))),
      wire.on('claudeResponse', (response) => useChat.setState((chat) => (chat.runs.some((run) => run.id === response.requestId) ? answered(chat, response) : chat))),
    ]
    void loadTranscript(id)
    void loadEnded(id)
    return () => stops.forEach((stop) => stop())
  }, [id, online])
}
