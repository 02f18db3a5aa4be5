/** Events about a document that arrive before the answer to `document:open`: they wait for it. */
import type {
  ToolApprovalRequest,
  ToolApprovalResolved,
  ToolApprovalUpdate,
  DocumentSettings,
  DocumentUpdates,
  ShortUpdates,
} from '../wire/generated.ts'

export interface SettingsEvent {
  settings: DocumentSettings
  /** The version that their ranges refer to. */
  version: number
}

export type QueuedEvent =
  | { updates: DocumentUpdates }
  | { short: ShortUpdates }
  | SettingsEvent
  | { request: ToolApprovalRequest }
  | { update: ToolApprovalUpdate }
  | { done: ToolApprovalResolved }

/**
 * A request announced before the answer is in the answer, at a newer version, if it can still be
 * decided; so are the settings, and what is being written.
 */
export function isOlder(message: QueuedEvent, version: number): boolean {
  if ('request' in message) return message.request.version < version
  if ('settings' in message) return message.version < version
  return 'update' in message && message.update.status === 'streaming'
}

/** Short updates name their document by the number that the answer to `document:open` gave it. */
export const inFull = ([, from, updates]: ShortUpdates, documentId: string): DocumentUpdates => ({
  documentId,
  from,
  updates: updates.map(([clientID, changes]) => ({ clientID, changes })),
})
