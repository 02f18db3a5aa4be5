/** Loads what was said and decided before this tab was opened. */
import { attempt } from '../session/attempt.ts'
import { useSession, wire } from '../session/store.ts'
import { useOpenDocument } from '../document/useOpenDocument.ts'
import { isWaiting, withOlder } from '../review/state/requests.ts'
import type { AgentEvent, ToolApprovalRequest } from '../wire/generated.ts'
import { applyAgentEvent, type Chat, joined, NO_CHAT, requested, useChat } from './store.ts'
import { useRequests } from '../review/stores/requests.ts'

/** The newest of it. */
export async function loadTranscript(documentId: string): Promise<void> {
  const page = await read(documentId)
  // Another document may have been opened meanwhile: what was said about this one is not for it.
  if (!page || useOpenDocument.getState().id !== documentId) return
  const { entries, requests = [], before = null } = page
  useChat.setState((live) => {
    const told = chat(entries, requests)
    const known = new Set(told.runs.map((run) => run.id))
    const starts = [
      ...told.starts,
      ...live.starts.filter((start) => !told.starts.some(({ id }) => id === start.id)),
    ]
    // What was read of earlier pages before the connection broke is read again when it is asked
    // for.
    const since = before === null ? '' : (told.runs[0]?.at ?? '')
    return {
      starts,
      runs: [...told.runs, ...live.runs.filter((run) => !known.has(run.id) && run.at >= since)],
      before,
    }
  })
  const over = requests.filter((request) => !isWaiting(request))
  useRequests.setState((state) => withOlder(state, over))
}

/** Loads the entries before those that are here. */
export async function loadEarlier(documentId: string): Promise<void> {
  const { before } = useChat.getState()
  const page = before ? await read(documentId, before) : undefined
  // Another call may have been quicker, or the connection may have been made anew.
  if (!page || useChat.getState().before !== before || useOpenDocument.getState().id !== documentId)
    return
  const told = chat(page.entries, Object.values(useRequests.getState().requests))
  useChat.setState((known) => joined({ ...told, before: page.before ?? null }, known))
}

/** A request says nothing of a run of which nothing was read yet: not even whether it is over. */
function chat(entries: readonly AgentEvent[], requests: readonly ToolApprovalRequest[]): Chat {
  const told = entries.reduce(applyAgentEvent, NO_CHAT)
  const runs = new Set(told.runs.map((run) => run.id))
  return requests.filter((request) => runs.has(request.requestId)).reduce(requested, told)
}

async function read(documentId: string, before?: string) {
  const me = useSession.getState().me
  if (!me) return undefined
  const { sessionId } = me
  const answer = wire.call('transcript:get', { sessionId, documentId, ...(before && { before }) })
  return attempt(answer, () => undefined)
}
