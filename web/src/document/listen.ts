/** Passes the server's events about one document on to its copy. */
import type { Wire } from '../wire/socket.ts'
import { receiveFileState } from './fileState.ts'
import type { LiveDocument } from './liveDocument.ts'
import { useOpenDocument } from './useOpenDocument.ts'

/** Returns what ends each of the subscriptions. */
export function listen(to: LiveDocument, wire: Wire): (() => void)[] {
  const ours =
    <T extends { documentId?: string; document_id?: string | null }>(act: (payload: T) => void) =>
    (payload: T) => {
      if (payload.documentId === to.id || payload.document_id === to.id) act(payload)
    }
  return [
    wire.on('sessionRegistered', () => void to.join()),
    wire.onDisconnect(() => to.leave()),
    wire.on(
      'document:updates',
      ours((updates) => to.take({ updates })),
    ),
    wire.on('updates', (short) => to.take({ short })),
    wire.on(
      'tool_approval_request',
      ours((request) => to.take({ request })),
    ),
    wire.on('tool_approval_update', (update) => to.take({ update })),
    wire.on('tool_approval_resolved', (done) => to.take({ done })),
    wire.on(
      'presence:changes',
      ours((changes) => to.events.emit('peersChanged', changes)),
    ),
    wire.on(
      'presence:update',
      ours((moved) => to.events.emit('peerMoved', moved)),
    ),
    wire.on(
      'comment:changed',
      ours((changed) => to.events.emit('threadChanged', changed)),
    ),
    wire.on('document:file', ours(receiveFileState)),
    wire.on(
      'document:changed',
      ours(({ title, settings, version, deleted }) => {
        if (title !== undefined) useOpenDocument.setState({ title })
        if (settings && version !== undefined) to.take({ settings, version })
        if (deleted) to.ended()
      }),
    ),
  ]
}
