/** Follows the conversation about one document, live and from its transcript. */
import { useSession, wire } from '../../session/store.ts'
import { useEffect } from 'react'
import { useChat, began, streamed, applyAgentEvent, answered } from '../store.ts'
import { loadTranscript } from '../transcript.ts'
import { loadEnded } from '../../review/actions/bin.ts'

/** Follows the conversation about one document, live and from its transcript. */
export function useConversation(id: string | null): void {
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
