/** What was said and decided before this tab was opened. */
import { hasCapability, useSession, wire } from '../session/store.ts'
import { isWaiting, useReview } from '../review/store.ts'
import { CallError } from '../wire/socket.ts'
import { happened, NO_CHAT, requested, useChat } from './store.ts'

export async function loadTranscript(documentId: string): Promise<void> {
  const me = useSession.getState().me
  if (!me || !hasCapability('transcript')) return
  try {
    const { entries, requests = [] } = await wire.call('transcript:get', { sessionId: me.sessionId, documentId })
    useChat.setState((live) => {
      const told = requests.reduce(requested, entries.reduce(happened, NO_CHAT))
      const known = new Set(told.runs.map((run) => run.id))
      const turns = [...told.turns, ...live.turns.filter((turn) => !told.turns.some(({ id }) => id === turn.id))]
      return { turns, runs: [...told.runs, ...live.runs.filter((run) => !known.has(run.id))] }
    })
    useReview.setState((state) => ({
      requests: { ...Object.fromEntries(requests.filter((request) => !isWaiting(request)).map((request) => [request.request_id, request])), ...state.requests },
    }))
  } catch (error) {
    if (!(error instanceof CallError)) throw error
  }
}
