/** The run of ours that the model is busy with, if any; one that waits for people is not. */
import { isWaiting } from '../review/state/requests.ts'
import { useSession } from '../session/store.ts'
import { type ConversationRun, useChat, working } from './store.ts'
import { useRequests } from '../review/stores/requests.ts'

export function useActiveRun(): ConversationRun | undefined {
  const session = useSession((state) => state.me?.sessionId)
  const requests = useRequests((state) => state.requests)
  return useChat((chat) =>
    working(
      chat,
      session,
      new Set(
        Object.values(requests)
          .filter(isWaiting)
          .map((request) => request.requestId),
      ),
    ),
  )
}
