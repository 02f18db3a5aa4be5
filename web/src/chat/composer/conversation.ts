/**
 * Beginning a conversation anew, and going on from an earlier question. What was said stays where
 * it is.
 */
import { openDocument } from '../../document/openDocument.ts'
import { attempt } from '../../session/attempt.ts'
import { useSession, wire } from '../../session/store.ts'
import { toast } from '../../ui/toasts.ts'
import type { ConversationRun } from '../store.ts'

export function clearConversation(): Promise<void> {
  return turn(
    (sessionId, documentId) => wire.call('transcript:clear', { sessionId, documentId }),
    'New conversation: the AI no longer goes by what was said before.',
  )
}

export function continueFrom(run: ConversationRun): Promise<void> {
  return turn(
    (sessionId, documentId) =>
      wire.call('transcript:fork', {
        sessionId,
        documentId,
        requestId: run.id,
        fromSessionId: run.sessionId,
      }),
    'The AI goes on from there: ask your next question below.',
  )
}

async function turn(
  call: (sessionId: string, documentId: string) => Promise<object>,
  done: string,
): Promise<void> {
  const [me, current] = [useSession.getState().me, openDocument()]
  if (!me || !current) return
  const turned = await attempt(call(me.sessionId, current.id), ({ code, message }) =>
    toast(
      code === 'busy' ? 'The AI is still at work on a question. Wait for it, or stop it.' : message,
    ),
  )
  if (!turned) return
  toast(done)
  document.querySelector<HTMLElement>('#composer')?.focus()
}
