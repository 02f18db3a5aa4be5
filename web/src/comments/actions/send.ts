/** Acts on comments and threads, sent to the server. */
import { allSent } from '../../document/allSent.ts'
import { chosenMode } from '../../chat/modes.ts'
import { chosenModel } from '../../chat/composer/models.ts'
import { openDocument } from '../../document/openDocument.ts'
import { attempt } from '../../session/attempt.ts'
import { wire } from '../../session/store.ts'
import { CallError } from '../../wire/socket.ts'
import type { Calls } from '../../wire/calls.generated.ts'
import type { CommentThread, PermissionMode, Range, ThreadAnswer } from '../../wire/generated.ts'
import type { Place } from '../state/drafts.ts'
import { AI } from '../state/mentions.ts'
import { notSent } from '../state/rights.ts'
import { newId, placeOf } from '../text/anchors.ts'
import { MOST_THREADS, takeThreads } from './followComments.ts'

/** The thread as it is then, or why the comment was not sent. */
export type Sent = { thread: CommentThread } | { failed: string }

export async function send(place: Place, text: string, mentions: string[]): Promise<Sent> {
  try {
    return { thread: taken(await call(place, { text, mentions })) }
  } catch (error) {
    if (!(error instanceof CallError)) throw error
    return { failed: notSent(error) }
  }
}

interface Written {
  text: string
  mentions: string[]
}

async function call(place: Place, written: Written): Promise<ThreadAnswer> {
  const documentId = openDocument()?.id ?? ''
  const comment = { ...written, ...wish(written) }
  switch (place.on) {
    case 'document':
      return wire.call('comment:create', { documentId, ...comment })
    case 'passage':
      return wire.call('comment:create', {
        documentId,
        ...comment,
        ...(await passage(place.range)),
      })
    case 'change': {
      const { request_id, hunk_id } = place
      return wire.call('comment:create', { documentId, request_id, hunk_id, ...comment })
    }
    case 'thread':
      return wire.call('comment:reply', { threadId: place.threadId, ...comment })
    case 'comment':
      return wire.call('comment:edit', { commentId: place.commentId, text: written.text })
  }
}

/** A question to the AI goes to the model, and in the mode, that are chosen for the chat. */
function wish({ mentions }: Written): { model?: string; permission_mode?: PermissionMode } {
  if (!mentions.includes(AI.id)) return {}
  const [model, mode] = [chosenModel(), chosenMode()]
  return { ...(model && { model }), ...(mode && { permission_mode: mode }) }
}

/** The server's positions are ours once everything typed has arrived. */
async function passage(range: Range): Promise<{ version: number; from: number; to: number }> {
  const document = (await allSent()) ? openDocument() : null
  if (!document) throw new CallError({ code: 'offline', message: '' })
  const place = placeOf(document.view.state, newId(range))
  if (!place || place.from === place.to)
    throw new CallError({ code: 'words_gone', message: 'its words were deleted' })
  const [from, to] = [document.inServerText(place.from), document.inServerText(place.to)]
  return { version: document.version, from, to }
}

function taken({ version, thread }: ThreadAnswer): CommentThread {
  takeThreads({ version, threads: [thread] })
  return thread
}

/** Returns whether the server did it; where not, a toast says why. */
async function change<Event extends 'comment:delete' | 'comment:resolve'>(
  event: Event,
  payload: Calls[Event][0],
): Promise<boolean> {
  const answer = await attempt(wire.call(event, payload) as Promise<ThreadAnswer>)
  if (answer) taken(answer)
  return answer !== undefined
}

export const resolve = (threadId: string, resolved: boolean): Promise<boolean> =>
  change('comment:resolve', { threadId, resolved })

export const deleteComment = (commentId: string): Promise<boolean> =>
  change('comment:delete', { commentId })

/** Threads that the document is not opened with. */
export async function readResolved(documentId: string): Promise<void> {
  const wanted = { documentId, status: 'resolved', limit: MOST_THREADS } as const
  const answer = await attempt(wire.call('comment:list', wanted))
  if (answer) takeThreads(answer)
}
