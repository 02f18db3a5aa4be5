/** Keeps the conversation in step with an open document. */
import type { LiveDocument } from '../document/liveDocument.ts'
import { NO_CHAT, requested, useChat } from './store.ts'

/** Forgets the conversation about the document before. */
export function followConversation({ events }: LiveDocument): void {
  useChat.setState(NO_CHAT)
  events.on('opened', ({ requests }) =>
    useChat.setState((chat) => requests.reduce(requested, chat)),
  )
  events.on('requested', (request) => useChat.setState((chat) => requested(chat, request)))
  events.on('closed', () => useChat.setState(NO_CHAT))
}
