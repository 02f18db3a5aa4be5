/** Follows the conversation about one document, live and from its transcript. */
import { useSession, wire } from '../../session/store.ts'
import { useEffect } from 'react'
import { type Chat, useChat, began, streamed, applyAgentEvent, answered } from '../store.ts'
import { loadTranscript } from '../transcript.ts'
import { loadEnded } from '../../review/actions/bin.ts'

/** Follows the conversation about one document, live and from its transcript. */
export function useConversation(id: string | null): void {
  const online = useSession((session) => session.link === 'online')
  useEffect(() => {
    if (id === null || !online) return
    /** Applies what is about this document, or what of ours names none. */
    const apply =
      <T extends { documentId?: string | null; sessionId: string }>(
        reducer: (chat: Chat, payload: T, at: string) => Chat,
      ) =>
      (payload: T) => {
        const { documentId, sessionId } = payload
        const isOurs = sessionId === useSession.getState().me?.sessionId
        if (documentId === id || (documentId === undefined && isOurs))
          useChat.setState((chat) => reducer(chat, payload, new Date().toISOString()))
      }
    const stops = [
      wire.on('claudeStreamStart', apply(began)),
      wire.on('claudeStreamChunk', apply(streamed)),
      wire.on('agent_event', apply(applyAgentEvent)),
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
