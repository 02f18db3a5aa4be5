/** What the server tells of a document while the answer to `document:open` is on its way: it waits for that. */
import type { ApprovalRequest, ApprovalResolved, ApprovalUpdate, DocumentSettings, DocumentUpdates } from '../wire/types.ts'

export type Queued =
  | { updates: DocumentUpdates }
  | { settings: DocumentSettings; version: number }
  | { request: ApprovalRequest }
  | { update: ApprovalUpdate }
  | { done: ApprovalResolved }

/**
 * A request told before the answer is in the answer, at a newer version, if it can still be decided; so are the settings, and what is
 * being written.
 */
export function isOlder(message: Queued, version: number): boolean {
  if ('request' in message) return message.request.version < version
  if ('settings' in message) return message.version < version
  return 'update' in message && message.update.status === 'streaming'
}
